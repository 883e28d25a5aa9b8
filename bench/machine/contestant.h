// SPDX-License-Identifier: Apache-2.0
// Declares a contestant of a bench, which computes a product: Octet or a peer.
#pragma once

#include <cstddef>

#include "bench/machine/clock.h"

namespace tool {

class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual void run(size_t calls) = 0;
  virtual const void* dst() const = 0;
  virtual size_t blob_bytes() const { return 0; }  // of the packed weights; 0 = unknown

  // Seconds that the calls take. A contestant in another process reads the same kind of clock
  // there.
  virtual double time(size_t calls, const Clock& clock) {
    return clock.time([&] { run(calls); });
  }
};

}  // namespace tool
