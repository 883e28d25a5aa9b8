// What an algorithm would cost on a tier, and the arithmetic that the methods' estimates share.
// Pure: shape, tier and caches are arguments, so that the choice for a machine that nobody owns is
// a unit test.
#pragma once

#include "kernels/core/tier_costs.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

// Of one core; times in microseconds.
struct Estimate {
  double macs, bytes;
  double compute, memory, transform;
  // Of the shorter of compute and memory, the share that the longer one does not hide
  double exposed = 0.2;
};

// A convolution at its declared sizes, and the machine.
struct ConvWork {
  const ConvShape& shape;
  RhsLayout layout;  // of the method's weights
  const TierCosts& cost;
  double l2, l3;  // bytes
  double out_h, out_w, pixels, outputs, inputs, weights;

  // l3_bytes: 0 = none
  ConvWork(const ConvShape& shape, const RhsLayout& layout, const TierCosts& cost, size_t l2_bytes,
           size_t l3_bytes);

  // Bytes per cycle from where `bytes` of operands live between two uses. Half of L3 is others',
  // and of a large one, which serves dozens of cores, all but kOneCoresL3; prefetching kernels use
  // what they can get of it.
  double bandwidth(double bytes, bool prefetched = false) const;
  double traffic() const { return inputs + weights + outputs; }  // bytes, each once
};

constexpr double kGigahertz = 3.5;  // nominal: only ratios decide
constexpr double microseconds(double cycles) { return cycles / (kGigahertz * 1e3); }

// What a form on panels does, all outputs together.
struct PanelWork {
  ConvShape shape;     // its groups joined
  double taps;         // of each output pixel
  size_t depth;        // of a tap
  double windows;      // bytes of what the outputs read
  double tiles;        // calls of kernels
  double points = 0;   // rows of a tap that are found one by one
  double gathers = 0;  // likewise, by kernels that gather
  double copied = 0;   // bytes
  double copies = 0;   // runs of bytes, where they are short
  double traffic = 0;  // bytes that copies write and read

  PanelWork(const ConvWork& work, const ConvShape& shape, double taps, size_t depth);
};
Estimate estimate_panels(const ConvWork& work, const PanelWork& panels);

}  // namespace octet
