# Run at every build: writes the version and the commit into OUTPUT when they have changed.
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=*
                WORKING_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#include "api/version.h"
namespace tw::api {
const char* version() { return "@VERSION@"; }
const char* commit() { return "@commit@"; }
}  // namespace tw::api
]])
