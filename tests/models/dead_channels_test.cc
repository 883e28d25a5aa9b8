// SPDX-License-Identifier: Apache-2.0
// Checks layers as converters wrote them, with dead channels: their bias is near 2^30 or 2^31
// because their weights do not matter. The bytes are those of exact sums, and layers take the same
// epilogue as without dead channels.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "operators/conv/object.h"
#include "operators/gemm/object.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

struct Layer {
  ConvCase c;
  std::vector<Channel> channels, alive;  // alive: with biases that any epilogue takes
};

// Converters write 2^30 or, in float32, a little less.
bool is_dead(const Channel& c) { return std::abs(int64_t{c.bias}) >= int64_t{1} << 29; }

void read(const std::string& name, Layer* layer) {
  std::ifstream file(OCTET_SOURCE_DIR "/tests/models/channels/" + name + ".txt");
  ConvCase& c = layer->c;
  octet_conv2d_shape& s = c.shape;
  int32_t dst_zero_point = 0, least = 0, most = 0;
  std::string mode, scale;
  file >> s.in_h_max >> s.in_w_max >> s.in_channels >> s.out_channels >> s.groups >> s.kernel_h >>
      s.kernel_w >> s.stride_h >> s.stride_w >> s.pad_top >> s.pad_bottom >> s.pad_left >>
      s.pad_right >> c.lhs_zero_point >> dst_zero_point >> least >> most >> mode;
  c.lhs = c.rhs = c.dst = OCTET_S8;
  if (least == dst_zero_point) c.activation = OCTET_ACTIVATION_RELU;
  if (mode == "tflite") c.requant = OCTET_REQUANT_TFLITE;
  for (size_t n = 0; n < s.out_channels; ++n) {
    Channel channel;
    file >> channel.positive >> channel.negative >> channel.bias;
    if (c.requant == OCTET_REQUANT_TFLITE)
      file >> channel.multiplier >> channel.shift;
    else
      file >> scale, channel.scale = std::strtof(scale.c_str(), nullptr);
    layer->channels.push_back(channel);
    if (is_dead(channel))
      channel =
          layer->alive.empty() ? Channel{1, 0, 5, 1518500250, -9, 0.01f} : layer->alive.back();
    layer->alive.push_back(channel);
  }
  ASSERT_TRUE(file) << name;
  c.channels = &layer->channels;
}

// The way in which an object requantizes.
struct Outputs {
  octet::EpilogueMode mode;
  bool in_kernel, certified;
  octet::TfliteForm form;
};
template <typename Plan>
Outputs outputs_of(const Plan& plan) {
  const octet::TfliteColumns& columns = plan.epilogue.tflite;
  return {plan.epilogue.mode, plan.requantize_in_kernel, columns.rows != nullptr, columns.form};
}
// In double mode a layer runs as in float mode if each of its factors, also a dead channel's, has a
// float scale.
void expect_alike(const Outputs& outputs, const Outputs& alive, bool in_double) {
  if (!in_double) {
    EXPECT_EQ(outputs.mode, alive.mode);
  }
  if (outputs.mode == alive.mode) {
    EXPECT_EQ(outputs.in_kernel, alive.in_kernel);
  }
  EXPECT_EQ(outputs.certified, alive.certified);
  EXPECT_EQ(outputs.form, alive.form);
}

class DeadChannels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    read(GetParam(), &layer_);
    size_t dead = 0;
    for (const Channel& c : layer_.channels) dead += is_dead(c);
    ASSERT_GT(dead, 0u);
  }
  // The layer's epilogues: as it is, in double mode, without its activation, with a table; in
  // TFLite mode, whose dead channels have no weights at all, with a residual.
  template <typename Case>
  std::vector<Case> with_epilogues(Case c) const {
    std::vector<Case> all = {c, c};
    all[1].requant = OCTET_REQUANT_DOUBLE;
    c.activation = OCTET_ACTIVATION_NONE, all.push_back(c);
    c.dst = OCTET_U8, all.push_back(c);
    c.lut = true, all.push_back(c);
    if (c.requant == OCTET_REQUANT_FLOAT) return all;
    c.residual = OCTET_S8, all.push_back(c);
    c.lut = false, c.residual = OCTET_U8, all.push_back(c);
    c.product_activation = OCTET_ACTIVATION_RELU, all.push_back(c);
    return all;
  }
  Layer layer_;
};
INSTANTIATE_TEST_SUITE_P(, DeadChannels,
                         testing::Values("vww_10", "vww_14", "onnxruntime_per_channel"),
                         [](const auto& name) { return std::string(name.param); });

