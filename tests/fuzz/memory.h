// SPDX-License-Identifier: Apache-2.0
// Gives memory for one execution: each block touches a guard page, at its front or at its back. The
// pages are mapped once; blocks only take and return slots of them, in an order that the input
// chooses, so that anything may lie between any two.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "fuzz/choices.h"

namespace octet_fuzz {

// Thrown if a block fits no slot: the input asks for too much work.
struct TooLarge {};

class Block {
 public:
  Block() = default;
  // A block full of garbage. Without bytes there is no block, and data() is null. The alignment
  // divides the bytes, or is below a page's.
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
  ~Block();  // fills the block with garbage, in case it is still read

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

// The memory of wrong arguments.
using Scratch = std::vector<Block>;

// The expected bytes of blocks after a call: their bytes now, with changes made in copies.
class Foreseen {
 public:
  void add(const Block& block);
  uint8_t* at(const void* data);  // the copy of this byte
  const uint8_t* at(const void* data) const;
  // The first unexpected byte, or null.
  const uint8_t* difference() const;
  void restore() const;  // copies the expected bytes into the blocks

 private:
  struct Part {
    uint8_t* data;
    std::vector<uint8_t> copy;
  };
  std::vector<Part> parts_;
};

// For desc.allocator: the object lies in a block of its own, and is destroyed before this.
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
