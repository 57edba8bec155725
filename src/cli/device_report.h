// device_report.h: what `bench` says about a run on a GPU: its time on the device's clock, and each
// task's against the least that the machine could take for it.
#pragma once

#include <optional>

#include "cli/json.h"
#include "runtime/engine.h"

namespace tw::cli {

class Console;

struct DeviceReport {
  std::optional<std::string> trace;  // a file for the tasks of one run, as Chrome and Perfetto read
  int n_runs = 500;                  // timed on the device's clock, after a tenth more
};

/// Prints the report and appends its figures to `json`. Says why where there are no device times.
Result<void> report_device(runtime::Context& context, const DeviceReport& options, Console& console,
                           Json::Object& json);

}  // namespace tw::cli
