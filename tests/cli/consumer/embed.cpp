#include <cstdint>
#include <cstdio>
#include <vector>

#include "tilewright/tilewright.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  tilewright::CompileOptions options;
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"}) options.shapes[name] = "NxS";
  const auto plan = tilewright::compile_onnx(argv[1], options);
  if (!plan.ok()) return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 1;
  if (const auto saved = plan->save(argv[2]); !saved.ok()) return std::fprintf(stderr, "%s\n", saved.error().message.c_str()), 1;
  const auto engine = tilewright::Engine::create(*plan);
  if (!engine.ok()) return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;
  tilewright::Context context = engine->create_context();
  const auto ids = tilewright::Tensor::from<int64_t>({1, 4}, {5, 6, 7, 8});
  const auto mask = tilewright::Tensor::from<int64_t>({1, 4}, {1, 1, 1, 1});
  const auto types = tilewright::Tensor::from<int64_t>({1, 4}, {0, 0, 0, 0});
  const auto outputs = context.run({*ids, *mask, *types});
  if (!outputs.ok()) return std::fprintf(stderr, "%s\n", outputs.error().message.c_str()), 1;
  for (size_t i = 0; i < outputs->size(); ++i) std::printf("%s %s %g\n", plan->outputs()[i].name.c_str(), (*outputs)[i].type_text().c_str(), double{(*outputs)[i].as<float>()[0]});
}
