// SPDX-License-Identifier: Apache-2.0
// Checks machines that callers describe, and limits to the packed bytes: they decide the plan, and
// never change a byte of output.
#include <set>

#include "octet/tune.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

// ---- callers' machines

// Without data.
octet_filter_desc filter_of(const octet_conv2d_shape& shape) {
  octet_filter_desc desc = OCTET_FILTER_DESC_INIT;
  desc.shape = shape;
  desc.type = OCTET_S8;
  return desc;
}

struct Explained {
  std::vector<octet_conv2d_candidate> candidates;
  const octet_conv2d_candidate* chosen = nullptr;
};

Explained explain(const octet_filter_desc& filter, octet_isa isa) {
  Explained e;
  octet_conv2d_candidate c = OCTET_CONV2D_CANDIDATE_INIT;
  octet_error error = {};
  while (octet_conv2d_explain(&filter, isa, e.candidates.size(), &c, &error) == OCTET_OK)
    e.candidates.push_back(c);
  EXPECT_FALSE(e.candidates.empty()) << error.message;
  for (const octet_conv2d_candidate& candidate : e.candidates)
    if (candidate.chosen) e.chosen = &candidate;
  return e;
}

size_t pack_size(const octet_filter_desc& filter, octet_isa isa) {
  size_t bytes = 0;
  octet_error error = {};
  EXPECT_EQ(octet_conv2d_pack_size(&filter, isa, &bytes, &error), OCTET_OK) << error.message;
  return bytes;
}

TEST(GivenMachine, NonsenseIsRefused) {
  const auto expect_each_refuses = [](octet_status status, const std::string& field,
                                      const octet_machine& m) {
    octet_filter_desc filter = filter_of(square(8, 16, 16, 3, 1, 1));
    filter.machine = &m;
    octet_gemm_desc product = OCTET_GEMM_DESC_INIT;
    product.m_max = product.n = product.k = 8;
    product.lhs_type = OCTET_U8, product.rhs_type = OCTET_S8, product.dst_type = OCTET_S32;
    product.machine = &m;
    size_t bytes;
    octet_gemm* gemm;
    octet_gemm_explanation explanation = OCTET_GEMM_EXPLANATION_INIT;
    expect_refused(status, ("filter.machine." + field).c_str(), [&](octet_error* e) {
      return octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, e);
    });
    expect_refused(status, ("desc.machine." + field).c_str(),
                   [&](octet_error* e) { return octet_gemm_create(&product, &gemm, e); });
    expect_refused(status, ("desc.machine." + field).c_str(), [&](octet_error* e) {
      return octet_gemm_explain(&product, 1, &explanation, e);
    });
    const int8_t weights[16 * 16 * 9] = {};
    filter.data = weights;
    filter.machine = nullptr;
    const size_t blob_bytes = pack_size(filter, OCTET_ISA_AUTO);
    const Guarded blob(blob_bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob.data(), blob_bytes, nullptr),
              OCTET_OK);
    octet_conv2d_desc layer = OCTET_CONV2D_DESC_INIT;
    layer.shape = filter.shape;
    layer.lhs_type = OCTET_U8, layer.rhs_type = OCTET_S8, layer.dst_type = OCTET_S32;
    layer.packed = blob.data(), layer.packed_bytes = blob_bytes;
    layer.machine = &m;
    octet_conv2d* conv;
    expect_refused(status, ("desc.machine." + field).c_str(),
                   [&](octet_error* e) { return octet_conv2d_create(&layer, &conv, e); });
  };
  const size_t too_large = (size_t{1} << 31) + 1;
  for (const size_t l2 : {size_t{0}, size_t{1}, size_t{4095}, too_large, SIZE_MAX})
    expect_each_refuses(OCTET_BAD_SIZE, "l2_bytes", machine_of(l2, 0));
  for (const size_t l3 : {size_t{1}, size_t{4095}, too_large, SIZE_MAX})
    expect_each_refuses(OCTET_BAD_SIZE, "l3_bytes", machine_of(1 << 18, l3));
  for (const int in_order : {-1, 2})
    expect_each_refuses(OCTET_UNKNOWN_ENUM, "in_order", machine_of(1 << 18, 0, in_order));
  octet_machine m = machine_of(1 << 18, 0);
  for (const int design : {-1, OCTET_DESIGN_NEOVERSE_V2 + 1}) {
    m.design = (octet_cpu_design)design;
    expect_each_refuses(OCTET_UNKNOWN_ENUM, "design", m);
  }
  // A message names wrong fields before missing ones.
  m = machine_of(0, 0);
  m.design = (octet_cpu_design)99;
  expect_each_refuses(OCTET_UNKNOWN_ENUM, "design", m);
  expect_each_refuses(OCTET_UNKNOWN_ENUM, "in_order", machine_of(0, 0, 7));
  // A machine with a tuning has all sizes or none.
  octet_tuning* tuning = nullptr;
  if (octet_tuning_create(&tuning, nullptr) == OCTET_OK) {
    for (octet_machine part : {machine_of(0, 0, 1), machine_of(0, 1 << 20)}) {
      part.tuning = tuning;
      expect_each_refuses(OCTET_BAD_SIZE, "l2_bytes is 0", part);
      part.tuning = nullptr;
    }
    octet_tuning_destroy(tuning);
  }
  m = machine_of(1 << 18, 0);
  m.struct_size = 0;
  expect_each_refuses(OCTET_BAD_STRUCT_SIZE, "struct_size", m);
}

