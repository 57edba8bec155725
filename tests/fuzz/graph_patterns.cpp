#include "graph_patterns.h"

#include <cmath>

namespace tw::fuzz {
namespace {

using Ints = std::vector<int64_t>;

Tensor random_tensor(const Dims& dims, Random random) {
  auto made = Tensor::try_make(DType::kF32, dims);
  if (!made.ok()) fail(made.error().message);
  for (int64_t i = 0; i < made.value().count(); ++i)
    made.value().set_float(i, static_cast<double>(below(random, 2000)) / 1000 - 1);
  return std::move(made).take();
}

}  // namespace

ir::ValueId Patterns::random_input(const Dims& dims) {
  return maker_.add_input(random_tensor(dims, Random(choices_.below(1000))));
}

/// A float value that is there, of any shape, or an input of `own_dims`.
ir::ValueId Patterns::value(const Dims& own_dims) {
  const auto found =
      choices_.one_in(3) ? std::nullopt : maker_.existing(DType::kF32, nullptr, false);
  return found ? *found : random_input(own_dims);
}

ir::ValueId Patterns::weights(const Dims& dims) {
  return maker_.builder_.constant(random_tensor(dims, Random(choices_.below(1000))));
}

ir::ValueId Patterns::scalar(double number) { return maker_.builder_.scalar(DType::kF32, number); }

/// Where one node does not fit the whole pattern is given up; its last good value stands in until
/// then.
ir::ValueId Patterns::op(std::string_view name, std::vector<Id> inputs, ir::Attrs attrs) {
  const Id first = inputs.front();
  const auto made =
      failed_ ? Result<Id>(first) : maker_.builder_.op(name, std::move(inputs), std::move(attrs));
  failed_ = failed_ || !made.ok();
  return made.ok() ? made.value() : first;
}

ir::ValueId Patterns::commuted(std::string_view name, Id a, Id b) {
  return choices_.one_in(2) ? op(name, {a, b}) : op(name, {b, a});
}

ir::ValueId Patterns::unary(Id x) {
  constexpr std::string_view kNames[] = {"relu", "tanh", "sigmoid", "neg",
                                         "abs",  "exp",  "identity"};
  return op(kNames[choices_.below(std::size(kNames))], {x});
}

void Patterns::gelu() {
  const Id x = value({3, 5});
  const Id inner = choices_.one_in(2) ? op("div", {x, scalar(std::sqrt(2.0))})
                                      : commuted("mul", x, scalar(std::sqrt(0.5)));
  const Id sum = commuted("add", op("erf", {inner}), scalar(choices_.one_in(6) ? 2 : 1));
  if (choices_.one_in(2))
    commuted("mul", commuted("mul", x, sum), scalar(0.5));
  else
    commuted("mul", commuted("mul", x, scalar(0.5)), sum);
}

void Patterns::hard_swish() {
  const Id x = value({2, 9});
  if (choices_.one_in(3)) {
    commuted("mul", x, op(choices_.one_in(2) ? "sigmoid" : "hard_sigmoid", {x}));
    return;
  }
  const Id clipped = op("clip", {commuted("add", x, scalar(3)), scalar(0), scalar(6)});
  if (choices_.one_in(2))
    op("div", {commuted("mul", x, clipped), scalar(6)});
  else
    commuted("mul", x, op("div", {clipped, scalar(choices_.one_in(6) ? 5 : 6)}));
}

void Patterns::linear() {
  const Id x = value({4, 6});
  const ir::Shape shape = maker_.graph.value(x).type.shape;
  if (shape.empty() || !shape.back().is_constant()) return;
  const auto n = static_cast<int64_t>(1 + choices_.below(9));
  Id y = op("matmul", {x, weights({shape.back().constant(), n})});
  if (choices_.one_in(2)) y = commuted("add", y, weights(choices_.one_in(4) ? Dims{1} : Dims{n}));
  if (choices_.one_in(2)) y = unary(y);
  if (choices_.one_in(3)) y = commuted("mul", y, weights({n}));
}

void Patterns::attention() {
  const auto length = static_cast<int64_t>(1 + choices_.below(4));
  const bool transposed = choices_.one_in(2);
  const auto head = [&](bool keys) {
    const Id x = transposed ? random_input({1, length, 2, 4}) : random_input({1, 2, length, 4});
    const Id turned = transposed ? op("transpose", {x}, {{"perm", Ints{0, 2, 1, 3}}}) : x;
    return keys ? op("transpose", {turned}, {{"perm", Ints{0, 1, 3, 2}}}) : turned;
  };
  Id scores = op("matmul", {head(false), head(true)});
  if (choices_.one_in(2)) scores = op("div", {scores, scalar(2)});
  if (choices_.one_in(2))
    scores = commuted("add", scores, random_input({1, 1, choices_.one_in(2) ? length : 1, length}));
  const Id weighted = op("matmul", {op("softmax", {scores}), head(false)});
  if (choices_.one_in(2)) op("transpose", {weighted}, {{"perm", Ints{0, 2, 1, 3}}});
}

void Patterns::conv() {
  const auto channels = static_cast<int64_t>(1 + choices_.below(5));
  const bool depthwise = choices_.one_in(3);
  const int64_t kernel = choices_.one_in(2) ? 3 : 1;
  Id y = random_input({choices_.one_in(3) ? 2 : 1, channels, 5, 4});
  for (size_t i = 0; i <= choices_.below(2); ++i) {
    const Id before = y;
    y = op("conv", {y, weights({channels, depthwise ? 1 : channels, kernel, kernel})},
           {{"pads", Ints(4, kernel / 2)}, {"group", depthwise ? channels : int64_t{1}}});
    if (choices_.one_in(2)) {
      const Id variance = op("abs", {weights({channels})});
      y = op("batch_normalization", {y, weights({channels}), weights({channels}),
                                     weights({channels}), commuted("add", variance, scalar(0.5))});
    }
    if (choices_.one_in(2)) y = unary(y);
    if (choices_.one_in(3)) y = commuted("add", y, before);
    if (choices_.one_in(3)) y = commuted("mul", y, weights({1, channels, 1, 1}));
  }
  if (choices_.one_in(3)) op("global_average_pool", {y});
}

void Patterns::transposes() {
  const Id x = value({2, 3, 4});
  const auto rank = static_cast<int64_t>(maker_.graph.value(x).type.shape.size());
  Ints perm, back(static_cast<size_t>(rank));
  for (int64_t d = 0; d < rank; ++d)
    perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(choices_.below(perm.size() + 1)), d);
  for (int64_t d = 0; d < rank; ++d) back[static_cast<size_t>(perm[static_cast<size_t>(d)])] = d;
  Id y = op("transpose", {x}, {{"perm", perm}});
  if (choices_.one_in(2)) y = unary(y);
  if (choices_.one_in(3)) y = op("concat", {y, y}, {{"axis", int64_t{0}}});
  if (choices_.one_in(3)) y = op("reduce_mean", {y}, {{"keepdims", int64_t{1}}});
  op("transpose", {y}, {{"perm", choices_.one_in(3) ? perm : back}});
}

