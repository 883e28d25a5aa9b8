// SPDX-License-Identifier: Apache-2.0
// Tries libraries with some of their parts only: convolutions by every algorithm that explain calls
// possible, and products, beside plain loops. It prints the algorithms that ran.
#include <cstdio>
#include <cstring>
#include <octet/octet.hpp>
#include <vector>

namespace {

int fail(const char* what, const octet_error& error) {
  std::fprintf(stderr, "%s: %s: %s\n", what, octet_status_name(error.status), error.message);
  return 1;
}

template <typename T>
std::vector<T> numbers(size_t count) {
  std::vector<T> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = (T)(i * 37 + i / 11);
  return out;
}

int multiply(size_t m, size_t n, size_t k, const std::vector<uint8_t>& lhs,
             const std::vector<int8_t>& weights, const octet::PackedWeights& packed) {
  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = m, desc.n = n, desc.k = k;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  packed.attach(desc);
  const octet::Result<octet::Gemm> gemm = octet::Gemm::create(desc);
  if (!gemm) return fail("create", gemm.error());
  octet::Result<octet::Workspace> workspace = gemm->workspace(m);
  if (!workspace) return fail("workspace", workspace.error());
  std::vector<int32_t> dst(m * n), expected(m * n);
  auto args = octet::make<octet_gemm_args>();
  workspace->attach(args);
  args.m = m, args.lhs = lhs.data(), args.dst = dst.data();
  octet_error error;
  if (gemm->run(args, &error)) return fail("run", error);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t p = 0; p < k; ++p) expected[i * n + j] += lhs[i * k + p] * weights[p * n + j];
  std::printf("%s: %s\n", gemm->kernel(m), dst == expected ? "right" : "WRONG");
  return dst != expected;
}

int multiply_dense() {
  constexpr size_t m = 19, n = 70, k = 45;
  const std::vector<uint8_t> lhs = numbers<uint8_t>(m * k);
  const std::vector<int8_t> weights = numbers<int8_t>(k * n);
  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = weights.data();
  const octet::Result<octet::PackedWeights> packed = octet::PackedWeights::pack(rhs);
  if (!packed) return fail("pack", packed.error());
  return multiply(m, n, k, lhs, weights, *packed);
}

// If the library does not refuse a sparsity, the output is that of the same dense weights.
int multiply_sparse() {
  constexpr size_t m = 5, n = 33, k = 40;
  const std::vector<uint8_t> lhs = numbers<uint8_t>(m * k);
  std::vector<int8_t> weights = numbers<int8_t>(k * n);
  for (size_t p = 0; p < k; ++p)
    for (size_t j = 0; j < n; ++j)
      if (p % 4 == j % 3 || p % 4 == 3) weights[p * n + j] = 0;
  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = weights.data();
  rhs.sparsity = OCTET_SPARSE_2_4;
  const octet::Result<octet::PackedWeights> packed = octet::PackedWeights::pack(rhs);
  if (!packed && packed.error().status == OCTET_UNSUPPORTED) {
    std::printf("%s\n", packed.error().message);
    return 0;
  }
  if (!packed) return fail("pack", packed.error());
  return multiply(m, n, k, lhs, weights, *packed);
}

// Whether an error says that the library was built without a part; prints it.
bool left_out(const octet_error& error) {
  std::printf("%s\n", error.message);
  return error.status == OCTET_UNSUPPORTED && std::strstr(error.message, "OCTET_WITH_");
}

// Creates a product. Returns 1 if that fails for another reason than a part that is left out.
int create(const octet_gemm_desc& desc) {
  const octet::Result<octet::Gemm> gemm = octet::Gemm::create(desc);
  return !gemm && !left_out(gemm.error());
}

// Asks for 16x8, for weights that come with a run, and for weights of 4 bits.
int create_others() {
  constexpr size_t n = 20, k = 30;
  const std::vector<int8_t> weights = numbers<int8_t>(k * n);
  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = weights.data();
  const octet::Result<octet::PackedWeights> packed = octet::PackedWeights::pack(rhs);
  if (!packed) return fail("pack", packed.error());
  const float scale = 0.5f;
  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = 4, desc.n = n, desc.k = k;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  int wrong = create(desc);
  packed->attach(desc);
  desc.lhs_type = OCTET_S16, desc.dst_type = OCTET_S16;
  desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
  wrong += create(desc);
  rhs.type = OCTET_S4;
  const octet::Result<octet::PackedWeights> int4 = octet::PackedWeights::pack(rhs);
  if (!int4) return wrong + !left_out(int4.error());
  int4->attach(desc);
  desc.lhs_type = OCTET_S8, desc.rhs_type = OCTET_S4, desc.dst_type = OCTET_S32;
  desc.epilogue.scales = nullptr, desc.epilogue.scale_count = 0;
  return wrong + create(desc);
}

