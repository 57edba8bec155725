// What each kind demands of its operands and fields: after this an executor may index by them
// without looking again.
#include <algorithm>
#include <cmath>

#include "task/record.h"

namespace tw::task {
namespace {

class Validator {
 public:
  Validator(Slots slots, std::span<const std::byte> side) : slots_(slots), side_(side) {}

  Result<void> operator()(const JoinTask&) const { return {}; }

  Result<void> operator()(const GemmTask& t) const {
    TRY(present({t.a.id, t.b.id, t.c.id}));
    const SlotInfo& a = at(t.a.id);
    const SlotInfo& b = at(t.b.id);
    const SlotInfo& c = at(t.c.id);
    if (a.rank < 2 || b.rank < 2 || c.rank < 2)
      return error(Code::kCorrupt, "gemm operands have rank ", a.rank, ", ", b.rank, " and ",
                   c.rank, ", expected at least 2");
    const int64_t k = a.dims[a.rank - 1], n = c.dims[c.rank - 1];
    const int64_t b_k = t.transpose_b != 0 ? b.dims[b.rank - 1] : b.dims[b.rank - 2];
    const int64_t b_n = t.transpose_b != 0 ? b.dims[b.rank - 2] : b.dims[b.rank - 1];
    if (b_k != k || b_n != n || a.dims[a.rank - 2] != c.dims[c.rank - 2])
      return error(Code::kCorrupt, "gemm of [", join(a.shape(), ","), "] and [",
                   join(b.shape(), ","), "] into [", join(c.shape(), ","), "]");
    if (b.layout == Layout::kPanels && b.rank != 2)
      return error(Code::kCorrupt, "packed weights have rank ", b.rank, ", expected 2");
    TRY(broadcasts(a, c, 2));
    TRY(broadcasts(b, c, 2));
    if (t.bias.id != kNoSlot && (at(t.bias.id).rank != 1 || at(t.bias.id).dims[0] != n))
      return error(Code::kCorrupt, "bias is [", join(at(t.bias.id).shape(), ","), "], expected [",
                   n, "]");
    if (t.tile_rows < 0 || t.tile_cols < 0) return error(Code::kCorrupt, "negative tile size");
    return epilogue(t.extra, c, t.epilogue);
  }

  Result<void> operator()(const ConvTask& t) const {
    TRY(present({t.x.id, t.w.id, t.y.id}));
    const SlotInfo& x = at(t.x.id);
    const SlotInfo& w = at(t.w.id);
    const SlotInfo& y = at(t.y.id);
    if (x.rank < 3 || x.rank > 5 || y.rank != x.rank || w.rank != x.rank)
      return error(Code::kCorrupt, "conv operands have rank ", x.rank, ", ", w.rank, " and ",
                   y.rank);
    const int64_t ci = x.dims[x.rank - 1], co = y.dims[y.rank - 1];
    if (t.groups < 1 || ci % t.groups != 0 || co % t.groups != 0 || w.dims[0] != co ||
        w.dims[1] != ci / t.groups)
      return error(Code::kCorrupt, "conv weights [", join(w.shape(), ","), "] do not fit ", ci,
                   " and ", co, " channels in ", t.groups, " groups");
    for (int d = 0; d < x.rank - 2; ++d)
      if (w.dims[d + 2] != t.kernel[static_cast<size_t>(d)])
        return error(Code::kCorrupt, "conv kernel differs from its weights");
    if (x.dims[0] != y.dims[0])
      return error(Code::kCorrupt, "conv keeps the batch, found ", x.dims[0], " and ", y.dims[0]);
    TRY(window(t.kernel, t.stride, t.dilation));
    if (t.bias.id != kNoSlot && (at(t.bias.id).rank != 1 || at(t.bias.id).dims[0] != co))
      return error(Code::kCorrupt, "bias is [", join(at(t.bias.id).shape(), ","), "], expected [",
                   co, "]");
    if (t.tile_pixels < 0) return error(Code::kCorrupt, "negative tile size");
    return epilogue(t.extra, y, t.epilogue);
  }