void Patterns::affine() {
  const Id x = value({2, 5});
  const ir::Shape shape = maker_.graph.value(x).type.shape;
  if (shape.empty() || !shape.back().is_constant()) return;
  const int64_t n = shape.back().constant();
  Id y = commuted("mul", x, weights({n}));
  y = commuted(choices_.one_in(3) ? "sub" : "add", y, weights({n}));
  if (choices_.one_in(2)) unary(y);
}

void Patterns::known_if() {
  const auto branch = [&](std::string_view name) {
    auto body = std::make_shared<ir::Graph>();
    ir::Value input;
    input.name = "captured";
    input.type = {DType::kF32, {Dim(2), Dim(3)}};
    body->inputs = {body->add_value(std::move(input))};
    ir::GraphBuilder builder(*body, body->nodes, "b");
    const auto made = builder.op(name, {body->inputs[0]});
    if (!made.ok()) fail(made.error().message);
    body->outputs = {made.value()};
    return std::shared_ptr<const ir::Graph>(std::move(body));
  };
  auto flag = Tensor::try_make(DType::kBool, {});
  if (!flag.ok()) fail(flag.error().message);
  flag.value().set_int(0, static_cast<int64_t>(choices_.below(2)));
  const Id condition =
      choices_.one_in(2) ? maker_.builder_.constant(flag.value()) : maker_.add_input(flag.value());
  const Id y = op("if", {condition, random_input({2, 3})},
                  {{"then_branch", branch("relu")}, {"else_branch", branch("tanh")}});
  if (choices_.one_in(2)) unary(y);
}

void Patterns::folded() {
  const Id sum = op("add", {weights({2, 3}), weights({3})});
  const Id x = random_input({2, 3});
  const Id shape = op("shape", {x});
  const Id same = op("reshape", {commuted("mul", x, sum), shape});
  if (choices_.one_in(2)) commuted("add", same, unary(same));
}

bool Patterns::add() {
  using Make = void (Patterns::*)();
  constexpr Make kAll[] = {&Patterns::gelu,   &Patterns::hard_swish, &Patterns::linear,
                           &Patterns::conv,   &Patterns::attention,  &Patterns::transposes,
                           &Patterns::affine, &Patterns::known_if,   &Patterns::folded};
  (this->*kAll[choices_.below(std::size(kAll))])();
  return !failed_;
}

}  // namespace tw::fuzz
