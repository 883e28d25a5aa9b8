// SPDX-License-Identifier: Apache-2.0
// Checks that everything that a caller of a convolution can get wrong has its own status and a
// message that names the argument. Each test starts from a layer that is right in every respect and
// breaks one thing.
#include <cstddef>
#include <limits>

#include "operators/conv/algorithms/filter_blob.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

constexpr size_t kIn = 6, kInChannels = 5, kOutChannels = 7, kBatch = 2,
                 kPixels = kBatch * kIn * kIn;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInf = std::numeric_limits<float>::infinity();

octet_conv2d_shape shape() {
  octet_conv2d_shape s = square(kIn, kInChannels, kOutChannels, 3, 1, 1);
  s.batch_max = kBatch;
  return s;
}

struct Layer {
  std::vector<uint8_t> weights = std::vector<uint8_t>(9 * kInChannels * kOutChannels, 1);
  std::vector<float> scales = std::vector<float>(kOutChannels, 0.5f);
  std::vector<int32_t> multipliers = std::vector<int32_t>(kOutChannels, 1 << 30),
                       shifts = std::vector<int32_t>(kOutChannels, 0),
                       bias = std::vector<int32_t>(kOutChannels, 0);
  std::vector<uint8_t> lut = std::vector<uint8_t>(256, 0);
  Guarded blob, lhs{kPixels * kInChannels, Side::kBack, 64},
      dst{kPixels * kOutChannels * 4, Side::kBack, 64},
      residual{kPixels * kOutChannels, Side::kBack}, workspace;
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;

  explicit Layer(octet_type dst_type = OCTET_U8,
                 octet_conv_algorithm algorithm = OCTET_CONV_DIRECT) {
    filter.shape = desc.shape = shape();
    filter.type = OCTET_S8, filter.data = weights.data(), filter.algorithm = algorithm;
    pack();
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = dst_type;
    if (dst_type != OCTET_S32)
      desc.epilogue.scales = scales.data(), desc.epilogue.scale_count = kOutChannels;
    args.lhs = lhs.data(), args.dst = dst.data();
  }
  void pack() {
    size_t bytes = 0;
    octet_error error = {};
    ASSERT_EQ(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK)
        << error.message;
    blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob.data(), bytes, &error), OCTET_OK)
        << error.message;
    desc.packed = blob.data(), desc.packed_bytes = bytes;
  }
  void to_tflite() {
    desc.epilogue.requant = OCTET_REQUANT_TFLITE;
    desc.epilogue.scales = nullptr, desc.epilogue.scale_count = 0;
    desc.epilogue.multipliers = multipliers.data(), desc.epilogue.shifts = shifts.data(),
    desc.epilogue.multiplier_count = kOutChannels;
  }
  void to_runtime_quant() { desc.lhs_quant = OCTET_LHS_PER_TENSOR; }
};

using Edit = std::function<void(Layer&)>;

void create_refuses(octet_status status, const char* argument, const Edit& edit) {
  Layer p;
  edit(p);
  expect_refused(status, argument, [&](octet_error* error) {
    octet_conv2d* conv = (octet_conv2d*)1;
    const octet_status got = octet_conv2d_create(&p.desc, &conv, error);
    EXPECT_EQ(conv, nullptr);
    return got;
  });
}

// Both shapes that a caller gives: to pack, and to create. field: ".name", or empty if the message
// may name any of several.
void shape_refuses(octet_status status, const char* field,
                   const std::function<void(octet_conv2d_shape&)>& edit) {
  create_refuses(status, (std::string("desc.shape") + field).c_str(),
                 [&](Layer& p) { edit(p.desc.shape); });
  Layer p;
  edit(p.filter.shape);
  size_t bytes = 0;
  const std::string name = std::string("filter.shape") + field;
  expect_refused(status, name.c_str(), [&](octet_error* e) {
    return octet_conv2d_pack_size(&p.filter, OCTET_ISA_AUTO, &bytes, e);
  });
  expect_refused(status, name.c_str(), [&](octet_error* e) {
    return octet_conv2d_pack(&p.filter, OCTET_ISA_AUTO, p.blob.data(), p.blob.bytes(), e);
  });
}

TEST(ConvBadInput, NothingIsWrongWithTheLayer) {
  for (const octet_type dst : {OCTET_S32, OCTET_U8, OCTET_F32}) {
    Layer p(dst);
    octet_error error = {};
    octet_conv2d* conv = nullptr;
    ASSERT_EQ(octet_conv2d_create(&p.desc, &conv, &error), OCTET_OK) << error.message;
    size_t bytes = 0;
    ASSERT_EQ(octet_conv2d_workspace(conv, 0, 0, 0, 1, &bytes, &error), OCTET_OK) << error.message;
    p.workspace = Guarded(bytes + 1, Side::kFront, 64);
    p.args.workspace = p.workspace.data(), p.args.workspace_bytes = bytes;
    EXPECT_EQ(octet_conv2d_run(conv, &p.args, &error), OCTET_OK) << error.message;
    octet_conv2d_destroy(conv);
  }
}

// ---- shapes

