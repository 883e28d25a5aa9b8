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

// The facts that create has before it allocates.
template <typename Numbers>
struct ImageFunctionBuilder {
  ImageSizes sizes;
  octet_type in, out;
  octet_network_function lines;
  Numbers numbers;
  void (*kernel)(const Numbers& numbers, const ImageCall& call);
  size_t places = 0;  // of ResizePlace, behind the plan
};

octet_status check_image_sizes(const void* plan, const FunctionShapes& shapes, octet_error* error);

constexpr octet_network_function kWholeImage = {nullptr, nullptr, 0, 1, 1, 0};

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

template <typename Numbers>
octet_function* build_image_function(const ImageFunctionBuilder<Numbers>& b, Arena* arena) {
  auto* const f = arena->take<octet_function>(1);
  auto* const plan = arena->take<ImagePlan<Numbers>>(1);
  arena->take<ResizePlace>(b.places);
  if (!f) return nullptr;
  *plan = {b.sizes, b.numbers, b.kernel};
  *f = {};
  f->network = within_limits(b.lines);
  f->network.run = run_image_function<Numbers>;
  f->network.context = plan;
  f->types[0] = b.in, f->output_type = b.out;
  f->input_count = 1;
  f->check = check_image_sizes;
  f->cycles = f->network.kernel_h ? 1 : 8;  // a function of whole images reads more than it writes
  return f;
}

template <typename Numbers>
ResizePlace* places_behind(ImagePlan<Numbers>* plan) {
  return (ResizePlace*)((uint8_t*)plan + round_up(sizeof *plan, kAlignment));
}

template <typename Numbers>
octet_status create_function(const ImageFunctionBuilder<Numbers>& builder,
                             const octet_allocator& allocator, octet_function** function,
                             octet_error* error) {
  return allocate_and_build<octet_function>(build_image_function<Numbers>, builder, allocator,
                                            function, error);
}

// ---- checks. Names are of the descriptor's fields.

// The functions of the best tier that the input allows.
enum class InputTypes { kBytesAndS16, kAny };
octet_status check_input(const octet_image_input& input, InputTypes types,
                         const ImageFunctions** functions, octet_error* error);
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
