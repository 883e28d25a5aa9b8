// SPDX-License-Identifier: Apache-2.0
// Checks measured choices: every measured candidate computes the same bytes, and a kept choice is
// found by its problem only.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "analysis/tune/conv_choices.h"
#include "analysis/tune/gemm_choices.h"
#include "dispatch/cpu/environment.h"
#include "octet/tune.h"
#include "operators/common/blob.h"
#include "operators/common/check.h"
#include "operators/conv/machine.h"
#include "operators/conv/tuning.h"
#include "operators/gemm/tuning.h"
#include "support/draw.h"
#include "support/random_case.h"
#include "support/refused.h"
#include "support/system.h"
#include "support/temporary_file.h"
#include "support/tiers.h"
#include "tune/predicted.h"

namespace octet_test {
namespace {

using octet::Choice;
using octet::Choices;

std::string text_of(const Choice& choice) {
  char text[octet::kChoiceBytes];
  octet::to_text(choice, text);
  return text;
}

// ---- what is enumerated

octet::ConvShape shape_of(const octet_conv2d_shape& s) {
  return {s.batch_max,  s.in_h_max,        s.in_w_max,         s.in_channels,     s.out_channels,
          s.groups,     s.kernel_h,        s.kernel_w,         s.stride_h,        s.stride_w,
          s.dilation_h, s.dilation_w,      s.pad_top,          s.pad_bottom,      s.pad_left,
          s.pad_right,  s.transposed != 0, s.output_padding_h, s.output_padding_w};
}

// Checks some of the choices, always the first.
template <typename Check>
void sample(Draw* d, const Choices& choices, size_t most, const Check& check) {
  for (size_t i = 0; i < choices.count; ++i)
    if (i == 0 || d->below(choices.count) < most) check(choices.list[i]);
}

TEST(Tune, NoByteOfAConvolutionDependsOnWhatIsMeasured) {
  size_t compared = 0;
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    Draw d(seed);
    const ConvProblem problem(random_conv(seed));
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, OCTET_ISA_AUTO)) {
      if (algorithm == OCTET_CONV_AUTO) continue;
      ConvHow how;
      how.algorithm = algorithm, how.concurrency = 1 + d.below(4);
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << problem.c << ": " << conv.error().message;
      ASSERT_EQ(conv.run(), OCTET_OK);
      const std::vector<uint8_t> bytes = conv.dst_bytes();
      const Choice plan = octet::choice_of(*conv.get());
      octet::Container blob;
      ASSERT_EQ(octet::read_head(conv.blob().data(), conv.blob().bytes(), &blob),
                octet::BlobProblem::kNone);
      const octet::ConvSpace space = {with_microarchitecture(octet::conv_machine().cpu),
                                      shape_of(problem.c.shape),
                                      octet::element_type_of(problem.c.lhs),
                                      octet::element_type_of(problem.c.rhs),
                                      element_bytes(problem.c.dst),
                                      problem.c.floats || d.one_in(2),
                                      how.concurrency};
      const octet::ConvFormat format = {algorithm, {plan.layout, blob.header.has_int8_min != 0}};
      auto choices = std::make_unique<Choices>(), near = std::make_unique<Choices>();
      octet::add_conv_choices(space, format, choices.get());
      ASSERT_GT(choices->count, 0u) << problem.c;
      const auto check = [&](const Choice& choice) {
        SCOPED_TRACE(testing::Message() << problem.c << ": " << text_of(choice));
        ASSERT_EQ(conv.choose(choice), OCTET_OK) << conv.error().message;
        ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
        ASSERT_EQ(conv.dst_bytes(), bytes);
        ++compared;
      };
      sample(&d, *choices, 3, check);
      octet::add_conv_choices_near(space, format, choices->list[d.below(choices->count)],
                                   near.get());
      if (near->count) sample(&d, *near, 3, check);
    }
  }
  EXPECT_GT(compared, 1000u) << "too little was measured to compare";
}

TEST(Tune, NoByteOfAProductDependsOnWhatIsMeasured) {
  size_t compared = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    Draw d(seed);
    GemmCase c = random_gemm(seed, nullptr);
    if (d.one_in(3)) c.m += 40, c.m_declared = 0;
    c.concurrency = 1 + d.below(4);
    Gemm gemm(c);
    ASSERT_EQ(gemm.status(), OCTET_OK) << c << ": " << gemm.error().message;
    ASSERT_EQ(gemm.run(), OCTET_OK);
    const std::vector<uint8_t> bytes = gemm.dst_bytes();
    const Choice plan = octet::choice_of(*gemm.get());
    // Weights count as having the int8 min unless they are known
    const octet::GemmSpace space = {
        with_microarchitecture(octet::this_machine().cpu),
        {c.m_declared ? c.m_declared : c.m, c.n_declared ? c.n_declared : c.n,
         c.k_declared ? c.k_declared : c.k,
         c.lhs_quant == OCTET_LHS_ASYMMETRIC ? octet::ElementType::kU8
                                             : octet::element_type_of(c.lhs),
         octet::element_type_of(c.rhs)},
        c.batch,
        {plan.layout, true},
        !c.runtime_rhs,
        !c.runtime_rhs,
        c.concurrency};
    auto choices = std::make_unique<Choices>(), near = std::make_unique<Choices>();
    octet::add_gemm_choices(space, choices.get());
    const auto check = [&](const Choice& choice) {
      SCOPED_TRACE(testing::Message() << c << ": " << text_of(choice));
      const octet_status status = gemm.choose(choice);
      if (status == OCTET_KERNEL_UNUSABLE) return;
      ASSERT_EQ(status, OCTET_OK) << gemm.error().message;
      ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
      ASSERT_EQ(gemm.dst_bytes(), bytes);
      ++compared;
    };
    if (!choices->count) continue;  // f32 rows may become a type without kernels
    sample(&d, *choices, 4, check);
    octet::add_gemm_choices_near(space, choices->list[0], near.get());
    if (near->count) sample(&d, *near, 4, check);
  }
  EXPECT_GT(compared, 500u) << "too little was measured to compare";
}

