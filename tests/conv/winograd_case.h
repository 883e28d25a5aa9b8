// SPDX-License-Identifier: Apache-2.0
// Drives one convolution by one of Winograd's algorithms directly through its plan: data from a
// seed, guard pages around every buffer, and the expected accumulators.
#pragma once

#include <iosfwd>
#include <random>
#include <vector>

#include "operators/conv/algorithms/algorithm.h"
#include "support/guarded.h"

namespace octet_test {

enum class Store { kS32, kRequantization, kEpilogue, kResidual };

inline octet::ElementType type_of(bool u8) {
  return u8 ? octet::ElementType::kU8 : octet::ElementType::kS8;
}

struct WinogradCase {
  static constexpr int kRandom = -1000;

  const octet::ConvAlgorithm* implementation = &octet::winograd_4x4_algorithm;
  size_t batch = 1, in_h = 8, in_w = 8, in_channels = 8, out_channels = 8, groups = 1;
  size_t top = 1, bottom = 1, left = 1, right = 1;
  size_t kernel_h = 3, kernel_w = 3, stride = 1;  // stride: of winograd_2x2_s2, 2
  bool lhs_u8 = true, rhs_u8 = false, dst_u8 = true, ohwi = true;
  int input = kRandom, weight = kRandom;  // in s8
  // Of an output channel's weights, this many from one 0 to the next; 0 = none
  size_t zero_every = 0;
  int32_t zero_point = 3;
  bool runtime_zero_point = false;
  Store store = Store::kS32;
  size_t gap = 0;    // bytes between pixels, and as much between lines and images
  size_t tasks = 1;  // lines and channels are cut into about so many
  size_t cache = 1 << 18;
  size_t block = 0;  // tiles, as a tuning file may ask for; 0: as many as the algorithm chooses
  const float* tap_ranges = nullptr;
};

std::ostream& operator<<(std::ostream& out, const WinogradCase& c);

class WinogradRun {
 public:
  WinogradRun(const octet::MicroKernel& kernel, const WinogradCase& c);
  void check();  // all outputs, ==; against the int8 algorithm's own definition if it is that

  // (x - zero point) * w over the window; positions outside the image hold the zero point.
  int64_t exact(size_t pixel, size_t channel) const {
    return exact(channel, window(pixel, channel / shape_.group_out()));
  }
  // The int8 algorithm's output: DESIGN.md, once more and slowly.
  int64_t approximate(size_t pixel, size_t channel) const {
    return approximate(pixel, channel, quantized_inputs(pixel, channel / shape_.group_out()));
  }
  size_t outputs() const { return outputs_; }

 private:
  int32_t dst_zero_point() const { return c_.dst_u8 ? 119 : -9; }
  int32_t lo() const { return c_.dst_u8 ? 2 : -127; }
  int32_t hi() const { return c_.dst_u8 ? 254 : 126; }
  int32_t zero_point(size_t image) const {
    return c_.runtime_zero_point ? c_.zero_point + (int32_t)image : c_.zero_point;
  }
  uint8_t byte(int fixed, bool is_u8) {
    return (uint8_t)((fixed == WinogradCase::kRandom ? random_() : (uint32_t)fixed) ^
                     (is_u8 ? 0x80 : 0));
  }
  const uint8_t* weight_at(size_t o, size_t ky, size_t kx, size_t i) const;
  int32_t weight(size_t o, size_t ky, size_t kx, size_t i) const {
    return (int8_t)(*weight_at(o, ky, kx, i) ^ (c_.rhs_u8 ? 0x80 : 0));
  }
  std::vector<int32_t> window(size_t pixel, size_t group) const;
  int64_t exact(size_t channel, const std::vector<int32_t>& inputs) const;
  std::vector<int32_t> quantized_inputs(size_t pixel, size_t group) const;
  int64_t approximate(size_t pixel, size_t channel, const std::vector<int32_t>& inputs) const;
  // In s8, wherever the position is
  int32_t centred(size_t image, size_t y, size_t x, size_t channel) const;
  void make_data();
  void make_plan();
  void quantize_weights();
  int32_t factor(size_t tap) const;
  void run();

  const octet::MicroKernel& kernel_;
  const WinogradCase c_;
  std::mt19937 random_;
  octet::ConvShape shape_;
  size_t out_h_, out_w_, outputs_, pixel_, row_, image_, zero_row_;
  Guarded lhs_, weights_, zeros_, payload_, dst_, residual_;
  std::vector<int32_t> bias_, raw_bias_, weight_sum_, lhs_zero_points_;
  std::vector<float> scales_, lhs_scales_;
  std::vector<int32_t> plain_;      // [output channel][tap][input channel]
  std::vector<int32_t> quantized_;  // int8: [output channel][input channel][tap]
  std::vector<float> tap_scales_;   // [output channel][tap]
  octet::ConvPlan plan_ = {};
};

}  // namespace octet_test
