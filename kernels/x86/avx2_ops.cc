// SPDX-License-Identifier: Apache-2.0
// The operations of the AVX2 tiers besides multiplying.
#include "kernels/core/parts.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/avx2_plain_ops.h"
#include "kernels/x86/shared/quantize_floats.h"

namespace octet {
namespace {
void epilogue_x86(const Epilogue& f, const EpilogueTile& t) {
  if (!avx2_epilogue(f, t)) avx2_apply_epilogue(f, t);
}
}  // namespace

const TierOps avx2_ops = {avx2_init,
                          epilogue_x86,
                          avx2_sum_rows,
                          quantize_rows_by<quantize_floats_x86>,
                          measure_rows,
                          find_ends,
                          quantize_floats_x86,
                          avx2_copy_windows,
                          OCTET_IF(INT16, avx2_split_s16, nullptr),
                          OCTET_IF(INT16, avx2_finish_s16, nullptr),
                          avx2_find_tflite_add,
                          TfliteForm::kFloats,
                          kHasFma,
                          avx2_look_up};
}  // namespace octet
