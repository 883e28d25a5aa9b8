// SPDX-License-Identifier: Apache-2.0
// Checks that octet_conv2d_explain reports every algorithm, and that pack and create do as it says.
#include <algorithm>
#include <cmath>

#include "dispatch/tables/tiers.h"
#include "support/conv_case.h"
#include "support/refused.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

struct Candidates {
  std::vector<octet_conv2d_candidate> list;
  octet_status end = OCTET_OK;
};

Candidates explain(const octet_filter_desc& filter, octet_isa isa) {
  Candidates out;
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  octet_error error = {};
  while ((out.end = octet_conv2d_explain(&filter, isa, out.list.size(), &candidate, &error)) ==
             OCTET_OK &&
         out.list.size() < 100)
    out.list.push_back(candidate);
  return out;
}

std::vector<ConvCase> cases() {
  octet_conv2d_shape dilated = square(13, 24, 24, 3, 1, 2), transposed = square(7, 16, 16, 3, 2, 1),
                     line = square(1, 20, 30, 1);
  dilated.dilation_h = dilated.dilation_w = 2;
  transposed.transposed = 1;
  line.in_w_max = 100, line.kernel_w = 5;
  std::vector<ConvCase> out;
  for (const octet_conv2d_shape& s :
       {square(28, 64, 64, 3, 1, 1), square(14, 256, 256, 3, 1, 1), square(28, 64, 64, 3, 2, 1),
        square(7, 512, 128, 1), square(112, 3, 32, 3, 2, 1), square(28, 64, 64, 3, 1, 1, 64),
        square(28, 64, 64, 3, 1, 1, 2), square(28, 64, 128, 3, 2, 1, 64), square(1, 1, 1, 1),
        dilated, transposed, line}) {
    ConvCase c;
    c.shape = s;
    out.push_back(c);
    c.filter_zero_points = FilterZeroPoints::kChannel;
    out.push_back(c);
    c.filter_zero_points = FilterZeroPoints::kNone;
    c.accuracy = OCTET_ACCURACY_APPROXIMATE;
    out.push_back(c);
  }
  return out;
}

// The filter of a case without the reference's work.
struct Filter {
  explicit Filter(const ConvCase& c) {
    Random random(3);
    const octet_conv2d_shape& s = c.shape;
    weights.resize(s.out_channels * s.kernel_h * s.kernel_w * s.in_channels / s.groups);
    for (uint8_t& w : weights) w = (uint8_t)random();
    desc.shape = s;
    desc.type = OCTET_S8;
    desc.data = weights.data();
    desc.accuracy = c.accuracy;
    if (c.filter_zero_points == FilterZeroPoints::kChannel) {
      zero_points.assign(s.out_channels, 5);
      desc.zero_points = zero_points.data();
      desc.zero_point_count = zero_points.size();
    }
  }
  std::vector<uint8_t> weights;
  std::vector<int32_t> zero_points;
  octet_filter_desc desc = OCTET_FILTER_DESC_INIT;
};

// Weights may be packed for the tier, but this library cannot run them.
TEST(ConvExplain, OfTiersThatAreNotCompiledInThereAreNoKernels) {
  octet_cpu_info cpu = OCTET_CPU_INFO_INIT;
  ASSERT_EQ(octet_get_cpu_info(&cpu, nullptr), OCTET_OK);
  ConvCase c;
  c.shape = square(32, 8, 8, 3, 1, 1, 2);  // the portable tier multiplies it in groups
  const Filter filter(c);
  for (const octet_isa isa : all_tiers()) {
    if (cpu.compiled_isas & 1u << isa) continue;
    SCOPED_TRACE(octet_isa_name(isa));
    size_t possible = 0;
    for (const octet_conv2d_candidate& x : explain(filter.desc, isa).list) {
      possible += x.possible != 0;
      EXPECT_EQ(x.kernel, nullptr) << x.kernel;
      EXPECT_STREQ(x.choice, "");
    }
    EXPECT_GT(possible, 1u);
  }
}