  Result<void> operator()(const PoolTask& t) const {
    TRY(present({t.x.id, t.y.id}));
    const SlotInfo& x = at(t.x.id);
    const SlotInfo& y = at(t.y.id);
    if (x.rank < 3 || x.rank > 5 || y.rank != x.rank || x.dims[0] != y.dims[0] ||
        x.dims[x.rank - 1] != y.dims[y.rank - 1])
      return error(Code::kCorrupt, "pool of [", join(x.shape(), ","), "] into [",
                   join(y.shape(), ","), "]");
    if (static_cast<int>(t.kind) > 1) return unknown_kind();
    return window(t.kernel, t.stride, t.dilation);
  }

  Result<void> operator()(const AttentionTask& t) const {
    TRY(present({t.q.id, t.k.id, t.v.id, t.y.id}));
    const SlotInfo& q = at(t.q.id);
    const SlotInfo& k = at(t.k.id);
    const SlotInfo& v = at(t.v.id);
    const SlotInfo& y = at(t.y.id);
    if (q.rank != 4 || k.rank != 4 || v.rank != 4 || y.rank != 4)
      return error(Code::kCorrupt, "attention operands need rank 4");
    const bool fits = k.dims[0] == q.dims[0] && v.dims[0] == q.dims[0] && y.dims[0] == q.dims[0] &&
                      y.dims[1] == q.dims[1] && y.dims[2] == q.dims[2] && k.dims[1] == v.dims[1] &&
                      k.dims[2] == v.dims[2] && k.dims[3] == q.dims[3] && y.dims[3] == v.dims[3] &&
                      (k.dims[2] > 0 ? q.dims[2] % k.dims[2] == 0 : q.dims[2] == 0);
    if (!fits)
      return error(Code::kCorrupt, "attention of q [", join(q.shape(), ","), "], k [",
                   join(k.shape(), ","), "], v [", join(v.shape(), ","), "]");
    if (t.mask.id == kNoSlot) return {};
    SlotInfo scores;
    scores.rank = 4;
    const int64_t dims[] = {q.dims[0], q.dims[2], q.dims[1], k.dims[1]};
    std::copy(std::begin(dims), std::end(dims), scores.dims);
    return broadcasts(at(t.mask.id), scores, 0);
  }

  Result<void> operator()(const NormTask& t) const {
    TRY(present({t.x.id, t.y.id}));
    TRY(same_dims(t.x.id, t.y.id));
    const SlotInfo& y = at(t.y.id);
    if (y.rank < 1) return error(Code::kCorrupt, "norm of a 0-d tensor");
    for (const SlotId id : {t.scale.id, t.bias.id})
      if (id != kNoSlot && (at(id).rank != 1 || at(id).dims[0] != y.dims[y.rank - 1]))
        return error(Code::kCorrupt, "norm weights are [", join(at(id).shape(), ","),
                     "], expected [", y.dims[y.rank - 1], "]");
    for (const SlotId id : {t.mean.id, t.inv_std.id}) {
      if (id == kNoSlot) continue;
      Dims row = y.shape();
      row.back() = 1;
      if (!(at(id).shape() == row))
        return error(Code::kCorrupt, "norm statistics are [", join(at(id).shape(), ","), "]");
    }
    return static_cast<int>(t.kind) > 1 ? unknown_kind() : Result<void>{};
  }

  Result<void> operator()(const SoftmaxTask& t) const {
    TRY(present({t.x.id, t.y.id}));
    if (at(t.y.id).rank < 1) return error(Code::kCorrupt, "softmax of a 0-d tensor");
    return same_dims(t.x.id, t.y.id);
  }

  Result<void> operator()(const ElementwiseTask& t) const {
    TRY(present({t.y[0].id}));
    Lanes lanes;
    for (const In x : t.x) {
      if (x.id == kNoSlot) break;
      TRY(broadcasts(at(x.id), at(t.y[0].id), 0));
      lanes.push_back(lane_of(at(x.id).dtype));
    }
    size_t n_outputs = 0;
    for (const Out y : t.y) {
      if (y.id == kNoSlot) break;
      TRY(same_dims(y.id, t.y[0].id));
      ++n_outputs;
    }
    const PointView program = TRY(view_point_program(side_, t.program));
    if (program.outputs.size() != n_outputs)
      return error(Code::kCorrupt, "program has ", program.outputs.size(), " outputs, the task ",
                   n_outputs);
    for (const PointInstr& instr : program.code)
      if (instr.op == PointOp::kIndex && (instr.imm_int < 0 || instr.imm_int >= at(t.y[0].id).rank))
        return error(Code::kCorrupt, "coordinate of axis ", instr.imm_int);
    return task::validate(program, {lanes.data(), lanes.size()});
  }

