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
    const size_t page = page_bytes(), body = (bytes + page - 1) / page * page;
    mapped_ = body + 2 * page;
    map_ = map_pages(mapped_);
    if (!map_) std::abort();
    limit_to(Access::kNone, map_, page);
    limit_to(Access::kNone, map_ + page + body, page);
    data_ = map_ + page + (side == Side::kFront ? 0 : (body - bytes) / alignment * alignment);
    std::memset(map_ + page, kUntouched, body);
  }
  template <typename T>
  Guarded(const std::vector<T>& values, Side side)
      : Guarded(values.size() * sizeof(T), side, alignof(T)) {
    if (bytes_) std::memcpy(data_, values.data(), bytes_);
  }
  Guarded(Guarded&& other) noexcept { *this = (Guarded &&) other; }
  Guarded& operator=(Guarded&& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~Guarded() {
    if (map_) unmap_pages(map_, mapped_);
  }

  static constexpr uint8_t kUntouched = 0xA5;

  template <typename T = uint8_t>
  T* data() const {
    return (T*)data_;
  }
  size_t bytes() const { return bytes_; }
  void read_only() const {
    limit_to(Access::kRead, map_ + page_bytes(), mapped_ - 2 * page_bytes());
  }

 private:
  uint8_t* map_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0, mapped_ = 0;
};

}  // namespace octet_test