TEST(ConvExplain, EveryCandidateIsAccountedFor) {
  for (const ConvCase& c : cases())
    for (const octet_isa isa : tiers_to_test()) {
      SCOPED_TRACE(testing::Message() << octet_isa_name(isa) << ": " << c);
      const Filter filter(c);
      const Candidates candidates = explain(filter.desc, isa);
      EXPECT_EQ(candidates.end, OCTET_BAD_SIZE);
      ASSERT_FALSE(candidates.list.empty());
      int chosen = 0;
      std::vector<octet_conv_algorithm> seen;
      for (const octet_conv2d_candidate& x : candidates.list) {
        SCOPED_TRACE(octet_conv_algorithm_name(x.algorithm));
        EXPECT_NE(x.algorithm, OCTET_CONV_AUTO);
        EXPECT_STRNE(octet_conv_algorithm_name(x.algorithm), "unknown");
        EXPECT_EQ(std::count(seen.begin(), seen.end(), x.algorithm), 0) << "listed twice";
        seen.push_back(x.algorithm);
        ASSERT_NE(std::memchr(x.reason, 0, sizeof x.reason), nullptr);
        EXPECT_NE(x.reason[0], 0) << "no reason given";
        chosen += x.chosen != 0;
        if (x.possible) {
          ASSERT_NE(x.kernel, nullptr);
          EXPECT_TRUE(is_allowed(tier_of(x.kernel), isa));
          octet::Choice choice = {};
          EXPECT_EQ(octet::from_text(x.choice, &choice, nullptr), OCTET_OK) << x.choice;
          EXPECT_EQ(choice.algorithm, x.algorithm);
          EXPECT_STREQ(choice.kernel ? choice.kernel->name : "", x.kernel);
          EXPECT_GT(x.macs, 0);
          EXPECT_GT(x.bytes, 0);
          EXPECT_GT(x.microseconds, 0);
          EXPECT_GT(x.compute_microseconds, 0);
          EXPECT_TRUE(std::isfinite(x.microseconds));
          for (const double part :
               {x.compute_microseconds, x.memory_microseconds, x.transform_microseconds}) {
            EXPECT_GE(part, 0);
            EXPECT_LE(part, x.microseconds * 1.000001);
          }
          if (x.algorithm <= OCTET_CONV_IM2COL) {
            EXPECT_GT(x.memory_microseconds, 0);
          }
          const bool copies = x.algorithm == OCTET_CONV_IM2COL && c.shape.kernel_w > 1,
                     transforms = x.algorithm >= OCTET_CONV_WINOGRAD_2X2;
          if (copies || transforms) {
            EXPECT_GT(x.transform_microseconds, 0);
          }
        } else {
          EXPECT_EQ(x.kernel, nullptr);
          EXPECT_STREQ(x.choice, "");
          EXPECT_EQ(x.chosen, 0);
          EXPECT_EQ(x.microseconds, 0);
        }
      }
      EXPECT_EQ(chosen, 1);
      for (const octet_conv_algorithm algorithm : {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL})
        EXPECT_EQ(std::count(seen.begin(), seen.end(), algorithm), 1);
    }
}

// Pairs of an output position and a tap that lie inside the image, along one axis.
size_t inside(size_t in, size_t out, size_t kernel, size_t stride, size_t dilation, size_t before) {
  size_t count = 0;
  for (size_t y = 0; y < out; ++y)
    for (size_t k = 0; k < kernel; ++k) count += y * stride + k * dilation - before < in;
  return count;
}

