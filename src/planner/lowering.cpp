#include "planner/lowering.h"

#include <algorithm>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "planner/pointwise_lowering.h"
#include "planner/workspace.h"

namespace tw::planner {
namespace {

using ir::ValueId;
using task::SlotId;

constexpr int64_t kWeightAlignment = 64;

class GraphLowering;

/// One node's view of the lowering.
class NodeLowering : public ops::LowerContext {
 public:
  NodeLowering(GraphLowering& owner, const ir::Graph& graph, const ir::Node& node)
      : LowerContext(node), owner_(owner), graph_(graph) {}

  const ir::TensorType& in_type(size_t i) const override {
    return graph_.value(node().inputs[i]).type;
  }
  const ir::TensorType& out_type(size_t i) const override {
    return graph_.value(node().outputs[i]).type;
  }
  const std::vector<Dim>* in_ints(size_t i) const override {
    if (!has(i)) return nullptr;
    const auto& ints = graph_.value(node().inputs[i]).ints;
    return ints ? &*ints : nullptr;
  }
  const Tensor* in_constant(size_t i) const override {
    if (!has(i)) return nullptr;
    const auto& constant = graph_.value(node().inputs[i]).constant;
    return constant ? &*constant : nullptr;
  }
  SlotId in(size_t i) override;
  SlotId out(size_t i) override;
  void set_out(size_t i, SlotId view) override;
  SlotId temp(const ir::TensorType& type) override;
  SlotId constant(const Tensor& tensor) override;
  SlotId view(SlotId slot, const ir::Shape& dims, const std::vector<Dim>& strides,
              const Dim& offset) override;
  ir::Shape dims(SlotId slot) const override;
  std::vector<Dim> strides(SlotId slot) const override;
  Dim offset(SlotId slot) const override;
  task::SideOffset add_program(const task::PointProgram& program) override;
  void bind_symbols(const std::vector<std::string>& symbols, SlotId sizes) override;

 protected:
  void emit_record(task::Record record) override;

 private:
  GraphLowering& owner_;
  const ir::Graph& graph_;
};

/// An epilogue waiting for its anchor's gemm or conv.
struct Epilogue {
  task::SideOffset program = task::kNoProgram;
  std::vector<SlotId> extra;
  bool attached = false;
};

class GraphLowering {
 public:
  GraphLowering(const ir::Graph& graph, SharedOutput& shared)
      : graph_(graph), shared_(shared), work_(shared) {}

  Result<plan::Procedure> run() {
    std::vector<SlotId> inputs;
    for (const ValueId id : graph_.inputs) {
      const ir::Value& value = graph_.value(id);
      inputs.push_back(work_.add_root(task::Space::kInput, value.type, value.name));
      slot_of_[id] = inputs.back();
    }
    for (const ir::Node& node : graph_.nodes)
      TRY(lower_node(graph_, node).in(cat("node '", node.name, "' (", node.op->name, ")")));
    std::vector<SlotId> outputs;
    for (const ValueId id : graph_.outputs) outputs.push_back(whole(id, true));
    plan::Procedure procedure = TRY(work_.finish(graph_.name, inputs, outputs));
    for (const ValueId id : graph_.inputs) procedure.inputs.push_back(port(id));
    for (const ValueId id : graph_.outputs) procedure.outputs.push_back(port(id));
    return procedure;
  }

  Workspace& work() { return work_; }

  SlotId slot_of(ValueId id) {
    if (id == ir::kNoValue) return task::kNoSlot;
    const auto found = slot_of_.find(id);
    if (found != slot_of_.end()) return found->second;
    const ir::Value& value = graph_.value(id);
    CHECK(value.constant.has_value(), "a verified graph lowers producers before users");
    return slot_of_[id] = work_.add_weight(value.name, *value.constant);
  }

  SlotId output_slot(ValueId id) {
    const auto found = slot_of_.find(id);
    if (found != slot_of_.end()) return found->second;
    const ir::Value& value = graph_.value(id);
    return slot_of_[id] = work_.add_root(task::Space::kArena, value.type, value.name);
  }