const octet_machine kMachines[] = {machine_of(4096, 0), machine_of(128 << 10, 0, 1),
                                   machine_of(512 << 10, 4 << 20, 1),
                                   machine_of(size_t{1} << 31, size_t{1} << 31)};

// The test does not depend on this machine: weights are packed for any tier.
TEST(GivenMachine, DecidesBetweenAlgorithms) {
  size_t decided = 0;
  for (const octet_isa isa : all_tiers()) {
    std::set<octet_conv_algorithm> chosen;
    for (const octet_machine& m : kMachines) {
      octet_filter_desc filter = filter_of(square(7, 512, 512, 3, 1, 1));
      filter.machine = &m;
      chosen.insert(explain(filter, isa).chosen->algorithm);
    }
    decided += chosen.size() > 1;
  }
  EXPECT_GT(decided, 1u);
}

TEST(GivenMachine, SmallerOnesAreSlower) {
  const octet_machine small = machine_of(64 << 10, 0), in_order = machine_of(64 << 10, 0, 1),
                      large = machine_of(64 << 20, 0);
  for (const octet_isa isa : tiers_to_test()) {
    octet_filter_desc filter = filter_of(square(28, 256, 256, 3, 1, 1));
    const auto microseconds = [&](const octet_machine& m) {
      filter.machine = &m;
      return explain(filter, isa).candidates[0].microseconds;
    };
    EXPECT_LT(microseconds(large), microseconds(small));
    EXPECT_LT(microseconds(small), microseconds(in_order));
  }
}

TEST(GivenMachine, CutsTheBlocksOfAProduct) {
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = 100000, desc.n = 64, desc.k = 1024;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  const auto rows = [&](size_t l2) {
    const octet_machine m = machine_of(l2, 0);
    desc.machine = &m;
    octet_gemm_explanation e = OCTET_GEMM_EXPLANATION_INIT;
    EXPECT_EQ(octet_gemm_explain(&desc, 1, &e, nullptr), OCTET_OK);
    return e.block_rows;
  };
  EXPECT_LT(rows(64 << 10), rows(1 << 20));
}

TEST(GivenMachine, CutsTheBandsOfAConvolution) {
  const ConvProblem problem(turned(square(8, 16, 16, 3, 1, 1), 0));
  for (const octet_machine& m : kMachines) {
    ConvHow how;
    how.machine = &m;
    const Conv conv(problem, how);
    ASSERT_EQ(conv.status(), OCTET_OK);
    EXPECT_EQ(octet::choice_of(*conv.get()).cache_bytes, m.l2_bytes);
  }
}

std::vector<octet_conv2d_shape> shapes() {
  octet_conv2d_shape transposed = square(9, 16, 24, 3, 2, 1);
  transposed.transposed = 1;
  return {square(9, 40, 24, 3, 1, 1),      square(12, 16, 48, 3, 2, 1), square(7, 64, 64, 1),
          square(10, 32, 32, 3, 1, 1, 32), square(9, 3, 20, 5, 2, 2),   transposed};
}

// The blob and the kernels may differ; the output bytes may not.
TEST(GivenMachine, NeverChangesAByte) {
  uint32_t turn = 0;
  std::set<std::string> choices;
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_isa isa : tiers_to_test()) {
      const ConvProblem problem(turned(shape, ++turn));
      for (const octet_machine& m : kMachines) {
        ConvHow how;
        how.isa = isa, how.machine = &m;
        SCOPED_TRACE(testing::Message() << problem.c << ", " << how);
        check(problem, how);
        octet_filter_desc filter = problem.filter_desc();
        filter.machine = &m;
        choices.insert(explain(filter, isa).chosen->choice);
      }
    }
  EXPECT_GT(choices.size(), shapes().size() * tiers_to_test().size());
}

// ---- a limit to the packed bytes

