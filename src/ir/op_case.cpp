#include "ir/op_case.h"

#include <random>

#include "ir/infer.h"
#include "ir/op_def.h"

namespace tw::ir {
namespace {

/// A reader of the case grammar in op_case.h. Cases are our own text, yet a mistake in one gets a
/// sentence too.
class CaseReader {
 public:
  CaseReader(std::string_view text, uint64_t seed) : text_(text), random_(seed) {}

  Result<void> read_inputs(OpCase& out, Node& node) {
    for (skip(); at_ < text_.size() && text_[at_] != ';'; skip()) {
      if (take('-')) {
        node.inputs.push_back(kNoValue);
        continue;
      }
      TRY(read_input(out, node));
    }
    return {};
  }

  Result<void> read_attrs(Node& node, size_t& n_outputs) {
    if (!take(';')) return {};
    for (skip(); at_ < text_.size(); skip()) {
      const std::string name = word();
      if (name.empty() || !take('=')) return fail("attribute=value");
      Attr value = TRY(read_attr());
      if (name == "outputs")
        n_outputs = static_cast<size_t>(std::get<int64_t>(value));
      else
        node.attrs[name] = std::move(value);
    }
    return {};
  }

 private:
  Result<void> read_input(OpCase& out, Node& node) {
    const auto dtype = find_dtype(word());
    if (!dtype) return fail("a dtype or '-'");
    const std::string name = cat("in", node.inputs.size());
    if (at_ < text_.size() && text_[at_] == '[') {
      Dims dims;
      for (const double value : TRY(list('[', ']'))) dims.push_back(static_cast<int64_t>(value));
      Tensor tensor = TRY(Tensor::try_make(*dtype, dims));
      TRY(fill(tensor));
      Value value;
      value.name = name;
      value.type = {*dtype, to_shape(dims)};
      const ValueId id = out.graph.add_value(std::move(value));
      out.graph.inputs.push_back(id);
      out.inputs.push_back(std::move(tensor));
      node.inputs.push_back(id);
      return {};
    }
    const bool scalar = at_ < text_.size() && text_[at_] == '(';
    const std::vector<double> values = TRY(scalar ? list('(', ')') : list('{', '}'));
    Dims dims;
    if (!scalar) dims.push_back(static_cast<int64_t>(values.size()));
    Tensor tensor = TRY(Tensor::try_make(*dtype, dims));
    for (size_t i = 0; i < values.size(); ++i) tensor.set_float(static_cast<int64_t>(i), values[i]);
    node.inputs.push_back(out.graph.add_constant(name, std::move(tensor)));
    return {};
  }

  Result<void> fill(Tensor& tensor) {
    double below = 100, scale = 1;
    bool positive = false;
    if (take('<'))
      below = TRY(number());
    else if (take('>'))
      positive = TRY(number()) == 0;
    else if (take('*'))
      scale = TRY(number());
    for (int64_t i = 0; i < tensor.count(); ++i) {
      const double unit = std::uniform_real_distribution<double>(0, 1)(random_);
      if (tensor.dtype() == DType::kBool)
        tensor.set_int(i, unit < 0.5 ? 0 : 1);
      else if (is_int(tensor.dtype()))
        tensor.set_int(i, static_cast<int64_t>(unit * below));
      else
        tensor.set_float(i, positive ? 0.1 + 1.9 * unit : scale * (2 * unit - 1));
    }
    return {};
  }

  Result<Attr> read_attr() {
    if (take('"')) {
      const size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) return fail("a closing '\"'");
      std::string value(text_.substr(at_, end - at_));
      at_ = end + 1;
      return Attr(std::move(value));
    }
    if (at_ < text_.size() && text_[at_] == '[') {
      const std::vector<double> values = TRY(list('[', ']'));
      if (saw_point_) return Attr(values);
      std::vector<int64_t> ints;
      for (const double value : values) ints.push_back(static_cast<int64_t>(value));
      return Attr(std::move(ints));
    }
    saw_point_ = false;
    const double value = TRY(number());
    return saw_point_ ? Attr(value) : Attr(static_cast<int64_t>(value));
  }

  Result<std::vector<double>> list(char open, char close) {
    std::vector<double> values;
    saw_point_ = false;
    if (!take(open)) return fail(cat("'", std::string(1, open), "'"));
    while (!take(close)) {
      values.push_back(TRY(number()));
      take(',');
    }
    return values;
  }

  Result<double> number() {
    double value = 0;
    const auto [end, status] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) return fail("a number");
    const auto length = static_cast<size_t>(end - (text_.data() + at_));
    saw_point_ =
        saw_point_ || text_.substr(at_, length).find_first_of(".enai") != std::string_view::npos;
    at_ += length;
    return value;
  }

  std::string word() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Error fail(std::string_view expected) const {
    return error(Code::kInvalidArgument, "case '", text_, "' at character ", at_ + 1, ": expected ",
                 expected);
  }

  std::string_view text_;
  size_t at_ = 0;
  bool saw_point_ = false;
  std::mt19937_64 random_;
};

}  // namespace

Result<OpCase> make_case(const OpDef& op, std::string_view text, uint64_t seed) {
  OpCase out;
  out.graph.name = op.name;
  Node node;
  node.op = &op;
  node.name = op.name;
  size_t n_outputs = 1;
  CaseReader reader(text, seed);
  TRY(reader.read_inputs(out, node));
  TRY(reader.read_attrs(node, n_outputs));
  for (size_t i = 0; i < n_outputs; ++i) {
    Value value;
    value.name = cat("out", i);
    node.outputs.push_back(out.graph.add_value(std::move(value)));
  }
  out.graph.outputs = node.outputs;
  TRY(infer_node(out.graph, node));
  out.graph.nodes.push_back(std::move(node));
  return out;
}

}  // namespace tw::ir
