#include "tilewright/compile.h"

#include "api/compile_model.h"
#include "api/handles.h"

namespace tilewright {
namespace {

tw::Result<tw::api::BuildOptions> build_options(const CompileOptions& options) {
  tw::api::BuildOptions build;
  for (const auto& [input, dims] : options.shapes)
    build.model.shapes[input] =
        TRY(tw::api::parse_dims(dims).in(tw::cat("shapes of '", input, "'")));
  build.model.note = options.note;
  if (!options.isa.empty()) {
    build.isa = tw::api::find_isa(options.isa);
    if (!build.isa)
      return tw::error(tw::Code::kInvalidArgument, "isa is '", options.isa,
                       "', expected sse42, avx2 or avx512");
  }
  if (options.workers < 1)
    return tw::error(tw::Code::kInvalidArgument, "workers is ", options.workers,
                     ", expected at least 1");
  build.portable = options.portable;
  build.workers = options.workers;
  build.skip_passes.insert(options.skip_passes.begin(), options.skip_passes.end());
  if (options.progress)
    build.progress = [&options](const char* step, double fraction) {
      options.progress(step, fraction);
    };
  return build;
}

tw::Result<tw::plan::Plan> compile(const std::string& path, const CompileOptions& options) {
  return tw::api::compile_model(path, TRY(build_options(options)));
}

}  // namespace

Result<Plan> compile_onnx(const std::string& path, const CompileOptions& options) {
  auto plan = compile(path, options);
  if (!plan.ok()) return public_error(plan.error());
  return make_plan(std::move(plan).take());
}

}  // namespace tilewright