  /// The operand of an elementwise task that makes `result`. One element repeats whatever its rank
  /// is, though clip's bounds may have more dims than x.
  SlotId operand_slot(ValueId id, ValueId result) {
    if (id == ir::kNoValue) return task::kNoSlot;
    const SlotId slot = slot_of(id);
    const ir::TensorType& type = graph_.value(id).type;
    if (type.shape.size() <= graph_.value(result).type.shape.size() ||
        !(ir::element_count(type.shape) == Dim(1)))
      return slot;
    const Dim first = work_.is_root(slot) ? Dim(0) : work_.slot(slot).offset_elems;
    return work_.add_view(slot, type.dtype, {}, {}, first);
  }

  void set_slot(ValueId id, SlotId slot) { slot_of_[id] = slot; }

  void emit(task::Record record, const std::string& name) {
    if (epilogue_ != nullptr && !epilogue_->attached) epilogue_->attached = attach(record);
    work_.add_task(record, name);
  }

 private:
  plan::Port port(ValueId id) const {
    const ir::Value& value = graph_.value(id);
    return {value.name, value.type.dtype, value.type.shape};
  }

  Result<void> lower_node(const ir::Graph& graph, const ir::Node& node) {
    const std::string_view name = node.op->name;
    if (name == "if" || name == "loop" || name == "scan") return lower_control(node);
    if (name == "fused") return lower_fused(node);
    if (node.op->lower != nullptr) {
      NodeLowering context(*this, graph, node);
      return node.op->lower(context);
    }
    if (node.op->pointwise != nullptr)
      return lower_elementwise(graph, {&node}, node.inputs, node.outputs, node.name);
    return error(Code::kUnsupported, "op '", name, "' has no lowering");
  }

  /// Nodes as one elementwise task. Constants of one element become literals; the other inputs are
  /// operands.
  Result<void> lower_elementwise(const ir::Graph& graph, const std::vector<const ir::Node*>& nodes,
                                 const std::vector<ValueId>& inputs,
                                 const std::vector<ValueId>& outputs, const std::string& name) {
    std::vector<ValueId> operands;
    for (const ValueId id : inputs) {
      const auto& constant =
          id == ir::kNoValue ? std::optional<Tensor>() : graph.value(id).constant;
      const bool literal = id == ir::kNoValue || (constant && constant->count() == 1);
      if (!literal && std::find(operands.begin(), operands.end(), id) == operands.end())
        operands.push_back(id);
    }
    task::ElementwiseTask task;
    if (operands.size() > task.x.size() || outputs.size() > task.y.size())
      return error(Code::kUnsupported, "an elementwise task of ", operands.size(), " inputs and ",
                   outputs.size(), " outputs, at most ", task.x.size(), " and ", task.y.size());
    task.program = work_.add_program(TRY(lower_pointwise(graph, nodes, operands, outputs)));
    for (size_t i = 0; i < operands.size(); ++i)
      task.x[i].id = operand_slot(operands[i], outputs[0]);
    for (size_t i = 0; i < outputs.size(); ++i) task.y[i].id = output_slot(outputs[i]);
    emit(task::encode(task), name);
    return {};
  }

  /// The body of a fused op: elementwise nodes, or an anchor (linear, matmul, conv) followed by
  /// elementwise nodes.
  Result<void> lower_fused(const ir::Node& node) {
    const ir::Graph& body = ir::NodeView(node).attr_graph("body");
    std::vector<ValueId> outer(body.values.size(), ir::kNoValue);
    for (size_t i = 0; i < body.inputs.size(); ++i)
      outer[static_cast<size_t>(body.inputs[i])] = node.inputs[i];
    std::vector<const ir::Node*> nodes;
    for (const ir::Node& inner : body.nodes) nodes.push_back(&inner);
    const bool anchored = nodes.front()->op->pointwise == nullptr;
    if (!anchored) return lower_body_elementwise(body, nodes, node);
    return lower_anchored(body, nodes, node);
  }

