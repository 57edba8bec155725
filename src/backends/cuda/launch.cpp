#include "backends/cuda/launch.h"

#include "backends/cuda/nvrtc.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

/// Grows when tasks come to other launches while the kernels' text stays.
constexpr size_t kLaunchVersion = 4;

}  // namespace

std::string kernels_version() {
  size_t hash = kLaunchVersion;
  for (const KernelHeader& header : kernel_headers())
    hash = hash * 31 + std::hash<std::string_view>()(header.text);
  return cat(hash);
}

std::string_view device_type(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kI8:
      return "int8_t";
    case DType::kI16:
      return "int16_t";
    case DType::kI32:
      return "int32_t";
    case DType::kI64:
      return "int64_t";
    case DType::kU8:
      return "uint8_t";
    case DType::kU16:
      return "uint16_t";
    case DType::kU32:
      return "uint32_t";
    case DType::kU64:
      return "uint64_t";
    case DType::kBool:
      return "bool";
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      return "";
  }
  return "";
}

Result<std::vector<Launch>> make_launches(const TaskView& view) {
  return task::visit(view.record, [&](const auto& task) -> Result<std::vector<Launch>> {
    if constexpr (requires { launch_task(task, view); })
      return launch_task(task, view);
    else
      return error(Code::kUnsupported, task.kName, " tasks have no CUDA form");
  });
}

}  // namespace tw::cuda
