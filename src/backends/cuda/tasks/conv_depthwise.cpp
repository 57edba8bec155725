// Depthwise convolutions: kernels/depthwise.cuh, with windows of 3 and 5 known at compile time.
#include <limits>

#include "backends/cuda/codegen/epilogue.h"
#include "backends/cuda/tasks/conv_window.h"
#include "base/cat.h"

namespace tw::cuda {
namespace {

constexpr int kThreads = 128;

/// Two spatial dims, small and dense along x: the window is a part of the source.
bool is_known_window(const WindowParams& w) {
  const bool odd = w.kernel[2] == 3 || w.kernel[2] == 5;
  return w.kernel[0] == 1 && w.pad[0] == 0 && w.in[0] == 1 && w.out[0] == 1 && odd &&
         w.kernel[1] == w.kernel[2] && w.stride[2] <= 2 && w.dilation[2] == 1;
}

struct Shape {
  bool known = false;
  int strip = 1, vector = 1;
  bool x_vectors = false, w_vectors = false;
};

/// Four pixels of a row share what they read, where there is work for every thread even so.
int strip_of(const WindowParams& w, int64_t pixels, int64_t vectors) {
  const int64_t lines = pixels / w.out[2], strips = (w.out[2] + 3) / 4;
  return lines * strips * vectors >= 132 * 256 ? 4 : 1;
}

std::string source_of(const EpilogueCode& epilogue, DType dtype, const WindowParams& w,
                      const Shape& shape) {
  const auto access = [](bool vectors) { return vectors ? "Access::kVector" : "Access::kStrided"; };
  return cat("#include \"base.cuh\"\n", epilogue.needs_points ? "#include \"points.cuh\"\n" : "",
             "#include \"gemm_params.h\"\n#include \"mma.cuh\"\n#include \"epilogue.cuh\"\n"
             "#include \"gemm_loaders.cuh\"\n#include \"conv.cuh\"\n#include "
             "\"depthwise.cuh\"\nusing Params = "
             "DepthwiseParams<",
             epilogue.extras.size(), ">;\n", epilogue.text,
             "inline constexpr DepthwiseConfig kConfig{", shape.known ? w.kernel[1] : 0, ", ",
             shape.known ? w.kernel[2] : 0, ", ", shape.known ? w.stride[2] : 1, ", ", shape.strip,
             ", ", shape.vector, ", ", access(shape.x_vectors), ", ", access(shape.w_vectors),
             "};\nextern \"C\" __global__ void __launch_bounds__(", kThreads,
             ")\ntw_kernel(const __grid_constant__ Params p) {\n  run_depthwise<",
             device_type(dtype), ", kConfig, Epilogue>(p);\n}\n");
}

/// Packed weights are [taps][channels].
void place_weights(DepthwiseParams<7>& p, const task::SlotInfo& w) {
  if (w.layout == task::Layout::kPanels) {
    p.w_channel = 1;
    p.w_taps[2] = p.n;
    p.w_taps[1] = p.w_taps[2] * p.window.kernel[2];
    p.w_taps[0] = p.w_taps[1] * p.window.kernel[1];
    return;
  }
  p.w_channel = w.strides[0];
  for (int d = 0; d < 3; ++d) p.w_taps[d] = p.window.w_space[d];
}

}  // namespace

Launches launch_depthwise(const task::ConvTask& task, const TaskView& view) {
  const task::SlotInfo &x = view.slot(task.x.id), &w = view.slot(task.w.id),
                       &y = view.slot(task.y.id);
  const EpilogueOperands operands{task.y.id, task.bias.id, task.extra, task.epilogue};
  const MatrixDims dims{y.shape(), 0, 1};
  const int64_t piece = 16 / size_bytes(x.dtype);
  const EpilogueCode epilogue = TRY(make_epilogue(view, operands, dims, piece));
  DepthwiseParams<7> p{};
  p.window = TRY(window_params(task, view));
  p.alpha = 1;
  p.n = static_cast<int>(dims.cols());
  p.multiplier = static_cast<int>(dims.cols() / task.groups);
  place_weights(p, w);

  Shape shape;
  shape.vector = epilogue.vector;
  shape.known = is_known_window(p.window);
  shape.x_vectors =
      p.multiplier == 1 && p.window.x_channel == 1 && pixel_alignment(x) % shape.vector == 0;
  shape.w_vectors = w.layout == task::Layout::kPanels;
  const int64_t vectors = p.n / shape.vector;
  if (shape.known) shape.strip = strip_of(p.window, dims.rows(), vectors);
  p.strips = (p.window.out[2] + shape.strip - 1) / shape.strip;
  const int64_t lines = dims.rows() / p.window.out[2];
  p.n_items = lines * p.strips * vectors;
  const int64_t blocks = (p.n_items + kThreads - 1) / kThreads;
  if (dims.rows() > std::numeric_limits<int32_t>::max() ||
      blocks > std::numeric_limits<int32_t>::max())
    return error(Code::kUnsupported, "a convolution of ", dims.rows(),
                 " pixels is larger than a grid");

  Launch launch = make_launch(source_of(epilogue, x.dtype, p.window, shape), p);
  point_at(launch, offsetof(DepthwiseParams<7>, x), task.x.id);
  point_at(launch, offsetof(DepthwiseParams<7>, w), task.w.id);
  finish_params(launch, p, epilogue, operands);
  launch.grid = {static_cast<uint32_t>(blocks), 1, 1};
  launch.threads = kThreads;
  return std::vector<Launch>{std::move(launch)};
}

}  // namespace tw::cuda