TEST(ConvBadShape, Zeros) {
  shape_refuses(OCTET_BAD_SIZE, ".batch_max", [](octet_conv2d_shape& s) { s.batch_max = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".in_h_max", [](octet_conv2d_shape& s) { s.in_h_max = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".in_w_max", [](octet_conv2d_shape& s) { s.in_w_max = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".in_channels", [](octet_conv2d_shape& s) { s.in_channels = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".out_channels", [](octet_conv2d_shape& s) { s.out_channels = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".groups", [](octet_conv2d_shape& s) { s.groups = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".kernel_h", [](octet_conv2d_shape& s) { s.kernel_h = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".kernel_w", [](octet_conv2d_shape& s) { s.kernel_w = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".stride_h", [](octet_conv2d_shape& s) { s.stride_h = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".stride_w", [](octet_conv2d_shape& s) { s.stride_w = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".dilation_h", [](octet_conv2d_shape& s) { s.dilation_h = 0; });
  shape_refuses(OCTET_BAD_SIZE, ".dilation_w", [](octet_conv2d_shape& s) { s.dilation_w = 0; });
}

TEST(ConvBadShape, GroupsThatDoNotDivide) {
  // Divides in_channels only
  shape_refuses(OCTET_BAD_SIZE, ".groups", [](octet_conv2d_shape& s) { s.groups = 5; });
  // Divides out_channels only
  shape_refuses(OCTET_BAD_SIZE, ".groups", [](octet_conv2d_shape& s) { s.groups = 7; });
  shape_refuses(OCTET_BAD_SIZE, ".groups", [](octet_conv2d_shape& s) { s.groups = SIZE_MAX; });
}

TEST(ConvBadShape, Transposed) {
  shape_refuses(OCTET_BAD_SIZE, ".output_padding_h",
                [](octet_conv2d_shape& s) { s.transposed = 1, s.output_padding_h = 1; });
  shape_refuses(OCTET_BAD_SIZE, ".output_padding", [](octet_conv2d_shape& s) {
    s.transposed = 1, s.stride_w = 3, s.output_padding_w = 3;
  });
  // Only transposed convolutions have this
  shape_refuses(OCTET_UNSUPPORTED, ".output_padding_h",
                [](octet_conv2d_shape& s) { s.stride_h = 2, s.output_padding_h = 1; });
  shape_refuses(OCTET_UNSUPPORTED, ".output_padding_w",
                [](octet_conv2d_shape& s) { s.stride_w = 2, s.output_padding_w = 1; });
}

TEST(ConvBadShape, TransposedIsABoolean) {
  for (const int value : {-1, 2, 256})
    shape_refuses(OCTET_UNKNOWN_ENUM, ".transposed",
                  [&](octet_conv2d_shape& s) { s.transposed = value; });
}

TEST(ConvBadShape, SizesThatOverflow) {
  for (const size_t huge : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 1, SIZE_MAX / 8 + 1}) {
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.batch_max = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.in_h_max = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.in_w_max = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.in_channels = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.out_channels = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.kernel_h = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.kernel_w = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.dilation_h = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.dilation_w = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.pad_top = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.pad_bottom = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.pad_left = huge; });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) { s.pad_right = huge; });
    // There are too many phases
    const octet_status stride = huge > size_t{1} << 31 ? OCTET_BAD_SIZE : OCTET_UNSUPPORTED;
    shape_refuses(stride, "", [&](octet_conv2d_shape& s) { s.transposed = 1, s.stride_h = huge; });
    shape_refuses(stride, "", [&](octet_conv2d_shape& s) { s.transposed = 1, s.stride_w = huge; });
    // Products of sizes that are harmless on their own, and paddings that wrap to a small sum.
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) {
      s.in_h_max = s.in_w_max = size_t{1} << 4 * sizeof(size_t);
    });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) {
      s.pad_top = huge, s.pad_bottom = SIZE_MAX - huge + 2;
    });
    shape_refuses(OCTET_BAD_SIZE, "", [&](octet_conv2d_shape& s) {
      s.transposed = 1, s.pad_left = huge, s.pad_right = SIZE_MAX - huge + 2;
    });
    shape_refuses(OCTET_BAD_SIZE, "",
                  [&](octet_conv2d_shape& s) { s.kernel_h = s.kernel_w = size_t{1} << 31; });
  }
}

// These sizes wrap in a size_t of 32 bits; in 64 bits some of them are legal.
TEST(ConvBadShape, SizesThatOverflow32Bits) {
  constexpr size_t k2To31 = size_t{1} << 31;
  // The window spans 2^32 + 1 lines
  shape_refuses(OCTET_BAD_SIZE, "",
                [](octet_conv2d_shape& s) { s.kernel_h = 3, s.dilation_h = k2To31; });
  shape_refuses(OCTET_BAD_SIZE, "", [](octet_conv2d_shape& s) {
    s.transposed = 1, s.in_w_max = 65538, s.stride_w = 65536;
  });
  shape_refuses(OCTET_UNSUPPORTED, "",
                [](octet_conv2d_shape& s) { s.transposed = 1, s.stride_h = s.stride_w = 65536; });
  if (sizeof(size_t) > 4) return;
  shape_refuses(OCTET_BAD_SIZE, "",
                [](octet_conv2d_shape& s) { s.pad_top = s.pad_bottom = k2To31; });
  shape_refuses(OCTET_BAD_SIZE, "",
                [](octet_conv2d_shape& s) { s.batch_max = s.in_h_max = s.in_w_max = 1 << 11; });
  shape_refuses(OCTET_BAD_SIZE, "",
                [](octet_conv2d_shape& s) { s.out_channels = 1 << 24, s.groups = 1; });
  shape_refuses(OCTET_BAD_SIZE, "", [](octet_conv2d_shape& s) {
    s.batch_max = 1 << 23, s.in_h_max = s.in_w_max = s.kernel_h = s.kernel_w = 1;
  });
  // A workspace with many lines, and one with many taps.
  shape_refuses(OCTET_BAD_SIZE, "", [](octet_conv2d_shape& s) {
    s.in_h_max = 1 << 17, s.in_w_max = 1 << 8, s.kernel_h = 2, s.dilation_h = (1 << 17) - 1;
  });
  shape_refuses(OCTET_BAD_SIZE, "", [](octet_conv2d_shape& s) {
    s.in_h_max = s.in_w_max = s.kernel_h = s.kernel_w = 1000;
  });
}

// The largest layers of VGG-16 and of a detector: no address space is too small for them.
TEST(ConvShape, LargeLayersFitEverywhere) {
  for (const octet_conv2d_shape& shape :
       {square(224, 64, 64, 3, 1, 1), square(640, 32, 64, 3, 2, 1),
        square(320, 64, 64, 3, 1, 1, 64), square(112, 64, 128, 1)}) {
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    filter.shape = shape, filter.type = OCTET_S8;
    size_t bytes = 0;
    octet_error error = {};
    EXPECT_EQ(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK)
        << error.message;
  }
}

// The largest tensors: 2^59 outputs, or 2^61 inputs with the room for their borders, are too many;
// 2^27 and 2^29 where size_t has 32 bits.
TEST(ConvBadShape, TheLargestTensors) {
  const auto pack_size = [](const octet_conv2d_shape& s, octet_error* error) {
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    filter.shape = s, filter.type = OCTET_S8, filter.algorithm = OCTET_CONV_DIRECT;
    size_t bytes = 0;
    return octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, error);
  };
  constexpr bool wide = sizeof(size_t) > 4;
  octet_conv2d_shape outputs = square(wide ? 1 << 14 : 1 << 7, 1, wide ? 1 << 15 : 1 << 9, 1);
  octet_conv2d_shape inputs = square((wide ? 1 << 20 : 1 << 10) - 1, wide ? 1 << 21 : 1 << 9, 1, 1);
  outputs.batch_max = wide ? 1 << 16 : 1 << 4;
  for (octet_conv2d_shape* s : {&outputs, &inputs}) {
    expect_refused(OCTET_BAD_SIZE, "the tensors leave size_t",
                   [&](octet_error* e) { return pack_size(*s, e); });
    --s->in_w_max;
    octet_error error = {};
    EXPECT_EQ(pack_size(*s, &error), OCTET_OK) << error.message;
  }
}

// A workspace holds the windows of at most 64 channels of groups, however many groups there are.
TEST(ConvBadShape, TheLargestKernels) {
  if (sizeof(size_t) > 4) return;  // sums leave int32 before that
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = square(1, 66, 66, 1, 1, 0, 66);  // its weights fit, too, in panels of 128
  filter.shape.in_h_max = filter.shape.kernel_h = 512;
  filter.type = OCTET_S8, filter.algorithm = OCTET_CONV_DIRECT;
  for (const size_t beyond : {0, 1}) {
    filter.shape.in_w_max = filter.shape.kernel_w = 341 + beyond;
    size_t bytes = 0;
    const auto pack_size = [&](octet_error* error) {
      return octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, error);
    };
    if (beyond) {
      expect_refused(OCTET_BAD_SIZE, "for a kernel of this size", pack_size);
    } else {
      octet_error error = {};
      EXPECT_EQ(pack_size(&error), OCTET_OK) << error.message;
    }
  }
}

TEST(ConvBadShape, OutputBelowOne) {
  shape_refuses(OCTET_BAD_SIZE, "", [](octet_conv2d_shape& s) { s.kernel_h = kIn + 3; });
  shape_refuses(OCTET_BAD_SIZE, "", [](octet_conv2d_shape& s) { s.kernel_w = kIn + 3; });
  shape_refuses(OCTET_BAD_SIZE, "", [](octet_conv2d_shape& s) { s.dilation_h = 4; });
  shape_refuses(OCTET_BAD_SIZE, "",
                [](octet_conv2d_shape& s) { s.transposed = 1, s.pad_left = s.pad_right = 4; });
  size_t h = 0, w = 0;
  octet_conv2d_shape s = shape();
  for (const size_t in : {0, 1})
    for (const bool height : {false, true}) {
      s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = in ? 0 : 1;
      expect_refused(OCTET_BAD_SIZE, height ? "in_h" : "in_w", [&](octet_error* e) {
        return octet_conv2d_output_size(&s, height ? in : kIn, height ? kIn : in, &h, &w, e);
      });
    }
}

TEST(ConvOutputSize, IsAsDocumented) {
  size_t h = 0, w = 0;
  octet_error error = {};
  octet_conv2d_shape s = square(1, 3, 4, 3, 2, 1);
  s.pad_right = 5, s.dilation_w = 2;
  // Beyond the declared maxima
  ASSERT_EQ(octet_conv2d_output_size(&s, 224, 10, &h, &w, &error), OCTET_OK) << error.message;
  EXPECT_EQ(h, 112u);
  EXPECT_EQ(w, 6u);
  s.transposed = 1, s.output_padding_h = 1;
  ASSERT_EQ(octet_conv2d_output_size(&s, 7, 10, &h, &w, &error), OCTET_OK) << error.message;
  EXPECT_EQ(h, 14u);
  EXPECT_EQ(w, 17u);
  expect_refused(OCTET_NULL_POINTER, "shape", [&](octet_error* e) {
    return octet_conv2d_output_size(nullptr, 7, 7, &h, &w, e);
  });
  expect_refused(OCTET_NULL_POINTER, "out_h", [&](octet_error* e) {
    return octet_conv2d_output_size(&s, 7, 7, nullptr, &w, e);
  });
  expect_refused(OCTET_NULL_POINTER, "out_w", [&](octet_error* e) {
    return octet_conv2d_output_size(&s, 7, 7, &h, nullptr, e);
  });
  for (const size_t huge : {SIZE_MAX, (size_t{1} << 31) + 1}) {
    expect_refused(OCTET_BAD_SIZE, "in_h", [&](octet_error* e) {
      return octet_conv2d_output_size(&s, huge, 7, &h, &w, e);
    });
    expect_refused(OCTET_BAD_SIZE, "in_w", [&](octet_error* e) {
      return octet_conv2d_output_size(&s, 7, huge, &h, &w, e);
    });
  }
  // Sizes end at 2^31, of the output, too.
  const size_t end = size_t{1} << 31;
  octet_conv2d_shape one = square(1, 1, 1, 1);
  ASSERT_EQ(octet_conv2d_output_size(&one, 1, end, &h, &w, &error), OCTET_OK) << error.message;
  EXPECT_EQ(w, end);
  expect_refused(OCTET_BAD_SIZE, "in_w_max", [&](octet_error* e) {
    return octet_conv2d_output_size(&one, 1, end + 1, &h, &w, e);
  });
  one.pad_right = 1;
  expect_refused(OCTET_BAD_SIZE, "out_w",
                 [&](octet_error* e) { return octet_conv2d_output_size(&one, 1, end, &h, &w, e); });
  one.pad_right = end;
  one.kernel_w = 2;
  ASSERT_EQ(octet_conv2d_output_size(&one, 1, 1, &h, &w, &error), OCTET_OK) << error.message;
  EXPECT_EQ(w, end);
  ++one.pad_right;
  expect_refused(OCTET_BAD_SIZE, "pad_right",
                 [&](octet_error* e) { return octet_conv2d_output_size(&one, 1, 1, &h, &w, e); });
  s.stride_h = 0;
  expect_refused(OCTET_BAD_SIZE, "stride_h",
                 [&](octet_error* e) { return octet_conv2d_output_size(&s, 7, 7, &h, &w, e); });
}

