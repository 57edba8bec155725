#include "backends/cuda/graph/contract.h"

#include <charconv>

#include "backends/cuda/graph/machine.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/nvrtc.h"

namespace tw::cuda {
namespace {

constexpr std::string_view kDriverKey = "cuda_driver", kNvrtcKey = "nvrtc", kKernelsKey = "kernels";

/// "13.0" as CUDA counts versions.
std::optional<int> parse_version(std::string_view text) {
  int major = 0, minor = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  if (major < 0 || major > 999 || minor < 0 || minor > 99) return std::nullopt;
  return 1000 * major + 10 * minor;
}

}  // namespace

plan::Contract make_contract() {
  plan::Contract contract = {{"compute_target", std::string(kComputeTarget)},
                             {std::string(kDriverKey), cuda_version_text(kLeastDriver)},
                             {std::string(kKernelsKey), kernels_version()}};
  const auto nvrtc = nvrtc_version();
  if (nvrtc.ok()) contract.emplace_back(kNvrtcKey, nvrtc.value());
  return contract;
}

Result<int> wanted_driver(const plan::Contract& contract) {
  const std::string_view text = plan::contract_value(contract, kDriverKey);
  if (text.empty()) return kLeastDriver;
  const std::optional<int> wanted = parse_version(text);
  if (!wanted)
    return error(Code::kCorrupt, "the plan's ", kDriverKey, " is '", text,
                 "', expected a version of CUDA such as ", cuda_version_text(kLeastDriver));
  return std::max(*wanted, kLeastDriver);
}

Result<void> check_kernels(const plan::Contract& contract, std::string_view kernels) {
  const std::string_view built = plan::contract_value(contract, kKernelsKey);
  if (built == kernels) return {};
  return error(Code::kIncompatible, "the plan's kernels are of version ",
               built.empty() ? "none" : built, ", expected ", kernels, ": build the plan again");
}

std::string other_nvrtc_note(const plan::Contract& contract, std::string_view nvrtc) {
  const std::string_view built = plan::contract_value(contract, kNvrtcKey);
  if (built.empty() || built == nvrtc) return "";
  return cat("a kernel that the plan lacks for these sizes was compiled here by NVRTC ", nvrtc,
             ", the plan's own by NVRTC ", built,
             ": results at these sizes may differ from those of the machine that built it");
}

}  // namespace tw::cuda
