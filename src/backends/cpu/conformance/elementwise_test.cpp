#include <cmath>

#include "backends/cpu/conformance/net.h"

namespace tw::cpu {
namespace {

using task::Lane;
using task::PointInstr;
using task::PointOp;

/// y = op(a, b) over dims, operands lying and repeating as asked.
struct BinaryCase {
  Dims a, b, y;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

TEST(ElementwiseTask, OperandsRepeatAlongAnyDims) {
  const BinaryCase cases[] = {{{7, 600}, {7, 600}, {7, 600}},
                              {{7, 600}, {600}, {7, 600}},
                              {{300, 5}, {5}, {300, 5}},
                              {{300, 5}, {300, 1}, {300, 5}},
                              {{2, 1, 40, 3}, {1, 6, 1, 3}, {2, 6, 40, 3}},
                              {{2, 6, 40, 3}, {}, {2, 6, 40, 3}},
                              {{50, 60}, {50, 60}, {50, 60}, DType::kF32, Lie::kTurned},
                              {{50, 60}, {60}, {50, 60}, DType::kF16, Lie::kGaps},
                              {{50, 60}, {50, 1}, {50, 60}, DType::kF64, Lie::kGaps},
                              {{50, 60}, {60}, {50, 60}, DType::kI32},
                              {{}, {}, {}},
                              {{0, 4}, {4}, {0, 4}},
                              {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}};
  for (const BinaryCase& c : cases) {
    SCOPED_TRACE(cat(join(c.a, "x"), " ", join(c.b, "x"), " ", c.dtype));
    Net net(11);
    task::ElementwiseTask task;
    task.x[0].id = net.add(c.dtype, c.a, c.lie);
    task.x[1].id = net.add(c.dtype, c.b, c.lie);
    task.y[0].id = net.add(c.dtype, c.y, c.lie);
    const Lane lane = task::lane_of(c.dtype);
    task.program = net.add_program(
        2, {3}, {instr(PointOp::kMul, lane, 2, 0, 1), instr(PointOp::kSub, lane, 3, 2, 1)});
    net.add_task(task);
    expect_result(
        net, task.y[0].id,
        [&](const Dims& at) {
          const double a = net.get_broadcast(task.x[0].id, at),
                       b = net.get_broadcast(task.x[1].id, at);
          return a * b - b;
        },
        c.dtype == DType::kF16 ? 2e-3 : 1e-6);
  }
}

struct UnaryCase {
  PointOp op;
  double (*meaning)(double);
  float alpha = 0, beta = 0;
};

TEST(ElementwiseTask, FunctionsOfFloatsMatchTheirFormulas) {
  const UnaryCase cases[] = {
      {PointOp::kExp, [](double v) { return std::exp(v); }},
      {PointOp::kErf, [](double v) { return std::erf(v); }},
      {PointOp::kSign, [](double v) { return double((v > 0) - (v < 0)); }},
      {PointOp::kAtan, [](double v) { return std::atan(v); }},
      {PointOp::kRound, [](double v) { return std::nearbyint(v); }},
      {PointOp::kMish, [](double v) { return v * std::tanh(std::log1p(std::exp(v))); }},
      {PointOp::kGelu, [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); }},
      {PointOp::kLeakyRelu, [](double v) { return v < 0 ? 0.25 * v : v; }, 0.25F},
      {PointOp::kElu, [](double v) { return v < 0 ? 0.5 * std::expm1(v) : v; }, 0.5F},
      {PointOp::kCelu, [](double v) { return v < 0 ? 2 * std::expm1(v / 2) : v; }, 2.0F},
      {PointOp::kSelu, [](double v) { return 1.5 * (v <= 0 ? 0.5 * std::expm1(v) : v); }, 0.5F,
       1.5F},
      {PointOp::kHardSigmoid, [](double v) { return std::fmin(1, std::fmax(0, 0.25 * v + 0.5)); },
       0.25F, 0.5F},
      {PointOp::kClip, [](double v) { return std::fmin(0.5, std::fmax(-0.25, v)); }, -0.25F, 0.5F},
      {PointOp::kThresholdedRelu, [](double v) { return v > 0.5 ? v : 0; }, 0.5F}};
  for (const UnaryCase& c : cases) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      SCOPED_TRACE(cat(task::point_op_name(c.op), " ", dtype));
      Net net(12);
      task::ElementwiseTask task;
      task.x[0].id = net.add(dtype, {700}, Lie::kDense, 3);
      task.y[0].id = net.add(dtype, {700});
      PointInstr code = instr(c.op, task::lane_of(dtype), 1, 0);
      code.alpha = c.alpha;
      code.beta = c.beta;
      task.program = net.add_program(1, {1}, {code});
      net.add_task(task);
      expect_result(
          net, task.y[0].id, [&](const Dims& at) { return c.meaning(net.get(task.x[0].id, at)); },
          3e-6);
    }
  }
}

