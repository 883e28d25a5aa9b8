#pragma once

#include "kernels/core/micro_kernel.h"

namespace octet {

constexpr RhsLayout kI8mmLayout = {8, 8, 8, Domain::kS8};
constexpr RhsLayout kI8mmU8Layout = {8, 8, 8, Domain::kU8};
constexpr RhsLayout kDotprodLayout = {16, 4, 4, Domain::kS8};
constexpr RhsLayout kNeonLayout = {4, 4, 16, Domain::kS8};

}  // namespace octet
