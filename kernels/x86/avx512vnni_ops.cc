// The operations of the AVX-512 tiers besides multiplying.
#include <immintrin.h>

#include "kernels/core/parts.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/words.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/avx2_plain_ops.h"
#include "kernels/x86/shared/quantize_floats.h"

namespace octet {
namespace {
void epilogue_x86(const Epilogue& f, const EpilogueTile& t) {
  if (!avx512vnni_epilogue(f, t)) avx2_apply_epilogue(f, t);
}
// Scales sums in vectors where kernels may, else one by one.
[[maybe_unused]] void finish_words_x86(const WordEpilogue& f, const WordTile& tile) {
  if (f.in_kernel && tile.offset.in_int32) return avx2_finish_words(f, tile);
  finish_words(f, tile);
  _mm256_zeroupper();
}
}  // namespace

const TierOps avx512vnni_ops = {avx2_init,
                                epilogue_x86,
                                avx2_sum_rows,
                                quantize_row_by<quantize_floats_x86>,
                                measure_rows,
                                find_ends,
                                quantize_floats_x86,
                                avx2_copy_windows,
                                OCTET_IF(INT16, avx2_split_words, nullptr),
                                OCTET_IF(INT16, finish_words_x86, nullptr),
                                avx2_find_tflite_add,
                                true,
                                avx512vnni_look_up,
                                avx512vbmi_look_up,
                                kHasAvx512Vbmi};
}  // namespace octet