// ---- pack

void pack_refuses(octet_status status, const char* argument, const Edit& edit,
                  octet_isa isa = OCTET_ISA_AUTO) {
  Layer p;
  edit(p);
  expect_refused(status, argument, [&](octet_error* e) {
    return octet_conv2d_pack(&p.filter, isa, p.blob.data(), p.blob.bytes(), e);
  });
}

TEST(ConvBadPack, Pointers) {
  Layer p;
  size_t bytes = 0;
  const auto pack = [&](const octet_filter_desc* filter, void* blob, size_t size, octet_error* e) {
    return octet_conv2d_pack(filter, OCTET_ISA_AUTO, blob, size, e);
  };
  expect_refused(OCTET_NULL_POINTER, "filter",
                 [&](octet_error* e) { return pack(nullptr, p.blob.data(), p.blob.bytes(), e); });
  expect_refused(OCTET_NULL_POINTER, "filter", [&](octet_error* e) {
    return octet_conv2d_pack_size(nullptr, OCTET_ISA_AUTO, &bytes, e);
  });
  expect_refused(OCTET_NULL_POINTER, "bytes", [&](octet_error* e) {
    return octet_conv2d_pack_size(&p.filter, OCTET_ISA_AUTO, nullptr, e);
  });
  expect_refused(OCTET_NULL_POINTER, "blob",
                 [&](octet_error* e) { return pack(&p.filter, nullptr, p.blob.bytes(), e); });
  expect_refused(OCTET_MISALIGNED, "blob", [&](octet_error* e) {
    return pack(&p.filter, p.blob.data() + 4, p.blob.bytes(), e);
  });
  expect_refused(OCTET_BAD_SIZE, "blob_bytes", [&](octet_error* e) {
    return pack(&p.filter, p.blob.data(), p.blob.bytes() - 1, e);
  });
  pack_refuses(OCTET_NULL_POINTER, "filter.data", [](Layer& q) { q.filter.data = nullptr; });
  pack_refuses(OCTET_OVERLAP, "filter.data",
               [](Layer& q) { q.filter.data = q.blob.data() + q.blob.bytes() - 1; });
  pack_refuses(OCTET_OVERLAP, "filter.zero_points", [](Layer& q) {
    std::memset(q.blob.data(), 0, q.blob.bytes());
    q.filter.zero_points = q.blob.data<int32_t>(), q.filter.zero_point_count = kOutChannels;
  });
  pack_refuses(OCTET_OVERLAP, "filter.tap_ranges", [](Layer& q) {
    for (size_t i = 0; i < 16; ++i) q.blob.data<float>()[i] = 1;
    q.filter.tap_ranges = q.blob.data<float>();
  });
  p.filter.data = nullptr;  // pack_size does not read it
  EXPECT_EQ(octet_conv2d_pack_size(&p.filter, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
  EXPECT_EQ(bytes, p.blob.bytes());
}

TEST(ConvBadPack, Fields) {
  for (const size_t size : {size_t{0}, sizeof(octet_filter_desc) - 1, SIZE_MAX})
    pack_refuses(OCTET_BAD_STRUCT_SIZE, "filter.struct_size",
                 [&](Layer& q) { q.filter.struct_size = size; });
  for (const int value : {-1, 0, 3, 4})
    pack_refuses(OCTET_UNKNOWN_ENUM, "filter.type",
                 [&](Layer& q) { set_raw(&q.filter.type, value); });
  for (const int value : {-1, 4})
    pack_refuses(OCTET_UNKNOWN_ENUM, "filter.order",
                 [&](Layer& q) { set_raw(&q.filter.order, value); });
  for (const int value : {-1, 9})
    pack_refuses(OCTET_UNKNOWN_ENUM, "filter.algorithm",
                 [&](Layer& q) { set_raw(&q.filter.algorithm, value); });
  for (const int value : {-1, 2})
    pack_refuses(OCTET_UNKNOWN_ENUM, "filter.accuracy",
                 [&](Layer& q) { set_raw(&q.filter.accuracy, value); });
  octet_isa isa;
  set_raw(&isa, 31);
  pack_refuses(
      OCTET_UNKNOWN_ENUM, "isa", [](Layer&) {}, isa);
  static const int32_t zero_points[kOutChannels] = {0, 0, 0, 0, -129, 0, 0};
  pack_refuses(OCTET_BAD_ZERO_POINT, "filter.zero_points[4]", [](Layer& q) {
    q.filter.zero_points = zero_points, q.filter.zero_point_count = kOutChannels;
  });
  pack_refuses(OCTET_BAD_SIZE, "filter.zero_point",
               [](Layer& q) { q.filter.zero_points = zero_points, q.filter.zero_point_count = 2; });
  pack_refuses(OCTET_BAD_SIZE, "filter.zero_point",
               [](Layer& q) { q.filter.zero_points = zero_points; });
  pack_refuses(OCTET_NULL_POINTER, "filter.zero_points",
               [](Layer& q) { q.filter.zero_point_count = 1; });
  for (const float bad : {0.0f, -1.0f, kNan, kInf}) {
    std::vector<float> ranges(16, 1.0f);
    ranges.back() = bad;
    pack_refuses(OCTET_BAD_SCALE, "filter.tap_ranges[15]",
                 [&](Layer& q) { q.filter.tap_ranges = ranges.data(); });
  }
}

TEST(ConvBadPack, AlgorithmsThatCannot) {
  pack_refuses(OCTET_UNSUPPORTED, "groups do not have 2, 4, 8 or 16 channels",
               [](Layer& q) { q.filter.algorithm = OCTET_CONV_GROUPED; });
  pack_refuses(OCTET_UNSUPPORTED, "depthwise",
               [](Layer& q) { q.filter.algorithm = OCTET_CONV_DEPTHWISE; });
  pack_refuses(OCTET_UNSUPPORTED, "winograd2x2", [](Layer& q) {
    q.filter.algorithm = OCTET_CONV_WINOGRAD_2X2, q.filter.shape.stride_h = 2;
  });
  pack_refuses(OCTET_UNSUPPORTED, "winograd4x4", [](Layer& q) {
    q.filter.algorithm = OCTET_CONV_WINOGRAD_4X4, q.filter.shape.kernel_w = 2;
  });
  pack_refuses(OCTET_UNSUPPORTED, "winograd2x2_s2",
               [](Layer& q) { q.filter.algorithm = OCTET_CONV_WINOGRAD_2X2_S2; });
  // The filter does not permit approximation
  pack_refuses(OCTET_UNSUPPORTED, "winograd2x2_int8",
               [](Layer& q) { q.filter.algorithm = OCTET_CONV_WINOGRAD_2X2_INT8; });
  static const int32_t zero_points[] = {100};
  pack_refuses(OCTET_UNSUPPORTED, "zero points", [&](Layer& q) {
    q.filter.algorithm = OCTET_CONV_WINOGRAD_4X4, q.filter.zero_points = zero_points,
    q.filter.zero_point_count = 1;
  });
  pack_refuses(OCTET_UNSUPPORTED, "zero point", [&](Layer& q) {
    q.filter.algorithm = OCTET_CONV_WINOGRAD_2X2_INT8, q.filter.zero_points = zero_points,
    q.filter.zero_point_count = 1, q.filter.accuracy = OCTET_ACCURACY_APPROXIMATE;
  });
}

TEST(ConvBadPack, Environment) {
  Layer p;
  size_t bytes = 0;
  p.filter.algorithm = OCTET_CONV_AUTO;
  for (const char* value : {"Direct", "winograd", "1", "direct,im2col"}) {
    const ScopedEnvironment wrong("OCTET_CONV", value);
    expect_refused(OCTET_BAD_ENVIRONMENT, "OCTET_CONV", [&](octet_error* e) {
      return octet_conv2d_pack_size(&p.filter, OCTET_ISA_AUTO, &bytes, e);
    });
    expect_refused(OCTET_BAD_ENVIRONMENT, "OCTET_CONV", [&](octet_error* e) {
      return octet_conv2d_pack(&p.filter, OCTET_ISA_AUTO, p.blob.data(), p.blob.bytes(), e);
    });
  }
  {
    const ScopedEnvironment impossible("OCTET_CONV", "depthwise");
    expect_refused(OCTET_UNSUPPORTED, "depthwise", [&](octet_error* e) {
      return octet_conv2d_pack_size(&p.filter, OCTET_ISA_AUTO, &bytes, e);
    });
  }
  const ScopedEnvironment empty("OCTET_CONV", "");
  EXPECT_EQ(octet_conv2d_pack_size(&p.filter, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
}

// ---- create

TEST(ConvBadCreate, Pointers) {
  Layer p;
  octet_conv2d* conv = nullptr;
  expect_refused(OCTET_NULL_POINTER, "desc",
                 [&](octet_error* e) { return octet_conv2d_create(nullptr, &conv, e); });
  expect_refused(OCTET_NULL_POINTER, "conv",
                 [&](octet_error* e) { return octet_conv2d_create(&p.desc, nullptr, e); });
  create_refuses(OCTET_NULL_POINTER, "desc.epilogue.scales",
                 [](Layer& q) { q.desc.epilogue.scales = nullptr; });
  create_refuses(OCTET_NULL_POINTER, "desc.epilogue.multipliers",
                 [](Layer& q) { q.to_tflite(), q.desc.epilogue.multipliers = nullptr; });
  create_refuses(OCTET_NULL_POINTER, "desc.epilogue.shifts",
                 [](Layer& q) { q.to_tflite(), q.desc.epilogue.shifts = nullptr; });
  create_refuses(OCTET_NULL_POINTER, "desc.packed", [](Layer& q) { q.desc.packed = nullptr; });
  create_refuses(OCTET_NULL_POINTER, "desc.packed",
                 [](Layer& q) { q.desc.packed = nullptr, q.desc.packed_bytes = 0; });
  create_refuses(OCTET_NULL_POINTER, "desc.allocator", [](Layer& q) {
    q.desc.allocator.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
  });
  create_refuses(OCTET_NULL_POINTER, "desc.allocator",
                 [](Layer& q) { q.desc.allocator.release = [](void*, void*) {}; });
  create_refuses(OCTET_MISALIGNED, "desc.packed",
                 [](Layer& q) { q.desc.packed = q.blob.data() + 1; });
}

TEST(ConvBadCreate, OutOfMemory) {
  create_refuses(OCTET_OUT_OF_MEMORY, "", [](Layer& q) {
    q.desc.allocator.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
    q.desc.allocator.release = [](void*, void*) {};
  });
}

TEST(ConvBadCreate, StructSize) {
  for (const size_t size :
       {size_t{0}, sizeof(octet_conv2d_desc) - 1, sizeof(octet_conv2d_desc) + 1, SIZE_MAX})
    create_refuses(OCTET_BAD_STRUCT_SIZE, "desc.struct_size",
                   [&](Layer& p) { p.desc.struct_size = size; });
}

TEST(ConvBadCreate, Enumerations) {
  for (const int value : {-1, 0, 3, 5, 99})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.lhs_type",
                   [&](Layer& p) { set_raw(&p.desc.lhs_type, value); });
  for (const int value : {-1, 0, 3, 4, 99})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.rhs_type",
                   [&](Layer& p) { set_raw(&p.desc.rhs_type, value); });
  for (const int value : {-1, 0, 5, 99})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.dst_type",
                   [&](Layer& p) { set_raw(&p.desc.dst_type, value); });
  for (const int value : {-1, 8, 99})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.lhs_quant",
                   [&](Layer& p) { set_raw(&p.desc.lhs_quant, value); });
  for (const int value : {-1, 2})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.lhs_layout",
                   [&](Layer& p) { set_raw(&p.desc.lhs_layout, value); });
  for (const int value : {-1, 2})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.dst_layout",
                   [&](Layer& p) { set_raw(&p.desc.dst_layout, value); });
  for (const int value : {-1, 3})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.epilogue.requant",
                   [&](Layer& p) { set_raw(&p.desc.epilogue.requant, value); });
  for (const int value : {-1, 5})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.epilogue.activation",
                   [&](Layer& p) { set_raw(&p.desc.epilogue.activation, value); });
  for (const int value : {-1, 3, 4})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.epilogue.residual.type",
                   [&](Layer& p) { set_raw(&p.desc.epilogue.residual.type, value); });
  for (const int value : {-1, 31, 257})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.max_isa",
                   [&](Layer& p) { set_raw(&p.desc.max_isa, value); });
}

