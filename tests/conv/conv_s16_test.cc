// SPDX-License-Identifier: Apache-2.0
// Checks convolutions of s16 values: every kind of geometry by every algorithm on every tier
// beside plain loops in 64 bits, bands, tasks, layouts, and what is refused.
#include <functional>

#include "operators/conv/object.h"
#include "support/conv_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

octet_conv2d_shape transposed(octet_conv2d_shape s, size_t output_padding = 0) {
  s.transposed = 1;
  s.output_padding_h = s.output_padding_w = output_padding;
  return s;
}

octet_conv2d_shape with(octet_conv2d_shape s, const std::function<void(octet_conv2d_shape*)>& set) {
  set(&s);
  return s;
}

std::vector<octet_conv2d_shape> shapes() {
  std::vector<octet_conv2d_shape> all;
  for (const size_t channels : {1, 3, 16, 17, 65}) {
    all.push_back(square(5, channels, 66 - channels, 1));
    all.push_back(square(7, channels, channels + 2, 3, 1, 1));
    all.push_back(square(9, channels, 20, 3, 2, 1));
    all.push_back(square(6, channels, channels, 3, 1, 1, channels));
    all.push_back(square(9, channels, 3 * channels, 5, 2, 2, channels));
    all.push_back(transposed(square(4, channels, 18, 3, 2, 1), 1));
  }
  for (const size_t group : {2, 4, 6, 8, 16})
    all.push_back(square(7, 4 * group, 4 * group, 3, 1, 1, 4));
  all.push_back(square(5, 12, 30, 3, 1, 1, 3));
  all.push_back(square(13, 3, 32, 3, 2, 1));
  all.push_back(square(1, 1, 1, 1));
  all.push_back(square(3, 130, 130, 3, 1, 1));
  all.push_back(square(70, 2, 5, 1, 3));
  all.push_back(square(2, 5, 9, 3, 1, 4));
  all.push_back(transposed(square(5, 6, 2, 2, 2)));
  all.push_back(transposed(square(5, 7, 40, 4, 4, 3), 2));
  all.push_back(transposed(square(4, 6, 12, 3, 2, 1, 3)));
  const auto set = [](size_t octet_conv2d_shape::*field, size_t value) {
    return [=](octet_conv2d_shape* s) { s->*field = value; };
  };
  for (const size_t groups : {1, 20}) {
    const octet_conv2d_shape s = square(11, 20, 20, 3, 1, 1, groups);
    all.push_back(with(s, set(&octet_conv2d_shape::dilation_h, 2)));
    all.push_back(with(s, set(&octet_conv2d_shape::dilation_w, 3)));
    all.push_back(with(s, set(&octet_conv2d_shape::stride_w, 3)));
    all.push_back(with(s, set(&octet_conv2d_shape::pad_left, 0)));
    all.push_back(with(s, set(&octet_conv2d_shape::pad_bottom, 5)));
    all.push_back(with(s, set(&octet_conv2d_shape::kernel_h, 1)));
  }
  return all;
}

// A case of this shape. Outputs, data, layouts and orders rotate with the turn.
ConvCase s16(const octet_conv2d_shape& shape, uint32_t turn) {
  ConvCase c = turned(shape, turn);
  c.lhs = OCTET_S16, c.rhs = OCTET_S8;
  c.lhs_zero_point = 0, c.runtime_quant = false;
  c.filter_zero_points = turn % 7 == 3   ? FilterZeroPoints::kTensor
                         : turn % 7 == 5 ? FilterZeroPoints::kChannel
                                         : FilterZeroPoints::kNone;
  c.dst = turn % 3 == 2 ? OCTET_F32 : OCTET_S16;
  c.requant = turn % 3 == 0   ? OCTET_REQUANT_TFLITE
              : turn % 9 == 1 ? OCTET_REQUANT_DOUBLE
                              : OCTET_REQUANT_FLOAT;
  c.bias_f32 = c.dst == OCTET_F32 && turn % 2;
  c.per_channel = turn % 4 != 1;
  c.bias = turn % 5 != 4, c.bias_s64 = turn % 2;
  if (turn % 4 == 2) c.activation = OCTET_ACTIVATION_RELU;
  c.lhs_layout = turn % 5 == 2 ? OCTET_NCHW : OCTET_NHWC;
  c.dst_layout = turn % 6 == 3 ? OCTET_NCHW : OCTET_NHWC;
  c.lhs_extra = c.lhs_layout == OCTET_NHWC && turn % 4 == 3 ? 3 : 0;
  c.dst_extra = c.dst_layout == OCTET_NHWC && turn % 4 == 1 ? 5 : 0;
  return c;
}