// All algorithms but Winograd do at least the products of the definition that are not with padding.
TEST(ConvExplain, ProductsAreNotUnderstated) {
  for (const ConvCase& c : cases()) {
    const Filter filter(c);
    const octet_conv2d_shape& s = c.shape;
    if (s.transposed) continue;
    size_t out_h = 0, out_w = 0;
    ASSERT_EQ(octet_conv2d_output_size(&s, s.in_h_max, s.in_w_max, &out_h, &out_w, nullptr),
              OCTET_OK);
    const double macs =
        (double)(inside(s.in_h_max, out_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top) *
                 inside(s.in_w_max, out_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left) *
                 s.out_channels * s.in_channels / s.groups);
    for (const octet_conv2d_candidate& x : explain(filter.desc, OCTET_ISA_AUTO).list) {
      if (!x.possible) continue;
      if (x.algorithm == OCTET_CONV_DIRECT || x.algorithm == OCTET_CONV_IM2COL ||
          x.algorithm == OCTET_CONV_DEPTHWISE) {
        EXPECT_GE(x.macs, macs * 0.999999) << octet_conv_algorithm_name(x.algorithm) << ": " << c;
      }
    }
  }
}

// The machine is known: on an unknown one Winograd needs a clear lead.
TEST(ConvExplain, PackTakesTheFastest) {
  octet_machine known = OCTET_MACHINE_INIT;
  known.l2_bytes = 512 << 10, known.l3_bytes = 8 << 20, known.design = OCTET_DESIGN_ZEN3;
  for (const ConvCase& c : cases())
    for (const octet_isa isa : tiers_to_test()) {
      SCOPED_TRACE(testing::Message() << octet_isa_name(isa) << ": " << c);
      Filter filter(c);
      filter.desc.machine = &known;
      octet_conv2d_candidate chosen = OCTET_CONV2D_CANDIDATE_INIT;
      double least_time = INFINITY;
      for (const octet_conv2d_candidate& x : explain(filter.desc, isa).list) {
        if (x.chosen) chosen = x;
        if (x.possible) least_time = std::min(least_time, x.microseconds);
      }
      EXPECT_EQ(chosen.microseconds, least_time);

      size_t bytes = 0;
      octet_error error = {};
      ASSERT_EQ(octet_conv2d_pack_size(&filter.desc, isa, &bytes, &error), OCTET_OK)
          << error.message;
      const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
      ASSERT_EQ(octet_conv2d_pack(&filter.desc, isa, blob.data(), bytes, &error), OCTET_OK)
          << error.message;
      octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
      d.shape = c.shape;
      d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8, d.dst_type = OCTET_S32;
      d.packed = blob.data(), d.packed_bytes = bytes, d.max_isa = isa;
      d.machine = &known;
      octet_conv2d* conv = nullptr;
      ASSERT_EQ(octet_conv2d_create(&d, &conv, &error), OCTET_OK) << error.message;
      EXPECT_EQ(octet_conv2d_algorithm(conv), chosen.algorithm);
      EXPECT_STREQ(octet_conv2d_kernel(conv), chosen.kernel);
      octet_conv2d_destroy(conv);
    }
}

// Algorithms that explain calls possible can be forced; the others are refused with
// OCTET_UNSUPPORTED and explain's reason.
TEST(ConvExplain, PossibleMeansThatItCanBeForced) {
  for (const ConvCase& c : cases())
    for (const octet_isa isa : tiers_to_test()) {
      SCOPED_TRACE(testing::Message() << octet_isa_name(isa) << ": " << c);
      const Filter filter(c);
      for (const octet_conv2d_candidate& x : explain(filter.desc, isa).list) {
        octet_filter_desc forced = filter.desc;
        forced.algorithm = x.algorithm;
        size_t bytes = 0;
        octet_error error = {};
        const octet_status status = octet_conv2d_pack_size(&forced, isa, &bytes, &error);
        EXPECT_EQ(octet_status_name(status),
                  std::string(octet_status_name(x.possible ? OCTET_OK : OCTET_UNSUPPORTED)))
            << octet_conv_algorithm_name(x.algorithm) << error.message;
        if (x.possible) continue;
        EXPECT_NE(std::string(error.message).find(x.reason), std::string::npos)
            << error.message << " / " << x.reason;
      }
    }
}

