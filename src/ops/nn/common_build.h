// common_build.h: writes decompositions and imports as nested expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/contexts.h"

namespace tw::ops {

/// Makes nodes one inside the other: s.op("sqrt", {s.op("add", {x, y})}). After a first failure
/// every step gives a placeholder, and `done` gives that failure; so types may be asked only of
/// values that were there before.
class Steps {
 public:
  explicit Steps(ir::GraphBuilder& b) : b_(b) {}

  ir::ValueId op(std::string_view name, std::vector<ir::ValueId> inputs, ir::Attrs attrs = {});
  ir::ValueId transpose(ir::ValueId x, std::vector<int64_t> permutation);
  ir::ValueId unsqueeze(ir::ValueId x, const std::vector<int64_t>& axes);
  ir::ValueId squeeze(ir::ValueId x, const std::vector<int64_t>& axes);
  /// `shape` is an i64 value; its zeros are sizes.
  ir::ValueId reshape(ir::ValueId x, ir::ValueId shape);
  /// x under the dims of `like`.
  ir::ValueId reshape_like(ir::ValueId x, ir::ValueId like);
  /// Mean over `axes`, which stay as dims of 1.
  ir::ValueId mean(ir::ValueId x, const std::vector<int64_t>& axes);
  /// (x - mean) / sqrt(variance + eps), both over `axes`.
  ir::ValueId normalize(ir::ValueId x, const std::vector<int64_t>& axes, double eps);
  /// x of [c] as [c, 1, ..]: it then broadcasts along axis 1 of a tensor of `rank`.
  ir::ValueId per_channel(ir::ValueId x, size_t rank);
  ir::ValueId cast(ir::ValueId x, DType to);
  ir::ValueId scalar(DType dtype, double value) { return b_.scalar(dtype, value); }
  ir::ValueId ints(const std::vector<int64_t>& values) { return b_.ints(values); }
  /// By value: new nodes move the graph's values.
  ir::TensorType type(ir::ValueId x) const { return b_.type(x); }

  /// `x`, or the first failure.
  Result<ir::ValueId> done(ir::ValueId x) const;
  Result<void> status() const;
  /// Notes a failure from elsewhere.
  void fail(Error failure);

 private:
  ir::GraphBuilder& b_;
  std::optional<Error> failure_;
};

/// A list of dims as an i64 value: a literal where all are numbers, else put together from the
/// shapes of values.
class ShapeBuilder {
 public:
  explicit ShapeBuilder(Steps& steps) : steps_(steps) {}
  ShapeBuilder& add(int64_t dim);
  /// factor * dim `axis` of x, a value that was there before these steps.
  ShapeBuilder& add_dim_of(ir::ValueId x, size_t axis, int64_t factor = 1);
  ir::ValueId build();

 private:
  struct Part {
    Dim dim;
    ir::ValueId x = ir::kNoValue;
    int64_t axis = 0, factor = 1;
  };
  Steps& steps_;
  std::vector<Part> parts_;
};

/// 0, 1 .. n - 1.
std::vector<int64_t> iota(size_t n, int64_t first = 0);

}  // namespace tw::ops
