// SPDX-License-Identifier: Apache-2.0
// Reads tensors of GGUF as f32.
#include "octet/quantized_weights.h"
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

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_dequantize_gguf(octet_gguf_type type, const void* blocks, size_t n, size_t k,
                                   float* values, octet_error* error) {
  const Form form = form_of(type);
  if (!form.bytes)
    return fail(error, OCTET_UNKNOWN_ENUM, "type is %d; it must be an octet_gguf_type", (int)type);
  OCTET_TRY(check_rows({"n", n}, {"k", k}, error));
  if (k % kDepth) return fail(error, OCTET_BAD_SIZE, "k = %zu; it must be a multiple of 32", k);
  const size_t count = n * (k / kDepth);
  const WeightArray arrays[] = {{"blocks", blocks, count * form.bytes, 1, false},
                                {"values", values, n * k * sizeof *values, sizeof *values, true}};
  OCTET_TRY(check_weight_arrays(arrays, 2, error));
  const uint8_t* const first = (const uint8_t*)blocks;
  for (size_t b = 0; b < count; ++b)
    OCTET_TRY(check_block(form, first + b * form.bytes, b, b / (k / kDepth), error));
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
