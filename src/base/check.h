// check.h: assertions about our own work. They stay on in release builds; DCHECK is for hot loops.
#pragma once

namespace tw::detail {
[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);
}

/// Ends the process with the sentence `why` (why the condition must hold) when `condition` is
/// false.
#define CHECK(condition, why) \
  ((condition) ? (void)0 : ::tw::detail::check_failed(#condition, why, __FILE__, __LINE__))

#ifdef NDEBUG
#define DCHECK(condition, why) ((void)0)
#else
#define DCHECK(condition, why) CHECK(condition, why)
#endif
