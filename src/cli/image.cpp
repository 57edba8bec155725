#include "cli/image.h"

#include <png.h>
#include <turbojpeg.h>

#include <memory>

#include "base/memory.h"
#include "base/mmap.h"

namespace tw::cli {
namespace {

/// Rows of pixels, `channels` bytes each.
struct Pixels {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> bytes;
};

constexpr int64_t kMostPixels = int64_t{1}
                                << 28;  // against files that claim a size to exhaust memory

Result<void> allocate(Pixels& pixels) {
  if (pixels.width < 1 || pixels.height < 1 || pixels.width > kMostPixels / pixels.height)
    return error(Code::kUnsupported, "the image is ", pixels.width, "x", pixels.height,
                 ", expected at most ", kMostPixels, " pixels");
  TRY(check_memory(pixels.height * pixels.width * pixels.channels));
  pixels.bytes.resize(static_cast<size_t>(pixels.height * pixels.width * pixels.channels));
  return {};
}

Result<Pixels> decode_png(std::span<const std::byte> file, int64_t channels) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, decltype(&png_image_free)> owner(&image, png_image_free);
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0)
    return error(Code::kCorrupt, "not a readable PNG: ", static_cast<const char*>(image.message));
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  Pixels pixels{image.height, image.width, channels, {}};
  TRY(allocate(pixels));
  const png_color white = {255, 255, 255};  // behind transparent pixels
  if (png_image_finish_read(&image, &white, pixels.bytes.data(), 0, nullptr) == 0)
    return error(Code::kCorrupt, "not a readable PNG: ", static_cast<const char*>(image.message));
  return pixels;
}

Result<Pixels> decode_jpeg(std::span<const std::byte> file, int64_t channels) {
  const std::unique_ptr<void, decltype(&tjDestroy)> decoder(tjInitDecompress(), tjDestroy);
  if (!decoder) return error(Code::kOutOfMemory, "no memory for a JPEG decoder");
  const auto* data = reinterpret_cast<const unsigned char*>(file.data());
  int width = 0, height = 0, subsampling = 0, colorspace = 0;
  if (tjDecompressHeader3(decoder.get(), data, file.size(), &width, &height, &subsampling,
                          &colorspace) != 0)
    return error(Code::kCorrupt,
                 "not a readable JPEG: ", static_cast<const char*>(tjGetErrorStr2(decoder.get())));
  if (width < 1 || height < 1)  // the library takes a stream without a picture for a header
    return error(Code::kCorrupt, "not a readable JPEG: it ends before its picture");
  Pixels pixels{height, width, channels, {}};
  TRY(allocate(pixels));
  if (tjDecompress2(decoder.get(), data, file.size(), pixels.bytes.data(), width, 0, height,
                    channels == 1 ? TJPF_GRAY : TJPF_RGB, TJFLAG_ACCURATEDCT) != 0)
    return error(Code::kCorrupt,
                 "not a readable JPEG: ", static_cast<const char*>(tjGetErrorStr2(decoder.get())));
  return pixels;
}

double channel_value(const std::vector<double>& values, int64_t channel, double fallback) {
  if (values.empty()) return fallback;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

}  // namespace

Result<Tensor> read_image(const std::string& path, const plan::Port& port,
                          const ImageOptions& options) {
  const size_t rank = port.shape.size();
  if (rank != 3 && rank != 4)
    return error(Code::kInvalidArgument, "an image needs an input of 3 or 4 dims, input '",
                 port.name, "' has ", rank);
  const size_t channel_axis = options.nhwc ? rank - 1 : rank - 3;
  const int64_t channels = port.shape[channel_axis].known().value_or(3);
  if (channels != 1 && channels != 3)
    return error(Code::kInvalidArgument, "an image has 1 or 3 channels, input '", port.name,
                 "' wants ", channels);
  for (const auto* list : {&options.mean, &options.std})
    if (list->size() > 1 && static_cast<int64_t>(list->size()) != channels)
      return error(Code::kInvalidArgument, "found ", list->size(), " values for ", channels,
                   " channels");
  const auto file = TRY(MappedFile::open(path));
  const bool is_png = file->size() > 4 && std::memcmp(file->data(), "\x89PNG", 4) == 0;
  const Pixels pixels =
      TRY((is_png ? decode_png(file->bytes(), channels) : decode_jpeg(file->bytes(), channels))
              .in(cat("'", path, "'")));

  Dims dims;
  if (rank == 4) dims.push_back(1);
  if (options.nhwc)
    for (const int64_t dim : {pixels.height, pixels.width, channels}) dims.push_back(dim);
  else
    for (const int64_t dim : {channels, pixels.height, pixels.width}) dims.push_back(dim);
  Tensor tensor = TRY(Tensor::try_make(port.dtype, dims));
  const int64_t area = pixels.height * pixels.width;
  for (int64_t i = 0; i < area; ++i)
    for (int64_t c = 0; c < channels; ++c) {
      const double value =
          pixels.bytes[static_cast<size_t>(i * channels + (options.bgr ? channels - 1 - c : c))];
      const int64_t at = options.nhwc ? i * channels + c : c * area + i;
      if (!is_float(port.dtype))
        tensor.set_int(at, static_cast<int64_t>(value));
      else
        tensor.set_float(at, (value / 255 - channel_value(options.mean, c, 0)) /
                                 channel_value(options.std, c, 1));
    }
  return tensor;
}

}  // namespace tw::cli
