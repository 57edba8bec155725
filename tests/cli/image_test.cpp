// Pictures as inputs: .png and .jpg files made here, with libpng and libjpeg-turbo themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include "cli/image.h"
#include "cli/npy.h"
#include "models.h"

namespace tw::cli_test {
namespace {

constexpr int kWidth = 24, kHeight = 16;

/// Rows of RGB: a smooth picture, so that JPEG changes no value by much.
std::vector<uint8_t> pixels() {
  std::vector<uint8_t> rgb;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (const int value : {40 + 6 * x, 200 - 8 * y, 90 + 2 * x + 3 * y})
        rgb.push_back(static_cast<uint8_t>(value));
  return rgb;
}

std::string write_png(const TempFolder& folder) {
  const std::string path = folder.file("photo.png");
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = kWidth;
  image.height = kHeight;
  image.format = PNG_FORMAT_RGB;
  EXPECT_NE(png_image_write_to_file(&image, path.c_str(), 0, pixels().data(), 0, nullptr), 0);
  return path;
}

std::string jpeg_bytes() {
  const std::unique_ptr<void, decltype(&tjDestroy)> encoder(tjInitCompress(), tjDestroy);
  unsigned char* data = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): the library's type
  EXPECT_EQ(tjCompress2(encoder.get(), pixels().data(), kWidth, 0, kHeight, TJPF_RGB, &data, &size,
                        TJSAMP_444, 100, TJFLAG_ACCURATEDCT),
            0);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  tjFree(data);
  return bytes;
}

std::string write_jpeg(const TempFolder& folder, const std::string& name = "photo.jpg") {
  write_all(folder.file(name), jpeg_bytes());
  return folder.file(name);
}

plan::Port image_port(DType dtype, const char* layout) {
  plan::Port port{"x", dtype, {}};
  port.shape = layout == std::string("nhwc")
                   ? std::vector<Dim>{Dim(1), Dim::symbol("h"), Dim::symbol("w"), Dim(3)}
                   : std::vector<Dim>{Dim(1), Dim(3), Dim::symbol("h"), Dim::symbol("w")};
  return port;
}

/// The value of channel `c` at (y, x) of the picture that was written.
double pixel(int y, int x, int c) {
  return pixels()[static_cast<size_t>((y * kWidth + x) * 3 + c)];
}

TEST(Image, APngIsReadExactlyInAnyLayout) {
  const TempFolder folder;
  const std::string path = write_png(folder);
  const auto planes = cli::read_image(path, image_port(DType::kU8, "nchw"), {});
  const auto rows = cli::read_image(path, image_port(DType::kU8, "nhwc"), {.nhwc = true});
  ASSERT_TRUE(planes.ok() && rows.ok());
  EXPECT_EQ(planes.value().type_text(), "u8[1,3,16,24]");
  EXPECT_EQ(rows.value().type_text(), "u8[1,16,24,3]");
  EXPECT_EQ(planes.value().int_at((1 * kHeight + 5) * kWidth + 7), pixel(5, 7, 1));
  EXPECT_EQ(rows.value().int_at((5 * kWidth + 7) * 3 + 1), pixel(5, 7, 1));
}

TEST(Image, FloatsAreScaledThenShiftedThenDivided) {
  const TempFolder folder;
  const auto read = cli::read_image(write_png(folder), image_port(DType::kF32, "nchw"),
                                    {.mean = {0.5, 0.25, 0}, .std = {2, 1, 4}, .bgr = true});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FLOAT_EQ(static_cast<float>(read.value().float_at(5 * kWidth + 7)),
                  static_cast<float>((pixel(5, 7, 2) / 255 - 0.5) / 2));
}

TEST(Image, AJpegIsReadAsNearAsItsCodingAllows) {
  const TempFolder folder;
  const auto read = cli::read_image(write_jpeg(folder), image_port(DType::kU8, "nchw"), {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().type_text(), "u8[1,3,16,24]");
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        // Quality 100: coefficients and two colour conversions round to integers, about 1 each.
        EXPECT_NEAR(static_cast<double>(read.value().int_at((c * kHeight + y) * kWidth + x)),
                    pixel(y, x, c), 3);
}

TEST(Image, RunTakesAJpegByAnyOfItsNames) {
  const TempFolder folder;
  const std::string model = write_relu(folder);
  const auto read = cli::read_image(write_jpeg(folder), image_port(DType::kF32, "nchw"), {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  for (const char* name : {"photo.jpg", "photo.jpeg", "PHOTO.JPG"}) {
    const Finished finished =
        tilewright({"run", model, "--shapes", "x:1x3xHxW", "--input", write_jpeg(folder, name),
                    "--output-dir", folder.file("out"), "--quiet"});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    const auto output = cli::read_npy(folder.file("out/y.npy"));
    ASSERT_TRUE(output.ok()) << output.error().message;
    ASSERT_EQ(output.value().type_text(), "f32[1,3,16,24]");
    EXPECT_EQ(std::memcmp(output.value().data(), read.value().data(),
                          static_cast<size_t>(read.value().bytes())),
              0);
  }
}

TEST(Image, ADamagedJpegIsRefusedWithItsName) {
  const TempFolder folder;
  const std::string model = write_relu(folder), whole = jpeg_bytes();
  for (const std::string& bytes :
       {whole.substr(0, 20), std::string("not a picture"), std::string()}) {
    write_all(folder.file("bad.jpg"), bytes);
    expect_refused_with(tilewright({"run", model, "--shapes", "x:1x3xHxW", "--input",
                                    folder.file("bad.jpg"), "--quiet"}),
                        {"input 'x'", "bad.jpg", "not a readable JPEG"});
  }
}

}  // namespace
}  // namespace tw::cli_test