TEST(ConvBadCreate, TypesThatConvolutionsDoNotTake) {
  for (const octet_lhs_quant quant : {OCTET_LHS_PER_ROW, OCTET_LHS_SYMMETRIC_BLOCKS})
    create_refuses(OCTET_UNSUPPORTED, "lhs_quant", [&](Layer& p) { p.desc.lhs_quant = quant; });
  create_refuses(OCTET_UNSUPPORTED, "desc.lhs_type", [](Layer& p) {
    p.desc.lhs_type = OCTET_F32, p.desc.lhs_quant = OCTET_LHS_PER_TENSOR;
  });
  for (const octet_lhs_quant quant : {OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC}) {
    create_refuses(OCTET_UNSUPPORTED, "desc.lhs_type", [&](Layer& p) { p.desc.lhs_quant = quant; });
    const auto dynamic = [&](Layer& p) { p.desc.lhs_quant = quant, p.desc.lhs_type = OCTET_F32; };
    create_refuses(OCTET_UNSUPPORTED, "f32 dst", dynamic);
    create_refuses(OCTET_UNSUPPORTED, "desc.lhs_scale", [&](Layer& p) {
      dynamic(p), p.desc.dst_type = OCTET_F32, p.desc.lhs_scale = 1;
    });
    create_refuses(OCTET_UNSUPPORTED, "desc.lhs_quantized_type", [&](Layer& p) {
      dynamic(p), p.desc.dst_type = OCTET_F32, p.desc.lhs_quantized_type = OCTET_U8;
    });
    create_refuses(OCTET_UNSUPPORTED, "desc.lhs_zero_point", [&](Layer& p) {
      dynamic(p), p.desc.dst_type = OCTET_F32, p.desc.lhs_zero_point = 1;
    });
  }
}

TEST(ConvBadCreate, FloatsOfAScale) {
  const auto floats = [](Layer& p) {
    p.desc.lhs_type = OCTET_F32, p.desc.lhs_quantized_type = OCTET_U8, p.desc.lhs_scale = 1;
  };
  for (const int type : {-1, 0, 3, 4})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.lhs_quantized_type",
                   [&](Layer& p) { floats(p), set_raw(&p.desc.lhs_quantized_type, type); });
  for (const float bad : {0.0f, -1.0f, kNan, kInf, 0x1p49f})
    create_refuses(OCTET_BAD_SCALE, "desc.lhs_scale",
                   [&](Layer& p) { floats(p), p.desc.lhs_scale = bad; });
  for (const int32_t bad : {-1, 256})
    create_refuses(OCTET_BAD_ZERO_POINT, "desc.lhs_zero_point",
                   [&](Layer& p) { floats(p), p.desc.lhs_zero_point = bad; });
  create_refuses(OCTET_BAD_ZERO_POINT, "desc.lhs_zero_point", [&](Layer& p) {
    floats(p), p.desc.lhs_quantized_type = OCTET_S8, p.desc.lhs_zero_point = 128;
  });
  create_refuses(OCTET_UNSUPPORTED, "desc.lhs_scale", [](Layer& p) { p.desc.lhs_scale = kNan; });
  create_refuses(OCTET_UNSUPPORTED, "desc.lhs_quantized_type",
                 [](Layer& p) { p.desc.lhs_quantized_type = OCTET_U8; });
}