  Result<void> operator()(const ReduceTask& t) const {
    TRY(present({t.x.id, t.y.id}));
    const SlotInfo& x = at(t.x.id);
    const SlotInfo& y = at(t.y.id);
    if (x.rank != y.rank)
      return error(Code::kCorrupt, "reduce keeps the rank, found ", x.rank, " and ", y.rank);
    for (int d = 0; d < x.rank; ++d)
      if (y.dims[d] != ((t.axes >> d & 1U) != 0 ? 1 : x.dims[d]))
        return error(Code::kCorrupt, "reduce of [", join(x.shape(), ","), "] into [",
                     join(y.shape(), ","), "]");
    if (x.rank < 32 && (t.axes >> x.rank) != 0)
      return error(Code::kCorrupt, "reduce over an axis that is not there");
    const bool indexed = t.kind == ReduceTask::Kind::kArgMax || t.kind == ReduceTask::Kind::kArgMin;
    if (indexed && (y.dtype != DType::kI64 || std::popcount(t.axes) != 1))
      return error(Code::kCorrupt, "argmax takes one axis and gives i64");
    return static_cast<int>(t.kind) > static_cast<int>(ReduceTask::Kind::kAll) ? unknown_kind()
                                                                               : Result<void>{};
  }

  Result<void> operator()(const GatherTask& t) const {
    TRY(present({t.x.id, t.index.id, t.y.id}));
    const SlotInfo& x = at(t.x.id);
    const SlotInfo& i = at(t.index.id);
    const SlotInfo& y = at(t.y.id);
    TRY(indices(i));
    if (x.dtype != y.dtype) return error(Code::kCorrupt, "gather of ", x.dtype, " into ", y.dtype);
    if (t.kind != GatherTask::Kind::kNd && (t.axis < 0 || t.axis >= x.rank))
      return error(Code::kCorrupt, "gather on axis ", static_cast<int>(t.axis), " of rank ",
                   x.rank);
    Dims expected;
    if (t.kind == GatherTask::Kind::kTake) {
      for (int d = 0; d < t.axis; ++d) expected.push_back(x.dims[d]);
      if (x.rank + i.rank - 1U > kMaxRank)
        return error(Code::kCorrupt, "gather result passes rank ", kMaxRank);
      for (int d = 0; d < i.rank; ++d) expected.push_back(i.dims[d]);
      for (int d = t.axis + 1; d < x.rank; ++d) expected.push_back(x.dims[d]);
    } else if (t.kind == GatherTask::Kind::kElements) {
      if (x.rank != i.rank)
        return error(Code::kCorrupt, "gather elements of rank ", x.rank, " by indices of rank ",
                     i.rank);
      for (int d = 0; d < x.rank; ++d)
        if (d != t.axis && i.dims[d] > x.dims[d])
          return error(Code::kCorrupt, "gather elements reaches past [", join(x.shape(), ","), "]");
      expected = i.shape();
    } else if (t.kind == GatherTask::Kind::kNd) {
      if (i.rank < 1 || t.batch_dims < 0 || t.batch_dims >= i.rank || t.batch_dims > x.rank ||
          i.dims[i.rank - 1] > x.rank - t.batch_dims || i.dims[i.rank - 1] < 0)
        return error(Code::kCorrupt, "gather by coordinates [", join(i.shape(), ","), "] of [",
                     join(x.shape(), ","), "]");
      for (int d = 0; d < t.batch_dims; ++d)
        if (i.dims[d] != x.dims[d]) return error(Code::kCorrupt, "gather batch dims differ");
      const int64_t tail = t.batch_dims + i.dims[i.rank - 1];
      if (i.rank - 1 + x.rank - tail > static_cast<int64_t>(kMaxRank))
        return error(Code::kCorrupt, "gather result passes rank ", kMaxRank);
      for (int d = 0; d + 1 < i.rank; ++d) expected.push_back(i.dims[d]);
      for (int64_t d = tail; d < x.rank; ++d) expected.push_back(x.dims[d]);
    } else {
      return unknown_kind();
    }
    if (!(expected == y.shape()))
      return error(Code::kCorrupt, "gather gives [", join(expected, ","), "], the output is [",
                   join(y.shape(), ","), "]");
    return {};
  }

