#include "backends/cpu/conformance/net.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace tw::cpu {

task::SlotId Net::add(DType dtype, const Dims& dims, Lie lie, double limit) {
  task::SlotInfo info;
  info.space = task::Space::kState;
  info.dtype = dtype;
  info.rank = static_cast<uint8_t>(dims.size());
  const auto id = static_cast<task::SlotId>(program.slots.size());
  info.root = id;
  std::vector<size_t> order(dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (lie == Lie::kTurned) std::reverse(order.begin(), order.end());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    info.dims[d] = dims[d];
    info.strides[d] = stride;
    stride *= dims[d] + (lie == Lie::kGaps ? 2 : 0);
  }
  info.storage_bytes = std::max<int64_t>(1, stride) * size_bytes(dtype);
  program.slots.push_back(info);
  program.slot_names.push_back(cat("s", task::index(id)));
  memory.emplace_back(static_cast<size_t>(info.storage_bytes));
  std::uniform_real_distribution<double> value(-limit, limit);
  for_each_coordinate(dims, [&](const Dims& at) {
    const double v = value(random_);
    set(id, at, is_float(dtype) ? v : std::round(v * 100 / limit * std::max(1.0, limit / 100)));
  });
  return id;
}

task::SlotId Net::add_panels(const Dims& dims, const std::vector<std::byte>& bytes) {
  const task::SlotId id = add_immutable(DType::kF32, dims);
  slot(id).layout = task::Layout::kPanels;
  slot(id).storage_bytes = static_cast<int64_t>(bytes.size());
  memory[task::index(id)] = bytes;
  return id;
}

task::PointInstr instr(task::PointOp op, task::Lane lane, int dst, int a, int b, int c) {
  task::PointInstr made;
  made.op = op;
  made.lane = lane;
  made.dst = static_cast<uint8_t>(dst);
  made.a = static_cast<uint8_t>(a);
  made.b = static_cast<uint8_t>(b);
  made.c = static_cast<uint8_t>(c);
  return made;
}

task::SideOffset Net::add_program(int n_inputs, std::vector<uint8_t> outputs,
                                  std::vector<task::PointInstr> code) {
  task::PointProgram made;
  made.n_inputs = static_cast<uint8_t>(n_inputs);
  made.n_registers = static_cast<uint8_t>(n_inputs);
  for (const task::PointInstr& one : code) {
    made.n_registers = std::max(made.n_registers, static_cast<uint8_t>(one.dst + 1));
  }
  made.outputs = std::move(outputs);
  made.code = std::move(code);
  const auto offset = static_cast<task::SideOffset>((program.side.size() + 7) / 8 * 8);
  task::append_bytes(made, program.side);
  return offset;
}

std::byte* Net::address(task::SlotId id, const Dims& at) {
  std::byte* to = memory[task::index(id)].data();
  for (size_t d = 0; d < at.size(); ++d)
    to += at[d] * slot(id).strides[d] * size_bytes(slot(id).dtype);
  return to;
}

double Net::get(task::SlotId id, const Dims& at) {
  double value = 0;
  load_lane(kernels(Isa::kSse42), slot(id).dtype, address(id, at), 0, 1, &value);
  return value;
}

int64_t Net::get_int(task::SlotId id, const Dims& at) {
  int64_t value = 0;
  load_lane(kernels(Isa::kSse42), slot(id).dtype, address(id, at), 0, 1, &value);
  return value;
}

void Net::set(task::SlotId id, const Dims& at, double value) {
  store_lane(kernels(Isa::kSse42), slot(id).dtype, &value, 1, address(id, at), 0);
}

double Net::get_broadcast(task::SlotId id, const Dims& at) {
  Dims own;
  const size_t shift = at.size() - slot(id).rank;
  for (size_t d = 0; d < slot(id).rank; ++d)
    own.push_back(slot(id).dims[d] == 1 ? 0 : at[d + shift]);
  return get(id, own);
}

