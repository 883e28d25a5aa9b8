// SPDX-License-Identifier: Apache-2.0
// Gives memory between two pages that may not be touched: one byte too far is a crash, with or
// without a sanitizer.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "support/system.h"

namespace octet_test {

enum class Side { kBack, kFront };  // which guard the data touches

class Guarded {
 public:
  Guarded() = default;
  // The data begins at a multiple of `alignment`; if its size is one too, it touches the guard at
  // the back exactly.
  Guarded(size_t bytes, Side side, size_t alignment = 1) : bytes_(bytes) {
    const size_t page = page_bytes();
    body_ = (bytes + page - 1) / page * page;
    guard_ = take_guarded(body_);
    if (!guard_) std::abort();
    data_ = guard_ + page + (side == Side::kFront ? 0 : (body_ - bytes) / alignment * alignment);
    std::memset(guard_ + page, kUntouched, body_);
  }
  template <typename T>
  Guarded(const std::vector<T>& values, Side side)
      : Guarded(values.size() * sizeof(T), side, alignof(T)) {
    if (bytes_) std::memcpy(data_, values.data(), bytes_);
  }
  Guarded(Guarded&& other) noexcept { *this = (Guarded &&) other; }
  Guarded& operator=(Guarded&& other) noexcept {
    std::swap(guard_, other.guard_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(body_, other.body_);
    std::swap(read_only_, other.read_only_);
    return *this;
  }
  ~Guarded() {
    if (guard_) release_guarded(guard_, body_, read_only_);
  }

  static constexpr uint8_t kUntouched = 0xA5;

  template <typename T = uint8_t>
  T* data() const {
    return (T*)data_;
  }
  size_t bytes() const { return bytes_; }
  void read_only() const {
    limit_to(Access::kRead, guard_ + page_bytes(), body_);
    read_only_ = true;
  }

 private:
  uint8_t* guard_ = nullptr;  // the first guard's page; the body's pages and another guard follow
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0, body_ = 0;
  mutable bool read_only_ = false;
};

}  // namespace octet_test