TEST(ConvS16, EveryWay) {
  size_t ways = 0;
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (int times = 0; times < 2; ++times) {
      ways += check_every_way(s16(shape, turn++));
      if (HasFatalFailure()) return;
    }
  EXPECT_GT(ways, 200u);
}

// Bands of a few lines or of several images, tasks, and runs smaller than declared.
TEST(ConvS16, BandsAndTasks) {
  uint32_t turn = 1;
  for (octet_conv2d_shape shape : shapes())
    for (int times = 0; times < 2; ++times) {
      const size_t cache_bytes = std::vector<size_t>{1, 3000, 9000, 20000, 60000}[turn % 5];
      shape.batch_max = 4;
      ConvCase c = s16(shape, turn++);
      c.batch = 1 + turn % 4, c.in_h = c.run_h() - (c.run_h() > 3 ? turn % 2 : 0);
      const ConvProblem problem(c);
      for (ConvHow how : ways_of(problem)) {
        how.cache_bytes = cache_bytes, how.concurrency = 1 + turn % 4;
        check(problem, how);
        if (HasFatalFailure()) return;
      }
    }
}

TEST(ConvS16, PadsOfTheirOwn) {
  for (const octet_conv2d_shape& shape :
       {square(8, 5, 17, 3, 2, 1), square(8, 36, 36, 3, 1, 1, 36), square(7, 16, 16, 5, 1, 1)}) {
    const octet_conv2d_pads declared = {2, 2, 2, 2};
    const ConvProblem problem(s16(shape, 6));
    for (ConvHow how : ways_of(problem)) {
      how.declared_pads = &declared;
      check(problem, how);
      if (HasFatalFailure()) return;
    }
  }
}

// Depthwise kernels take s16 values as they are where lines are read in place and sums fit int32;
// else s16 values are split into bytes. 511 taps of the largest products just fit.
TEST(ConvS16, DepthwiseTakesS16) {
  const auto kernel_of = [](size_t kernel_h, size_t kernel_w) {
    octet_conv2d_shape s = square(80, 20, 20, 1, 1, 0, 20);
    s.kernel_h = kernel_h, s.kernel_w = kernel_w, s.in_w_max = kernel_w + 5;
    return s;
  };
  ConvCase plain = s16(kernel_of(3, 3), 0);
  plain.filter_zero_points = FilterZeroPoints::kNone;
  plain.lhs_layout = plain.dst_layout = OCTET_NHWC;
  const auto is_taken = [&](const octet_conv2d_shape& shape,
                            const std::function<void(ConvCase*)>& edit) {
    bool taken = false;
    for (const Fill fill : {Fill::kLeast, Fill::kRandom}) {
      ConvCase c = plain;
      c.shape = shape, c.lhs_fill = c.filter_fill = fill;
      edit(&c);
      const ConvProblem problem(c);
      ConvHow how;
      how.algorithm = OCTET_CONV_DEPTHWISE;  // the plan on i686 chooses another
      Conv conv(problem, how);
      EXPECT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      taken = conv.get() && conv.get()->plan.lhs_type == octet::ElementType::kS16;
      EXPECT_GT(check_every_way(c), 2u);
    }
    return taken;
  };
  const auto as_is = [](ConvCase*) {};
  EXPECT_TRUE(is_taken(kernel_of(3, 3), as_is));
  EXPECT_TRUE(is_taken(kernel_of(73, 7), as_is));
  EXPECT_FALSE(is_taken(kernel_of(64, 8), as_is));
  EXPECT_FALSE(is_taken(square(9, 10, 20, 3, 1, 1, 10), as_is));
  EXPECT_FALSE(is_taken(kernel_of(3, 3), [](ConvCase* c) { c->lhs_layout = OCTET_NCHW; }));
  EXPECT_FALSE(is_taken(kernel_of(3, 3), [](ConvCase* c) { c->dst_layout = OCTET_NCHW; }));
  EXPECT_FALSE(is_taken(kernel_of(3, 3),
                        [](ConvCase* c) { c->filter_zero_points = FilterZeroPoints::kChannel; }));
}

