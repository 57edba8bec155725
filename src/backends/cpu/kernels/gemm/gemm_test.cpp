// gemm_test.cpp: the f32 matrix products against a sum in double, and their promise of equal bits
// for any split.
#include "backends/cpu/kernels/kernel_test_util.h"

namespace tw::cpu {
namespace {

struct Case {
  int64_t m, n, k;
};

constexpr Case kCases[] = {{0, 5, 3},     {3, 0, 5},      {4, 7, 0},     {1, 1, 1},
                           {1, 64, 7},    {1, 300, 33},   {2, 131, 40},  {3, 17, 9},
                           {5, 65, 193},  {6, 64, 192},   {7, 63, 400},  {13, 129, 51},
                           {25, 40, 700}, {49, 257, 100}, {250, 30, 389}};

/// A product with rows of A and C longer than needed, its packed B and its reference.
struct Operands {
  Case size;
  int64_t lda, ldb, ldc;
  Guarded<float> a, b, bias, packed;
  std::vector<double> want, bound;

  Operands(const Kernels& k, std::mt19937& rng, const Case& s)
      : size(s),
        lda(s.k + random_int(rng, 0, 3)),
        ldb(s.n + random_int(rng, 0, 3)),
        ldc(s.n + random_int(rng, 0, 3)),
        a(random_floats(rng, s.m * lda)),
        b(random_floats(rng, s.k * ldb)),
        bias(random_floats(rng, s.n)),
        packed(k.packed_b_elems(s.k, s.n)) {
    k.pack_b(b.data(), ldb, 1, s.k, s.n, packed.data());
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = bias[j], magnitude = std::fabs(sum);
        for (int64_t l = 0; l < s.k; ++l) {
          const double term = double(a[i * lda + l]) * b[l * ldb + j];
          sum += term;
          magnitude += std::fabs(term);
        }
        want.push_back(sum);
        // Each of k + 1 steps rounds a partial sum; without FMA the product rounds too.
        bound.push_back(0x1p-24 * double(s.k + 2) * magnitude);
      }
    }
  }
  GemmArgs args(float* c) const {
    return {.m = size.m,
            .n = size.n,
            .k = size.k,
            .a = a.data(),
            .lda = lda,
            .b = packed.data(),
            .ldb = ldb,
            .bias = bias.data(),
            .c = c,
            .ldc = ldc};
  }
  Guarded<float> output() const { return Guarded<float>(size.m * ldc, 77.0f); }
  void expect_right(const Guarded<float>& c) const {
    ASSERT_TRUE(c.intact()) << size.m << " x " << size.n << " x " << size.k;
    for (int64_t i = 0; i < size.m; ++i) {
      for (int64_t j = 0; j < size.n; ++j) {
        const size_t at = size_t(i * size.n + j);
        ASSERT_NEAR(c[i * ldc + j], want[at], bound[at])
            << size.m << ' ' << size.n << ' ' << size.k;
      }
      for (int64_t j = size.n; j < ldc; ++j) ASSERT_EQ(c[i * ldc + j], 77.0f) << "past a row";
    }
  }
};

void expect_same(const Guarded<float>& a, const Guarded<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (int64_t i = 0; i < a.size(); ++i) ASSERT_TRUE(same_bits(a[i], b[i])) << "at " << i;
}

using GemmTest = KernelTest;

TEST_P(GemmTest, PackedAndRowMajorMatchDoubleAndEachOther) {
  for (const Case& size : kCases) {
    const Operands o(k(), rng, size);
    ASSERT_TRUE(o.packed.intact());
    Guarded<float> packed = o.output(), row_major = o.output();
    GemmArgs args = o.args(packed.data());
    k().gemm(args);
    o.expect_right(packed);
    args.b = o.b.data();
    args.c = row_major.data();
    k().gemm_row_major_b(args);
    expect_same(packed, row_major);
  }
}

TEST_P(GemmTest, ARowOfBThatRepeatsIsReadAgain) {
  for (const Case& size : {Case{3, 5, 9}, Case{6, 4, 6}, Case{70, 100, 300}}) {
    const Operands o(k(), rng, size);
    Guarded<float> packed(k().packed_b_elems(size.k, size.n), 0), want = o.output(),
                                                                  found = o.output();
    k().pack_b(o.b.data(), 0, 1, size.k, size.n, packed.data());
    GemmArgs args = o.args(want.data());
    args.b = packed.data();
    k().gemm(args);
    args.b = o.b.data();
    args.ldb = 0;
    args.c = found.data();
    k().gemm_row_major_b(args);
    expect_same(want, found);
  }
}

