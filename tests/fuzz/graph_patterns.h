// graph_patterns.h: arrangements of nodes that some pass rewrites, as exporters write them and a
// little off.
#pragma once

#include "graph_make.h"

namespace tw::fuzz {

class Patterns {
 public:
  explicit Patterns(GraphMaker& maker) : maker_(maker), choices_(maker.choices_) {}

  /// One of them on a value that is there or an input of its own; false where it did not fit.
  bool add();

 private:
  using Id = ir::ValueId;
  Id random_input(const Dims& dims);
  Id value(const Dims& own_dims);
  Id weights(const Dims& dims);
  Id scalar(double number);
  Id op(std::string_view name, std::vector<Id> inputs, ir::Attrs attrs = {});
  Id commuted(std::string_view name, Id a, Id b);
  Id unary(Id x);

  void gelu();
  void hard_swish();
  void linear();
  void attention();
  void conv();
  void transposes();
  void affine();
  void known_if();
  void folded();

  GraphMaker& maker_;
  Choices& choices_;
  bool failed_ = false;
};

}  // namespace tw::fuzz