// Copied windows: lines that are padded to whole groups and that are not, several blocks. Windows
// that are read in place: several lines to a block and several blocks, parts of lines, deep ones,
// strides and dilations.
std::vector<octet_conv2d_shape> windows_of_few_channels() {
  const auto three_images = [](octet_conv2d_shape* at) { at->dilation_h = 2, at->batch_max = 3; };
  const auto wide = [&](octet_conv2d_shape* at) {
    three_images(at);
    at->in_h_max = 5, at->in_w_max = 1100;
  };
  return {square(23, 3, 32, 3, 2, 1),
          square(18, 3, 16, 3, 1, 1),
          square(13, 1, 33, 5, 1, 2),
          square(12, 9, 20, 3, 2),
          square(37, 16, 16, 3, 1, 1),
          square(26, 28, 40, 3, 2, 1),
          square(19, 12, 33, 5, 1, 2),
          with(square(6, 4, 100, 3, 1, 2), three_images),
          with(square(14, 8, 17, 3, 1, 1), wide)};
}

// Where pixels of 1x1 convolutions, or windows of few channels, are rows of a matrix, kernels that
// widen bytes to s16 values anyway take s16 values as they are, and so does AVX512-VNNI's beside
// its int8 kernel, where sums fit.
TEST(ConvS16, RowsOfAMatrixTakeS16) {
  uint32_t turn = 0;
  const auto is_taken = [&](const octet_conv2d_shape& shape, Fill fill,
                            const std::function<void(ConvCase*)>& edit, int turns = 3) {
    bool taken = false, may_take = false;
    for (int times = 0; times < turns; ++times) {
      ConvCase c = s16(shape, turn++);
      c.filter_zero_points = FilterZeroPoints::kNone;
      c.lhs_layout = c.dst_layout = OCTET_NHWC;
      c.lhs_fill = c.filter_fill = fill;
      edit(&c);
      const ConvProblem problem(c);
      ConvHow how;
      how.algorithm = OCTET_CONV_DIRECT;
      Conv conv(problem, how);
      EXPECT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      if (!conv.get()) return false;
      const octet::MicroKernel* const kernel = conv.get()->plan.kernel;
      taken = conv.get()->plan.lhs_type == octet::ElementType::kS16;
      may_take = kernel->gather_s16 || kernel->lhs_element_type == octet::ElementType::kS16;
      for (const octet::MicroKernel* s16 : octet::s16_kernels())
        may_take |= s16->tier_id == kernel->tier_id && s16->rhs_layout == kernel->rhs_layout;
      EXPECT_GT(check_every_way(c), 2u);
    }
    if (!may_take) {
      EXPECT_FALSE(taken);
    }
    return taken || !may_take;
  };
  const auto as_is = [](ConvCase*) {};
  const auto one = [](size_t in_h, size_t channels, size_t outputs) {
    return square(in_h, channels, outputs, 1);
  };
  for (const size_t channels : {1, 2, 3, 7, 24, 66})
    for (const size_t outputs : {1, 8, 15, 16, 17, 32, 33, 48, 64, 100})  // ten: kinds take turns
      EXPECT_TRUE(is_taken(one(12, channels, outputs), Fill::kRandom, as_is, 1)) << outputs;
  EXPECT_TRUE(is_taken(one(5, 511, 20), Fill::kLeast, as_is));
  EXPECT_TRUE(is_taken(one(23, 9, 300), Fill::kRandom, as_is));  // several passes and blocks
  for (const octet_conv2d_shape& shape : windows_of_few_channels())
    EXPECT_TRUE(is_taken(
        shape, shape.in_channels < 12 && shape.stride_w > 1 ? Fill::kLeast : Fill::kRandom, as_is))
        << shape.in_channels;
  const auto is_split = [&](const octet_conv2d_shape& shape, Fill fill,
                            const std::function<void(ConvCase*)>& edit) {
    const ConvCase c = [&] {
      ConvCase made = s16(shape, 0);
      made.filter_zero_points = FilterZeroPoints::kNone;
      made.lhs_layout = made.dst_layout = OCTET_NHWC;
      made.lhs_fill = made.filter_fill = fill;
      edit(&made);
      return made;
    }();
    const ConvProblem problem(c);
    ConvHow how;
    how.algorithm = OCTET_CONV_DIRECT;
    Conv conv(problem, how);
    EXPECT_EQ(conv.status(), OCTET_OK) << conv.error().message;
    EXPECT_GT(check_every_way(c), 2u);
    return conv.get() && conv.get()->plan.lhs_type != octet::ElementType::kS16;
  };
  EXPECT_TRUE(is_split(one(5, 600, 20), Fill::kLeast, as_is));  // sums leave int32
  EXPECT_TRUE(is_split(one(1, 20, 20), Fill::kRandom, as_is));  // too few rows
  EXPECT_TRUE(is_taken(square(23, 7, 70, 1, 3, 2), Fill::kRandom, as_is));
  EXPECT_TRUE(is_split(square(9, 40, 20, 3), Fill::kRandom, as_is));  // copies no windows
  EXPECT_TRUE(is_split(square(9, 20, 20, 1, 1, 1), Fill::kRandom, as_is));
  EXPECT_TRUE(is_split(square(9, 20, 20, 1, 1, 0, 2), Fill::kRandom, as_is));
  EXPECT_TRUE(
      is_split(one(9, 20, 20), Fill::kRandom, [](ConvCase* c) { c->lhs_layout = OCTET_NCHW; }));
  EXPECT_TRUE(
      is_split(one(9, 20, 20), Fill::kRandom, [](ConvCase* c) { c->dst_layout = OCTET_NCHW; }));
  EXPECT_TRUE(is_split(one(9, 20, 20), Fill::kRandom,
                       [](ConvCase* c) { c->filter_zero_points = FilterZeroPoints::kChannel; }));
}

