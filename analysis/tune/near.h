// SPDX-License-Identifier: Apache-2.0
// Varies the numbers of a choice.
#pragma once

#include "analysis/tune/search.h"

namespace octet {

// Adds choices that differ from `near` in one number.
template <typename Number, typename Add>
auto adds_with(Number Choice::*number, const Choice& near, const Add& add) {
  return [=](const Number& value) {
    Choice choice = near;
    choice.*number = value;
    add(choice);
  };
}

// Halves and doubles the block repeatedly; no block is larger than the work.
template <typename Add>
void blocks_near(size_t block, size_t unit, size_t units, const Add& add) {
  const size_t all = round_up(units, unit), from = smaller(block, all);
  for (size_t parts = 8; parts > 1; parts /= 2) add(larger(from / parts / unit, 1) * unit);
  for (size_t times = 2; times <= 4; times *= 2)
    if (from <= all / times) add(from * times);
  add(all);
}

// All columns at once, or a part of them in whole panels.
template <typename Add>
void passes_near(size_t columns, size_t unit, const Add& add) {
  add(0);
  for (size_t parts = 2; parts <= 8; parts *= 2)
    if (divide_up(columns, parts) > unit) add(round_up(divide_up(columns, parts), unit));
}

// Tasks along one axis only, or along both.
template <typename Add>
void cuts_near(size_t concurrency, const Add& add) {
  if (concurrency < 2) return;
  add(TaskLimits{0, 0});
  add(TaskLimits{1, 0});
  add(TaskLimits{0, 1});
}

}  // namespace octet
