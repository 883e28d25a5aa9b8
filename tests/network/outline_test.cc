// SPDX-License-Identifier: Apache-2.0
// Checks that outlines answer as the packed weights do that they stand for, and that nothing runs
// on them.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "octet/network.h"
#include "support/conv_case.h"
#include "support/draw.h"
#include "support/guarded.h"

namespace octet_test {
namespace {

// Blobs and outlines, which objects borrow until they are destroyed.
struct Weights {
  std::vector<uint8_t> data;  // of the caller
  Guarded blob, outline = Guarded(OCTET_OUTLINE_BYTES, Side::kBack, OCTET_ALIGNMENT);
};

// Uses the whole range of every type.
std::vector<uint8_t> whole_range(size_t bytes, uint32_t seed) {
  Draw draw(seed);
  std::vector<uint8_t> data(bytes);
  for (uint8_t& value : data) value = (uint8_t)draw.below(256);
  for (size_t i = 0; i < bytes; i += 3) data[i] = i % 2 ? 0x80 : 0x7f;
  for (size_t i = 1; i < bytes; i += 7) data[i] = i % 2 ? 0x00 : 0xff;
  return data;
}

// ---- convolutions -------------------------------------------------------------------------------

struct Layer {
  octet_conv2d_shape shape;
  octet_type type = OCTET_S8;
  int32_t zero_point = 0;
  octet_requant requant = OCTET_REQUANT_FLOAT;
  octet_type lhs = OCTET_U8, dst = OCTET_U8;
  octet_layout layout = OCTET_NHWC;
  octet_sparsity sparsity = OCTET_SPARSE_NONE;
};

octet_conv2d_shape transposed(octet_conv2d_shape shape) {
  shape.transposed = 1;
  return shape;
}

std::vector<Layer> layers() {
  const octet_conv2d_shape deep = square(14, 64, 64, 3, 1, 1), few = square(33, 3, 16, 3, 2, 1),
                           flat = square(7, 96, 24, 1),
                           by_channel = square(20, 32, 32, 3, 1, 1, 32);
  return {
      {deep},
      {few},
      {flat},
      {by_channel},
      {deep, OCTET_U8, 77},
      {by_channel, OCTET_U8, 130},
      {deep, OCTET_S4},
      {square(9, 32, 32, 3, 1, 1, 8)},
      {transposed(square(6, 24, 40, 4, 2, 1))},
      {deep, OCTET_S8, 0, OCTET_REQUANT_TFLITE},
      {deep, OCTET_S8, 0, OCTET_REQUANT_DOUBLE},
      {by_channel, OCTET_S8, 0, OCTET_REQUANT_FLOAT, OCTET_S16, OCTET_S16},
      {flat, OCTET_S8, 0, OCTET_REQUANT_FLOAT, OCTET_F32, OCTET_F32},
      {deep, OCTET_S8, 5, OCTET_REQUANT_FLOAT, OCTET_S8, OCTET_S32, OCTET_NCHW},
      {deep, OCTET_S8, 0, OCTET_REQUANT_FLOAT, OCTET_U8, OCTET_U8, OCTET_NHWC, OCTET_SPARSE_AUTO}};
}

using ConvObject = std::unique_ptr<octet_conv2d, void (*)(octet_conv2d*)>;

// The object of the blob, or of the outline.
ConvObject create(const Layer& layer, octet_isa isa, bool outline, Weights* weights) {
  static const float scale = 1.0f / 512;
  static const int32_t multiplier = 1 << 30, shift = -8;
  static const double factor = 1.0 / 512;
  octet_filter_desc f = OCTET_FILTER_DESC_INIT;
  f.shape = layer.shape, f.type = layer.type, f.order = OCTET_HWIO, f.sparsity = layer.sparsity;
  if (layer.shape.transposed) f.order = OCTET_IOHW;
  if (layer.zero_point) f.zero_points = &layer.zero_point, f.zero_point_count = 1;
  octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
  d.shape = layer.shape, d.max_isa = isa;
  d.lhs_type = layer.lhs, d.rhs_type = layer.type, d.dst_type = layer.dst;
  d.lhs_layout = d.dst_layout = layer.layout;
  if (layer.lhs == OCTET_F32) d.lhs_quant = OCTET_LHS_SYMMETRIC;
  d.epilogue.requant = layer.requant;
  if (layer.requant == OCTET_REQUANT_TFLITE)
    d.epilogue.multipliers = &multiplier, d.epilogue.shifts = &shift,
    d.epilogue.multiplier_count = 1;
  else if (layer.requant == OCTET_REQUANT_DOUBLE)
    d.epilogue.factors = &factor, d.epilogue.factor_count = 1;
  else if (layer.dst != OCTET_S32)
    d.epilogue.scales = &scale, d.epilogue.scale_count = 1;
  octet_error error = {};
  if (outline) {
    EXPECT_EQ(octet_conv2d_pack_outline(&f, isa, weights->outline.data(), &error), OCTET_OK)
        << error.message;
    d.packed = weights->outline.data(), d.packed_bytes = OCTET_OUTLINE_BYTES;
  } else {
    size_t bytes = 0;
    EXPECT_EQ(octet_conv2d_pack_size(&f, isa, &bytes, &error), OCTET_OK) << error.message;
    const octet_conv2d_shape& s = layer.shape;
    weights->data = whole_range(
        s.kernel_h * s.kernel_w * (s.in_channels / s.groups) * s.out_channels, s.kernel_h);
    weights->blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    f.data = weights->data.data();
    EXPECT_EQ(octet_conv2d_pack(&f, isa, weights->blob.data(), bytes, &error), OCTET_OK)
        << error.message;
    d.packed = weights->blob.data(), d.packed_bytes = bytes;
  }
  octet_conv2d* conv = nullptr;
  EXPECT_EQ(octet_conv2d_create(&d, &conv, &error), OCTET_OK) << error.message;
  return {conv, octet_conv2d_destroy};
}

TEST(Outline, ConvolutionsAnswer) {
  size_t number = 0;
  for (const Layer& layer : layers()) {
    for (const octet_isa isa : tiers_to_test()) {
      SCOPED_TRACE(testing::Message() << "layer " << number << ", " << octet_isa_name(isa));
      Weights weights;
      const ConvObject packed = create(layer, isa, false, &weights),
                       outlined = create(layer, isa, true, &weights);
      ASSERT_TRUE(packed && outlined);
      EXPECT_STREQ(octet_conv2d_kernel(outlined.get()), octet_conv2d_kernel(packed.get()));
      EXPECT_EQ(octet_conv2d_algorithm(outlined.get()), octet_conv2d_algorithm(packed.get()));
      for (const size_t concurrency : {1, 3}) {
        size_t bytes[2] = {};
        octet_error error = {};
        EXPECT_EQ(octet_conv2d_workspace(packed.get(), 0, 0, 0, concurrency, &bytes[0], &error), 0);
        EXPECT_EQ(octet_conv2d_workspace(outlined.get(), 0, 0, 0, concurrency, &bytes[1], &error),
                  0);
        EXPECT_GE(bytes[1], bytes[0]);
      }
      octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
      octet_error error = {};
      EXPECT_EQ(octet_conv2d_run(outlined.get(), &args, &error), OCTET_BAD_BLOB);
      EXPECT_TRUE(std::strstr(error.message, "outline")) << error.message;
    }
    ++number;
  }
}

// ---- products -----------------------------------------------------------------------------------

struct Product {
  size_t m, n, k;
  octet_type type = OCTET_S8;
  int32_t zero_point = 0;
  octet_type lhs = OCTET_U8, dst = OCTET_U8;
  size_t scale_block = 0;
  bool minimums = false;
  octet_sparsity sparsity = OCTET_SPARSE_NONE;
};

const Product kProducts[] = {
    {1, 64, 256},
    {50, 130, 77},
    {50, 40, 64, OCTET_U8, 9},
    {3, 40, 64, OCTET_S4},
    {3, 48, 64, OCTET_U4, 8, OCTET_F32, OCTET_F32},
    {5, 64, 96, OCTET_S8, 0, OCTET_S8, OCTET_S32},
    {5, 64, 96, OCTET_S8, 0, OCTET_S16, OCTET_S16},
    {2, 64, 128, OCTET_U4, 0, OCTET_F32, OCTET_F32, 32},
    {20, 64, 128, OCTET_S8, 0, OCTET_U8, OCTET_F32, 32, true},
    {50, 64, 256, OCTET_S8, 0, OCTET_U8, OCTET_U8, 0, false, OCTET_SPARSE_AUTO}};

octet_gemm_desc describe(const Product& p, octet_isa isa, bool outline, Weights* weights) {
  static const float scale = 1.0f / 512;
  const std::vector<float> scales(p.scale_block ? p.n * (p.k / p.scale_block) : 0, 0.5f);
  octet_rhs_desc r = OCTET_RHS_DESC_INIT;
  r.n = p.n, r.k = p.k, r.type = p.type, r.order = OCTET_NK;
  if (p.zero_point) r.zero_points = &p.zero_point, r.zero_point_count = 1;
  if (p.scale_block) r.scale_block = p.scale_block, r.scale_type = OCTET_F32;
  if (p.minimums) r.minimums = scales.data();
  r.sparsity = p.sparsity;
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = p.m, d.n = p.n, d.k = p.k, d.max_isa = isa;
  d.lhs_type = p.lhs, d.rhs_type = p.type, d.dst_type = p.dst;
  if (p.lhs == OCTET_F32) d.lhs_quant = OCTET_LHS_SYMMETRIC;
  if (p.dst != OCTET_S32) d.epilogue.scales = &scale, d.epilogue.scale_count = 1;
  octet_error error = {};
  if (outline) {
    EXPECT_EQ(octet_pack_outline(&r, isa, weights->outline.data(), &error), OCTET_OK)
        << error.message;
    d.packed = weights->outline.data(), d.packed_bytes = OCTET_OUTLINE_BYTES;
    return d;
  }
  weights->data = whole_range(p.n * p.k, (uint32_t)p.m);
  r.data = weights->data.data(), r.scales = p.scale_block ? scales.data() : nullptr;
  size_t bytes = 0;
  EXPECT_EQ(octet_pack_size(&r, isa, &bytes, &error), OCTET_OK) << error.message;
  weights->blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_pack(&r, isa, weights->blob.data(), bytes, &error), OCTET_OK) << error.message;
  d.packed = weights->blob.data(), d.packed_bytes = bytes;
  return d;
}

TEST(Outline, ProductsAnswer) {
  for (const Product& p : kProducts) {
    for (const octet_isa isa : tiers_to_test()) {
      SCOPED_TRACE(testing::Message()
                   << "product " << &p - kProducts << ", " << octet_isa_name(isa));
      Weights weights;
      octet_error error = {};
      octet_gemm_explanation e[2] = {OCTET_GEMM_EXPLANATION_INIT, OCTET_GEMM_EXPLANATION_INIT};
      for (const bool outline : {false, true}) {
        const octet_gemm_desc d = describe(p, isa, outline, &weights);
        ASSERT_EQ(octet_gemm_explain(&d, 2, &e[outline], &error), OCTET_OK) << error.message;
      }
      EXPECT_STREQ(e[1].kernel, e[0].kernel);
      EXPECT_STREQ(e[1].small_kernel, e[0].small_kernel);
      EXPECT_STREQ(e[1].choice, e[0].choice);
      if (p.sparsity == OCTET_SPARSE_NONE) {
        EXPECT_STREQ(e[1].reason, e[0].reason);
      }
      EXPECT_EQ(e[1].small_m, e[0].small_m);
      EXPECT_EQ(e[1].row_tasks * e[1].column_tasks, e[0].row_tasks * e[0].column_tasks);
      EXPECT_GE(e[1].workspace_bytes, e[0].workspace_bytes);

      octet_gemm* gemm = nullptr;
      const octet_gemm_desc d = describe(p, isa, true, &weights);
      ASSERT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
      octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
      args.m = 1;
      EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_BAD_BLOB);
      EXPECT_TRUE(std::strstr(error.message, "outline")) << error.message;
      octet_gemm_destroy(gemm);
    }
  }
}