TEST(ConvBadCreate, Scales) {
  for (const float bad : {0.0f, -1.0f, kNan, kInf, 0x1p49f}) {
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.scales[6]",
                   [&](Layer& p) { p.scales.back() = bad; });
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.dst_scale", [&](Layer& p) {
      p.desc.epilogue.activation = OCTET_ACTIVATION_RELU6, p.desc.epilogue.dst_scale = bad;
    });
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.residual.scale", [&](Layer& p) {
      p.desc.epilogue.residual.type = OCTET_S8, p.desc.epilogue.residual.scale = bad;
    });
  }
  for (const size_t count : {size_t{0}, kOutChannels - 1, kOutChannels + 1, SIZE_MAX}) {
    create_refuses(OCTET_BAD_SIZE, "desc.epilogue.scale_count",
                   [&](Layer& p) { p.desc.epilogue.scale_count = count; });
    create_refuses(OCTET_BAD_SIZE, "desc.epilogue.multiplier_count",
                   [&](Layer& p) { p.to_tflite(), p.desc.epilogue.multiplier_count = count; });
  }
  create_refuses(OCTET_BAD_SCALE, "desc.epilogue.multipliers[2]",
                 [](Layer& p) { p.to_tflite(), p.multipliers[2] = (1 << 30) - 1; });
  create_refuses(OCTET_BAD_SCALE, "desc.epilogue.shifts[3]",
                 [](Layer& p) { p.to_tflite(), p.shifts[3] = 31; });
  create_refuses(OCTET_BAD_ZERO_POINT, "desc.lhs_zero_point",
                 [](Layer& p) { p.desc.lhs_zero_point = 256; });
  create_refuses(OCTET_BAD_ZERO_POINT, "desc.epilogue.dst_zero_point",
                 [](Layer& p) { p.desc.epilogue.dst_zero_point = -1; });
  create_refuses(OCTET_BAD_CLAMP, "desc.epilogue.clamp_m", [](Layer& p) {
    p.desc.epilogue.activation = OCTET_ACTIVATION_CLAMP, p.desc.epilogue.clamp_min = 9,
    p.desc.epilogue.clamp_max = 8;
  });
  create_refuses(OCTET_BAD_CLAMP, "desc.epilogue.clamp_m", [](Layer& p) {
    p.desc.epilogue.activation = OCTET_ACTIVATION_CLAMP, p.desc.epilogue.clamp_min = kNan,
    p.desc.epilogue.clamp_max = 8;
  });
  create_refuses(OCTET_BAD_CLAMP, "desc.epilogue.clamp_m",
                 [](Layer& p) { p.desc.epilogue.activation = OCTET_ACTIVATION_CLAMP; });
}

TEST(ConvBadCreate, ResidualsWithoutAType) {
  for (const NamedResidual& r : residuals_of_one_field()) {
    const std::string argument = "desc.epilogue.residual." + r.field + " is set";
    create_refuses(OCTET_UNSUPPORTED, argument.c_str(),
                   [&](Layer& p) { p.desc.epilogue.residual = r.residual; });
    create_refuses(OCTET_UNSUPPORTED, argument.c_str(),
                   [&](Layer& p) { p.to_tflite(), p.desc.epilogue.residual = r.residual; });
  }
}

// Products of the window, bias and zero point count together. Padding does not lower the bound:
// some output sees the whole window.
TEST(ConvBadCreate, AccumulatorOverflow) {
  Layer p(OCTET_S32);
  p.bias[5] = INT32_MAX - 45 * 255;
  p.desc.epilogue.bias = p.bias.data();
  octet_conv2d* conv = nullptr;
  octet_error error = {};
  EXPECT_EQ(octet_conv2d_create(&p.desc, &conv, &error), OCTET_OK) << error.message;
  octet_conv2d_destroy(conv);
  ++p.bias[5];
  expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "output channel 5",
                 [&](octet_error* e) { return octet_conv2d_create(&p.desc, &conv, e); });
  expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "desc.epilogue.bias[5]",
                 [&](octet_error* e) { return octet_conv2d_create(&p.desc, &conv, e); });
  // An 8-bit output is legal as long as all sums of the channel give the same byte.
  for (const bool edge : {false, true}) {
    Layer bytes;
    bytes.bias[5] = INT32_MAX - 5000;
    bytes.scales[5] = (edge ? 100.5f : 100.0f) / 0x1p31f;
    bytes.desc.epilogue.bias = bytes.bias.data();
    if (edge) {
      expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "desc.epilogue.bias[5]",
                     [&](octet_error* e) { return octet_conv2d_create(&bytes.desc, &conv, e); });
    } else {
      EXPECT_EQ(octet_conv2d_create(&bytes.desc, &conv, &error), OCTET_OK) << error.message;
      octet_conv2d_destroy(conv);
    }
  }
}

// The message says which kind of object the blob is for.
TEST(ConvBadCreate, BlobsOfTheOtherKind) {
  const Layer layer;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = kOutChannels, rhs.k = 9 * kInChannels,
  rhs.data = layer.weights.data();
  size_t bytes = 0;
  ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
  create_refuses(OCTET_BAD_BLOB, "desc.packed comes from octet_pack",
                 [&](Layer& p) { p.desc.packed = blob.data(), p.desc.packed_bytes = bytes; });

  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = 1, desc.n = rhs.n, desc.k = rhs.k;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  desc.packed = layer.blob.data(), desc.packed_bytes = layer.blob.bytes();
  octet_gemm* gemm = nullptr;
  expect_refused(OCTET_BAD_BLOB, "desc.packed comes from octet_conv2d_pack",
                 [&](octet_error* e) { return octet_gemm_create(&desc, &gemm, e); });
}

TEST(ConvBadCreate, BlobsOfOtherProblems) {
  const auto other_shape = [](const std::function<void(octet_conv2d_shape&)>& edit) {
    create_refuses(OCTET_BAD_BLOB, "desc.packed", [&](Layer& p) { edit(p.desc.shape); });
  };
  other_shape([](octet_conv2d_shape& s) { s.in_channels = kInChannels + 1; });
  other_shape([](octet_conv2d_shape& s) { s.out_channels = kOutChannels + 1; });
  other_shape([](octet_conv2d_shape& s) { s.kernel_h = 2; });
  other_shape(
      [](octet_conv2d_shape& s) { s.kernel_h = 1, s.kernel_w = 9, s.pad_left = s.pad_right = 4; });
  other_shape([](octet_conv2d_shape& s) { s.stride_w = 2; });
  other_shape([](octet_conv2d_shape& s) { s.dilation_h = 2; });
  other_shape([](octet_conv2d_shape& s) { s.transposed = 1; });
  create_refuses(OCTET_BAD_BLOB, "desc.packed", [](Layer& p) { p.desc.rhs_type = OCTET_U8; });
  Layer larger;  // the maxima may differ
  larger.desc.shape.batch_max = 9, larger.desc.shape.in_h_max = 50, larger.desc.shape.in_w_max = 3;
  octet_conv2d* conv = nullptr;
  octet_error error = {};
  EXPECT_EQ(octet_conv2d_create(&larger.desc, &conv, &error), OCTET_OK) << error.message;
  octet_conv2d_destroy(conv);
}

TEST(ConvBadCreate, GemmBlobsAndBack) {
  Layer p;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = kOutChannels, rhs.k = 9 * kInChannels, rhs.data = p.weights.data();
  size_t bytes = 0;
  ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
  const Guarded gemm_blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, gemm_blob.data(), bytes, nullptr), OCTET_OK);
  create_refuses(OCTET_BAD_BLOB, "desc.packed",
                 [&](Layer& q) { q.desc.packed = gemm_blob.data(), q.desc.packed_bytes = bytes; });

  for (const octet_conv_algorithm algorithm : {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL}) {
    const Layer conv_layer(OCTET_S32, algorithm);
    octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
    d.m_max = 1, d.n = kOutChannels, d.k = 9 * kInChannels;
    d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8, d.dst_type = OCTET_S32;
    d.packed = conv_layer.blob.data(), d.packed_bytes = conv_layer.blob.bytes();
    octet_gemm* gemm = nullptr;
    expect_refused(OCTET_BAD_BLOB, "desc.packed",
                   [&](octet_error* e) { return octet_gemm_create(&d, &gemm, e); });
  }
}

constexpr size_t kHead = sizeof(octet::ContainerHeader) + sizeof(octet::FilterGeometry);

