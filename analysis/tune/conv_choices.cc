// SPDX-License-Identifier: Apache-2.0
// Lists candidate choices for a convolution.
#include "analysis/tune/conv_choices.h"

#include <string.h>

#include "analysis/tune/near.h"
#include "analysis/tune/worth.h"
#include "operators/conv/algorithms/table.h"

namespace octet {
namespace {

void add_if_legal(const ConvSpace& s, const ConvFormat& format, const Choice& choice,
                  Choices* choices) {
  ConvKernel kernel;
  const char* why;
  if (may_use(choice, s.cpu, s.problem(format), &kernel, &why)) choices->add(choice);
}

// Panels have this many columns, and tiles no more.
constexpr size_t kPassUnit = 64;

// True if the convolution runs in bands of lines that stay in half of a cache.
bool has_bands(const ConvSpace& s, const ConvAlgorithm& implementation) {
  return s.staged || (implementation.wants_borders && implementation.wants_borders(s.shape));
}

}  // namespace

void add_conv_choices(const ConvSpace& s, const ConvFormat& format, Choices* choices) {
  const ConvAlgorithm& implementation = *algorithm_of((uint8_t)format.algorithm);
  for (size_t i = 0; const KernelName* name = kernel_name(i); ++i) {
    if (name->forced_only || !has_kernel(implementation, name->name) ||
        !worth_a_try(s.cpu, name->tier_id))
      continue;
    Choice choice;
    const ConvKernel kernel = choose_conv(s.cpu, s.problem(format), name->name, &choice);
    if (kernel.result == Selected::kOk && strcmp(kernel.name(), name->name) == 0)
      add_if_legal(s, format, choice, choices);
  }
}

void add_conv_choices_near(const ConvSpace& s, const ConvFormat& format, const Choice& near,
                           Choices* choices) {
  const ConvAlgorithm& implementation = *algorithm_of((uint8_t)format.algorithm);
  const ConvKernel kernel = select_conv(implementation, s.cpu, s.lhs_type, s.rhs_type,
                                        s.shape.group_out(), 1, format.facts, near.kernel->name);
  const auto add = [&](const Choice& choice) { add_if_legal(s, format, choice, choices); };
  // No block has more units than there are pixels
  const size_t pixels =
      s.shape.batch * conv_out_h(s.shape, s.shape.in_h) * conv_out_w(s.shape, s.shape.in_w);
  blocks_near(near.block, implementation.block_of_tiles ? kernel.micro->mr : 1, pixels,
              adds_with(&Choice::block, near, add));
  if (implementation.passes)
    passes_near(s.shape.out_channels, kPassUnit, adds_with(&Choice::pass, near, add));
  if (has_bands(s, implementation))
    for (int shift = -2; shift <= 2; ++shift) {
      Choice choice = near;
      choice.cache_bytes = shift < 0 ? near.cache_bytes >> -shift : near.cache_bytes << shift;
      if (shift && choice.cache_bytes) add(choice);
    }
  cuts_near(s.concurrency, adds_with(&Choice::tasks, near, add));
}

}  // namespace octet
