#include "backends/cpu/build/pack.h"

#include "backends/cpu/conv_weights.h"

namespace tw::cpu {
namespace {

PackedWeight room_for(int64_t n_floats) {
  return {std::vector<std::byte>(static_cast<size_t>(n_floats) * sizeof(float))};
}

float* floats(PackedWeight& weight) { return reinterpret_cast<float*>(weight.bytes.data()); }

}  // namespace

Result<PackedWeight> pack_gemm_b(const Tensor& b, bool transposed, Isa isa) {
  if (b.rank() != 2 || b.dtype() != DType::kF32) {
    return error(Code::kUnsupported, "gemm weight is ", b.type_text(),
                 ", expected two dims of f32");
  }
  const Kernels& k = kernels(isa);
  const int64_t rows = b.dims()[0], cols = b.dims()[1];
  const int64_t depth = transposed ? cols : rows, n = transposed ? rows : cols;
  PackedWeight packed = room_for(k.packed_b_elems(depth, n));
  k.pack_b(b.as<float>(), transposed ? 1 : cols, transposed ? cols : 1, depth, n, floats(packed));
  return packed;
}

Result<PackedWeight> pack_conv_w(const Tensor& w, int64_t groups, Isa isa) {
  if (w.rank() < 3 || w.dtype() != DType::kF32) {
    return error(Code::kUnsupported, "conv weight is ", w.type_text(),
                 ", expected three or more dims of f32");
  }
  if (groups < 1 || w.dims()[0] % groups != 0) {
    return error(Code::kUnsupported, "conv weight of ", w.dims()[0],
                 " output channels, expected a multiple of ", groups, " groups");
  }
  const Kernels& k = kernels(isa);
  const ConvShape shape(w.dims(), groups);
  Window window{const_cast<std::byte*>(w.data()), w.dtype(), w.dims(), {}};
  int64_t stride = sizeof(float);
  window.strides.resize(w.dims().size());
  for (size_t d = w.dims().size(); d-- > 0;) {
    window.strides[d] = stride;
    stride *= w.dims()[d];
  }
  PackedWeight packed = room_for(shape.packed_elems(k));
  pack_conv_weights(k, window, shape, floats(packed));
  return packed;
}

}  // namespace tw::cpu
