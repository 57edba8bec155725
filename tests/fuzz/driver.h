// driver.h: what fuzzers share. A fuzzer says what its inputs are and what must hold of each; the
// driver's main() runs it for a time from a seed, and libFuzzer (clang, TILEWRIGHT_FUZZ) drives the
// same functions by coverage. Input n of a seed is always the same bytes.
#pragma once

#include <random>
#include <string>
#include <string_view>

#include "base/cat.h"

namespace tw::fuzz {

using Bytes = std::string;
using Random = std::mt19937_64;

// Each fuzzer defines these five.

/// Stands in messages.
extern const char* const kName;
/// Good inputs to start from; made when first asked for and kept.
size_t n_seeds();
Bytes make_seed(size_t i);
/// A new input from `input` and, to take parts of, `other`.
Bytes mutate(const Bytes& input, const Bytes& other, Random& random);
/// Ends the process through fail() where something that must hold does not. Returns what became of
/// the input in a word or two; the driver counts them.
std::string try_input(std::string_view input);

// For their use.

/// Prints the sentence and ends the process.
[[noreturn]] void fail(const std::string& why);
/// A number in [0, limit); limit is above 0.
size_t below(Random& random, size_t limit);
inline bool one_in(Random& random, size_t n) { return below(random, n) == 0; }
/// One of the numbers that break things: 0, -1, powers of two and their neighbours, the extremes.
int64_t odd_number(Random& random);
/// One change: a bit, a byte, a cut, bytes left out, doubled, or taken from `other`.
void damage(Bytes& bytes, const Bytes& other, Random& random);

}  // namespace tw::fuzz