// ---- a convolution and a product to tune

// A clock that advances with each call, so that the winner does not depend on the machine.
struct Ticks {
  double now = 0;
  uint32_t random = 1;
  static double read(void* self) {
    Ticks& t = *(Ticks*)self;
    t.random = t.random * 1664525u + 1013904223u;
    return t.now += 0.01 + 0.001 * (t.random >> 24);
  }
};

octet_tune_options by(Ticks* ticks) {
  octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  options.clock = Ticks::read;
  options.clock_context = ticks;
  options.seconds = 5;
  return options;
}

struct DestroyTuning {
  void operator()(octet_tuning* tuning) const { octet_tuning_destroy(tuning); }
};
using TuningPointer = std::unique_ptr<octet_tuning, DestroyTuning>;
TuningPointer new_tuning() {
  octet_tuning* tuning = nullptr;
  EXPECT_EQ(octet_tuning_create(&tuning, nullptr), OCTET_OK);
  return TuningPointer(tuning);
}
std::string lines_of(const octet_tuning& tuning) { return {tuning.text, tuning.bytes}; }

// The origin of a convolution's choice that was not measured.
const char* predicted_here() {
  return octet_test::predicted(octet::tier_of(octet::best_of(octet::conv_machine().cpu.tiers)));
}

struct Layer {
  size_t channels;
  std::vector<int8_t> weights;
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  Guarded blob;

  explicit Layer(size_t c = 16) : channels(c), weights(c * c * 9, 3) {
    octet_conv2d_shape& s = filter.shape;
    s.in_h_max = s.in_w_max = 9;
    s.in_channels = s.out_channels = channels;
    s.kernel_h = s.kernel_w = 3;
    s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
    filter.type = OCTET_S8;
    filter.data = weights.data();
    desc.shape = s;
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  }
  // A choice of another algorithm than the plan's.
  Choice other() {
    Layer plain(channels);
    const octet_conv_algorithm plan = plain.make().algorithm;
    plain.filter.algorithm = plan == OCTET_CONV_IM2COL ? OCTET_CONV_DIRECT : OCTET_CONV_IM2COL;
    Choice choice = plain.make();
    choice.block *= 2;
    choice.cache_bytes /= 2;
    return choice;
  }
  octet_status pack(octet_error* error = nullptr) {
    size_t bytes = 0;
    if (const octet_status s = octet_conv2d_pack_size(&filter, desc.max_isa, &bytes, error))
      return s;
    blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    desc.packed = blob.data(), desc.packed_bytes = bytes;
    return octet_conv2d_pack(&filter, desc.max_isa, blob.data(), bytes, error);
  }
  // Packs and creates; returns the choice.
  Choice make() {
    octet_error error = {};
    EXPECT_EQ(pack(&error), OCTET_OK) << error.message;
    return create();
  }
  Choice create() {
    octet_error error = {};
    octet_conv2d* conv = nullptr;
    EXPECT_EQ(octet_conv2d_create(&desc, &conv, &error), OCTET_OK) << error.message;
    if (!conv) return {};
    const Choice choice = octet::choice_of(*conv);
    octet_conv2d_destroy(conv);
    return choice;
  }
  octet::TuningKey key() const {
    octet::Environment environment;
    EXPECT_EQ(octet::read_environment(&environment, nullptr), OCTET_OK);
    const auto tier = octet::best_of(octet::conv_machine().cpu.tiers & environment.allowed);
    octet::TuningKey key = octet::key_of_filter(tier, shape_of(desc.shape), filter.type);
    octet::add_conv(desc, &key);
    key.add(" zero_points=no");
    return key;
  }
  const char* origin() {
    octet_conv2d_candidate c = OCTET_CONV2D_CANDIDATE_INIT;
    for (size_t i = 0; octet_conv2d_explain(&filter, desc.max_isa, i, &c, nullptr) == OCTET_OK; ++i)
      if (c.chosen) return c.origin;
    return nullptr;
  }
};

