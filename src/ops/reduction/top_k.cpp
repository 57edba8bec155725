// top_k: the k largest (or smallest) along an axis with their indices, best first, ties to the
// lower index. Order is kept for sorted=0 too, which leaves it open.
#include <algorithm>
#include <numeric>

#include "ops/elementwise/common_map.h"
#include "ops/reduction/common_rows.h"

namespace tw::ops {
namespace {

/// Before opset 10 k is an attribute.
Result<void> import_k_attribute(ir::ImportContext& c) {
  const int64_t k = c.attr_int("k", 0);
  const int64_t axis = c.attr_int("axis", -1);
  c.attrs().erase("k");
  c.attrs().erase("axis");
  const size_t n_outputs = std::max<size_t>(2, c.n_outputs());  // too many are refused there
  const auto outputs =
      TRY(c.b().ops("top_k", {c.in(0), c.b().ints({k})}, {{"axis", axis}}, n_outputs));
  for (size_t i = 0; i < c.n_outputs(); ++i) c.set_out(i, outputs[i]);
  return {};
}

template <class T>
void sort_rows(ir::EvalContext& c, const Rows& rows, const Rows& out, bool largest) {
  const Tensor& x = c.in(0);
  rows.for_each([&](int64_t outer, int64_t inner) {
    std::vector<int64_t> order(static_cast<size_t>(rows.length));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      const T a = read_number<T>(x, rows.at(outer, i, inner));
      const T b = read_number<T>(x, rows.at(outer, j, inner));
      return largest ? b < a : a < b;
    });
    for (int64_t k = 0; k < out.length; ++k) {
      const int64_t from = order[static_cast<size_t>(k)];
      if (c.has_out(0))
        write_number(c.out(0), out.at(outer, k, inner),
                     read_number<T>(x, rows.at(outer, from, inner)));
      if (c.has_out(1)) c.out(1).set_int(out.at(outer, k, inner), from);
    }
  });
}

}  // namespace

extern constinit const ir::OpDef top_k = {
    .name = "top_k",
    .doc = "values, indices = the k largest of x along axis, best first; largest=0: the smallest",
    .inputs = {"x", "k"},
    .outputs = {"values?", "indices?"},
    .attrs = {{"axis", -1}, {"largest", 1}, {"sorted", 1}},
    .onnx = {{"TopK", 1, import_k_attribute}, {"TopK", 10}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(expect_type(c, 0, kNumbers));
      const int64_t axis = TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'"));
      ir::Shape shape = c.shape(0);
      Dim& length = shape[static_cast<size_t>(axis)];
      const auto* k = c.ints(1);
      if (k != nullptr && k->size() != 1)
        return error(Code::kInvalidModel, "input 'k' has ", k->size(), " elements, expected 1");
      const Dim count = k != nullptr ? k->front() : c.fresh_symbol();
      if (const auto spare = (length - count).known();
          (spare && *spare < 0) || count.known().value_or(0) < 0)
        return error(Code::kInvalidModel, "input 'k' is ", count, ", expected 0 to ", length,
                     ", the length of axis ", axis);
      length = count;
      c.out(0, {c.in(0).dtype, shape});
      c.out(1, {DType::kI64, shape});
      return {};
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const Tensor& x = c.in(0);
      const int64_t axis = axis_of(c, x.rank());
      const Rows rows = Rows::of(x.dims(), axis);
      Dims dims = x.dims();
      dims[static_cast<size_t>(axis)] = c.in(1).int_at(0);
      const bool largest = c.attr_int("largest") != 0;
      with_number_type(x.dtype(),
                       [&]<class T>(T) { sort_rows<T>(c, rows, Rows::of(dims, axis), largest); });
      return {};
    },
    .lower = [](LowerContext& c) -> Result<void> {
      const ir::TensorType& x_type = c.in_type(0);
      const auto rank = static_cast<int64_t>(x_type.shape.size());
      const int64_t axis = axis_of(c, rank);
      const size_t chosen = c.has_out(0) ? 0 : 1;
      ir::Shape shape = c.out_type(chosen).shape;
      if (c.in_ints(1) == nullptr) {
        const auto symbol = shape[static_cast<size_t>(axis)].as_symbol();
        CHECK(symbol.has_value(), "inference makes a symbol for a k that only data can tell");
        c.bind_symbols({*symbol}, c.in(1));
      }
      const bool is_last = axis == rank - 1;
      std::swap(shape[static_cast<size_t>(axis)], shape.back());
      const task::SlotId x = rows_last(c, c.in(0), x_type.dtype, axis);
      const auto result = [&](size_t i, DType dtype) {
        return is_last && c.has_out(i) ? c.out(i) : c.temp({dtype, shape});
      };
      const task::SlotId results[2] = {result(0, x_type.dtype), result(1, DType::kI64)};
      c.emit(task::SortTask{.x = {x},
                            .values = {results[0]},
                            .index = {results[1]},
                            .largest = static_cast<uint8_t>(c.attr_int("largest") != 0)});
      for (size_t i = 0; !is_last && i < 2; ++i)
        if (c.has_out(i))
          c.emit(task::CopyTask{.x = {results[i]},
                                .y = {c.permute(c.out(i), swap_with_last(axis, shape.size()))}});
      return {};
    },
    .cases = {"f32[1,8,1000] i64{5} ; outputs=2", "f32[7] i64{3} ; outputs=2",
              "f32[3,5] i64{2} ; axis=0 largest=0 outputs=2",
              "f32[3,5,2] i64{3} ; axis=1 outputs=2", "f32{1,2,2,1,2} i64{4} ; outputs=2",
              "f32[3,0] i64{0} ; outputs=2", "f32[4,1] i64{1} ; outputs=2",
              "f32[3,5] i64{0} ; outputs=2", "f32[3,5] i64{2}", "f64[3,5] i64{2} ; outputs=2",
              "f16[5,7] i64{2} ; outputs=2", "bf16[9] i64{4} ; largest=0 outputs=2",
              "i32[9]<5 i64{9} ; sorted=0 outputs=2", "i64{-3,4,-9} i64{2} ; outputs=2",
              "u8[5,3] i64{2} ; axis=0 outputs=2",
              "u64{18446744073709549568,1,7} i64{2} ; outputs=2"},
};

}  // namespace tw::ops
