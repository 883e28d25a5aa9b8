// SPDX-License-Identifier: Apache-2.0
// Operands for the tuner's own runs; nobody uses the results.
#pragma once

#include "dispatch/api/error.h"

namespace octet {

// A buffer of arbitrary bytes, or of floats around 0.
class TuneBuffer {
 public:
  TuneBuffer() = default;
  TuneBuffer(const TuneBuffer&) = delete;
  TuneBuffer& operator=(const TuneBuffer&) = delete;
  ~TuneBuffer();
  // Fills a x b x c x d elements. Fails if they exceed memory; `name` is the operand's, for the
  // message.
  octet_status fill(const char* name, const size_t (&sizes)[4], octet_type type,
                    octet_error* error);
  // Provides at least so many bytes, with arbitrary content. The old content is lost.
  octet_status grow(const char* name, size_t bytes, octet_error* error);
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace octet
