// SPDX-License-Identifier: Apache-2.0
// Treats a list of created layers as one network, to run it in chains and to model its traffic.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "bench/described/created_layers.h"
#include "bench/described/placed_network.h"

namespace tool {

// A function between layers, in place of another engine's op: it reads lines and writes lines.
struct PassedLines {
  octet_network_function lines;
  std::vector<size_t> input_elements;  // bytes
  size_t output_element;
};

// The goal is the least traffic behind a cache of cache_bytes.
class ChainedLayers {
 public:
  // list and created must outlive it. Throws if octet_network_create refuses the layers.
  ChainedLayers(const LayerList& list, const CreatedLayers& created, size_t cache_bytes);

  void run() const;
  void walk(octet_traffic* traffic) const;  // layer i of the list is layer i of the traffic
  size_t map_bytes() const;                 // of all maps, the caller's included
  // The parts other than plain layers: chains, and layers that run image by image.
  std::vector<octet_network_part> chains() const;

 private:
  std::deque<PassedLines> functions_;
  std::unique_ptr<PlacedNetwork> network_;
};

}  // namespace tool