TEST(ConvExplain, NeedsNoWeights) {
  for (const ConvCase& c : cases()) {
    Filter filter(c);
    const Candidates known = explain(filter.desc, OCTET_ISA_AUTO);
    filter.desc.data = nullptr;
    const Candidates unknown = explain(filter.desc, OCTET_ISA_AUTO);
    EXPECT_EQ(unknown.end, OCTET_BAD_SIZE) << c;
    EXPECT_EQ(unknown.list.size(), known.list.size()) << c;
    EXPECT_EQ(std::count_if(unknown.list.begin(), unknown.list.end(),
                            [](const auto& x) { return x.chosen != 0; }),
              1)
        << c;
  }
}

// A smaller layer is not predicted to take longer, and predictions do not change from call to call.
TEST(ConvExplain, IsMonotoneAndRepeatable) {
  const auto time_of = [](const octet_conv2d_shape& shape, octet_conv_algorithm algorithm) {
    ConvCase c;
    c.shape = shape;
    Filter filter(c);
    for (const octet_conv2d_candidate& x : explain(filter.desc, OCTET_ISA_AUTO).list)
      if (x.algorithm == algorithm) return x.microseconds;
    return -1.0;
  };
  const octet_conv2d_shape small = square(14, 64, 64, 3, 1, 1), wide = square(14, 64, 256, 3, 1, 1),
                           deep = square(14, 256, 64, 3, 1, 1), large = square(56, 64, 64, 3, 1, 1);
  for (const octet_conv_algorithm algorithm :
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_WINOGRAD_2X2, OCTET_CONV_WINOGRAD_4X4}) {
    const double time = time_of(small, algorithm);
    ASSERT_GE(time, 0) << octet_conv_algorithm_name(algorithm);
    EXPECT_EQ(time, time_of(small, algorithm));
    for (const octet_conv2d_shape& more : {wide, deep, large})
      EXPECT_LT(time, time_of(more, algorithm)) << octet_conv_algorithm_name(algorithm);
  }
}

// Predictions count the output that the filter tells: transforms requantize in float mode only, and
// no kernel adds a residual. Floats cost as much as sums, their bytes, but behind Winograd. A tier
// whose epilogue was not measured plans as if it cost nothing.
TEST(ConvExplain, CountsTheOutput) {
  for (const octet_isa isa : tiers_to_test()) {
    SCOPED_TRACE(octet_isa_name(isa));
    const bool measured = octet::tier_of((octet::TierId)isa).costs.epilogue > 0;
    ConvCase c;
    c.shape = square(16, 16, 16, 3, 1, 1);
    Filter f(c);
    const Candidates unknown = explain(f.desc, isa);
    f.desc.dst_type = OCTET_U8;
    const Candidates plain = explain(f.desc, isa);
    f.desc.dst_type = OCTET_F32;
    const Candidates floats = explain(f.desc, isa);
    f.desc.dst_type = OCTET_S32;
    const Candidates sums = explain(f.desc, isa);
    f.desc.dst_type = OCTET_U8;
    f.desc.requant = OCTET_REQUANT_DOUBLE;
    const Candidates in_double = explain(f.desc, isa);
    f.desc.requant = OCTET_REQUANT_TFLITE;
    const Candidates tflite = explain(f.desc, isa);
    f.desc.has_residual = 1;
    const Candidates residual = explain(f.desc, isa);
    ASSERT_EQ(unknown.list.size(), plain.list.size());
    size_t winograds = 0;
    for (size_t i = 0; i < unknown.list.size(); ++i) {
      const octet_conv2d_candidate& u = unknown.list[i];
      if (!u.possible) continue;
      SCOPED_TRACE(octet_conv_algorithm_name(u.algorithm));
      const bool winograd =
          u.algorithm == OCTET_CONV_WINOGRAD_2X2 || u.algorithm == OCTET_CONV_WINOGRAD_4X4;
      winograds += winograd;
      EXPECT_EQ(u.microseconds, plain.list[i].microseconds);
      EXPECT_EQ(u.chosen, plain.list[i].chosen);
      EXPECT_EQ(floats.list[i].microseconds > sums.list[i].microseconds, measured && winograd);
      EXPECT_EQ(tflite.list[i].microseconds > u.microseconds, measured && winograd);
      EXPECT_EQ(residual.list[i].microseconds > u.microseconds, measured);
      EXPECT_EQ(in_double.list[i].microseconds, residual.list[i].microseconds);
      EXPECT_EQ(residual.list[i].microseconds == u.microseconds, !measured);
    }
    EXPECT_EQ(winograds, 2u);
  }
}

