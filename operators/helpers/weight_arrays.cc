// SPDX-License-Identifier: Apache-2.0
// Checks arrays of quantized weights, and converts between f16 and f32.
#include "operators/helpers/weight_arrays.h"

namespace octet {

octet_status check_rows(const NamedSize& n, const NamedSize& k, octet_error* error) {
  if (!n.value || !k.value)
    return fail(error, OCTET_BAD_SIZE, "%s is 0", n.value ? k.name : n.name);
  size_t count;
  if (__builtin_mul_overflow(n.value, k.value, &count) || count > PTRDIFF_MAX / 4)
    return fail(error, OCTET_BAD_SIZE, "%s = %zu, %s = %zu: their arrays leave size_t", n.name,
                n.value, k.name, k.value);
  return OCTET_OK;
}

octet_status check_divides(const NamedSize& block, const NamedSize& k, octet_error* error) {
  if (block.value && k.value % block.value == 0) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE, "%s = %zu; it must divide %s = %zu", block.name, block.value,
              k.name, k.value);
}

octet_status check_scale_type(octet_type scale_type, octet_error* error) {
  if (scale_type == OCTET_F16 || scale_type == OCTET_F32) return OCTET_OK;
  return fail(error, OCTET_UNKNOWN_ENUM, "scale_type is %d; it must be OCTET_F16 or OCTET_F32",
              (int)scale_type);
}

octet_status check_weight_arrays(const WeightArray* arrays, size_t count, octet_error* error) {
  for (size_t i = 0; i < count; ++i) {
    const WeightArray& a = arrays[i];
    if (!a.data) return fail(error, OCTET_NULL_POINTER, "%s is null", a.name);
    if ((uintptr_t)a.data % a.alignment)
      return fail(error, OCTET_MISALIGNED, "%s is at %p; it must be a multiple of %zu", a.name,
                  a.data, a.alignment);
  }
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < i; ++j)
      if ((arrays[i].written || arrays[j].written) &&
          meet(extent_of(arrays[i].data, arrays[i].bytes),
               extent_of(arrays[j].data, arrays[j].bytes)))
        return fail(error, OCTET_OVERLAP, "%s overlaps %s", arrays[i].name, arrays[j].name);
  return OCTET_OK;
}

}  // namespace octet