struct Product {
  std::vector<int8_t> weights = std::vector<int8_t>(70 * 40, 3);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  Guarded blob;

  Product() {
    rhs.type = OCTET_S8, rhs.n = 70, rhs.k = 40, rhs.data = weights.data();
    size_t bytes = 0;
    EXPECT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
    blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
    desc.m_max = 50, desc.n = 70, desc.k = 40;
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
    desc.packed = blob.data(), desc.packed_bytes = bytes;
  }
  Choice make() {
    octet_error error = {};
    octet_gemm* gemm = nullptr;
    EXPECT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    if (!gemm) return {};
    const Choice choice = octet::choice_of(*gemm);
    octet_gemm_destroy(gemm);
    return choice;
  }
  Choice other() const {
    Product plain;
    Choice choice = plain.make();
    choice.block *= 3;
    choice.tasks = {1, 0};
    return choice;
  }
  octet::TuningKey key() const {
    const octet::CpuFeatures cpu = octet::this_machine().cpu;
    octet_blob_info info = OCTET_BLOB_INFO_INIT;
    EXPECT_EQ(octet_blob_get_info(blob.data(), blob.bytes(), &info, nullptr), OCTET_OK);
    return octet::key_of_gemm(cpu, info.form, desc);
  }
  octet_gemm_explanation explain() const {
    octet_gemm_explanation e = OCTET_GEMM_EXPLANATION_INIT;
    octet_error error = {};
    EXPECT_EQ(octet_gemm_explain(&desc, 1, &e, &error), OCTET_OK) << error.message;
    return e;
  }
};

std::string line(const octet::TuningKey& key, const Choice& choice, uint64_t saved_ns = 1000) {
  char text[octet::kTuningLineBytes];
  const size_t length = octet::write_tuning_line(key, choice, {2000, 2000 - saved_ns, 1}, text);
  return {text, length};
}

TuningPointer tuning_of(const std::string& text) {
  const TemporaryFile file(text);
  TuningPointer tuning = new_tuning();
  octet_error error = {};
  EXPECT_EQ(octet_tuning_load(tuning.get(), file.path(), nullptr, &error), OCTET_OK)
      << error.message;
  return tuning;
}

octet_machine machine_with(const octet_tuning* tuning) {
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.tuning = tuning;
  return machine;
}

// OCTET_TUNING for a scope.
class Variable {
 public:
  explicit Variable(const char* path) { setenv("OCTET_TUNING", path, 1); }
  ~Variable() { unsetenv("OCTET_TUNING"); }
};

// ---- measuring, by a clock that is no clock

TEST(Tune, AConvolutionIsMeasuredAndKept) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Layer layer;
    Ticks ticks = {0, seed};
    octet_tune_options options = by(&ticks);
    std::vector<std::string> told;
    options.watcher = [](void* told, const char* choice, double relative) {
      EXPECT_GT(relative, 0);
      ((std::vector<std::string>*)told)->push_back(choice);
    };
    options.watcher_context = &told;
    const TuningPointer tuning = new_tuning();
    octet_tune_result r = OCTET_TUNE_RESULT_INIT;
    octet_error error = {};
    ASSERT_EQ(octet_tune_conv2d(&layer.filter, &layer.desc, &options, tuning.get(), &r, &error),
              OCTET_OK)
        << error.message;
    EXPECT_EQ(r.plan, text_of(Layer().make())) << "the plan is what is created without tuning";
    EXPECT_LE(r.best_us, r.plan_us);
    EXPECT_LE(r.best_us, r.chosen_us);
    EXPECT_EQ(std::string(r.choice), r.changed ? r.best : r.plan);
    EXPECT_GT(r.candidates, 4u);
    EXPECT_GE(told.size(), r.candidates);
    // From here on pack and create take the kept choice.
    const octet_machine machine = machine_with(tuning.get());
    layer.filter.machine = layer.desc.machine = &machine;
    EXPECT_EQ(text_of(layer.make()), r.choice);
    EXPECT_STREQ(layer.origin(), "measured, on this machine");
  }
}

TEST(Tune, AProductIsMeasuredAndKept) {
  for (uint32_t seed = 1; seed <= 4; ++seed)
    for (const bool runtime : {false, true}) {
      Product p;
      if (runtime) p.desc.packed = nullptr, p.desc.packed_bytes = 0;
      Ticks ticks = {0, seed};
      const octet_tune_options options = by(&ticks);
      const TuningPointer tuning = new_tuning();
      octet_tune_result r = OCTET_TUNE_RESULT_INIT;
      octet_error error = {};
      ASSERT_EQ(octet_tune_gemm(&p.desc, &options, tuning.get(), &r, &error), OCTET_OK)
          << error.message;
      EXPECT_EQ(r.plan, text_of(p.make()));
      const octet_machine machine = machine_with(tuning.get());
      p.desc.machine = &machine;
      EXPECT_EQ(text_of(p.make()), r.choice);
      EXPECT_STREQ(p.explain().origin, "measured, on this machine");
    }
}

