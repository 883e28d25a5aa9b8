// SPDX-License-Identifier: Apache-2.0
// Checks that the self-test finds a tier whose kernel gives a wrong answer.
#include "dispatch/self_test/self_test.h"
#include "dispatch/self_test/conv.h"
#include "dispatch/self_test/requantize.h"
#include "dispatch/tables/runtime_ops.h"
#include "dispatch/tables/scale_block_kernels.h"

#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::KernelList;
using octet::TierId;

// A real kernel, off by one in one element.
const MicroKernel* honest;
void lies(const octet::Tile& t) {
  honest->multiply(t);
  uint8_t* const row = (uint8_t*)t.dst + (t.rows - 1) * t.dst_stride;
  const bool bytes = t.scale && !t.requantization->to_floats;
  bytes ? ++row[t.cols - 1] : ++((uint32_t*)row)[t.cols - 1];
}

TEST(SelfTest, ThisMachineTellsTheTruth) {
  EXPECT_EQ(octet::failing_tiers(octet::int8_kernels(), octet::this_machine().cpu), 0u);
  EXPECT_TRUE(octet::this_machine().cpu.trusts_optional);
  EXPECT_EQ(octet::failing_int16_tiers(octet::int16_kernels(), octet::this_machine().cpu), 0u);
  EXPECT_EQ(octet::failing_s16_tiers(octet::s16_kernels(), octet::this_machine().cpu), 0u);
  EXPECT_EQ(octet::failing_tiers(octet::depthwise_kernels(), octet::this_machine().cpu), 0u);
}

class SelfTestKernel : public EachKernel {
 protected:
  octet::TierMask failing(const KernelList& list, const octet::CpuFeatures& cpu) const {
    return kernel().lhs_element_type == octet::ElementType::kS16
               ? octet::failing_int16_tiers(list, cpu)
               : octet::failing_tiers(list, cpu);
  }
};
OCTET_FOR_EACH_KERNEL(SelfTestKernel);
INSTANTIATE_TEST_SUITE_P(Int16, SelfTestKernel, testing::ValuesIn(int16_table()), kernel_name);

TEST_P(SelfTestKernel, FindsALyingKernel) {
  honest = &kernel();
  MicroKernel liar = kernel();
  liar.multiply = lies;
  const MicroKernel* const rows[] = {&kernel(), &liar};
  const octet::CpuFeatures& cpu = octet::this_machine().cpu;
  EXPECT_EQ(failing(KernelList{rows, 1}, cpu), 0u);
  if (!kernel().is(octet::kOptional)) {
    EXPECT_EQ(failing(KernelList{rows, 2}, cpu), octet::mask_of(kernel().tier_id));
    return;
  }
  // Its tier has another kernel
  EXPECT_EQ(failing(KernelList{rows, 2}, cpu), 0u);
  EXPECT_TRUE(octet::passes_optional(KernelList{rows, 1}, cpu));
  EXPECT_FALSE(octet::passes_optional(KernelList{rows, 2}, cpu));
}

// A kernel that is wrong for one depth, one count of columns or one of rows.
octet::Tile lying_tile;
void lies_for_one_shape(const octet::Tile& t) {
  honest->multiply(t);
  if (!t.scale && t.depth == lying_tile.depth && t.cols == lying_tile.cols &&
      t.rows == lying_tile.rows)
    ++*(int32_t*)t.dst;
}

TEST_P(SelfTestKernel, FindsOneThatLiesForSomeSteps) {
  if (kernel().step_depth == 1) GTEST_SKIP() << kernel().name << " has no steps";
  honest = &kernel();
  MicroKernel liar = kernel();
  liar.multiply = lies_for_one_shape;
  EXPECT_TRUE(octet::passes(kernel()));
  for (const size_t depth : {36, 37, 69})
    for (size_t cols = 16; cols <= kernel().nr; cols += 16)
      for (const size_t rows : {kernel().rows_of(cols) / 2, kernel().rows_of(cols)}) {
        lying_tile.depth = depth, lying_tile.cols = cols, lying_tile.rows = rows;
        EXPECT_FALSE(octet::passes(liar)) << rows << 'x' << cols << 'x' << depth;
      }
}

TEST_P(SelfTestKernel, FindsOneThatLiesForFewColumns) {
  if (kernel().few_nr == 0) GTEST_SKIP() << kernel().name << " has one way for all columns";
  honest = &kernel();
  MicroKernel liar = kernel();
  liar.multiply = lies_for_one_shape;
  for (const size_t rows : {size_t{kernel().mr}, kernel().rows_of(kernel().few_nr)}) {
    lying_tile.depth = 69, lying_tile.cols = kernel().few_nr, lying_tile.rows = rows;
    EXPECT_FALSE(octet::passes(liar)) << rows << " rows";
  }
}

