// The streaming GEMM against cuBLASLt at the matrix shapes of an 8B language model: each alone, and
// the four of a layer as a dependent chain. A row checks its answer, then times.
//
// What is timed: replays of one CUDA graph of many products over different weights (hundreds of MB,
// so that nothing is left in the L2 from one use of a weight to the next), divided by the number of
// products. cuBLASLt is captured the same way, each of the first eight algorithms of its heuristic,
// and the fastest counts.
#include "backends/cuda/tasks/gemm_stream.h"
#include "backends/cuda/testing/cublaslt_peer.cuh"
#include "backends/cuda/testing/device_data.cuh"
#include "backends/cuda/testing/gemm_reference.cuh"
#include "backends/cuda/testing/timing.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace tw::cuda {
namespace {

using namespace testing;
using Bf16 = __nv_bfloat16;

struct Shape {
  const char* name;
  int n, k;
};

constexpr Shape kLayer[] = {
    {"qkv", 6144, 4096}, {"o", 4096, 4096}, {"gate_up", 28672, 4096}, {"down", 4096, 14336}};
constexpr int kOps = 4;
constexpr int kLayers = 4;
constexpr int kRows[] = {1, 4, 16, 64};
constexpr int kMaxRows = 64;
constexpr int kRounds = 21;
constexpr double kRotatedBytes = 400e6;
constexpr int kNodes = 24;
// Weight bytes a second that bulk copies into shared memory reach on an H200 with nothing else to
// do.
constexpr double kCeiling = 4.66e12;

double bytes_of(const Shape& shape) { return 2.0 * shape.n * shape.k; }

struct Row {
  std::string name;
  int n, k, m;
  NodeTime ours, ours_plain, peer;
  int peer_algorithm;  // place in the heuristic's list; -1 for a chain
  double bytes;

  double ratio() const { return peer.median / ours.median; }
  double rate() const { return bytes / ours.median * 1e6; }
};

/// Weights of every shape, activations and scratch.
struct Bench {
  cudaStream_t stream = nullptr;
  cublasLtHandle_t cublaslt = nullptr;
  int sm_count = 0;
  std::vector<DeviceArray<Bf16>> weights[kOps];
  std::vector<DeviceArray<Bf16>> y;
  DeviceArray<Bf16> x = uniform_bf16(size_t{kMaxRows} * 14336, 1, 1);
  DeviceArray<float> partials;
  DeviceArray<uint8_t> workspace{size_t{64} << 20};

  explicit Bench(int sm_count_) : sm_count(sm_count_), partials(scratch_floats(sm_count_)) {
    check(cudaStreamCreate(&stream), "create stream");
    check(cublasLtCreate(&cublaslt), "cublasLtCreate");
    partials.fill_bytes(0xff);
    for (int op = 0; op < kOps; ++op) {
      const Shape& shape = kLayer[op];
      const int copies = std::max(kLayers, static_cast<int>(kRotatedBytes / bytes_of(shape)) + 1);
      const float scale =
          std::sqrt(3.0f / static_cast<float>(shape.k));  // keeps the size of x along a chain
      for (int i = 0; i < copies; ++i)
        weights[op].push_back(uniform_bf16(size_t(shape.n) * shape.k, 100 * op + i, scale));
      y.push_back(DeviceArray<Bf16>(size_t{kMaxRows} * shape.n));
    }
  }

  static size_t scratch_floats(int sm_count) {
    size_t bytes = 0;
    for (const Shape& shape : kLayer)
      bytes = std::max(bytes, plan_gemm_stream(shape.n, shape.k, sm_count).partial_bytes(kMaxRows));
    return bytes / sizeof(float);
  }

  /// Product `op` of layer `i`. In a chain it reads what the product before it wrote.
  GemmStreamArgs args(int op, int i, int m, bool chained) const {
    const Shape& shape = kLayer[op];
    const int before = (op + kOps - 1) % kOps;
    return {.x = chained ? y[before].data() : x.data(),
            .w = weights[op][i % weights[op].size()].data(),
            .y = y[op].data(),
            .x_pitch = chained ? kLayer[before].n : shape.k,
            .w_pitch = shape.k,
            .y_pitch = shape.n,
            .m = m,
            .n = shape.n,
            .k = shape.k,
            .partials = partials.data()};
  }

  void launch_ours(int op, int i, int m, bool chained, bool overlap, cudaStream_t to) const {
    const GemmStreamPlan plan = plan_gemm_stream(kLayer[op].n, kLayer[op].k, sm_count);
    check(launch_gemm_stream(args(op, i, m, chained), plan, overlap, to), "launch_gemm_stream");
  }

