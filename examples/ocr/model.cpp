#include "model.h"

#include <chrono>
#include <utility>

namespace ocr {

using tilewright::Code;
using tilewright::DType;
using tilewright::Error;
using tilewright::Result;
using tilewright::Tensor;

Model::Model(std::string name, tilewright::Engine engine)
    : name_(std::move(name)), engine_(std::move(engine)), context_(engine_.create_context()) {}

Result<Model> Model::load(const std::string& name, const std::string& path,
                          const tilewright::EngineOptions& options) {
  const Result<tilewright::Plan> plan = tilewright::Plan::load(path);
  if (!plan) return Error{plan.error().code, path + ": " + plan.error().message};
  if (plan->inputs().size() != 1 || plan->outputs().size() != 1 ||
      plan->inputs()[0].dtype != DType::kF32 || plan->outputs()[0].dtype != DType::kF32)
    return Error{Code::kInvalidModel, path + ": not a model of one f32 input and one f32 output"};
  Result<tilewright::Engine> engine = tilewright::Engine::create(*plan, options);
  if (!engine) return Error{engine.error().code, path + ": " + engine.error().message};
  return Model(name, std::move(*engine));
}

Result<Tensor> Model::run(const Tensor& input) {
  const auto start = std::chrono::steady_clock::now();
  Result<std::vector<Tensor>> outputs = context_.run({input});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  if (!outputs) return Error{outputs.error().code, name_ + ": " + outputs.error().message};
  run_ms_.push_back(took.count());
  return std::move(outputs->front());
}

Result<Tensor> make_batch(size_t count, int height, int width) {
  return Tensor::create(DType::kF32, {static_cast<int64_t>(count), 3, height, width});
}

void put_picture(const Image& image, size_t row, Tensor& batch) {
  const auto height = size_t(batch.dims()[2]), width = size_t(batch.dims()[3]);
  float* planes = batch.as<float>() + row * 3 * height * width;
  for (size_t c = 0; c < 3; ++c)
    for (int y = 0; y < image.height; ++y) {
      float* out = planes + (c * height + size_t(y)) * width;
      const uint8_t* in = image.pixel(0, y) + (2 - c);
      for (int x = 0; x < image.width; ++x) out[x] = (in[3 * x] / 255.0F - 0.5F) / 0.5F;
    }
}

}  // namespace ocr