  Result<void> operator()(const ScatterTask& t) const {
    TRY(present({t.index.id, t.updates.id, t.y.id}));
    const SlotInfo& i = at(t.index.id);
    const SlotInfo& u = at(t.updates.id);
    const SlotInfo& y = at(t.y.id);
    TRY(indices(i));
    if (u.dtype != y.dtype || static_cast<int>(t.kind) > 1 || static_cast<int>(t.combine) > 4)
      return unknown_kind();
    if (t.kind == ScatterTask::Kind::kElements) {
      if (i.rank != y.rank || !(i.shape() == u.shape()) || t.axis < 0 || t.axis >= y.rank)
        return error(Code::kCorrupt, "scatter elements of [", join(i.shape(), ","), "] into [",
                     join(y.shape(), ","), "]");
      for (int d = 0; d < y.rank; ++d)
        if (d != t.axis && i.dims[d] > y.dims[d])
          return error(Code::kCorrupt, "scatter elements reaches past [", join(y.shape(), ","),
                       "]");
      return {};
    }
    if (i.rank < 1 || i.dims[i.rank - 1] > y.rank)
      return error(Code::kCorrupt, "scatter by coordinates [", join(i.shape(), ","), "] into [",
                   join(y.shape(), ","), "]");
    const int64_t depth = i.dims[i.rank - 1];
    if (i.rank - 1 + y.rank - depth > static_cast<int64_t>(kMaxRank))
      return error(Code::kCorrupt, "scatter updates pass rank ", kMaxRank);
    Dims expected;
    for (int d = 0; d + 1 < i.rank; ++d) expected.push_back(i.dims[d]);
    for (int64_t d = depth; d < y.rank; ++d) expected.push_back(y.dims[d]);
    if (!(expected == u.shape()))
      return error(Code::kCorrupt, "scatter takes updates of [", join(expected, ","), "], found [",
                   join(u.shape(), ","), "]");
    return {};
  }

  Result<void> operator()(const CopyTask& t) const {
    TRY(present({t.x.id, t.y.id}));
    if (at(t.x.id).dtype != at(t.y.id).dtype)
      return error(Code::kCorrupt, "copy of ", at(t.x.id).dtype, " into ", at(t.y.id).dtype);
    return same_dims(t.x.id, t.y.id);
  }

  Result<void> operator()(const ResizeTask& t) const {
    TRY(present({t.x.id, t.y.id}));
    const SlotInfo& x = at(t.x.id);
    const SlotInfo& y = at(t.y.id);
    if (x.rank < 3 || x.rank > 5 || y.rank != x.rank || x.dims[0] != y.dims[0] ||
        x.dims[x.rank - 1] != y.dims[y.rank - 1] || (x.count() == 0 && y.count() > 0))
      return error(Code::kCorrupt, "resize of [", join(x.shape(), ","), "] into [",
                   join(y.shape(), ","), "]");
    if (static_cast<int>(t.kind) > 2 || static_cast<int>(t.coordinates) > 4 ||
        static_cast<int>(t.nearest) > 3)
      return unknown_kind();
    if (t.kind == ResizeTask::Kind::kNearest && x.dtype != y.dtype)
      return error(Code::kCorrupt, "nearest of ", x.dtype, " into ", y.dtype);
    for (size_t d = 0; d + 2 < x.rank && t.scale_from_sizes == 0; ++d)
      if (!(t.scale[d] > 0) || !std::isfinite(t.scale[d]))
        return error(Code::kCorrupt, "resize by a scale of ", t.scale[d], " in dim ", d + 1);
    return {};
  }

