// SPDX-License-Identifier: Apache-2.0
// Checks filters of 4 bits: every algorithm on every tier, blobs, zero points, what is refused.
#include <algorithm>
#include <set>
#include <string>

#include "octet/sparse.h"
#include "support/conv_case.h"
#include "support/refused.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

constexpr octet_type kTypes[] = {OCTET_S4, OCTET_U4};

// A shape that the algorithm takes, with an odd number of weights where it takes one.
octet_conv2d_shape shape_for(octet_conv_algorithm algorithm) {
  switch (algorithm) {
    case OCTET_CONV_DEPTHWISE: return square(7, 21, 21, 3, 1, 1, 21);
    case OCTET_CONV_GROUPED: return square(7, 24, 24, 3, 1, 1, 3);
    case OCTET_CONV_WINOGRAD_2X2_S2: return square(9, 19, 21, 3, 2, 1);
    default: return square(7, 19, 21, 3, 1, 1);
  }
}

ConvCase case_of(octet_type type, const octet_conv2d_shape& shape, FilterZeroPoints zero_points) {
  ConvCase c;
  c.shape = shape, c.rhs = type, c.filter_zero_points = zero_points;
  c.accuracy = OCTET_ACCURACY_APPROXIMATE;
  c.dst = OCTET_S32;
  return c;
}

std::vector<uint8_t> packed(const octet_filter_desc& d, octet_isa isa) {
  octet_error error = {};
  size_t bytes = 0;
  EXPECT_EQ(octet_conv2d_pack_size(&d, isa, &bytes, &error), OCTET_OK) << error.message;
  Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_conv2d_pack(&d, isa, blob.data(), bytes, &error), OCTET_OK) << error.message;
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  EXPECT_EQ(octet_blob_get_info(blob.data(), bytes, &info, &error), OCTET_OK) << error.message;
  EXPECT_EQ(info.type, d.type);
  return {blob.data(), blob.data() + bytes};
}

// The blob without its head, which says the type.
std::vector<uint8_t> payload(const std::vector<uint8_t>& blob) {
  constexpr size_t kHead = 512;
  EXPECT_GT(blob.size(), kHead);
  return {blob.begin() + kHead, blob.end()};
}

// The weights of the problem as bytes, in its order.
std::vector<uint8_t> as_bytes(const ConvProblem& problem, int32_t less) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < problem.filter.size(); ++i) {
    const int nibble = problem.stored()[i / 2] >> i % 2 * 4 & 15;
    bytes.push_back((uint8_t)((problem.c.rhs == OCTET_S4 ? (nibble ^ 8) - 8 : nibble) - less));
  }
  return bytes;
}

TEST(Int4Filter, IsTheSameFilterInInt8) {
  for (const octet_isa isa : tiers_to_test())
    for (const octet_type type : kTypes)
      for (int a = OCTET_CONV_DIRECT; a <= OCTET_CONV_GROUPED; ++a)
        for (int order = OCTET_OHWI; order <= OCTET_IOHW; ++order)
          for (const FilterZeroPoints zeros :
               {FilterZeroPoints::kCentre, FilterZeroPoints::kChannel}) {
            const auto algorithm = (octet_conv_algorithm)a;
            if (algorithm == OCTET_CONV_WINOGRAD_2X2_INT8 && zeros != FilterZeroPoints::kCentre)
              continue;
            ConvCase c = case_of(type, shape_for(algorithm), zeros);
            c.order = (octet_filter_order)order;
            const ConvProblem problem(c);
            octet_filter_desc int4 = problem.filter_desc();
            int4.algorithm = algorithm;
            const int32_t less = type == OCTET_U4 ? 8 : 0;
            const std::vector<uint8_t> weights = as_bytes(problem, less);
            std::vector<int32_t> zero_points = problem.filter_zero_points;
            for (int32_t& zero_point : zero_points) zero_point -= less;
            octet_filter_desc int8 = int4;
            int8.type = OCTET_S8, int8.data = weights.data();
            int8.zero_points = zero_points.data();
            EXPECT_EQ(payload(packed(int4, isa)), payload(packed(int8, isa)))
                << octet_isa_name(isa) << ' ' << octet_conv_algorithm_name(algorithm) << ' ' << c;
          }
}

TEST(Int4Filter, EveryAlgorithmRuns) {
  std::set<octet_conv_algorithm> ran;
  for (const octet_type type : kTypes)
    for (int a = OCTET_CONV_DIRECT; a <= OCTET_CONV_GROUPED; ++a) {
      if (a == OCTET_CONV_WINOGRAD_2X2_INT8)
        continue;  // approximate: its weights are compared above
      const auto algorithm = (octet_conv_algorithm)a;
      for (const FilterZeroPoints zeros : {FilterZeroPoints::kNone, FilterZeroPoints::kCentre,
                                           FilterZeroPoints::kChannel, FilterZeroPoints::kFar}) {
        ConvCase c = case_of(type, shape_for(algorithm), zeros);
        c.accuracy = OCTET_ACCURACY_EXACT;
        const ConvProblem problem(c);
        for (const octet_isa isa : tiers_to_test())
          for (const octet_conv_algorithm possible : possible_algorithms(problem, isa)) {
            if (possible != algorithm) continue;
            ConvHow how;
            how.isa = isa, how.algorithm = algorithm;
            check(problem, how);
            if (HasFatalFailure()) return;
            ran.insert(algorithm);
          }
      }
    }
  EXPECT_EQ(ran.size(), 7u);
}

