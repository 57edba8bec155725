// A decode step of an 8B-shaped Llama, batch 1, as tiles for the workers of a GPU: built and
// proved; no weight is made or run.
#include "task/program.h"
#include "task/test_programs.h"

namespace tw::e2e {
namespace {

using task::SlotId;
using task::Space;

struct Shape {
  int layers = 32;
  int64_t width = 4096, heads = 32, kv_heads = 8, head = 128, hidden = 14336, vocabulary = 128256,
          context = 1024;
};

/// One token through all layers: rms norms, projections, attention over the cached keys and values,
/// gated MLP, head.
class Decode {
 public:
  explicit Decode(const Shape& shape) : s_(shape) {}

  task::Draft make() {
    SlotId x = b_.input({Dim(1), Dim(s_.width)}, "embedding");
    for (int layer = 0; layer < s_.layers; ++layer) x = mlp(attention(x));
    const SlotId logits = b_.output({Dim(1), Dim(s_.vocabulary)}, "logits");
    gemm(norm(x), logits, s_.width, s_.vocabulary);
    return b_.draft;
  }

 private:
  SlotId row(int64_t n) { return b_.temp({Dim(1), Dim(n)}, "row"); }
  SlotId weight(std::vector<Dim> dims) {
    const SlotId id = b_.root(Space::kWeight, std::move(dims), "weight");
    b_.draft.slots[task::index(id)].info.offset_bytes = weights_;
    weights_ += b_.draft.slots[task::index(id)].storage_bytes.constant();
    return id;
  }
  SlotId norm(SlotId x) {
    task::NormTask task;
    task.kind = task::NormTask::Kind::kRms;
    task.x.id = x, task.scale.id = weight({Dim(s_.width)}), task.y.id = row(s_.width);
    b_.emit(task, "norm");
    return task.y.id;
  }
  void gemm(SlotId a, SlotId c, int64_t k, int64_t n) {
    task::GemmTask task;
    task.a.id = a, task.b.id = weight({Dim(n), Dim(k)}), task.c.id = c;
    task.transpose_b = 1;
    task.tile_cols = 128;
    b_.emit(task, "gemm");
  }
  SlotId heads(SlotId of, int64_t first, int64_t n) {
    return b_.view(of, {Dim(1), Dim(1), Dim(n), Dim(s_.head)},
                   {Dim(1), Dim(1), Dim(s_.head), Dim(1)}, Dim(first));
  }
  SlotId attention(SlotId x) {
    const int64_t q = s_.heads * s_.head, kv = s_.kv_heads * s_.head;
    const SlotId qkv = row(q + 2 * kv);
    gemm(norm(x), qkv, s_.width, q + 2 * kv);
    // The cache holds what came before; the new key and value are its last rows, written in this
    // step's own copy of the last page.
    std::vector<SlotId> cached;
    for (int part = 0; part < 2; ++part) {
      const SlotId page =
          b_.temp({Dim(1), Dim(s_.context), Dim(s_.kv_heads), Dim(s_.head)}, "page");
      const Dim last((s_.context - 1) * kv);
      const SlotId old =
          b_.input({Dim(1), Dim(s_.context - 1), Dim(s_.kv_heads), Dim(s_.head)}, "cache");
      const std::vector<Dim> strides{Dim(s_.context * kv), Dim(kv), Dim(s_.head), Dim(1)};
      b_.emit(task::CopyTask{{old},
                             {b_.view(page,
                                      {Dim(1), Dim(s_.context - 1), Dim(s_.kv_heads), Dim(s_.head)},
                                      strides, Dim(0))}},
              "cached");
      b_.emit(task::CopyTask{{heads(qkv, q + part * kv, s_.kv_heads)},
                             {b_.view(page, {Dim(1), Dim(1), Dim(s_.kv_heads), Dim(s_.head)},
                                      strides, last)}},
              "append");
      cached.push_back(page);
    }
    const SlotId mixed = row(q);
    task::AttentionTask task;
    task.q.id = heads(qkv, 0, s_.heads), task.k.id = cached[0], task.v.id = cached[1],
    task.y.id = heads(mixed, 0, s_.heads);
    task.scale = 0.08838834764F;
    b_.emit(task, "attention");
    const SlotId out = row(s_.width), sum = row(s_.width);
    gemm(mixed, out, q, s_.width);
    b_.add(x, out, sum, "residual");
    return sum;
  }
  SlotId mlp(SlotId x) {
    const SlotId normed = norm(x), gate = row(s_.hidden), up = row(s_.hidden),
                 both = row(s_.hidden), down = row(s_.width), sum = row(s_.width);
    gemm(normed, gate, s_.width, s_.hidden);
    gemm(normed, up, s_.width, s_.hidden);
    b_.add(gate, up, both, "gated");
    gemm(both, down, s_.hidden, s_.width);
    b_.add(x, down, sum, "residual");
    return sum;
  }

  Shape s_;
  task::DraftBuilder b_;
  int64_t weights_ = 0;
};

TEST(Llama, ADecodeStepOfAnEightBillionShapeIsProvedForEveryWorkerCount) {
  for (const int workers : {8, 132}) {
    task::BuildOptions options;
    options.workers = workers;
    options.queue_kind = task::QueueKind::kSm;
    const task::Program program =
        task::value_or_fail(task::build_program(Decode(Shape{}).make(), {}, {}, options));
    EXPECT_EQ(program.queues.size(), static_cast<size_t>(workers));
    EXPECT_TRUE(task::verify(program).ok());
    std::printf("%d workers: %zu tasks, %u counters, arena %ld KiB\n", workers,
                program.records.size(), program.n_counters,
                static_cast<long>(program.arena_bytes / 1024));
  }
}

}  // namespace
}  // namespace tw::e2e
