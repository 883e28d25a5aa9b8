// SPDX-License-Identifier: Apache-2.0
// The modelled caches, and the bytes that each layer moves between them and memory.
#pragma once

#include "analysis/traffic/cache.h"
#include "octet/traffic.h"

namespace octet {

// One allocation: the caches' lines and the layers follow the object.
class Memory {
 public:
  static size_t bytes(const octet_traffic_options& options);
  void init(const octet_traffic_options& options);

  size_t layers() const { return layers_; }
  size_t current() const { return layer_; }
  void begin(size_t layer) { layer_ = (uint32_t)layer; }

  // Accesses a range line by line.
  void touch(const void* at, size_t bytes, octet_operand operand, bool write);
  void flush();
  const octet_layer_traffic& layer(size_t index) const { return traffic_[index]; }

 private:
  // The mark of lines that this layer wrote for an operand; Cache::kClean marks no write.
  uint32_t mark_of(octet_operand operand) const {
    return layer_ * OCTET_OPERANDS + (uint32_t)operand + 1;
  }
  void write_back(uint32_t mark);

  Cache l1_, last_;
  octet_layer_traffic* traffic_;
  size_t layers_;
  uint32_t layer_;
};

}  // namespace octet

struct octet_traffic : octet::Memory {};