// Kernels that scale s16 values do so where all channels' accumulators and products fit; else sums
// leave by the tier's operation.
TEST(ConvS16, DepthwiseKernelsScaleS16) {
  using Edit = std::function<void(Channel*)>;
  const Channel common[] = {
      {500, -400, 90000, 0x7fffffff, -17, 1e-6f}, {127, -600, -70000, 1 << 30, -1, 0.5f},
      {300, -300, 12345, 1 << 30, -9, 1e-3f},     {0, -9, 0, 0x5a827999, -12, 3e-4f},
      {600, -128, 1, 0x40000001, -16, 2e-5f},     {0, 0, 1 << 24, 0x7fff0000, -10, 7e-4f}};
  ConvHow how;
  how.algorithm = OCTET_CONV_DEPTHWISE;
  const auto scales_in_kernel = [&](const octet_conv2d_shape& shape, uint32_t turn,
                                    const Edit& edit) {
    std::vector<Channel> channels(std::begin(common), std::end(common));
    edit(&channels[4]);
    bool in_kernel = true;
    for (const octet_requant requant : {OCTET_REQUANT_TFLITE, OCTET_REQUANT_FLOAT}) {
      ConvCase c = s16(shape, 0);
      c.filter_zero_points = FilterZeroPoints::kNone;
      c.lhs_layout = c.dst_layout = OCTET_NHWC;
      c.channels = &channels, c.requant = requant, c.bias = true, c.bias_s64 = false;
      c.activation = turn % 2 ? OCTET_ACTIVATION_RELU : OCTET_ACTIVATION_NONE;
      c.dst_extra = turn % 3 ? 0 : 5, c.lhs_extra = turn % 4 ? 0 : 3;
      const ConvProblem problem(c);
      Conv conv(problem, how);
      EXPECT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      if (!conv.get()) return false;
      const octet::ConvPlan& plan = conv.get()->plan;
      EXPECT_EQ(plan.lhs_type, octet::ElementType::kS16);
      in_kernel &= plan.requantize_in_kernel || !(plan.depthwise->flags & octet::kRequantizes);
      EXPECT_GT(check_every_way(c), 2u);
    }
    return in_kernel;
  };
  const Edit as_is = [](Channel*) {};
  uint32_t turn = 0;
  for (const size_t n : {3, 15, 31, 32, 33, 64, 70, 96, 130})
    for (const octet_conv2d_shape& shape :
         {square(9, n, n, 3, 1, 1, n), square(8, n, n, 3, 2, 1, n), square(7, n, n, 5, 1, 2, n)}) {
      EXPECT_TRUE(scales_in_kernel(shape, turn++, as_is)) << n;
      if (HasFatalFailure()) return;
    }
  const octet_conv2d_shape shape = square(9, 64, 64, 3, 1, 1, 64);
  const ConvProblem problem(s16(shape, 0));
  if (!(Conv(problem, how).get()->plan.depthwise->flags & octet::kRequantizes))
    GTEST_SKIP() << "this tier's kernel makes sums";
  for (const Edit& edit : std::vector<Edit>{
           [](Channel* c) { c->shift = 0; }, [](Channel* c) { c->shift = -18; },
           [](Channel* c) { c->bias = INT32_MAX; }, [](Channel* c) { c->scale = 200; },
           // The product is 2^31 once it is rounded
           [](Channel* c) { *c = {0, 0, 1136033739, 1 << 30, -1, 0x1.e3ecf4p+0f}; }})
    EXPECT_FALSE(scales_in_kernel(shape, turn++, edit));
}

