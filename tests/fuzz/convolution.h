// SPDX-License-Identifier: Apache-2.0
// Draws a valid convolution: descriptors, arguments, tensors, and the outputs that the reference
// expects.
#pragma once

#include "fuzz/epilogue.h"
#include "fuzz/fuzz.h"
#include "support/reference.h"

namespace octet_fuzz {

// A tensor of pixels and its memory.
struct Tensor {
  octet_layout layout = OCTET_NHWC;
  octet_type type = OCTET_S8;
  size_t batch = 1, h = 1, w = 1, channels = 1, pixel = 1;
  Block block;

  Tensor() = default;
  Tensor(Choices* c, octet_layout layout, octet_type type, size_t batch, size_t h, size_t w,
         size_t channels);
  size_t stride() const { return pixel == channels ? 0 : pixel; }
  uint8_t* at(size_t b, size_t y, size_t x, size_t c) const {
    const size_t element = layout == OCTET_NHWC ? ((b * h + y) * w + x) * pixel + c
                                                : ((b * channels + c) * h + y) * w + x;
    return block.data() + element * element_bytes(type);
  }
};

class Convolution {
 public:
  explicit Convolution(Choices* c);

  octet_filter_desc filter =
      OCTET_FILTER_DESC_INIT;  // without algorithm; its sizes and pads may be others than desc's
  octet_conv2d_desc desc =
      OCTET_CONV2D_DESC_INIT;  // without the fields that Epilogue describes, the blob and the way
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;  // without workspace
  Epilogue epilogue;
  bool in_place = false;   // dst is the residual
  bool no_output = false;  // run must refuse its sizes
  // Why create must refuse it, packed for this algorithm, or null.
  const char* refused(octet_conv_algorithm algorithm) const;

  Block weights, zero_points, tap_ranges, filter_machine;  // filter points to these
  Block machine;                                           // desc's; may differ from the filter's
  Tensor lhs, dst, residual;
  Block lhs_zero_points, lhs_scales, pads;
  Foreseen before, after;  // a run: the contents of the tensors

  octet_conv2d_shape run_shape() const;  // with the pads of the run

  // Whether an algorithm can compute it, by octet.h.
  bool possible(octet_conv_algorithm algorithm) const;
  uint64_t outputs() const { return uint64_t{dst.batch} * dst.h * dst.w * dst.channels; }
  // Takes the outputs in dst as the expected ones, for approximate algorithms.
  void take_outputs(Foreseen* to) const;
  // Reports the place of an unexpected byte.
  [[noreturn]] void report(const char* what, const char* by, const Foreseen& foreseen,
                           const uint8_t* byte) const;

 private:
  void draw_shape();
  void draw_sizes();
  void draw_pads();
  void draw_filter();
  void make_sparse();
  size_t weight_at(size_t o, size_t y, size_t x, size_t i) const;
  int32_t zero_point_of(size_t o) const;
  void draw_lhs();
  void draw_lhs_of_bytes();
  void draw_lhs_of_s16();
  void draw_lhs_of_floats();
  void draw_dst();
  void draw_parallel();
  octet_test::ConvSizes run_sizes() const;
  std::vector<Range> ranges() const;
  std::vector<int32_t> weight_values() const;  // [o][ky][kx][i], without zero points
  std::vector<int32_t> lhs_values();           // [b][y][x][c], without zero points
  void add_image_of_bytes(size_t b, std::vector<int32_t>* values) const;
  void add_image_of_floats(size_t b, std::vector<int32_t>* values);
  void compute();

  Choices* c_;
  bool s16_ = false;                // an s16 lhs
  octet_type lhs_type_ = OCTET_S8;  // the multiplied type
  std::vector<float> own_scales_;   // scales of images that are quantized by their ranges
  std::vector<int32_t> zero_points_;
  Parallel parallel_ = {Random(0), 1};
};

// Each makes a valid descriptor or valid arguments invalid and says how, or returns null where its
// rule does not apply.
const char* spoil(Choices* c, Scratch* scratch, octet_filter_desc* filter);
const char* spoil(Choices* c, Scratch* scratch, octet_conv2d_desc* desc);
const char* spoil(Choices* c, Scratch* scratch, const Convolution& v, const octet_conv2d_desc& desc,
                  octet_conv2d_args* args);

}  // namespace octet_fuzz
