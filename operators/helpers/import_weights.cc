// SPDX-License-Identifier: Apache-2.0
// Reads weights of 4 bits from the layouts of GPTQ, AWQ and ONNX Runtime.
#include <string.h>

#include "octet/quantized_weights.h"
#include "operators/helpers/weight_arrays.h"

namespace octet {
namespace {

// A word's nibble for column n of its eight.
size_t place_of(octet_qweight_layout layout, size_t n) {
  return layout == OCTET_QWEIGHT_AWQ ? n % 2 * 4 + n % 8 / 2 : n % 8;
}

uint32_t weight_of(const octet_qweight& w, size_t n, size_t k) {
  return w.layout == OCTET_QWEIGHT_AWQ
             ? nibble_of((uint32_t)w.qweight[k * (w.n / 8) + n / 8], place_of(w.layout, n))
             : nibble_of((uint32_t)w.qweight[k / 8 * w.n + n], k % 8);
}

uint32_t zero_point_of(const octet_qweight& w, size_t n, size_t g) {
  return nibble_of((uint32_t)w.qzeros[g * (w.n / 8) + n / 8], place_of(w.layout, n)) +
         (w.layout == OCTET_QWEIGHT_GPTQ);
}

octet_status check_layout(const octet_qweight& w, octet_error* error) {
  if (w.layout < OCTET_QWEIGHT_GPTQ || w.layout > OCTET_QWEIGHT_AWQ)
    return fail(error, OCTET_UNKNOWN_ENUM, "from.layout is %d; it is no octet_qweight_layout",
                (int)w.layout);
  OCTET_TRY(check_rows({"from.n", w.n}, {"from.k", w.k}, error));
  OCTET_TRY(check_divides({"from.group", w.group}, {"from.k", w.k}, error));
  const bool awq = w.layout == OCTET_QWEIGHT_AWQ;
  if (w.n % 8 || (!awq && w.k % 8))
    return fail(error, OCTET_BAD_SIZE, "from.%c = %zu; it must be a multiple of 8",
                w.n % 8 ? 'n' : 'k', w.n % 8 ? w.n : w.k);
  if (awq && w.g_idx)
    return fail(error, OCTET_UNSUPPORTED, "from.g_idx is set; OCTET_QWEIGHT_AWQ has none");
  return OCTET_OK;
}

octet_status check_groups(const octet_qweight& w, octet_error* error) {
  for (size_t k = 0; w.g_idx && k < w.k; ++k)
    if ((size_t)w.g_idx[k] != k / w.group)
      return fail(error, OCTET_UNSUPPORTED,
                  "from.g_idx[%zu] is %d, not %zu: groups of weights that are not adjacent "
                  "(desc_act) are not supported",
                  k, (int)w.g_idx[k], k / w.group);
  for (size_t g = 0; g < w.k / w.group; ++g)
    for (size_t n = 0; n < w.n; ++n) {
      if (!is_finite_half(w.scales[g * w.n + n]))
        return fail(error, OCTET_BAD_SCALE,
                    "from.scales[%zu], of group %zu and column %zu, is not finite", g * w.n + n, g,
                    n);
      if (zero_point_of(w, n, g) > 15)
        return fail(error, OCTET_BAD_ZERO_POINT,
                    "from.qzeros has the zero point 16 in group %zu, column %zu; OCTET_U4 has 0 to "
                    "15",
                    g, n);
    }
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_import_qweight(const octet_qweight* from, uint8_t* weights,
                                  octet_type scale_type, void* scales, int32_t* zero_points,
                                  octet_error* error) {
  if (!from) return fail(error, OCTET_NULL_POINTER, "from is null");
  const octet_qweight& w = *from;
  OCTET_TRY(check_layout(w, error));
  OCTET_TRY(check_scale_type(scale_type, error));
  const size_t bytes = w.n * w.k / 2, groups = w.k / w.group, count = w.n * groups,
               size = scale_bytes(scale_type);
  const WeightArray arrays[] = {{"from.qweight", w.qweight, bytes, 4, false},
                                {"from.qzeros", w.qzeros, count / 2, 4, false},
                                {"from.scales", w.scales, count * 2, 2, false},
                                {"weights", weights, bytes, 1, true},
                                {"scales", scales, count * size, size, true},
                                {"zero_points", zero_points, count * 4, 4, true},
                                {"from.g_idx", w.g_idx, w.k * 4, 4, false}};
  OCTET_TRY(check_weight_arrays(arrays, w.g_idx ? 7 : 6, error));
  OCTET_TRY(check_groups(w, error));
  for (size_t n = 0; n < w.n; ++n)
    for (size_t g = 0; g < groups; ++g) {
      const uint16_t half = w.scales[g * w.n + n];
      if (scale_type == OCTET_F16)
        ((uint16_t*)scales)[n * groups + g] = half;
      else
        ((float*)scales)[n * groups + g] = float_of_half(half);
      zero_points[n * groups + g] = (int32_t)zero_point_of(w, n, g);
    }
  memset(weights, 0, bytes);
  for (size_t first = 0; first < w.n; first += 8)  // columns of a word, which is read while cached
    for (size_t k = 0; k < w.k; ++k)
      for (size_t n = first; n < first + 8; ++n)
        set_nibble(weights, n * w.k + k, weight_of(w, n, k));
  return OCTET_OK;
}

octet_status octet_unpack_zero_points(const uint8_t* packed, size_t n, size_t blocks,
                                      int32_t* zero_points, octet_error* error) {
  OCTET_TRY(check_rows({"n", n}, {"blocks", blocks}, error));
  const size_t row = nibble_bytes(blocks);
  const WeightArray arrays[] = {{"packed", packed, n * row, 1, false},
                                {"zero_points", zero_points, n * blocks * 4, 4, true}};
  OCTET_TRY(check_weight_arrays(arrays, 2, error));
  for (size_t i = 0; i < n; ++i)
    for (size_t b = 0; b < blocks; ++b)
      zero_points[i * blocks + b] = (int32_t)nibble_of(packed[i * row + b / 2], b % 2);
  return OCTET_OK;
}
