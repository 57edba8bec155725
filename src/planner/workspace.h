// workspace.h: the state of one lowering: every slot of every segment in one table, tasks by step.
// Slots are split over drafts only at the end, when it is known which storage lives across
// segments.
#pragma once

#include <map>
#include <set>

#include "planner/lowering.h"

namespace tw::planner {

/// A run of tasks between two host steps.
struct Segment {
  std::vector<task::Draft::Task> tasks;
  /// Roots without elements, which no task writes, that the host reads as outputs of this segment.
  std::set<task::SlotId> unwritten = {};
};

/// A step before registers are known: slots stand for registers.
struct PendingBind {
  task::SlotId source;
  std::vector<std::string> symbols;
  bool from_dims = false;
};
struct PendingControl {
  enum class Kind : uint8_t {
    kIf,
    kLoop,
    kScan
  };
  Kind kind = Kind::kIf;
  std::vector<task::SlotId> inputs;   // roots, kNoSlot where absent
  std::vector<task::SlotId> outputs;  // roots
  std::string then_refusal, else_refusal;
  size_t n_carried = 0, n_scanned = 0;
  std::vector<std::shared_ptr<plan::Procedure>> bodies;
};
using Pending = std::variant<Segment, PendingBind, PendingControl>;

/// Roots that a step reads or writes.
struct Uses {
  std::set<task::SlotId> reads, writes;
};

/// The weights and drafts shared by a graph and the bodies inside it.
struct SharedOutput {
  const TargetServices& target;
  std::vector<Weight> weights;
  std::map<std::pair<const void*, std::string>, size_t>
      weight_by_data;  // same bytes under the same type are stored once
  std::vector<task::Draft> drafts;
  std::vector<std::string> draft_names;
  std::vector<std::shared_ptr<plan::Procedure>>
      bodies;  // of If, Loop and Scan; their constants get offsets at the end

  size_t add_weight(const std::string& name, const Tensor& tensor);
};

class Workspace {
 public:
  explicit Workspace(SharedOutput& shared) : shared_(shared) {}

  task::SlotId add_root(task::Space space, const ir::TensorType& type, std::string name);
  task::SlotId add_weight(const std::string& name, const Tensor& tensor);
  task::SlotId add_view(task::SlotId of, DType dtype, const ir::Shape& dims,
                        const std::vector<Dim>& strides, const Dim& offset);
  /// The weight behind a root of space kWeight.
  size_t weight_index(task::SlotId root) const { return weight_of_.at(root); }

  void add_task(task::Record record, std::string name);
  void add_pending(Pending pending) { steps_.push_back(std::move(pending)); }
  task::SideOffset add_program(const task::PointProgram& program);

  task::Draft::Slot& slot(task::SlotId id) { return slots_[task::index(id)]; }
  const task::Draft::Slot& slot(task::SlotId id) const { return slots_[task::index(id)]; }
  bool is_root(task::SlotId id) const { return slot(id).info.root == id; }

  /// Packs weights for their tasks, splits slots over drafts, turns slots between steps into
  /// registers.
  Result<plan::Procedure> finish(const std::string& name, const std::vector<task::SlotId>& inputs,
                                 const std::vector<task::SlotId>& outputs);

 private:
  /// Removes tasks whose results nothing reads: shape arithmetic that views took over.
  void remove_dead_tasks(const std::vector<task::SlotId>& outputs);
  /// What the host or the caller reads though no task writes it (it has no elements) becomes an
  /// output of a segment.
  void add_unwritten(const std::vector<task::SlotId>& outputs);
  bool is_unwritten(task::SlotId root, const std::set<task::SlotId>& written) const;
  Uses uses_of(const Pending& step) const;
  std::vector<Uses> uses_of_steps() const;
  /// Roots that each step writes and that a later one or the caller reads.
  std::vector<std::set<task::SlotId>> live_after_steps(
      const std::vector<Uses>& uses, const std::vector<task::SlotId>& outputs) const;
  Result<void> pack_weights();
  task::Draft make_draft(const Segment& segment, const std::set<task::SlotId>& live_in,
                         const std::set<task::SlotId>& live_out) const;
  plan::Register register_of(task::SlotId root, plan::Procedure& procedure);

  SharedOutput& shared_;
  std::vector<task::Draft::Slot> slots_;
  std::vector<std::byte> side_;
  std::vector<Pending> steps_;
  std::map<task::SlotId, size_t> weight_of_;
  std::map<task::SlotId, plan::Register> registers_;
};

}  // namespace tw::planner
