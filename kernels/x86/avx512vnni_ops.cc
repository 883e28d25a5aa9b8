// The operations of the AVX-512 tiers besides multiplying.
#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/tflite_add.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/quantize_floats.h"
#include "kernels/x86/shared/row_sums.h"

namespace octet {
namespace {
void epilogue_x86(const Epilogue& f, const EpilogueTile& t) {
  if (!avx512vnni_epilogue(f, t)) apply_epilogue(f, t);
}
}  // namespace

const TierOps avx512vnni_ops = {
    init_tile,       epilogue_x86, sum_rows_x86,        quantize_row_by<quantize_floats_x86>,
    measure_rows,    find_ends,    quantize_floats_x86, copy_windows,
    find_tflite_add, true,         avx512vnni_look_up,  avx512vbmi_look_up,
    kHasAvx512Vbmi};
}  // namespace octet