// Tuning, result and options may be null, and a failed call keeps nothing.
TEST(Tune, TakesWhatIsLeftOut) {
  Layer layer;
  Product p;
  Ticks ticks;
  const octet_tune_options options = by(&ticks);
  EXPECT_EQ(octet_tune_conv2d(&layer.filter, &layer.desc, &options, nullptr, nullptr, nullptr),
            OCTET_OK);
  EXPECT_EQ(octet_tune_gemm(&p.desc, &options, nullptr, nullptr, nullptr), OCTET_OK);
}

TEST(Tune, ThreadsAreUsed) {
  Layer layer;
  Product p;
  Ticks ticks;
  octet_tune_options options = by(&ticks);
  options.parallel_for = threaded_for;
  options.concurrency = 3;
  const TuningPointer tuning = new_tuning();
  EXPECT_EQ(octet_tune_conv2d(&layer.filter, &layer.desc, &options, tuning.get(), nullptr, nullptr),
            OCTET_OK);
  EXPECT_NE(lines_of(*tuning).find("threads=3"), std::string::npos);
  EXPECT_EQ(octet_tune_gemm(&p.desc, &options, tuning.get(), nullptr, nullptr), OCTET_OK);
}

// A known case is not measured again, except for another number of threads.
TEST(Tune, WhatIsKnownMayBeKept) {
  Layer layer;
  Product p;
  Ticks ticks;
  octet_tune_options options = by(&ticks);
  options.keep_known = 1;
  options.parallel_for = threaded_for;
  const TuningPointer tuning = new_tuning();
  const auto tune = [&](bool product, octet_tune_result* r) {
    *r = OCTET_TUNE_RESULT_INIT;
    octet_error error = {};
    EXPECT_EQ(
        product ? octet_tune_gemm(&p.desc, &options, tuning.get(), r, &error)
                : octet_tune_conv2d(&layer.filter, &layer.desc, &options, tuning.get(), r, &error),
        OCTET_OK)
        << error.message;
  };
  for (const bool product : {false, true}) {
    octet_tune_result first, again;
    tune(product, &first);
    EXPECT_GT(first.candidates, 0u);
    const std::string lines = lines_of(*tuning);
    const double before = ticks.now;
    tune(product, &again);
    EXPECT_EQ(again.candidates, 0u);
    EXPECT_EQ(ticks.now, before) << "nothing was measured";
    EXPECT_EQ(lines_of(*tuning), lines);
    EXPECT_STREQ(again.choice, first.choice);
    EXPECT_STREQ(again.plan, first.plan);
    EXPECT_EQ(again.changed, first.changed);
    EXPECT_NEAR(again.plan_us, first.plan_us, 2e-3);
    EXPECT_NEAR(again.chosen_us, first.chosen_us, 2e-3);
    options.concurrency = 2;
    tune(product, &again);
    EXPECT_GT(again.candidates, 0u);
    options.concurrency = 0;
  }
}

// Padding bytes between fields do not count.
TEST(Tune, ShapesAreComparedByTheirFields) {
  Layer layer;
  const octet_conv2d_shape shape = layer.desc.shape;
  memset(&layer.desc.shape, 0xFF, sizeof shape);
  octet_conv2d_shape& s = layer.desc.shape;
  s.batch_max = shape.batch_max, s.in_h_max = shape.in_h_max, s.in_w_max = shape.in_w_max;
  s.in_channels = shape.in_channels, s.out_channels = shape.out_channels, s.groups = shape.groups;
  s.kernel_h = shape.kernel_h, s.kernel_w = shape.kernel_w;
  s.stride_h = shape.stride_h, s.stride_w = shape.stride_w;
  s.dilation_h = shape.dilation_h, s.dilation_w = shape.dilation_w;
  s.pad_top = shape.pad_top, s.pad_bottom = shape.pad_bottom;
  s.pad_left = shape.pad_left, s.pad_right = shape.pad_right;
  s.transposed = shape.transposed;
  s.output_padding_h = shape.output_padding_h, s.output_padding_w = shape.output_padding_w;
  Ticks ticks;
  const octet_tune_options options = by(&ticks);
  EXPECT_EQ(octet_tune_conv2d(&layer.filter, &layer.desc, &options, nullptr, nullptr, nullptr),
            OCTET_OK);
}

// ---- looking up

TEST(Lookup, OfAConvolution) {
  Layer layer;
  const Choice plan = layer.make(), other = layer.other();
  ASSERT_NE(plan.algorithm, other.algorithm);
  EXPECT_STREQ(layer.origin(), predicted_here());
  const TuningPointer tuning = tuning_of(line(layer.key(), other));
  const octet_machine machine = machine_with(tuning.get());
  layer.filter.machine = &machine;
  ASSERT_EQ(layer.pack(), OCTET_OK);
  EXPECT_EQ(layer.create().algorithm, other.algorithm) << "packing alone decides";
  EXPECT_EQ(layer.create().block * 2, other.block) << "create was told nothing";
  layer.desc.machine = &machine;
  EXPECT_EQ(text_of(layer.make()), text_of(other));
  octet_conv2d_candidate c = OCTET_CONV2D_CANDIDATE_INIT;
  ASSERT_EQ(octet_conv2d_explain(&layer.filter, OCTET_ISA_AUTO, other.algorithm - 1, &c, nullptr),
            OCTET_OK);
  EXPECT_EQ(c.choice, text_of(other));
  EXPECT_STREQ(c.kernel, other.kernel->name);

  // The blob has another algorithm, so the line is not used.
  layer.filter.algorithm = plan.algorithm;
  EXPECT_EQ(text_of(layer.make()), text_of(plan));
  EXPECT_STREQ(layer.origin(), predicted_here());
}

