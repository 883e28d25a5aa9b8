// SPDX-License-Identifier: Apache-2.0
// Convolutions line by line: the input lines that output lines read, and runs of some lines only.
#pragma once

#include "operators/conv/algorithms/algorithm.h"

namespace octet {

struct LineRange {
  size_t first, end;
  size_t count() const { return end - first; }
};

// The lines of an input of in_h lines that output lines read. Clipped to the input: everything else
// is padding. Empty if all is padding.
LineRange input_lines(const ConvShape& shape, size_t pad_top, size_t in_h, LineRange out);
// The most input lines that so many output lines read. Grows with out_lines.
size_t most_input_lines(const ConvShape& shape, size_t out_lines);

// The run of images [image, image + images) and output lines `out`; all lines if images > 1. Its
// bytes are those of the whole run. Its lhs is not set: read_lines does that.
ConvRun run_of_lines(const ConvPlan& plan, const ConvRun& whole, size_t image, size_t images,
                     LineRange out);
// Sets the run's lhs to lines `in` of an image of `from`, which may be a ring that holds them.
void read_lines(const ConvRun& from, size_t image, LineRange in, ConvRun* run);

// Runs a task, in the plan's passes over its channels.
void run_passes(const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace);
// Runs everything as one task.
void run_all(const ConvPlan& plan, const ConvRun& run, uint8_t* workspace);

}  // namespace octet
