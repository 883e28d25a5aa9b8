// Copies, quantizes and dequantizes lines of images.
#include "engines/graph/copies.h"

#include <algorithm>
#include <cstring>

#include "engines/graph/refused.h"
#include "octet/image_functions.h"

namespace octet::graph {
namespace {

// ---- copies

struct Copy {
  size_t element;
  bool has_table;
  uint8_t table[256];
};

// Elements of an image in their order, piece by piece: a line, or, of a slice, a pixel.
class Pieces {
 public:
  Pieces(const octet_network_image& image, size_t element, size_t first_byte)
      : image_(image),
        dense_(image.pixel == image.channels * element),
        piece_(dense_ ? image.w * image.pixel : image.channels * element),
        index_(first_byte / piece_),
        used_(first_byte % piece_) {}

  uint8_t* data() const {
    const size_t y = dense_ ? index_ : index_ / image_.w, x = dense_ ? 0 : index_ % image_.w;
    return (uint8_t*)octet_network_line(&image_, y) + x * image_.pixel + used_;
  }
  size_t left() const { return piece_ - used_; }
  void advance(size_t bytes) {
    used_ += bytes;
    if (used_ == piece_) ++index_, used_ = 0;
  }

 private:
  const octet_network_image& image_;
  const bool dense_;
  const size_t piece_;
  size_t index_, used_;
};

void copy_lines(void* context, const octet_network_call* call) {
  const Copy& copy = *(const Copy*)context;
  const octet_network_image& out = call->output;
  const size_t line = out.w * out.channels * copy.element;
  Pieces from(call->inputs[0], copy.element, call->first * line);
  Pieces to(out, copy.element, call->first * line);
  for (size_t left = (call->end - call->first) * line; left > 0;) {
    const size_t bytes = std::min({left, from.left(), to.left()});
    uint8_t* const out_bytes = to.data();
    const uint8_t* const in_bytes = from.data();
    if (copy.has_table)
      for (size_t i = 0; i < bytes; ++i) out_bytes[i] = copy.table[in_bytes[i]];
    else
      std::memcpy(out_bytes, in_bytes, bytes);
    from.advance(bytes), to.advance(bytes), left -= bytes;
  }
}

// ---- other orders

struct Permutation {
  size_t element;
  std::vector<size_t> sizes, strides;  // of the output's axes; strides in the input, in elements
};

// Copies elements from one place on, run by run of the last axis.
void permute_run(const Permutation& p, const uint8_t* from, size_t first, size_t count,
                 uint8_t* to) {
  const size_t last = p.sizes.size() - 1, stride = p.strides[last] * p.element;
  while (count > 0) {
    size_t rest = first, offset = 0;
    for (size_t axis = p.sizes.size(); axis-- > 0; rest /= p.sizes[axis])
      offset += rest % p.sizes[axis] * p.strides[axis];
    const size_t n = std::min(count, p.sizes[last] - first % p.sizes[last]);
    const uint8_t* at = from + offset * p.element;
    if (stride == p.element)
      std::memcpy(to, at, n * p.element);
    else if (p.element == 1)
      for (size_t i = 0; i < n; ++i) to[i] = at[i * stride];
    else
      for (size_t i = 0; i < n; ++i) std::memcpy(to + i * p.element, at + i * stride, p.element);
    to += n * p.element, first += n, count -= n;
  }
}

void permute_lines(void* context, const octet_network_call* call) {
  const Permutation& p = *(const Permutation*)context;
  const octet_network_image& out = call->output;
  const auto* const from = (const uint8_t*)octet_network_line(&call->inputs[0], 0);
  const bool dense = out.pixel == out.channels * p.element;
  const size_t pieces = dense ? 1 : out.w, piece = dense ? out.w * out.channels : out.channels;
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t x = 0; x < pieces; ++x)
      permute_run(p, from, (y * pieces + x) * piece, piece,
                  (uint8_t*)octet_network_line(&out, y) + x * out.pixel);
}

struct Block {
  size_t element, block;
};

void depth_to_space_lines(void* context, const octet_network_call* call) {
  const auto [element, block] = *(const Block*)context;
  const octet_network_image &in = call->inputs[0], &out = call->output;
  const size_t bytes = out.channels * element;
  for (size_t y = call->first; y < call->end; ++y) {
    const auto* const from =
        (const uint8_t*)octet_network_line(&in, y / block) + y % block * block * bytes;
    auto* const to = (uint8_t*)octet_network_line(&out, y);
    for (size_t x = 0; x < out.w; ++x)
      std::memcpy(to + x * out.pixel, from + x / block * in.pixel + x % block * bytes, bytes);
  }
}

template <typename Arguments>
Function make(const Arguments& arguments, void (*run)(void*, const octet_network_call*),
              size_t kernel_h) {
  Function f;
  f.arguments = std::make_shared<Arguments>(arguments);
  f.lines.run = run, f.lines.context = f.arguments.get(), f.lines.kernel_h = kernel_h;
  return f;
}

}  // namespace

Function copy_function(size_t element, const std::vector<uint8_t>& table) {
  Copy copy = {element, !table.empty(), {}};
  std::copy(table.begin(), table.end(), copy.table);
  return make(copy, copy_lines, 0);  // any line may want all of the input's
}

Function permute_function(size_t element, const std::vector<size_t>& shape,
                          const std::vector<size_t>& permutation) {
  std::vector<size_t> strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * shape[i + 1];
  Permutation p = {element, {}, {}};
  for (const size_t axis : permutation) {
    if (shape[axis] == 1) continue;
    // An axis that follows the one before it in the input, too, is a part of it.
    if (!p.sizes.empty() && p.strides.back() == shape[axis] * strides[axis])
      p.sizes.back() *= shape[axis], p.strides.back() = strides[axis];
    else
      p.sizes.push_back(shape[axis]), p.strides.push_back(strides[axis]);
  }
  if (p.sizes.empty()) p.sizes = p.strides = {1};
  return make(p, permute_lines, 0);
}

Function depth_to_space_function(size_t element, size_t block) {
  Function f = make(Block{element, block}, depth_to_space_lines, 1);
  f.lines.repeat_h = block;
  return f;
}

Function owned_function(octet_function* function) {
  Function f;
  f.arguments = std::shared_ptr<octet_function>(function, octet_function_destroy);
  octet_error error = {};
  check(octet_function_for_network(function, &f.lines, &error), error);
  return f;
}

Function transpose_function(octet_type type, const Sizes& nhwc, octet_layout to) {
  octet_transpose_desc d = OCTET_TRANSPOSE_DESC_INIT;
  d.input.size = {nhwc.h, nhwc.w, nhwc.channels};
  d.input.values.type = type, d.to = to;
  octet_function* function = nullptr;
  octet_error error = {};
  check(octet_transpose_create(&d, &function, &error), error);
  return owned_function(function);
}

}  // namespace octet::graph