// Every channel is shifted to the right here, so a kernel that can requantize in this mode must.
void expect_outputs(const ConvProblem& problem, const ConvProblem& alive, const ConvHow& how) {
  const Conv dead_conv(problem, how), alive_conv(alive, how);
  ASSERT_EQ(dead_conv.status(), OCTET_OK);
  ASSERT_EQ(alive_conv.status(), OCTET_OK);
  const octet::ConvPlan& plan = dead_conv.get()->plan;
  expect_alike(outputs_of(plan), outputs_of(alive_conv.get()->plan),
               problem.c.requant == OCTET_REQUANT_DOUBLE);
  const bool tflite = problem.c.requant == OCTET_REQUANT_TFLITE,
             in_double = plan.epilogue.mode == octet::EpilogueMode::kDouble8;
  const uint16_t needed = octet::kRequantizes | (tflite ? octet::kRequantizesTflite : 0),
                 flags = plan.kernel ? plan.kernel->flags : plan.depthwise->flags;
  const bool can = (flags & needed) == needed && !in_double && !problem.c.residual &&
                   plan.epilogue.finishes_in_place();
  EXPECT_EQ(plan.requantize_in_kernel, can) << problem.c << how;
}

void check_conv(const Layer& layer, const ConvCase& c) {
  ConvCase alive = c;
  alive.channels = &layer.alive;
  const ConvProblem problem(c), without(alive);
  for (const ConvHow& how : ways_of(problem)) {
    check(problem, how);
    expect_outputs(problem, without, how);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(DeadChannels, OfItsLayer) {
  for (const ConvCase& c : with_epilogues(layer_.c)) check_conv(layer_, c);
}

// The same channels in layers of each family of algorithms.
TEST_P(DeadChannels, OfOtherLayers) {
  octet_conv2d_shape transposed = square(3, 40, 21, 3, 2, 1);
  transposed.transposed = 1;
  for (const octet_conv2d_shape& shape :
       {square(7, 48, 70, 3, 1, 1), square(7, 40, 24, 3, 2, 1), square(6, 64, 64, 3, 1, 1, 4),
        square(5, 70, 70, 5, 1, 2, 70), square(5, 70, 70, 3, 2, 1, 70), transposed}) {
    ConvCase c = layer_.c;
    c.shape = shape;
    // Smaller sums suit the layer's few weights, and keep outputs in the range of the scales
    const size_t depth = shape.kernel_h * shape.kernel_w * shape.in_channels / shape.groups;
    const auto most = (int32_t)(127 * (depth / 2));
    Layer layer = layer_;
    for (std::vector<Channel>* const list : {&layer.channels, &layer.alive})
      for (Channel& channel : *list)
        channel.positive = std::min(channel.positive, most),
        channel.negative = std::max(channel.negative, -most);
    c.channels = &layer.channels;
    for (const ConvCase& with : with_epilogues(c)) check_conv(layer, with);
    if (HasFailure()) return;
  }
}

TEST_P(DeadChannels, OfAProduct) {
  for (const MicroKernel* kernel : table())
    for (const size_t batch : {1, 3}) {
      if (!is_to_test(*kernel)) continue;
      GemmCase c;
      (EpilogueCase&)c = layer_.c;
      c.kernel = kernel->name;
      c.m = 9, c.n = layer_.channels.size(), c.k = layer_.c.shape.in_channels, c.batch = batch;
      c.lhs = c.rhs = OCTET_S8, c.lhs_zero_point = layer_.c.lhs_zero_point;
      if (!serves(*kernel, {c.lhs, c.rhs})) continue;
      for (const GemmCase& with : with_epilogues(c)) {
        check(with);
        GemmCase without = with;
        without.channels = &layer_.alive;
        const Gemm gemm(with), alive(without);
        ASSERT_EQ(gemm.status(), OCTET_OK) << with;
        expect_alike(outputs_of(gemm.get()->plan), outputs_of(alive.get()->plan),
                     with.requant == OCTET_REQUANT_DOUBLE);
        if (HasFailure()) return;
      }
    }
}

}  // namespace
}  // namespace octet_test
