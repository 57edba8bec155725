// models.h: the real models that end-to-end tests run, and short ways from a file to a plan and its
// outputs.
#pragma once

#include <gtest/gtest.h>

#include "base/tensor.h"
#include "plan/plan.h"
#include "runtime/engine.h"

namespace tw::e2e {

struct Model {
  std::string file;                                    // below models/
  std::map<std::string, std::vector<int64_t>> shapes;  // of inputs; all sizes fixed
  std::map<std::string, int64_t> below;                // integer inputs: random values below this
};

/// MiniLM, the three OCR models, silero-vad with control flow and without, magika: at small sizes.
std::vector<Model> models();
bool is_there(const Model& model);

/// The plan at the model's sizes; workers as in CompileOptions. Ends the test program with the
/// error when there is none.
plan::Plan build(const Model& model, int workers);
/// Random inputs for a plan of `model`, from `seed`.
std::vector<Tensor> random_inputs(const Model& model, const plan::Plan& plan, uint64_t seed);

template <class T>
T value_or_fail(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(result).take();
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b);

}  // namespace tw::e2e
