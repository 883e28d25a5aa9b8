// What a tier's core needs, in cycles: what a plan reckons with.
#pragma once

#include <stddef.h>

namespace octet {

struct TierCosts {
  double macs;    // products per cycle in the middle of a large matrix
  size_t mr, nr;  // of the GEMM kernel
  // Of a tile, besides its products: bias, requantization, stores; of each tap, besides its
  // products
  double tile, tile_tap;
  double gather;              // bytes prepared per cycle; 0 = the kernels read rows where they lie
  double int16_macs;          // 16-bit products per cycle
  double int16_mr, int16_nr;  // of the word kernel; where nothing was fitted, AVX2's
  // Of its products and its traffic, the share of the shorter that the longer does not hide, where
  // tiles of rows take turns at a strip of weights: no weights come meanwhile
  double int16_exposed;
  double int16_in, int16_out;  // of each transformed value of the input and of the products
  size_t lanes;                // channels that the input transform takes at once
  // Of an output and its 9 taps; half as much again where outputs share fewer columns (stride above
  // 1)
  double depthwise;
  size_t depthwise_lanes;  // channels that the depthwise kernel takes at once
  double depthwise_line;   // of a line, for each such block of channels
  double depthwise_int16;  // times `depthwise`, where weights are words
  double grouped_macs;     // products per cycle of the grouped kernel
  double grouped_exit;     // of one of its outputs
  double grouped_partial;  // of a pixel whose last outputs do not fill a vector
  // 2:4 sparse weights: as `macs`, of the dense products that they stand for; the same where
  // 512-bit shuffles have ports beside those of products, if that matters; the kernel's tile; how
  // many times faster than dense ones for up to so few rows if no L2 holds them, and for how many
  // if no cache does; steps along depth that would take as long as what a tile takes besides; the
  // same where a dense tile holds all rows, and for a run of one row of weights that L1 holds (of
  // more rows: by so many less); rows of which a last tile takes as long, whatever it has
  double sparse_macs, sparse_macs_beside;
  size_t sparse_mr, sparse_nr;
  double sparse_gather;
  double sparse_streamed;
  size_t sparse_few, sparse_few_far;
  double sparse_start = 0, sparse_start_few = 0, sparse_start_near = 0;
  size_t sparse_last = 0;
  // Bytes per cycle that a core reads from each level
  double l2_bytes = 28, l3_bytes = 9, memory_bytes = 2.9;
  // im2col and staging: cycles of each run of bytes, bytes per cycle
  double copy = 45, copy_bytes = 7;
  double point = 3, gather_row = 12;  // to find a row of a tap, to gather it
  double int16_call = 50;             // of a call of a word kernel
  double transform_call = 6;          // of each value in a call of a transform
};

}  // namespace octet
