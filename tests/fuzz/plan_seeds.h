// plan_seeds.h: small plans of every sort, as bytes.
#pragma once

#include "driver.h"

namespace tw::fuzz {

inline constexpr size_t kModelPlans = 10;  // the first ones: whole small models
size_t n_plan_seeds();
Bytes make_plan_seed(size_t i);

}  // namespace tw::fuzz
