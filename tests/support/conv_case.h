// SPDX-License-Identifier: Apache-2.0
// Describes one complete convolution in a line: its data is drawn from the seed, its expected bytes
// come from seven loops written down from the contract, its buffers lie between guard pages. A
// ConvCase has the problem, a ConvHow the way to compute it; all ways give the same bytes.
#pragma once

#include <iosfwd>
#include <memory>
#include <vector>

#include "operators/conv/choice.h"
#include "support/epilogue_case.h"
#include "support/guarded.h"
#include "support/kernels.h"
#include "support/tiers.h"

namespace octet_test {

// A machine with these caches; l3 = 0: without L3.
inline octet_machine machine_of(size_t l2, size_t l3, int in_order = 0) {
  octet_machine m = OCTET_MACHINE_INIT;
  m.l2_bytes = l2, m.l3_bytes = l3, m.in_order = in_order;
  return m;
}

// kEnds: the type's minimum or maximum, at random. kMostThenOne: ones from the second half on.
// kSeldomLarge: mostly the type's lower half, as ReLU leaves values. kSeldomFar: mostly near the
// centre, as trained weights are, which make pairs (kernels/core/paired_weights.h)
enum class Fill {
  kRandom,
  kLeast,
  kMost,
  kEnds,
  kNeverLeast,
  kMostThenOne,
  kSeldomLarge,
  kSeldomFar
};
// kCentre: 0 or 128, so that weights are symmetric in either type. kLeast: the type's minimum, for
// all channels or for every other one. kFar: the two ends of F(4x4,3x3)'s range, in turn. kNear: at
// most 2 from the centre.
enum class FilterZeroPoints {
  kNone,
  kTensor,
  kChannel,
  kCentre,
  kLeast,
  kLeastSometimes,
  kFar,
  kNear
};

struct ConvCase : EpilogueCase {
  octet_conv2d_shape shape = OCTET_CONV2D_SHAPE_INIT;
  size_t batch = 0, in_h = 0, in_w = 0;  // sizes of the run; 0 = as declared
  octet_type lhs = OCTET_U8, rhs = OCTET_S8;
  Fill lhs_fill = Fill::kRandom, filter_fill = Fill::kRandom;
  bool sparse = false;  // the filter is made 2:4
  uint32_t seed = 1;

  bool runtime_quant = false;  // a zero point and a scale per image
  // The lhs is f32, quantized on the fly to `lhs`: by kLhsScale and lhs_zero_point, or, with
  // runtime_quant, each image by its own range, u8 asymmetric and s8 symmetric.
  bool floats = false;
  float odd_factor = 1;  // with both: of the floats of images 1, 3, ...
  int32_t lhs_zero_point = 0;
  FilterZeroPoints filter_zero_points = FilterZeroPoints::kNone;
  octet_filter_order order = OCTET_OHWI;
  octet_layout lhs_layout = OCTET_NHWC, dst_layout = OCTET_NHWC;
  // Elements between the pixels of an NHWC tensor
  size_t lhs_extra = 0, dst_extra = 0, residual_extra = 0;
  octet_accuracy accuracy = OCTET_ACCURACY_EXACT;

  size_t run_batch() const { return batch ? batch : shape.batch_max; }
  size_t run_h() const { return in_h ? in_h : shape.in_h_max; }
  size_t run_w() const { return in_w ? in_w : shape.in_w_max; }
};

constexpr float kLhsScale = 0.25f;

std::ostream& operator<<(std::ostream& out, const ConvCase& c);

// A convolution with equal sizes along both axes. in = 0 if the test sets the size itself.
octet_conv2d_shape square(size_t in, size_t in_channels, size_t out_channels, size_t kernel,
                          size_t stride = 1, size_t pad = 0, size_t groups = 1);

// A case of this shape. Types, zero points, data, filter order and output rotate with the turn, so
// that a list of shapes covers them all.
ConvCase turned(const octet_conv2d_shape& shape, uint32_t turn);

struct ConvHow {
  octet_conv_algorithm algorithm = OCTET_CONV_AUTO;  // forced, and proved to have run
  octet_isa isa = OCTET_ISA_AUTO;                    // packed for and limited to; proved too
  const char* kernel = nullptr;                      // forced, and proved to have run
  // For a sparse filter. 2:4 proves that a kernel for sparse weights has run
  octet_sparsity sparsity = OCTET_SPARSE_NONE;
  size_t concurrency = 1;
  // The pads that pack and create get; the case's pads then come with the run
  const octet_conv2d_pads* declared_pads = nullptr;
  // Fields of the filter and of the convolution; null and 0: not set
  const octet_machine* machine = nullptr;
  size_t packed_bytes_max = 0;
  size_t cache_bytes = 0;  // blocks and bands as for an L2 of this size; 0 = this machine's
};

std::ostream& operator<<(std::ostream& out, const ConvHow& how);

// The tier of a kernel of any family. ADD_FAILUREs on an unknown name.
octet_isa tier_of(const char* kernel);

// The tier that must run: the best one up to a limit that has a kernel for this algorithm and these
// types. weight_zero_points: other than 0 in s8. sparse: weights are packed so.
octet_isa best_tier(octet_conv_algorithm algorithm, octet_isa limit, Types types,
                    bool weight_zero_points, bool sparse);

// The offset of element (image, y, x, channel), in elements.
struct TensorAt {
  octet_layout layout = OCTET_NHWC;
  size_t batch = 1, h = 1, w = 1, channels = 1, pixel = 1;
  size_t elements() const {
    return layout == OCTET_NHWC ? (batch * h * w - 1) * pixel + channels : batch * h * w * channels;
  }
  size_t at(size_t b, size_t y, size_t x, size_t c) const {
    return layout == OCTET_NHWC ? ((b * h + y) * w + x) * pixel + c
                                : ((b * channels + c) * h + y) * w + x;
  }
};

// The case with its data and the bytes that it must give. Computed once for all ways.
class ConvProblem {
 public:
  explicit ConvProblem(const ConvCase& c);