std::vector<std::byte*> Net::addresses() {
  std::vector<std::byte*> table;
  for (size_t i = 0; i < memory.size(); ++i) {
    const task::SlotInfo& info = program.slots[i];
    const bool is_root = task::index(info.root) == i;
    table.push_back(memory[task::index(info.root)].data() + (is_root ? 0 : info.offset_bytes));
  }
  return table;
}

std::string Net::run(const RunOptions& options, Isa isa, int n_threads) {
  ThreadPool pool({.n_workers = n_threads, .spin_pauses = 20});
  Workspace workspace(pool);
  std::byte* weights = memory.front().data();
  for (size_t i = 0; i < memory.size(); ++i) {
    task::SlotInfo& info = program.slots[i];
    const bool is_weight = info.space == task::Space::kWeight && task::index(info.root) == i;
    if (is_weight) info.offset_bytes = memory[i].data() - weights;
  }
  const auto executor = Executor::make(program, weights, kernels(isa));
  if (!executor.ok()) return executor.error().message;
  const Result<void> result = executor.value()->run(addresses(), workspace, options);
  return result.ok() ? "" : result.error().message;
}

void for_each_coordinate(const Dims& dims, const std::function<void(const Dims&)>& visit) {
  if (element_count(dims) == 0) return;
  Dims at;
  at.resize(dims.size());
  while (true) {
    visit(at);
    size_t d = dims.size();
    for (; d > 0; --d) {
      if (++at[d - 1] < dims[d - 1]) break;
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

namespace {

/// Every task's tiles in calls of one.
std::string run_tile_by_tile(Net& net, Isa isa) {
  Scratch scratch;
  const std::vector<std::byte*> addresses = net.addresses();
  for (const task::Record& record : net.program.records) {
    const TaskContext context{net.program.slots, addresses, net.program.side,
                              &kernels(isa),     &scratch,  nullptr};
    for (int64_t i = record.tile_end; i-- > record.tile_begin;) {
      const Result<void> result = run_tiles(record, context, i, i + 1);
      if (!result.ok()) return result.error().message;
    }
  }
  return "";
}

void expect_values(Net& net, task::SlotId result, const Expected& expected, double tolerance,
                   const char* isa) {
  int n_wrong = 0;
  for_each_coordinate(net.slot(result).shape(), [&](const Dims& at) {
    const double found = net.get(result, at), wanted = expected(at);
    const bool both_nan = std::isnan(found) && std::isnan(wanted);
    const bool near = found == wanted ||
                      std::fabs(found - wanted) <= tolerance * std::max(1.0, std::fabs(wanted));
    if (both_nan || near || ++n_wrong > 3) return;
    ADD_FAILURE() << isa << ": at [" << join(at, ",") << "] found " << found << ", expected "
                  << wanted;
  });
  EXPECT_EQ(n_wrong, 0);
}

}  // namespace

void expect_result(Net& net, task::SlotId result, const Expected& expected, double tolerance) {
  const auto before = net.memory;
  for (const Isa isa : kAllIsas) {
    if (!isa_supported(isa)) continue;
    SCOPED_TRACE(isa_name(isa));
    net.memory = before;
    ASSERT_EQ(net.run({}, isa), "");
    const auto first = net.memory;
    net.memory = before;
    // What the task reads is as it was when `expected` looks at it; results are put back first.
    net.memory[task::index(result)] = first[task::index(result)];
    expect_values(net, result, expected, tolerance, isa_name(isa));
    const auto expect_same = [&](const char* how, const std::string& sentence) {
      EXPECT_EQ(sentence, "") << how;
      EXPECT_TRUE(net.memory == first) << how << " gives other bits";
      net.memory = before;
    };
    net.memory = before;
    expect_same("three threads", net.run({}, isa, 3));
    expect_same("tile by tile", run_tile_by_tile(net, isa));
    expect_same("queues", net.run({.order = Order::kQueues}, isa, 2));
    expect_same("random order", net.run({.order = Order::kRandom, .seed = 7}, isa));
    expect_same("checked mode", net.run({.order = Order::kChecked}, isa));
  }
  net.memory = before;
}

}  // namespace tw::cpu
