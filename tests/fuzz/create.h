// SPDX-License-Identifier: Apache-2.0
// Creates either object, and tries errors before it.
#pragma once

#include "fuzz/fuzz.h"
#include "fuzz/memory.h"

namespace octet_fuzz {

// The outcome that is expected.
struct Expected {
  const char* refused;                  // why create must refuse it, or null
  bool may_refuse;                      // because of the forced kernel or tier
  bool may_overflow;                    // an accumulator may leave int32, and its byte is the same
  bool zero_points_may_remain = false;  // of s16 values' weights, if they were not packed sparse
};

// Creates the object in a block of its own; before that it sometimes tries an invalid descriptor,
// or an allocator without memory. Null if the object was refused as expected.
template <typename Desc, typename Object>
Object* create(Choices* c, const char* what, Desc desc, BlockAllocator* allocator,
               const Expected& expected,
               octet_status (*function)(const Desc*, Object**, octet_error*)) {
  Object* object = nullptr;
  octet_error error;
  desc.allocator = {BlockAllocator::allocate, BlockAllocator::release, allocator};
  if (c->one_in(2)) {
    Scratch scratch;
    Desc bad = desc;
    if (const char* why = spoil(c, &scratch, &bad))
      must_refuse(what, why, [&](octet_error* e) { return function(&bad, &object, e); });
  }
  const auto call = [&](octet_error* e) { return function(&desc, &object, e); };
  if (c->one_in(32)) {
    allocator->fail(true);
    must_refuse(what, "an allocator without memory", call);
    allocator->fail(false);
  }
  if (object) fail("%s failed and left something", what);
  const octet_status status = checked(what, &error, call);
  if ((status == OCTET_OK) != (object != nullptr))
    fail("%s: status %d, object %p", what, status, (void*)object);
  if (object) {
    if (expected.refused) fail("%s accepted %s", what, expected.refused);
    return object;
  }
  const bool forced =
      expected.may_refuse && (status == OCTET_WRONG_TIER || status == OCTET_KERNEL_UNUSABLE);
  const bool overflows =
      expected.may_overflow && (status == OCTET_ACCUMULATOR_OVERFLOW || status == OCTET_BAD_SCALE);
  const bool zero_point = expected.zero_points_may_remain && status == OCTET_BAD_ZERO_POINT;
  if (!expected.refused && !forced && !overflows && !zero_point)
    fail("%s refused what is valid: %s", what, error.message);
  ++tally.refusals;
  return nullptr;
}

}  // namespace octet_fuzz
