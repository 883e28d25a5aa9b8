// SPDX-License-Identifier: Apache-2.0
// Maps buffers, large ones on huge pages.
#include "bench/machine/buffer.h"

#include <fmt/format.h>
#if defined(_WIN32)
#include <malloc.h>
#else
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <cstring>

#include "bench/machine/api.h"

namespace tool {
namespace {

void* allocate(size_t bytes, size_t alignment) {
#if defined(_WIN32)
  return _aligned_malloc(bytes, alignment);
#else
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
#endif
}

}  // namespace

void Free::operator()(void* memory) const {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

Buffer::Buffer(size_t bytes) : bytes_(bytes) {
  constexpr size_t kHugePage = 2 << 20, kPage = 4096;
  const size_t alignment = bytes >= kHugePage ? kHugePage : kPage;
  void* const memory = allocate((bytes / alignment + 1) * alignment, alignment);
  if (!memory) throw Error(fmt::format("cannot allocate {} bytes", bytes));
  memory_.reset((uint8_t*)memory);
#if defined(MADV_HUGEPAGE)
  // A failure only makes the buffer slower
  if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, bytes);
}

Buffer::Buffer(const Buffer& other) : Buffer(other.bytes_) {
  std::memcpy(memory_.get(), other.memory_.get(), bytes_);
}

}  // namespace tool