TEST(ConvBadCreate, DamagedBlobs) {
  for (const octet_conv_algorithm algorithm : {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL}) {
    Layer p(OCTET_U8, algorithm);
    octet_conv2d* conv = nullptr;
    octet_blob_info info = OCTET_BLOB_INFO_INIT;
    for (size_t i = 0; i < kHead; ++i)
      for (const uint8_t damage : {0x01, 0x80}) {
        p.blob.data()[i] ^= damage;
        octet_error error = {};
        EXPECT_EQ(octet_conv2d_create(&p.desc, &conv, &error), OCTET_BAD_BLOB) << "byte " << i;
        EXPECT_NE(std::string(error.message).find("desc.packed"), std::string::npos)
            << error.message;
        EXPECT_EQ(octet_blob_get_info(p.blob.data(), p.blob.bytes(), &info, nullptr),
                  OCTET_BAD_BLOB)
            << "byte " << i;
        EXPECT_EQ(octet_blob_verify(p.blob.data(), p.blob.bytes(), nullptr), OCTET_BAD_BLOB)
            << "byte " << i;
        p.blob.data()[i] ^= damage;
      }
    for (size_t i = kHead; i < p.blob.bytes(); ++i) {
      p.blob.data()[i] ^= 1;
      EXPECT_EQ(octet_blob_verify(p.blob.data(), p.blob.bytes(), nullptr), OCTET_BAD_BLOB)
          << "byte " << i;
      p.blob.data()[i] ^= 1;
    }
    ASSERT_EQ(octet_blob_verify(p.blob.data(), p.blob.bytes(), nullptr), OCTET_OK);
    ASSERT_EQ(octet_blob_get_info(p.blob.data(), p.blob.bytes(), &info, nullptr), OCTET_OK);
    EXPECT_EQ(info.n, kOutChannels);
    EXPECT_EQ(info.k, 9 * kInChannels);
    EXPECT_EQ(info.batch, 1u);
    EXPECT_EQ(info.bytes, p.blob.bytes());
    for (const size_t bytes :
         {size_t{0}, size_t{64}, kHead, p.blob.bytes() - 1, p.blob.bytes() - 64}) {
      p.desc.packed_bytes = bytes;
      expect_refused(OCTET_BAD_BLOB, "desc.packed",
                     [&](octet_error* e) { return octet_conv2d_create(&p.desc, &conv, e); });
    }
  }
}

// A header with a valid checksum may still be false. None leads to a wild access, and create
// accepts no weights of another problem.
TEST(ConvBadCreate, HeadersThatLieUnderARightChecksum) {
  for (const octet_conv_algorithm algorithm :
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_WINOGRAD_2X2, OCTET_CONV_WINOGRAD_4X4}) {
    Layer p(OCTET_U8, algorithm);
    octet::Container good = {};
    std::memcpy(&good, p.blob.data(), kHead);
    const auto signed_again = [&](octet::Container c) {
      c.header.head_checksum = 0;
      c.header.head_checksum = octet::checksum(&c, kHead).folded();
      std::memcpy(p.blob.data(), &c, kHead);
    };
    const auto create = [&] {
      octet_conv2d* conv = nullptr;
      const octet_status status = octet_conv2d_create(&p.desc, &conv, nullptr);
      octet_conv2d_destroy(conv);
      return status;
    };
    signed_again(good);
    ASSERT_EQ(create(), OCTET_OK);

    for (const uint32_t version : {0u, 1u, 2u, good.header.version + 1}) {
      octet::Container c = good;
      c.header.version = version;
      signed_again(c);
      EXPECT_EQ(create(), OCTET_BAD_BLOB) << "version " << version;
    }

    // Sizes and offsets, of header and geometry; the checksums may be anything.
    const size_t first = offsetof(octet::ContainerHeader, payload_checksum),
                 sections = offsetof(octet::ContainerHeader, sections);
    const size_t small_of_geometry =
        sizeof(octet::ContainerHeader) + offsetof(octet::FilterGeometry, algorithm);
    for (size_t at = offsetof(octet::ContainerHeader, bytes); at < kHead; at += 8) {
      if ((at >= first && at < sections) || at == small_of_geometry) continue;
      uint64_t was;
      std::memcpy(&was, (uint8_t*)(&good) + at, sizeof was);
      for (const uint64_t value :
           {uint64_t{0}, was + 1, was - 1, was + 64, 2 * was, uint64_t{1} << 31, uint64_t{1} << 32,
            uint64_t{1} << 63, ~uint64_t{0}}) {
        octet::Container c = good;
        std::memcpy((uint8_t*)(&c) + at, &value, sizeof value);
        if (value == was || c.header.has_int8_min != good.header.has_int8_min) continue;
        signed_again(c);
        EXPECT_NE(create(), OCTET_OK)
            << octet_conv_algorithm_name(algorithm) << ", field at " << at << " = " << value;
        // May succeed, without a wild access
        octet_blob_verify(p.blob.data(), p.blob.bytes(), nullptr);
      }
    }
    // Small fields: any byte of them. Most contradict the sizes; the rest must be refused as
    // unreadable, or be harmless.
    for (size_t at = offsetof(octet::ContainerHeader, kind); at < kHead; ++at) {
      if (at >= first && at < small_of_geometry) continue;
      for (int value = 0; value < 256; ++value) {
        octet::Container c = good;
        uint8_t* const byte = (uint8_t*)(&c) + at;
        const bool same = *byte == value;
        *byte = (uint8_t)value;
        signed_again(c);
        const octet_status status = create();
        EXPECT_TRUE(status == OCTET_BAD_BLOB || status == OCTET_WRONG_TIER || status == OCTET_OK)
            << octet_status_name(status) << " for byte " << at << " = " << value;
        octet_blob_info info = OCTET_BLOB_INFO_INIT;
        const bool told =
            octet_blob_get_info(p.blob.data(), p.blob.bytes(), &info, nullptr) == OCTET_OK;
        EXPECT_TRUE(!told || std::strcmp(octet_isa_name(info.isa), "unknown") != 0)
            << "byte " << at << " = " << value;
        const bool reserved =
            (at == offsetof(octet::ContainerHeader, outline) && value > 1) ||
            at >= sizeof(octet::ContainerHeader) + offsetof(octet::FilterGeometry, reserved);
        EXPECT_TRUE(!reserved || same || status == OCTET_BAD_BLOB) << "reserved byte " << at;
      }
    }
  }
}

TEST(ConvBadCreate, Kernels) {
  create_refuses(OCTET_UNKNOWN_KERNEL, "desc.kernel",
                 [](Layer& p) { p.desc.kernel = "avx9_u8s8"; });
  create_refuses(OCTET_KERNEL_UNUSABLE, "another kind than those of a 'direct' convolution",
                 [](Layer& p) { p.desc.kernel = octet::int16_kernels().begin()[0]->name; });
  // Forced kernels for other types, or for sparse weights, are left aside, as for products.
  for (const MicroKernel* kernel : table())
    if (!usable(*kernel) && serves(*kernel, {OCTET_U8, OCTET_S8}) && !kernel->rhs_layout.sparse())
      create_refuses(OCTET_KERNEL_UNUSABLE, kernel->name,
                     [&](Layer& p) { p.desc.kernel = kernel->name; });
}

// ---- workspace query and run

struct Created : Layer {
  octet_conv2d* conv = nullptr;
  size_t bytes = 0;
  explicit Created(const Edit& edit = {}, octet_type dst_type = OCTET_U8,
                   octet_conv_algorithm algorithm = OCTET_CONV_DIRECT)
      : Layer(dst_type, algorithm) {
    if (edit) edit(*this);
    octet_error error = {};
    EXPECT_EQ(octet_conv2d_create(&desc, &conv, &error), OCTET_OK) << error.message;
    EXPECT_EQ(octet_conv2d_workspace(conv, 0, 0, 0, 1, &bytes, &error), OCTET_OK) << error.message;
    workspace = Guarded(bytes + 1, Side::kFront, 64);
    args.workspace = workspace.data(), args.workspace_bytes = bytes;
  }
  ~Created() { octet_conv2d_destroy(conv); }
  Created(const Created&) = delete;

  // Refused, with dst left as it was, wherever it is.
  void refuses(octet_status status, const char* argument, const Edit& edit) {
    const octet_conv2d_args good = args;
    edit(*this);
    std::memset(dst.data(), Guarded::kUntouched, dst.bytes());
    const std::vector<uint8_t> before(blob.data(), blob.data() + blob.bytes());
    expect_refused(status, argument,
                   [&](octet_error* e) { return octet_conv2d_run(conv, &args, e); });
    for (size_t i = 0; i < dst.bytes(); ++i)
      ASSERT_EQ(dst.data()[i], Guarded::kUntouched) << argument << ": dst was written";
    ASSERT_EQ(std::memcmp(before.data(), blob.data(), blob.bytes()), 0);
    args = good;
  }
};

