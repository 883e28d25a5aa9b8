// Checks and builds the epilogue of products of words (s16).
#pragma once

#include "operators/epilogue/builder.h"

namespace octet {

// Refuses fields that do not go with an s16 lhs; without one, fields that ask for words.
octet_status check_word_combination(const EpilogueBuilder& builder);
// In place of check_range.
octet_status check_word_range(EpilogueBuilder* builder, const PackedRhs& packed);
// WordMode::kNone without an s16 lhs. f: the epilogue, built.
WordEpilogue build_words(const EpilogueBuilder& builder, const Epilogue& f, size_t padded,
                         Arena* arena);
// The part of it that kernels do in registers, where in_kernel is not null.
Requantization requantization_of(const WordEpilogue& words);
// Zeros. All null without memory.
WordOffsets take_word_offsets(const EpilogueBuilder& builder, size_t count, Arena* arena);
// Writes the offsets of all columns: the biases, and what the flips of bytes, of this type,
// add to the sums of the packed matrix where kernels know no zero points; they do if `packed` is
// {}. Offsets without memory stay so.
void fill_word_offsets(const EpilogueBuilder& builder, const PackedRhs& packed, ElementType type,
                       const WordOffsets& offsets);

}  // namespace octet
