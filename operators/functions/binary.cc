// SPDX-License-Identifier: Apache-2.0
// Checks the descriptors and sizes of functions of two tensors, and walks through their bytes.
#include "operators/functions/binary.h"

#include <string.h>

#include "operators/common/check.h"

namespace octet {
namespace {

octet_status check_shapes(const void* plan, const FunctionShapes& s, octet_error* error) {
  const BinaryPlan& p = *(const BinaryPlan*)plan;
  const octet_function_tensor& out = s.output;
  for (size_t i = 0; i < 2; ++i) {
    const octet_function_tensor& in = s.inputs[i];
    const bool one_pixel = p.one_pixel && i != p.swaps;
    const bool one_channel = one_pixel && in.channels == 1;
    OCTET_TRY(check_sizes_of(input_name(i), in, one_pixel ? 1 : out.h, one_pixel ? 1 : out.w,
                             one_channel ? 1 : out.channels, error));
  }
  return OCTET_OK;
}

// ---- the loop over lines and pixels

// Copies fewer than kFewBytes by two moves, which overlap: a call of memcpy takes longer than the
// body.
constexpr size_t kFewBytes = 2 * kLeastPairs;

void copy_few(uint8_t* to, const uint8_t* from, size_t bytes) {
  const auto move = [&](auto word) {
    if (bytes < sizeof word) return false;
    auto last = word;
    memcpy(&word, from, sizeof word), memcpy(&last, from + bytes - sizeof last, sizeof last);
    memcpy(to, &word, sizeof word), memcpy(to + bytes - sizeof last, &last, sizeof last);
    return true;
  };
  struct Sixteen {
    uint64_t words[2];
  };
  static_assert(kFewBytes <= 2 * sizeof(Sixteen), "two moves are fewer bytes");
  move(Sixteen()) || move(uint64_t()) || move(uint32_t()) || move(uint16_t()) || move(uint8_t());
}

// Fewer elements than a body takes.
void run_few(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t bytes) {
  uint8_t from_a[kFewBytes] = {}, from_b[kFewBytes] = {}, made[kFewBytes];
  copy_few(from_a, a, bytes), copy_few(from_b, b, bytes);
  p.body(p, from_a, from_b, made, kLeastPairs * p.element);
  copy_few(out, made, bytes);
}

void run_bytes(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
               size_t bytes) {
  (bytes < kLeastPairs * p.element ? run_few : p.body)(p, a, b, out, bytes);
}

// One pixel for all, as often as it fits.
struct Repeated {
  uint8_t bytes[1024];
  size_t count = 0;  // of bytes; 0: it does not fit twice
  Repeated(const uint8_t* pixel, size_t pixel_bytes) {
    if (pixel_bytes > sizeof bytes / 2) return;
    memcpy(bytes, pixel, pixel_bytes);
    for (count = pixel_bytes; count <= sizeof bytes / 2; count *= 2)
      memcpy(bytes + count, bytes, count);
  }
};

void run_binary(void* plan, const octet_network_call* call) {
  const BinaryPlan& p = *(const BinaryPlan*)plan;
  const octet_network_image &a = call->inputs[p.swaps], &b = call->inputs[!p.swaps],
                            &out = call->output;
  const size_t pixel = out.channels * p.element;
  const bool one_element = p.one_pixel && b.channels == 1;
  const Repeated repeated(p.one_pixel ? (const uint8_t*)octet_network_line(&b, 0) : nullptr,
                          p.one_pixel ? b.channels * p.element : SIZE_MAX);
  const bool repeats = repeated.count > 0;
  const bool dense =
      a.pixel == pixel && out.pixel == pixel && (p.one_pixel ? repeats : b.pixel == pixel);
  const size_t runs = dense ? 1 : out.w, bytes = dense ? out.w * pixel : pixel;
  const size_t step = repeats && (dense || one_element) ? repeated.count : bytes;
  for (size_t y = call->first; y < call->end; ++y) {
    const uint8_t *from_a = (const uint8_t*)octet_network_line(&a, y),
                  *from_b = (const uint8_t*)octet_network_line(&b, p.one_pixel ? 0 : y);
    uint8_t* to = (uint8_t*)octet_network_line(&out, y);
    for (size_t x = 0; x < runs; ++x) {
      for (size_t i = 0; i < bytes; i += step)
        run_bytes(p, from_a + i, repeats ? repeated.bytes : from_b, to + i,
                  bytes - i < step ? bytes - i : step);
      from_a += a.pixel, to += out.pixel, from_b += p.one_pixel ? 0 : b.pixel;
    }
  }
}

}  // namespace

octet_status start_binary(octet_add_desc* d, FunctionBuilder<BinaryPlan>* builder, TierId* tier_id,
                          octet_error* error) {
  OCTET_TRY(check_quantized_or_s16(d->a, "desc.a", error));
  OCTET_TRY(check_quantized_or_s16(d->b, "desc.b", error));
  OCTET_TRY(check_quantized_or_s16(d->output, "desc.output", error));
  OCTET_TRY(check_arithmetic(d->arithmetic, error));
  if (d->broadcast < OCTET_BROADCAST_NONE || d->broadcast > OCTET_BROADCAST_B)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.broadcast = %d is no octet_broadcast",
                (int)d->broadcast);
  if (d->arithmetic != OCTET_ARITHMETIC_STANDARD &&
      (d->a.type != d->output.type || d->b.type != d->output.type))
    return fail(error, OCTET_UNSUPPORTED,
                "desc: types differ, which only OCTET_ARITHMETIC_STANDARD takes");
  const octet_type types[] = {d->a.type, d->b.type, d->output.type};
  for (const octet_type type : types)
    OCTET_TRY(check_arithmetic_of_s16(type, d->arithmetic, error));
  if (d->reserved) return fail(error, OCTET_UNSUPPORTED, "desc.reserved must be 0");
  int32_t bounds[2];
  OCTET_TRY(check_bounds(d->output, d->least, d->most, bounds, error));
  OCTET_TRY(choose_tier(d->max_isa, tier_id, error));
  octet_function& f = builder->function;
  f = {};
  f.types[0] = d->a.type, f.types[1] = d->b.type, f.output_type = d->output.type;
  f.input_count = 2;
  f.check = check_shapes;
  f.cycles = 0.5;
  // A pixel is one line for all, which no kernel of lines describes.
  f.network.kernel_h = d->broadcast ? 0 : 1;
  f.network.run = run_binary;
  BinaryPlan& p = builder->plan;
  p = {};
  p.element = element_bytes(d->output.type);
  p.one_pixel = d->broadcast;
  p.swaps = d->broadcast == OCTET_BROADCAST_A;
  if (p.swaps) {
    const octet_quantized a = d->a;
    d->a = d->b, d->b = a;
  }
  const octet_quantized* const all[] = {&d->a, &d->b, &d->output};
  for (int i = 0; i < 3; ++i) {
    p.flip[i] = all[i]->type == OCTET_S8 ? 0x80 : 0;
    p.zero[i] = all[i]->zero_point + p.flip[i];
    p.scale[i] = all[i]->scale;
  }
  p.least = bounds[0] + p.flip[2];
  p.most = bounds[1] + p.flip[2];
  return OCTET_OK;
}

}  // namespace octet
