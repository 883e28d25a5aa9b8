// SPDX-License-Identifier: Apache-2.0
// The operations in plain loops that the tiers of AVX2 and of AVX-512 share.
#pragma once

#include "kernels/core/tier_ops.h"

namespace octet {

void avx2_init(const Init& t);
void avx2_apply_epilogue(const Epilogue& f, const EpilogueTile& t);
void avx2_sum_rows(const Rows& r, bool is_signed, int32_t* sums);
void avx2_copy_windows(const Windows& w);
bool avx2_find_tflite_add(const Epilogue& f, TfliteAdd* sum);
void avx2_split_s16(const S16Row& row);
void avx2_finish_s16(const S16Epilogue& f, const S16Tile& tile);

}  // namespace octet