TEST(Int4Filter, TransposedAndJoinedGroups) {
  for (const octet_type type : kTypes)
    for (const size_t groups : {1, 3, 5})
      for (const size_t kernel : {1, 2, 3}) {
        octet_conv2d_shape shape = square(5, 3 * groups, 7 * groups, kernel, 2, 0, groups);
        for (shape.transposed = 0; shape.transposed < 2; ++shape.transposed) {
          ConvCase c = case_of(type, shape, FilterZeroPoints::kChannel);
          c.accuracy = OCTET_ACCURACY_EXACT;
          EXPECT_GT(check_every_way(c), 0u);
          if (HasFatalFailure()) return;
        }
      }
}

// Zero points of 8 need no kernels for weights with zero points.
TEST(Int4Filter, CentredWeightsTakeTheKernelsOfInt8) {
  for (const octet_conv_algorithm algorithm : {OCTET_CONV_DEPTHWISE, OCTET_CONV_GROUPED})
    for (const octet_isa isa : tiers_to_test()) {
      std::set<std::string> kernels;
      for (const octet_type type : {OCTET_S8, OCTET_S4, OCTET_U4}) {
        const ConvProblem problem(case_of(type, shape_for(algorithm), FilterZeroPoints::kCentre));
        ConvHow how;
        how.isa = isa, how.algorithm = algorithm;
        const Conv conv(problem, how);
        ASSERT_EQ(conv.status(), OCTET_OK);
        kernels.insert(octet_conv2d_kernel(conv.get()));
      }
      EXPECT_EQ(kernels.size(), 1u) << octet_isa_name(isa);
    }
}

TEST(Int4Filter, BadInput) {
  for (const octet_type type : kTypes) {
    const ConvProblem problem(case_of(type, square(7, 19, 21, 3, 1, 1), FilterZeroPoints::kCentre));
    const octet_filter_desc good = problem.filter_desc();
    const auto refuses = [](octet_status status, const char* argument, const octet_filter_desc& d) {
      expect_refused(status, argument, [&](octet_error* e) {
        size_t bytes;
        return octet_conv2d_pack_size(&d, OCTET_ISA_AUTO, &bytes, e);
      });
    };
    for (const octet_sparsity sparsity : {OCTET_SPARSE_2_4, OCTET_SPARSE_AUTO}) {
      octet_filter_desc d = good;
      d.sparsity = sparsity;
      refuses(OCTET_UNSUPPORTED, "filter.type", d);
    }
    for (const int32_t wrong : {type == OCTET_S4 ? -9 : -1, type == OCTET_S4 ? 8 : 16}) {
      octet_filter_desc d = good;
      d.zero_points = &wrong, d.zero_point_count = 1;
      refuses(OCTET_BAD_ZERO_POINT, "filter.zero_points", d);
    }
    std::vector<uint8_t> pruned(problem.filter.size());
    expect_refused(OCTET_UNSUPPORTED, "filter.type", [&](octet_error* e) {
      return octet_sparse_prune_filter(&good, pruned.data(), nullptr, e);
    });

    // The blob may follow the last nibble, and overlaps the one before
    size_t bytes = 0;
    ASSERT_EQ(octet_conv2d_pack_size(&good, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
    const size_t nibbles = problem.stored().size();
    const Guarded room(bytes + OCTET_ALIGNMENT + nibbles, Side::kBack, OCTET_ALIGNMENT);
    uint8_t* const blob =
        room.data() + (nibbles + OCTET_ALIGNMENT - 1) / OCTET_ALIGNMENT * OCTET_ALIGNMENT;
    octet_filter_desc d = good;
    d.data = blob - nibbles;
    std::copy_n(problem.stored().data(), nibbles, blob - nibbles);
    EXPECT_EQ(octet_conv2d_pack(&d, OCTET_ISA_AUTO, blob, bytes, nullptr), OCTET_OK);
    octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
    desc.shape = good.shape;
    desc.lhs_type = OCTET_U8, desc.rhs_type = type, desc.dst_type = OCTET_S32;
    desc.packed = blob, desc.packed_bytes = bytes;
    octet_conv2d* conv = nullptr;
    for (const octet_type other : {OCTET_S8, type == OCTET_S4 ? OCTET_U4 : OCTET_S4}) {
      desc.rhs_type = other;
      expect_refused(OCTET_BAD_BLOB, "desc.packed",
                     [&](octet_error* e) { return octet_conv2d_create(&desc, &conv, e); });
    }
    d.data = blob - nibbles + 1;
    expect_refused(OCTET_OVERLAP, "filter.data", [&](octet_error* e) {
      return octet_conv2d_pack(&d, OCTET_ISA_AUTO, blob, bytes, e);
    });
  }
}

}  // namespace
}  // namespace octet_test
