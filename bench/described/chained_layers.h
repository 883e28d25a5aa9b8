// Treats a list of created layers as one network: what it moves when it runs in chains.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "bench/described/created_layers.h"
#include "bench/described/placed_network.h"

namespace tool {

// A function between layers, which stands for what others do: it reads lines and writes lines.
struct PassedLines {
  octet_network_function lines;
  std::vector<size_t> input_elements;  // bytes
  size_t output_element;
};

// The goal is the least traffic behind a cache of so many bytes.
class ChainedLayers {
 public:
  // Both must outlive it. Throws where the layers are no network, as octet_network_create has it.
  ChainedLayers(const LayerList& list, const CreatedLayers& created, size_t cache_bytes);

  void run() const;
  void walk(octet_traffic* traffic) const;  // layer i of the list is layer i of the traffic
  size_t map_bytes() const;                 // for all maps, those of the caller's among them
  // The parts that are no plain layers: chains, and layers that run image by image.
  std::vector<octet_network_part> chains() const;

 private:
  std::deque<PassedLines> functions_;
  std::unique_ptr<PlacedNetwork> network_;
};

}  // namespace tool
