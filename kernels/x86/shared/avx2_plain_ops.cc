// Compiles the plain loops for AVX2: zmm registers make them no faster.
#include <immintrin.h>

#include "kernels/x86/shared/avx2_plain_ops.h"

#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/tflite_add.h"
#include "kernels/generic/words.h"
#include "kernels/x86/shared/row_sums.h"

namespace octet {

void avx2_init(const Init& t) { init_tile(t); }
void avx2_apply_epilogue(const Epilogue& f, const EpilogueTile& t) { apply_epilogue(f, t); }
void avx2_sum_rows(const Rows& r, bool is_signed, int32_t* sums) {
  sum_rows_x86(r, is_signed, sums);
}
void avx2_copy_windows(const Windows& w) { copy_windows(w); }
bool avx2_find_tflite_add(const Epilogue& f, TfliteAdd* sum) { return find_tflite_add(f, sum); }
void avx2_split_words(const WordRow& row) { split_words(row); }
// Not on all of its paths does GCC clear the upper halves, which slow SSE code after it.
void avx2_finish_words(const WordEpilogue& f, const WordTile& tile) {
  finish_words(f, tile);
  _mm256_zeroupper();
}

}  // namespace octet
