// SPDX-License-Identifier: Apache-2.0
// The predicted cost of an algorithm on a tier, and the arithmetic that the algorithms' estimates
// share. Pure: shape, tier and caches are arguments, so unit tests cover machines that nobody owns.
#pragma once

#include "kernels/core/tier_costs.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

// Predicted work and times on one core; times in microseconds.
struct Estimate {
  double macs, bytes;
  double compute, memory, transform;
  // time = max(compute, memory) + exposed * min(compute, memory)
  double exposed = 0.2;
};

// The output as far as a filter's descriptor tells. Zeros: 8 bits that the kernel requantizes.
struct OutputFacts {
  size_t bytes;  // of an output; 0 = unknown
  bool tflite;   // TFLite mode: transforms do not requantize, kernels do
  // A residual, a table or double mode: the tier's epilogue makes it. Tables count as its work,
  // though most are looked up in place: it costs about as much. Floats do not: kernels make them.
  bool epilogue;
  // Of s16, as the input then is, too: windows of few channels have a kernel of their own
  bool s16;
  bool floats = false;  // f32
};

// A convolution at its declared sizes, with the machine's costs.
struct ConvWork {
  const ConvShape& shape;
  RhsLayout layout;  // layout of the algorithm's weights
  const TierCosts& cost;
  double l2, l3;  // sizes in bytes
  OutputFacts output;
  double out_h, out_w, pixels, outputs, inputs, weights;
  double output_bytes;
  double rows;  // pixels, rounded up to whole registers (TierCosts::step)

  // l3_bytes: 0 = no L3
  ConvWork(const ConvShape& shape, const RhsLayout& layout, const TierCosts& cost, size_t l2_bytes,
           size_t l3_bytes, const OutputFacts& output = {});

  // Bytes per cycle from the cache that holds `bytes` of operands between two uses. Only half of L3
  // counts, since other cores use it, or, for prefetching kernels, all of it at a lower bandwidth;
  // more than kOneCoresL3 never counts, because a larger L3 serves dozens of cores.
  double bandwidth(double bytes, bool prefetched = false) const;
  double traffic() const { return inputs + weights + output_bytes; }  // each tensor once
  // Of an algorithm whose kernels requantize in both modes.
  double epilogue_cycles() const { return output.epilogue ? outputs * cost.epilogue : 0; }
};

constexpr double kGigahertz = 3.5;  // nominal, because only ratios matter
constexpr double microseconds(double cycles) { return cycles / (kGigahertz * 1e3); }

// The work of an algorithm on panels, for all outputs.
struct PanelWork {
  ConvShape shape;         // its groups joined
  double taps;             // taps per output pixel
  size_t depth;            // depth of a tap
  double windows;          // bytes of the windows that outputs read
  double tiles;            // kernel calls
  double points = 0;       // rows of a tap that are looked up one by one
  double gathers = 0;      // rows of a tap that gathering kernels look up one by one
  double copied = 0;       // bytes copied
  double copies = 0;       // separate short runs of bytes copied
  double rows_copied = 0;  // bytes of rows that kernels copy (TierCosts::step)
  double traffic = 0;      // bytes that copies write and read

  PanelWork(const ConvWork& work, const ConvShape& shape, double taps, size_t depth);
};
Estimate estimate_panels(const ConvWork& work, const PanelWork& panels);

}  // namespace octet
