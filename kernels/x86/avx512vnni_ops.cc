// SPDX-License-Identifier: Apache-2.0
// The operations of the AVX-512 tiers besides multiplying.
#include "kernels/core/parts.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/avx2_plain_ops.h"
#include "kernels/x86/shared/epilogue_float.h"
#include "kernels/x86/shared/quantize_floats.h"

namespace octet {
namespace {
void epilogue_x86(const Epilogue& f, const EpilogueTile& t) {
  if (!avx512vnni_epilogue(f, t)) avx2_apply_epilogue(f, t);
}
}  // namespace

void avx512vnni_add_residual(const Epilogue& f, const EpilogueTile& t) { add_residual(f, t); }

const TierOps avx512vnni_ops = {avx2_init,
                                epilogue_x86,
                                avx2_sum_rows,
                                quantize_rows_x86,
                                measure_rows_by<find_ends_zmm>,
                                find_ends_zmm,
                                quantize_floats_x86,
                                avx2_copy_windows,
                                OCTET_IF(INT16, avx2_split_s16, nullptr),
                                OCTET_IF(INT16, avx2_finish_s16, nullptr),
                                avx2_find_tflite_add,
                                TfliteForm::kFloats,
                                nullptr,
                                avx512vnni_look_up,
                                avx512vbmi_look_up,
                                kHasAvx512Vbmi};
}  // namespace octet
