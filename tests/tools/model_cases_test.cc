// SPDX-License-Identifier: Apache-2.0
// Checks that the cases of a described model hold the model's own numbers: weights in the order
// that a bench takes, biases, factors, zero points, bounds.
#include "bench/described/model_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tool {
namespace {

// A depthwise convolution of 2 channels and 1x3, weights 1 to 6 in HWIO; a product of 3 to 2,
// weights 11 to 16 in NK; and a product whose weights come from outside.
constexpr char kDescription[] = R"({
  "octet_network": 1, "name": "m", "data": "m.bin", "arithmetic": "ARITHMETIC",
  "tensors": [
    {"type": "s8", "shape": [1, 1, 5, 2], "constant": false,
     "quantization": {"scales": [0.5], "zero_points": [-128]}},
    {"type": "s8", "shape": [1, 1, 3, 2], "constant": true, "data_at": 0,
     "quantization": {"scales": [0.5, 0.25], "zero_points": [0, 0]}},
    {"type": "s32", "shape": [2], "constant": true, "data_at": 12,
     "quantization": {"scales": [0.25, 0.125], "zero_points": [0, 0]}},
    {"type": "s8", "shape": [1, 1, 3, 2], "constant": false,
     "quantization": {"scales": [0.1], "zero_points": [-5]}},
    {"type": "s8", "shape": [1, 3], "constant": false,
     "quantization": {"scales": [0.5], "zero_points": [7]}},
    {"type": "s8", "shape": [2, 3], "constant": true, "data_at": 6,
     "quantization": {"scales": [0.5], "zero_points": [0]}},
    {"type": "s8", "shape": [1, 2], "constant": false,
     "quantization": {"scales": [1.0], "zero_points": [3]}},
    {"type": "s8", "shape": [1, 2], "constant": false,
     "quantization": {"scales": [1.0], "zero_points": [3]}}],
  "operators": [
    {"kind": "convolution", "name": "a/dw;bias", "operator": "DEPTHWISE_CONV_2D",
     "inputs": [0, 1, 2], "outputs": [3], "types": "s8s8s8", "layout": "nhwc",
     "case": "g2ic2oc2_ih1iw5oh1ow3kh1kw3", "activation": "ACTIVATION", "clip": [-1.5, null]},
    {"kind": "product", "name": "fc", "operator": "FULLY_CONNECTED", "inputs": [4, 5, -1],
     "outputs": [6], "types": "s8s8s8", "case": "1x2x3", "activation": "NONE"},
    {"kind": "product", "name": "attention", "operator": "FULLY_CONNECTED", "inputs": [4, 0, -1],
     "outputs": [7], "types": "s8s8s8", "case": "1x2x3", "activation": "NONE"}]
})";

class Model : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "octet-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(name.data()));
    directory_ = name;
    const char bytes[] = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
    const int32_t bias[] = {1 << 30, -9};
    std::ofstream data(directory_ / "m.bin", std::ios::binary);
    data.write(bytes, sizeof bytes).write((const char*)bias, sizeof bias);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::vector<CaseGroup> read(const std::string& arithmetic, const std::string& activation) {
    std::string text = kDescription;
    text.replace(text.find("ARITHMETIC"), 10, arithmetic);
    text.replace(text.find("ACTIVATION"), 10, activation);
    std::ofstream(directory_ / "m.json") << text;
    return read_model((directory_ / "m.json").string());
  }

  std::filesystem::path directory_;
};

template <typename Number>
std::vector<int> bytes_of(const Buffer& buffer, Number) {
  return {buffer.as<Number>(), buffer.as<Number>() + buffer.size()};
}

TEST_F(Model, GivesItsOwnOperands) {
  const std::vector<CaseGroup> groups = read("tflite", "RELU6");
  ASSERT_EQ(groups.size(), 2u);
  ASSERT_EQ(groups[0].convolutions.size(), 1u);
  const ConvCase& conv = groups[0].convolutions[0];
  EXPECT_EQ(conv.network, "a/dw");
  const ConvData data = data_of(conv, parse_types(groups[0].types), {});
  EXPECT_EQ(bytes_of(data.filter, int8_t{}), (std::vector<int>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(data.bias, (std::vector<int32_t>{1 << 30, -9}));
  EXPECT_TRUE(data.filter_zero_points.empty());  // all are 0
  EXPECT_EQ(data.lhs_zero_point, -128);
  EXPECT_EQ(data.dst_zero_point, -5);
  EXPECT_EQ(data.lhs.size(), 10u);
  // 0.5 * {0.5, 0.25} / 0.1
  ASSERT_EQ(data.tflite.multipliers.size(), 2u);
  EXPECT_NEAR(data.scales[0], 2.5, 1e-6);
  EXPECT_NEAR(data.scales[1], 1.25, 1e-6);
  EXPECT_EQ(data.tflite.shifts, (std::vector<int32_t>{2, 1}));
  EXPECT_EQ(data.activation.kind, OCTET_ACTIVATION_CLAMP);
  EXPECT_EQ(data.activation.least, -5);
  EXPECT_EQ(data.activation.most, 55);  // 6 is 60 steps of 0.1

  ASSERT_EQ(groups[1].products.size(), 1u);  // no attention
  const GemmData product = data_of(groups[1].products[0], parse_types(groups[1].types), {});
  EXPECT_EQ(bytes_of(product.rhs, int8_t{}), (std::vector<int>{11, 14, 12, 15, 13, 16}));
  EXPECT_TRUE(product.bias.empty());
  EXPECT_EQ(product.lhs_zero_point, 7);
  EXPECT_EQ(product.dst_zero_point, 3);
}

TEST_F(Model, OfFloatModeHasScalesAndAClamp) {
  const ConvData data =
      data_of(read("float", "CLIP")[0].convolutions[0], parse_types("s8s8s8"), {});
  EXPECT_TRUE(data.tflite.multipliers.empty());
  EXPECT_FLOAT_EQ(data.scales.at(0), 2.5f);
  EXPECT_EQ(data.activation.kind, OCTET_ACTIVATION_CLAMP);
  EXPECT_EQ(data.activation.least, -20);
  EXPECT_EQ(data.activation.most, 127);
}

TEST_F(Model, IsADescriptionWithItsData) {
  EXPECT_THROW(read_model("resnet50"), Error);
  read("tflite", "NONE");
  std::filesystem::resize_file(directory_ / "m.bin", 19);
  EXPECT_THROW(read("tflite", "NONE"), Error);
}

}  // namespace
}  // namespace tool