  Result<void> lower_body_elementwise(const ir::Graph& body,
                                      const std::vector<const ir::Node*>& nodes,
                                      const ir::Node& node) {
    task::ElementwiseTask task;
    if (body.inputs.size() > task.x.size() || body.outputs.size() > task.y.size())
      return error(Code::kInternal, "a fused body of ", body.inputs.size(), " inputs");
    task.program = work_.add_program(TRY(lower_pointwise(body, nodes, body.inputs, body.outputs)));
    for (size_t i = 0; i < node.inputs.size(); ++i)
      task.x[i].id = operand_slot(node.inputs[i], node.outputs[0]);
    for (size_t i = 0; i < node.outputs.size(); ++i) task.y[i].id = output_slot(node.outputs[i]);
    emit(task::encode(task), node.name);
    return {};
  }

  Result<void> lower_anchored(const ir::Graph& body, std::vector<const ir::Node*> nodes,
                              const ir::Node& node) {
    const ir::Node& anchor = *nodes.front();
    nodes.erase(nodes.begin());
    std::vector<ValueId> operands{anchor.outputs[0]};
    Epilogue epilogue;
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const ValueId id = body.inputs[i];
      const bool used = std::any_of(nodes.begin(), nodes.end(), [&](const ir::Node* n) {
        return std::find(n->inputs.begin(), n->inputs.end(), id) != n->inputs.end();
      });
      if (!used) continue;
      operands.push_back(id);
      epilogue.extra.push_back(slot_of(node.inputs[i]));
    }
    epilogue.program = work_.add_program(TRY(lower_pointwise(body, nodes, operands, body.outputs)));
    // The anchor as a node of this graph: body inputs stand for the fused node's, its result for
    // the fused node's output.
    ir::Node lifted = anchor;
    lifted.name = node.name;
    for (ValueId& id : lifted.inputs) {
      const auto at = std::find(body.inputs.begin(), body.inputs.end(), id);
      if (at != body.inputs.end()) id = node.inputs[static_cast<size_t>(at - body.inputs.begin())];
    }
    lifted.outputs = node.outputs;
    epilogue_ = &epilogue;
    NodeLowering context(*this, graph_, lifted);
    const Result<void> lowered = anchor.op->lower(context);
    epilogue_ = nullptr;
    TRY(Result<void>(lowered));
    if (!epilogue.attached)
      return error(Code::kInternal, "the anchor emitted no gemm or conv to take the epilogue");
    return {};
  }

  bool attach(task::Record& record) {
    const auto put = [&](auto task, SlotId result) {
      if (epilogue_->extra.size() > task.extra.size()) return false;
      task.epilogue = epilogue_->program;
      for (size_t i = 0; i < epilogue_->extra.size(); ++i)
        task.extra[i].id = as_result(epilogue_->extra[i], result);
      record = task::encode(task);
      return true;
    };
    if (record.kind == task::Tasks::number_of<task::GemmTask>()) {
      const auto task = task::decode<task::GemmTask>(record);
      return put(task, task.c.id);
    }
    if (record.kind == task::Tasks::number_of<task::ConvTask>()) {
      const auto task = task::decode<task::ConvTask>(record);
      return put(task, task.y.id);
    }
    return false;
  }

  /// A gemm may see its result under other dims (leading dims merged to rows); an operand as large
  /// as the result follows.
  SlotId as_result(SlotId operand, SlotId result) {
    const ir::Shape& dims = work_.slot(result).dims;
    const ir::Shape& own = work_.slot(operand).dims;
    const bool as_large = ir::element_count(own) == ir::element_count(dims);
    if (own == dims || own.size() <= 1 || (own.size() == dims.size() && !as_large)) return operand;
    const ir::Shape target =
        as_large ? dims : ir::Shape{own.back()};  // the others are a row of the last dim
    std::vector<Dim> strides(target.size(), Dim(1));
    for (size_t d = target.size(); d-- > 1;) strides[d - 1] = strides[d] * target[d];
    const Dim offset = work_.is_root(operand) ? Dim(0) : work_.slot(operand).offset_elems;
    return work_.add_view(operand, work_.slot(operand).info.dtype, target, strides, offset);
  }

