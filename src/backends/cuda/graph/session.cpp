#include "backends/cuda/graph/session.h"

#include <algorithm>

#include "backends/cuda/graph/device.h"
#include "backends/cuda/graph/submit.h"

namespace tw::cuda {
namespace {

constexpr int64_t kIoAlignment = 256;
constexpr size_t kMaxBound = 64;  // programs with memory and graphs of their own in a session

int64_t aligned(int64_t bytes) { return (bytes + kIoAlignment - 1) / kIoAlignment * kIoAlignment; }

int64_t root_bytes(const task::Program& program, task::SlotId id) {
  return program.slot(id).count() * size_bytes(program.slot(id).dtype);
}

}  // namespace

Result<std::unique_ptr<Session>> Session::make(const Device& device) {
  std::unique_ptr<Session> session(new Session(device));
  TRY(check(cudaStreamCreateWithFlags(&session->stream_, cudaStreamNonBlocking), "a stream"));
  TRY(session->faults_.make(session->stream_));
  return session;
}

Session::~Session() {
  if (stream_ == nullptr) return;
  cudaStreamSynchronize(stream_);
  bound_.clear();
  for (const cudaStream_t stream : auxiliary_) cudaStreamDestroy(stream);
  cudaStreamDestroy(stream_);
}

int64_t Session::device_bytes() const {
  int64_t bytes = arena_.bytes();
  for (const Bound& bound : bound_) bytes += bound.device_io.bytes();
  return bytes;
}

Result<void> Session::place_memory(Bound& bound) {
  const task::Program& program = bound.program->program();
  int64_t at = 0;
  for (const auto* list : {&program.inputs, &program.outputs})
    for (const task::SlotId id : *list) {
      bound.io_offsets.push_back(at);
      at += aligned(root_bytes(program, id));
    }
  TRY(bound.device_io.reserve(std::max(at, kIoAlignment), "inputs and outputs"));
  return bound.host_io.reserve(std::max(at, kIoAlignment), "inputs and outputs");
}

void Session::fill_addresses(Bound& bound) {
  const task::Program& program = bound.program->program();
  std::vector<int64_t> io(program.slots.size(), -1);
  size_t i = 0;
  for (const auto* list : {&program.inputs, &program.outputs})
    for (const task::SlotId id : *list) io[task::index(id)] = bound.io_offsets[i++];
  bound.device.assign(program.slots.size(), nullptr);
  bound.host.assign(program.slots.size(), nullptr);
  for (size_t s = 0; s < program.slots.size(); ++s) {
    const task::SlotInfo& slot = program.slots[s];
    const task::SlotInfo& root = program.slot(slot.root);
    const int64_t offset = slot.offset_in_root();
    if (root.space == task::Space::kArena) {
      std::byte* base = root.place > 0 ? arena_.data() : host_arena_.data();
      (root.place > 0 ? bound.device : bound.host)[s] = base + root.offset_bytes + offset;
    } else if (root.space == task::Space::kWeight) {
      bound.device[s] = device_.weights() + root.offset_bytes + offset;
    } else if (io[task::index(slot.root)] >= 0) {
      std::byte* base = root.place > 0 ? bound.device_io.data() : bound.host_io.data();
      (root.place > 0 ? bound.device : bound.host)[s] = base + io[task::index(slot.root)] + offset;
    }
  }
}

Result<Session::Bound*> Session::bind(const Program& program) {
  const auto found = std::find_if(bound_.begin(), bound_.end(), [&](const Bound& bound) {
    return bound.program_id == program.id();
  });
  if (found != bound_.end()) {
    bound_.splice(bound_.begin(), bound_, found);
    return &bound_.front();
  }
  const int64_t arena_bytes = program.program().arena_bytes;
  const bool arena_moves =
      arena_bytes > arena_.bytes() || (program.uses_host() && arena_bytes > host_arena_.bytes());
  if (arena_moves) {  // graphs hold addresses
    TRY(check(cudaStreamSynchronize(stream_), "the stream"));
    bound_.clear();
    TRY(arena_.reserve(arena_bytes, "the arena"));
    if (program.uses_host()) TRY(host_arena_.reserve(arena_bytes, "the arena"));
  }
  Bound bound;
  bound.program = &program;
  bound.program_id = program.id();
  TRY(place_memory(bound));
  fill_addresses(bound);
  bound.graphs.resize(program.segments().size());
  if (bound_.size() >= kMaxBound) bound_.pop_back();
  bound_.push_front(std::move(bound));
  return &bound_.front();
}

Result<void> Session::launch(const Bound& bound, const Kernel& kernel, Lane& lane) {
  const auto address = [&](task::SlotId id) { return bound.device[task::index(id)]; };
  TRY(submit(kernel.launch, kernel.function, lane.stream, lane.follows_kernel, faults_.address(),
             address));
  lane.follows_kernel = true;
  ++stats_.launches;
  return {};
}

Result<void> Session::emit_step(const Bound& bound, const Step& step, Lane& lane) {
  if (step.kind == Step::Kind::kKernels) {
    for (const Kernel& kernel : step.kernels) TRY(launch(bound, kernel, lane));
    return {};
  }
  const bool to_device = step.kind == Step::Kind::kToDevice;
  const std::byte* from = (to_device ? bound.host : bound.device)[task::index(step.from)];
  std::byte* to = (to_device ? bound.device : bound.host)[task::index(step.to)];
  const int64_t bytes = root_bytes(bound.program->program(), step.to);
  lane.follows_kernel = false;
  ++stats_.launches;
  if (bytes == 0) return {};
  return check(
      cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                      to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, lane.stream),
      "a copy between host and device");
}

