// SPDX-License-Identifier: Apache-2.0
// The rhs layouts of the Arm tiers: one per tier, independent of M. The width of a matrix's last
// panel is a multiple of `step`.
#pragma once

#include "kernels/generic/int4.h"

namespace octet {

// SMMLA multiplies 2 rows x 8 by 8 x 2 columns: a register holds two columns of 8 depth steps, and
// a panel's group is four registers.
constexpr RhsLayout kI8mmLayout = {8, 8, 8, ElementType::kS8};
constexpr RhsLayout kI8mmU8Layout = {8, 8, 8, ElementType::kU8};
// SDOT: a register holds four columns of 4 depth steps.
constexpr RhsLayout kDotprodLayout = {16, 8, 4, ElementType::kS8};
// SMULL and SMLAL2: a register holds one column of 16 depth steps.
constexpr RhsLayout kNeonLayout = {4, 4, 16, ElementType::kS8};

// Of 4 bits, for the same registers.
constexpr RhsLayout kI8mmInt4Layout = int4_layout(kI8mmLayout),
                    kDotprodInt4Layout = int4_layout(kDotprodLayout),
                    kNeonInt4Layout = int4_layout(kNeonLayout);

// int16, for SMLAL by lane: a register holds 8 columns of one depth step. All tiers share it.
constexpr RhsLayout kArmInt16Layout = {8, 8, 1, ElementType::kS16, 16};

}  // namespace octet
