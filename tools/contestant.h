// Whoever computes a product in a bench: Octet or a peer.
#pragma once

#include <cstddef>

namespace tool {

class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual void run(size_t calls) = 0;
  virtual const void* dst() const = 0;
};

}  // namespace tool
