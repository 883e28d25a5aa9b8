// SPDX-License-Identifier: Apache-2.0
// Packed weights that the target blob begins with: of every tier, format, algorithm and type.
#pragma once

#include <memory>

#include "dispatch/tables/tiers.h"
#include "fuzz/data.h"
#include "fuzz/fuzz.h"
#include "operators/conv/algorithms/filter_blob.h"
#include "operators/conv/layouts.h"
#include "packing/matrix_blob.h"
#include "packing/scale_blocks.h"

namespace octet_fuzz {
namespace {

using octet::ContainerHeader;

struct Sample {
  bool filter;  // from octet_conv2d_pack
  std::vector<uint8_t> bytes;
  size_t head() const {
    return sizeof(ContainerHeader) +
           (filter ? sizeof(octet::FilterGeometry) : sizeof(octet::MatricesGeometry));
  }
};

std::vector<uint8_t> some_weights(size_t count) {
  std::vector<uint8_t> weights(count);
  Random random(count);
  for (uint8_t& w : weights) w = (uint8_t)random();
  return weights;
}

template <typename Size, typename Pack>
Sample packed(bool filter, const Size& size, const Pack& pack) {
  size_t bytes = 0;
  must_accept("the size of a sample", [&](octet_error* e) { return size(&bytes, e); });
  const std::unique_ptr<uint8_t, decltype(&std::free)> memory(
      (uint8_t*)std::aligned_alloc(OCTET_ALIGNMENT, bytes), std::free);
  must_accept("a sample", [&](octet_error* e) { return pack(memory.get(), bytes, e); });
  return {filter, {memory.get(), memory.get() + bytes}};
}

Sample packed_matrices(octet_isa isa, octet_type type, bool zero_points) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = type;
  rhs.n = zero_points ? 21 : 5;
  rhs.k = 9;
  rhs.batch = type == OCTET_U8 ? 2 : 1;
  const std::vector<uint8_t> weights = some_weights(rhs.n * rhs.k * rhs.batch);
  const std::vector<int32_t> values(rhs.n, 5);  // of every type
  rhs.data = weights.data();
  if (zero_points) rhs.zero_points = values.data(), rhs.zero_point_count = values.size();
  return packed(
      false, [&](size_t* bytes, octet_error* e) { return octet_pack_size(&rhs, isa, bytes, e); },
      [&](void* to, size_t bytes, octet_error* e) { return octet_pack(&rhs, isa, to, bytes, e); });
}

// Both geometries of matrices take 64 bytes.
static_assert(sizeof(octet::ScaleBlocksGeometry) == sizeof(octet::MatricesGeometry),
              "Sample::head");
Sample packed_scale_blocks(octet_type type, octet_type scale_type, bool zero_points,
                           bool minimums) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = type;
  rhs.n = 21;
  rhs.k = 96;
  rhs.batch = zero_points ? 2 : 1;
  rhs.scale_block = 32;
  rhs.scale_type = scale_type;
  const size_t scales = rhs.n * 3 * rhs.batch;
  const std::vector<uint8_t> weights = some_weights(rhs.n * rhs.k * rhs.batch);
  const std::vector<float> values(scales, 0.5f);  // as f16: 0 and 1.75
  std::vector<int32_t> zeros(scales, 5);          // of every type
  zeros[0] = 3;                                   // they are not all alike
  rhs.data = weights.data(), rhs.scales = values.data();
  if (minimums) rhs.minimums = values.data();
  if (zero_points) rhs.zero_points = zeros.data(), rhs.zero_point_count = scales;
  return packed(
      false,
      [&](size_t* bytes, octet_error* e) {
        return octet_pack_size(&rhs, OCTET_ISA_AUTO, bytes, e);
      },
      [&](void* to, size_t bytes, octet_error* e) {
        return octet_pack(&rhs, OCTET_ISA_AUTO, to, bytes, e);
      });
}

