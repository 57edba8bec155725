// inputs.h: from --input arguments to the tensors of a run.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/shapes.h"
#include "cli/args.h"
#include "cli/image.h"

namespace tw::cli {

class Console;

/// --input, --shapes and the image options: every command that runs a model has them.
inline constexpr Option kInputOption = {
    .name = "--input",
    .short_name = "-i",
    .value = "[NAME=]SOURCE",
    .repeats = true,
    .help =
        "a .npy, .npz, .png or .jpg file, a test_data_set folder, or random[:SEED]; without NAME "
        "it is for the next input "
        "that has none"};
Result<void> check_shapes(std::string_view value);
Result<void> check_numbers(std::string_view value);  // "0.5" or "0.485,0.456,0.406"
inline constexpr Option kMeanOption = {
    .name = "--mean",
    .value = "A[,B,C]",
    .check = check_numbers,
    .help = "images: subtracted from values in [0, 1], one number or one a channel (default 0)"};
inline constexpr Option kStdOption = {
    .name = "--std",
    .value = "A[,B,C]",
    .check = check_numbers,
    .help = "images: divides what is left, one number or one a channel (default 1)"};
inline constexpr Option kBgrOption = {.name = "--bgr",
                                      .help = "images: channels in the order blue, green, red"};
inline constexpr Option kNhwcOption = {.name = "--nhwc", .help = "images: channels last"};

ImageOptions image_options(const Arguments& arguments);
/// --shapes, already checked; empty when not given.
api::GivenShapes given_shapes(const Arguments& arguments);

/// One tensor a port. `sources` are --input values; an input without one is random with
/// `default_seed`, or an error when there is no default. Random inputs take open sizes from
/// `shapes`, a batch is 1; floats are normal, integers and bools 0 or 1.
Result<std::vector<Tensor>> read_inputs(const std::vector<plan::Port>& ports,
                                        const std::vector<std::string>& sources,
                                        const ImageOptions& image, const api::GivenShapes& shapes,
                                        std::optional<uint64_t> default_seed, Console& console);

/// Sizes for every symbol of the ports' dims: from `shapes`, else 1 for a batch, else an error that
/// says what to give.
Result<std::vector<Dims>> concrete_dims(const std::vector<plan::Port>& ports,
                                        const api::GivenShapes& shapes, Console& console);
/// Random contents, equal for equal seeds.
Result<Tensor> random_tensor(DType dtype, const Dims& dims, uint64_t seed);

/// The tensors of a folder: NAME.npy (characters of names that are no letters or digits as '_'), or
/// PREFIX_N.pb in order.
Result<std::vector<Tensor>> read_folder(const std::string& folder,
                                        const std::vector<plan::Port>& ports,
                                        std::string_view prefix);

/// "f32[N,3,H,W]".
std::string port_type(const plan::Port& port);
/// Letters and digits stay, everything else becomes '_': a name as a file name.
std::string file_name(std::string_view name);

}  // namespace tw::cli
