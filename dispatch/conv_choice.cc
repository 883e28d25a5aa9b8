#include "dispatch/conv_choice.h"

#include <string.h>

namespace octet {
namespace {

// Kernels for a single row are for matrices.
Problem product_of(const ConvChoiceProblem& p) {
  return {2, p.shape.out_channels, 1, p.lhs_u8, p.rhs_u8};
}

}  // namespace

ConvKernel choose_conv(const CpuFeatures& cpu, const ConvChoiceProblem& p, const char* forced,
                       Choice* choice) {
  const ConvMethod& method = *method_of((uint8_t)p.algorithm);
  const ConvKernel kernel = select_conv(method, cpu, product_of(p), p.facts, forced);
  if (kernel.result != Selected::kOk) return kernel;
  ConvPlan plan = {};
  plan.shape = method.rewrite ? method.rewrite(p.facts.layout, p.shape) : p.shape;
  plan.kernel = kernel.micro;
  plan.depthwise = kernel.depthwise;
  plan.dst_bytes = p.dst_bytes;
  plan.cache_bytes = cpu.l2_bytes();
  *choice = {};
  choice->algorithm = p.algorithm;
  choice->layout = p.facts.layout;
  choice->kernel = find_kernel_name(kernel.name());
  choice->block = method.block(plan);
  choice->cache_bytes = plan.cache_bytes;
  return kernel;
}

bool may_use(const Choice& c, const CpuFeatures& cpu, const ConvChoiceProblem& p,
             ConvKernel* kernel, const char** why) {
  const ConvMethod& method = *method_of((uint8_t)p.algorithm);
  const bool fits = c.kernel && has_kernel(method, c.kernel->name);
  if (fits) *kernel = select_conv(method, cpu, product_of(p), p.facts, c.kernel->name);
  *why = c.algorithm != p.algorithm      ? "the weights are packed for another algorithm"
         : !(c.layout == p.facts.layout) ? "the weights have another layout"
         : !fits                         ? "its kernel is of another kind"
         : c.small_kernel                ? "a convolution has one kernel"
         : kernel->result != Selected::kOk || strcmp(kernel->name(), c.kernel->name) != 0
             ? "its kernel cannot multiply these operands here"
         : !c.block || (method.block_of_tiles && c.block % kernel->micro->mr)
             ? "its block is no multiple of its tiles' rows"
         : !c.cache_bytes ? "it names no cache"
                          : nullptr;
  return !*why;
}

}  // namespace octet