// A tier that tries weights in pairs first; AUTO if this run tests none.
octet_isa tier_with_pairs() {
  for (const octet_isa isa : tiers_to_test())
    if (octet::tier_of((octet::TierId)isa).try_first != octet::FormatId::kNone) return isa;
  return OCTET_ISA_AUTO;
}
bool is_tried(const Choice& choice) { return octet::find_format_of(choice.layout)->packing->trial; }

// A line may have a format that packing tries before the tier's own.
TEST(Lookup, OfAConvolutionInPairs) {
  const octet_isa tier = tier_with_pairs();
  if (tier == OCTET_ISA_AUTO) GTEST_SKIP() << "no tier of this run has weights in pairs";
  const ScopedEnvironment limit("OCTET_MAX_ISA", octet_isa_name(tier));
  Layer layer(32);
  layer.filter.algorithm = OCTET_CONV_IM2COL;
  Choice tried = layer.make();
  if (!is_tried(tried)) GTEST_SKIP() << "no tier here has weights in pairs";
  tried.block *= 2;
  layer.filter.algorithm = OCTET_CONV_AUTO;
  ASSERT_NE(layer.make().algorithm, OCTET_CONV_IM2COL);
  const TuningPointer tuning = tuning_of(line(layer.key(), tried));
  const octet_machine machine = machine_with(tuning.get());
  layer.filter.machine = layer.desc.machine = &machine;
  EXPECT_EQ(text_of(layer.make()), text_of(tried));
  EXPECT_STREQ(layer.origin(), "measured, on this machine");
}

// Paired and dense weights have lines of their own, and the measured format is packed.
TEST(Tune, WeightsInPairsAreMeasuredAsTheyWillBePacked) {
  const octet_isa tier = tier_with_pairs();
  if (tier == OCTET_ISA_AUTO) GTEST_SKIP() << "no tier of this run has weights in pairs";
  const ScopedEnvironment limit("OCTET_MAX_ISA", octet_isa_name(tier));
  Layer tried(128), dense(128);
  for (size_t i = 0; i < dense.weights.size(); ++i)
    dense.weights[i] = i * 7 % 11 < 5 ? int8_t{127} : int8_t{-127};
  tried.filter.algorithm = dense.filter.algorithm = OCTET_CONV_IM2COL;
  if (!is_tried(tried.make())) GTEST_SKIP() << "no tier here has weights in pairs";
  ASSERT_FALSE(is_tried(dense.make()));
  const TuningPointer tuning = new_tuning();
  const octet_machine machine = machine_with(tuning.get());
  for (Layer* const layer : {&tried, &dense}) {
    layer->filter.algorithm = OCTET_CONV_AUTO;
    Ticks ticks;
    octet_tune_result r = OCTET_TUNE_RESULT_INIT;
    size_t with_pairs = 0;
    octet_tune_options told = by(&ticks);
    told.watcher = [](void* count, const char* choice, double) {
      *(size_t*)count += std::string(choice).find("_paired ") != std::string::npos;
    };
    told.watcher_context = &with_pairs;
    octet_error error = {};
    ASSERT_EQ(octet_tune_conv2d(&layer->filter, &layer->desc, &told, tuning.get(), &r, &error),
              OCTET_OK)
        << error.message;
    EXPECT_EQ(with_pairs > 0, layer == &tried);
    if (layer == &tried) {
      layer->filter.machine = layer->desc.machine = &machine;
      EXPECT_EQ(text_of(layer->make()), r.choice);
      layer->filter.machine = layer->desc.machine = nullptr;
    }
  }
  const std::string lines = lines_of(*tuning);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2) << lines;
  EXPECT_NE(lines.find(" zero_points=no pairs=yes |"), std::string::npos) << lines;
  EXPECT_NE(lines.find(" zero_points=no |"), std::string::npos) << lines;
  // Weights in the tried format find their line again.
  tried.filter.machine = tried.desc.machine = &machine;
  EXPECT_STREQ(tried.origin(), "measured, on this machine");
}

TEST(Lookup, OfAProduct) {
  Product p;
  const Choice other = p.other();
  EXPECT_STREQ(p.explain().origin, "predicted");
  const TuningPointer tuning = tuning_of(line(p.key(), other));
  const octet_machine machine = machine_with(tuning.get());
  p.desc.machine = &machine;
  EXPECT_EQ(text_of(p.make()), text_of(other));
  const octet_gemm_explanation e = p.explain();
  EXPECT_STREQ(e.origin, "measured, on this machine");
  EXPECT_NE(std::string(e.reason).find("measured"), std::string::npos);
  EXPECT_EQ(e.choice, text_of(other));
}

