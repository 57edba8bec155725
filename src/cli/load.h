// load.h: PLAN|MODEL operands: a plan is read and proved, a model is compiled in memory.
#pragma once

#include <string>

#include "api/compile_model.h"
#include "cli/inputs.h"
#include "runtime/engine.h"

namespace tw::cli {

class Console;

Result<void> check_isa(std::string_view value);
Result<void> check_target(std::string_view value);
Result<void> check_precision(std::string_view value);
/// 1 to 1024: beyond, systems refuse to start them.
Result<void> check_threads(std::string_view value);

/// Options of everything that compiles.
inline constexpr Option kShapesOption = {.name = "--shapes",
                                         .value = "NAME:1x3xHxW,...",
                                         .check = check_shapes,
                                         .help =
                                             "sizes of inputs: a number binds a size, a letter "
                                             "keeps it open, equal letters are equal sizes"};
inline constexpr Option kIsaOption = {
    .name = "--isa",
    .value = "v2|avx2|avx512",
    .check = check_isa,
    .help = "instruction set (default: the best of this machine)"};
inline constexpr Option kTargetOption = {
    .name = "--target",
    .value = "cpu|sm_90|auto",
    .check = check_target,
    .help = "the machine to compile for; auto: the GPU when there is one (default: cpu)"};
inline constexpr Option kPrecisionOption = {
    .name = "--precision",
    .value = "fp32|tf32|fp16|bf16",
    .check = check_precision,
    .help = "of the arithmetic on f32 values; inputs and outputs keep their types (default: fp32)"};
inline constexpr Option kThreadsOption = {
    .name = "--threads",
    .value = "N",
    .check = check_threads,
    .help = "threads, the calling one included (default: one a core)"};

/// The options of `arguments` that say how a model at `path` is compiled. `command` is what an
/// error about open sizes tells the reader to call again, up to --shapes.
api::BuildOptions build_options(const Arguments& arguments, const std::string& command,
                                Console& console);

/// Prints what the engine's device has to say of the plan; nothing for plans of the CPU.
void note_device(const runtime::Engine& engine, Console& console);

/// The plan at `path`, or that of the model there.
Result<plan::Plan> load_plan(const std::string& path, const Arguments& arguments,
                             const std::string& command, Console& console);

/// `text` as one word of a shell command.
std::string shell_word(std::string_view text);

}  // namespace tw::cli
