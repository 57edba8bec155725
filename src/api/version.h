// version.h: what this build is.
#pragma once

namespace tw::api {

/// "0.1.0".
const char* version();
/// The commit it was built from, "-dirty" behind it when files differed; "unknown" outside a
/// checkout.
const char* commit();

}  // namespace tw::api