bool (*lying_taps_of)(const octet::TapRows&);
void lies_in_added_taps(const octet::TapRows& t) {
  honest->add_tap(t);
  if (lying_taps_of(t)) {
    const size_t columns = honest->tap_panels * honest->rhs_layout.width;
    ++t.sums[t.places[t.count - 1] * columns + t.columns - 1];
  }
}

TEST_P(SelfTestKernel, OneThatAddsTapsWronglyIsFound) {
  if (!kernel().add_tap) GTEST_SKIP() << kernel().name << " adds no taps";
  honest = &kernel();
  MicroKernel liar = kernel();
  liar.add_tap = lies_in_added_taps;
  bool (*const kLies[])(const octet::TapRows&) = {
      [](const octet::TapRows& t) { return t.count == 1; },
      [](const octet::TapRows& t) { return t.count == 4; },
      [](const octet::TapRows& t) { return t.count > 10; },
      [](const octet::TapRows& t) { return t.depth % 8 == 4; },
      [](const octet::TapRows& t) { return t.columns == honest->rhs_layout.width; },
      [](const octet::TapRows& t) { return t.columns <= honest->rhs_layout.width / 2u; },
      [](const octet::TapRows& t) { return t.lhs_flip != 0; }};
  for (const auto& lie : kLies) {
    lying_taps_of = lie;
    EXPECT_FALSE(octet::passes(liar)) << &lie - kLies;
  }
}

// Convolutions' rows of a micro-panel: which of them the liar computes wrongly.
bool (*lying_rows_of)(const octet::Tile&);
void lies_in_taps(const octet::Tile& t) {
  honest->multiply_micro_panel(t);
  if (lying_rows_of(t)) ++((uint8_t*)t.dst)[(t.rows - 1) * t.dst_stride + t.cols - 1];
}

TEST_P(SelfTestKernel, OneThatWalksTapsWronglyIsFound) {
  if (!kernel().micro_panel.taps) GTEST_SKIP() << kernel().name << " takes one tap";
  honest = &kernel();
  MicroKernel liar = kernel();
  liar.multiply_micro_panel = lies_in_taps;
  bool (*const kLies[])(const octet::Tile&) = {
      [](const octet::Tile& t) { return t.taps > 1 && t.lhs_stride < t.depth; },
      [](const octet::Tile& t) { return t.taps > 1 && t.lhs_stride % 4 == 0; },
      [](const octet::Tile& t) { return t.taps > 1 && t.lhs_stride % 4 != 0; },
      [](const octet::Tile& t) { return t.taps * t.depth > 160; },
      [](const octet::Tile& t) {
        return t.taps > 1 && t.cols == honest->micro_panel.most_columns;
      }};
  for (const auto& lies : kLies) {
    lying_rows_of = lies;
    EXPECT_FALSE(octet::passes(liar)) << "lie " << &lies - kLies;
  }
}

// A kernel of 4 bits that is wrong where nobody has decoded the weights, for one count of rows.
void lies_for_encoded_weights(const octet::Tile& t) {
  honest->multiply(t);
  if (!t.rhs_decoded && t.rows == lying_tile.rows) ++*(int32_t*)t.dst;
}

TEST_P(SelfTestKernel, FindsOneThatDecodesWronglyItself) {
  if (!kernel().rhs_layout.is_4bit()) GTEST_SKIP() << kernel().name << " has weights of 8 bits";
  honest = &kernel();
  MicroKernel liar = kernel();
  EXPECT_TRUE(octet::multiplies_encoded(kernel()));
  liar.multiply = lies_for_encoded_weights;
  for (lying_tile.rows = 1; lying_tile.rows <= kernel().mr; ++lying_tile.rows)
    EXPECT_FALSE(octet::multiplies_encoded(liar)) << lying_tile.rows << " rows";
}

// Rows that are arranged wrongly, all or those that are flipped, or multiplied wrongly.
void arranges_wrongly(const octet::Rows& rows, size_t stride, uint8_t* to) {
  honest->arrange_rows(rows, stride, to);
  to[rows.depth / 2] ^= 1;
}
void flips_wrongly(const octet::Rows& rows, size_t stride, uint8_t* to) {
  honest->arrange_rows(rows, stride, to);
  if (rows.flip) to[rows.depth] ^= 1;
}
void lies_for_arranged_rows(const octet::Tile& t) {
  honest->multiply_micro_panel(t);
  if (t.lhs_arranged && t.cols < honest->nr) ++*(int32_t*)t.dst;
}

