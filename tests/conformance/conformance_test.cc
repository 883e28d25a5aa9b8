// Octet against code that we did not write: ONNX's reference evaluator, ONNX Runtime and LiteRT's
// reference kernels. README.md.
#include "support/vector_test.h"
#include "support/vectors.h"

namespace octet_test {
namespace {

std::string path(const char* file) { return std::string(OCTET_CONFORMANCE_DIR "/vectors/") + file; }

class Conformance : public VectorTest {};

TEST_P(Conformance, MatMulInteger) { check(path("matmul_integer.bin")); }
TEST_P(Conformance, QLinearMatMul) { check(path("qlinear_matmul.bin")); }
TEST_P(Conformance, DynamicQuantize) { check(path("dynamic_quantize.bin")); }
TEST_P(Conformance, FullyConnected) { check(path("fully_connected.bin")); }
TEST_P(Conformance, Residual) { check(path("residual.bin")); }
TEST_P(Conformance, ConvInteger) { check(path("conv_integer.bin")); }
TEST_P(Conformance, ConvTranspose) { check(path("conv_transpose.bin")); }
TEST_P(Conformance, QLinearConv) { check(path("qlinear_conv.bin")); }
TEST_P(Conformance, Conv2d) { check(path("conv_2d.bin")); }
TEST_P(Conformance, DepthwiseConv2d) { check(path("depthwise_conv_2d.bin")); }
TEST_P(Conformance, TransposeConv) { check(path("transpose_conv.bin")); }

OCTET_FOR_EACH_TIER(Conformance);

TEST(QuantizeMultiplier, AsTflite) {
  for (const char* file : {"fully_connected.bin", "residual.bin", "conv_2d.bin",
                           "depthwise_conv_2d.bin", "transpose_conv.bin"}) {
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

}  // namespace
}  // namespace octet_test