TEST(Lookup, ByTheEnvironment) {
  Layer layer;
  Product p;
  const Choice conv = layer.other(), product = p.other();
  const TemporaryFile file(line(layer.key(), conv) + line(p.key(), product));
  {
    const Variable variable(file.path());
    EXPECT_EQ(text_of(layer.make()), text_of(conv));
    EXPECT_EQ(text_of(p.make()), text_of(product));
    EXPECT_STREQ(layer.origin(), "measured, on this machine");
    // A descriptor's machine beats OCTET_TUNING, with an empty tuning or without one.
    const TuningPointer none = new_tuning();
    octet_machine machine = machine_with(none.get());
    layer.filter.machine = layer.desc.machine = p.desc.machine = &machine;
    EXPECT_NE(text_of(layer.make()), text_of(conv));
    EXPECT_NE(text_of(p.make()), text_of(product));
    machine = OCTET_MACHINE_INIT;
    machine.l2_bytes = 1 << 20;
    EXPECT_NE(layer.make().algorithm, conv.algorithm);
    EXPECT_NE(text_of(p.make()), text_of(product));
  }
  layer.filter.machine = layer.desc.machine = p.desc.machine = nullptr;
  EXPECT_NE(text_of(layer.make()), text_of(conv));
  EXPECT_NE(text_of(p.make()), text_of(product));
}

TEST(Lookup, ADescriptorsTuningBeatsTheEnvironments) {
  Product p;
  const Choice first = p.other();
  Choice second = first;
  second.tasks = {0, 1};
  const TemporaryFile file(line(p.key(), first));
  const Variable variable(file.path());
  const TuningPointer tuning = tuning_of(line(p.key(), second));
  const octet_machine machine = machine_with(tuning.get());
  EXPECT_EQ(text_of(p.make()), text_of(first));
  p.desc.machine = &machine;
  EXPECT_EQ(text_of(p.make()), text_of(second));
}

TEST(Lookup, WhatIsNamedBeatsIt) {
  Product p;
  Layer layer;
  const TemporaryFile file(line(p.key(), p.other()) + line(layer.key(), layer.other()));
  const Variable variable(file.path());
  p.desc.kernel = p.make().kernel->name;
  EXPECT_NE(text_of(p.make()), text_of(p.other()));
  const octet_conv_algorithm tuned = layer.make().algorithm;
  setenv("OCTET_CONV", tuned == OCTET_CONV_IM2COL ? "direct" : "im2col", 1);
  EXPECT_NE(layer.make().algorithm, tuned);
  unsetenv("OCTET_CONV");
}

// A key with any word changed finds nothing.
TEST(Lookup, OtherProblemsFindNothing) {
  Layer layer;
  const Choice other = layer.other();
  const std::string key = layer.key().text();
  size_t words = 0;
  const auto made_by = [&](const std::string& text) {
    const TuningPointer tuning = tuning_of(line(octet::TuningKey(text.c_str()), other));
    const octet_machine machine = machine_with(tuning.get());
    layer.filter.machine = layer.desc.machine = &machine;
    return layer.make();
  };
  for (size_t end = 0; end < key.size(); ++words) {
    end = std::min(key.find(' ', end + 1), key.size());
    const std::string changed = key.substr(0, end) + "0" + key.substr(end);
    EXPECT_NE(text_of(made_by(changed)), text_of(other)) << changed;
  }
  EXPECT_GT(words, 12u);
  EXPECT_EQ(text_of(made_by(key)), text_of(other));
}

// Packing does not know input and output: it takes the line that saves the most time.
TEST(Lookup, OfSeveralLinesTheOneThatSavesMostIsPacked) {
  Layer layer;
  const Choice other = layer.other(), plan = Layer().make();
  const std::string key = layer.key().text();
  std::string signed_key = key;
  signed_key.replace(key.find("lhs=u8"), 6, "lhs=s8");
  const octet::TuningKey first(signed_key.c_str()), own(key.c_str());
  const auto packed_by = [&](uint64_t saved_by_first, uint64_t saved_by_own) {
    const TuningPointer tuning =
        tuning_of(line(first, plan, saved_by_first) + line(own, other, saved_by_own));
    const octet_machine machine = machine_with(tuning.get());
    layer.filter.machine = layer.desc.machine = &machine;
    return layer.make().algorithm;
  };
  EXPECT_EQ(packed_by(100, 900), other.algorithm);
  EXPECT_EQ(packed_by(900, 100), plan.algorithm);
}

