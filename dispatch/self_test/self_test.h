// SPDX-License-Identifier: Apache-2.0
// The self-test: small products of extreme values and accumulators that are hard to round, with
// known results. It keeps a faulty CPU, emulator or compiler from giving wrong bytes.
#pragma once

#include "dispatch/cpu/features.h"
#include "dispatch/tables/kernels.h"
#include "kernels/core/runtime_weights.h"
#include "kernels/core/scale_blocks.h"
#include "kernels/core/tier_ops.h"

namespace octet {

// True if this thread rounds to nearest. If not, nothing that rounds is tested.
bool rounds_to_nearest();

bool passes(const TierOps& ops);
bool passes(const RuntimeOps& ops);
bool passes(const ScaleBlockKernel& kernel);
bool passes(const MicroKernel& kernel);  // an int8 kernel
// The same for weights of 4 bits that no decoder has decoded.
bool multiplies_encoded(const MicroKernel& kernel);

// The tiers that `cpu` supports and whose operations or listed kernels failed.
TierMask failing_tiers(const KernelList& kernels, const CpuFeatures& cpu);

// The tiers that `cpu` supports and whose kernels of 4 bits or work on run-time weights failed.
TierMask failing_matrix_tiers(const CpuFeatures& cpu);

// The tiers that this process does without: those whose own kernels fail. It is a function of a
// file of its own, so that a test links one with another verdict in its place.
TierMask demoted_tiers(const CpuFeatures& cpu);
// True if the optional kernels (kOptional), on which no tier depends, are right.
bool passes_optional(const KernelList& kernels, const CpuFeatures& cpu);

}  // namespace octet
