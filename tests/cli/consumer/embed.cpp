// A sentence encoder: compiled, saved as a plan, and run on one sentence of four tokens.
#include <cstdio>

#include "tilewright/tilewright.h"

using tilewright::Tensor;

int fail(const tilewright::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  tilewright::CompileOptions options;
  options.shapes = {{"input_ids", "NxS"}, {"attention_mask", "NxS"}, {"token_type_ids", "NxS"}};
  const auto plan = tilewright::compile_onnx(argv[1], options);
  if (!plan) return fail(plan.error());
  if (const auto saved = plan->save(argv[2]); !saved) return fail(saved.error());
  const auto engine = tilewright::Engine::create(*plan);
  if (!engine) return fail(engine.error());

  tilewright::Context context = engine->create_context();
  const auto ids = Tensor::from<int64_t>({1, 4}, {101, 7592, 2088, 102});
  const auto mask = Tensor::from<int64_t>({1, 4}, {1, 1, 1, 1});
  const auto types = Tensor::create(tilewright::DType::kI64, {1, 4});
  const auto outputs = context.run({*ids, *mask, *types});
  if (!outputs) return fail(outputs.error());
  for (const Tensor& output : *outputs)
    std::printf("%s, first element %g\n", output.type_text().c_str(), *output.as<float>());
}
