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
// The biases, as WordTile::offset has them where kernels know the zero points of bytes.
double* build_word_bias(const EpilogueBuilder& builder, size_t padded, Arena* arena);
// WordTile::offset where kernels do not: of all columns of a packed matrix. byte_type: of the
// kernel's lhs.
double* build_word_offsets(const EpilogueBuilder& builder, const PackedRhs& packed,
                           ElementType byte_type, size_t padded, Arena* arena);

}  // namespace octet
