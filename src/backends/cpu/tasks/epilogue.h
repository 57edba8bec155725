// epilogue.h: the elementwise program that gemm and conv run on their results.
#pragma once

#include <array>

#include "backends/cpu/aligned_floats.h"
#include "backends/cpu/points/plan.h"

namespace tw::cpu {

class Epilogue {
 public:
  using Extra = std::array<task::In, 7>;
  /// `lane` is that of the sums, register 0. An offset of kNoProgram gives an empty epilogue.
  static Result<Epilogue> make(const TaskContext& context, task::SideOffset offset,
                               const Extra& extra, task::SlotId result, task::Lane lane);

  bool empty() const { return plan_ == nullptr; }

  /// result[box] = program(sums, extras[box]). `sums` are rows of the last dim of `box`, `ld`
  /// elements apart in row-major order of the other dims; they may be the result's own memory.
  void run(const TaskContext& context, const task::Box& box, void* sums, int64_t ld) const;

 private:
  std::unique_ptr<PointPlan> plan_;
  Extra extra_{};
  task::SlotId result_ = task::kNoSlot;
  DType sum_type_ = DType::kF32;
};

}  // namespace tw::cpu
