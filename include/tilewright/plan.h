// plan.h: a compiled model. A plan is for one kind of machine and can be asked what it takes and
// gives.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/tensor.h"

namespace tilewright {

/// An input or output of a plan.
struct Port {
  std::string name;
  DType dtype = DType::kF32;
  /// A dim each: a number ("384"), or a size that stays open, a name or an expression over names
  /// ("batch", "2*seq + 1"). Equal names are equal sizes.
  std::vector<std::string> dims;
};

/// Immutable; copies share everything. Safe to use from several threads.
class Plan {
 public:
  /// Maps the file; weights stay in the mapping. Every checksum is checked and every program
  /// proved. Fails with kNotFound, kCorrupt (damaged), or kIncompatible (of another format
  /// version).
  static Result<Plan> load(const std::string& path);
  /// Writes crash-safely: on any failure (a full disk) the file that was at `path` stays. Equal
  /// plans give equal bytes.
  Result<void> save(const std::string& path) const;

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  /// What the plan was made for: "target", "builder", "precision", "shapes" ...; "" for a key it
  /// does not have.
  std::string_view contract(std::string_view key) const;
  /// What the compiler did and what declined, a sentence each.
  const std::vector<std::string>& reports() const;
  int64_t weights_bytes() const;
  /// Tasks of all its programs, at the sizes that it was made with.
  int64_t tasks() const;

  struct Impl;  // of the library
  explicit Plan(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace tilewright