// Converters write such a bias for a channel without weights. It is refused only where known
// weights take its sum out of int32.
TEST(Outline, TakesSumsThatKnownWeightsMayKeepSmall) {
  const int32_t bias = INT32_MAX - 100;
  octet_error error = {};
  Weights weights;
  octet_gemm_desc d =
      describe({1, 1, 64, OCTET_S8, 0, OCTET_U8, OCTET_S32}, OCTET_ISA_AUTO, true, &weights);
  d.epilogue.bias = &bias;
  octet_gemm* gemm = nullptr;
  EXPECT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);
  d = describe({1, 1, 64, OCTET_S8, 0, OCTET_U8, OCTET_S32}, OCTET_ISA_AUTO, false, &weights);
  d.epilogue.bias = &bias;
  EXPECT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_ACCUMULATOR_OVERFLOW);

  d = describe({1, 1, 70000, OCTET_S8, 0, OCTET_S16, OCTET_S16}, OCTET_ISA_AUTO, true, &weights);
  EXPECT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);

  octet_filter_desc f = OCTET_FILTER_DESC_INIT;
  f.shape = square(1, 64, 1, 1), f.type = OCTET_S8;
  ASSERT_EQ(octet_conv2d_pack_outline(&f, OCTET_ISA_AUTO, weights.outline.data(), &error),
            OCTET_OK);
  octet_conv2d_desc c = OCTET_CONV2D_DESC_INIT;
  c.shape = f.shape, c.lhs_type = OCTET_U8, c.rhs_type = OCTET_S8, c.dst_type = OCTET_S32;
  c.packed = weights.outline.data(), c.packed_bytes = OCTET_OUTLINE_BYTES, c.epilogue.bias = &bias;
  octet_conv2d* conv = nullptr;
  EXPECT_EQ(octet_conv2d_create(&c, &conv, &error), OCTET_OK) << error.message;
  octet_conv2d_destroy(conv);
}

