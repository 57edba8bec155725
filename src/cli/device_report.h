// device_report.h: what `bench` says about a run on a GPU: its time on the device's clock, and each
// task's against the least that the machine could take for it.
#pragma once

#include <optional>

#include "cli/json.h"
#include "runtime/engine.h"

namespace tw::cli {

class Console;

/// Prints the report and appends its figures to `json`. `trace`: also writes the tasks of one run
/// as a Chrome / Perfetto trace to that file. Says why where there are no device times.
Result<void> report_device(runtime::Context& context, const std::optional<std::string>& trace,
                           Console& console, Json::Object& json);

}  // namespace tw::cli
