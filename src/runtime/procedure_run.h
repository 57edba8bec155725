// procedure_run.h: one run of a procedure: registers, the symbols bound so far, and a function a
// kind of step.
#pragma once

#include "runtime/engine.h"

namespace tw::runtime {

using Symbols = std::vector<std::pair<std::string, int64_t>>;

class ProcedureRun {
 public:
  ProcedureRun(Context& context, const RunOptions& options)
      : context_(context), options_(options) {}

  /// `symbols` are those of the procedure around this one.
  Result<std::vector<Tensor>> run(const plan::Procedure& procedure, std::vector<Tensor> inputs,
                                  Symbols symbols);

 private:
  struct Frame {
    std::vector<Tensor> registers;
    Symbols symbols;
  };

  Result<void> step(const plan::RunStep& step, Frame& frame);
  Result<void> step(const plan::BindStep& step, Frame& frame);
  Result<void> step(const plan::IfStep& step, Frame& frame);
  Result<void> step(const plan::LoopStep& step, Frame& frame);
  Result<void> step(const plan::ScanStep& step, Frame& frame);
  Result<void> run_on_host(const Instance& instance, const std::vector<Tensor>& inputs,
                           std::vector<Tensor>& outputs);
  Result<void> run_on_device(const Instance& instance, const std::vector<Tensor>& inputs,
                             std::vector<Tensor>& outputs);
  Result<std::byte*> arena(int64_t bytes);

  Context& context_;
  const RunOptions& options_;
};

}  // namespace tw::runtime