// No memory bounds the matrices of an outline, nor may the time of create.
TEST(Outline, HoldsAnyNumberOfMatrices) {
  octet_error error = {};
  Weights weights;
  octet_gemm_desc d = describe({2, 16, 16}, OCTET_ISA_AUTO, true, &weights);
  octet_rhs_desc r = OCTET_RHS_DESC_INIT;
  r.n = r.k = 16, r.type = OCTET_S8, r.batch = SIZE_MAX >> 13;
  ASSERT_EQ(octet_pack_outline(&r, OCTET_ISA_AUTO, weights.outline.data(), &error), OCTET_OK);
  d.batch_max = 3;
  octet_gemm* gemm = nullptr;
  EXPECT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);
}

// Of weights whose values alone tell whether they are packed sparse, an outline says that they are
// dense.
TEST(Outline, CountsAsDenseWhatDependsOnValues) {
  const int32_t zero_point = 3;
  octet_error error = {};
  Guarded outline(OCTET_OUTLINE_BYTES, Side::kBack, OCTET_ALIGNMENT);
  for (const octet_sparsity sparsity : {OCTET_SPARSE_NONE, OCTET_SPARSE_AUTO, OCTET_SPARSE_2_4}) {
    for (const bool zero : {false, true}) {
      SCOPED_TRACE(testing::Message() << "sparsity " << sparsity << ", zero point " << zero);
      octet_rhs_desc r = OCTET_RHS_DESC_INIT;
      r.n = 64, r.k = 256, r.type = OCTET_S8, r.sparsity = sparsity;
      octet_filter_desc f = OCTET_FILTER_DESC_INIT;
      f.shape = square(8, 64, 64, 1), f.type = OCTET_S8, f.sparsity = sparsity;
      if (zero) r.zero_points = f.zero_points = &zero_point;
      r.zero_point_count = f.zero_point_count = zero;
      const bool sparse = sparsity == OCTET_SPARSE_2_4 && !zero;
      octet_blob_info info = OCTET_BLOB_INFO_INIT;
      ASSERT_EQ(octet_pack_outline(&r, OCTET_ISA_SCALAR, outline.data(), &error), OCTET_OK);
      ASSERT_EQ(octet_blob_get_info(outline.data(), OCTET_OUTLINE_BYTES, &info, &error), OCTET_OK);
      EXPECT_EQ(std::strstr(info.form, "2of4") != nullptr, sparse) << info.form;
      ASSERT_EQ(octet_conv2d_pack_outline(&f, OCTET_ISA_SCALAR, outline.data(), &error), OCTET_OK);
      ASSERT_EQ(octet_blob_get_info(outline.data(), OCTET_OUTLINE_BYTES, &info, &error), OCTET_OK);
      EXPECT_EQ(std::strstr(info.form, "2of4") != nullptr, sparse) << info.form;
    }
  }
}