TEST(ConvS16, SparseFilters) {
  for (const octet_conv2d_shape& shape : {square(6, 32, 40, 3, 1, 1), square(5, 64, 33, 1)}) {
    ConvCase c = s16(shape, 0);
    c.sparse = true;
    EXPECT_GT(check_every_way(c), 2u);
  }
}

// One blob serves an s8 and an s16 input.
TEST(ConvS16, ABlobServesBytesAndS16) {
  const ConvProblem of_s16(s16(square(6, 20, 24, 3, 1, 1), 0));
  ConvCase bytes = of_s16.c;
  bytes.lhs = bytes.dst = OCTET_S8, bytes.requant = OCTET_REQUANT_FLOAT;
  const ConvProblem of_bytes(bytes);
  for (const ConvHow& how : ways_of(of_s16)) {
    const Conv one(of_s16, how), other(of_bytes, how);
    ASSERT_EQ(one.status(), OCTET_OK);
    ASSERT_EQ(other.status(), OCTET_OK);
    ASSERT_EQ(one.blob().bytes(), other.blob().bytes());
    EXPECT_EQ(std::memcmp(one.blob().data(), other.blob().data(), one.blob().bytes()), 0) << how;
  }
}

// ---- refusals -----------------------------------------------------------------------------------

struct Refused {
  std::vector<int8_t> weights;
  int32_t multiplier = 1 << 30, shift = 0, bias[2] = {};
  int64_t bias_s64[2] = {};
  const float scale = 1;
  const uint8_t lut[256] = {};
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;

  explicit Refused(const octet_conv2d_shape& shape = square(4, 2, 2, 3, 1, 1)) {
    const size_t depth = shape.kernel_h * shape.kernel_w * shape.in_channels / shape.groups;
    weights.assign(shape.out_channels * depth, -128);
    filter.shape = desc.shape = shape;
    filter.type = desc.rhs_type = OCTET_S8;
    desc.lhs_type = desc.dst_type = OCTET_S16;
    desc.epilogue.requant = OCTET_REQUANT_TFLITE;
    desc.epilogue.multipliers = &multiplier, desc.epilogue.shifts = &shift;
    desc.epilogue.multiplier_count = 1;
  }
  Refused(const Refused&) = delete;
  Refused& operator=(const Refused&) = delete;
  octet_status create(octet_error* error) {
    filter.data = weights.data();
    size_t bytes = 0;
    octet_status status = octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, error);
    if (status) return status;
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    status = octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob.data(), bytes, error);
    if (status) return status;
    desc.packed = blob.data(), desc.packed_bytes = bytes;
    octet_conv2d* conv = nullptr;
    status = octet_conv2d_create(&desc, &conv, error);
    octet_conv2d_destroy(conv);
    return status;
  }
};

void refuses(octet_status status, const char* sentence, const std::function<void(Refused&)>& edit) {
  Refused r;
  octet_error error = {};
  EXPECT_EQ(r.create(&error), OCTET_OK) << error.message;
  edit(r);
  expect_refused(status, sentence, [&](octet_error* e) { return r.create(e); });
}

