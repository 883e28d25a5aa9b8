// SPDX-License-Identifier: Apache-2.0
// Keeps a value that is found once in a process, without a lock.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <atomic>
#include <type_traits>

namespace octet {

// For static storage, which begins as zeros: nothing is kept then, and no initialiser runs. Racing
// threads must keep the same value.
template <typename T>
class Kept {
 public:
  // False if nothing was kept yet.
  bool read(T* value) const {
    if (!ready_.load(std::memory_order_acquire)) return false;
    uint32_t words[kWords];
    for (size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_relaxed);
    memcpy(value, words, sizeof *value);
    return true;
  }
  void keep(const T& value) {
    uint32_t words[kWords] = {};
    memcpy(words, &value, sizeof value);
    for (size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_relaxed);
    ready_.store(true, std::memory_order_release);
  }

 private:
  static_assert(std::is_trivially_copyable<T>::value, "a value is copied word by word");
  static constexpr size_t kWords = (sizeof(T) + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  std::atomic<uint32_t> words_[kWords];
  std::atomic<bool> ready_;
};

}  // namespace octet
