// models.h: small models and inputs in a test's folder.
#pragma once

#include <string>

#include "process.h"

namespace tw::cli_test {

/// y = relu(x w + b), x f32[batch, 4], y f32[batch, N].
std::string write_mlp(const TempFolder& folder);
/// input_ids, attention_mask, token_type_ids i64[batch, sequence] -> total f32[batch, sequence],
/// their sum.
std::string write_text_model(const TempFolder& folder);
/// y = x w, w f32[rows, columns] in external data "weights.bin" of that many elements, a file
/// without contents (it may be larger than the disk); `with_data` false: without the file.
std::string write_external(const TempFolder& folder, int64_t rows, int64_t columns, bool with_data);
/// y = softmax(x a) softmax(x b), x f32[4, 4], a f32[4, 4], b f32[4, 8]: two branches that meet, so
/// that its program has waits.
std::string write_branches(const TempFolder& folder);
/// y f32[1] = the largest of a b, a f32[n, 1], b f32[1, n]: an arena of 4 n n bytes from inputs of
/// 4 n.
std::string write_outer_product(const TempFolder& folder);
/// y = relu(x), x f32[n, 3, h, w]: an image model that changes no pixel.
std::string write_relu(const TempFolder& folder);
/// A Loop over two carried values; see onnx::loop_model.
std::string write_loop(const TempFolder& folder);
/// A plan of write_mlp's model.
std::string build_mlp(const TempFolder& folder);
/// A .npy of these elements, i / 8 each; "f32", "i64" ...
std::string write_npy(const TempFolder& folder, const std::string& name, const std::string& dtype,
                      const std::vector<int64_t>& dims);
/// A .npy of one i64 without dims.
std::string write_scalar(const TempFolder& folder, const std::string& name, int64_t value);

}  // namespace tw::cli_test