TEST_P(SelfTestKernel, FindsOneThatArrangesRowsWrongly) {
  if (!kernel().arrange_rows) GTEST_SKIP() << kernel().name << " arranges no rows";
  honest = &kernel();
  for (const octet::CopyRowsFn arrange : {arranges_wrongly, flips_wrongly}) {
    MicroKernel liar = kernel();
    liar.arrange_rows = arrange;
    EXPECT_FALSE(octet::passes(liar));
  }
  MicroKernel liar = kernel();
  liar.multiply_micro_panel = lies_for_arranged_rows;
  EXPECT_FALSE(octet::passes(liar));
}

TEST_P(SelfTestKernel, DoesNotRunWhatTheCpuDoesNotSupport) {
  honest = &kernel();
  MicroKernel liar = kernel();
  liar.multiply = [](const octet::Tile&) { FAIL() << "must not run"; };
  const MicroKernel* const rows[] = {&liar};
  const octet::CpuFeatures others = {~octet::mask_of(kernel().tier_id), {}};
  EXPECT_EQ(failing(KernelList{rows, 1}, others), 0u);
  EXPECT_TRUE(octet::passes_optional(KernelList{rows, 1}, others));
}

// A depthwise kernel that is off by one in its last output, for either of its layouts.
const octet::DepthwiseKernel* honest_depthwise;
octet::DepthwiseLoop lying_loop;
void lies_depthwise(const octet::DepthwiseTile& t) {
  honest_depthwise->multiply(t);
  uint8_t* const last = t.dst + (t.rows - 1) * t.dst_line + (t.columns - 1) * t.dst_pixel;
  if (t.loop == lying_loop) ++((int32_t*)last)[honest_depthwise->channels - 1];
}

TEST(SelfTest, FindsALyingDepthwiseKernel) {
  const octet::CpuFeatures& cpu = octet::this_machine().cpu;
  for (const octet::DepthwiseKernel* kernel : octet::depthwise_kernels())
    for (const octet::DepthwiseLoop loop : octet::kDepthwiseLoops) {
      if (!octet::supports(cpu, *kernel) || !octet::knows(*kernel, loop)) continue;
      honest_depthwise = kernel;
      lying_loop = loop;
      octet::DepthwiseKernel liar = *kernel;
      liar.multiply = lies_depthwise;
      const octet::DepthwiseKernel* const rows[] = {&liar};
      EXPECT_EQ(octet::failing_tiers(octet::DepthwiseList{rows, 1}, cpu),
                octet::mask_of(kernel->tier_id))
          << kernel->name;
    }
}

// A kernel is as honest as its s16 kernel.
TEST(SelfTest, FindsALyingKernelOfS16) {
  const octet::CpuFeatures& cpu = octet::this_machine().cpu;
  size_t found = 0;
  for (const octet::DepthwiseKernel* kernel : octet::depthwise_kernels()) {
    if (!octet::supports(cpu, *kernel) || !kernel->s16) continue;
    honest_depthwise = kernel->s16;
    octet::DepthwiseKernel liar = *kernel->s16, liars = *kernel;
    liar.multiply = lies_depthwise;
    liars.s16 = &liar;
    for (const octet::DepthwiseLoop loop : octet::kDepthwiseLoops) {
      if (!octet::knows(liar, loop)) continue;
      lying_loop = loop;
      EXPECT_FALSE(octet::passes(liars)) << kernel->name;
      ++found;
    }
  }
  EXPECT_GE(found, 1u);
}

// Work on run-time weights that is off by one in its last sum, weight, or sum of weights.
const octet::RuntimeOps* honest_runtime;
void multiplies_wrongly(const octet::FewRows& f) {
  honest_runtime->multiply(f);
  ++f.sums[(f.rows - 1) * f.sums_stride + f.weights.n - 1];
}
void packs_wrongly(const octet::RuntimeWeights& w, uint8_t* panels, int32_t* sums) {
  honest_runtime->pack(w, panels, sums);
  ++panels[honest_runtime->layout.bytes(w.n, w.k) - 1];
}
void sums_wrongly(const octet::RuntimeWeights& w, uint8_t* panels, int32_t* sums) {
  honest_runtime->pack(w, panels, sums);
  ++sums[w.n - 1];
}

