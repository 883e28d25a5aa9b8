// Describes networks whose maps are connected: what each layer reads and writes, in an order in
// which they can run.
#pragma once

#include <string>
#include <vector>

#include "bench/problems/conv_shape.h"
#include "bench/problems/gemm_data.h"
#include "octet/network.h"

namespace tool {

constexpr size_t kNoMap = SIZE_MAX;

// A tensor between layers, NHWC or a matrix: then one line of h pixels.
struct Map {
  size_t h, w, channels;  // of all images together: h counts through them
  size_t element;         // bytes
  octet_type type;        // of bytes whatever else has one, such as booleans
  // Channels of a map that is no slice; kNoMap: a map of its own.
  size_t parent = kNoMap, first_channel = 0;

  size_t line_bytes() const { return w * channels * element; }
  size_t bytes() const { return h * line_bytes(); }
};

struct Layer {
  enum Kind { kConvolution, kProduct, kFunction };  // kFunction: an add, pooling, what others do
  Kind kind;
  std::string name;
  ConvShape conv;
  GemmShape product;
  OperandTypes types;
  std::vector<size_t> inputs;  // of a convolution: the input, and a residual, or none
  size_t output;
  // Of a function: the lines that it reads, if they are known; run and context are not set.
  octet_network_function lines = {};

  double macs() const;
};

struct LayerList {
  std::string name;
  size_t batch;
  std::vector<Map> maps;
  std::vector<Layer> layers;

  // The map that it lies in.
  size_t alias_root(size_t map) const {
    return maps[map].parent == kNoMap ? map : maps[map].parent;
  }
  // From one pixel of it to the next.
  size_t pixel_bytes(size_t map) const {
    return maps[alias_root(map)].channels * maps[map].element;
  }
};

// A network of graph.h, a description (network.json), a
// suite, or one case. Throws what is wrong with it. types: where the network has none of its own.
LayerList parse_layers(const std::string& name, size_t batch, const std::string& types);

// Where maps lie in one piece of memory: those that live at the same time apart from each other,
// the largest placed first; slices in their parents.
struct MapArena {
  std::vector<size_t> offsets;
  size_t bytes;
};
MapArena lay_out_maps(const LayerList& list);

}  // namespace tool
