// SPDX-License-Identifier: Apache-2.0
// Describes networks whose maps are connected: the inputs and the output of each layer, in an order
// in which they can run.
#pragma once

#include <string>
#include <vector>

#include "bench/problems/conv_shape.h"
#include "bench/problems/gemm_data.h"
#include "octet/network.h"

namespace tool {

constexpr size_t kNoMap = SIZE_MAX;

// A tensor between layers: NHWC, or a matrix as a line of h pixels.
struct Map {
  size_t h, w, channels;  // h counts the lines of all images
  size_t element;         // bytes
  octet_type type;        // s8 or u8 for all elements of one byte, booleans too
  // For a slice: the map whose channels it has, which is no slice; kNoMap: no slice.
  size_t parent = kNoMap, first_channel = 0;

  size_t line_bytes() const { return w * channels * element; }
  size_t bytes() const { return h * line_bytes(); }
};

struct Layer {
  enum Kind { kConvolution, kProduct, kFunction };  // kFunction: an add, a pooling, another's op
  Kind kind;
  std::string name;
  ConvShape conv;
  GemmShape product;
  OperandTypes types;
  std::vector<size_t> inputs;  // a convolution's: the input, and perhaps a residual
  size_t output;
  // A function's: the lines that it reads, if they are known; run and context are not set.
  octet_network_function lines = {};

  double macs() const;
};

struct LayerList {
  std::string name;
  size_t batch;
  std::vector<Map> maps;
  std::vector<Layer> layers;

  // The map in which a slice lies.
  size_t alias_root(size_t map) const {
    return maps[map].parent == kNoMap ? map : maps[map].parent;
  }
  // Bytes from one pixel of the map to the next.
  size_t pixel_bytes(size_t map) const {
    return maps[alias_root(map)].channels * maps[map].element;
  }
};

// Reads a network of graph.h, a description (network.json), a suite, or one case, or throws Error.
// types: used if the network has none of its own.
LayerList parse_layers(const std::string& name, size_t batch, const std::string& types);

// The places of maps in one piece of memory: maps that are live at the same time do not overlap,
// the largest are placed first, slices lie in their parents.
struct MapArena {
  std::vector<size_t> offsets;
  size_t bytes;
};
MapArena lay_out_maps(const LayerList& list);

}  // namespace tool
