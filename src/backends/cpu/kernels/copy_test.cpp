// copy_test.cpp: strided copies and transposes of every element size.
#include "backends/cpu/kernels/kernel_test_util.h"

namespace tw::cpu {
namespace {

struct Layout {
  int64_t src_row, src_col, dst_row, dst_col;
};

template <class T>
void expect_copied(CopyFn copy, std::mt19937& rng, int64_t rows, int64_t cols, const Layout& l) {
  Guarded<T> src((rows + 4) * (cols + 4) * 2), dst((rows + 4) * (cols + 4) * 2);
  for (int64_t i = 0; i < src.size(); ++i) src[i] = T(rng());
  Guarded<T> want = dst;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      want[r * l.dst_row + c * l.dst_col] = src[r * l.src_row + c * l.src_col];
    }
  }
  copy({.rows = rows,
        .cols = cols,
        .src = src.data(),
        .src_row = l.src_row,
        .src_col = l.src_col,
        .dst = dst.data(),
        .dst_row = l.dst_row,
        .dst_col = l.dst_col});
  ASSERT_TRUE(dst.intact());
  for (int64_t i = 0; i < dst.size(); ++i) {
    ASSERT_EQ(dst[i], want[i]) << sizeof(T) << " bytes, " << rows << " x " << cols;
  }
}

using CopyTest = KernelTest;

TEST_P(CopyTest, AnyStridesCopyExactlyTheBlock) {
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t rows = random_int(rng, 0, 90), cols = random_int(rng, 0, 150);
    const Layout layouts[] = {
        {cols, 1, cols, 1},                                          // one piece
        {cols + 1, 1, cols + 3, 1},                                  // rows
        {cols + 2, 1, 1, rows + 1},                                  // transposes, both ways round
        {1, rows + 2, cols + 1, 1}, {2 * cols + 1, 2, cols + 2, 1},  // one by one
    };
    for (const Layout& l : layouts) {
      expect_copied<uint8_t>(k().copy.size1, rng, rows, cols, l);
      expect_copied<uint16_t>(k().copy.size2, rng, rows, cols, l);
      expect_copied<uint32_t>(k().copy.size4, rng, rows, cols, l);
      expect_copied<uint64_t>(k().copy.size8, rng, rows, cols, l);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, CopyTest, testing::ValuesIn(kAllIsas), isa_test_name);

}  // namespace
}  // namespace tw::cpu
