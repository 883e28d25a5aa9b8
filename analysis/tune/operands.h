// Data of the tuner's own, for runs that nobody looks at.
#pragma once

#include "dispatch/api/error.h"

namespace octet {

// Memory that is full of bytes as any, or of floats around 0.
class TuneBuffer {
 public:
  TuneBuffer() = default;
  TuneBuffer(const TuneBuffer&) = delete;
  TuneBuffer& operator=(const TuneBuffer&) = delete;
  ~TuneBuffer();
  // For a x b x c x d elements. Fails where they leave memory; `name` says what they are.
  octet_status fill(const char* name, const size_t (&sizes)[4], octet_type type,
                    octet_error* error);
  // Of at least so many bytes, of any content. What was there is gone.
  octet_status grow(const char* name, size_t bytes, octet_error* error);
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace octet
