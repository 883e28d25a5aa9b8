// Convolutions by lines: what output lines read, and a run of only those.
#pragma once

#include "operators/conv/algorithms/algorithm.h"

namespace octet {

struct LineRange {
  size_t first, end;
  size_t count() const { return end - first; }
};

// The lines of an input of in_h lines that output lines read; what else they reach is padding.
// Clipped to the input, and empty where all is padding.
LineRange input_lines(const ConvShape& shape, size_t pad_top, size_t in_h, LineRange out);
// So many at most, for so many output lines. Grows with them.
size_t most_input_lines(const ConvShape& shape, size_t out_lines);

// Of a run's images [image, image + images), output lines `out`; all lines if images > 1. A run of
// its own, whose bytes are those of the whole, but for its lhs:
ConvRun run_of_lines(const ConvPlan& plan, const ConvRun& whole, size_t image, size_t images,
                     LineRange out);
// Lines `in` of an image of `from`, which may be a ring that holds them, are those of the run.
void read_lines(const ConvRun& from, size_t image, LineRange in, ConvRun* run);

// A task in the plan's passes over its channels.
void run_passes(const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace);
// All of a run, as one task.
void run_all(const ConvPlan& plan, const ConvRun& run, uint8_t* workspace);

}  // namespace octet