// A line that was measured within a limit counts for this limit only; one without a limit counts
// for all limits that its weights fit.
TEST(Lookup, LimitsOfPackedBytesAreProblemsOfTheirOwn) {
  Layer layer;
  const Choice other = layer.other(), plan = layer.make();
  ASSERT_NE(plan.algorithm, other.algorithm);
  const size_t limit = 1 << 20;
  octet::TuningKey limited = layer.key();
  limited.add(" packed_max=%zu", limit);
  TuningPointer tuning = tuning_of(line(limited, other));
  octet_machine machine = machine_with(tuning.get());
  layer.filter.machine = layer.desc.machine = &machine;
  EXPECT_EQ(layer.make().algorithm, plan.algorithm);
  layer.filter.packed_bytes_max = limit + 1;
  EXPECT_EQ(layer.make().algorithm, plan.algorithm);
  layer.filter.packed_bytes_max = limit;
  EXPECT_EQ(layer.make().algorithm, other.algorithm);
  tuning = tuning_of(line(limited, other, 1) + line(layer.key(), plan, 1000));
  machine = machine_with(tuning.get());
  EXPECT_EQ(layer.make().algorithm, other.algorithm) << "its own limit counts before what is saved";
  // Tuning keeps both.
  Ticks ticks;
  const octet_tune_options options = by(&ticks);
  tuning = new_tuning();
  layer.filter.machine = layer.desc.machine = nullptr;
  for (const size_t most : {size_t{0}, limit}) {
    layer.filter.packed_bytes_max = most;
    ASSERT_EQ(
        octet_tune_conv2d(&layer.filter, &layer.desc, &options, tuning.get(), nullptr, nullptr),
        OCTET_OK);
  }
  const std::string lines = lines_of(*tuning);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  EXPECT_NE(lines.find(" zero_points=no packed_max=1048576 | "), std::string::npos) << lines;
}

// A line whose choice this descriptor excludes is skipped: the next line counts, or the plan.
TEST(Lookup, WhatCannotBeUsedIsPassedBy) {
  Product p;
  Choice wrong = p.other();
  wrong.block += 1;
  TuningPointer tuning = tuning_of(line(p.key(), wrong));
  octet_machine machine = machine_with(tuning.get());
  p.desc.machine = &machine;
  EXPECT_EQ(p.make().tasks.rows, 0u);

  Layer layer;
  tuning = tuning_of(line(layer.key(), layer.other()));
  machine = machine_with(tuning.get());
  layer.filter.machine = layer.desc.machine = &machine;
  octet_conv2d_candidate c = OCTET_CONV2D_CANDIDATE_INIT;
  const Choice other = layer.other();
  ASSERT_EQ(octet_conv2d_explain(&layer.filter, OCTET_ISA_AUTO, other.algorithm - 1, &c, nullptr),
            OCTET_OK);
  layer.filter.packed_bytes_max = c.packed_bytes;
  EXPECT_EQ(layer.make().algorithm, other.algorithm);
  Layer plain;
  const Choice plan = plain.make();
  if (c.packed_bytes > plain.desc.packed_bytes) {
    layer.filter.packed_bytes_max = plain.desc.packed_bytes;
    EXPECT_EQ(layer.make().algorithm, plan.algorithm);
  }
  layer.filter.packed_bytes_max = 0;
  layer.filter.accuracy = OCTET_ACCURACY_APPROXIMATE;
  EXPECT_NE(layer.make().algorithm, other.algorithm) << "measured were the exact ones";
}

TEST(Lookup, AFileThatCannotBeReadIsSaid) {
  Layer layer;
  Product p;
  for (const char* path : {"/no/such/file", "/"}) {
    const Variable variable(path);
    octet_gemm* gemm;
    expect_refused(OCTET_BAD_ENVIRONMENT, "OCTET_TUNING",
                   [&](octet_error* e) { return octet_gemm_create(&p.desc, &gemm, e); });
    size_t bytes;
    expect_refused(OCTET_BAD_ENVIRONMENT, path, [&](octet_error* e) {
      return octet_conv2d_pack_size(&layer.filter, OCTET_ISA_AUTO, &bytes, e);
    });
  }
  const Variable empty("");
  p.make();
}