TEST(ConvBadRun, Pointers) {
  Created c;
  size_t bytes = 0;
  expect_refused(OCTET_NULL_POINTER, "conv",
                 [&](octet_error* e) { return octet_conv2d_run(nullptr, &c.args, e); });
  expect_refused(OCTET_NULL_POINTER, "args",
                 [&](octet_error* e) { return octet_conv2d_run(c.conv, nullptr, e); });
  expect_refused(OCTET_NULL_POINTER, "conv", [&](octet_error* e) {
    return octet_conv2d_workspace(nullptr, 1, 1, 1, 1, &bytes, e);
  });
  expect_refused(OCTET_NULL_POINTER, "bytes", [&](octet_error* e) {
    return octet_conv2d_workspace(c.conv, 1, 1, 1, 1, nullptr, e);
  });
  c.refuses(OCTET_NULL_POINTER, "args.lhs", [](Layer& p) { p.args.lhs = nullptr; });
  c.refuses(OCTET_NULL_POINTER, "args.dst", [](Layer& p) { p.args.dst = nullptr; });
  for (const size_t size : {size_t{0}, sizeof(octet_conv2d_args) - 1, SIZE_MAX})
    c.refuses(OCTET_BAD_STRUCT_SIZE, "args.struct_size",
              [&](Layer& p) { p.args.struct_size = size; });
}

TEST(ConvBadRun, Sizes) {
  Created c;
  size_t bytes = 0;
  for (const size_t more : {size_t{1}, SIZE_MAX - 100, SIZE_MAX / 2}) {
    c.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.batch",
              [&](Layer& p) { p.args.batch = kBatch + more; });
    c.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.in_h", [&](Layer& p) { p.args.in_h = kIn + more; });
    c.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.in_w", [&](Layer& p) { p.args.in_w = kIn + more; });
    expect_refused(OCTET_SIZE_ABOVE_MAXIMUM, "batch", [&](octet_error* e) {
      return octet_conv2d_workspace(c.conv, kBatch + more, 0, 0, 1, &bytes, e);
    });
    expect_refused(OCTET_SIZE_ABOVE_MAXIMUM, "in_h", [&](octet_error* e) {
      return octet_conv2d_workspace(c.conv, 0, kIn + more, 0, 1, &bytes, e);
    });
    expect_refused(OCTET_SIZE_ABOVE_MAXIMUM, "in_w", [&](octet_error* e) {
      return octet_conv2d_workspace(c.conv, 0, 0, kIn + more, 1, &bytes, e);
    });
  }
  c.refuses(OCTET_BAD_SIZE, "args.out_h", [](Layer& p) { p.args.out_h = kIn + 1; });
  c.refuses(OCTET_BAD_SIZE, "args.out_w", [](Layer& p) { p.args.out_w = kIn - 1; });
  c.refuses(OCTET_BAD_SIZE, "makes 5 x 6 of 5 x 6",
            [](Layer& p) { p.args.in_h = kIn - 1, p.args.out_h = kIn; });
  expect_refused(OCTET_BAD_SIZE, "concurrency", [&](octet_error* e) {
    return octet_conv2d_workspace(c.conv, 0, 0, 0, SIZE_MAX / 2, &bytes, e);
  });
}

// An image that is too small for the kernel: create could not know.
TEST(ConvBadRun, OutputBelowOne) {
  Created c([](Layer& p) {
    p.filter.shape.pad_top = p.filter.shape.pad_bottom = p.filter.shape.pad_left =
        p.filter.shape.pad_right = 0;
    p.pack();
    p.desc.shape = p.filter.shape;
  });
  size_t bytes = 0;
  c.refuses(OCTET_BAD_SIZE, "args: in_h", [](Layer& p) { p.args.in_h = 2; });
  c.refuses(OCTET_BAD_SIZE, "args: in_w", [](Layer& p) { p.args.in_w = 1; });
  expect_refused(OCTET_BAD_SIZE, "the sizes: in_h", [&](octet_error* e) {
    return octet_conv2d_workspace(c.conv, 1, 2, 6, 1, &bytes, e);
  });
}

TEST(ConvBadRun, Pads) {
  Created c;
  octet_conv2d_pads pads = {};
  const auto refuses = [&](octet_status status, const char* argument, octet_conv2d_pads bad,
                           size_t in_h = 0) {
    pads = bad;
    c.refuses(status, argument, [&](Layer& p) { p.args.pads = &pads, p.args.in_h = in_h; });
  };
  constexpr size_t kBeyond = (size_t{1} << 31) + 1;
  for (const size_t bad : {kBeyond, SIZE_MAX}) {
    refuses(OCTET_BAD_SIZE, "args.pads.top", {bad, 0, 0, 0});
    refuses(OCTET_BAD_SIZE, "args.pads.bottom", {0, bad, 0, 0});
    refuses(OCTET_BAD_SIZE, "args.pads.left", {0, 0, bad, 0});
    refuses(OCTET_BAD_SIZE, "args.pads.right", {0, 0, 0, bad});
  }
  refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.pads", {2, 1, 1, 1});
  refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.pads", {1, 1, 0, 3});
  refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.pads", {size_t{1} << 30, 0, 0, 0});
  // Larger than the output of this input with the declared pads, but not than the largest output
  refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.pads", {2, 1, 1, 1}, kIn - 1);
  refuses(OCTET_BAD_SIZE, "args.pads: in_h", {0, 1, 1, 1}, 1);
  // Checked against the run's pads
  pads = {1, 0, 1, 1};
  c.refuses(OCTET_BAD_SIZE, "args.out_h",
            [&](Layer& p) { p.args.pads = &pads, p.args.out_h = kIn; });
  c.args.pads = &pads, c.args.out_h = kIn - 1;
  EXPECT_EQ(octet_conv2d_run(c.conv, &c.args, nullptr), OCTET_OK);

  // A transposed convolution cuts pads off: with less of them it gets larger.
  Created transposed([](Layer& p) {
    p.filter.shape.transposed = 1;
    p.pack();
    p.desc.shape = p.filter.shape;
  });
  pads = {1, 0, 1, 1};
  transposed.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.pads", [&](Layer& p) { p.args.pads = &pads; });
  pads = {1, kIn + 1, 1, 1};
  transposed.refuses(OCTET_BAD_SIZE, "args.pads", [&](Layer& p) { p.args.pads = &pads; });
}

TEST(ConvBadRun, Strides) {
  Created c([](Layer& p) {
    p.desc.epilogue.residual = {OCTET_U8, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    p.args.residual = p.residual.data();
  });
  c.refuses(OCTET_BAD_STRIDE, "args.lhs_stride",
            [](Layer& p) { p.args.lhs_stride = kInChannels - 1; });
  c.refuses(OCTET_BAD_STRIDE, "args.dst_stride",
            [](Layer& p) { p.args.dst_stride = kOutChannels - 1; });
  c.refuses(OCTET_BAD_STRIDE, "args.residual_stride", [](Layer& p) { p.args.residual_stride = 1; });
  for (const size_t huge : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 1}) {
    c.refuses(OCTET_BAD_SIZE, "args.lhs", [&](Layer& p) { p.args.lhs_stride = huge; });
    c.refuses(OCTET_BAD_SIZE, "args.dst", [&](Layer& p) { p.args.dst_stride = huge; });
    c.refuses(OCTET_BAD_SIZE, "args.residual", [&](Layer& p) { p.args.residual_stride = huge; });
  }
  Created planes([](Layer& p) { p.desc.lhs_layout = p.desc.dst_layout = OCTET_NCHW; });
  planes.refuses(OCTET_BAD_STRIDE, "args.lhs_stride",
                 [](Layer& p) { p.args.lhs_stride = kInChannels + 1; });
  planes.refuses(OCTET_BAD_STRIDE, "args.dst_stride",
                 [](Layer& p) { p.args.dst_stride = kOutChannels + 1; });
}

TEST(ConvBadRun, Workspace) {
  for (const octet_conv_algorithm algorithm : {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL}) {
    Created c([](Layer& p) { p.desc.lhs_layout = OCTET_NCHW; }, OCTET_U8, algorithm);
    ASSERT_GT(c.bytes, 0u);
    EXPECT_EQ(c.bytes % OCTET_ALIGNMENT, 0u);
    c.refuses(OCTET_WORKSPACE_TOO_SMALL, "args.workspace_bytes",
              [](Layer& p) { --p.args.workspace_bytes; });
    c.refuses(OCTET_WORKSPACE_TOO_SMALL, "args.workspace_bytes",
              [](Layer& p) { p.args.workspace_bytes = 0; });
    c.refuses(OCTET_NULL_POINTER, "args.workspace", [](Layer& p) { p.args.workspace = nullptr; });
    const Guarded shifted(c.bytes + 64, Side::kFront, 64);
    for (const size_t offset : {1, 4, 32})
      c.refuses(OCTET_MISALIGNED, "args.workspace",
                [&](Layer& p) { p.args.workspace = shifted.data() + offset; });
    c.refuses(OCTET_OVERLAP, "workspace", [](Layer& p) { p.args.lhs = p.workspace.data(); });
    c.refuses(OCTET_OVERLAP, "workspace", [](Layer& p) { p.args.dst = p.workspace.data() + 1; });
  }
}

