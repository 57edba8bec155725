#include "runtime/devices.h"

namespace tw::runtime {

#ifdef TILEWRIGHT_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif

bool has_cuda() { return kHasCuda; }

Result<std::unique_ptr<backends::Device>> open_device(const plan::Plan& plan) {
  const std::string_view target = plan::contract_value(plan.contract, "target");
  if (target.starts_with("cpu ")) return std::unique_ptr<backends::Device>();
#ifdef TILEWRIGHT_CUDA
  if (target.starts_with("sm_")) return backends::open_device(plan);
#endif
  return error(Code::kIncompatible, "the plan is for '", target, "', this build runs 'cpu",
               kHasCuda ? "' and 'sm_90" : "", "' plans");
}

}  // namespace tw::runtime
