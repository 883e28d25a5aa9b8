// SPDX-License-Identifier: Apache-2.0
// Compares Octet with independent code: ONNX's reference evaluator, ONNX Runtime, LiteRT's
// reference kernels and its XNNPACK. README.md describes the vectors.
#include <octet/helpers.h>

#include "support/vector_test.h"
#include "support/vectors.h"

namespace octet_test {
namespace {

std::string path(const char* file) {
  return std::string(OCTET_SOURCE_DIR "/tests/conformance/vectors/") + file;
}

class Conformance : public VectorTest {};

TEST_P(Conformance, MatMulInteger) { check(path("matmul_integer.bin")); }
TEST_P(Conformance, QLinearMatMul) { check(path("qlinear_matmul.bin")); }
TEST_P(Conformance, DynamicQuantize) { check(path("dynamic_quantize.bin")); }
TEST_P(Conformance, FullyConnected) { check(path("fully_connected.bin")); }
TEST_P(Conformance, FullyConnectedInDouble) { check(path("fully_connected_in_double.bin")); }
TEST_P(Conformance, Residual) { check(path("residual.bin")); }
TEST_P(Conformance, ActivatedResidual) { check(path("activated_residual.bin")); }
TEST_P(Conformance, ConvInteger) { check(path("conv_integer.bin")); }
TEST_P(Conformance, ConvTranspose) { check(path("conv_transpose.bin")); }
TEST_P(Conformance, QLinearConv) { check(path("qlinear_conv.bin")); }
TEST_P(Conformance, FloatConv) { check(path("float_conv.bin")); }
TEST_P(Conformance, Conv2d) { check(path("conv_2d.bin")); }
TEST_P(Conformance, DepthwiseConv2d) { check(path("depthwise_conv_2d.bin")); }
TEST_P(Conformance, TransposeConv) { check(path("transpose_conv.bin")); }
TEST_P(Conformance, Xnnpack) { check(path("xnnpack.bin")); }

OCTET_FOR_EACH_TIER(Conformance);

constexpr const char* kTflite[] = {"fully_connected.bin",    "residual.bin",
                                   "activated_residual.bin", "conv_2d.bin",
                                   "depthwise_conv_2d.bin",  "transpose_conv.bin"};

TEST(QuantizeMultiplier, AsTflite) {
  for (const char* file : kTflite) {
    for (const Case& c : VectorFile::read(path(file))) {
      const Tensor* factors = c.find("factors");
      for (size_t i = 0; i < factors->size(); ++i) {
        int32_t multiplier, shift;
        octet_error error;
        ASSERT_EQ(
            octet_quantize_multiplier(factors->data<double>()[i], &multiplier, &shift, &error),
            OCTET_OK)
            << error.message;
        EXPECT_EQ(multiplier, c.find("multipliers")->data<int32_t>()[i]) << c.name;
        EXPECT_EQ(shift, c.find("shifts")->data<int32_t>()[i]) << c.name;
      }
    }
  }
}

// octet_tflite_multipliers gives LiteRT's multipliers for LiteRT's scales.
TEST(TfliteMultipliers, AsTflite) {
  for (const char* file : kTflite)
    for (const Case& c : VectorFile::read(path(file))) {
      const Tensor *rhs_scales = c.find("rhs_real_scales"), *expected = c.find("multipliers");
      const octet_tflite_op op = c.name.find("FULLY_CONNECTED") == std::string::npos
                                     ? OCTET_TFLITE_CONVOLUTION
                                     : OCTET_TFLITE_FULLY_CONNECTED;
      std::vector<int32_t> multipliers(expected->size()), shifts(expected->size());
      octet_error error;
      ASSERT_EQ(octet_tflite_multipliers(op, (octet_type)c.find("lhs")->type,
                                         *c.find("lhs_real_scale")->data<float>(),
                                         rhs_scales->data<float>(), rhs_scales->size(),
                                         *c.find("product_real_scale")->data<float>(),
                                         multipliers.data(), shifts.data(), &error),
                OCTET_OK)
          << c.name << ": " << error.message;
      for (size_t i = 0; i < expected->size(); ++i) {
        EXPECT_EQ(multipliers[i], expected->data<int32_t>()[i]) << c.name;
        EXPECT_EQ(shifts[i], c.find("shifts")->data<int32_t>()[i]) << c.name;
      }
    }
}

TEST(TfliteAdd, AsTflite) {
  for (const char* file : {"residual.bin", "activated_residual.bin"})
    for (const Case& c : VectorFile::read(path(file))) {
      const float* const scales = c.find("add_real_scales")->data<float>();
      const int32_t* const expected = c.find("residual_scales")->data<int32_t>();
      octet_residual r = {};
      octet_error error;
      ASSERT_EQ(octet_tflite_add(scales[0], scales[1], scales[2], &r, &error), OCTET_OK)
          << c.name << ": " << error.message;
      const int32_t got[] = {r.product_multiplier, r.product_shift,  r.residual_multiplier,
                             r.residual_shift,     r.dst_multiplier, r.dst_shift};
      for (size_t i = 0; i < 6; ++i) EXPECT_EQ(got[i], expected[i]) << c.name << ", " << i;
    }
}

// The helpers give LiteRT's pads for SAME or VALID, and for the output size of a transposed
// convolution.
TEST(Padding, AsTflite) {
  for (const char* file : {"conv_2d.bin", "depthwise_conv_2d.bin", "transpose_conv.bin"})
    for (const Case& c : VectorFile::read(path(file))) {
      const auto padding = (octet_padding)(*c.find("padding")->data<int32_t>());
      const octet_conv2d_shape want = shape_of(c);
      octet_conv2d_shape shape = want;
      shape.pad_top = shape.pad_bottom = shape.pad_left = shape.pad_right = 9;
      octet_error error;
      if (want.transposed) {
        size_t out_h, out_w;
        ASSERT_EQ(
            octet_conv2d_output_size(&want, want.in_h_max, want.in_w_max, &out_h, &out_w, &error),
            OCTET_OK);
        shape.output_padding_h = shape.output_padding_w = 9;
        ASSERT_EQ(octet_conv2d_set_output_size(padding, out_h, out_w, &shape, &error), OCTET_OK)
            << c.name << ": " << error.message;
      } else {
        ASSERT_EQ(octet_conv2d_set_padding(padding, &shape, &error), OCTET_OK)
            << c.name << ": " << error.message;
      }
      EXPECT_EQ(std::memcmp(&shape, &want, sizeof want), 0) << c.name;
    }
}

}  // namespace
}  // namespace octet_test
