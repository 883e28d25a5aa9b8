// SPDX-License-Identifier: Apache-2.0
// The cost model of a tier. From these figures, which are fitted per tier and core, the plan
// predicts the time of an algorithm: max(compute, memory) + exposed * min(compute, memory) +
// transforms and copies. Unless a field says otherwise, its unit is cycles of one core; a "mac" is
// one multiply-accumulate.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

struct TierCosts {
  // ---- dense int8 products
  double macs;  // macs per cycle in the middle of a large matrix
  uint16_t mr,  // rows of the kernel's tile
      nr;       // columns of the kernel's tile
  // 0, or the depth steps of one product of registers that take mr rows at one stride: other rows
  // are copied, and fewer rows or steps take as long
  uint32_t step = 0;
  double tile,    // fixed cost of a tile: bias, requantization, stores
      tile_tap;   // fixed cost of each tap of a tile
  double gather;  // bytes that the gather packs per cycle; 0 = the kernel reads rows in place
  // Factors of `macs` where products have at most 4 and at most 8 columns and are deep, so that the
  // kernel multiplies more columns at once in the depth
  float few_4 = 1, few_8 = 1;
  // A last tile of at most half its columns takes the time of so many; 0 = of all of the layout's
  uint16_t half_tile = 0;
  // Windows of few channels are read line by line by at most so many columns; 0 = nr
  uint16_t lines = 0;
  uint16_t tap_panels = 0;  // of the kernel's add_tap, for images of few pixels; 0: it has none
  bool tap_pairs = false;   // that kernel's weights are pairs (kernels/core/paired_weights.h)
  bool pads_lines = true;   // pads such lines to whole groups where that adds few steps
  double strided = 1;       // factor of the time of direct's products at a stride along lines
  // Factor of the time of direct's products of groups that are multiplied as bytes where the values
  // of a run allow that, as many networks' do
  double byte_windows = 1;
  // ---- int16 products and transforms, for Winograd
  double int16_macs;  // macs per cycle
  double int16_mr,    // rows of the int16 kernel's tile; AVX2's where nothing was fitted
      int16_nr;       // columns of that tile; AVX2's where nothing was fitted
  // The share `exposed`, from 0 to 1, of int16 products where several tiles of rows reuse one
  // micro-panel of weights
  double int16_exposed;
  double int16_in,  // per value that the input transform makes
      int16_out;    // per product that the output transform reads
  size_t lanes;     // channels that the input transform takes at once
  // ---- depthwise
  double depthwise;        // per output of 9 taps; the plan adds half of it at strides above 1
  size_t depthwise_lanes;  // channels of the kernel's block
  double depthwise_line;   // per output line and block of channels
  double depthwise_int16;  // factor of `depthwise` where the weights are int16
  // ---- grouped
  double grouped_macs;     // macs per cycle
  double grouped_store;    // per output: requantization and store
  double grouped_partial;  // per pixel whose last outputs do not fill a block
  // ---- 2:4 sparse weights
  double sparse_macs,      // dense macs per cycle that the sparse ones stand for
      sparse_macs_beside;  // the same on CPUs with wide_shuffles; 0 = sparse_macs
  size_t sparse_mr,        // rows of the sparse kernel's tile
      sparse_nr;           // columns of that tile
  double sparse_gather;    // `gather` of the sparse kernel
  double sparse_streamed;  // speed-up over dense weights where loading weights takes longest
  size_t sparse_few,   // sparse_streamed holds up to this many rows if L2 cannot hold the weights
      sparse_few_far;  // the same if no cache can hold them
  double sparse_start = 0,    // fixed cost of a tile, in depth steps
      sparse_start_few = 0,   // the same, at least, where one dense tile holds all rows
      sparse_start_near = 0;  // the same for one row of weights in L1; divided by the count of rows
  size_t sparse_last = 0;  // a partial last tile takes as long as one of this many rows; 0 = none
  // ---- memory and copies
  double l2_bytes = 28,    // bytes that a core reads per cycle from L2
      l3_bytes = 9,        // ... from L3
      memory_bytes = 2.9;  // ... from memory
  // Bytes of weights that a tile of one row reads per cycle from L2, or widens, at most: 27 to 30
  // were measured on Zen 4 (2026-11-28), whose l2_bytes of 17 are an average over whole layers.
  // AVX2 widens them: on Golden Cove 18 of 12, 18 and 28 cuts small images best (2026-11-29)
  double row_bytes = 28;
  double copy = 45,           // im2col and staging: per run of bytes
      copy_bytes = 7;         // im2col and staging: bytes per cycle
  double point = 3,           // to find the row of a tap
      gather_row = 12;        // to start gathering a row
  double epilogue = 0,        // per output that the tier's epilogue makes; 0 = not measured
      epilogue_call = 0;      // per call of the epilogue, of Winograd: a line of a tile
  double int16_call = 50;     // per call of an int16 kernel
  double transform_call = 6;  // per value of the patch in a call of a transform
};

}  // namespace octet
