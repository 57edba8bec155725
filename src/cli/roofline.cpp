#include "cli/roofline.h"

#include <algorithm>

namespace tw::cli {
namespace {

// Measured on one H200 (2026-11-30): bulk copies into shared memory; a bf16 product of 16384 x
// 28672 x 8192. f32 without tensor cores: the data sheet.
constexpr double kBytesPerUs = 4.66e6, kTensorFlopsPerUs = 831e6, kPlainFlopsPerUs = 67e6;

/// Multiplications and additions of the kinds whose time they can bound.
struct Flops {
  task::Slots slots;
  const task::SlotInfo& at(task::SlotId id) const { return slots[task::index(id)]; }

  double operator()(const task::GemmTask& t) const {
    const task::SlotInfo& a = at(t.a.id);
    return 2.0 * static_cast<double>(at(t.c.id).count()) *
           static_cast<double>(a.rank > 0 ? a.dims[a.rank - 1] : 1);
  }
  double operator()(const task::ConvTask& t) const {
    const task::SlotInfo& w = at(t.w.id);
    const double taps =
        static_cast<double>(w.count()) / static_cast<double>(std::max<int64_t>(1, w.dims[0]));
    return 2.0 * static_cast<double>(at(t.y.id).count()) * taps;
  }
  double operator()(const task::AttentionTask& t) const {
    const task::SlotInfo &q = at(t.q.id), &k = at(t.k.id);
    return 4.0 * static_cast<double>(q.count()) * static_cast<double>(k.dims[1]);
  }
  double operator()(const auto&) const { return 0; }
};

}  // namespace

double floor_us(const task::Record& record, task::Slots slots) {
  double bytes = 0;
  for (const task::Operand& operand : task::operands(record)) {
    const task::SlotInfo& slot = slots[task::index(operand.slot)];
    bytes += static_cast<double>(slot.count() * size_bytes(slot.dtype));
  }
  // A lookup touches only what it gives, of its table.
  if (record.kind == task::Tasks::number_of<task::GatherTask>())
    bytes = 2 * static_cast<double>(slots[task::index(record.operands[2])].count() *
                                    size_bytes(slots[task::index(record.operands[2])].dtype));
  const double flops = task::visit(record, Flops{slots});
  if (flops == 0) return bytes / kBytesPerUs;
  // The first operand's type is the arithmetic's: a mask or a result may be f32 beside it.
  const bool tensor = slots[task::index(record.operands[0])].dtype != DType::kF32;
  return std::max(bytes / kBytesPerUs, flops / (tensor ? kTensorFlopsPerUs : kPlainFlopsPerUs));
}

}  // namespace tw::cli
