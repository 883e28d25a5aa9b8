// SPDX-License-Identifier: Apache-2.0
// The end of octet_pack and octet_conv2d_pack: writes checked weights into the caller's blob; and
// the check that their outlines share.
#pragma once

#include <string.h>

#include "octet/network.h"
#include "operators/common/check.h"
#include "packing/container.h"

namespace octet {

struct NamedInput {
  const char* name;
  Extent extent;
};

inline octet_status check_outline(const void* outline, octet_error* error) {
  static_assert(kOutlineBytes == OCTET_OUTLINE_BYTES, "the public name of the same size");
  if (!outline) return fail(error, OCTET_NULL_POINTER, "outline is null");
  return check_aligned(outline, "outline", error);
}

// The description of weights as an outline takes it: those of which only their values tell whether
// they are packed sparse count as dense.
template <typename Desc>
Desc outlined(const Desc& given, bool zero_points) {
  Desc desc = given;
  desc.struct_size = sizeof desc;
  if (zero_points || given.sparsity == OCTET_SPARSE_AUTO) desc.sparsity = OCTET_SPARSE_NONE;
  return desc;
}

// packer has: bytes() and most_bytes() of the blob; dense(), false if look_at_weights(error)
// decides its size; write(blob); pays(blob), false if the weights are to be written again in the
// format that take_other_format() chooses, whose blob is no larger.
template <typename Packer, size_t count>
octet_status pack_into(Packer* packer, const char* size_function, const NamedInput (&inputs)[count],
                       void* blob, size_t blob_bytes, octet_error* error) {
  if (!blob) return fail(error, OCTET_NULL_POINTER, "blob is null");
  OCTET_TRY(check_aligned(blob, "blob", error));
  const auto is_short = [&] {
    return fail(error, OCTET_BAD_SIZE, "blob_bytes = %zu, but %s says %zu", blob_bytes,
                size_function, packer->bytes());
  };
  if (packer->dense() && blob_bytes < packer->bytes()) return is_short();
  const Extent room = extent_of(blob, smaller(blob_bytes, packer->most_bytes()));
  for (const NamedInput& input : inputs)
    if (meet(room, input.extent)) return fail(error, OCTET_OVERLAP, "blob overlaps %s", input.name);
  if (!packer->dense()) OCTET_TRY(packer->look_at_weights(error));
  if (blob_bytes < packer->bytes()) return is_short();
  packer->write(blob);
  if (packer->pays(blob)) return OCTET_OK;
  const size_t tried = packer->bytes();
  packer->take_other_format();
  packer->write(blob);
  memset((uint8_t*)blob + packer->bytes(), 0, tried - packer->bytes());
  return OCTET_OK;
}

}  // namespace octet