  /// A root that holds exactly this value: what a register can carry. Views, and inputs returned as
  /// outputs, are copied.
  SlotId whole(ValueId id, bool returned) {
    if (id == ir::kNoValue) return task::kNoSlot;
    const SlotId slot = slot_of(id);
    const bool passed_on = returned && work_.slot(slot).info.space == task::Space::kInput;
    const bool again = returned && !returned_.insert(slot).second;
    if (work_.is_root(slot) && !passed_on && !again) return slot;
    const SlotId copy =
        work_.add_root(task::Space::kArena, graph_.value(id).type, graph_.value(id).name);
    work_.add_task(task::encode(task::CopyTask{{slot}, {copy}}),
                   cat(graph_.value(id).name, " (copy)"));
    return copy;
  }

  Result<std::shared_ptr<plan::Procedure>> lower_body(const ir::Graph& body) {
    auto procedure = std::make_shared<plan::Procedure>(TRY(GraphLowering(body, shared_).run()));
    shared_.bodies.push_back(procedure);
    return procedure;
  }

  Result<void> lower_control(const ir::Node& node) {
    const ir::NodeView view(node);
    PendingControl control;
    std::vector<std::string_view> bodies{"body"};
    if (node.op->name == "if") {
      bodies = {"then_branch", "else_branch"};
      control.then_refusal = view.attr_string("then_refusal");
      control.else_refusal = view.attr_string("else_refusal");
    } else if (node.op->name == "loop") {
      control.kind = PendingControl::Kind::kLoop;
      control.n_carried = static_cast<size_t>(view.attr_int("n_carried"));
    } else {
      control.kind = PendingControl::Kind::kScan;
      control.n_carried = static_cast<size_t>(view.attr_int("n_carried"));
      control.n_scanned = static_cast<size_t>(view.attr_int("num_scan_inputs"));
    }
    for (const std::string_view body : bodies)
      control.bodies.push_back(TRY(lower_body(view.attr_graph(body)).in(body)));
    for (const ValueId id : node.inputs) control.inputs.push_back(whole(id, false));
    if (control.kind == PendingControl::Kind::kLoop)
      while (control.inputs.size() < 2) control.inputs.push_back(task::kNoSlot);
    for (const ValueId id : node.outputs) {
      const ir::Value& value = graph_.value(id);
      slot_of_[id] = work_.add_root(task::Space::kArena, value.type, value.name);
      control.outputs.push_back(slot_of_[id]);
    }
    std::vector<PendingBind> binds = result_dims(node);
    work_.add_pending(std::move(control));
    for (PendingBind& bind : binds) work_.add_pending(std::move(bind));
    return {};
  }

  /// Symbols that only this node's results determine, each bound from a dim of the first result
  /// that shows it bare.
  std::vector<PendingBind> result_dims(const ir::Node& node) {
    std::set<std::string> known;
    for (const ValueId id : node.inputs)
      if (id != ir::kNoValue)
        for (const Dim& dim : graph_.value(id).type.shape)
          dim.for_each_symbol([&](const std::string& name) { known.insert(name); });
    std::vector<PendingBind> binds;
    for (const ValueId id : node.outputs) {
      PendingBind bind{slot_of_.at(id), {}, true};
      bool any = false;
      for (const Dim& dim : graph_.value(id).type.shape) {
        const auto symbol = dim.as_symbol();
        const bool fresh = symbol && known.insert(*symbol).second;
        bind.symbols.push_back(fresh ? *symbol : "");
        any = any || fresh;
      }
      if (any) binds.push_back(std::move(bind));
    }
    return binds;
  }

