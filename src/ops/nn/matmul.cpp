// matmul: numpy's matrix product, 1-d operands and broadcast batch dims included. Floats become one
// gemm task; other types (index arithmetic in exported graphs) are small and go as a product and a
// sum.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_matmul.h"
#include "ops/nn/common_values.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_same_type(c, 0, 1));
  c.out(0, {c.in(0).dtype, TRY(product_shapes(c.shape(0), c.shape(1))).result});
  return {};
}

/// Elements from the start of `shape` to matrix `batch` of a product whose batch dims are those of
/// `y`.
int64_t matrix_offset(const Dims& shape, const Dims& y, int64_t batch) {
  int64_t offset = 0, stride = shape[shape.size() - 2] * shape.back();
  for (size_t back = 3; back <= y.size(); ++back) {
    const int64_t size = y[y.size() - back];
    if (back <= shape.size()) {
      const int64_t own = shape[shape.size() - back];
      if (own != 1) offset += (batch % size) * stride;
      stride *= own;
    }
    batch /= size;
  }
  return offset;
}

template <class T>
void multiply(ir::EvalContext& c, const ProductShapes& shapes) {
  const Dims a_dims = *ir::concrete(shapes.a), b_dims = *ir::concrete(shapes.b),
             y_dims = *ir::concrete(shapes.y);
  const std::vector<T> a = to_values<T>(c.in(0)), b = to_values<T>(c.in(1));
  std::vector<T> y(static_cast<size_t>(element_count(y_dims)));
  const int64_t m = y_dims[y_dims.size() - 2], n = y_dims.back(), k = a_dims.back();
  const int64_t n_batches = m * n == 0 ? 0 : element_count(y_dims) / (m * n);
  for (int64_t batch = 0; batch < n_batches; ++batch)
    add_product(a.data() + matrix_offset(a_dims, y_dims, batch),
                b.data() + matrix_offset(b_dims, y_dims, batch), y.data() + batch * m * n, m, n, k);
  from_values(y, c.out(0));
}

Result<void> reference(ir::EvalContext& c) {
  const auto shapes =
      TRY(product_shapes(ir::to_shape(c.in(0).dims()), ir::to_shape(c.in(1).dims())));
  if (is_float(c.in(0).dtype()))
    multiply<double>(c, shapes);
  else
    multiply<uint64_t>(c, shapes);
  return {};
}

/// y[.., m, n] as the sum over k of the products a[.., m, k, 1] * b[.., 1, k, n].
Result<void> lower_as_sum(LowerContext& c, const ProductShapes& shapes) {
  ir::Shape a = shapes.a, b = shapes.b, products = shapes.y, sums = shapes.y;
  a.push_back(Dim(1));
  b.insert(b.end() - 2, Dim(1));
  products.insert(products.end() - 1, shapes.a.back());
  sums.insert(sums.end() - 1, Dim(1));
  if (products.size() > kMaxRank)
    return error(Code::kUnsupported, "a product of ", c.in_type(0).dtype, " has ",
                 products.size() - 3, " batch dims, at most ", kMaxRank - 3, " are supported");
  const DType dtype = c.in_type(0).dtype;
  task::PointProgram program;
  program.n_inputs = 2;
  program.n_registers = 3;
  program.outputs = {2};
  task::PointInstr multiply_instr;
  multiply_instr.op = task::PointOp::kMul;
  multiply_instr.lane = task::lane_of(dtype);
  multiply_instr.dtype = dtype;
  multiply_instr.dst = 2;
  multiply_instr.a = 0;
  multiply_instr.b = 1;
  program.code.push_back(multiply_instr);
  task::ElementwiseTask multiply_task;
  multiply_task.x[0] = {c.broadcast(c.reshape(c.in(0), a), products)};
  multiply_task.x[1] = {c.broadcast(c.reshape(c.in(1), b), products)};
  const task::SlotId temp = c.temp({dtype, products});
  multiply_task.y[0] = {temp};
  multiply_task.program = c.add_program(program);
  c.emit(multiply_task);
  task::ReduceTask sum;
  sum.x = {temp};
  sum.y = {c.reshape(c.out(0), sums)};
  sum.axes = 1U << (products.size() - 2);
  c.emit(sum);
  return {};
}

Result<void> lower(LowerContext& c) {
  ProductShapes shapes = TRY(product_shapes(c.in_type(0).shape, c.in_type(1).shape));
  if (!is_gemm_type(c.in_type(0).dtype)) return lower_as_sum(c, shapes);
  if (shapes.b.size() == 2) {  // one weight for all rows: one big product instead of many
    shapes.a = as_rows(shapes.a);
    shapes.y = as_rows(shapes.y);
  }
  task::GemmTask gemm_task;
  gemm_task.a = {c.reshape(c.in(0), shapes.a)};
  gemm_task.b = {c.reshape(c.in(1), shapes.b)};
  gemm_task.c = {c.reshape(c.out(0), shapes.y)};
  c.emit(gemm_task);
  return {};
}

}  // namespace

extern constinit const ir::OpDef matmul = {
    .name = "matmul",
    .doc =
        "y = a x b as numpy.matmul: [.., m, k] x [.., k, n], batch dims broadcast, 1-d operands "
        "allowed",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .attrs = {},
    .onnx = {{"MatMul", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[5,7] f32[7,3]", "f32[2,3,5,7] f32[7,11]", "f32[2,1,5,7] f32[3,7,4]",
              "f32[7] f32[7,3]", "f32[2,5,7] f32[7]", "f32[7] f32[7]", "f32[0,7] f32[7,3]",
              "f32[3,0] f32[0,4]", "f32[1,1] f32[1,1]", "i64[3,4] i64[4,2]", "f16[9,33] f16[33,17]",
              "bf16[4,64] bf16[64,24]", "f64[3,5] f64[5,2]", "f32[1,12,64,32] f32[1,12,32,64]",
              "f32[64,384] f32[384,384]"},
};

}  // namespace tw::ops