Result<void> Session::copy_io(Bound& bound, bool inputs, Lane& lane) {
  const task::Program& program = bound.program->program();
  const auto& list = inputs ? program.inputs : program.outputs;
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t offset = bound.io_offsets[inputs ? i : program.inputs.size() + i];
    const int64_t bytes = root_bytes(program, list[i]);
    if (program.slot(list[i]).place == 0 || bytes == 0) continue;
    std::byte* host = bound.host_io.data() + offset;
    std::byte* device = bound.device_io.data() + offset;
    TRY(check(
        cudaMemcpyAsync(inputs ? device : host, inputs ? host : device, static_cast<size_t>(bytes),
                        inputs ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, lane.stream),
        inputs ? "inputs to the device" : "outputs to the host"));
    lane.follows_kernel = false;
    ++stats_.launches;
  }
  return {};
}

Result<void> Session::emit(Bound& bound, uint32_t begin, uint32_t end, const Emit& what,
                           Branches& branches) {
  if (what.inputs) TRY(copy_io(bound, true, branches.main()));
  const auto mark = [&](uint32_t i) -> Result<void> {
    if (what.before_step.empty()) return {};
    branches.main().follows_kernel = false;
    return check(
        cudaEventRecordWithFlags(what.before_step[i - begin], stream_, cudaEventRecordExternal),
        "an event");
  };
  for (uint32_t i = begin; i < end; ++i) {
    TRY(mark(i));
    const Step& step = bound.program->steps()[i];
    Lane& lane = *TRY(branches.enter(step));
    TRY(emit_step(bound, step, lane));
    TRY(branches.leave(step, lane));
  }
  TRY(branches.join());
  TRY(mark(end));
  return what.outputs ? copy_io(bound, false, branches.main()) : Result<void>{};
}

Result<void> Session::make_auxiliary(size_t n_queues) {
  while (auxiliary_.size() + 1 < n_queues) {
    cudaStream_t stream = nullptr;
    TRY(check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream"));
    auxiliary_.push_back(stream);
  }
  return {};
}

Result<GraphExec> Session::capture(Bound& bound, uint32_t begin, uint32_t end, const Emit& what) {
  // Tasks that are timed one by one follow one another.
  const size_t n_queues = what.before_step.empty() ? bound.program->program().queues.size() : 1;
  TRY(make_auxiliary(n_queues));
  Branches branches(stream_, std::span(auxiliary_).first(std::max<size_t>(n_queues, 1) - 1));
  TRY(check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "a capture"));
  const Result<void> emitted = emit(bound, begin, end, what, branches);
  cudaGraph_t graph = nullptr;
  const Result<void> ended = check(cudaStreamEndCapture(stream_, &graph), "the end of a capture");
  if (!emitted.ok() || !ended.ok()) {
    if (graph != nullptr) cudaGraphDestroy(graph);
    return emitted.ok() ? ended.error() : emitted.error();
  }
  cudaGraphExec_t exec = nullptr;
  const Result<void> made = check(cudaGraphInstantiate(&exec, graph, 0), "a graph");
  cudaGraphDestroy(graph);
  if (!made.ok()) return made.error();
  return GraphExec(exec);
}

Result<void> Session::run_device_segment(Bound& bound, size_t i) {
  const auto& segments = bound.program->segments();
  const auto on_device = [](const Segment& segment) { return !segment.on_host; };
  const auto n_before =
      std::count_if(segments.begin(), segments.begin() + static_cast<long>(i), on_device);
  const auto n_after =
      std::count_if(segments.begin() + static_cast<long>(i) + 1, segments.end(), on_device);
  Emit what;
  what.inputs = n_before == 0;
  what.outputs = n_after == 0;
  if (bound.n_runs == 0) {
    Branches in_order(stream_);
    return emit(bound, segments[i].begin, segments[i].end, what, in_order);
  }
  if (bound.graphs[i].get() == nullptr)
    bound.graphs[i] = TRY(capture(bound, segments[i].begin, segments[i].end, what));
  ++stats_.graph_launches;
  return check(cudaGraphLaunch(bound.graphs[i].get(), stream_), "a graph");
}

Result<void> Session::finish(const task::Program& program) {
  TRY(check(cudaStreamSynchronize(stream_), "the device's work"));
  return faults_.take(program);
}

Result<void> Session::run(const backends::DeviceProgram& device_program,
                          std::span<const std::byte* const> inputs,
                          std::span<std::byte* const> outputs,
                          const backends::RunOnHost& run_on_host) {
  const auto& program = static_cast<const Program&>(device_program);
  Bound& bound = *TRY(bind(program));
  stats_.graph_launches = 0;
  const task::Program& tasks = program.program();
  for (size_t i = 0; i < inputs.size(); ++i)
    std::copy_n(inputs[i], root_bytes(tasks, tasks.inputs[i]),
                bound.host_io.data() + bound.io_offsets[i]);
  for (size_t i = 0; i < program.segments().size(); ++i) {
    const Segment& segment = program.segments()[i];
    if (segment.on_host) {
      TRY(finish(tasks));
      TRY(run_on_host(bound.host, segment.begin, segment.end));
    } else {
      TRY(run_device_segment(bound, i));
    }
  }
  TRY(finish(tasks));
  ++bound.n_runs;
  for (size_t i = 0; i < outputs.size(); ++i)
    std::copy_n(bound.host_io.data() + bound.io_offsets[inputs.size() + i],
                root_bytes(tasks, tasks.outputs[i]), outputs[i]);
  return {};
}

}  // namespace tw::cuda