// rows: that runs have, or 0
Sample packed_sparse(octet_isa isa, size_t rows) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8;
  rhs.order = OCTET_KN;
  rhs.n = 21;
  rhs.k = 90;
  std::vector<uint8_t> weights = some_weights(rhs.n * rhs.k);
  for (size_t i = 0; i < weights.size(); ++i)
    if (i / rhs.n % 2) weights[i] = 0;
  rhs.data = weights.data();
  rhs.sparsity = OCTET_SPARSE_2_4;
  rhs.m_max = rows;
  return packed(
      false, [&](size_t* bytes, octet_error* e) { return octet_pack_size(&rhs, isa, bytes, e); },
      [&](void* to, size_t bytes, octet_error* e) { return octet_pack(&rhs, isa, to, bytes, e); });
}

enum class Variant { kPlain, kU8, kSpecial, kU4, kCount };

Sample packed_filter(octet_isa isa, octet_conv_algorithm algorithm, Variant variant) {
  const bool special = variant == Variant::kSpecial, panels = algorithm <= OCTET_CONV_IM2COL;
  octet_filter_desc f = OCTET_FILTER_DESC_INIT;
  octet_conv2d_shape& s = f.shape;
  s.in_h_max = s.in_w_max = 6;
  s.in_channels = s.out_channels = 6;
  s.kernel_h = s.kernel_w = 3;
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
  if (algorithm == OCTET_CONV_DEPTHWISE) s.groups = 6, s.out_channels = special ? 12 : 6;
  if (algorithm == OCTET_CONV_GROUPED)
    s.groups = 3, s.in_channels = s.out_channels = special ? 24 : 6;
  if (algorithm == OCTET_CONV_WINOGRAD_2X2_S2) s.stride_h = s.stride_w = 2;
  if (panels && special) s.groups = 2, s.transposed = 1, s.stride_h = 2, s.stride_w = 3;
  if (algorithm >= OCTET_CONV_WINOGRAD_2X2 && algorithm != OCTET_CONV_GROUPED && special)
    s.in_channels = 40;
  const int32_t zero_point = variant == Variant::kU8                                  ? 128
                             : variant == Variant::kU4                                ? 8
                             : special && (panels || algorithm == OCTET_CONV_GROUPED) ? 5
                                                                                      : 0;
  f.type = variant == Variant::kU8 ? OCTET_U8 : variant == Variant::kU4 ? OCTET_U4 : OCTET_S8;
  f.zero_points = &zero_point;
  f.zero_point_count = 1;
  f.algorithm = algorithm;
  f.accuracy = OCTET_ACCURACY_APPROXIMATE;
  const std::vector<uint8_t> weights =
      some_weights(s.out_channels * s.kernel_h * s.kernel_w * (s.in_channels / s.groups));
  f.data = weights.data();
  return packed(
      true,
      [&](size_t* bytes, octet_error* e) { return octet_conv2d_pack_size(&f, isa, bytes, e); },
      [&](void* to, size_t bytes, octet_error* e) {
        return octet_conv2d_pack(&f, isa, to, bytes, e);
      });
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> list = [] {
    std::vector<Sample> all;
    for (const octet_type type : {OCTET_S4, OCTET_U4})
      for (const octet_type scale_type : {OCTET_F16, OCTET_F32})
        for (const bool zero_points : {false, true})
          for (int i = 0; i < 8; ++i)  // as often as the samples of tiers
            all.push_back(packed_scale_blocks(type, scale_type, zero_points, i % 2));
    for (const octet_type scale_type : {OCTET_F16, OCTET_F32})
      for (int i = 0; i < 8; ++i)
        all.push_back(packed_scale_blocks(OCTET_S8, scale_type, false, i % 2));
    for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i) {
      const auto isa = (octet_isa)tier->tier_id;
      for (const octet_type type : {OCTET_S8, OCTET_U8, OCTET_S4, OCTET_U4})
        for (const bool zero_points : {false, true})
          all.push_back(packed_matrices(isa, type, zero_points));
      for (const size_t rows : {0, 4}) all.push_back(packed_sparse(isa, rows));
      for (int a = OCTET_CONV_DIRECT; a <= OCTET_CONV_GROUPED; ++a)
        for (int v = 0; v < (int)Variant::kCount; ++v)
          all.push_back(packed_filter(isa, (octet_conv_algorithm)a, (Variant)v));
    }
    return all;
  }();
  return list;
}

}  // namespace
}  // namespace octet_fuzz