struct Layer {
  octet_conv2d_shape shape = OCTET_CONV2D_SHAPE_INIT;
  size_t out_h = 0, out_w = 0;
  std::vector<uint8_t> lhs;
  std::vector<int8_t> weights;
  std::vector<int32_t> expected;
};

// 3x3 with padding 1, weights OHWI.
Layer layer(size_t in_channels, size_t out_channels, size_t stride, size_t groups) {
  Layer l;
  octet_conv2d_shape& s = l.shape;
  s.in_h_max = 9, s.in_w_max = 10, s.groups = groups;
  s.in_channels = in_channels, s.out_channels = out_channels;
  s.kernel_h = s.kernel_w = 3, s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
  octet_conv2d_output_size(&s, s.in_h_max, s.in_w_max, &l.out_h, &l.out_w, nullptr);
  const size_t in = in_channels / groups, out = out_channels / groups;
  l.lhs = numbers<uint8_t>(s.in_h_max * s.in_w_max * in_channels);
  l.weights = numbers<int8_t>(out_channels * 9 * in);
  for (size_t y = 0; y < l.out_h; ++y)
    for (size_t x = 0; x < l.out_w; ++x)
      for (size_t o = 0; o < out_channels; ++o) {
        int32_t acc = 0;
        for (size_t tap = 0; tap < 9; ++tap) {
          const size_t from_y = y * stride + tap / 3 - 1, from_x = x * stride + tap % 3 - 1;
          if (from_y >= s.in_h_max || from_x >= s.in_w_max) continue;  // -1 is large
          for (size_t i = 0; i < in; ++i)
            acc += l.lhs[(from_y * s.in_w_max + from_x) * in_channels + o / out * in + i] *
                   l.weights[(o * 9 + tap) * in + i];
        }
        l.expected.push_back(acc);
      }
  return l;
}

int convolve(const Layer& l, octet_conv_algorithm algorithm) {
  auto filter = octet::make<octet_filter_desc>();
  filter.shape = l.shape, filter.type = OCTET_S8, filter.data = l.weights.data();
  filter.algorithm = algorithm;
  const octet::Result<octet::PackedWeights> packed = octet::PackedWeights::pack(filter);
  if (!packed) return fail("pack", packed.error());
  auto desc = octet::make<octet_conv2d_desc>();
  desc.shape = l.shape;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  packed->attach(desc);
  const octet::Result<octet::Conv2d> conv = octet::Conv2d::create(desc);
  if (!conv) return fail("create", conv.error());
  octet::Result<octet::Workspace> workspace = conv->workspace();
  if (!workspace) return fail("workspace", workspace.error());
  std::vector<int32_t> dst(l.expected.size());
  auto args = octet::make<octet_conv2d_args>();
  workspace->attach(args);
  args.lhs = l.lhs.data(), args.dst = dst.data();
  octet_error error;
  if (conv->run(args, &error)) return fail("run", error);
  std::printf("%s by %s: %s\n", octet_conv_algorithm_name(conv->algorithm()), conv->kernel(),
              dst == l.expected ? "right" : "WRONG");
  return dst != l.expected;
}

int convolve_every_way(const Layer& l) {
  auto filter = octet::make<octet_filter_desc>();
  filter.shape = l.shape, filter.type = OCTET_S8, filter.data = l.weights.data();
  auto candidate = octet::make<octet_conv2d_candidate>();
  octet_error error;
  if (octet_conv2d_explain(&filter, OCTET_ISA_AUTO, 0, &candidate, &error) == OCTET_UNSUPPORTED) {
    std::printf("%s\n", error.message);
    octet_filter_desc* const filters[] = {&filter};
    if (octet::limit_packed(filters, 1).status() != OCTET_UNSUPPORTED) return 1;
    return std::strstr(error.message, "OCTET_WITH_CONVOLUTION=OFF") == nullptr;
  }
  int wrong = convolve(l, OCTET_CONV_AUTO);
  for (size_t i = 0; !octet_conv2d_explain(&filter, OCTET_ISA_AUTO, i, &candidate, nullptr); ++i)
    if (candidate.possible)
      wrong += convolve(l, candidate.algorithm);
    else if (std::strstr(candidate.reason, "built without"))
      std::printf("%s %s\n", octet_conv_algorithm_name(candidate.algorithm), candidate.reason);
  return wrong;
}

}  // namespace

int main() {
  int wrong = multiply_dense() + multiply_sparse() + create_others();
  wrong += convolve_every_way(layer(20, 40, 1, 1));
  wrong += convolve_every_way(layer(20, 40, 2, 1));
  wrong += convolve_every_way(layer(70, 70, 1, 70));
  return wrong != 0;
}
