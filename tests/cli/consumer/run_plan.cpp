// Runs a plan on zeros, with every open size 2.
#include <cstdio>
#include <cstdlib>

#include "tilewright/engine.h"

int fail(const tilewright::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto plan = tilewright::Plan::load(argv[1]);
  if (!plan) return fail(plan.error());
  const auto engine = tilewright::Engine::create(*plan, {.threads = 1});
  if (!engine) return fail(engine.error());
  std::vector<tilewright::Tensor> inputs;
  for (const tilewright::Port& port : plan->inputs()) {
    std::vector<int64_t> dims;
    for (const std::string& dim : port.dims) {
      const int64_t size = std::atoll(dim.c_str());
      dims.push_back(size > 0 ? size : 2);
    }
    inputs.push_back(*tilewright::Tensor::create(port.dtype, dims));
  }
  const auto outputs = engine->create_context().run(inputs);
  if (!outputs) return fail(outputs.error());
  std::printf("%zu outputs, the first is %s\n", outputs->size(),
              outputs->at(0).type_text().c_str());
}
