// Gives memory for one execution: each block touches a page that nobody may touch, at its front or
// at its back. The pages are mapped once; blocks only take and return slots of them, in an order
// that the input chooses, so that anything may lie between any two.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "fuzz/choices.h"

namespace octet_fuzz {

// Thrown where a block fits no slot: the input asks for more than a fuzz target should do.
struct TooLarge {};

class Block {
 public:
  Block() = default;
  // Full of garbage. No bytes: no block, and data() is null. The alignment divides the bytes, or is
  // below a page's.
  Block(Choices* c, size_t bytes, size_t alignment = 1);
  template <typename T>
  Block(Choices* c, const std::vector<T>& values)
      : Block(c, values.size() * sizeof(T), alignof(T)) {
    if (bytes_) std::memcpy(data_, values.data(), bytes_);
  }
  Block(Block&& other) noexcept { *this = std::move(other); }
  Block& operator=(Block&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Block();  // leaves garbage behind, for those who still read it

  template <typename T = uint8_t>
  T* data() const {
    return (T*)data_;
  }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
  size_t slot_ = 0;
};

Block copy_of(Choices* c, const Block& block, size_t alignment);

// The memory that wrong arguments point to.
using Scratch = std::vector<Block>;

// The bytes that blocks must hold after a call: those of now, but for what is written into their
// copies.
class Foreseen {
 public:
  void add(const Block& block);
  uint8_t* at(const void* data);  // the copy of this byte
  const uint8_t* at(const void* data) const;
  // The first byte that is not as foreseen, or null.
  const uint8_t* difference() const;
  void restore() const;  // the blocks to what the copies hold

 private:
  struct Part {
    uint8_t* data;
    std::vector<uint8_t> copy;
  };
  std::vector<Part> parts_;
};

// For desc.allocator: the object lies in a block of its own, and is gone when this is.
class BlockAllocator {
 public:
  explicit BlockAllocator(Choices* c) : c_(c) {}
  ~BlockAllocator();
  static void* allocate(void* self, size_t bytes, size_t alignment);
  static void release(void* self, void* memory);
  void fail(bool fails) { fails_ = fails; }

 private:
  Choices* c_;
  Block block_;
  bool fails_ = false;
};

}  // namespace octet_fuzz
