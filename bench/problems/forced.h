// SPDX-License-Identifier: Apache-2.0
// Holds the caller's forced choices; null or AUTO is the library's choice.
#pragma once

#include <optional>
#include <string>

#include "octet/octet.h"

namespace tool {

struct Forced {
  octet_isa isa = OCTET_ISA_AUTO;
  const char* kernel = nullptr;
  octet_conv_algorithm algorithm = OCTET_CONV_AUTO;  // convolutions only
  octet_sparsity sparsity = OCTET_SPARSE_NONE;       // of the packed weights
  // In place of the data's own: float mode; weights with zero point 0 (128 for u8); neither
  // residual nor table; weights of 4 bits, or inputs and outputs of s16 values, as such of 8 bits
  bool float_mode = false, symmetric = false, plain = false, int8 = false;
};

// Only the environment forces a kernel when packing, which layouts of no tier need (the test
// kernels'). OCTET_KERNEL is the forced kernel while this lives, then its former value.
class PackingFor {
 public:
  explicit PackingFor(const Forced& forced);
  ~PackingFor();
  PackingFor(const PackingFor&) = delete;
  PackingFor& operator=(const PackingFor&) = delete;
  octet_isa isa() const { return forced_.kernel ? OCTET_ISA_AUTO : forced_.isa; }

 private:
  const Forced& forced_;
  std::optional<std::string> before_;
};

}  // namespace tool
