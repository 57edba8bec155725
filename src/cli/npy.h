// npy.h: NumPy's .npy arrays and .npz archives of them, as tensors.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace tw::cli {

/// The bytes of a .npy file (format 1.0 to 3.0, little-endian, C or Fortran order). float, int,
/// uint and bool types; a tensor of bf16 or fp8 cannot be told from its bits and is read as the
/// integers that NumPy says they are.
Result<Tensor> parse_npy(std::span<const std::byte> bytes);
/// The bytes of a .npy file of format 1.0. bf16 becomes float32, fp8 too: NumPy has no names for
/// them.
Result<std::vector<std::byte>> format_npy(const Tensor& tensor);

Result<Tensor> read_npy(const std::string& path);
/// The arrays of a .npz by name without ".npy", in the archive's order; stored or deflated.
Result<std::vector<std::pair<std::string, Tensor>>> read_npz(const std::string& path);

}  // namespace tw::cli