TEST_P(GemmTest, SplittingRowsAndColumnsKeepsBits) {
  const Operands o(k(), rng, {61, 300, 450});
  Guarded<float> whole = o.output();
  k().gemm(o.args(whole.data()));
  for (int trial = 0; trial < 20; ++trial) {
    Guarded<float> parts = o.output();
    const int64_t row = random_int(rng, 0, 61);
    const int64_t col = std::min<int64_t>(300, random_int(rng, 0, 5) * k().gemm_nr);
    for (int part = 0; part < 4; ++part) {
      const int64_t r0 = part & 1 ? row : 0, r1 = part & 1 ? 61 : row;
      const int64_t c0 = part & 2 ? col : 0, c1 = part & 2 ? 300 : col;
      GemmArgs args = o.args(parts.data() + r0 * o.ldc + c0);
      args.m = r1 - r0;
      args.n = c1 - c0;
      args.a += r0 * o.lda;
      args.b += c0 * 450;
      args.bias += c0;
      k().gemm(args);
    }
    expect_same(whole, parts);
  }
}

TEST_P(GemmTest, OneRowAtATimeKeepsBits) {
  const Operands o(k(), rng, {9, 333, 777});
  Guarded<float> whole = o.output(), rows = o.output();
  k().gemm(o.args(whole.data()));
  for (int64_t r = 0; r < 9; ++r) {
    GemmArgs args = o.args(rows.data() + r * o.ldc);
    args.m = 1;
    args.a += r * o.lda;
    k().gemm(args);
  }
  expect_same(whole, rows);
}

TEST_P(GemmTest, IndirectRowsGiveTheBitsOfGemm) {
  constexpr Case kTaps[] = {{9, 3, 70},  {49, 3, 16}, {9, 96, 33}, {4, 250, 8},
                            {1, 7, 130}, {0, 4, 5},   {3, 0, 5}};
  for (const Case& t : kTaps) {
    const int64_t n_taps = t.m, k_per_tap = t.n;
    for (const int64_t rows : {1, 2, 5, 31}) {
      const Operands o(k(), rng, {rows, t.k, n_taps * k_per_tap});
      const int64_t stride = rows + 2;
      std::vector<const float*> a(size_t(n_taps * stride), nullptr);
      for (int64_t i = 0; i < n_taps * rows; ++i) {
        const int64_t tap = i / rows, r = i % rows;
        a[size_t(tap * stride + r)] = o.a.data() + r * o.lda + tap * k_per_tap;
      }
      Guarded<float> plain = o.output(), indirect = o.output();
      k().gemm(o.args(plain.data()));
      k().igemm({.rows = rows,
                 .n = t.k,
                 .n_taps = n_taps,
                 .k_per_tap = k_per_tap,
                 .a = a.data(),
                 .a_stride = stride,
                 .b = o.packed.data(),
                 .bias = o.bias.data(),
                 .c = indirect.data(),
                 .ldc = o.ldc});
      o.expect_right(plain);
      expect_same(plain, indirect);
    }
  }
}

TEST_P(GemmTest, PackingIsTheSameForAnyStrides) {
  for (const Case& s : {Case{0, 70, 37}, Case{0, 5, 3}, Case{0, 131, 1}, Case{0, 64, 8}}) {
    const Guarded<float> b = random_floats(rng, s.k * s.n);
    std::vector<float> turned(size_t(s.k * s.n)), spread(size_t(3 * s.k * s.n));
    for (int64_t i = 0; i < s.k * s.n; ++i) {
      turned[size_t(i % s.n * s.k + i / s.n)] = b[i];
      spread[size_t(3 * i)] = b[i];
    }
    const int64_t elems = k().packed_b_elems(s.k, s.n);
    Guarded<float> from_rows(elems), from_columns(elems), from_strides(elems);
    k().pack_b(b.data(), s.n, 1, s.k, s.n, from_rows.data());
    k().pack_b(turned.data(), 1, s.k, s.k, s.n, from_columns.data());
    k().pack_b(spread.data(), 3 * s.n, 3, s.k, s.n, from_strides.data());
    expect_same(from_rows, from_columns);
    expect_same(from_rows, from_strides);
    EXPECT_TRUE(from_columns.intact() && from_strides.intact());
  }
}

TEST_P(GemmTest, RandomShapesMatchDouble) {
  for (int trial = 0; trial < 60; ++trial) {
    const Case size = {random_int(rng, 0, 40), random_int(rng, 0, 200), random_int(rng, 0, 250)};
    const Operands o(k(), rng, size);
    Guarded<float> c = o.output();
    k().gemm(o.args(c.data()));
    o.expect_right(c);
    Guarded<float> row_major = o.output();
    GemmArgs args = o.args(row_major.data());
    args.b = o.b.data();
    k().gemm_row_major_b(args);
    expect_same(c, row_major);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, GemmTest, testing::ValuesIn(kAllIsas), isa_test_name);

}  // namespace
}  // namespace tw::cpu
