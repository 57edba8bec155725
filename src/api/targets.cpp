#include "api/targets.h"

#include "backends/cpu/build/target.h"
#ifdef TILEWRIGHT_CUDA
#include "backends/cuda/build/target.h"
#endif

namespace tw::api {
namespace {

using Target = std::unique_ptr<planner::TargetServices>;

Result<Target> make_cpu(const BuildOptions& options) {
  if (options.precision == Precision::kTf32)
    return error(Code::kUnsupported, "the CPU has no tf32, expected fp32, fp16 or bf16");
  const cpu::Isa isa = options.isa.value_or(cpu::best_isa());
  if (!cpu::isa_supported(isa) && !options.portable)
    return error(Code::kIncompatible, "packing weights for ", cpu::isa_name(isa),
                 " needs a machine that has it, found ", cpu::isa_name(cpu::best_isa()),
                 "; a portable plan runs on every one");
  return cpu::make_target(isa, options.portable);
}

#ifdef TILEWRIGHT_CUDA
Result<Target> make_gpu(const BuildOptions& options) {
  return cuda::make_target({options.precision == Precision::kTf32,
                            {options.timing_cache, options.measure_tactics, options.progress},
                            1 + options.auxiliary_streams});
}
bool gpu_is_here() { return cuda::gpu_is_here(); }
#else
Result<Target> make_gpu(const BuildOptions&) {
  return error(Code::kUnsupported,
               "this build has no CUDA backend: target 'sm_90' needs one configured with "
               "TILEWRIGHT_CUDA=ON");
}
bool gpu_is_here() { return false; }
#endif

}  // namespace

Result<Target> make_target(const BuildOptions& options) {
  if (options.target == "cpu") return make_cpu(options);
  if (options.target == "sm_90") return make_gpu(options);
  if (options.target == "auto") return gpu_is_here() ? make_gpu(options) : make_cpu(options);
  return error(Code::kInvalidArgument, "target is '", options.target,
               "', expected cpu, sm_90 or auto");
}

}  // namespace tw::api
