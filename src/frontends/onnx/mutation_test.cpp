// Damaged models: bytes of valid ones flipped, cut, doubled and mixed. Each must come back, as a
// graph or an error. Seeds are fixed: iteration i always gives the same bytes.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "frontends/onnx/test_models.h"

namespace tw::onnx {
namespace {

constexpr unsigned kSeed = 20240607;
constexpr int kIterations = 40000;
constexpr auto kTimeLimit = std::chrono::seconds(20);

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string next(unsigned iteration) {
    random_.seed(kSeed + iteration);
    std::string bytes = seeds_[below(seeds_.size())];
    const size_t n_changes = 1 + below(4);
    for (size_t i = 0; i < n_changes && !bytes.empty(); ++i) change(bytes);
    return bytes;
  }

 private:
  size_t below(size_t limit) { return static_cast<size_t>(random_()) % limit; }

  void change(std::string& bytes) {
    const size_t at = below(bytes.size());
    const size_t length = 1 + below(std::min<size_t>(16, bytes.size() - at));
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(below(bytes.size()), length));
        break;
      default: {
        const std::string& other = seeds_[below(seeds_.size())];
        const size_t from = below(other.size());
        bytes.replace(at, length, other.substr(from, length));
      }
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937 random_;
};

TEST(Mutation, DamagedModelsComeBack) {
  Mutator mutator({bytes_of(mlp_model()), bytes_of(if_model()), bytes_of(loop_model()),
                   bytes_of(scan_model()), bytes_of(function_model())});
  ImportOptions options;
  options.max_nodes = 10000;
  const auto start = std::chrono::steady_clock::now();
  int n_imported = 0;
  int n_done = 0;
  for (; n_done < kIterations && std::chrono::steady_clock::now() - start < kTimeLimit; ++n_done) {
    SCOPED_TRACE(n_done);
    const auto graph = import_text(mutator.next(static_cast<unsigned>(n_done)), options);
    if (graph.ok())
      ++n_imported;
    else
      EXPECT_FALSE(graph.error().message.empty());
  }
  RecordProperty("imported", n_imported);
  EXPECT_GT(n_done, 500);
  EXPECT_GT(n_imported,
            0);  // some changes do not matter, else the damage is too coarse to reach anything
  EXPECT_LT(n_imported, n_done);
}

}  // namespace
}  // namespace tw::onnx
