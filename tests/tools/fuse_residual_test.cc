// Checks that networks whose additions became residuals give the bytes of networks that run each
// operator by itself; an addition stays if another operator reads the convolution's result, if that
// is an output of the model, and in float mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/described/described.h"
#include "bench/described/placed_network.h"

namespace tool {
namespace {

using nlohmann::json;

constexpr size_t kSide = 6, kChannels = 8;

// A description of 3x3 convolutions and additions over images of one size.
class Description {
 public:
  Description(const std::string& type, const std::string& arithmetic)
      : type_(type), arithmetic_(arithmetic) {}
  ~Description() {
    std::filesystem::remove(path());
    std::filesystem::remove(path() + ".bin");
  }

  size_t image(float scale, int32_t zero_point) {
    return tensor({1, kSide, kSide, kChannels}, type_, scale,
                  zero_point + (type_ == "u8" ? 128 : 0));
  }
  void convolution(size_t from, size_t to, const std::string& activation) {
    const size_t weights = constant({kChannels, 3, 3, kChannels}, "s8", 0.004f);
    const size_t bias = constant({kChannels}, "s32", 0.0001f);
    op("convolution", "CONV_2D", {from, weights, bias}, to, activation);
    operators_.back()["types"] = type_ + "s8" + type_;
    operators_.back()["layout"] = "nhwc";
    operators_.back()["case"] = "mb1ic8oc8ih6iw6oh6ow6kh3kw3sh1sw1ph1pw1";
  }
  void addition(size_t a, size_t b, size_t to, const std::string& activation) {
    op("addition", "ADD", {a, b}, to, activation);
  }

  void reshape(size_t from, size_t to) { op("reshape", "RESHAPE", {from}, to, "NONE"); }

  void set_outputs(const std::vector<size_t>& tensors) { outputs_ = tensors; }

  std::string path() const {
    return testing::TempDir() + "octet_fuse_residual_" + type_ + arithmetic_ + ".json";
  }
  void write() const {
    std::ofstream(path() + ".bin", std::ios::binary)
        .write(data_.data(), std::streamsize(data_.size()));
    json all = {{"octet_network", 1},
                {"name", "made"},
                {"source", "made"},
                {"arithmetic", arithmetic_},
                {"operators", operators_},
                {"tensors", tensors_},
                {"data", std::filesystem::path(path() + ".bin").filename().string()}};
    if (!outputs_.empty()) all["outputs"] = outputs_;
    std::ofstream(path()) << all;
  }

 private:
  void op(const char* kind, const char* name, const std::vector<size_t>& inputs, size_t output,
          const std::string& activation) {
    operators_.push_back({{"kind", kind},
                          {"name", name},
                          {"operator", name},
                          {"inputs", inputs},
                          {"outputs", {output}},
                          {"activation", activation}});
  }
  size_t tensor(const std::vector<size_t>& shape, const std::string& type, float scale,
                int32_t zero_point) {
    tensors_.push_back({{"name", "t"},
                        {"shape", shape},
                        {"type", type},
                        {"constant", false},
                        {"quantization", {{"scales", {scale}}, {"zero_points", {zero_point}}}}});
    return tensors_.size() - 1;
  }
  size_t constant(const std::vector<size_t>& shape, const std::string& type, float scale) {
    const size_t index = tensor(shape, type, scale, 0);
    tensors_[index]["constant"] = true, tensors_[index]["data_at"] = data_.size();
    size_t elements = 1;
    for (const size_t size : shape) elements *= size;
    for (size_t i = 0; i < elements; ++i) {
      const int32_t value = std::uniform_int_distribution<int32_t>(-127, 127)(random_);
      data_.append((const char*)(&value), type == "s8" ? 1 : 4);
    }
    return index;
  }

