// SPDX-License-Identifier: Apache-2.0
// Maps the pages, and hands out slots of them. AddressSanitizer is told where a block ends, so that
// it checks the side without a guard, too.
#include "fuzz/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "fuzz/fuzz.h"
#include "support/system.h"

namespace octet_fuzz {
namespace {

constexpr size_t kSlots = 80, kSlotBytes = size_t{1} << 22;
constexpr uint8_t kFresh = 0xA5, kStale = 0x5A;

class Slots {
 public:
  Slots() {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), step = kSlotBytes + page;
    // One half below 2^40 if the system allows that, so that addresses differ in all their bytes.
    for (void* const where : {(void*)nullptr, (void*)kLow}) {
      void* const map = mmap(where, kSlots / 2 * step + page, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (map == MAP_FAILED) std::abort();
      for (size_t i = 0; i < kSlots / 2; ++i) {
        begin_.push_back((uint8_t*)map + page + i * step);
        if (mprotect(begin_.back(), kSlotBytes, PROT_READ | PROT_WRITE)) std::abort();
        OCTET_POISON(begin_.back(), kSlotBytes);
      }
    }
  }
  // The first free one from this on, so that an input finds the same slots again.
  size_t take(size_t slot) {
    for (size_t tries = 0; tries < kSlots; ++tries, ++slot)
      if (!taken_[slot % kSlots]) return taken_[slot % kSlots] = true, slot % kSlots;
    throw TooLarge();
  }
  void give_back(size_t slot) { taken_[slot] = false; }
  uint8_t* begin(size_t slot) const { return begin_[slot]; }

 private:
  static constexpr uintptr_t kLow = (uintptr_t)(uint64_t{1} << 36);
  std::vector<uint8_t*> begin_;
  bool taken_[kSlots] = {};
};

Slots& slots() {
  static Slots slots;
  return slots;
}

}  // namespace

Block::Block(Choices* c, size_t bytes, size_t alignment) {
  if (bytes == 0) return;
  if (bytes > kSlotBytes) throw TooLarge();
  const size_t choice = c->below(256);
  slot_ = slots().take(choice / 2 * 7);  // neighbours seldom
  bytes_ = bytes;
  data_ = slots().begin(slot_) + (choice % 2 ? 0 : (kSlotBytes - bytes) / alignment * alignment);
  OCTET_UNPOISON(data_, bytes_);
  std::memset(data_, kFresh, bytes_);
}

Block::~Block() {
  if (!bytes_) return;
  std::memset(data_, kStale, bytes_);
  OCTET_POISON(data_, bytes_);
  slots().give_back(slot_);
}

Block copy_of(Choices* c, const Block& block, size_t alignment) {
  Block copy(c, block.bytes(), alignment);
  if (block.bytes()) std::memcpy(copy.data(), block.data(), block.bytes());
  return copy;
}

void Foreseen::add(const Block& block) {
  if (block.bytes()) parts_.push_back({block.data(), {block.data(), block.data() + block.bytes()}});
}

const uint8_t* Foreseen::at(const void* data) const {
  for (const Part& part : parts_) {
    const size_t offset = (size_t)((const uint8_t*)data - part.data);
    if (offset < part.copy.size()) return part.copy.data() + offset;
  }
  fail("the harness foresees memory that is in none of its blocks");
}

uint8_t* Foreseen::at(const void* data) { return (uint8_t*)std::as_const(*this).at(data); }

const uint8_t* Foreseen::difference() const {
  for (const Part& part : parts_) {
    if (std::memcmp(part.data, part.copy.data(), part.copy.size()) == 0) continue;
    return std::mismatch(part.copy.begin(), part.copy.end(), part.data).second;
  }
  return nullptr;
}

void Foreseen::restore() const {
  for (const Part& part : parts_) std::memcpy(part.data, part.copy.data(), part.copy.size());
}

BlockAllocator::~BlockAllocator() {
  if (block_.bytes()) octet_fuzz::fail("memory is left after destroy, or after create failed");
}

void* BlockAllocator::allocate(void* self, size_t bytes, size_t alignment) {
  BlockAllocator& allocator = *(BlockAllocator*)self;
  if (allocator.fails_ || bytes > kSlotBytes) return nullptr;
  if (allocator.block_.bytes()) octet_fuzz::fail("create allocates twice");
  allocator.block_ = Block(allocator.c_, bytes, alignment);
  return allocator.block_.data();
}

void BlockAllocator::release(void* self, void* memory) {
  BlockAllocator& allocator = *(BlockAllocator*)self;
  if (!memory || memory != allocator.block_.data())
    octet_fuzz::fail("release of memory that was not allocated");
  allocator.block_ = Block();
}

}  // namespace octet_fuzz
