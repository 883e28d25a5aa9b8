// SPDX-License-Identifier: Apache-2.0
// Reads tensors of GGUF, as they are and as f32.
#include "octet/quantized_weights.h"

#include <string.h>

#include "operators/helpers/weight_arrays.h"

namespace octet {
namespace {

constexpr size_t kDepth = 32;  // of a block

struct Form {
  size_t bytes, header;  // of a block, and before its weights
  bool has_minimum, has_nibbles;
  int32_t zero_point;
};

// Without bytes if it is none.
Form form_of(octet_gguf_type type) {
  switch (type) {
    case OCTET_GGUF_Q4_0: return {18, 2, false, true, 8};
    case OCTET_GGUF_Q4_1: return {20, 4, true, true, 0};
    case OCTET_GGUF_Q8_0: return {34, 2, false, false, 0};
    default: return {};
  }
}

uint16_t half_at(const uint8_t* at) { return (uint16_t)(at[0] | at[1] << 8); }

octet_status check_block(const Form& form, const uint8_t* block, size_t b, size_t row,
                         octet_error* error) {
  for (size_t at = 0; at < form.header; at += 2)
    if (!is_finite_half(half_at(block + at)))
      return fail(error, OCTET_BAD_SCALE, "blocks[%zu], of row %zu, has a %s that is not finite", b,
                  row, at ? "minimum" : "scale");
  return OCTET_OK;
}

octet_status check_blocks(const Form& form, const uint8_t* first, size_t count, size_t k,
                          octet_error* error) {
  for (size_t b = 0; b < count; ++b)
    OCTET_TRY(check_block(form, first + b * form.bytes, b, b / (k / kDepth), error));
  return OCTET_OK;
}

octet_status check_form(const Form& form, octet_gguf_type type, size_t n, size_t k,
                        octet_error* error) {
  if (!form.bytes)
    return fail(error, OCTET_UNKNOWN_ENUM, "type is %d; it must be an octet_gguf_type", (int)type);
  OCTET_TRY(check_rows({"n", n}, {"k", k}, error));
  return k % kDepth ? fail(error, OCTET_BAD_SIZE, "k = %zu; it must be a multiple of 32", k)
                    : OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_import_gguf(octet_gguf_type type, const void* blocks, size_t n, size_t k,
                               void* weights, uint16_t* scales, uint16_t* minimums,
                               octet_error* error) {
  const Form form = form_of(type);
  OCTET_TRY(check_form(form, type, n, k, error));
  if (!form.has_minimum && minimums)
    return fail(error, OCTET_UNSUPPORTED, "minimums is set, but only Q4_1 has some");
  const size_t count = n * (k / kDepth), bytes = form.has_nibbles ? kDepth / 2 : kDepth;
  const WeightArray arrays[] = {
      {"blocks", blocks, count * form.bytes, 1, false},
      {"weights", weights, count * bytes, 1, true},
      {"scales", scales, count * sizeof *scales, sizeof *scales, true},
      {"minimums", minimums, count * sizeof *minimums, sizeof *minimums, true}};
  OCTET_TRY(check_weight_arrays(arrays, form.has_minimum ? 4 : 3, error));
  const uint8_t* block = (const uint8_t*)blocks;
  OCTET_TRY(check_blocks(form, block, count, k, error));
  uint8_t* to = (uint8_t*)weights;
  for (size_t b = 0; b < count; ++b, block += form.bytes, to += bytes) {
    const uint8_t* const from = block + form.header;
    scales[b] = half_at(block);
    if (form.has_minimum) minimums[b] = half_at(block + 2);
    if (!form.has_nibbles) memcpy(to, from, bytes);
    // Two of low halves, then of high ones
    for (size_t i = 0; form.has_nibbles && i < bytes; ++i) {
      const uint32_t pair = from[2 * i % bytes] | (uint32_t)from[2 * i % bytes + 1] << 8;
      to[i] = (uint8_t)(nibble_of(pair, 2 * i / bytes) | nibble_of(pair, 2 * i / bytes + 2) << 4);
    }
  }
  return OCTET_OK;
}

octet_status octet_import_q4_0(const void* blocks, size_t n, size_t k, uint8_t* weights,
                               uint16_t* scales, octet_error* error) {
  return octet_import_gguf(OCTET_GGUF_Q4_0, blocks, n, k, weights, scales, nullptr, error);
}

octet_status octet_dequantize_gguf(octet_gguf_type type, const void* blocks, size_t n, size_t k,
                                   float* values, octet_error* error) {
  const Form form = form_of(type);
  OCTET_TRY(check_form(form, type, n, k, error));
  const size_t count = n * (k / kDepth);
  const WeightArray arrays[] = {{"blocks", blocks, count * form.bytes, 1, false},
                                {"values", values, n * k * sizeof *values, sizeof *values, true}};
  OCTET_TRY(check_weight_arrays(arrays, 2, error));
  const uint8_t* const first = (const uint8_t*)blocks;
  OCTET_TRY(check_blocks(form, first, count, k, error));
  for (size_t b = 0; b < count; ++b, values += kDepth) {
    const uint8_t *const block = first + b * form.bytes, *const weights = block + form.header;
    const float scale = float_of_half(half_at(block));
    for (size_t i = 0; i < kDepth; ++i) {
      const int32_t q = form.has_nibbles ? (int32_t)nibble_of(weights[i % 16], i / 16)
                                         : (int32_t)(int8_t)weights[i];
      values[i] = (float)(q - form.zero_point) * scale;
    }
    if (!form.has_minimum) continue;
    const float minimum = float_of_half(half_at(block + 2));
    for (size_t i = 0; i < kDepth; ++i) values[i] += minimum;
  }
  return OCTET_OK;
}
