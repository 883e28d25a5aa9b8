// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a network's description.
#include "operators/common/check.h"
#include "operators/network/read.h"

namespace octet {
namespace {

constexpr size_t kLargest = (size_t)1 << 31;

octet_status read_tensor(const octet_network_tensor& t, size_t i, NetworkTensor* to,
                         octet_error* error) {
  if ((t.type < OCTET_S8 || t.type > OCTET_F32) && t.type != OCTET_S16)
    return fail(error, OCTET_UNKNOWN_ENUM, "tensors[%zu].type = %d is no octet_type", i,
                (int)t.type);
  const struct {
    const char* name;
    size_t value;
  } sizes[] = {{"batch", t.batch}, {"h", t.h}, {"w", t.w}, {"channels", t.channels}};
  size_t bytes = element_bytes(t.type);
  for (const auto& size : sizes) {
    if (size.value == 0 || size.value > kLargest)
      return fail(error, OCTET_BAD_SIZE, "tensors[%zu].%s = %zu; it must be 1 to 2^31", i,
                  size.name, size.value);
    if (__builtin_mul_overflow(bytes, size.value, &bytes) || bytes > PTRDIFF_MAX / 2)
      return fail(error, OCTET_BAD_SIZE, "tensors[%zu]: %zu x %zu x %zu x %zu leave size_t", i,
                  t.batch, t.h, t.w, t.channels);
  }
  if (t.keep != (t.keep != 0) || t.slice != (t.slice != 0) || t.reserved)
    return fail(error, OCTET_UNSUPPORTED, "tensors[%zu]: keep and slice must be 0 or 1, reserved 0",
                i);
  *to = {};
  to->batch = t.batch, to->h = t.h, to->w = t.w, to->channels = t.channels;
  to->type = t.type;
  to->alias_root = i;
  to->kept = t.keep;
  to->pixel = t.channels * element_bytes(t.type);
  to->bytes = bytes;
  return OCTET_OK;
}

octet_status read_slice(const octet_network_desc& desc, size_t i, NetworkTensor* tensors,
                        octet_error* error) {
  const octet_network_tensor& t = desc.tensors[i];
  if (t.parent >= desc.tensor_count || desc.tensors[t.parent].slice)
    return fail(error, OCTET_BAD_NETWORK, "tensors[%zu].parent = %zu is %s", i, t.parent,
                t.parent < desc.tensor_count ? "a slice itself" : "no tensor");
  const octet_network_tensor& parent = desc.tensors[t.parent];
  if (t.keep)
    return fail(error, OCTET_UNSUPPORTED, "tensors[%zu].keep must be 0: it is the parent's that %s",
                i, "counts for a slice");
  if (t.batch != parent.batch || t.h != parent.h || t.w != parent.w || t.type != parent.type)
    return fail(error, OCTET_BAD_SIZE,
                "tensors[%zu], a slice, has other sizes or another type than tensors[%zu]", i,
                t.parent);
  if (t.first_channel > parent.channels || t.channels > parent.channels - t.first_channel)
    return fail(error, OCTET_BAD_SIZE,
                "tensors[%zu]: channels %zu to %zu, but tensors[%zu] has %zu", i, t.first_channel,
                t.first_channel + t.channels, t.parent, parent.channels);
  tensors[i].alias_root = t.parent;
  tensors[i].at = t.first_channel * element_bytes(t.type);
  tensors[i].kept = parent.keep;
  tensors[i].pixel = tensors[t.parent].pixel;
  tensors[i].bytes = 0;
  return OCTET_OK;
}

}  // namespace

octet_status read_tensors(const octet_network_desc& desc, NetworkTensor* tensors,
                          octet_error* error) {
  for (size_t i = 0; i < desc.tensor_count; ++i)
    OCTET_TRY(read_tensor(desc.tensors[i], i, &tensors[i], error));
  for (size_t i = 0; i < desc.tensor_count; ++i) {
    NetworkTensor& t = tensors[i];
    if (desc.tensors[i].slice) OCTET_TRY(read_slice(desc, i, tensors, error));
    t.line = t.w * t.pixel;
    t.image = t.h * t.line;
  }
  return OCTET_OK;
}

}  // namespace octet