  const std::string type_, arithmetic_;
  json operators_ = json::array(), tensors_ = json::array();
  std::vector<size_t> outputs_;  // empty: the tensors that no operator reads
  std::string data_;
  std::mt19937 random_{1};
};

// The bytes of all tensors that are kept, for random inputs.
std::vector<uint8_t> bytes_of(const DescribedNetwork& network, octet_network_goal goal) {
  octet_network_desc desc = network.desc();
  desc.goal = goal;
  const PlacedNetwork placed(desc);
  std::mt19937 random(5);
  for (const size_t input : network.inputs())
    for (size_t i = 0; i < tensor_bytes(desc.tensors[input]); ++i)
      placed.tensor(input)[i] = (uint8_t)random();
  placed.run();
  std::vector<uint8_t> all;
  for (size_t i = 0; i < desc.tensor_count; ++i)
    if (desc.tensors[i].keep)
      all.insert(all.end(), placed.tensor(i), placed.tensor(i) + tensor_bytes(desc.tensors[i]));
  return all;
}

// Compares all bytes with and without fusion; returns the number of ops with it.
size_t check(const Description& description, size_t ops) {
  description.write();
  const DescribedNetwork apart(description.path(), OCTET_ISA_AUTO, 2, 0, false);
  const DescribedNetwork fused(description.path(), OCTET_ISA_AUTO, 2, 0);
  EXPECT_EQ(apart.desc().op_count, ops);
  const std::vector<uint8_t> expected = bytes_of(apart, OCTET_NETWORK_LAYERS);
  std::vector<uint8_t> seen = expected;
  std::sort(seen.begin(), seen.end());
  EXPECT_GT(std::unique(seen.begin(), seen.end()) - seen.begin(), 100);
  for (const octet_network_goal goal : {OCTET_NETWORK_LAYERS, OCTET_NETWORK_TRAFFIC})
    EXPECT_EQ(bytes_of(fused, goal), expected);
  return fused.desc().op_count;
}

class FuseResidual : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Types, FuseResidual, testing::Values("s8", "u8"));

// As in ResNets, additions follow one convolution, with its activation or without, or two.
TEST_P(FuseResidual, Blocks) {
  Description d(GetParam(), "tflite");
  const size_t x = d.image(0.05f, -3), a = d.image(0.03f, 4), b = d.image(0.04f, -128 + 2);
  const size_t c = d.image(0.037f, -9), e = d.image(0.06f, 11), f = d.image(0.05f, 20);
  const size_t g = d.image(0.06f, 7), sum = d.image(0.08f, -5);
  d.convolution(x, a, "RELU6");
  d.addition(a, x, b, "RELU");
  d.convolution(b, c, "NONE");
  d.addition(b, c, e, "NONE");
  d.convolution(e, f, "NONE");
  d.convolution(e, g, "RELU");
  d.addition(f, g, sum, "NONE");
  EXPECT_EQ(check(d, 7), 4u);
}

TEST_P(FuseResidual, NotWhatOthersRead) {
  Description d(GetParam(), "tflite");
  const size_t x = d.image(0.05f, -3), a = d.image(0.03f, 4), b = d.image(0.04f, 8);
  const size_t c = d.image(0.06f, -9), e = d.image(0.09f, 11);
  d.convolution(x, a, "NONE");
  d.addition(a, x, b, "NONE");
  d.addition(a, b, c, "NONE");
  d.addition(c, c, e, "NONE");
  EXPECT_EQ(check(d, 4), 4u);
}

TEST_P(FuseResidual, NotBehindAReshapeOfOtherQuantization) {
  Description d(GetParam(), "tflite");
  const size_t x = d.image(0.05f, -3), a = d.image(0.03f, 4), b = d.image(0.03f, 6);
  const size_t c = d.image(0.06f, -9);
  d.convolution(x, a, "NONE");
  d.reshape(a, b);
  d.addition(b, x, c, "NONE");
  EXPECT_EQ(check(d, 2), 2u);
}

TEST_P(FuseResidual, NotWhatIsAnOutput) {
  Description d(GetParam(), "tflite");
  const size_t x = d.image(0.05f, -3), a = d.image(0.03f, 4), b = d.image(0.06f, 8);
  d.convolution(x, a, "NONE");
  d.addition(a, x, b, "NONE");
  d.set_outputs({b, a});
  EXPECT_EQ(check(d, 2), 2u);
  d.set_outputs({b});
  EXPECT_EQ(check(d, 2), 1u);
}

TEST_P(FuseResidual, NotInFloatMode) {
  Description d(GetParam(), "float");
  const size_t x = d.image(0.05f, -3), a = d.image(0.03f, 4), b = d.image(0.06f, 8);
  d.convolution(x, a, "NONE");
  d.addition(a, x, b, "NONE");
  EXPECT_EQ(check(d, 2), 2u);
}

}  // namespace
}  // namespace tool
