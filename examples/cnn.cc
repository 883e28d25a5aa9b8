// SPDX-License-Identifier: Apache-2.0
// A small convolutional network through octet.hpp, layer by layer: a 3x3 convolution, a depthwise
// and a pointwise one, to which the first one's output is added, a max pool and a fully connected
// layer. The image and the weights are made up; plain loops gave the sums that this program
// expects.
#include <octet/helpers.h>
#include <octet/functions.hpp>
#include <octet/octet.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Image = std::vector<uint8_t>;  // NHWC: line by line, pixel by pixel

constexpr size_t kSide = 16, kChannels = 16, kPooled = kSide / 2, kClasses = 10;
constexpr int32_t kZeroPoint = 5;     // of every image
constexpr float kScale = 1.0f / 256;  // input scale * weight scale / output scale of a layer

void check(octet_status status, const octet_error& error) {
  if (status == OCTET_OK) return;
  std::fprintf(stderr, "%s: %s\n", octet_status_name(status), error.message);
  std::exit(EXIT_FAILURE);
}

template <class T>
T value_of(octet::Result<T> result) {
  check(result.status(), result.error());
  return std::move(*result);
}

template <class T>
std::vector<T> made_up(size_t count, uint32_t seed) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>((seed = seed * 1664525 + 1013904223) >> 24);
  return values;
}

class Convolution {
 public:
  Convolution(size_t in_channels, size_t groups, size_t kernel, bool has_residual = false) {
    auto filter = octet::make<octet_filter_desc>();
    octet_conv2d_shape& shape = filter.shape;
    shape.in_h_max = shape.in_w_max = kSide;
    shape.in_channels = in_channels, shape.out_channels = kChannels, shape.groups = groups;
    shape.kernel_h = shape.kernel_w = kernel;
    octet_error error;
    check(octet_conv2d_set_padding(OCTET_PADDING_SAME, &shape, &error), error);
    const auto weights =
        made_up<int8_t>(kChannels * kernel * kernel * in_channels / groups, kernel);
    filter.type = OCTET_S8, filter.order = OCTET_OHWI, filter.data = weights.data();
    filter.dst_type = OCTET_U8, filter.has_residual = has_residual;
    packed_ = value_of(octet::PackedWeights::pack(filter));

    auto desc = octet::make<octet_conv2d_desc>();
    desc.shape = shape, desc.rhs_type = OCTET_S8;
    desc.lhs_type = desc.dst_type = OCTET_U8;
    desc.lhs_zero_point = desc.epilogue.dst_zero_point = kZeroPoint;
    desc.epilogue.scales = &kScale, desc.epilogue.scale_count = 1;
    desc.epilogue.activation = OCTET_ACTIVATION_RELU;
    if (has_residual) {
      desc.epilogue.residual.type = OCTET_U8;
      desc.epilogue.residual.zero_point = kZeroPoint;
      desc.epilogue.residual.scale = 1;  // its scale is the output's
    }
    packed_.attach(desc);
    conv_ = value_of(octet::Conv2d::create(desc));
    workspace_ = value_of(conv_.workspace());
  }

  Image run(const Image& image, const Image* residual = nullptr) {
    Image out(kSide * kSide * kChannels);
    auto args = octet::make<octet_conv2d_args>();
    args.lhs = image.data(), args.dst = out.data();
    args.residual = residual ? residual->data() : nullptr;
    workspace_.attach(args);
    octet_error error;
    check(conv_.run(args, &error), error);
    return out;
  }

 private:
  octet::PackedWeights packed_;  // before conv_, which reads them until it is destroyed
  octet::Conv2d conv_;
  octet::Workspace workspace_;
};

Image max_pool(Image image) {
  auto desc = octet::make<octet_max_pool_desc>();
  desc.input.size = {kSide, kSide, kChannels};
  desc.input.values.type = OCTET_U8;
  desc.window.kernel_h = desc.window.kernel_w = desc.window.stride_h = desc.window.stride_w = 2;
  const auto function = value_of(octet::Function::create(octet_max_pool_create, desc));
  Image out(kPooled * kPooled * kChannels);
  auto args = octet::make<octet_function_args>();
  args.inputs[0] = {image.data(), kSide, kSide, kChannels, 0, 0, 0};
  args.output = {out.data(), kPooled, kPooled, kChannels, 0, 0, 0};
  octet_error error;
  check(function.run(args, &error), error);
  return out;
}

std::vector<int32_t> fully_connected(const Image& image) {
  const auto weights = made_up<int8_t>(kClasses * image.size(), 4);
  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = kClasses, rhs.k = image.size();
  rhs.data = weights.data();
  const auto packed = value_of(octet::PackedWeights::pack(rhs));
  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = 1, desc.n = rhs.n, desc.k = rhs.k;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  desc.lhs_zero_point = kZeroPoint;
  packed.attach(desc);
  const auto gemm = value_of(octet::Gemm::create(desc));
  auto workspace = value_of(gemm.workspace(1));
  std::vector<int32_t> sums(kClasses);
  auto args = octet::make<octet_gemm_args>();
  args.m = 1, args.lhs = image.data(), args.dst = sums.data();
  workspace.attach(args);
  octet_error error;
  check(gemm.run(args, &error), error);
  return sums;
}

}  // namespace

int main() {
  Convolution first(3, 1, 3);
  Convolution depthwise(kChannels, kChannels, 3);
  Convolution pointwise(kChannels, 1, 1, true);
  const auto image = made_up<uint8_t>(kSide * kSide * 3, 7);
  const Image block = first.run(image);
  const Image maps = pointwise.run(depthwise.run(block), &block);
  const std::vector<int32_t> sums = fully_connected(max_pool(maps));
  const std::vector<int32_t> expected = {178168,  272850, -755245, -685795, -824836,
                                         -300382, 130252, -183218, -391022, -760565};
  const auto best = std::max_element(sums.begin(), sums.end()) - sums.begin();
  std::printf("class %d\n", static_cast<int>(best));
  if (sums != expected) return std::fprintf(stderr, "the sums are wrong\n"), 1;
  return 0;
}
