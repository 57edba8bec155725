#include "driver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tw::fuzz {

void fail(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", kName, why.c_str());
  std::abort();
}

size_t below(Random& random, size_t limit) { return static_cast<size_t>(random() % limit); }

int64_t odd_number(Random& random) {
  constexpr int64_t kNumbers[] = {0, 1, -1, 2, 3, 4, 7, 8, 16, 64, 127, 128, 255, 256, 4096, 65535};
  const int64_t power = int64_t{1} << below(random, 63);
  switch (below(random, 4)) {
    case 0:
      return INT64_MIN + static_cast<int64_t>(below(random, 2));
    case 1:
      return INT64_MAX - static_cast<int64_t>(below(random, 2));
    case 2:
      return (one_in(random, 2) ? power : -power) + static_cast<int64_t>(below(random, 3)) - 1;
    default:
      return kNumbers[below(random, std::size(kNumbers))];
  }
}

void damage(Bytes& bytes, const Bytes& other, Random& random) {
  if (bytes.empty()) return;
  const size_t at = below(random, bytes.size());
  const size_t length = 1 + below(random, std::min<size_t>(16, bytes.size() - at));
  switch (below(random, 6)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
      return;
    case 1:
      bytes[at] = static_cast<char>(below(random, 256));
      return;
    case 2:
      bytes.resize(at);
      return;
    case 3:
      bytes.erase(at, length);
      return;
    case 4:
      bytes.insert(at, bytes.substr(below(random, bytes.size()), length));
      return;
    default:
      if (!other.empty())
        bytes.replace(at, length, other.substr(below(random, other.size()), length));
  }
}

}  // namespace tw::fuzz
