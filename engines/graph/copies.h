// Moves bytes between tensors: to other sizes, through a table, to another order of channels.
#pragma once

#include <memory>

#include "engines/graph/sizes.h"

namespace octet::graph {

// A function of a network with what its context points to.
struct Function {
  octet_network_function lines = {};
  std::shared_ptr<void> arguments;
};

// The same elements in the same order, in images of any sizes, each byte through `table` if there
// is one. element: the bytes of one.
Function copy_function(size_t element, const std::vector<uint8_t>& table);

// Between images whose elements lie channel by channel and those that lie pixel by pixel. The
// former are read and written as they lie, whatever their network's sizes are; pixels: h * w.
Function channels_last_function(size_t element, size_t channels, size_t pixels);
Function channels_first_function(size_t element, size_t channels, size_t pixels);

// f32 to 8 bits and back, by one scale. half_away: halves away from zero, as TensorFlow Lite
// rounds, else to even.
Function quantize_function(octet_type type, float scale, int32_t zero_point, bool half_away);
Function dequantize_function(octet_type type, float scale, int32_t zero_point);

}  // namespace octet::graph
