#include <cstdio>
#include <vector>

#include "tilewright/engine.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto plan = tilewright::Plan::load(argv[1]);
  if (!plan.ok()) return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 1;
  const auto engine = tilewright::Engine::create(*plan, {.threads = 1});
  if (!engine.ok()) return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;
  std::vector<tilewright::Tensor> inputs;
  for (const tilewright::Port& port : plan->inputs()) inputs.push_back(*tilewright::Tensor::create(port.dtype, std::vector<int64_t>(port.dims.size(), 2)));
  const auto outputs = engine->create_context().run(inputs);
  if (!outputs.ok()) return std::fprintf(stderr, "%s\n", outputs.error().message.c_str()), 1;
  std::printf("%zu outputs, the first is %s\n", outputs->size(), (*outputs)[0].type_text().c_str());
}