TEST(ConvExplain, BadOutputs) {
  const Filter good((ConvCase()));
  const auto refused = [&](octet_status status, const char* message, auto spoil) {
    octet_filter_desc filter = good.desc;
    spoil(&filter);
    octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
    octet_error error = {};
    EXPECT_EQ(octet_conv2d_explain(&filter, OCTET_ISA_AUTO, 0, &candidate, &error), status);
    EXPECT_STREQ(error.message, message);
  };
  refused(OCTET_UNKNOWN_ENUM, "filter.dst_type is 9, neither 0 nor an octet_type",
          [](octet_filter_desc* f) { f->dst_type = (octet_type)9; });
  refused(OCTET_UNKNOWN_ENUM, "filter.requant is 7, not an octet_requant",
          [](octet_filter_desc* f) { f->requant = (octet_requant)7; });
  refused(OCTET_UNKNOWN_ENUM, "filter.has_lut is 2, neither 0 nor 1",
          [](octet_filter_desc* f) { f->has_lut = 2; });
  refused(OCTET_UNSUPPORTED, "filter.has_residual is set, but filter.dst_type is 0, not s8 or u8",
          [](octet_filter_desc* f) { f->has_residual = 1; });
  refused(OCTET_UNSUPPORTED, "filter.requant is set, but filter.dst_type is f32, not s8 or u8",
          [](octet_filter_desc* f) {
            f->dst_type = OCTET_F32;
            f->requant = OCTET_REQUANT_TFLITE;
          });
}

TEST(ConvExplain, BadArguments) {
  ConvCase c;
  c.shape = square(9, 8, 8, 3, 1, 1);
  const Filter filter(c);
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  expect_refused(OCTET_NULL_POINTER, "filter", [&](octet_error* e) {
    return octet_conv2d_explain(nullptr, OCTET_ISA_AUTO, 0, &candidate, e);
  });
  expect_refused(OCTET_NULL_POINTER, "candidate", [&](octet_error* e) {
    return octet_conv2d_explain(&filter.desc, OCTET_ISA_AUTO, 0, nullptr, e);
  });
  const size_t count = explain(filter.desc, OCTET_ISA_AUTO).list.size();
  for (const size_t index : {count, count + 1, SIZE_MAX})
    expect_refused(OCTET_BAD_SIZE, "index", [&](octet_error* e) {
      return octet_conv2d_explain(&filter.desc, OCTET_ISA_AUTO, index, &candidate, e);
    });
  candidate.struct_size = 8;
  expect_refused(OCTET_BAD_STRUCT_SIZE, "candidate", [&](octet_error* e) {
    return octet_conv2d_explain(&filter.desc, OCTET_ISA_AUTO, 0, &candidate, e);
  });
  candidate.struct_size = sizeof candidate;
  octet_filter_desc bad = filter.desc;
  bad.shape.groups = 3;
  expect_refused(OCTET_BAD_SIZE, "shape.groups", [&](octet_error* e) {
    return octet_conv2d_explain(&bad, OCTET_ISA_AUTO, 0, &candidate, e);
  });
  octet_isa isa;
  set_raw(&isa, 31);
  expect_refused(OCTET_UNKNOWN_ENUM, "isa", [&](octet_error* e) {
    return octet_conv2d_explain(&filter.desc, isa, 0, &candidate, e);
  });
}

}  // namespace
}  // namespace octet_test
