// SPDX-License-Identifier: Apache-2.0
// Maps buffers, large ones on huge pages.
#include "bench/machine/buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

#include "bench/machine/api.h"

namespace tool {

Buffer::Buffer(size_t bytes) : bytes_(bytes) {
  constexpr size_t kHugePage = 2 << 20, kPage = 4096;
  const size_t alignment = bytes >= kHugePage ? kHugePage : kPage;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, (bytes / alignment + 1) * alignment) != 0)
    throw Error(fmt::format("cannot allocate {} bytes", bytes));
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
