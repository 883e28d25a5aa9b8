// SPDX-License-Identifier: Apache-2.0
// Multiplies by weights of 2 bits, as matrices and as filters, beside plain loops. It prints the
// cases that were right.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "dispatch/tables/formats.h"
#include "octet/octet.hpp"
#include "operators/conv/algorithms/filter_blob.h"
#include "operators/conv/layouts.h"
#include "packing/matrix_blob.h"

namespace {

using octet::WeightFormat;

const WeightFormat& format() {
  for (size_t i = 0; const WeightFormat* format = octet::nth_format(i); ++i)
    if (format->layout.bits == 2) return *format;
  std::abort();
}

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s: WRONG\n", what);
  std::exit(1);
}

template <typename T>
T checked(octet::Result<T> result) {
  expect(bool(result), result ? "" : result.error().message);
  return std::move(*result);
}

std::vector<uint8_t> numbers(size_t count) {
  std::vector<uint8_t> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = (uint8_t)(i * 37 + i / 11);
  return out;
}
// From -2 to 1
std::vector<uint8_t> quarters(size_t count) {
  std::vector<uint8_t> out = numbers(count);
  for (uint8_t& n : out) n = (uint8_t)(n % 4 - 2);
  return out;
}

// Writes a planned blob, and reads it as one from elsewhere.
template <typename Write>
octet::PackedWeights blob_of(octet::Container container, const Write& write) {
  const size_t bytes = (size_t)container.header.bytes;
  octet::AlignedBuffer blob = checked(octet::AlignedBuffer::allocate(bytes));
  write(&container, blob.data());
  return checked(octet::PackedWeights::copy_of(blob.data(), bytes));
}

template <typename Object, typename Args>
void run(const Object& object, octet::Workspace workspace, Args args) {
  workspace.attach(args);
  octet_error error = {};
  expect(object.run(args, &error) == OCTET_OK, error.message);
}

void multiply(size_t m, size_t n, size_t k) {
  const std::vector<uint8_t> lhs = numbers(m * k), weights = quarters(n * k);
  const octet::RhsView rhs = {weights.data(), n, k, n, 1, octet::ElementType::kS8, nullptr, 0};
  octet::Container container;
  expect(octet::plan_matrices(format(), OCTET_S8, n, k, 1, false, &container), "the plan");
  const octet::PackedWeights packed = blob_of(
      container, [&](octet::Container* c, void* blob) { octet::write_matrices(c, rhs, 0, blob); });
  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = m, desc.n = n, desc.k = k;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  packed.attach(desc);
  const octet::Gemm gemm = checked(octet::Gemm::create(desc));
  std::vector<int32_t> dst(m * n), expected(m * n);
  auto args = octet::make<octet_gemm_args>();
  args.m = m, args.lhs = lhs.data(), args.dst = dst.data();
  run(gemm, checked(gemm.workspace(m)), args);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t p = 0; p < k; ++p)
        expected[i * n + j] += lhs[i * k + p] * (int8_t)weights[p * n + j];
  expect(dst == expected, gemm.kernel(m));
  std::printf("%zux%zux%zu by %s: right\n", m, n, k, gemm.kernel(m));
}

// 3x3 with padding 1, weights OHWI.
void convolve(octet_conv_algorithm algorithm, size_t in_channels, size_t out_channels,
              size_t groups) {
  constexpr size_t kH = 9, kW = 10;
  const size_t in = in_channels / groups, out = out_channels / groups;
  const std::vector<uint8_t> lhs = numbers(kH * kW * in_channels),
                             weights = quarters(out_channels * 9 * in);
  octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
  s.in_h_max = kH, s.in_w_max = kW, s.groups = groups, s.kernel_h = s.kernel_w = 3;
  s.in_channels = in_channels, s.out_channels = out_channels;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
  octet::ConvShape shape = {};
  shape.in_channels = in_channels, shape.out_channels = out_channels, shape.groups = groups;
  shape.kernel_h = shape.kernel_w = 3, shape.stride_h = shape.stride_w = 1;
  shape.dilation_h = shape.dilation_w = 1;
  octet::FilterView view = {};
  view.data = weights.data(), view.stored = octet::ElementType::kS8;
  view.i_stride = 1, view.x_stride = in, view.y_stride = 3 * in, view.o_stride = 9 * in;
  view.group_stride = out * view.o_stride;
  const octet::ConvAlgorithm& implementation = *octet::algorithm_of((uint8_t)algorithm);
  octet::Container container;
  expect(octet::plan_filter(format(), implementation, (uint8_t)algorithm, OCTET_S8, shape, false,
                            &container),
         "the plan");
  const octet::PackedWeights packed = blob_of(container, [&](octet::Container* c, void* blob) {
    octet::write_filter(c, implementation, shape, view, nullptr, blob);
  });
  auto desc = octet::make<octet_conv2d_desc>();
  desc.shape = s, desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  packed.attach(desc);
  const octet::Conv2d conv = checked(octet::Conv2d::create(desc));
  std::vector<int32_t> dst(kH * kW * out_channels), expected(dst.size());
  auto args = octet::make<octet_conv2d_args>();
  args.batch = 1, args.in_h = kH, args.in_w = kW, args.lhs = lhs.data(), args.dst = dst.data();
  run(conv, checked(conv.workspace()), args);
  for (size_t pixel = 0; pixel < kH * kW; ++pixel)
    for (size_t o = 0; o < out_channels; ++o)
      for (size_t tap = 0; tap < 9; ++tap) {
        const size_t y = pixel / kW + tap / 3 - 1, x = pixel % kW + tap % 3 - 1;
        if (y >= kH || x >= kW) continue;  // -1 is large
        for (size_t i = 0; i < in; ++i)
          expected[pixel * out_channels + o] += lhs[(y * kW + x) * in_channels + o / out * in + i] *
                                                (int8_t)weights[(o * 9 + tap) * in + i];
      }
  expect(dst == expected, conv.kernel());
  std::printf("%s by %s: right\n", octet_conv_algorithm_name(algorithm), conv.kernel());
}

}  // namespace

// Few tiles, which decode their weights, and many; channels that fill groups, and others; groups of
// channels that share a panel.
int main() {
  multiply(2, 37, 21);
  multiply(40, 37, 21);
  multiply(40, 64, 64);
  for (const octet_conv_algorithm algorithm : {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL}) {
    convolve(algorithm, 8, 20, 1);
    convolve(algorithm, 5, 20, 1);
    convolve(algorithm, 12, 12, 3);
  }
}
