// Multiplies s16 values by packed weights, by some columns at a time, a pass: a kernel takes s16
// values as they are, or each row becomes two rows of bytes, which an int8 kernel multiplies. Their
// sums make the outputs.
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

}  // namespace

void lay_out_s16(const GemmPlan& plan, const MicroKernel& kernel, size_t columns, size_t k,
                 Sections* sections, GemmSections* at) {
  const size_t all = sums_stride(columns), rows = rows_of(plan, at->rows);
  at->prepared = prepared_sections(macro_kernel_of(plan, kernel, k), false, rows);
  *sections = {at->prepared.bytes};
  at->quantized_stride = round_up(k, kAlignment);
  at->quantized = plan.splits_s16 ? sections->take(rows * at->quantized_stride) : 0;
  at->s16_sums_count =
      larger(rows * sums_stride(pass_unit(kernel)), all < kSums / rows ? rows * all : kSums);
  at->s16_sums = sections->take(at->s16_sums_count * sizeof(int32_t));
}

void multiply_s16(const GemmRun& run, const MicroKernel& kernel, const GemmMatrix& matrix,
                  size_t packed, const GemmTask& task, uint8_t* workspace) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const size_t k = run.schedule.sizes.k, unit = pass_unit(kernel);
  const MacroKernel macro_kernel = macro_kernel_of(plan, kernel, k);
  Weights weights = packed_weights(plan, packed);
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
    prepare(macro_kernel, weights.columns, at.prepared, workspace, &block);
    const size_t pass = at.s16_sums_count / block.rows / kS16Columns * kS16Columns / unit * unit;
    for (size_t n0 = task.n0, n; n0 < task.n1; n0 += n) {
      n = smaller(pass, task.n1 - n0);
      const size_t stride = sums_stride(n);
      weights.first = 0 - n0;  // the sums begin at column n0
      block.output.to = {(uint8_t*)sums, stride * sizeof(int32_t), nullptr, 0};
      multiply(macro_kernel, weights, block, n0, n0 + n);
      plan.ops->finish_s16(
          plan.s16, {plan.splits_s16 ? sums : nullptr, plan.splits_s16 ? sums + stride : sums,
                     block.rows / rows * stride, rows, n, n0,
                     plan.s16_offsets.from(packed * plan.s16_offsets_stride + n0),
                     matrix.dst + m0 * run.dst_stride + n0 * plan.dst_bytes, run.dst_stride});
    }
  }
}

}  // namespace octet
