// SPDX-License-Identifier: Apache-2.0
// Converts structs between callers and a library of different versions (struct_size).
#include "dispatch/api/struct_size.h"

#include <string.h>

namespace octet {
namespace {

// A larger struct_size is an uninitialised struct, and its bytes must not be read.
constexpr size_t kLargest = 4096;

}  // namespace

octet_status check_struct_size(size_t size, const StructSizes& s, octet_error* error) {
  if (size >= s.oldest && size <= kLargest && size % s.alignment == 0) return OCTET_OK;
  return fail(error, OCTET_BAD_STRUCT_SIZE,
              "%s.struct_size is %zu; it must be a multiple of %zu in %zu..%zu: initialise it with "
              "sizeof or the _INIT macro",
              s.name, size, s.alignment, s.oldest, kLargest);
}

octet_status resize_struct(const void* given, size_t size, const StructSizes& s, void* copy,
                           octet_error* error) {
  OCTET_TRY(check_struct_size(size, s, error));
  for (size_t i = s.known; i < size; ++i)
    if (((const uint8_t*)given)[i])
      return fail(error, OCTET_BAD_STRUCT_SIZE,
                  "%s.struct_size is %zu, and byte %zu of %s is not zero: it asks for what a newer "
                  "version can do, and this library (%s) knows %zu bytes",
                  s.name, size, i, s.name, octet_version(), s.known);
  memset(copy, 0, s.known);
  memcpy(copy, given, size < s.known ? size : s.known);
  *(size_t*)copy = s.known;
  return OCTET_OK;
}

void fill_struct(const void* filled, size_t known, size_t size, void* to) {
  constexpr size_t first = sizeof(size_t);  // struct_size keeps the caller's value
  const size_t end = size < known ? size : known;
  memcpy((uint8_t*)to + first, (const uint8_t*)filled + first, end - first);
  memset((uint8_t*)to + end, 0, size - end);
}

}  // namespace octet
