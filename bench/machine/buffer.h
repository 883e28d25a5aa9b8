// SPDX-License-Identifier: Apache-2.0
// Holds zeroed memory, aligned as the library asks. Large buffers sit on huge pages, for every
// contestant of a bench alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tool {

struct Free {
  void operator()(void* memory) const;
};

class Buffer {
 public:
  explicit Buffer(size_t bytes = 0);
  Buffer(const Buffer& other);
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;
  template <typename T = uint8_t>
  T* as() const {
    return (T*)memory_.get();
  }
  size_t size() const { return bytes_; }

 private:
  std::unique_ptr<uint8_t, Free> memory_;
  size_t bytes_;
};

}  // namespace tool
