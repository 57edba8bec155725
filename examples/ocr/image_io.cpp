#include "image_io.h"

#include <png.h>
#include <turbojpeg.h>

#include <fstream>
#include <iterator>
#include <memory>

namespace ocr {
namespace {

using tilewright::Code;
using tilewright::Error;
using tilewright::Result;

constexpr int64_t kMostPixels = int64_t{1}
                                << 28;  // against files that claim a size to exhaust memory

Result<Image> make_image(int64_t width, int64_t height) {
  if (width < 1 || height < 1 || width > kMostPixels / height)
    return Error{Code::kUnsupported, "the picture is " + std::to_string(width) + "x" +
                                         std::to_string(height) + ", expected at most " +
                                         std::to_string(kMostPixels) + " pixels"};
  return Image(static_cast<int>(width), static_cast<int>(height));
}

Result<Image> decode_png(const std::string& file) {
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, decltype(&png_image_free)> owner(&header, png_image_free);
  const auto not_readable = [&header] {
    return Error{Code::kCorrupt, std::string("not a readable PNG: ") + header.message};
  };
  if (png_image_begin_read_from_memory(&header, file.data(), file.size()) == 0)
    return not_readable();
  header.format = PNG_FORMAT_RGB;
  Result<Image> image = make_image(header.width, header.height);
  if (!image) return image;
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&header, &white, image->bytes.data(), 0, nullptr) == 0)
    return not_readable();
  return image;
}

Result<Image> decode_jpeg(const std::string& file) {
  const std::unique_ptr<void, decltype(&tjDestroy)> decoder(tjInitDecompress(), tjDestroy);
  if (!decoder) return Error{Code::kOutOfMemory, "no memory for a JPEG decoder"};
  const auto not_readable = [&decoder] {
    const char* why = tjGetErrorStr2(decoder.get());
    return Error{Code::kCorrupt, std::string("not a readable PNG or JPEG: ") + why};
  };
  const auto* data = reinterpret_cast<const unsigned char*>(file.data());
  int width = 0, height = 0, subsampling = 0, colorspace = 0;
  if (tjDecompressHeader3(decoder.get(), data, file.size(), &width, &height, &subsampling,
                          &colorspace) != 0)
    return not_readable();
  Result<Image> image = make_image(width, height);
  if (!image) return image;
  if (tjDecompress2(decoder.get(), data, file.size(), image->bytes.data(), width, 0, height,
                    TJPF_RGB, TJFLAG_ACCURATEDCT) != 0)
    return not_readable();
  return image;
}

}  // namespace

Result<Image> read_image(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error{Code::kNotFound, "cannot open '" + path + "'"};
  const std::string file(std::istreambuf_iterator<char>(stream), {});
  Result<Image> image = file.starts_with("\x89PNG") ? decode_png(file) : decode_jpeg(file);
  if (!image) return Error{image.error().code, "'" + path + "': " + image.error().message};
  return image;
}

Result<void> write_png(const Image& image, const std::string& path) {
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  header.format = PNG_FORMAT_RGB;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  if (png_image_write_to_file(&header, path.c_str(), 0, image.bytes.data(), 0, nullptr) == 0)
    return Error{Code::kIo, "cannot write '" + path + "': " + header.message};
  return {};
}

}  // namespace ocr
