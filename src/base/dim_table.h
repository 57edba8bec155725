// dim_table.h: many expressions over the same symbols, made ready to be evaluated together and
// often: a symbol is an index, and a function that several expressions share is worked out once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/dim.h"

namespace tw {

/// Immutable; copies share what they hold.
class DimTable {
 public:
  DimTable() = default;
  DimTable(std::vector<Dim> dims, std::vector<std::string> symbols);

  /// The expressions as they were given.
  const std::vector<Dim>& dims() const;
  size_t size() const { return dims().size(); }
  const Dim& operator[](size_t i) const { return dims()[i]; }

  /// The value of each expression when symbol i stands for values[i]. Fails as Dim::evaluate does.
  Result<std::vector<int64_t>> evaluate(const std::vector<int64_t>& values) const;

 private:
  struct Body;
  std::shared_ptr<const Body> body_;
};

}  // namespace tw
