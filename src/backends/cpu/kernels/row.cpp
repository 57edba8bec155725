// row.cpp: softmax and the normalisations of one row. Sums go in the order of lanes.h.
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/vec/lanes.h"
#include "backends/cpu/kernels/vec/vector_math.h"

namespace tw::cpu::TW_ISA {
namespace {

F32 load_part(const float* p, int64_t count) {
  return count == kLanes ? load(p) : load_n(p, count);
}

void store_part(float* p, F32 v, int64_t count) {
  if (count == kLanes) {
    store(p, v);
  } else {
    store_n(p, v, count);
  }
}

float max_of(const float* x, int64_t n) {
  return reduce(
      x, n, -__builtin_inff(), [](F32 v) { return v; }, [](F32 a, F32 b) { return max_nan(a, b); });
}

/// sum of f(x[i]); f's values are stored to y where it is not null.
template <class F>
float sum_of(const float* x, float* y, int64_t n, F f) {
  F32 lanes[kLaneVectors];
  for (F32& lane : lanes) lane = zero();
  for_lanes(n, [&](int v, int64_t i, int64_t count) {
    const F32 value = f(load_part(x + i, count));
    if (y != nullptr) store_part(y + i, value, count);
    lanes[v] = count == kLanes ? add(lanes[v], value)
                               : select(first_mask(count), add(lanes[v], value), lanes[v]);
  });
  return fold(lanes, [](F32 a, F32 b) { return add(a, b); });
}

/// log of one number by the vector function.
float log_of(float x) { return first(log(set1(x))); }

/// y = (x - mean) * factor, times gamma, plus beta where they are given.
void scale_row(const float* x, float mean, float factor, const float* gamma, const float* beta,
               float* y, int64_t n) {
  const F32 centre = set1(mean), scale = set1(factor);
  for_lanes(n, [&](int, int64_t i, int64_t count) {
    F32 v = mul(sub(load_part(x + i, count), centre), scale);
    if (gamma != nullptr) v = mul(v, load_part(gamma + i, count));
    if (beta != nullptr) v = add(v, load_part(beta + i, count));
    store_part(y + i, v, count);
  });
}

void softmax(const float* x, const float* mask, float scale, float* y, int64_t n) {
  const F32 factor = set1(scale);
  if (mask != nullptr) {
    map2(x, mask, y, n, [=](F32 v, F32 m) { return fma(v, factor, m); });
  } else {
    map1(x, y, n, [=](F32 v) { return mul(v, factor); });
  }
  const F32 top = set1(max_of(y, n));
  const float sum = sum_of(y, y, n, [=](F32 v) { return exp(sub(v, top)); });
  const F32 share = set1(1.0f / sum);
  map1(y, y, n, [=](F32 v) { return mul(v, share); });
}

void log_softmax(const float* x, float* y, int64_t n) {
  const F32 top = set1(max_of(x, n));
  const float sum = sum_of(x, nullptr, n, [=](F32 v) { return exp(sub(v, top)); });
  const F32 log_sum = set1(log_of(sum));
  map1(x, y, n, [=](F32 v) { return sub(sub(v, top), log_sum); });
}

void layer_norm(const float* x, const float* gamma, const float* beta, float eps, float* y,
                int64_t n) {
  const float mean = sum_of(x, nullptr, n, [](F32 v) { return v; }) / float(n);
  const F32 centre = set1(mean);
  const float squares = sum_of(x, nullptr, n, [=](F32 v) {
    const F32 d = sub(v, centre);
    return mul(d, d);
  });
  const float factor = 1.0f / __builtin_sqrtf(squares / float(n) + eps);
  scale_row(x, mean, factor, gamma, beta, y, n);
}

void rms_norm(const float* x, const float* gamma, float eps, float* y, int64_t n) {
  const float squares = sum_of(x, nullptr, n, [](F32 v) { return mul(v, v); });
  const float factor = 1.0f / __builtin_sqrtf(squares / float(n) + eps);
  scale_row(x, 0.0f, factor, gamma, nullptr, y, n);
}

}  // namespace

RowKernels row_kernels() {
  return {.softmax = softmax,
          .log_softmax = log_softmax,
          .layer_norm = layer_norm,
          .rms_norm = rms_norm};
}

}  // namespace tw::cpu::TW_ISA
