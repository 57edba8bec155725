#include "backends/cpu/build/target.h"

#include "backends/cpu/build/pack.h"

namespace tw::cpu {
namespace {

std::optional<planner::PackedWeight> stored(PackedWeight packed) {
  return planner::PackedWeight{std::move(packed.bytes), task::Layout::kPanels};
}

class Target : public planner::TargetServices {
 public:
  Target(Isa isa, bool portable) : isa_(isa), portable_(portable) {}

  std::string name() const override { return cat("cpu ", portable_ ? "portable" : isa_name(isa_)); }

  Result<std::optional<planner::PackedWeight>> pack(const task::Record& record,
                                                    std::string_view operand,
                                                    const Tensor& weight) const override {
    if (portable_ || weight.dtype() != DType::kF32) return std::optional<planner::PackedWeight>();
    if (record.kind == task::Tasks::number_of<task::GemmTask>() && operand == "b" &&
        weight.rank() == 2)
      return stored(
          TRY(pack_gemm_b(weight, task::decode<task::GemmTask>(record).transpose_b != 0, isa_)));
    if (record.kind == task::Tasks::number_of<task::ConvTask>() && operand == "w")
      return stored(TRY(pack_conv_w(weight, task::decode<task::ConvTask>(record).groups, isa_)));
    return std::optional<planner::PackedWeight>();
  }

 private:
  Isa isa_;
  bool portable_;
};

}  // namespace

std::unique_ptr<planner::TargetServices> make_target(Isa isa, bool portable) {
  return std::make_unique<Target>(isa, portable);
}

}  // namespace tw::cpu