TEST(ElementwiseTask, ComparisonsSelectAndCoordinatesCount) {
  Net net(13);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kF32, {30, 40});
  task.x[1].id = net.add(DType::kF32, {40});
  task.y[0].id = net.add(DType::kF32, {30, 40});
  task.y[1].id = net.add(DType::kBool, {30, 40});
  PointInstr row = instr(PointOp::kIndex, Lane::kI64, 3);
  row.imm_int = 0;
  PointInstr limit = instr(PointOp::kLiteral, Lane::kI64, 4);
  limit.imm_int = 10;
  // y0 = row < 10 ? x0 : x1, y1 = x0 > x1
  task.program = net.add_program(
      2, {6, 2},
      {instr(PointOp::kGreater, Lane::kF32, 2, 0, 1), row, limit,
       instr(PointOp::kLess, Lane::kI64, 5, 3, 4), instr(PointOp::kWhere, Lane::kF32, 6, 5, 0, 1)});
  net.add_task(task);
  const auto left = [&](const Dims& at) { return net.get(task.x[0].id, at); };
  const auto right = [&](const Dims& at) { return net.get(task.x[1].id, {at[1]}); };
  expect_result(
      net, task.y[0].id, [&](const Dims& at) { return at[0] < 10 ? left(at) : right(at); }, 0);
  expect_result(net, task.y[1].id, [&](const Dims& at) { return left(at) > right(at) ? 1 : 0; }, 0);
}

TEST(ElementwiseTask, IntegersWrapToTheirType) {
  Net net(14);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kI8, {200});
  task.y[0].id = net.add(DType::kI8, {200});
  PointInstr twice = instr(PointOp::kAdd, Lane::kI64, 1, 0, 0);
  twice.dtype = DType::kI8;
  PointInstr half = instr(PointOp::kDiv, Lane::kI64, 3, 1, 2);
  half.dtype = DType::kI8;
  PointInstr two = instr(PointOp::kLiteral, Lane::kI64, 2);
  two.imm_int = 2;
  task.program = net.add_program(1, {3}, {twice, two, half});
  net.add_task(task);
  expect_result(
      net, task.y[0].id,
      [&](const Dims& at) {
        return double(static_cast<int8_t>(2 * net.get_int(task.x[0].id, at)) / 2);
      },
      0);
}

TEST(ElementwiseTask, CastsTruncateAndSaturate) {
  Net net(15);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kF32, {6});
  const double values[] = {300, -300, 1.9, -1.9, NAN, INFINITY},
               wanted[] = {127, -128, 1, -1, 0, 127};
  for (int64_t i = 0; i < 6; ++i) net.set(task.x[0].id, {i}, values[i]);
  task.y[0].id = net.add(DType::kI8, {6});
  PointInstr cast = instr(PointOp::kCast, Lane::kF32, 1, 0);
  cast.dtype = DType::kI8;
  task.program = net.add_program(1, {1}, {cast});
  net.add_task(task);
  expect_result(net, task.y[0].id, [&](const Dims& at) { return wanted[at[0]]; }, 0);
}

TEST(ElementwiseTask, ARegisterMayBeWrittenAgainAndAnInputStored) {
  Net net(16);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kF32, {900});
  task.y[0].id = net.add(DType::kF32, {900});
  task.y[1].id = net.add(DType::kF32, {900});
  task.program = net.add_program(
      1, {1, 0},
      {instr(PointOp::kNeg, Lane::kF32, 1, 0), instr(PointOp::kAdd, Lane::kF32, 1, 1, 0),
       instr(PointOp::kSub, Lane::kF32, 1, 1, 0)});
  net.add_task(task);
  expect_result(
      net, task.y[0].id, [&](const Dims& at) { return -net.get(task.x[0].id, at); }, 1e-6);
  expect_result(net, task.y[1].id, [&](const Dims& at) { return net.get(task.x[0].id, at); }, 0);
}

}  // namespace
}  // namespace tw::cpu
