// The reader of Dim's text form: sums of products of numbers, symbols and function calls.
#include <cctype>

#include "base/dim.h"

namespace tw {
namespace {

constexpr int kMaxDepth = 64;  // nested calls; text comes from files

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Dim> parse() {
    Dim dim = TRY(sum(0));
    if (peek() != '\0') return fail("end of expression");
    return dim;
  }

 private:
  Result<Dim> sum(int depth) {
    if (depth > kMaxDepth) return fail("fewer nested calls");
    const bool negative = take('-');
    Dim total = TRY(product(depth));
    if (negative) total = Dim(0) - total;
    for (;;) {
      if (take('+'))
        total = total + TRY(product(depth));
      else if (take('-'))
        total = total - TRY(product(depth));
      else
        return total;
    }
  }

  Result<Dim> product(int depth) {
    Dim total = TRY(factor(depth));
    while (take('*')) total = total * TRY(factor(depth));
    return total;
  }

  Result<Dim> factor(int depth) {
    const char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (take('(')) {
      Dim inner = TRY(sum(depth + 1));
      if (!take(')')) return fail("')'");
      return inner;
    }
    const std::string name = word();
    if (name.empty()) return fail("a number, a name or '('");
    if (!take('(')) return Dim::symbol(name);
    std::vector<Dim> arguments;
    do arguments.push_back(TRY(sum(depth + 1)));
    while (take(','));
    if (!take(')')) return fail("')'");
    return call(name, arguments);
  }

  Result<Dim> call(const std::string& name, const std::vector<Dim>& a) {
    if (a.size() == 2) {
      if (name == "floor_div") return floor_div(a[0], a[1]);
      if (name == "ceil_div") return ceil_div(a[0], a[1]);
      if (name == "mod") return mod(a[0], a[1]);
      if (name == "min") return min(a[0], a[1]);
      if (name == "max") return max(a[0], a[1]);
    }
    if (a.size() == 3 && name == "select") return select(a[0], a[1], a[2]);
    return fail(cat("a known function instead of ", name, " of ", a.size(), " arguments"));
  }

  Result<Dim> number() {
    int64_t value = 0;
    const auto [end, status] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) return fail("a number below 2^63");
    at_ = static_cast<size_t>(end - text_.data());
    return Dim(value);
  }

  std::string word() {
    peek();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' ||
            text_[at_] == '.' || text_[at_] == ':' || text_[at_] == '/'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Error fail(std::string_view expected) const {
    return error(Code::kInvalidArgument, "expression '", text_, "' at character ", at_ + 1,
                 ": expected ", expected);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<Dim> parse_dim(std::string_view text) { return Parser(text).parse(); }

}  // namespace tw
