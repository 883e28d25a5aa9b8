// SPDX-License-Identifier: Apache-2.0
// kleidiai_one VARIANT MxNxK RUNS [sb]: one of KleidiAI's micro-kernels of 4-bit weights as its
// examples call it, f32 to f32, quantization of the rows included; without arguments the names of
// all. kleidiai.py compiles it and counts instructions. sb: rows are packed by the variant of
// kai_lhs_quant_pack_qsi8d32p that is made for products of matrices.
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels.h"  // of kleidiai.py: KLEIDIAI_BLOCKS(X) and KLEIDIAI_CHANNELS(X) list the names
// clang-format off: kernels.h has included what these need
#include "kai/ukernels/matmul/pack/kai_lhs_quant_pack_qai8dxp_f32.h"
#include "kai/ukernels/matmul/pack/kai_lhs_quant_pack_qsi8d32p4x8sb_f32_neon.h"
#include "kai/ukernels/matmul/pack/kai_lhs_quant_pack_qsi8d32p_f32.h"
#include "kai/ukernels/matmul/pack/kai_rhs_pack_nxk_qsi4c32pscalef16_qsu4c32s16s0.h"
#include "kai/ukernels/matmul/pack/kai_rhs_pack_nxk_qsi4cxp_qs4cxs1s0.h"
// clang-format on

namespace {

constexpr size_t kBlock = 32, kBlockBytes = 18;  // of Q4_0

struct Variant {
  const char* name;
  bool blocks;  // else a scale per channel
  size_t (*mr)(), (*nr)(), (*kr)(), (*sr)();
  void (*run_blocks)(size_t, size_t, size_t, size_t, const void*, const void*, float*, size_t,
                     size_t, float, float);
  void (*run_channels)(size_t, size_t, size_t, const void*, const void*, float*, size_t, size_t,
                       float, float);
};
#define GETTERS(x)                                                  \
  kai_get_mr_matmul_clamp_f32_##x, kai_get_nr_matmul_clamp_f32_##x, \
      kai_get_kr_matmul_clamp_f32_##x, kai_get_sr_matmul_clamp_f32_##x
#define IN_BLOCKS(x) {#x, true, GETTERS(x), kai_run_matmul_clamp_f32_##x, nullptr},
#define PER_CHANNEL(x) {#x, false, GETTERS(x), nullptr, kai_run_matmul_clamp_f32_##x},
const Variant kVariants[] = {KLEIDIAI_BLOCKS(IN_BLOCKS) KLEIDIAI_CHANNELS(PER_CHANNEL)};

uint32_t next() {
  static uint32_t state = 1;
  return (state = state * 1664525 + 1013904223) >> 8;
}

struct Product {
  const Variant& v;
  size_t m, n, k;
  bool sb;
  std::vector<float> lhs, dst;
  std::vector<uint8_t> weights, packed, rows;

  Product(const Variant& variant, size_t rows_count, size_t columns, size_t depth, bool with_sb)
      : v(variant), m(rows_count), n(columns), k(depth), sb(with_sb), lhs(m * k), dst(m * n) {
    for (float& x : lhs) x = (float)((int)(next() % 2001) - 1000) / 500;
    rows.resize(8 * m * k + 4096);
    packed.resize(4 * n * k + 65536);
    weights.resize(v.blocks ? n * k / kBlock * kBlockBytes : n * k / 2);
    for (uint8_t& byte : weights) byte = (uint8_t)next();
    if (v.blocks) {
      for (size_t b = 0; b < weights.size(); b += kBlockBytes)
        weights[b] = 0x00, weights[b + 1] = 0x24;  // 2^-6 in f16
      kai_rhs_pack_qs4cxs1s0_param zero_points;
      zero_points.lhs_zero_point = 1, zero_points.rhs_zero_point = 8;
      kai_run_rhs_pack_nxk_qsi4c32pscalef16_qsu4c32s16s0(1, n, k, v.nr(), v.kr(), v.sr(), kBlock,
                                                         weights.data(), nullptr, packed.data(), 0,
                                                         &zero_points);
    } else {
      const std::vector<float> bias(n), scales(n, 0.015625f);
      kai_rhs_pack_nxk_qsi4cxp_qs4cxs1s0_params zero_points;
      zero_points.lhs_zero_point = 1, zero_points.rhs_zero_point = 8;
      kai_run_rhs_pack_nxk_qsi4cxp_qs4cxs1s0(1, n, k, v.nr(), v.kr(), v.sr(), weights.data(),
                                             bias.data(), scales.data(), packed.data(), 0,
                                             &zero_points);
    }
  }

  void run() {
    const size_t stride = k * sizeof(float), dst_stride = n * sizeof(float);
    if (!v.blocks) {
      kai_run_lhs_quant_pack_qai8dxp_f32(m, k, v.mr(), v.kr(), v.sr(), 0, lhs.data(), stride,
                                         rows.data());
      return v.run_channels(m, n, k, rows.data(), packed.data(), dst.data(), dst_stride,
                            sizeof(float), -FLT_MAX, FLT_MAX);
    }
    (sb ? kai_run_lhs_quant_pack_qsi8d32p4x8sb_f32_neon : kai_run_lhs_quant_pack_qsi8d32p_f32)(
        m, k, kBlock, v.mr(), v.kr(), v.sr(), 0, lhs.data(), stride, rows.data());
    v.run_blocks(m, n, k, kBlock, rows.data(), packed.data(), dst.data(), dst_stride, sizeof(float),
                 -FLT_MAX, FLT_MAX);
  }

  int weight(size_t column, size_t depth) const {
    const size_t at = column * k + depth;
    if (!v.blocks) return (weights[at / 2] >> at % 2 * 4 & 15) - 8;
    const uint8_t* const nibbles = &weights[at / kBlock * kBlockBytes + 2];
    return (nibbles[at % 16] >> at % kBlock / 16 * 4 & 15) - 8;
  }

  // The largest difference from the product of floats, over the largest output.
  double error() const {
    double worst = 0, largest = 0;
    for (size_t i = 0; i < m && i < 3; ++i)
      for (size_t j = 0; j < n; j += 7) {
        double sum = 0;
        for (size_t c = 0; c < k; ++c) sum += lhs[i * k + c] * weight(j, c) * 0.015625;
        worst = std::fmax(worst, std::fabs(sum - dst[i * n + j]));
        largest = std::fmax(largest, std::fabs(sum));
      }
    return worst / largest;
  }
};

}  // namespace

int main(int argc, char** argv) {
  size_t m = 0, n = 0, k = 0;
  if (argc < 4) {
    for (const Variant& v : kVariants) std::puts(v.name);
    return 0;
  }
  if (std::sscanf(argv[2], "%zux%zux%zu", &m, &n, &k) != 3) return 2;
  for (const Variant& v : kVariants) {
    if (std::strcmp(v.name, argv[1]) != 0) continue;
    Product product(v, m, n, k, argc > 4);
    for (long runs = std::atol(argv[3]); runs > 0; --runs) product.run();
    std::printf("%zu %s %.4f\n", m * n * k, v.name, product.error());
    return 0;
  }
  return 2;
}
