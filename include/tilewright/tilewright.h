// tilewright.h: the whole public API. Programs that only run plans include tilewright/engine.h and
// link Tilewright::runtime.
#pragma once

#include "tilewright/compile.h"
#include "tilewright/engine.h"
