// SPDX-License-Identifier: Apache-2.0
// Multiplies s16 values by packed weights, by some columns at a time, a pass: a kernel takes s16
// values as they are, or each row becomes two rows of bytes, which an int8 kernel multiplies. Their
// sums make the outputs.
#include "kernels/core/compiler.h"
#include "operators/gemm/loops.h"

namespace octet {
namespace {

// Sums that stay in the L2 cache until they are read
constexpr size_t kSums = 16 * 1024;

constexpr Epilogue kAsSums = {};  // EpilogueMode::kS32

// The columns of a pass are whole panels and micro-panels.
size_t pass_unit(const MicroKernel& kernel) { return larger(kernel.rhs_layout.width, kernel.nr); }
size_t sums_stride(size_t columns) { return round_up(columns, kS16Columns); }

// Rows that the kernel multiplies
size_t rows_of(const GemmPlan& plan, size_t s16) { return plan.splits_s16 ? 2 * s16 : s16; }
// Rows of sums
size_t sums_of(const GemmPlan& plan, size_t s16) { return rows_of(plan, s16); }
// The depth of a part; the last one may be less deep.
size_t part_of(const GemmPlan& plan, size_t k) {
  return plan.cuts_s16 ? round_up(divide_up(k, divide_up(k, kS16PartDepth)), 8) : k;
}

// Rows 2 i and 2 i + 1 of the bytes are the high and the low bytes of row i.
void split(const GemmPlan& plan, const MicroKernel& kernel, const GemmMatrix& matrix, size_t k,
           size_t m0, size_t lhs_stride, const Block& block, uint8_t* bytes) {
  const ElementType type = kernel.lhs_element_type;
  S16Row row = {nullptr, k, high_flip(type), low_flip(type), bytes, bytes + block.lhs_stride};
  for (size_t i = 0; i < block.rows / 2; ++i) {
    row.s16 = (const int16_t*)(matrix.lhs + (m0 + i) * lhs_stride);
    plan.ops->split_s16(row);
    row.high += 2 * block.lhs_stride;
    row.low += 2 * block.lhs_stride;
  }
}

size_t parts_of(const GemmPlan& plan, size_t k) { return divide_up(k, part_of(plan, k)); }

// A product of which a kernel takes the depth part by part.
class Parts {
 public:
  Parts(const GemmRun& run, const MicroKernel& kernel, const Weights& weights, uint8_t* workspace)
      : plan_(run.plan),
        kernel_(kernel),
        weights_(weights),
        k_(run.schedule.sizes.k),
        depth_(part_of(plan_, k_)),
        sections_(run.schedule.sections),
        workspace_(workspace) {}

  // Each part's rows have prepared sections of their own.
  void prepare(const Block& block) {
    for_each([&](size_t k0, size_t depth) {
      Block part = block;
      part.lhs += k0 * sizeof(int16_t);
      octet::prepare(macro_kernel_of(plan_, kernel_, depth), weights_.columns, sections_.prepared,
                     prepared(k0), &part);
      if (k0 == 0) first_ = part;
    });
  }

  // Calls finish(the sums of the parts, first column, columns) for each panel of [n0, n1).
  template <typename F>
  void multiply(size_t n0, size_t n1, const F& finish) {
    const size_t width = kernel_.rhs_layout.width;
    int32_t* const parts = (int32_t*)(workspace_ + sections_.s16_sums);
    for (size_t n = n0; n < n1; n += width) {
      const size_t lanes = smaller(width, weights_.lanes - n), cols = smaller(width, n1 - n);
      const uint8_t* const panel = weights_.panels + n * weights_.lane_bytes;
      for_each([&](size_t k0, size_t depth) {
        Block block = first_;
        block.panels = prepared(k0) + sections_.prepared.panels;
        block.panel_bytes = kernel_.lhs_panel_bytes(depth, 1);
        block.output.to = {(uint8_t*)(parts + k0 / depth_ * first_.rows * width),
                           width * sizeof *parts, nullptr, 0};
        const size_t lane_bytes = kernel_.rhs_layout.lane_bytes(depth);
        octet::multiply(macro_kernel_of(plan_, kernel_, depth),
                        {panel + k0 * lanes, lanes, lane_bytes, 0, weights_.columns, nullptr, 0},
                        block, 0, cols);
      });
      S16Tile tile = {};
      tile.low = parts, tile.sums_stride = width;
      tile.parts = parts_of(plan_, k_), tile.parts_stride = first_.rows * width;
      finish(tile, n, cols);
    }
  }

