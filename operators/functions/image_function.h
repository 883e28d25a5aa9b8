// SPDX-License-Identifier: Apache-2.0
// Makes functions of one image from their numbers and a tier's loops.
#pragma once

#include "dispatch/tables/image_functions.h"
#include "octet/image_functions.h"
#include "operators/common/check.h"
#include "operators/functions/function.h"

namespace octet {

struct ImageSizes {
  octet_image_size in, out;
};

template <typename Numbers>
struct ImagePlan {
  ImageSizes sizes;  // first: check_image_sizes reads no more
  Numbers numbers;
  void (*kernel)(const Numbers& numbers, const ImageCall& call);
};

octet_status check_image_sizes(const void* plan, const FunctionShapes& shapes, octet_error* error);

constexpr octet_network_function kWholeImage = {nullptr, nullptr, 0, 1, 1, 0},
                                 kLineByLine = {nullptr, nullptr, 1, 1, 1, 0};

// Lines as a network takes them: all of them where a number is beyond its limit.
inline octet_network_function within_limits(const octet_network_function& lines) {
  constexpr size_t kMost = (size_t)1 << 15;
  if (lines.kernel_h <= kMost && lines.stride_h <= kMost && lines.repeat_h <= kMost &&
      lines.pad_top <= kMost)
    return lines;
  return kWholeImage;
}

template <typename Numbers>
void run_image_function(void* plan, const octet_network_call* call) {
  const auto& p = *(const ImagePlan<Numbers>*)plan;
  p.kernel(p.numbers, {call->first, call->end, call->inputs[0], call->output});
}

// A function of one image. Its outputs have the input's type.
template <typename Numbers>
FunctionBuilder<ImagePlan<Numbers>> image_function(
    const octet_image_input& in, const ImageSizes& sizes, const octet_network_function& lines,
    const Numbers& numbers, void (*kernel)(const Numbers& numbers, const ImageCall& call)) {
  FunctionBuilder<ImagePlan<Numbers>> builder = {{}, {sizes, numbers, kernel}};
  octet_function& f = builder.function;
  f.network = within_limits(lines);
  f.network.run = run_image_function<Numbers>;
  f.types[0] = f.output_type = in.values.type;
  f.input_count = 1;
  f.check = check_image_sizes;
  f.cycles = f.network.kernel_h ? 1 : 8;  // a function of whole images reads more than it writes
  return builder;
}

// ---- checks. Names are of the descriptor's fields.

// The functions of the best tier that the input allows.
enum class InputTypes { kBytesAndS16, kAny };
octet_status check_input(const octet_image_input& input, InputTypes types,
                         ImageFunctions* functions, octet_error* error);
// Of an image: none is 0, and all its bytes fit in memory.
octet_status check_size(const octet_image_size& size, size_t element, const char* name,
                        octet_error* error);
// Of input and output.
octet_status check_quantized(const octet_quantized& input, const octet_quantized& output,
                             octet_error* error);
// Sets *out to the number of windows; channels are the input's.
octet_status check_window(const octet_image_size& in, const octet_window& window,
                          octet_image_size* out, octet_error* error);

inline ImageWindow window_of(const octet_window& w) {
  return {w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.pad_top, w.pad_left};
}
inline octet_network_function lines_of(const octet_window& w) {
  return {nullptr, nullptr, w.kernel_h, w.stride_h, 1, w.pad_top};
}

}  // namespace octet