  const ConvCase c;
  size_t out_h, out_w;
  // [batch][h][w][c], [o][ky][kx][i of the group], [batch][out_h][out_w][o]
  std::vector<int32_t> lhs, filter, residual;
  std::vector<int32_t> lhs_zero_points, filter_zero_points;
  bool has_filter_zero_points() const;  // other than 0 in s8
  std::vector<float> lhs_scales;
  std::vector<float> lhs_floats;  // lhs is quantized from these; empty if the lhs is 8-bit
  Epilogue epilogue;
  std::vector<int64_t> acc;        // [batch][out_h][out_w][o]
  std::vector<uint32_t> expected;  // the same, each element's bits

  octet_filter_desc filter_desc() const;  // without algorithm; points into the problem
  const std::vector<uint8_t>& stored() const { return stored_; }  // its data

 private:
  size_t group_in() const { return c.shape.in_channels / c.shape.groups; }
  size_t group_out() const { return c.shape.out_channels / c.shape.groups; }
  void quantize(Random* random);
  std::vector<uint8_t> stored_filter() const;

  std::vector<uint8_t> stored_;
};

// A created object with its arguments, ready to run. All memory that pack and create copy is freed
// by then.
class Conv {
 public:
  explicit Conv(const ConvProblem& problem, const ConvHow& how = {}, Side side = Side::kBack,
                octet_allocator allocator = {});
  ~Conv() { octet_conv2d_destroy(conv_); }
  Conv(const Conv&) = delete;
  Conv& operator=(const Conv&) = delete;

  const octet_conv2d* get() const { return conv_; }
  octet_conv2d_args& args() { return args_; }
  octet_error& error() { return error_; }
  octet_status status() const { return status_; }  // from pack, create and the workspace query
  const Guarded& blob() const { return blob_; }

  // Creates the object anew with this choice, and clears dst and the workspace. Returns create's
  // status.
  octet_status choose(const octet::Choice& choice);
  void prepare_workspace(size_t concurrency);  // exactly the queried bytes
  octet_status run() { return octet_conv2d_run(conv_, &args_, &error_); }
  // The algorithm, tier and kernel are the requested ones
  testing::AssertionResult as_planned() const;
  // Every byte of dst is as expected, also between the pixels
  testing::AssertionResult as_expected() const;
  std::vector<uint8_t> dst_bytes() const { return {dst_.data(), dst_.data() + dst_.bytes()}; }
  void clear_dst();

 private:
  octet_status pack();
  octet_status create(octet_allocator allocator, const octet::Choice* choice = nullptr);
  octet_conv2d_shape declared() const;
  void place();

  const ConvProblem& p_;
  ConvHow how_;
  Side side_;
  TensorAt lhs_at_, dst_at_, residual_at_;
  Guarded lhs_, dst_, residual_, blob_, workspace_, lhs_zero_points_, lhs_scales_;
  octet_conv2d* conv_ = nullptr;
  octet_conv2d_pads pads_;  // of the case
  octet_conv2d_args args_ = OCTET_CONV2D_ARGS_INIT;
  octet_error error_ = {};
  octet_status status_ = OCTET_OK;
};

// Runs it with its buffers against the back guard and against the front guard. Nothing but ==
// counts.
void check(const ConvProblem& problem, const ConvHow& how);

// The algorithms that explain calls possible on a tier, the automatic choice first. Exact ones
// only, unless the case says otherwise.
std::vector<octet_conv_algorithm> possible_algorithms(const ConvProblem& problem, octet_isa isa);
// These algorithms on every tier to test.
inline std::vector<ConvHow> ways_of(const ConvProblem& problem) {
  std::vector<ConvHow> ways;
  for (const octet_isa isa : tiers_to_test())
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, isa)) {
      ways.emplace_back();
      ways.back().isa = isa, ways.back().algorithm = algorithm;
    }
  return ways;
}

// Every possible algorithm on every tier to test; returns how many ways that was.
size_t check_every_way(const ConvCase& c);

}  // namespace octet_test