 private:
  template <typename F>
  void for_each(const F& f) const {
    for (size_t k0 = 0; k0 < k_; k0 += depth_) f(k0, smaller(depth_, k_ - k0));
  }
  uint8_t* prepared(size_t k0) const { return workspace_ + k0 / depth_ * sections_.prepared.bytes; }

  const GemmPlan& plan_;
  const MicroKernel& kernel_;
  const Weights& weights_;
  const size_t k_, depth_;
  const GemmSections& sections_;
  uint8_t* const workspace_;
  Block first_;
};

}  // namespace

void lay_out_s16(const GemmPlan& plan, const MicroKernel& kernel, size_t columns, size_t k,
                 Sections* sections, GemmSections* at) {
  const size_t all = sums_stride(columns), rows = rows_of(plan, at->rows),
               of_sums = sums_of(plan, at->rows);
  at->prepared = prepared_sections(macro_kernel_of(plan, kernel, part_of(plan, k)), false, rows);
  *sections = {at->prepared.bytes * parts_of(plan, k)};
  at->quantized_stride = round_up(k, kAlignment);
  at->quantized = plan.splits_s16 ? sections->take(rows * at->quantized_stride) : 0;
  at->s16_sums_count = larger(of_sums * sums_stride(pass_unit(kernel)),
                              all < kSums / of_sums ? of_sums * all : kSums);
  if (plan.cuts_s16) at->s16_sums_count = parts_of(plan, k) * rows * kernel.rhs_layout.width;
  at->s16_sums = sections->take(at->s16_sums_count * sizeof(int32_t));
}

void multiply_s16(const GemmRun& run, const MicroKernel& kernel, const GemmMatrix& matrix,
                  size_t packed, const GemmTask& task, uint8_t* workspace) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const size_t k = run.schedule.sizes.k, unit = pass_unit(kernel);
  const MacroKernel macro_kernel = macro_kernel_of(plan, kernel, k);
  Weights weights = packed_weights(plan, packed);
  Parts parts(run, kernel, weights, workspace);
  int32_t* const sums = (int32_t*)(workspace + at.s16_sums);
  Block block = {};
  block.output = {plan.ops, &kAsSums, &plan.requantization, false, sizeof(int32_t), {}};
  block.terms.in_bias = true;
  block.lhs = workspace + at.quantized;
  block.lhs_stride = plan.splits_s16 ? at.quantized_stride : run.lhs_stride;
  block.reads_to_groups = plan.splits_s16;
  const size_t blocks = divide_up(task.m1 - task.m0, at.rows),
               step = divide_up(task.m1 - task.m0, blocks);
  for (size_t m0 = task.m0, rows; m0 < task.m1; m0 += rows) {
    rows = smaller(step, task.m1 - m0);
    block.rows = rows_of(plan, rows);
    if (plan.splits_s16)
      split(plan, kernel, matrix, k, m0, run.lhs_stride, block, workspace + at.quantized);
    else
      block.lhs = matrix.lhs + m0 * run.lhs_stride;
    const auto finish = [&](S16Tile tile, size_t n, size_t cols) {
      tile.rows = rows, tile.cols = cols, tile.column = n;
      tile.offset = plan.s16_offsets.from(packed * plan.s16_offsets_stride + n);
      if (tile.parts) tile.offset.in_int32 = nullptr;
      tile.dst = matrix.dst + m0 * run.dst_stride + n * plan.dst_bytes;
      tile.dst_stride = run.dst_stride;
      plan.ops->finish_s16(plan.s16, tile);
    };
    if (plan.cuts_s16) {
      parts.prepare(block);
      parts.multiply(task.n0, task.n1, finish);
      continue;
    }
    prepare(macro_kernel, weights.columns, at.prepared, workspace, &block);
    const size_t pass =
        at.s16_sums_count / sums_of(plan, rows) / kS16Columns * kS16Columns / unit * unit;
    for (size_t n0 = task.n0, n; n0 < task.n1; n0 += n) {
      n = smaller(pass, task.n1 - n0);
      const size_t stride = sums_stride(n);
      weights.first = 0 - n0;  // the sums begin at column n0
      block.output.to = {(uint8_t*)sums, stride * sizeof(int32_t), nullptr, 0};
      multiply(macro_kernel, weights, block, n0, n0 + n);
      S16Tile tile = {};
      tile.high = plan.splits_s16 ? sums : nullptr;
      tile.low = plan.splits_s16 ? sums + stride : sums;
      tile.sums_stride = sums_of(plan, 1) * stride;
      finish(tile, n0, n);
    }
  }
}

}  // namespace octet