TEST(ConvS16, RefuseWhatProductsRefuse) {
  for (const octet_type dst : {OCTET_S8, OCTET_U8})
    refuses(OCTET_UNSUPPORTED, "desc.dst_type must be one of them",
            [&](Refused& r) { r.desc.dst_type = dst; });
  refuses(OCTET_UNSUPPORTED, "desc.rhs_type must be OCTET_S8",
          [](Refused& r) { r.filter.type = r.desc.rhs_type = OCTET_U8; });
  refuses(OCTET_UNSUPPORTED, "desc.lhs_type must be OCTET_S16",
          [](Refused& r) { r.desc.lhs_type = OCTET_S8; });
  refuses(OCTET_UNSUPPORTED, "desc.lhs_quant must be OCTET_LHS_STATIC",
          [](Refused& r) { r.desc.lhs_quant = OCTET_LHS_PER_TENSOR; });
  refuses(OCTET_BAD_ZERO_POINT, "desc.lhs_zero_point is 1",
          [](Refused& r) { r.desc.lhs_zero_point = 1; });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.dst_zero_point",
          [](Refused& r) { r.desc.epilogue.dst_zero_point = 1; });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.residual",
          [](Refused& r) { r.desc.epilogue.residual = {OCTET_S8, 0, 1, 0, 0, 0, 0, 0, 0, 0}; });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.lut", [](Refused& r) { r.desc.epilogue.lut = r.lut; });
  refuses(OCTET_BAD_SCALE, "output channel 0 shifts left by 8", [](Refused& r) { r.shift = 8; });
  refuses(OCTET_UNSUPPORTED, "are both set",
          [](Refused& r) { r.desc.epilogue.bias = r.bias, r.desc.epilogue.bias_s64 = r.bias_s64; });
  refuses(OCTET_ACCUMULATOR_OVERFLOW, "desc.epilogue.bias_s64[1]", [](Refused& r) {
    r.bias_s64[1] = int64_t{1} << 47, r.desc.epilogue.bias_s64 = r.bias_s64;
  });
  refuses(OCTET_UNSUPPORTED, "desc.lhs_scale is for an f32 input",
          [](Refused& r) { r.desc.lhs_scale = 1; });
}

TEST(ConvS16, RefuseApproximateSums) {
  Refused r(square(6, 16, 16, 3, 1, 1));
  r.filter.accuracy = OCTET_ACCURACY_APPROXIMATE;
  r.filter.algorithm = OCTET_CONV_WINOGRAD_2X2_INT8;
  expect_refused(OCTET_UNSUPPORTED, "whose sums are approximate",
                 [&](octet_error* e) { return r.create(e); });
}

// 255 * 128 * 65,793 just fits int32; one more channel does not.
TEST(ConvS16, HoldTheLargestSums) {
  for (const size_t channels : {65793, 65794}) {
    Refused r(square(1, channels, 1, 1));
    octet_error error = {};
    if (channels == 65793)
      EXPECT_EQ(r.create(&error), OCTET_OK) << error.message;
    else
      expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "65794 is too deep",
                     [&](octet_error* e) { return r.create(e); });
  }
}

TEST(ConvS16, RunsRefuseOddAddresses) {
  const ConvProblem problem(s16(square(4, 3, 5, 3), 0));
  Conv conv(problem);
  ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
  const octet_conv2d_args good = conv.args();
  const auto run = [&](octet_error* e) { return octet_conv2d_run(conv.get(), &conv.args(), e); };
  conv.args().lhs = (const uint8_t*)good.lhs + 1;
  expect_refused(OCTET_MISALIGNED, "args.lhs", run);
  conv.args() = good, conv.args().dst = (uint8_t*)good.dst + 1;
  expect_refused(OCTET_MISALIGNED, "args.dst", run);
  const int32_t zero_point = 0;
  conv.args() = good, conv.args().lhs_zero_points = &zero_point;
  expect_refused(OCTET_UNSUPPORTED, "args.lhs_zero_points", run);
  conv.args() = good, --conv.args().workspace_bytes;
  expect_refused(OCTET_WORKSPACE_TOO_SMALL, "args.workspace_bytes", run);
}

}  // namespace
}  // namespace octet_test