TEST(SelfTest, FindsLyingWorkOnRuntimeWeights) {
  for (const TierId isa : usable_tiers()) {
    honest_runtime = octet::runtime_ops_of(isa);
    if (!honest_runtime) continue;
    EXPECT_TRUE(octet::passes(*honest_runtime)) << honest_runtime->name;
    octet::RuntimeOps liar = *honest_runtime;
    liar.multiply = multiplies_wrongly;
    EXPECT_FALSE(octet::passes(liar)) << liar.name;
    for (const auto pack : {packs_wrongly, sums_wrongly}) {
      liar = *honest_runtime;
      liar.pack = pack;
      EXPECT_FALSE(octet::passes(liar)) << liar.name;
    }
  }
}

// A product by scale blocks of which one term is wrong.
const octet::ScaleBlockKernel* honest_blocks;
template <typename Change>
void with_change(octet::ScaleBlockTile tile, const Change& change) {
  change(&tile);
  honest_blocks->multiply(tile);
}
void adds_one(const octet::ScaleBlockTile& t) {
  honest_blocks->multiply(t);
  ++t.sums[(t.rows - 1) * honest_blocks->kernel.nr + honest_blocks->kernel.nr - 1];
}
void forgets_row_scales(const octet::ScaleBlockTile& t) {
  with_change(t, [](octet::ScaleBlockTile* tile) { tile->row_scales = nullptr; });
}
void forgets_lhs_zero_points(const octet::ScaleBlockTile& t) {
  with_change(t, [](octet::ScaleBlockTile* tile) { tile->lhs_zero_points = nullptr; });
}
void forgets_a_block(const octet::ScaleBlockTile& t) {
  octet::ScaleBlockTile tile = t;
  tile.rows = 1, --tile.blocks.count;  // of the last row
  honest_blocks->multiply(t);
  tile.lhs += (t.rows - 1) * t.lhs_stride, tile.sums += (t.rows - 1) * honest_blocks->kernel.nr;
  honest_blocks->multiply(tile);
}

TEST(SelfTest, FindsLyingProductsByScaleBlocks) {
  for (const TierId isa : usable_tiers()) {
    honest_blocks = &octet::scale_block_kernel_of(isa);
    EXPECT_TRUE(octet::passes(*honest_blocks)) << honest_blocks->kernel.name;
    for (const auto multiply :
         {adds_one, forgets_row_scales, forgets_lhs_zero_points, forgets_a_block}) {
      octet::ScaleBlockKernel liar = *honest_blocks;
      liar.multiply = multiply;
      EXPECT_FALSE(octet::passes(liar)) << liar.kernel.name;
    }
  }
}

// A look-up that leaves a byte as it is, or writes one too many.
octet::LookUpFn honest_look_up;
void leaves_a_byte(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  const uint8_t last = dst[(rows - 1) * stride + cols - 1];
  honest_look_up(lut, dst, stride, rows, cols);
  dst[(rows - 1) * stride + cols - 1] = last;
}
void writes_beyond(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  honest_look_up(lut, dst, stride, rows, cols);
  if (cols < stride) ++dst[cols];
}

TEST(SelfTest, FindsALyingLookUp) {
  const octet::Features has = octet::this_machine().cpu.features;
  for (const TierId isa : usable_tiers()) {
    octet::TierOps ops = octet::ops_of(isa);
    EXPECT_TRUE(octet::looks_up(ops, has));
    for (octet::LookUpFn octet::TierOps::*const field :
         {&octet::TierOps::look_up, &octet::TierOps::fast_look_up}) {
      const bool fast = field == &octet::TierOps::fast_look_up;
      if (!(ops.*field) || (fast && ops.fast_look_up_needs & ~has)) continue;
      honest_look_up = ops.*field;
      for (const octet::LookUpFn liar : {leaves_a_byte, writes_beyond}) {
        ops.*field = liar;
        EXPECT_FALSE(octet::looks_up(ops, has)) << octet::isa_name(isa);
        if (fast) {
          EXPECT_TRUE(octet::looks_up(ops, has & ~ops.fast_look_up_needs)) << "nobody calls it";
        }
      }
      ops.*field = honest_look_up;
    }
  }
}

TEST(CpuInfo, FitsTogether) {
  octet_cpu_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_OK);
  EXPECT_TRUE(info.compiled_isas >> OCTET_ISA_SCALAR & 1);
  EXPECT_TRUE(info.detected_isas >> OCTET_ISA_SCALAR & 1);
  EXPECT_EQ(info.detected_isas & ~info.compiled_isas, 0u);
  EXPECT_EQ(info.demoted_isas & ~info.detected_isas, 0u);
  EXPECT_TRUE(info.detected_isas >> info.best_isa & 1);
}

}  // namespace
}  // namespace octet_test