  Result<void> operator()(const RecurrentTask& t) const {
    TRY(present({t.x.id, t.w.id, t.r.id}));
    const SlotInfo& x = at(t.x.id);
    const SlotInfo& w = at(t.w.id);
    const SlotInfo& r = at(t.r.id);
    if (static_cast<int>(t.kind) > 2 || t.direction > 2) return unknown_kind();
    constexpr int64_t kGates[] = {4, 3, 1};
    const int64_t gates = kGates[static_cast<size_t>(t.kind)], dirs = t.direction == 2 ? 2 : 1;
    if (x.rank != 3 || w.rank != 3 || r.rank != 3)
      return error(Code::kCorrupt, "recurrent operands need rank 3");
    const int64_t hidden = r.dims[2];
    if (w.dims[0] != dirs || r.dims[0] != dirs || w.dims[1] != gates * hidden ||
        r.dims[1] != gates * hidden || w.dims[2] != x.dims[2])
      return error(Code::kCorrupt, "recurrent weights [", join(w.shape(), ","), "] and [",
                   join(r.shape(), ","), "] do not fit an input of [", join(x.shape(), ","), "]");
    TRY(exactly(t.bias.id, {dirs, 2 * gates * hidden}, "bias"));
    TRY(exactly(t.lengths.id, {x.dims[1]}, "lengths"));
    TRY(exactly(t.h0.id, {dirs, x.dims[1], hidden}, "h0"));
    TRY(exactly(t.c0.id, {dirs, x.dims[1], hidden}, "c0"));
    TRY(exactly(t.peephole.id, {dirs, 3 * hidden}, "peephole"));
    TRY(exactly(t.y.id, {x.dims[0], dirs, x.dims[1], hidden}, "y"));
    TRY(exactly(t.h.id, {dirs, x.dims[1], hidden}, "h"));
    return exactly(t.c.id, {dirs, x.dims[1], hidden}, "c");
  }

  Result<void> operator()(const NonZeroTask& t) const {
    TRY(present({t.x.id, t.y.id, t.count.id}));
    const SlotInfo& x = at(t.x.id);
    if (at(t.y.id).dtype != DType::kI64 || at(t.count.id).dtype != DType::kI64)
      return error(Code::kCorrupt, "nonzero gives i64");
    TRY(exactly(t.count.id, {1}, "count"));
    return exactly(t.y.id, {x.count(), x.rank}, "y");
  }

  Result<void> operator()(const SortTask& t) const {
    TRY(present({t.x.id, t.values.id, t.index.id}));
    TRY(same_dims(t.values.id, t.index.id));
    const SlotInfo& x = at(t.x.id);
    const SlotInfo& v = at(t.values.id);
    if (x.rank < 1 || v.rank != x.rank || v.dtype != x.dtype ||
        at(t.index.id).dtype != DType::kI64 || v.dims[v.rank - 1] > x.dims[x.rank - 1])
      return error(Code::kCorrupt, "sort of [", join(x.shape(), ","), "] into [",
                   join(v.shape(), ","), "]");
    for (int d = 0; d + 1 < x.rank; ++d)
      if (v.dims[d] != x.dims[d])
        return error(Code::kCorrupt, "sort of [", join(x.shape(), ","), "] into [",
                     join(v.shape(), ","), "]");
    return {};
  }

  Result<void> operator()(const ScanTask& t) const {
    TRY(present({t.x.id, t.y.id}));
    if (t.axis < 0 || t.axis >= at(t.y.id).rank)
      return error(Code::kCorrupt, "scan on axis ", static_cast<int>(t.axis));
    return same_dims(t.x.id, t.y.id);
  }

 private:
  using Lanes = FixedList<Lane, kMaxOperands>;
  const SlotInfo& at(SlotId id) const { return slots_[index(id)]; }
  static Error unknown_kind() { return error(Code::kCorrupt, "unknown variety of the task"); }

  Result<void> present(std::initializer_list<SlotId> ids) const {
    for (const SlotId id : ids)
      if (id == kNoSlot) return error(Code::kCorrupt, "a required operand is missing");
    return {};
  }

