// model.h: a plan that is ready to run, and the record of its runs.
#pragma once

#include <string>
#include <vector>

#include "image.h"
#include "tilewright/engine.h"

namespace ocr {

/// One input, one output, both f32. One run at a time.
class Model {
 public:
  /// Loads the plan in the file `path`.
  static tilewright::Result<Model> load(const std::string& name, const std::string& path,
                                        const tilewright::EngineOptions& options);

  tilewright::Result<tilewright::Tensor> run(const tilewright::Tensor& input);

  const std::string& name() const { return name_; }
  const tilewright::Plan& plan() const { return engine_.plan(); }
  int64_t arena_bytes() const { return context_.arena_bytes(); }
  /// How long each run took, in order.
  const std::vector<double>& run_ms() const { return run_ms_; }

 private:
  Model(std::string name, tilewright::Engine engine);

  std::string name_;
  tilewright::Engine engine_;
  tilewright::Context context_;
  std::vector<double> run_ms_;
};

/// Zeros of [count, 3, height, width].
tilewright::Result<tilewright::Tensor> make_batch(size_t count, int height, int width);

/// Puts a picture, values from -1 to 1 and blue first, at the left of a batch's row; both are
/// equally high. What lies right of the picture stays.
void put_picture(const Image& image, size_t row, tilewright::Tensor& batch);

}  // namespace ocr
