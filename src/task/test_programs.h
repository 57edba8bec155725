// test_programs.h: small drafts for tests, and short ways to say what a test needs.
#pragma once

#include <gtest/gtest.h>

#include "task/program.h"

namespace tw::task {

/// Makes drafts slot by slot; everything is f32 unless said.
class DraftBuilder {
 public:
  SlotId root(Space space, std::vector<Dim> dims, std::string name, DType dtype = DType::kF32);
  SlotId view(SlotId of, std::vector<Dim> dims, std::vector<Dim> strides, Dim offset = Dim(0));
  SlotId input(std::vector<Dim> dims, std::string name);
  SlotId output(std::vector<Dim> dims, std::string name);
  SlotId temp(std::vector<Dim> dims, std::string name) {
    return root(Space::kArena, std::move(dims), std::move(name));
  }
  template <class Task>
  void emit(const Task& task, std::string name) {
    draft.tasks.push_back({encode(task), std::move(name)});
  }
  /// y = relu(x) or, with `b`, x + b.
  void unary(SlotId x, SlotId y, const std::string& name);
  void add(SlotId a, SlotId b, SlotId y, const std::string& name);

  Draft draft;
};

/// A chain with branches that meet: five ops over [rows, 64], which reuse memory and need waits
/// across queues.
Draft diamond(const Dim& rows);
/// gemm, softmax over its rows, gemm: tiles of the second read many tiles of the first.
Draft two_gemms(int64_t rows);

template <class T>
T value_or_fail(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(result).take();
}

}  // namespace tw::task
