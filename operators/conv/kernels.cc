// SPDX-License-Identifier: Apache-2.0
// Selects the kernel of a convolution.
#include "operators/conv/kernels.h"

#include "dispatch/tables/formats.h"
#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/kernels.h"
#include "dispatch/tables/tiers.h"
#include "operators/conv/algorithms/taps.h"

namespace octet {
namespace {

// Deeper windows that are copied are rather split where the tier multiplies two rows of bytes as
// fast as one of s16 values. Of the split one's time a 3x3 layer to 32 channels takes 0.65 with a
// depth of 36, 0.78 with 72, 0.9 with 108 and 0.88 to 0.93 with 144 and 147 (Emerald Rapids,
// 2026-11-29); deeper ones were not measured. Windows that are read in place take 0.7 to 1.
constexpr size_t kMostS16Depth = 160;

bool reads(const MicroKernel& kernel, const RhsLayout& layout) {
  return kernel.rhs_layout == layout;
}

// The forced kernel if it is of this kind, else the best kernel that this CPU runs and that reads
// the layout.
template <typename Kernel>
Selected pick(const Table<Kernel>& table, const CpuFeatures& cpu, const RhsLayout& layout,
              const char* forced, const Kernel** picked) {
  const auto usable = [&](const Kernel& kernel) {
    return supports(cpu, kernel) && reads(kernel, layout);
  };
  if (forced && (*picked = find(table, forced)))
    return usable(**picked) ? Selected::kOk : Selected::kForcedUnusable;
  if (forced && !kernel_exists(forced)) return Selected::kUnknownName;
  for (const Kernel* kernel : table)
    if (usable(*kernel) && !(kernel->flags & kTestsOnly)) {
      *picked = kernel;
      return Selected::kOk;
    }
  return Selected::kNoKernel;
}

}  // namespace

bool alike(const DepthwiseKernel* a, const DepthwiseKernel* b) {
  if (!a || !b) return !a && !b;
  return a->lhs_element_type == b->lhs_element_type &&
         (a->flags | kStoresFloats) == (b->flags | kStoresFloats) &&
         (a->flags & kStoresFloats) >= (b->flags & kStoresFloats) && a->channels == b->channels &&
         a->reach == b->reach && a->rows == b->rows && a->walk_rows == b->walk_rows &&
         a->walks_5x5 == b->walks_5x5 && a->copied_5x5 == b->copied_5x5 &&
         copied_bytes(*a) <= copied_bytes(*b) && a->partial == b->partial && !a->widen &&
         !b->widen && a->byte_windows == b->byte_windows && !a->requantize == !b->requantize &&
         alike(a->tail, b->tail);
}

const DepthwiseKernel* int8_kernel_for(const CpuFeatures& cpu, const DepthwiseKernel* int16) {
  if (!int16) return nullptr;
  const Tier& tier = tier_of(int16->tier_id);
  const RhsLayout& layout = format_of(tier.depthwise).layout;
  if (!reads(*int16, format_of(tier.depthwise_int16).layout)) return nullptr;
  for (const DepthwiseKernel* kernel : depthwise_kernels())
    if (reads(*kernel, layout) && supports(cpu, *kernel) && !(kernel->flags & kTestsOnly))
      return alike(kernel, int16) ? kernel : nullptr;
  return nullptr;
}

const ByteWindowsKernel* byte_windows_for(const CpuFeatures& cpu, const ConvKernel& kernel,
                                          const char* forced) {
  if (kernel.depthwise) return kernel.depthwise->byte_windows;
  for (const DepthwiseKernel* grouped : depthwise_kernels())
    if (!forced && grouped->byte_windows && grouped->tier_id == kernel.tier_id() &&
        supports(cpu, *grouped))
      return grouped->byte_windows;
  return nullptr;
}

bool reads_s16_windows(TierId tier_id, const ConvShape& shape) {
  for (const MicroKernel* kernel : s16_kernels())
    if (kernel->tier_id == tier_id) return reads_lines(kernel->rhs_layout, SIZE_MAX, shape);
  return false;
}

void take_s16(const ConvAlgorithm& implementation, const CpuFeatures& cpu, const ConvShape& shape,
              bool sums_fit, bool zero_points, ConvKernel* kernel) {
  if (kernel->micro) {
    const MicroKernel* s16 = gathering_s16(conv_kernels(), cpu, *kernel->micro);
    for (const MicroKernel* other : s16_kernels())
      if (!s16 && other->tier_id == kernel->micro->tier_id &&
          reads(*other, kernel->micro->rhs_layout))
        s16 = other;
    if (!s16 || !supports(cpu, *s16) || !sums_fit || zero_points || shape.groups > 1) return;
    const size_t depth = shape.taps() * shape.group_in(),
                 pixels =
                     shape.batch * conv_out_h(shape, shape.in_h) * conv_out_w(shape, shape.in_w);
    const bool windows = implementation.wants_borders && implementation.wants_borders(shape);
    const bool rows = shape.pointwise() ||
                      (shape.skips_pixels() && implementation.reads_in_place) ||
                      (windows && (s16->gather_s16 || depth <= kMostS16Depth ||
                                   reads_lines(s16->rhs_layout, SIZE_MAX, shape)));
    if (!rows || pixels < s16->mr) return;
    kernel->micro = s16;
    kernel->s16 = true;
    return;
  }
  // Copies of channels that several outputs read are of bytes
  if (!kernel->depthwise || shape.group_out() > 1 || shape.taps() > kMostS16Taps) return;
  const DepthwiseKernel* s16 = kernel->depthwise->s16;
  for (const DepthwiseKernel* other : depthwise_kernels())
    if (!s16 && other->tier_id != kPortableTier && reads(*other, kernel->depthwise->layout) &&
        supports(cpu, *other))
      s16 = other->s16;
  if (!s16) return;
  kernel->depthwise = s16;
  kernel->s16 = true;
}

ConvKernel select_conv(const ConvAlgorithm& implementation, const CpuFeatures& cpu,
                       ElementType lhs_type, ElementType rhs_type, size_t columns, size_t depth,
                       const WeightFacts& facts, const char* forced) {
  ConvKernel kernel = {Selected::kNoKernel, nullptr, nullptr};
  switch (implementation.operands) {
    case KernelKind::kInt8: {
      const Problem problem = {SIZE_MAX, columns, depth, lhs_type, rhs_type};
      const Selection selection = select(conv_kernels(), cpu, problem, facts, forced);
      kernel.result = selection.result;
      kernel.micro = selection.kernel;
      break;
    }
    case KernelKind::kInt16:
      kernel.result = pick(int16_kernels(), cpu, facts.layout, forced, &kernel.micro);
      break;
    case KernelKind::kDepthwise:
    case KernelKind::kGrouped:
      kernel.result = pick(depthwise_kernels(), cpu, facts.layout, forced, &kernel.depthwise);
      break;
  }
  return kernel;
}

bool has_kernel(const ConvAlgorithm& implementation, const char* name) {
  switch (implementation.operands) {
    case KernelKind::kInt8: return find(conv_kernels(), name);
    case KernelKind::kInt16: return find(int16_kernels(), name);
    case KernelKind::kDepthwise:
    case KernelKind::kGrouped: return find(depthwise_kernels(), name);
  }
  return false;
}

}  // namespace octet
