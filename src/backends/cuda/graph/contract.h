// contract.h: what a plan's contract says of the versions that it was built with and wants, and how
// that compares with what is here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace tw::cuda {

/// The first driver that takes what this backend builds, and that this program needs itself.
inline constexpr int kLeastDriver = 13000;  // 1000 * major + 10 * minor of CUDA
/// What kernels are compiled for. The plan's target, sm_90, is the kind of GPU.
inline constexpr std::string_view kComputeTarget = "sm_90a";

/// The entries of a plan that is built here: `compute_target`, `cuda_driver` (the least),
/// `nvrtc` (left out when there is none, so that nothing was compiled) and `kernels`, the version
/// of their text. Equal builders give equal entries.
plan::Contract make_contract();

/// The driver that the plan wants at least. kCorrupt when the contract's is no version.
Result<int> wanted_driver(const plan::Contract& contract);

/// kIncompatible where the plan's kernels are of another version than `kernels`, which this program
/// makes launches for: they may take other parameters.
Result<void> check_kernels(const plan::Contract& contract, std::string_view kernels);

/// What its user should know where a kernel that the plan lacks was compiled by NVRTC `nvrtc` and
/// the plan's own by another; else "".
std::string other_nvrtc_note(const plan::Contract& contract, std::string_view nvrtc);

}  // namespace tw::cuda
