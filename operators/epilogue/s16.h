// SPDX-License-Identifier: Apache-2.0
// Checks and builds the epilogue of products of s16 values.
#pragma once

#include "operators/epilogue/builder.h"

namespace octet {

// Refuses fields that do not go with an s16 lhs; without one, fields that ask for s16 values.
octet_status check_s16_combination(const EpilogueBuilder& builder);
// In place of check_range.
octet_status check_s16_range(EpilogueBuilder* builder, const PackedRhs& packed);
// S16Mode::kNone without an s16 lhs. f: the epilogue, built.
S16Epilogue build_s16(const EpilogueBuilder& builder, const Epilogue& f, size_t padded,
                      Arena* arena);
// The part of it that kernels do in registers, where in_kernel is not null.
Requantization requantization_of(const S16Epilogue& s16);
// Zeros. All null without memory.
S16Offsets take_s16_offsets(const EpilogueBuilder& builder, size_t count, Arena* arena);
// Writes the offsets of all columns: the biases, and the terms that the flips of bytes, of this
// type, add to the sums of the packed matrix where kernels know no zero points; they do if `packed`
// is {}. Offsets without memory stay so.
void fill_s16_offsets(const EpilogueBuilder& builder, const PackedRhs& packed, ElementType type,
                      const S16Offsets& offsets);

}  // namespace octet