TEST(ConvBadRun, Overlaps) {
  Created c([](Layer& p) {
    p.desc.epilogue.residual = {OCTET_U8, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    p.args.residual = p.residual.data();
  });
  c.refuses(OCTET_OVERLAP, "args.lhs", [](Layer& p) { p.args.lhs = p.dst.data(); });
  c.refuses(OCTET_OVERLAP, "args.lhs",
            [](Layer& p) { p.args.lhs = p.dst.data() + kPixels * kOutChannels - 1; });
  c.refuses(OCTET_OVERLAP, "the packed weights",
            [](Layer& p) { p.args.dst = p.blob.data() + p.blob.bytes() - 1; });
  c.refuses(OCTET_OVERLAP, "args.residual", [](Layer& p) { p.args.residual = p.dst.data() + 1; });
  c.refuses(OCTET_OVERLAP, "args.residual", [](Layer& p) {
    p.args.residual = p.dst.data(), p.args.residual_stride = kOutChannels + 1;
  });
  c.refuses(OCTET_NULL_POINTER, "args.residual", [](Layer& p) { p.args.residual = nullptr; });
  // A workspace counts as far as it was declared, also where this run needs less.
  const auto workspace_at = [](Layer& p, const Guarded& last) {
    p.args.workspace = last.data() + last.bytes() - 1, p.args.workspace_bytes = 1;
  };
  c.refuses(OCTET_OVERLAP, "args.residual", [&](Layer& p) { workspace_at(p, p.residual); });
  c.refuses(OCTET_OVERLAP, "args.lhs", [&](Layer& p) { workspace_at(p, p.lhs); });
  c.refuses(OCTET_OVERLAP, "the packed weights", [&](Layer& p) { workspace_at(p, p.blob); });
  c.args.residual = c.dst.data();
  EXPECT_EQ(octet_conv2d_run(c.conv, &c.args, nullptr), OCTET_OK) << "exactly dst is allowed";
}

// A tensor that create does not know of would be ignored in silence.
TEST(ConvBadRun, OperandsThatCreateDoesNotKnow) {
  Created c;
  const int32_t zero_points[kBatch] = {1, 2};
  const float scales[kBatch] = {1, 1};
  c.refuses(OCTET_UNSUPPORTED, "args.residual",
            [](Layer& p) { p.args.residual = p.residual.data(); });
  c.refuses(OCTET_UNSUPPORTED, "args.lhs_zero_points",
            [&](Layer& p) { p.args.lhs_zero_points = zero_points; });
  c.refuses(OCTET_UNSUPPORTED, "args.lhs_scales", [&](Layer& p) { p.args.lhs_scales = scales; });
}

TEST(ConvBadRun, Alignment) {
  for (const octet_type dst : {OCTET_S32, OCTET_F32}) {
    Created c({}, dst);
    for (const size_t offset : {1, 2, 3})
      c.refuses(OCTET_MISALIGNED, "args.dst",
                [&](Layer& p) { p.args.dst = p.dst.data() + offset; });
  }
}

TEST(ConvBadRun, Floats) {
  const float scales[kBatch] = {1, 1};
  const int32_t zero_points[kBatch] = {};
  for (const octet_lhs_quant quant :
       {OCTET_LHS_STATIC, OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC}) {
    Created c(
        [&](Layer& p) {
          p.desc.lhs_type = OCTET_F32, p.desc.lhs_quant = quant;
          if (quant == OCTET_LHS_STATIC) p.desc.lhs_quantized_type = OCTET_U8, p.desc.lhs_scale = 1;
          p.lhs = Guarded(kPixels * kInChannels * sizeof(float), Side::kBack, 64);
          p.args.lhs = p.lhs.data();
        },
        OCTET_F32);
    EXPECT_EQ(octet_conv2d_run(c.conv, &c.args, nullptr), OCTET_OK);
    for (const size_t offset : {1, 2, 3})
      c.refuses(OCTET_MISALIGNED, "args.lhs",
                [&](Layer& p) { p.args.lhs = p.lhs.data() - 4 + offset; });
    c.refuses(OCTET_UNSUPPORTED, "args.lhs_scales", [&](Layer& p) { p.args.lhs_scales = scales; });
    c.refuses(OCTET_UNSUPPORTED, "args.lhs_zero_points",
              [&](Layer& p) { p.args.lhs_zero_points = zero_points; });
    c.refuses(OCTET_WORKSPACE_TOO_SMALL, "args.workspace_bytes",
              [](Layer& p) { --p.args.workspace_bytes; });
    // One float overlaps
    c.refuses(OCTET_OVERLAP, "args.lhs",
              [](Layer& p) { p.args.dst = p.lhs.data() + p.lhs.bytes() - 4; });
  }
}

TEST(ConvBadRun, RuntimeQuantization) {
  Created c([](Layer& p) { p.to_runtime_quant(); });
  std::vector<int32_t> zero_points = {0, 256};
  std::vector<float> scales = {1, 1};
  std::vector<int32_t> both(kPixels * kOutChannels, 0);  // room for dst, and zeros for zero points
  std::vector<float> both_scales(kPixels * kOutChannels, 1);
  const std::vector<int32_t> first_wrong = {256, 0};
  c.refuses(OCTET_BAD_ZERO_POINT, "args.lhs_zero_points[0]",
            [&](Layer& p) { p.args.lhs_zero_points = first_wrong.data(); });
  c.refuses(OCTET_BAD_ZERO_POINT, "args.lhs_zero_points[1]",
            [&](Layer& p) { p.args.lhs_zero_points = zero_points.data(); });
  c.refuses(OCTET_OVERLAP, "args.lhs_zero_points",
            [&](Layer& p) { p.args.lhs_zero_points = both.data(), p.args.dst = both.data(); });
  c.refuses(OCTET_OVERLAP, "args.lhs_scales", [&](Layer& p) {
    p.args.lhs_scales = both_scales.data(), p.args.dst = both_scales.data();
  });
  // dst begins at the last byte of the last image's value, or at the first byte behind it.
  uint8_t* const after_zero_points = (uint8_t*)(both.data() + kBatch);
  uint8_t* const after_scales = (uint8_t*)(both_scales.data() + kBatch);
  c.refuses(OCTET_OVERLAP, "args.lhs_zero_points", [&](Layer& p) {
    p.args.lhs_zero_points = both.data(), p.args.dst = after_zero_points - 1;
  });
  c.refuses(OCTET_OVERLAP, "args.lhs_scales", [&](Layer& p) {
    p.args.lhs_scales = both_scales.data(), p.args.dst = after_scales - 1;
  });
  const auto workspace_at = [](Layer& p, uint8_t* at) {
    p.args.workspace = at, p.args.workspace_bytes = 1;
  };
  c.refuses(OCTET_OVERLAP, "args.lhs_zero_points", [&](Layer& p) {
    p.args.lhs_zero_points = both.data(), workspace_at(p, after_zero_points - 1);
  });
  c.refuses(OCTET_OVERLAP, "args.lhs_scales", [&](Layer& p) {
    p.args.lhs_scales = both_scales.data(), workspace_at(p, after_scales - 1);
  });
  const octet_conv2d_args good = c.args;
  c.args.lhs_zero_points = both.data(), c.args.dst = after_zero_points;
  EXPECT_EQ(octet_conv2d_run(c.conv, &c.args, nullptr), OCTET_OK);
  c.args.lhs_zero_points = nullptr, c.args.lhs_scales = both_scales.data(),
  c.args.dst = after_scales;
  EXPECT_EQ(octet_conv2d_run(c.conv, &c.args, nullptr), OCTET_OK);
  c.args = good;
  for (const float bad : {kNan, kInf, 0.0f, -1.0f}) {
    scales.back() = bad;
    c.refuses(OCTET_BAD_SCALE, "args.lhs_scales[1]",
              [&](Layer& p) { p.args.lhs_scales = scales.data(); });
  }
  const std::vector<float> first_bad = {kNan, 1};
  c.refuses(OCTET_BAD_SCALE, "args.lhs_scales[0]",
            [&](Layer& p) { p.args.lhs_scales = first_bad.data(); });
  // The second image's values are not read
  c.args.batch = 1, c.args.lhs_zero_points = zero_points.data(), c.args.lhs_scales = scales.data();
  EXPECT_EQ(octet_conv2d_run(c.conv, &c.args, nullptr), OCTET_OK);
  Created s32([](Layer& p) { p.to_runtime_quant(); }, OCTET_S32);
  s32.refuses(OCTET_UNSUPPORTED, "args.lhs_scales",
              [&](Layer& p) { p.args.lhs_scales = scales.data(); });
}

}  // namespace
}  // namespace octet_test
