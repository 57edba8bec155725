#include "backends/cuda/graph/device.h"

#include <algorithm>

#include "backends/cuda/graph/contract.h"
#include "backends/cuda/graph/machine.h"
#include "backends/cuda/graph/session.h"
#include "backends/cuda/nvrtc.h"

namespace tw::cuda {

Result<std::unique_ptr<Device>> Device::open(const plan::Plan& plan) {
  std::unique_ptr<Device> device(new Device(plan));
  const Machine machine = find_machine();
  TRY(check_machine(machine, plan::contract_value(plan.contract, "target"),
                    TRY(wanted_driver(plan.contract))));
  TRY(check_kernels(plan.contract, kernels_version()));
  TRY(check(cudaGetDeviceProperties(&device->properties_, 0), "properties of device 0"));
  TRY(check(cudaSetDevice(0), "device 0"));
  device->driver_version_ = machine.driver;
  const auto bytes = static_cast<int64_t>(plan.weights.size());
  TRY(device->weights_.reserve(std::max<int64_t>(bytes, 1), "the weights"));
  if (bytes > 0)
    TRY(check(cudaMemcpy(device->weights_.data(), plan.weights.data(), plan.weights.size(),
                         cudaMemcpyHostToDevice),
              "weights to the device"));
  return device;
}

Device::~Device() {
  for (const cudaLibrary_t library : libraries_) cudaLibraryUnload(library);
}

std::string Device::description() const {
  return cat(properties_.name, ", sm_", properties_.major, properties_.minor, ", ",
             properties_.multiProcessorCount, " multiprocessors, driver for CUDA ",
             cuda_version_text(driver_version_));
}

std::vector<std::string> Device::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

void Device::note(std::string text) const {
  if (!text.empty() && std::find(notes_.begin(), notes_.end(), text) == notes_.end())
    notes_.push_back(std::move(text));
}

Result<cudaKernel_t> Device::load(const std::string& source) const {
  std::vector<std::byte> compiled;
  const std::vector<std::byte>* code = nullptr;
  for (const plan::Kernel& kernel : plan_.kernels)
    if (kernel.source == source) code = &kernel.code;
  if (code == nullptr) {
    auto made = compile_kernel(source, std::string(kComputeTarget));
    if (!made.ok())
      return error(Code::kIncompatible,
                   "the plan has no kernel for these sizes and none can be made here: ",
                   made.error().message);
    note(other_nvrtc_note(plan_.contract, TRY(nvrtc_version())));
    compiled = std::move(made).take().cubin;
    code = &compiled;
  }
  cudaLibrary_t library = nullptr;
  TRY(check(cudaLibraryLoadData(&library, code->data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "a kernel of the plan"));
  libraries_.push_back(library);
  cudaKernel_t kernel = nullptr;
  TRY(check(cudaLibraryGetKernel(&kernel, library, "tw_kernel"), "a kernel of the plan"));
  return kernel;
}

Result<cudaKernel_t> Device::kernel(const std::string& source) const {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(source);
  if (found != kernels_.end()) return found->second;
  cudaKernel_t kernel = TRY(load(source));
  kernels_[source] = kernel;
  return kernel;
}

Result<std::unique_ptr<backends::DeviceProgram>> Device::prepare(
    const task::Program& program) const {
  std::unique_ptr<backends::DeviceProgram> made = TRY(Program::make(program, *this));
  return made;
}

Result<std::unique_ptr<backends::DeviceSession>> Device::make_session() const {
  std::unique_ptr<backends::DeviceSession> made = TRY(Session::make(*this));
  return made;
}

}  // namespace tw::cuda

namespace tw::backends {

Result<std::unique_ptr<Device>> open_device(const plan::Plan& plan) {
  if (!plan::contract_value(plan.contract, "target").starts_with("sm_"))
    return std::unique_ptr<Device>();
  std::unique_ptr<Device> device = TRY(cuda::Device::open(plan));
  return device;
}

}  // namespace tw::backends
