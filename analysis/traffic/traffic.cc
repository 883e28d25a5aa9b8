// SPDX-License-Identifier: Apache-2.0
// The octet_traffic_* functions that are independent of the kind of layer.
#include "analysis/traffic/memory.h"
#include "dispatch/api/struct_size.h"
#include "dispatch/os/os.h"

namespace octet {
namespace {

constexpr size_t kLeastBytes = 4096, kLeastL1Bytes = 1024, kMostBytes = (size_t)1 << 31,
                 kMostLayers = (size_t)1 << 20;
// Accesses are traced line by line: a size that would take minutes is taken for a mistake
constexpr uint64_t kMinutes = (uint64_t)1 << 40;
constexpr size_t kMostTouched = kMinutes < PTRDIFF_MAX ? (size_t)kMinutes : PTRDIFF_MAX;

octet_status check(const octet_traffic_options& o, octet_error* error) {
  const auto is_size = [](size_t bytes, size_t least) {
    return bytes >= least && bytes <= kMostBytes && bytes % least == 0;
  };
  if (!is_size(o.cache_bytes, kLeastBytes))
    return fail(error, OCTET_BAD_SIZE,
                "options.cache_bytes is %zu; it is a multiple of 4096, up to 2^31", o.cache_bytes);
  if (o.layers > kMostLayers)
    return fail(error, OCTET_BAD_SIZE, "options.layers is %zu; it ends at 2^20", o.layers);
  if (o.l1_bytes && !is_size(o.l1_bytes, kLeastL1Bytes))
    return fail(error, OCTET_BAD_SIZE,
                "options.l1_bytes is %zu; it is 0 or a multiple of 1024, up to 2^31", o.l1_bytes);
  return OCTET_OK;
}

octet_status check_layer(const octet_traffic* traffic, size_t index, octet_error* error) {
  if (!traffic) return fail(error, OCTET_NULL_POINTER, "traffic is null");
  if (index >= traffic->layers())
    return fail(error, OCTET_BAD_SIZE, "index is %zu; this traffic tells %zu layers apart", index,
                traffic->layers());
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_traffic_create(const octet_traffic_options* options, octet_traffic** traffic,
                                  octet_error* error) {
  if (!traffic) return fail(error, OCTET_NULL_POINTER, "traffic is null");
  *traffic = nullptr;
  CallerStruct<octet_traffic_options> given;
  OCTET_TRY(given.read(options, "options", error));
  OCTET_TRY(check(*given, error));
  const size_t bytes = octet_traffic::bytes(*given);
  void* const memory = os::allocate(bytes, OCTET_ALIGNMENT);
  if (!memory)
    return fail(error, OCTET_OUT_OF_MEMORY, "no memory for the caches' lines: %zu bytes", bytes);
  *traffic = (octet_traffic*)memory;
  (*traffic)->init(*given);
  return OCTET_OK;
}

void octet_traffic_destroy(octet_traffic* traffic) { os::release(traffic); }

octet_status octet_traffic_begin(octet_traffic* traffic, size_t index, octet_error* error) {
  OCTET_TRY(check_layer(traffic, index, error));
  traffic->begin(index);
  return OCTET_OK;
}

octet_status octet_traffic_touch(octet_traffic* traffic, const void* at, size_t bytes,
                                 octet_operand operand, int write, octet_error* error) {
  if (!traffic) return fail(error, OCTET_NULL_POINTER, "traffic is null");
  if ((unsigned)operand >= OCTET_OPERANDS)
    return fail(error, OCTET_UNKNOWN_ENUM, "operand is %d, which is no octet_operand",
                (int)operand);
  if (write != 0 && write != 1)
    return fail(error, OCTET_UNKNOWN_ENUM, "write is %d; it is 0 or 1", write);
  if (bytes > UINTPTR_MAX - (uintptr_t)at)
    return fail(error, OCTET_BAD_SIZE, "bytes is %zu: they leave the address space", bytes);
  if (bytes > kMostTouched)
    return fail(error, OCTET_BAD_SIZE, "bytes is %zu; it ends at %zu", bytes, kMostTouched);
  traffic->touch(at, bytes, operand, write);
  return OCTET_OK;
}

octet_status octet_traffic_flush(octet_traffic* traffic, octet_error* error) {
  if (!traffic) return fail(error, OCTET_NULL_POINTER, "traffic is null");
  traffic->flush();
  return OCTET_OK;
}

octet_status octet_traffic_get(const octet_traffic* traffic, size_t index,
                               octet_layer_traffic* layer, octet_error* error) {
  OCTET_TRY(check_layer(traffic, index, error));
  OCTET_TRY(check_out(layer, "layer", error));
  return give(traffic->layer(index), layer);
}
