// SPDX-License-Identifier: Apache-2.0
// Draws one operand of a product: the matrices of a batch, anywhere that octet.h lets them lie.
#pragma once

#include "fuzz/data.h"
#include "fuzz/memory.h"

namespace octet_fuzz {

class Matrices {
 public:
  enum class Role { kInput, kOutput, kPackInput };  // pack takes no pointer arrays

  Matrices() = default;
  // `room`: bytes left free behind each matrix, for one of another operand; only strided ones have
  // it.
  Matrices(Choices* c, Role role, octet_type type, size_t rows, size_t cols, size_t batch,
           size_t room = 0);
  // An output in the room behind an input's matrices.
  static Matrices between(Choices* c, const Matrices& input, octet_type type, size_t rows,
                          size_t cols);

  // The arguments: a pointer or an array of pointers, strides in elements, 0 for dense.
  void* data = nullptr;
  void** array = nullptr;
  size_t stride = 0, batch_stride = 0;

  octet_type type = OCTET_S8;
  size_t rows = 0, cols = 0;
  std::vector<uint8_t*> at;  // the address of each matrix
  std::vector<Block> blocks;
  size_t room = 0;
  bool overlap = false;  // outputs that share a byte, which must be refused

  size_t span() const {
    return ((rows - 1) * row_step_ + cols) * element_bytes(type);
  }  // bytes of one matrix
  uint8_t* element(size_t b, size_t i, size_t j) const {
    return at[b] + (i * row_step_ + j) * element_bytes(type);
  }
  void foresee(Foreseen* foreseen) const;

 private:
  void scatter(Choices* c, size_t batch);
  void point(Choices* c, size_t access, bool may_repeat);
  size_t row_step_ = 0;
  Block pointers_;
};

}  // namespace octet_fuzz
