// Winograd's algorithm for 3x3 kernels: inner vocabulary.
//
// Y = A^T [ (G w G^T) .* (B^T x B) ] A per input channel; summed over the channels, the product in the middle is one matrix product per tap. G, B and A
// here are the integer ones, so Y comes out times a constant that the output transform removes. All of it is exact modulo 2^32.
#pragma once

#include "kernels/conv/conv.h"
#include "kernels/core/winograd.h"

namespace octet {

struct WinogradScheme {
  Winograd form;
  uint8_t patch, out, stride;   // per axis: inputs that a tile reads, outputs that it makes, inputs per output
  int8_t g[kMaxPatch][3];       // weights of one axis -> taps
  // The factor leaves |y| < 128 * weight_limit of int32: the sum of |w| over the input channels that are added up before it is removed.
  int32_t weight_limit;

  constexpr size_t taps() const { return (size_t)patch * patch; }
};

// What precedes the packed weights. Their number never depends on it.
struct WinogradHeader {
  uint32_t chunk;  // input channels that are added up before the factor is removed; a multiple of the layout's kr
  uint32_t reserved[15];
};

// Then, per group of channels and panel of the layout: taps matrices of words, group_in deep.
struct WinogradWeights {
  size_t tap_bytes, panel_bytes, group_bytes;
  constexpr WinogradWeights(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape)
      : tap_bytes(layout.depth(shape.group_in()) * layout.width * domain_bytes(layout.domain)),
        panel_bytes(s.taps() * tap_bytes),
        group_bytes(divide_up(shape.group_out(), layout.width) * panel_bytes) {}
};

const char* winograd_refuse(const WinogradScheme& s, const ConvShape& shape, bool weight_zero_points);
size_t winograd_payload_bytes(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape);
void winograd_pack(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape, const FilterView& filter, uint8_t* payload);
size_t winograd_task_workspace(const WinogradScheme& s, const ConvPlan& plan, size_t out_h, size_t out_w);
void winograd_run(const WinogradScheme& s, const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace);

}  // namespace octet
