#include "analysis/tune/conv_choices.h"

#include <string.h>

#include "analysis/tune/near.h"
#include "analysis/tune/worth.h"
#include "operators/conv/algorithms/table.h"

namespace octet {
namespace {

void add_if_legal(const ConvSpace& s, const ConvForm& form, const Choice& choice,
                  Choices* choices) {
  ConvKernel kernel;
  const char* why;
  if (may_use(choice, s.cpu, s.problem(form), &kernel, &why)) choices->add(choice);
}

// Panels are as wide, and tiles no wider.
constexpr size_t kPassUnit = 64;

// Bands are of lines that stay in half of a cache.
bool has_bands(const ConvSpace& s, const ConvMethod& method) {
  return s.staged || (method.wants_borders && method.wants_borders(s.shape));
}

}  // namespace

void add_conv_choices(const ConvSpace& s, const ConvForm& form, Choices* choices) {
  const ConvMethod& method = *method_of((uint8_t)form.algorithm);
  for (size_t i = 0; const KernelName* name = kernel_name(i); ++i) {
    if (name->forced_only || !has_kernel(method, name->name) || !worth_a_try(s.cpu, name->isa))
      continue;
    Choice choice;
    const ConvKernel kernel = choose_conv(s.cpu, s.problem(form), name->name, &choice);
    if (kernel.result == Selected::kOk && strcmp(kernel.name(), name->name) == 0)
      add_if_legal(s, form, choice, choices);
  }
}

void add_conv_choices_near(const ConvSpace& s, const ConvForm& form, const Choice& near,
                           Choices* choices) {
  const ConvMethod& method = *method_of((uint8_t)form.algorithm);
  const ConvKernel kernel =
      select_conv(method, s.cpu, s.lhs_u8, s.rhs_u8, form.facts, near.kernel->name);
  const auto add = [&](const Choice& choice) { add_if_legal(s, form, choice, choices); };
  // No block has more units than there are pixels
  const size_t pixels =
      s.shape.batch * conv_out_h(s.shape, s.shape.in_h) * conv_out_w(s.shape, s.shape.in_w);
  blocks_near(near.block, method.block_of_tiles ? kernel.micro->mr : 1, pixels, [&](size_t block) {
    Choice choice = near;
    choice.block = block;
    add(choice);
  });
  if (method.passes)
    passes_near(s.shape.out_channels, kPassUnit, [&](size_t pass) {
      Choice choice = near;
      choice.pass = pass;
      add(choice);
    });
  if (has_bands(s, method))
    for (int shift = -2; shift <= 2; ++shift) {
      Choice choice = near;
      choice.cache_bytes = shift < 0 ? near.cache_bytes >> -shift : near.cache_bytes << shift;
      if (shift && choice.cache_bytes) add(choice);
    }
  cuts_near(s.concurrency, [&](const TaskLimits& tasks) {
    Choice choice = near;
    choice.tasks = tasks;
    add(choice);
  });
}

}  // namespace octet
