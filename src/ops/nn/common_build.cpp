#include "ops/nn/common_build.h"

#include <numeric>

namespace tw::ops {

ir::ValueId Steps::op(std::string_view name, std::vector<ir::ValueId> inputs, ir::Attrs attrs) {
  const ir::ValueId placeholder = inputs.front();
  if (failure_) return placeholder;
  const Result<ir::ValueId> made = b_.op(name, std::move(inputs), std::move(attrs));
  if (made.ok()) return made.value();
  failure_ = made.error();
  return placeholder;
}

ir::ValueId Steps::transpose(ir::ValueId x, std::vector<int64_t> permutation) {
  return op("transpose", {x}, {{"perm", std::move(permutation)}});
}

ir::ValueId Steps::unsqueeze(ir::ValueId x, const std::vector<int64_t>& axes) {
  return axes.empty() ? x : op("unsqueeze", {x, ints(axes)});
}

ir::ValueId Steps::squeeze(ir::ValueId x, const std::vector<int64_t>& axes) {
  return op("squeeze", {x, ints(axes)});
}

ir::ValueId Steps::reshape(ir::ValueId x, ir::ValueId shape) {
  return op("reshape", {x, shape}, {{"allowzero", int64_t{1}}});
}

ir::ValueId Steps::reshape_like(ir::ValueId x, ir::ValueId like) {
  ShapeBuilder shape(*this);
  const size_t rank = type(like).shape.size();
  for (size_t d = 0; d < rank; ++d) shape.add_dim_of(like, d);
  return reshape(x, shape.build());
}

ir::ValueId Steps::mean(ir::ValueId x, const std::vector<int64_t>& axes) {
  return op("reduce_mean", {x, ints(axes)}, {{"keepdims", int64_t{1}}});
}

ir::ValueId Steps::normalize(ir::ValueId x, const std::vector<int64_t>& axes, double eps) {
  const ir::ValueId centred = op("sub", {x, mean(x, axes)});
  const ir::ValueId variance = mean(op("mul", {centred, centred}), axes);
  return op("div", {centred, op("sqrt", {op("add", {variance, scalar(type(x).dtype, eps)})})});
}

ir::ValueId Steps::per_channel(ir::ValueId x, size_t rank) {
  return rank <= 2 ? x : unsqueeze(x, iota(rank - 2, 1));
}

ir::ValueId Steps::cast(ir::ValueId x, DType to) {
  return op("cast", {x}, {{"to", std::string(dtype_name(to))}});
}

Result<ir::ValueId> Steps::done(ir::ValueId x) const {
  if (failure_) return *failure_;
  return x;
}

Result<void> Steps::status() const {
  if (failure_) return *failure_;
  return {};
}

void Steps::fail(Error failure) {
  if (!failure_) failure_ = std::move(failure);
}

ShapeBuilder& ShapeBuilder::add(int64_t dim) {
  parts_.push_back({Dim(dim)});
  return *this;
}

ShapeBuilder& ShapeBuilder::add_dim_of(ir::ValueId x, size_t axis, int64_t factor) {
  parts_.push_back(
      {steps_.type(x).shape[axis] * Dim(factor), x, static_cast<int64_t>(axis), factor});
  return *this;
}

ir::ValueId ShapeBuilder::build() {
  std::vector<ir::ValueId> pieces;
  std::vector<int64_t> literal;
  const auto flush = [&] {
    if (!literal.empty()) pieces.push_back(steps_.ints(literal));
    literal.clear();
  };
  for (const Part& part : parts_) {
    if (part.dim.is_constant()) {
      literal.push_back(part.dim.constant());
      continue;
    }
    flush();
    ir::ValueId dim = steps_.op("shape", {part.x}, {{"start", part.axis}, {"end", part.axis + 1}});
    if (part.factor != 1) dim = steps_.op("mul", {dim, steps_.ints({part.factor})});
    pieces.push_back(dim);
  }
  flush();
  if (pieces.empty()) return steps_.ints({});
  if (pieces.size() == 1) return pieces.front();
  return steps_.op("concat", pieces, {{"axis", int64_t{0}}});
}

std::vector<int64_t> iota(size_t n, int64_t first) {
  std::vector<int64_t> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace tw::ops
