// points_test.cpp: every operation of elementwise programs on every lane, in the ranges where they
// differ and at the edges: NaN, infinities, zeros, subnormals, the ends of integer types.
#include <cmath>
#include <limits>

#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::instr;
using cpu::Net;
using task::Lane;
using task::PointInstr;
using task::PointOp;

/// Row `row` of a matrix of results.
task::SlotId add_row(Net& net, task::SlotId matrix, int64_t row) {
  task::SlotInfo info = net.slot(matrix);
  info.flags = task::SlotInfo::kView;
  info.root = matrix;
  info.rank = 1;
  info.dims[0] = net.slot(matrix).dims[1];
  info.strides[0] = 1;
  info.offset_bytes = row * net.slot(matrix).strides[0] * size_bytes(info.dtype);
  net.program.slots.push_back(info);
  net.program.slot_names.push_back(cat("row", row));
  net.memory.emplace_back();
  return static_cast<task::SlotId>(net.program.slots.size() - 1);
}

constexpr int64_t kCount = 700;

/// Runs each of `ops` on inputs a, b (and condition c), four to a task. Results are rows of one
/// matrix of `result` elements.
void expect_ops(Net& net, const std::vector<task::SlotId>& inputs, DType result,
                const std::vector<PointInstr>& ops, double tolerance) {
  const task::SlotId matrix = net.add(result, {static_cast<int64_t>(ops.size()), kCount});
  const int n_inputs = static_cast<int>(inputs.size());
  for (size_t first = 0; first < ops.size(); first += 4) {
    task::ElementwiseTask task;
    for (size_t i = 0; i < inputs.size(); ++i) task.x[i].id = inputs[i];
    std::vector<PointInstr> code;
    std::vector<uint8_t> outputs;
    for (size_t i = first; i < std::min(ops.size(), first + 4); ++i) {
      const int dst = n_inputs + static_cast<int>(i - first);
      code.push_back(ops[i]);
      code.back().dst = static_cast<uint8_t>(dst);
      outputs.push_back(static_cast<uint8_t>(dst));
      task.y[i - first].id = add_row(net, matrix, static_cast<int64_t>(i));
    }
    task.program = net.add_program(n_inputs, outputs, code);
    net.add_task(task);
  }
  expect_same_on_device(net, matrix, tolerance);
}

task::SlotId add_floats(Net& net, DType dtype, double limit, int64_t turn = 1) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double edges[] = {0.0,    -0.0, NAN,  kInf, -kInf, 1.0,  -1.0,  0.5,  -0.5, 1e-40,
                          -1e-40, 2.5,  -2.5, 3.0,  -3.0,  90.0, -90.0, 1e-3, 1e5,  -1e5};
  const task::SlotId x = net.add(dtype, {kCount}, cpu::Lie::kDense, limit);
  constexpr auto kEdges = static_cast<int64_t>(std::size(edges));
  // Every edge meets every other in the first kEdges^2 places of two operands.
  for (int64_t i = 0; i < kEdges * kEdges; ++i)
    net.set(x, {i}, edges[turn == 1 ? i % kEdges : i / kEdges]);
  return x;
}

struct FloatOp {
  PointOp op;
  float alpha = 0, beta = 0;
};

std::vector<PointInstr> instructions(std::span<const FloatOp> ops, Lane lane) {
  std::vector<PointInstr> code;
  for (const FloatOp& one : ops) {
    code.push_back(instr(one.op, lane, 0, 0, 1));
    code.back().alpha = one.alpha;
    code.back().beta = one.beta;
  }
  return code;
}

constexpr FloatOp kFunctions[] = {{PointOp::kCopy},
                                  {PointOp::kNeg},
                                  {PointOp::kAbs},
                                  {PointOp::kSign},
                                  {PointOp::kExp},
                                  {PointOp::kLog},
                                  {PointOp::kSqrt},
                                  {PointOp::kRsqrt},
                                  {PointOp::kTanh},
                                  {PointOp::kErf},
                                  {PointOp::kSigmoid},
                                  {PointOp::kSin},
                                  {PointOp::kCos},
                                  {PointOp::kAsin},
                                  {PointOp::kAcos},
                                  {PointOp::kAtan},
                                  {PointOp::kAsinh},
                                  {PointOp::kAcosh},
                                  {PointOp::kAtanh},
                                  {PointOp::kFloor},
                                  {PointOp::kCeil},
                                  {PointOp::kRound},
                                  {PointOp::kTrunc},
                                  {PointOp::kSoftplus},
                                  {PointOp::kGelu},
                                  {PointOp::kGeluTanh},
                                  {PointOp::kSilu},
                                  {PointOp::kRelu},
                                  {PointOp::kHardSwish},
                                  {PointOp::kMish},
                                  {PointOp::kLeakyRelu, 0.25F},
                                  {PointOp::kElu, 0.5F},
                                  {PointOp::kHardSigmoid, 0.25F, 0.5F},
                                  {PointOp::kClip, -0.25F, 0.5F},
                                  {PointOp::kClip, 0.5F, -0.25F},
                                  {PointOp::kCelu, 2.0F},
                                  {PointOp::kSelu, 1.67F, 1.05F},
                                  {PointOp::kThresholdedRelu, 0.5F}};