  void launch_peer(const CublasLtPeer& peer, int algorithm, int op, int i, int m, bool chained,
                   cudaStream_t to) const {
    const GemmStreamArgs a = args(op, i, m, chained);
    peer.launch(algorithm, a.x, a.w, a.y, to);
  }

  std::unique_ptr<CublasLtPeer> peer_of(int op, int m, bool chained) const {
    const GemmStreamArgs a = args(op, 0, m, chained);
    return std::unique_ptr<CublasLtPeer>(
        new CublasLtPeer(cublaslt, {m, a.n, a.k, a.x_pitch, a.y_pitch}, workspace));
  }
};

/// Ends the program unless y is the product: a wrong answer has no speed.
void check_answer(const Bench& bench, int op, int m) {
  const GemmStreamArgs a = bench.args(op, 0, m, false);
  bench.y[op].fill_bytes(0xff);
  bench.launch_ours(op, 0, m, false, false, bench.stream);
  DeviceArray<double> exact(size_t(m) * a.n), magnitude(size_t(m) * a.n);
  check(cudaStreamSynchronize(bench.stream), "gemm_stream");
  gemm_reference_kernel<<<dim3((a.n + 127) / 128, m), 128>>>(
      {a.x, a.w, nullptr, exact.data(), magnitude.data(), a.x_pitch, a.w_pitch, m, a.n, a.k});
  check(cudaDeviceSynchronize(), "gemm_reference");
  const auto y = bench.y[op].to_host();
  const auto want = exact.to_host(), scale = magnitude.to_host();
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::fabs(__bfloat162float(y[i]) - want[i]) <= gemm_tolerance(want[i], scale[i], a.k))
      continue;
    std::fprintf(stderr, "%s m %d: element %zu is %g, expected %g\n", kLayer[op].name, m, i,
                 static_cast<double>(__bfloat162float(y[i])), want[i]);
    std::exit(1);
  }
}

using Graphs = std::vector<std::unique_ptr<LaunchGraph>>;

std::vector<NodeTime> time_all(const Bench& bench, const Graphs& graphs, int nodes) {
  std::vector<TimedGraph> timed;
  for (const auto& graph : graphs) timed.push_back(TimedGraph{graph.get(), nodes});
  return time_graphs(timed, kRounds, bench.stream);
}

template <class Record>
void add_graph(Graphs& graphs, const Bench& bench, const Record& record) {
  graphs.push_back(std::unique_ptr<LaunchGraph>(new LaunchGraph(bench.stream, record)));
}

Row bench_alone(const Bench& bench, int op, int m) {
  check_answer(bench, op, m);
  const int copies = static_cast<int>(bench.weights[op].size());
  const int nodes = copies * std::max(1, kNodes / copies);
  const auto peer = bench.peer_of(op, m, false);
  Graphs graphs;
  for (const bool overlap : {true, false})
    add_graph(graphs, bench, [&](cudaStream_t to) {
      for (int i = 0; i < nodes; ++i) bench.launch_ours(op, i, m, false, overlap, to);
    });
  for (int algorithm = 0; algorithm < peer->n_algorithms(); ++algorithm)
    add_graph(graphs, bench, [&](cudaStream_t to) {
      for (int i = 0; i < nodes; ++i) bench.launch_peer(*peer, algorithm, op, i, m, false, to);
    });
  const auto times = time_all(bench, graphs, nodes);
  const auto best =
      std::min_element(times.begin() + 2, times.end(),
                       [](const NodeTime& a, const NodeTime& b) { return a.median < b.median; });
  return {kLayer[op].name,
          kLayer[op].n,
          kLayer[op].k,
          m,
          times[0],
          times[1],
          *best,
          static_cast<int>(best - times.begin()) - 2,
          bytes_of(kLayer[op])};
}

/// `algorithms`: what was fastest alone.
Row bench_chain(const Bench& bench, int m, const int (&algorithms)[kOps]) {
  std::unique_ptr<CublasLtPeer> peers[kOps];
  for (int op = 0; op < kOps; ++op) peers[op] = bench.peer_of(op, m, true);
  Graphs graphs;
  for (const bool overlap : {true, false})
    add_graph(graphs, bench, [&](cudaStream_t to) {
      for (int i = 0; i < kLayers * kOps; ++i)
        bench.launch_ours(i % kOps, i / kOps, m, true, overlap, to);
    });
  add_graph(graphs, bench, [&](cudaStream_t to) {
    for (int i = 0; i < kLayers * kOps; ++i) {
      const int op = i % kOps, algorithm = std::min(algorithms[op], peers[op]->n_algorithms() - 1);
      bench.launch_peer(*peers[op], algorithm, op, i / kOps, m, true, to);
    }
  });
  bench.y[kOps - 1].fill_bytes(0);
  const auto times = time_all(bench, graphs, kLayers);
  double bytes = 0;
  for (const Shape& shape : kLayer) bytes += bytes_of(shape);
  return {"chain of the four", 0, 0, m, times[0], times[1], times[2], -1, bytes};
}

