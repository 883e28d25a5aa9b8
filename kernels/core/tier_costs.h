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
  double gather;            // bytes prepared per cycle; 0 = the kernels read rows where they lie
  double word_macs;         // 16-bit products per cycle
  double word_mr, word_nr;  // of the word kernel; where nothing was fitted, AVX2's
  // The share of its traffic that its products cannot hide: narrow tiles do little between two
  // loads of weights
  double word_exposed;
  double word_in, word_out;  // of each transformed value of the input and of the products
  size_t lanes;              // channels that the input transform takes at once
  // Of an output and its 9 taps; half as much again where outputs share fewer columns (stride above
  // 1)
  double depthwise;
  size_t depthwise_lanes;  // channels that the depthwise kernel takes at once
  double depthwise_line;   // of a line, for each such block of channels
  double depthwise_words;  // times `depthwise`, where weights are words
  double grouped_macs;     // products per cycle of the grouped kernel
  double grouped_exit;     // of one of its outputs
  // 2:4 sparse weights: as `macs`, of the dense products that they stand for; the same where
  // 512-bit shuffles have ports beside those of products, if that matters; the kernel's tile; how
  // many times faster than dense ones for a few rows, if no L2 holds them
  double sparse_macs, sparse_macs_beside;
  size_t sparse_mr, sparse_nr;
  double sparse_gather;
  double sparse_streamed;
};

}  // namespace octet