// The CPU's functions and CUDA's are each within about two roundings (gelu: 16 in its tail, where
// it is small).
constexpr double kFloatTolerance = 2e-6;

TEST(PointsOnDevice, FunctionsOfFloats) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    SCOPED_TRACE(cat(dtype));
    Net net(51);
    const std::vector<task::SlotId> inputs = {add_floats(net, dtype, 4)};
    expect_ops(net, inputs, dtype, instructions(kFunctions, task::lane_of(dtype)),
               dtype == DType::kF32 ? kFloatTolerance : 1e-13);
  }
}

TEST(PointsOnDevice, FunctionsThatGrowAreNearRelativeToTheirSize) {
  constexpr FloatOp kGrowing[] = {
      {PointOp::kSinh}, {PointOp::kCosh}, {PointOp::kTan}, {PointOp::kReciprocal}};
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    SCOPED_TRACE(cat(dtype));
    Net net(52);
    const std::vector<task::SlotId> inputs = {add_floats(net, dtype, 4)};
    expect_ops(net, inputs, dtype, instructions(kGrowing, task::lane_of(dtype)),
               dtype == DType::kF32 ? kFloatTolerance : 1e-13);
  }
}

TEST(PointsOnDevice, ArithmeticOfFloats) {
  constexpr FloatOp kArithmetic[] = {{PointOp::kAdd}, {PointOp::kSub}, {PointOp::kMul},
                                     {PointOp::kDiv}, {PointOp::kMod}, {PointOp::kFmod},
                                     {PointOp::kMin}, {PointOp::kMax}};
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    SCOPED_TRACE(cat(dtype));
    Net net(53);
    const std::vector<task::SlotId> inputs = {add_floats(net, dtype, 9),
                                              add_floats(net, dtype, 9, 2)};
    expect_ops(net, inputs, dtype, instructions(kArithmetic, task::lane_of(dtype)), 0);
    Net powers(54);
    const std::vector<task::SlotId> bases = {add_floats(powers, dtype, 9),
                                             add_floats(powers, dtype, 9, 2)};
    constexpr FloatOp kPow[] = {{PointOp::kPow}};
    // exp and log of 24 bits each: the exponent of up to 128 magnifies the last rounding.
    expect_ops(powers, bases, dtype, instructions(kPow, task::lane_of(dtype)),
               dtype == DType::kF32 ? 4e-6 : 1e-13);
  }
}

TEST(PointsOnDevice, ComparisonsOfFloats) {
  constexpr FloatOp kTests[] = {
      {PointOp::kEqual},   {PointOp::kNotEqual},     {PointOp::kLess},  {PointOp::kLessEqual},
      {PointOp::kGreater}, {PointOp::kGreaterEqual}, {PointOp::kIsNan}, {PointOp::kIsInf}};
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16}) {
    SCOPED_TRACE(cat(dtype));
    Net net(55);
    const std::vector<task::SlotId> inputs = {add_floats(net, dtype, 2),
                                              add_floats(net, dtype, 2, 2)};
    expect_ops(net, inputs, DType::kBool, instructions(kTests, task::lane_of(dtype)), 0);
  }
}

TEST(PointsOnDevice, WhereChooses) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kI32}) {
    SCOPED_TRACE(cat(dtype));
    Net net(56);
    const std::vector<task::SlotId> inputs = {net.add(DType::kBool, {kCount}),
                                              net.add(dtype, {kCount}), net.add(dtype, {kCount})};
    for (int64_t i = 0; i < kCount; ++i) net.set(inputs[0], {i}, i % 3 == 0 ? 1 : 0);
    expect_ops(net, inputs, dtype, {instr(PointOp::kWhere, task::lane_of(dtype), 0, 0, 1, 2)}, 0);
  }
}

task::SlotId add_integers(Net& net, DType dtype, int64_t turn = 1) {
  constexpr double kEnds = 9223372036854775808.0;
  const double edges[] = {0,
                          1,
                          -1,
                          2,
                          -2,
                          7,
                          -7,
                          63,
                          64,
                          127,
                          -128,
                          255,
                          32767,
                          -32768,
                          2147483647.0,
                          -2147483648.0,
                          4294967295.0,
                          kEnds,
                          -kEnds,
                          2 * kEnds};
  const task::SlotId x = net.add(dtype, {kCount}, cpu::Lie::kDense, 100);
  constexpr auto kEdges = static_cast<int64_t>(std::size(edges));
  for (int64_t i = 0; i < kEdges * kEdges; ++i)
    net.set(x, {i}, edges[turn == 1 ? i % kEdges : i / kEdges]);
  return x;
}

constexpr DType kIntegers[] = {DType::kI8,  DType::kI16, DType::kI32, DType::kI64, DType::kU8,
                               DType::kU16, DType::kU32, DType::kU64, DType::kBool};