void print(const Row& row) {
  std::printf(
      "%-18s %5d x %-5d M=%-2d %7.2f us (%.2f..%.2f)  plain edges %7.2f  %.2f TB/s %3.0f%% of "
      "ceiling  "
      "cuBLASLt %7.2f (#%d)  %.2fx  ok\n",
      row.name.c_str(), row.n, row.k, row.m, row.ours.median, row.ours.p10, row.ours.p90,
      row.ours_plain.median, row.rate() * 1e-12, 100 * row.rate() / kCeiling, row.peer.median,
      row.peer_algorithm, row.ratio());
  std::fflush(stdout);
}

double mean_ratio(const std::vector<Row>& rows, int m) {
  double logs = 0;
  int count = 0;
  for (const Row& row : rows)
    if (row.peer_algorithm >= 0 && (m == 0 || row.m == m)) {
      logs += std::log(row.ratio());
      ++count;
    }
  return std::exp(logs / count);
}

void write_json(const std::string& path, const std::string& command, const std::vector<Row>& rows) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  cudaDeviceProp device;
  int driver = 0, runtime = 0;
  check(cudaGetDeviceProperties(&device, 0), "device properties");
  check(cudaDriverGetVersion(&driver), "driver version");
  check(cudaRuntimeGetVersion(&runtime), "runtime version");
  std::fprintf(file,
               "{\n  \"bench\": \"gemm_stream\",\n  \"date\": \"%s\",\n  \"device\": \"%s\",\n  "
               "\"cuda_driver\": %d,\n"
               "  \"cuda_runtime\": %d,\n  \"cublaslt\": %zu,\n  \"command\": \"%s\",\n"
               "  \"timed\": \"graph replays over rotated weights, microseconds a product (of a "
               "chain: a layer)\",\n"
               "  \"ceiling_bytes_per_s\": %.4g,\n  \"rows\": [\n",
               date, device.name, driver, runtime, cublasLtGetVersion(), command.c_str(), kCeiling);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
    std::fprintf(
        file,
        "    {\"name\": \"%s\", \"n\": %d, \"k\": %d, \"m\": %d, \"us\": %.3f, \"us_p10\": %.3f, "
        "\"us_p90\": "
        "%.3f, \"us_plain_edges\": %.3f, \"peer\": \"cuBLASLt\", \"peer_us\": %.3f, "
        "\"peer_algorithm\": %d, "
        "\"ratio\": %.4f, \"bytes_per_s\": %.4g, \"share_of_ceiling\": %.4f, \"checked\": %s}%s\n",
        r.name.c_str(), r.n, r.k, r.m, r.ours.median, r.ours.p10, r.ours.p90, r.ours_plain.median,
        r.peer.median, r.peer_algorithm, r.ratio(), r.rate(), r.rate() / kCeiling,
        r.peer_algorithm >= 0 ? "true" : "false", i + 1 < rows.size() ? "," : "");
  }
  std::fprintf(file, "  ]\n}\n");
  std::fclose(file);
}

int run(int argc, char** argv) {
  std::string json, command = argv[0];
  for (int i = 1; i < argc; ++i) {
    command += std::string(" ") + argv[i];
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) json = argv[i + 1];
  }
  int sm_count = 0;
  check(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0),
        "multiprocessor count");
  check(prepare_gemm_stream(), "prepare_gemm_stream");
  const Bench bench(sm_count);
  std::vector<Row> rows;
  for (const int m : kRows) {
    int algorithms[kOps];
    for (int op = 0; op < kOps; ++op) {
      rows.push_back(bench_alone(bench, op, m));
      algorithms[op] = rows.back().peer_algorithm;
      print(rows.back());
    }
    rows.push_back(bench_chain(bench, m, algorithms));
    print(rows.back());
    std::printf("M=%d: geometric mean of the four alone %.3fx\n", m, mean_ratio(rows, m));
  }
  std::printf("geometric mean of all alone %.3fx\n", mean_ratio(rows, 0));
  if (!json.empty()) write_json(json, command, rows);
  return 0;
}

}  // namespace
}  // namespace tw::cuda

int main(int argc, char** argv) { return tw::cuda::run(argc, argv); }
