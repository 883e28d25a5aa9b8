// SPDX-License-Identifier: Apache-2.0
// Chooses the kernel, block and tasks of a convolution.
#include "operators/conv/choice.h"

#include <string.h>

namespace octet {
namespace {

// The shape that the algorithm computes.
ConvShape shape_of(const ConvChoiceProblem& p, const ConvAlgorithm& implementation) {
  return implementation.rewrite ? implementation.rewrite(p.facts.layout, p.shape) : p.shape;
}

// The depth of an output: the inputs of all of its taps.
size_t depth_of(const ConvChoiceProblem& p, const ConvAlgorithm& implementation) {
  const ConvShape s = shape_of(p, implementation);
  return s.taps() * s.group_in() / (s.transposed ? s.stride_h * s.stride_w : 1);
}

ConvKernel kernel_of(const ConvChoiceProblem& p, const ConvAlgorithm& implementation,
                     const CpuFeatures& cpu, const char* forced) {
  return select_conv(implementation, cpu, p.lhs_type, p.rhs_type,
                     shape_of(p, implementation).group_out(), depth_of(p, implementation), p.facts,
                     forced);
}

// The part of a plan that blocks and grains depend on.
ConvPlan plan_of(const ConvChoiceProblem& p, const ConvAlgorithm& implementation,
                 const ConvKernel& kernel, size_t cache_bytes) {
  ConvPlan plan = {};
  plan.shape = shape_of(p, implementation);
  plan.kernel = kernel.micro;
  plan.depthwise = kernel.depthwise;
  plan.dst_bytes = p.dst_bytes;
  plan.cache_bytes = cache_bytes;
  return plan;
}

size_t channels_unit(const ConvPlan& plan, const ConvAlgorithm& implementation) {
  const ConvShape& s = plan.shape;
  return implementation.grain(plan, conv_out_h(s, s.in_h), conv_out_w(s, s.in_w)).channels;
}

size_t channels_of_pass(const ConvPlan& plan, const ConvAlgorithm& implementation, size_t block,
                        size_t cache_bytes) {
  const ConvShape& s = plan.shape;
  const size_t pixels = s.batch * conv_out_h(s, s.in_h) * conv_out_w(s, s.in_w);
  return columns_of_pass({divide_up(pixels, block), s.batch * s.in_h * s.in_w * s.in_channels,
                          s.out_channels, s.taps() * s.group_in(),
                          channels_unit(plan, implementation), cache_bytes});
}

}  // namespace

ConvKernel choose_conv(const CpuFeatures& cpu, const ConvChoiceProblem& p, const char* forced,
                       Choice* choice) {
  const ConvAlgorithm& implementation = *algorithm_of((uint8_t)p.algorithm);
  const ConvKernel kernel = kernel_of(p, implementation, cpu, forced);
  if (kernel.result != Selected::kOk) return kernel;
  const ConvPlan plan = plan_of(p, implementation, kernel, cpu.l2_bytes());
  *choice = {};
  choice->algorithm = p.algorithm;
  choice->layout = p.facts.layout;
  choice->kernel = find_kernel_name(kernel.name());
  choice->block = implementation.block(plan);
  if (implementation.passes)
    choice->pass = channels_of_pass(plan, implementation, choice->block, cpu.last_level_bytes());
  choice->cache_bytes = plan.cache_bytes;
  return kernel;
}

bool may_use(const Choice& c, const CpuFeatures& cpu, const ConvChoiceProblem& p,
             ConvKernel* kernel, const char** why) {
  const ConvAlgorithm& implementation = *algorithm_of((uint8_t)p.algorithm);
  const bool fits = c.kernel && has_kernel(implementation, c.kernel->name);
  if (fits) *kernel = kernel_of(p, implementation, cpu, c.kernel->name);
  *why =
      c.algorithm != p.algorithm      ? "the weights are packed for another algorithm"
      : !(c.layout == p.facts.layout) ? "the weights have another layout"
      : !fits                         ? "its kernel is of another kind"
      : c.small_kernel                ? "a convolution has one kernel"
      : kernel->result != Selected::kOk || strcmp(kernel->name(), c.kernel->name) != 0
          ? "its kernel cannot multiply these operands here"
      : !c.block || (implementation.block_of_tiles && c.block % kernel->micro->mr)
          ? "its block is no multiple of its tiles' rows"
      : c.pass % channels_unit(plan_of(p, implementation, *kernel, c.cache_bytes), implementation)
          ? "its pass is no multiple of its panels' channels"
      : !c.cache_bytes ? "it names no cache"
                       : nullptr;
  return !*why;
}

}  // namespace octet