TEST(PointsOnDevice, IntegersWrapAndTestsAreBool) {
  constexpr PointOp kOps[] = {
      PointOp::kAdd,     PointOp::kSub,          PointOp::kMul,       PointOp::kDiv,
      PointOp::kMod,     PointOp::kFmod,         PointOp::kPow,       PointOp::kMin,
      PointOp::kMax,     PointOp::kNeg,          PointOp::kAbs,       PointOp::kSign,
      PointOp::kEqual,   PointOp::kNotEqual,     PointOp::kLess,      PointOp::kLessEqual,
      PointOp::kGreater, PointOp::kGreaterEqual, PointOp::kAnd,       PointOp::kOr,
      PointOp::kXor,     PointOp::kNot,          PointOp::kBitAnd,    PointOp::kBitOr,
      PointOp::kBitXor,  PointOp::kBitNot,       PointOp::kShiftLeft, PointOp::kShiftRight,
      PointOp::kRelu,    PointOp::kRound,        PointOp::kIsNan,     PointOp::kClip};
  for (const DType dtype : kIntegers) {
    SCOPED_TRACE(cat(dtype));
    Net net(57);
    const std::vector<task::SlotId> inputs = {add_integers(net, dtype),
                                              add_integers(net, dtype, 2)};
    std::vector<PointInstr> code;
    for (const PointOp op : kOps) {
      code.push_back(instr(op, Lane::kI64, 0, 0, 1));
      code.back().dtype = dtype;
      code.back().alpha = -2.5F;
      code.back().beta = 99.5F;
    }
    expect_ops(net, inputs, dtype, code, 0);
  }
}

/// Casts of x to `to`, seen as f64.
void expect_casts(DType from, std::span<const DType> to) {
  SCOPED_TRACE(cat(from));
  Net net(58);
  const task::SlotId x = is_float(from) ? add_floats(net, from, 300) : add_integers(net, from);
  const double edges[] = {127.5, -128.5, 255.9, 65520, 3e9, -3e9, 1e19, -1e19, 2e19, 1e300};
  for (size_t i = 0; is_float(from) && i < std::size(edges); ++i)
    net.set(x, {500 + static_cast<int64_t>(i)}, edges[i]);
  const task::SlotId matrix = net.add(DType::kF64, {static_cast<int64_t>(to.size()), kCount});
  for (size_t first = 0; first < to.size(); first += 4) {
    task::ElementwiseTask task;
    task.x[0].id = x;
    std::vector<PointInstr> code;
    std::vector<uint8_t> outputs;
    for (size_t i = first; i < std::min(to.size(), first + 4); ++i) {
      const int dst = 1 + 2 * static_cast<int>(i - first);
      code.push_back(instr(PointOp::kCast, task::lane_of(from), dst, 0));
      code.back().dtype = to[i];
      code.push_back(instr(PointOp::kCast, task::lane_of(to[i]), dst + 1, dst));
      code.back().dtype = DType::kF64;
      outputs.push_back(static_cast<uint8_t>(dst + 1));
      task.y[i - first].id = add_row(net, matrix, static_cast<int64_t>(i));
    }
    task.program = net.add_program(1, outputs, code);
    net.add_task(task);
  }
  expect_same_on_device(net, matrix, 0);
}

TEST(PointsOnDevice, CastsRoundTruncateSaturateAndWrap) {
  constexpr DType kAll[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                            DType::kI16, DType::kI32, DType::kI64, DType::kU8,   DType::kU16,
                            DType::kU32, DType::kU64, DType::kBool};
  for (const DType from : {DType::kF32, DType::kF64, DType::kI64, DType::kU64, DType::kBool})
    expect_casts(from, kAll);
}

TEST(PointsOnDevice, StoresConvertFromAnyLane) {
  for (const DType dtype : {DType::kI8, DType::kU64, DType::kBool, DType::kF64, DType::kBF16}) {
    SCOPED_TRACE(cat(dtype));
    Net net(59);
    const std::vector<task::SlotId> inputs = {add_floats(net, DType::kF32, 300)};
    expect_ops(net, inputs, dtype, {instr(PointOp::kCopy, Lane::kF32, 0, 0)}, 0);
  }
}

TEST(PointsOnDevice, RegistersAreWrittenAgainAndInputsStored) {
  Net net(60);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kF32, {900});
  task.y[0].id = net.add(DType::kF32, {900});
  task.y[1].id = net.add(DType::kI32, {900});
  PointInstr literal = instr(PointOp::kLiteral, Lane::kF32, 1);
  literal.imm_double = -0.1;
  PointInstr count = instr(PointOp::kLiteral, Lane::kI64, 3);
  count.imm_int = -3;
  // Register 1 is a float, then an integer; register 0, the input, is written too.
  task.program = net.add_program(1, {0, 1},
                                 {literal, instr(PointOp::kMul, Lane::kF32, 0, 0, 1),
                                  instr(PointOp::kGreater, Lane::kF32, 2, 0, 1), count,
                                  instr(PointOp::kMul, Lane::kI64, 1, 2, 3)});
  net.add_task(task);
  expect_same_on_device(net, task.y[0].id, 0);
  expect_same_on_device(net, task.y[1].id, 0);
}

}  // namespace
}  // namespace tw::gpu
