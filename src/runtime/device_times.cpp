// What a context's last run takes on its device.
#include "runtime/engine.h"

namespace tw::runtime {

Result<const Instance*> Context::only_instance() const {
  if (session_ == nullptr)
    return error(Code::kInvalidArgument, "nothing ran on a device yet, or the plan is for the CPU");
  if (cached_.size() != 1)
    return error(Code::kUnsupported, "the model runs as ", cached_.size(),
                 " programs: no device time of all");
  return cached_.begin()->second.instance.get();
}

Result<backends::RunTimes> Context::time_on_device(int n) {
  return session_->time_runs(*TRY(only_instance())->on_device, n);
}

Result<std::vector<backends::TaskTime>> Context::time_tasks(int n) {
  return session_->time_tasks(*TRY(only_instance())->on_device, n);
}

}  // namespace tw::runtime