// ---- networks -----------------------------------------------------------------------------------

// A chain of two convolutions with a product of each pixel behind them.
struct Chain {
  Weights weights[3];
  ConvObject first{nullptr, octet_conv2d_destroy}, second{nullptr, octet_conv2d_destroy};
  octet_gemm* third = nullptr;
  octet_network* network = nullptr;
  explicit Chain(bool outline, octet_network_goal goal) {
    const Layer layer = {square(24, 32, 32, 3, 1, 1)};
    first = create(layer, OCTET_ISA_AUTO, outline, &weights[0]);
    second = create(layer, OCTET_ISA_AUTO, outline, &weights[1]);
    const octet_gemm_desc d = describe({24 * 24, 48, 32}, OCTET_ISA_AUTO, outline, &weights[2]);
    octet_error error = {};
    EXPECT_EQ(octet_gemm_create(&d, &third, &error), OCTET_OK) << error.message;
    octet_network_tensor tensors[4] = {};
    for (octet_network_tensor& t : tensors) t = {1, 24, 24, 32, OCTET_U8, 0, 0, 0, 0, 0};
    tensors[3].channels = 48, tensors[0].keep = tensors[3].keep = 1;
    const octet_network_op ops[] = {{first.get(), nullptr, nullptr, {0}, 1, 1},
                                    {second.get(), nullptr, nullptr, {1}, 1, 2},
                                    {nullptr, third, nullptr, {2}, 1, 3}};
    octet_network_desc n = OCTET_NETWORK_DESC_INIT;
    n.tensors = tensors, n.tensor_count = 4, n.ops = ops, n.op_count = 3;
    n.goal = goal, n.concurrency = 2, n.cache_bytes = 16384;
    EXPECT_EQ(octet_network_create(&n, &network, &error), OCTET_OK) << error.message;
  }
  ~Chain() {
    octet_network_destroy(network);
    octet_gemm_destroy(third);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
};

TEST(Outline, NetworksAnswer) {
  for (const octet_network_goal goal :
       {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY, OCTET_NETWORK_LAYERS}) {
    SCOPED_TRACE(testing::Message() << "goal " << goal);
    const Chain packed(false, goal), outlined(true, goal);
    ASSERT_TRUE(packed.network && outlined.network);
    octet_error error = {};
    for (size_t part = 0;; ++part) {
      octet_network_explanation e[2] = {OCTET_NETWORK_EXPLANATION_INIT,
                                        OCTET_NETWORK_EXPLANATION_INIT};
      const octet_status status = octet_network_explain(packed.network, part, &e[0], &error);
      ASSERT_EQ(octet_network_explain(outlined.network, part, &e[1], &error), status);
      if (status) break;
      EXPECT_EQ(e[1].part.first_op, e[0].part.first_op);
      EXPECT_EQ(e[1].part.end_op, e[0].part.end_op);
      EXPECT_EQ(e[1].part.band_lines, e[0].part.band_lines);
      EXPECT_EQ(e[1].map_bytes, e[0].map_bytes);
      EXPECT_EQ(e[1].kept_bytes, e[0].kept_bytes);
      EXPECT_GE(e[1].workspace_bytes, e[0].workspace_bytes);
    }
    octet_network_args args = OCTET_NETWORK_ARGS_INIT;
    EXPECT_EQ(octet_network_run(outlined.network, &args, &error), OCTET_BAD_BLOB);
    EXPECT_TRUE(std::strstr(error.message, "outline")) << error.message;
  }
}

// ---- outlines as blobs --------------------------------------------------------------------------

TEST(Outline, IsDescribedAndNotTrusted) {
  Weights weights;
  const Product p = {4, 70, 90, OCTET_S8, 3};
  const octet_gemm_desc packed = describe(p, OCTET_ISA_AUTO, false, &weights),
                        outlined = describe(p, OCTET_ISA_AUTO, true, &weights);
  octet_blob_info info[2] = {OCTET_BLOB_INFO_INIT, OCTET_BLOB_INFO_INIT};
  octet_error error = {};
  ASSERT_EQ(octet_blob_get_info(packed.packed, packed.packed_bytes, &info[0], &error), OCTET_OK);
  ASSERT_EQ(octet_blob_get_info(outlined.packed, OCTET_OUTLINE_BYTES, &info[1], &error), OCTET_OK);
  EXPECT_EQ(info[1].bytes, info[0].bytes);
  EXPECT_EQ(info[1].isa, info[0].isa);
  EXPECT_STREQ(info[1].form, info[0].form);
  EXPECT_EQ(octet_blob_verify(outlined.packed, OCTET_OUTLINE_BYTES, &error), OCTET_BAD_BLOB);
  EXPECT_TRUE(std::strstr(error.message, "outline")) << error.message;
  // No byte may change: each is a part of the checksum, or unused, but the ends that follow it
  uint8_t* const bytes = weights.outline.data();
  for (size_t i = 0; i < 256; ++i) {
    bytes[i] ^= 0x10;
    EXPECT_EQ(octet_blob_get_info(bytes, OCTET_OUTLINE_BYTES, &info[1], &error), OCTET_BAD_BLOB)
        << i;
    bytes[i] ^= 0x10;
  }
  EXPECT_EQ(octet_blob_get_info(bytes, 191, &info[1], &error), OCTET_BAD_BLOB);
}

// As a file is mapped: nothing writes to it, no size of it is trusted, and it is of one operator.
TEST(Outline, IsReadOnlyWholeAndOfItsOperator) {
  Weights product, filter;
  octet_gemm_desc g = describe({4, 70, 90, OCTET_S8, 3}, OCTET_ISA_AUTO, true, &product);
  ASSERT_TRUE(create({square(14, 64, 64, 3, 1, 1)}, OCTET_ISA_AUTO, true, &filter));
  product.outline.read_only(), filter.outline.read_only();
  octet_gemm_explanation e = OCTET_GEMM_EXPLANATION_INIT;
  octet_error error = {};
  EXPECT_EQ(octet_gemm_explain(&g, 1, &e, &error), OCTET_OK) << error.message;
  for (size_t bytes = 0; bytes < OCTET_OUTLINE_BYTES; ++bytes) {
    Guarded part(bytes, Side::kBack, OCTET_ALIGNMENT);
    std::memcpy(part.data(), product.outline.data(), bytes);
    part.read_only();
    g.packed = part.data(), g.packed_bytes = bytes;
    error = {};
    const bool whole = bytes >= 256;  // the rest is unused
    EXPECT_EQ(octet_gemm_explain(&g, 1, &e, &error) == OCTET_OK, whole) << bytes;
    EXPECT_EQ(error.message[0] == 0, whole) << bytes;
  }
  g.packed = filter.outline.data(), g.packed_bytes = OCTET_OUTLINE_BYTES;
  EXPECT_EQ(octet_gemm_explain(&g, 1, &e, &error), OCTET_BAD_BLOB) << error.message;
  octet_conv2d_desc c = OCTET_CONV2D_DESC_INIT;
  c.shape = square(7, 90, 70, 1), c.lhs_type = OCTET_U8, c.rhs_type = OCTET_S8;
  c.dst_type = OCTET_S32, c.packed = product.outline.data(), c.packed_bytes = OCTET_OUTLINE_BYTES;
  octet_conv2d* conv = nullptr;
  EXPECT_EQ(octet_conv2d_create(&c, &conv, &error), OCTET_BAD_BLOB) << error.message;
}

TEST(Outline, RefusesBadPlaces) {
  Weights weights;
  octet_error error = {};
  octet_rhs_desc r = OCTET_RHS_DESC_INIT;
  r.n = r.k = 16, r.type = OCTET_S8;
  octet_filter_desc f = OCTET_FILTER_DESC_INIT;
  f.shape = square(8, 16, 16, 1), f.type = OCTET_S8;
  uint8_t* const at = weights.outline.data();
  EXPECT_EQ(octet_pack_outline(&r, OCTET_ISA_AUTO, nullptr, &error), OCTET_NULL_POINTER);
  EXPECT_EQ(octet_conv2d_pack_outline(&f, OCTET_ISA_AUTO, nullptr, &error), OCTET_NULL_POINTER);
  EXPECT_EQ(octet_pack_outline(&r, OCTET_ISA_AUTO, at - 1, &error), OCTET_MISALIGNED);
  EXPECT_EQ(octet_conv2d_pack_outline(&f, OCTET_ISA_AUTO, at - 1, &error), OCTET_MISALIGNED);
  EXPECT_EQ(octet_pack_outline(nullptr, OCTET_ISA_AUTO, at, &error), OCTET_NULL_POINTER);
  EXPECT_EQ(octet_conv2d_pack_outline(nullptr, OCTET_ISA_AUTO, at, &error), OCTET_NULL_POINTER);
  EXPECT_EQ(octet_pack_outline(&r, (octet_isa)99, at, &error), OCTET_UNKNOWN_ENUM);
  r.k = 0;
  EXPECT_EQ(octet_pack_outline(&r, OCTET_ISA_AUTO, at, &error), OCTET_BAD_SIZE);
}

}  // namespace
}  // namespace octet_test