octet_machine known_machine() {
  octet_machine m = machine_of(512 << 10, 8 << 20);
  m.design = OCTET_DESIGN_ZEN3;
  return m;
}

TEST(PackedBytesMax, CandidatesTellTheirSize) {
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_isa isa : tiers_to_test()) {
      octet_filter_desc filter = filter_of(shape);
      for (const octet_conv2d_candidate& c : explain(filter, isa).candidates) {
        EXPECT_EQ(c.packed_bytes != 0, c.possible != 0) << c.reason;
        filter.algorithm = c.algorithm;
        if (c.possible) {
          EXPECT_EQ(c.packed_bytes, pack_size(filter, isa));
        }
        filter.algorithm = OCTET_CONV_AUTO;
      }
    }
}

TEST(PackedBytesMax, TheBestThatFitsIsTaken) {
  size_t ruled_out = 0;
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_isa isa : tiers_to_test()) {
      const octet_machine known = known_machine();  // else Winograd needs a clear lead
      octet_filter_desc filter = filter_of(shape);
      filter.machine = &known;
      const Explained free = explain(filter, isa);
      std::set<size_t> sizes;
      for (const octet_conv2d_candidate& c : free.candidates)
        if (c.possible) sizes.insert(c.packed_bytes);
      const ConvProblem problem(turned(shape, ++turn));
      for (const size_t bytes : sizes)
        for (const size_t limit : {bytes, bytes + 1, bytes * 2}) {
          filter.packed_bytes_max = limit;
          const Explained within = explain(filter, isa);
          EXPECT_LE(pack_size(filter, isa), limit);
          EXPECT_EQ(pack_size(filter, isa), within.chosen->packed_bytes);
          for (size_t i = 0; i < free.candidates.size(); ++i) {
            const octet_conv2d_candidate &was = free.candidates[i], &is = within.candidates[i];
            EXPECT_EQ(is.packed_bytes, was.packed_bytes);
            EXPECT_EQ(is.possible, was.possible && was.packed_bytes <= limit);
            if (is.possible) {
              EXPECT_LE(within.chosen->microseconds, is.microseconds);
            } else if (was.possible) {
              ++ruled_out;
              EXPECT_NE(std::string(is.reason).find(std::to_string(was.packed_bytes) + " bytes"),
                        std::string::npos)
                  << is.reason;
              EXPECT_NE(std::string(is.reason).find("filter.packed_bytes_max"), std::string::npos);
            }
          }
        }
      ConvHow how;
      how.isa = isa;
      for (const octet_conv2d_candidate& c : explain(problem.filter_desc(), isa).candidates) {
        if (!c.possible) continue;
        how.packed_bytes_max = c.packed_bytes;
        check(problem, how);
      }
    }
  EXPECT_GT(ruled_out, 0u);
}

TEST(PackedBytesMax, WhereNoneFitsTheLeastIsTold) {
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_isa isa : tiers_to_test()) {
      octet_filter_desc filter = filter_of(shape);
      size_t least = SIZE_MAX;
      for (const octet_conv2d_candidate& c : explain(filter, isa).candidates)
        if (c.possible) least = std::min(least, c.packed_bytes);
      for (const size_t limit : {size_t{1}, least / 2, least - 1}) {
        filter.packed_bytes_max = limit;
        size_t bytes;
        const std::string said = "to is " + std::to_string(least) + " bytes";
        expect_refused(OCTET_BAD_SIZE, said.c_str(), [&](octet_error* e) {
          return octet_conv2d_pack_size(&filter, isa, &bytes, e);
        });
        octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
        expect_refused(OCTET_BAD_SIZE, "filter.packed_bytes_max", [&](octet_error* e) {
          return octet_conv2d_explain(&filter, isa, 0, &candidate, e);
        });
      }
      filter.packed_bytes_max = least;
      EXPECT_EQ(pack_size(filter, isa), least);
    }
}

TEST(PackedBytesMax, AForcedAlgorithmObeysIt) {
  for (const octet_isa isa : tiers_to_test()) {
    octet_filter_desc filter = filter_of(square(14, 64, 64, 3, 1, 1));
    filter.algorithm = OCTET_CONV_WINOGRAD_4X4;
    size_t bytes = pack_size(filter, isa);
    filter.packed_bytes_max = bytes;
    EXPECT_EQ(pack_size(filter, isa), bytes);
    filter.packed_bytes_max = bytes - 1;
    expect_refused(OCTET_UNSUPPORTED, "filter.packed_bytes_max",
                   [&](octet_error* e) { return octet_conv2d_pack_size(&filter, isa, &bytes, e); });
  }
}

}  // namespace
}  // namespace octet_test