  Result<void> same_dims(SlotId a, SlotId b) const {
    const SlotInfo &x = at(a), &y = at(b);
    if (x.rank == y.rank && std::equal(x.dims, x.dims + x.rank, y.dims)) return {};
    return error(Code::kCorrupt, "operands [", join(at(a).shape(), ","), "] and [",
                 join(at(b).shape(), ","), "] differ");
  }

  Result<void> exactly(SlotId id, std::initializer_list<int64_t> dims,
                       std::string_view name) const {
    if (id == kNoSlot || at(id).shape() == Dims(dims)) return {};
    return error(Code::kCorrupt, name, " is [", join(at(id).shape(), ","), "], expected [",
                 join(dims, ","), "]");
  }

  Result<void> indices(const SlotInfo& slot) const {
    if (slot.dtype == DType::kI64 || slot.dtype == DType::kI32) return {};
    return error(Code::kCorrupt, "indices are ", slot.dtype, ", expected i64 or i32");
  }

  /// `operand` repeats to `result` but for its last `skip` dims.
  static Result<void> broadcasts(const SlotInfo& operand, const SlotInfo& result, int skip) {
    if (operand.rank > result.rank)
      return error(Code::kCorrupt, "[", join(operand.shape(), ","), "] has a higher rank than [",
                   join(result.shape(), ","), "]");
    for (int d = skip; d < operand.rank; ++d) {
      const int64_t from = operand.dims[operand.rank - 1 - d],
                    to = result.dims[result.rank - 1 - d];
      if (from != to && from != 1)
        return error(Code::kInvalidArgument, "[", join(operand.shape(), ","),
                     "] does not broadcast to [", join(result.shape(), ","), "]");
    }
    return {};
  }

  static Result<void> window(const std::array<int16_t, 3>& kernel,
                             const std::array<int16_t, 3>& stride,
                             const std::array<int16_t, 3>& dilation) {
    for (size_t d = 0; d < 3; ++d)
      if (kernel[d] < 1 || stride[d] < 1 || dilation[d] < 1)
        return error(Code::kCorrupt, "kernel, stride and dilation are at least 1");
    return {};
  }

  Result<void> epilogue(const std::array<In, 7>& extra, const SlotInfo& result,
                        SideOffset offset) const {
    Lanes lanes{lane_of(DType::kF32)};
    for (const In operand : extra) {
      if (operand.id == kNoSlot) break;
      TRY(broadcasts(at(operand.id), result, 0));
      lanes.push_back(lane_of(at(operand.id).dtype));
    }
    if (offset == kNoProgram) {
      if (lanes.size() > 1) return error(Code::kCorrupt, "extra operands without a program");
      return {};
    }
    const PointView program = TRY(view_point_program(side_, offset));
    if (program.outputs.size() != 1)
      return error(Code::kCorrupt, "an epilogue has one output, found ", program.outputs.size());
    return task::validate(program, {lanes.data(), lanes.size()});
  }

  Slots slots_;
  std::span<const std::byte> side_;
};

}  // namespace

namespace {

/// Kinds that know how their weights are packed. What the others read follows from strides.
bool may_be_packed(uint8_t kind, std::string_view operand) {
  return (kind == Tasks::number_of<GemmTask>() && operand == "b") ||
         (kind == Tasks::number_of<ConvTask>() && operand == "w");
}

}  // namespace

Result<void> validate(const Record& record, Slots slots, std::span<const std::byte> side) {
  if (record.kind >= Tasks::kCount)
    return error(Code::kCorrupt, "unknown kind of task ", record.kind);
  for (const SlotId id : record.operands)
    if (id != kNoSlot && index(id) >= slots.size())
      return error(Code::kCorrupt, "operand names slot ", index(id), " of ", slots.size());
  const FixedList<Operand, kMaxOperands> all = operands(record);
  for (const Operand& operand : all) {
    const SlotInfo& slot = slots[index(operand.slot)];
    if (slot.layout == Layout::kStrided) continue;
    if (!may_be_packed(record.kind, operand.name))
      return error(Code::kCorrupt, "operand '", operand.name, "' may not be packed");
  }
  return visit(record, [&](const auto& task) { return Validator(slots, side)(task); });
}

}  // namespace tw::task
