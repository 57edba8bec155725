#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace tw {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kInvalidModel:
      return "invalid model";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kNotFound:
      return "not found";
    case Code::kOutOfMemory:
      return "out of memory";
    case Code::kIo:
      return "i/o error";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kIncompatible:
      return "incompatible";
    case Code::kCancelled:
      return "cancelled";
    case Code::kInternal:
      return "internal error";
  }
  return "unknown";
}

namespace detail {

void append_part(std::string& out, std::string_view part) { out.append(part); }

void check_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "tilewright: internal error: %s (%s) at %s:%d\n", why, condition, file,
               line);
  std::abort();
}

}  // namespace detail
}  // namespace tw