  const ir::Graph& graph_;
  SharedOutput& shared_;
  Workspace work_;
  std::map<ValueId, SlotId> slot_of_;
  std::set<SlotId> returned_;
  Epilogue* epilogue_ = nullptr;
};

SlotId NodeLowering::in(size_t i) {
  return has(i) ? owner_.slot_of(node().inputs[i]) : task::kNoSlot;
}
SlotId NodeLowering::out(size_t i) { return owner_.output_slot(node().outputs[i]); }
void NodeLowering::set_out(size_t i, SlotId view) { owner_.set_slot(node().outputs[i], view); }
SlotId NodeLowering::temp(const ir::TensorType& type) {
  return owner_.work().add_root(task::Space::kArena, type, cat(node().name, " (scratch)"));
}
SlotId NodeLowering::constant(const Tensor& tensor) {
  return owner_.work().add_weight(cat(node().name, " (constant)"), tensor);
}
SlotId NodeLowering::view(SlotId slot, const ir::Shape& dims, const std::vector<Dim>& strides,
                          const Dim& offset) {
  return owner_.work().add_view(slot, owner_.work().slot(slot).info.dtype, dims, strides, offset);
}
ir::Shape NodeLowering::dims(SlotId slot) const { return owner_.work().slot(slot).dims; }
std::vector<Dim> NodeLowering::strides(SlotId slot) const {
  return owner_.work().slot(slot).strides;
}
Dim NodeLowering::offset(SlotId slot) const {
  return owner_.work().is_root(slot) ? Dim(0) : owner_.work().slot(slot).offset_elems;
}
task::SideOffset NodeLowering::add_program(const task::PointProgram& program) {
  return owner_.work().add_program(program);
}
void NodeLowering::bind_symbols(const std::vector<std::string>& symbols, SlotId sizes) {
  SlotId source = sizes;
  if (!owner_.work().is_root(sizes)) {  // the host reads a register, which holds whole storage
    source = temp({owner_.work().slot(sizes).info.dtype, owner_.work().slot(sizes).dims});
    owner_.work().add_task(task::encode(task::CopyTask{{sizes}, {source}}),
                           cat(node().name, " (sizes)"));
  }
  owner_.work().add_pending(PendingBind{source, symbols});
}
void NodeLowering::emit_record(task::Record record) { owner_.emit(record, node().name); }

/// Offsets for the weights that something still reads (a packed weight leaves its plain form
/// unread); drafts and procedures named weights by number until here.
void place_weights(SharedOutput& shared, Lowered& lowered) {
  std::vector<plan::Procedure*> procedures{&lowered.main};
  for (const auto& body : shared.bodies) procedures.push_back(body.get());
  std::vector<bool> used(shared.weights.size(), false);
  const auto for_each_use = [&](auto&& visit) {
    for (task::Draft& draft : shared.drafts)
      for (size_t i = 0; i < draft.slots.size(); ++i) {
        task::SlotInfo& info = draft.slots[i].info;
        if (info.space == task::Space::kWeight && task::index(info.root) == i)
          visit(info.offset_bytes);
      }
    for (plan::Procedure* procedure : procedures)
      for (plan::ConstantRegister& constant : procedure->constants) visit(constant.offset_bytes);
  };
  for_each_use([&](int64_t number) { used[static_cast<size_t>(number)] = true; });
  std::vector<int64_t> offset(shared.weights.size(), 0);
  for (size_t i = 0; i < shared.weights.size(); ++i) {
    if (!used[i]) continue;
    Weight& weight = shared.weights[i];
    weight.offset_bytes = offset[i] = lowered.weight_bytes;
    lowered.weight_bytes +=
        (weight.stored_bytes() + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
    lowered.weights.push_back(std::move(weight));
  }
  for_each_use([&](int64_t& number) { number = offset[static_cast<size_t>(number)]; });
}

}  // namespace

Result<Lowered> lower(const ir::Graph& graph, const TargetServices& target) {
  SharedOutput shared{target, {}, {}, {}, {}, {}};
  Lowered lowered;
  lowered.main = TRY(GraphLowering(graph, shared).run());
  place_weights(shared, lowered);
  lowered.drafts = std::move(shared.drafts);
  lowered.draft_names = std::move(shared.draft_names);
  return lowered;
}

}  // namespace tw::planner