TEST(Lookup, VerboseTellsWhatTheFileHas) {
  Product p;
  const TemporaryFile file("damaged\n" + line(p.key(), p.other()));
  const Variable variable(file.path());
  const auto traced = [&] {
    testing::internal::CaptureStderr();
    p.make();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(traced(), "");
  setenv("OCTET_VERBOSE", "1", 1);
  const std::string trace = traced(), again = traced();
  unsetenv("OCTET_VERBOSE");
  EXPECT_EQ(again.find("octet,tuning"), std::string::npos) << "once per file: " << again;
  for (const std::string& lines : {trace, again})
    EXPECT_NE(lines.find(",measured\n"), std::string::npos) << lines;
  EXPECT_EQ(trace.find(std::string("octet,tuning,") + file.path() + ",1,0,0,1,1\n"), 0u) << trace;
}

// ---- what is refused

TEST(Tune, BadArguments) {
  const Layer layer;
  const Product product;
  const auto conv = [&](octet_status status, const char* says,
                        const std::function<void(octet_filter_desc*, octet_conv2d_desc*)>& spoil) {
    octet_filter_desc filter = layer.filter;
    octet_conv2d_desc desc = layer.desc;
    spoil(&filter, &desc);
    octet_tune_result untouched = OCTET_TUNE_RESULT_INIT;
    untouched.candidates = 77;
    const TuningPointer tuning = new_tuning();
    expect_refused(status, says, [&](octet_error* e) {
      return octet_tune_conv2d(&filter, &desc, nullptr, tuning.get(), &untouched, e);
    });
    EXPECT_EQ(untouched.candidates, 77u);
    EXPECT_EQ(tuning->bytes, 0u);
  };
  conv(OCTET_UNSUPPORTED, "filter.algorithm",
       [](auto* f, auto*) { f->algorithm = OCTET_CONV_DIRECT; });
  conv(OCTET_UNSUPPORTED, "filter.accuracy",
       [](auto* f, auto*) { f->accuracy = OCTET_ACCURACY_APPROXIMATE; });
  conv(OCTET_NULL_POINTER, "filter.data", [](auto* f, auto*) { f->data = nullptr; });
  conv(OCTET_UNSUPPORTED, "desc.kernel", [](auto*, auto* d) { d->kernel = "scalar_u8s8_4x4x4"; });
  conv(OCTET_BAD_SIZE, "desc.shape.in_h_max is 10, and filter.shape.in_h_max is 9",
       [](auto*, auto* d) { ++d->shape.in_h_max; });
  conv(OCTET_BAD_SIZE, "desc.shape.pad_right is 2", [](auto*, auto* d) { ++d->shape.pad_right; });
  conv(OCTET_UNKNOWN_ENUM, "desc.max_isa is 77", [](auto*, auto* d) { set_raw(&d->max_isa, 77); });
  conv(OCTET_UNSUPPORTED, "desc.rhs_type", [](auto*, auto* d) { d->rhs_type = OCTET_U8; });
  conv(OCTET_BAD_STRUCT_SIZE, "filter.struct_size", [](auto* f, auto*) { f->struct_size = 3; });
  conv(OCTET_BAD_STRUCT_SIZE, "desc.struct_size", [](auto*, auto* d) { d->struct_size = 3; });
  conv(OCTET_BAD_SIZE, "filter.shape",
       [](auto* f, auto* d) { f->shape.groups = d->shape.groups = 3; });
  conv(OCTET_UNKNOWN_ENUM, "desc.dst_layout", [](auto*, auto* d) { set_raw(&d->dst_layout, 9); });
  octet_gemm_desc desc = product.desc;
  const auto gemm = [&](octet_status status, const char* says,
                        const octet_tune_options* options = nullptr) {
    expect_refused(status, says, [&](octet_error* e) {
      return octet_tune_gemm(&desc, options, nullptr, nullptr, e);
    });
  };
  desc.kernel = "scalar_u8s8_4x4x4";
  gemm(OCTET_UNSUPPORTED, "desc.kernel");
  desc = product.desc, desc.n = 71;
  gemm(OCTET_BAD_BLOB, "desc.packed");
  desc = product.desc, desc.m_max = SIZE_MAX / 64;  // on 32 bits, too, more than memory
  gemm(OCTET_BAD_SIZE, "desc.m_max");
  desc = product.desc;
  octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  for (const double seconds : {-1.0, 1e7, std::numeric_limits<double>::quiet_NaN()}) {
    options.seconds = seconds;
    gemm(OCTET_BAD_SIZE, "options.seconds", &options);
  }
  options = OCTET_TUNE_OPTIONS_INIT, options.keep_known = 2;
  gemm(OCTET_UNKNOWN_ENUM, "options.keep_known", &options);
  options = OCTET_TUNE_OPTIONS_INIT, options.reserved = 1;
  gemm(OCTET_UNSUPPORTED, "options.reserved", &options);
  options = OCTET_TUNE_OPTIONS_INIT;
  double last = 0;
  options.clock_context = &last;
  for (double (*clock)(void*) :
       {+[](void*) { return 5.0; }, +[](void* c) { return *(double*)c -= 1; },
        +[](void*) { return std::numeric_limits<double>::quiet_NaN(); }}) {
    options.clock = clock;
    gemm(OCTET_UNSUPPORTED, "options.clock stands still", &options);
  }
  options = OCTET_TUNE_OPTIONS_INIT, options.concurrency = 2;
  gemm(OCTET_NULL_POINTER, "options.parallel_for", &options);
  options.struct_size = 1;
  gemm(OCTET_BAD_STRUCT_SIZE, "options.struct_size", &options);
  octet_tune_result result = OCTET_TUNE_RESULT_INIT;
  result.struct_size = 8;
  expect_refused(OCTET_BAD_STRUCT_SIZE, "result", [&](octet_error* e) {
    return octet_tune_gemm(&desc, nullptr, nullptr, &result, e);
  });
  expect_refused(OCTET_NULL_POINTER, "desc", [&](octet_error* e) {
    return octet_tune_gemm(nullptr, nullptr, nullptr, nullptr, e);
  });
}

}  // namespace
}  // namespace octet_test
