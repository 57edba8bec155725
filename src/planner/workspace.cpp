#include "planner/workspace.h"

#include <algorithm>

namespace tw::planner {
namespace {

using task::SlotId;

std::vector<Dim> row_major(const ir::Shape& dims) {
  std::vector<Dim> strides(dims.size(), Dim(1));
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

/// The step of a control flow node whose operands are in registers.
void append(plan::Procedure& procedure, const PendingControl& control,
            const std::vector<plan::Register>& in, const std::vector<plan::Register>& out) {
  const size_t n_carried = control.n_carried, n_scanned = control.n_scanned;
  const auto part = [&](size_t begin, size_t end) {
    return std::vector<plan::Register>(in.begin() + static_cast<long>(begin),
                                       in.begin() + static_cast<long>(end));
  };
  switch (control.kind) {
    case PendingControl::Kind::kIf:
      procedure.steps.emplace_back(plan::IfStep{in[0], part(1, in.size()), out, control.bodies[0],
                                                control.bodies[1], control.then_refusal,
                                                control.else_refusal});
      return;
    case PendingControl::Kind::kLoop:
      procedure.steps.emplace_back(plan::LoopStep{in[0], in[1], part(2, 2 + n_carried),
                                                  part(2 + n_carried, in.size()), out,
                                                  control.bodies[0]});
      return;
    case PendingControl::Kind::kScan:
      procedure.steps.emplace_back(
          plan::ScanStep{part(0, n_carried), part(n_carried, n_carried + n_scanned),
                         part(n_carried + n_scanned, in.size()), out, control.bodies[0]});
      return;
  }
}

}  // namespace

size_t SharedOutput::add_weight(const std::string& name, const Tensor& tensor) {
  const auto key = std::pair(static_cast<const void*>(tensor.data()), tensor.type_text());
  const auto [it, inserted] = weight_by_data.try_emplace(key, weights.size());
  if (inserted) weights.push_back({name, tensor, {}, task::Layout::kStrided, 0});
  return it->second;
}

SlotId Workspace::add_root(task::Space space, const ir::TensorType& type, std::string name) {
  CHECK(slots_.size() < task::index(task::kNoSlot), "a model needs fewer than 65535 slots");
  const auto id = static_cast<SlotId>(slots_.size());
  task::Draft::Slot slot;
  slot.info.space = space;
  slot.info.dtype = type.dtype;
  slot.info.root = id;
  if (space == task::Space::kWeight || space == task::Space::kInput)
    slot.info.flags |= task::SlotInfo::kImmutable;
  slot.dims = type.shape;
  slot.strides = row_major(type.shape);
  slot.storage_bytes = ir::element_count(type.shape) * Dim(size_bytes(type.dtype));
  slot.name = std::move(name);
  slots_.push_back(std::move(slot));
  return id;
}

SlotId Workspace::add_weight(const std::string& name, const Tensor& tensor) {
  const SlotId id =
      add_root(task::Space::kWeight, {tensor.dtype(), ir::to_shape(tensor.dims())}, name);
  weight_of_[id] = shared_.add_weight(name, tensor);
  return id;
}

SlotId Workspace::add_view(SlotId of, DType dtype, const ir::Shape& dims,
                           const std::vector<Dim>& strides, const Dim& offset) {
  const SlotId root = slot(of).info.root;
  const std::string name = slot(of).name;
  const SlotId id = add_root(slot(root).info.space, {dtype, dims}, name);
  task::Draft::Slot& view = slot(id);
  view.info = slot(root).info;
  view.info.dtype = dtype;
  view.strides = strides;
  view.offset_elems = offset;
  return id;
}

void Workspace::add_task(task::Record record, std::string name) {
  if (steps_.empty() || !std::holds_alternative<Segment>(steps_.back()))
    steps_.emplace_back(Segment{});
  std::get<Segment>(steps_.back()).tasks.push_back({record, std::move(name)});
}

task::SideOffset Workspace::add_program(const task::PointProgram& program) {
  side_.resize((side_.size() + 7) / 8 * 8);
  const auto offset = static_cast<task::SideOffset>(side_.size());
  task::append_bytes(program, side_);
  return offset;
}

void Workspace::remove_dead_tasks(const std::vector<SlotId>& outputs) {
  std::set<SlotId> needed(outputs.begin(), outputs.end());
  for (size_t s = steps_.size(); s-- > 0;) {
    if (const auto* bind = std::get_if<PendingBind>(&steps_[s])) {
      needed.insert(slot(bind->source).info.root);
    } else if (const auto* control = std::get_if<PendingControl>(&steps_[s])) {
      needed.insert(control->inputs.begin(), control->inputs.end());
    } else {
      auto& tasks = std::get<Segment>(steps_[s]).tasks;
      for (size_t t = tasks.size(); t-- > 0;) {
        const auto all = task::operands(tasks[t].record);
        const bool used = std::any_of(all.begin(), all.end(), [&](const task::Operand& o) {
          return o.mode != task::Mode::kRead && needed.contains(slot(o.slot).info.root);
        });
        if (!used)
          tasks.erase(tasks.begin() + static_cast<long>(t));
        else
          for (const task::Operand& o : all)
            if (o.mode != task::Mode::kWrite) needed.insert(slot(o.slot).info.root);
      }
    }
  }
  std::erase_if(steps_, [](const Pending& step) {
    return std::holds_alternative<Segment>(step) && std::get<Segment>(step).tasks.empty();
  });
}

Result<void> Workspace::pack_weights() {
  for (Pending& pending : steps_) {
    auto* segment = std::get_if<Segment>(&pending);
    if (segment == nullptr) continue;
    for (task::Draft::Task& one : segment->tasks) {
      size_t position = 0;
      for (const task::Operand& operand : task::operands(one.record)) {
        while (one.record.operands[position] != operand.slot) ++position;
        const SlotId id = operand.slot;
        if (!weight_of_.contains(id)) continue;  // a view of a weight stays as it is
        const Tensor tensor = shared_.weights[weight_of_[id]].tensor;  // the list grows below
        auto packed = TRY(shared_.target.pack(one.record, operand.name, tensor).in(one.name));
        if (!packed) continue;
        const auto key =
            std::pair(static_cast<const void*>(tensor.data()),
                      cat("packed ", tensor.type_text(), " ", one.record.kind, operand.name));
        const auto [it, inserted] = shared_.weight_by_data.try_emplace(key, shared_.weights.size());
        if (inserted)
          shared_.weights.push_back(
              {slot(id).name, tensor, std::move(packed->bytes), packed->layout, 0});
        const std::string name = slot(id).name;
        const SlotId copy =
            add_root(task::Space::kWeight, {tensor.dtype(), ir::to_shape(tensor.dims())}, name);
        slot(copy).info.layout = packed->layout;
        slot(copy).storage_bytes = Dim(shared_.weights[it->second].stored_bytes());
        weight_of_[copy] = it->second;
        one.record.operands[position] = copy;
      }
    }
  }
  return {};
}

plan::Register Workspace::register_of(SlotId root, plan::Procedure& procedure) {
  if (root == task::kNoSlot) return plan::kNoRegister;
  const auto [it, inserted] = registers_.try_emplace(root, procedure.n_registers);
  if (!inserted) return it->second;
  ++procedure.n_registers;
  const auto weight = weight_of_.find(root);
  if (weight != weight_of_.end()) {
    const Tensor& tensor = shared_.weights[weight->second].tensor;
    procedure.constants.push_back(
        {it->second, tensor.dtype(), tensor.dims(), static_cast<int64_t>(weight->second)});
  }
  return it->second;
}

task::Draft Workspace::make_draft(const Segment& segment, const std::set<SlotId>& live_in,
                                  const std::set<SlotId>& live_out) const {
  task::Draft draft;
  draft.side = side_;
  std::map<SlotId, SlotId> id_of;
  const auto import_slot = [&](SlotId id, auto&& self) -> SlotId {
    const auto found = id_of.find(id);
    if (found != id_of.end()) return found->second;
    task::Draft::Slot copy = slot(id);
    if (is_root(id)) {
      copy.info.root = static_cast<SlotId>(draft.slots.size());
      if (weight_of_.contains(id))
        copy.info.offset_bytes = static_cast<int64_t>(weight_of_.at(id));
      else if (live_in.contains(id))
        copy.info.space = task::Space::kInput, copy.info.flags |= task::SlotInfo::kImmutable;
      else if (live_out.contains(id))
        copy.info.space = task::Space::kOutput;
      else
        copy.info.space = task::Space::kArena, copy.info.flags = 0;
    } else {
      const SlotId root = self(slot(id).info.root, self);
      const task::SlotInfo& from = draft.slots[task::index(root)].info;
      copy.info.root = root;
      copy.info.space = from.space;
      copy.info.flags = from.flags;
    }
    const auto made = static_cast<SlotId>(draft.slots.size());
    id_of[id] = made;
    draft.slots.push_back(std::move(copy));
    return made;
  };
  for (const SlotId id : live_in) draft.inputs.push_back(import_slot(id, import_slot));
  for (const SlotId id : live_out) draft.outputs.push_back(import_slot(id, import_slot));
  for (task::Draft::Task one : segment.tasks) {
    for (SlotId& id : one.record.operands)
      if (id != task::kNoSlot) id = import_slot(id, import_slot);
    draft.tasks.push_back(std::move(one));
  }
  return draft;
}

bool Workspace::is_unwritten(SlotId root, const std::set<SlotId>& written) const {
  return root != task::kNoSlot && !written.contains(root) && !weight_of_.contains(root) &&
         slot(root).info.space != task::Space::kInput;
}

void Workspace::add_unwritten(const std::vector<SlotId>& outputs) {
  std::set<SlotId> written;
  for (const Uses& uses : uses_of_steps()) written.insert(uses.writes.begin(), uses.writes.end());
  std::vector<Pending> steps;
  // In the segment before the step that reads it, where every size is known; one is made if need
  // be.
  const auto make_now = [&](SlotId root) {
    if (!is_unwritten(root, written)) return;
    if (steps.empty() || !std::holds_alternative<Segment>(steps.back()))
      steps.emplace_back(Segment{});
    std::get<Segment>(steps.back()).unwritten.insert(root);
    written.insert(root);
  };
  for (Pending& step : steps_) {
    if (!std::holds_alternative<Segment>(step))
      for (const SlotId root : uses_of(step).reads) make_now(root);
    steps.push_back(std::move(step));
  }
  for (const SlotId root : outputs) make_now(root);
  steps_ = std::move(steps);
}

Uses Workspace::uses_of(const Pending& step) const {
  Uses uses;
  if (const auto* segment = std::get_if<Segment>(&step)) {
    uses.writes = segment->unwritten;
    for (const auto& one : segment->tasks)
      for (const task::Operand& operand : task::operands(one.record))
        (operand.mode == task::Mode::kRead ? uses.reads : uses.writes)
            .insert(slot(operand.slot).info.root);
  } else if (const auto* bind = std::get_if<PendingBind>(&step)) {
    uses.reads.insert(slot(bind->source).info.root);
  } else {
    const auto& control = std::get<PendingControl>(step);
    uses.reads.insert(control.inputs.begin(), control.inputs.end());
    uses.writes.insert(control.outputs.begin(), control.outputs.end());
  }
  return uses;
}

std::vector<Uses> Workspace::uses_of_steps() const {
  std::vector<Uses> uses;
  for (const Pending& step : steps_) uses.push_back(uses_of(step));
  return uses;
}

std::vector<std::set<SlotId>> Workspace::live_after_steps(
    const std::vector<Uses>& uses, const std::vector<SlotId>& outputs) const {
  std::set<SlotId> needed(outputs.begin(), outputs.end());
  std::vector<std::set<SlotId>> live(steps_.size());
  for (size_t s = steps_.size(); s-- > 0;) {
    for (const SlotId id : uses[s].writes)
      if (needed.contains(id)) live[s].insert(id);
    for (const SlotId id : uses[s].reads)
      if (!weight_of_.contains(id) || !std::holds_alternative<Segment>(steps_[s]))
        needed.insert(id);
  }
  return live;
}

Result<plan::Procedure> Workspace::finish(const std::string& name,
                                          const std::vector<SlotId>& inputs,
                                          const std::vector<SlotId>& outputs) {
  remove_dead_tasks(outputs);
  TRY(pack_weights());
  add_unwritten(outputs);
  const std::vector<Uses> uses = uses_of_steps();
  std::set<SlotId> made(inputs.begin(), inputs.end());  // what a register can hold
  for (const Uses& step : uses) made.insert(step.writes.begin(), step.writes.end());
  plan::Procedure procedure;
  for (const SlotId id : inputs) register_of(id, procedure);
  const std::vector<std::set<SlotId>> live_out = live_after_steps(uses, outputs);
  for (size_t s = 0; s < steps_.size(); ++s) {
    const auto regs = [&](const std::vector<SlotId>& ids) {
      std::vector<plan::Register> list;
      for (const SlotId id : ids) list.push_back(register_of(id, procedure));
      return list;
    };
    if (const auto* segment = std::get_if<Segment>(&steps_[s])) {
      std::set<SlotId> live_in;
      for (const SlotId id : uses[s].reads)
        if (made.contains(id) && !uses[s].writes.contains(id)) live_in.insert(id);
      plan::RunStep step;
      step.program = static_cast<uint32_t>(shared_.drafts.size());
      step.inputs = regs({live_in.begin(), live_in.end()});
      step.outputs = regs({live_out[s].begin(), live_out[s].end()});
      shared_.drafts.push_back(make_draft(*segment, live_in, live_out[s]));
      shared_.draft_names.push_back(cat(name, ".", s));
      procedure.steps.emplace_back(std::move(step));
    } else if (const auto* bind = std::get_if<PendingBind>(&steps_[s])) {
      procedure.steps.emplace_back(plan::BindStep{
          register_of(slot(bind->source).info.root, procedure), bind->symbols, bind->from_dims});
    } else {
      const auto& control = std::get<PendingControl>(steps_[s]);
      append(procedure, control, regs(control.inputs), regs(control.outputs));
    }
  }
  for (const SlotId id : outputs) procedure.output_registers.push_back(register_of(id, procedure));
  return procedure;
}

}  // namespace tw::planner
