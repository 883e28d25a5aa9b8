// SPDX-License-Identifier: Apache-2.0
// Allocates and fills the tuner's operands.
#include "analysis/tune/operands.h"

#include "dispatch/os/os.h"
#include "operators/common/check.h"

namespace octet {

TuneBuffer::~TuneBuffer() { os::release(data_); }

octet_status TuneBuffer::grow(const char* name, size_t bytes, octet_error* error) {
  if (bytes <= bytes_) return OCTET_OK;
  os::release(data_);
  data_ = nullptr, bytes_ = 0;
  void* const memory = bytes > PTRDIFF_MAX ? nullptr : os::allocate(bytes, OCTET_ALIGNMENT);
  if (!memory) return fail(error, OCTET_OUT_OF_MEMORY, "no memory for %s: %zu bytes", name, bytes);
  data_ = memory, bytes_ = bytes;
  return OCTET_OK;
}

octet_status TuneBuffer::fill(const char* name, const size_t (&sizes)[4], octet_type type,
                              octet_error* error) {
  size_t elements = 1, bytes;
  bool fits = true;
  for (const size_t size : sizes) fits = fits && !__builtin_mul_overflow(elements, size, &elements);
  fits = fits && !__builtin_mul_overflow(elements, element_bytes(type), &bytes) &&
         !__builtin_add_overflow(bytes, (size_t)OCTET_ALIGNMENT, &bytes);
  OCTET_TRY(grow(name, fits ? bytes : SIZE_MAX, error));
  uint64_t state = 0x9E3779B97F4A7C15u;
  const auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 32);
  };
  if (type == OCTET_F32) {
    for (size_t i = 0; i < elements; ++i) ((float*)data_)[i] = (float)(int32_t)next() * 0x1p-31f;
    return OCTET_OK;
  }
  for (size_t i = 0; i + sizeof(uint32_t) <= bytes_; i += sizeof(uint32_t))
    *(uint32_t*)((uint8_t*)data_ + i) = next();
  return OCTET_OK;
}

}  // namespace octet
