// SPDX-License-Identifier: Apache-2.0
// A model of a set-associative cache with 64-byte lines and LRU replacement.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

constexpr size_t kLineBytes = 64;

class Cache {
 public:
  static constexpr uint32_t kClean = 0;

  // Bytes of memory for so many lines, aligned for an Entry.
  static size_t bytes(size_t lines) { return lines * sizeof(Entry); }
  // ways: divides the number of lines.
  void init(size_t lines, size_t ways, void* memory) {
    entries_ = (Entry*)memory;
    ways_ = ways;
    sets_ = lines / ways;
    clear();
  }
  void clear() {
    for (size_t i = 0; i < sets_ * ways_; ++i) entries_[i] = {kNoLine, kClean};
  }

  // Makes a line the newest of its set. Returns true if it was there; if not, *left is the mark of
  // the line that was evicted. mark: kClean keeps the line's own mark.
  bool touch(uint64_t line, uint32_t mark, uint32_t* left) {
    Entry* const set = entries_ + line % sets_ * ways_;
    *left = kClean;
    if (set->line != line) {
      size_t way = 1;
      while (way < ways_ && set[way].line != line) ++way;
      const bool found = way < ways_;
      if (!found) *left = set[--way].mark;
      const Entry newest = {line, found ? set[way].mark : kClean};
      for (; way > 0; --way) set[way] = set[way - 1];
      *set = newest;
      if (mark != kClean) set->mark = mark;
      return found;
    }
    if (mark != kClean) set->mark = mark;
    return true;
  }

  // Calls f(mark) for all lines.
  template <typename F>
  void for_each(const F& f) const {
    for (size_t i = 0; i < sets_ * ways_; ++i) f(entries_[i].mark);
  }

 private:
  static constexpr uint64_t kNoLine = UINT64_MAX;
  // Sorted in each set: the newest line comes first
  struct Entry {
    uint64_t line;
    uint32_t mark;
  };

  Entry* entries_;
  size_t sets_, ways_;
};

}  // namespace octet
