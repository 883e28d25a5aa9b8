// SPDX-License-Identifier: Apache-2.0
// Allocates the memory of objects.
#include "operators/common/arena.h"

#include "dispatch/os/os.h"
#include "operators/common/check.h"

namespace octet {
namespace {

void* default_allocate(void*, size_t bytes, size_t alignment) {
  return os::allocate(bytes, alignment);
}
void default_release(void*, void* memory) { os::release(memory); }

}  // namespace

octet_status refuse_size(octet_error* error) {
  return fail(error, OCTET_BAD_SIZE, "desc: the object with its copies of arrays leaves size_t");
}

octet_status allocate(octet_allocator* allocator, size_t bytes, void** memory, octet_error* error) {
  if (!allocator->allocate) *allocator = {default_allocate, default_release, nullptr};
  *memory = allocator->allocate(allocator->context, bytes, kAlignment);
  if (!*memory)
    return fail(error, OCTET_OUT_OF_MEMORY, "desc.allocator returned null for %zu bytes", bytes);
  const octet_status status = check_aligned(*memory, "the memory from desc.allocator", error);
  if (status) allocator->release(allocator->context, *memory);
  return status;
}

}  // namespace octet
