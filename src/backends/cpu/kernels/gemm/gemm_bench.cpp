// gemm_bench.cpp: GFLOP/s of the f32 matrix product on one thread, beside oneDNN where the build
// has it.
//
// Usage: cpu_gemm_bench [--isa sse42|avx2|avx512] [--smoke | M N K]. Each answer is checked against
// a double sum first. Both sides run in turns and the fastest run of each counts, since other work
// on the machine only ever slows a run down.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#ifdef TW_HAVE_DNNL
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

#include "backends/cpu/kernels/kernels.h"

namespace {

using tw::cpu::Isa;
using tw::cpu::Kernels;

struct Shape {
  int64_t m, n, k;
};
constexpr Shape kShapes[] = {{128, 384, 384}, {128, 1536, 384}, {128, 384, 1536}, {1024, 384, 384},
                             {1, 384, 1536},  {1, 1536, 384},   {4, 1536, 384},   {23920, 96, 96},
                             {920, 480, 120}, {512, 512, 512}};

struct Problem {
  Shape shape;
  std::vector<float> a, b, c, packed;
  explicit Problem(const Shape& s, const Kernels& kernels) : shape(s) {
    std::mt19937 rng(7);
    std::uniform_real_distribution<float> dist(-1, 1);
    a.resize(size_t(s.m * s.k));
    b.resize(size_t(s.k * s.n));
    c.resize(size_t(s.m * s.n));
    for (float& x : a) x = dist(rng);
    for (float& x : b) x = dist(rng);
    packed.resize(size_t(kernels.packed_b_elems(s.k, s.n)) + 16);
    kernels.pack_b(b.data(), s.n, 1, s.k, s.n, aligned());
  }
  float* aligned() {
    return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(packed.data()) + 63) & ~63ull);
  }
  /// Rows and columns sampled: a whole check in double would take longer than the runs.
  bool right() const {
    const auto [m, n, k] = shape;
    for (int64_t i = 0; i < m; i += 1 + m / 17) {
      for (int64_t j = 0; j < n; j += 1 + n / 23) {
        double sum = 0, size = 0;
        for (int64_t l = 0; l < k; ++l) {
          const double term = double(a[size_t(i * k + l)]) * b[size_t(l * n + j)];
          sum += term;
          size += std::fabs(term);
        }
        const double bound = 0x1p-24 * double(k) * size + 1e-30;
        if (!(std::fabs(sum - c[size_t(i * n + j)]) <= bound)) return false;
      }
    }
    return true;
  }
};

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Time of this thread, which both sides run on: waiting for a processor does not count.
template <class F>
double seconds(F run) {
  const double start = thread_seconds();
  run();
  return thread_seconds() - start;
}

#ifdef TW_HAVE_DNNL
/// A oneDNN matmul with the weights in the layout that it prefers.
struct Peer {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul matmul;
  dnnl::memory a, b, c;
  explicit Peer(Problem& p) {
    using dnnl::memory;
    const auto [m, n, k] = p.shape;
    const auto f32 = memory::data_type::f32;
    const memory::desc a_desc({m, k}, f32, memory::format_tag::ab);
    const memory::desc b_plain({k, n}, f32, memory::format_tag::ab);
    const memory::desc b_any({k, n}, f32, memory::format_tag::any);
    const memory::desc c_desc({m, n}, f32, memory::format_tag::ab);
    const dnnl::matmul::primitive_desc desc({a_desc, b_any, c_desc}, engine);
    matmul = dnnl::matmul(desc);
    memory plain(b_plain, engine, p.b.data());
    a = memory(a_desc, engine, p.a.data());
    b = memory(desc.weights_desc(), engine);
    c = memory(c_desc, engine, p.c.data());
    dnnl::reorder(plain, b).execute(stream, plain, b);
  }
  void run() {
    matmul.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
  }
};
#endif

struct Rates {
  double own, own_row_major, peer, peer_sgemm;
};

Rates measure(const Kernels& kernels, Problem& p) {
  const auto [m, n, k] = p.shape;
  tw::cpu::GemmArgs args{.m = m,
                         .n = n,
                         .k = k,
                         .a = p.a.data(),
                         .lda = k,
                         .b = p.aligned(),
                         .ldb = 0,
                         .bias = nullptr,
                         .c = p.c.data(),
                         .ldc = n};
  tw::cpu::GemmArgs plain = args;
  plain.b = p.b.data();
  plain.ldb = n;
  const double flops = 2.0 * double(m) * double(n) * double(k);
  const int repeats = int(std::max(1.0, 4e7 / flops));
  double best[4] = {1e9, 1e9, 1e9, 1e9};
#ifdef TW_HAVE_DNNL
  Peer peer(p);
#endif
  const auto turn = [&](int side, auto once) {
    const double time = seconds([&] {
      for (int i = 0; i < repeats; ++i) once();
    });
    best[side] = std::min(best[side], time / repeats);
    if (!p.right()) {
      std::printf("side %d: wrong answer\n", side);
      std::exit(1);
    }
    std::fill(p.c.begin(), p.c.end(), NAN);
  };
  for (int round = 0; round < 25; ++round) {
    turn(0, [&] { kernels.gemm(args); });
    turn(1, [&] { kernels.gemm_row_major_b(plain); });
#ifdef TW_HAVE_DNNL
    turn(2, [&] { peer.run(); });
    turn(3, [&] {
      dnnl_sgemm('N', 'N', m, n, k, 1.0f, p.a.data(), k, p.b.data(), n, 0.0f, p.c.data(), n);
    });
#endif
  }
  const auto rate = [&](int side) { return flops / best[side] * 1e-9; };
  return {rate(0), rate(1), rate(2), rate(3)};
}

}  // namespace

int main(int argc, char** argv) {
  Isa isa = tw::cpu::best_isa();
  std::vector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--isa") == 0 && i + 1 < argc) {
      ++i;
      for (Isa known : tw::cpu::kAllIsas) {
        if (std::strcmp(argv[i], tw::cpu::isa_name(known)) == 0) isa = known;
      }
    } else if (std::strcmp(argv[i], "--smoke") == 0) {
      shapes = {{13, 70, 33}};
    } else if (i + 2 < argc) {
      shapes = {{std::atoll(argv[i]), std::atoll(argv[i + 1]), std::atoll(argv[i + 2])}};
      i += 2;
    }
  }
#ifdef TW_HAVE_DNNL
  omp_set_num_threads(1);
  if (isa == Isa::kAvx2) dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
  if (isa == Isa::kSse42) dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
#endif
  std::printf("GFLOP/s, 1 thread, %s\n", tw::cpu::isa_name(isa));
  std::printf("%22s %9s %9s %9s %9s %7s\n", "M x N x K", "packed", "row-major", "dnnl", "sgemm",
              "ratio");
  for (const Shape& shape : shapes) {
    Problem problem(shape, tw::cpu::kernels(isa));
    const Rates r = measure(tw::cpu::kernels(isa), problem);
    char name[64];
    std::snprintf(name, sizeof name, "%lldx%lldx%lld", (long long)shape.m, (long long)shape.n,
                  (long long)shape.k);
#ifdef TW_HAVE_DNNL
    std::printf("%22s %9.1f %9.1f %9.1f %9.1f %7.2f\n", name, r.own, r.own_row_major, r.peer,
                r.peer_sgemm, r.own / std::max(r.peer, r.peer_sgemm));
#else
    std::printf("%22s %9.1f %9.1f %9s %9s %7s\n", name, r.own, r.own_row_major, "-", "-", "-");
#endif
  }
  return 0;
}
