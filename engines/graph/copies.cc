// SPDX-License-Identifier: Apache-2.0
// Copies lines of images.
#include "engines/graph/copies.h"

#include <algorithm>
#include <cstring>

#include "engines/graph/refused.h"
#include "octet/image_functions.h"

namespace octet::graph {
namespace {

constexpr size_t kFewBytes = 64;  // fewer are looked up one by one

struct Copy {
  size_t element;
  const uint8_t* table;  // or null
  Function look_up;      // by the table
  uint8_t bytes[256];
};

// Elements of an image in their order, piece by piece: all, a line of a ring, or a slice's pixel.
class Pieces {
 public:
  Pieces(const octet_network_image& image, size_t element, size_t first_byte)
      : image_(image),
        dense_(image.pixel == image.channels * element),
        piece_(!dense_      ? image.channels * element
               : image.ring ? image.line
                            : image.h * image.line),
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

octet_network_image flat(uint8_t* data, size_t bytes) {
  octet_network_image image = {};
  image.data = data, image.h = image.w = 1;
  image.pixel = image.line = image.channels = bytes;
  return image;
}

void look_up_bytes(const Function& look_up, uint8_t* from, uint8_t* to, size_t bytes) {
  octet_network_call call;
  call.image = call.first = 0, call.end = 1;
  call.inputs[0] = flat(from, bytes), call.output = flat(to, bytes);
  look_up.lines.run(look_up.lines.context, &call);
}

void copy_bytes(Pieces* from, Pieces* to, size_t left, const uint8_t* table,
                const Function* look_up = nullptr) {
  while (left > 0) {
    const size_t bytes = std::min({left, from->left(), to->left()});
    uint8_t* const out_bytes = to->data();
    uint8_t* const in_bytes = from->data();
    if (look_up && bytes >= kFewBytes)
      look_up_bytes(*look_up, in_bytes, out_bytes, bytes);
    else if (table)
      for (size_t i = 0; i < bytes; ++i) out_bytes[i] = table[in_bytes[i]];
    else
      std::memcpy(out_bytes, in_bytes, bytes);
    from->advance(bytes), to->advance(bytes), left -= bytes;
  }
}

void copy_lines(void* context, const octet_network_call* call) {
  const Copy& copy = *(const Copy*)context;
  const octet_network_image& out = call->output;
  const size_t line = out.w * out.channels * copy.element;
  Pieces from(call->inputs[0], copy.element, call->first * line);
  Pieces to(out, copy.element, call->first * line);
  copy_bytes(&from, &to, (call->end - call->first) * line, copy.table,
             copy.table ? &copy.look_up : nullptr);
}

// ---- other orders

struct Permutation {
  size_t element;
  std::vector<size_t> sizes, strides;  // of the output's axes; strides in the input, in elements
  size_t first = 0;                    // the input's element that the output begins with
};

// Copies elements that lie `stride` bytes apart.
void copy_strided(size_t element, const uint8_t* from, size_t stride, size_t count, uint8_t* to) {
  if (element == 1)
    for (size_t i = 0; i < count; ++i) to[i] = from[i * stride];
  else
    for (size_t i = 0; i < count; ++i) std::memcpy(to + i * element, from + i * stride, element);
}

// Copies elements from one place on, run by run of the last axis.
void permute_run(const Permutation& p, const uint8_t* from, size_t first, size_t count,
                 uint8_t* to) {
  const size_t last = p.sizes.size() - 1, stride = p.strides[last] * p.element;
  while (count > 0) {
    size_t rest = first, offset = p.first;
    for (size_t axis = p.sizes.size(); axis-- > 0; rest /= p.sizes[axis])
      offset += rest % p.sizes[axis] * p.strides[axis];
    const size_t n = std::min(count, p.sizes[last] - first % p.sizes[last]);
    const uint8_t* at = from + offset * p.element;
    if (stride == p.element)
      std::memcpy(to, at, n * p.element);
    else
      copy_strided(p.element, at, stride, n, to);
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

std::vector<size_t> strides_of(const std::vector<size_t>& shape) {
  std::vector<size_t> strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

// An axis that follows the one before it in the input, too, is a part of it.
Permutation merged(size_t element, const std::vector<size_t>& sizes,
                   const std::vector<size_t>& strides, size_t first) {
  Permutation p = {element, {}, {}, first};
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (!p.sizes.empty() && p.strides.back() == sizes[i] * strides[i])
      p.sizes.back() *= sizes[i], p.strides.back() = strides[i];
    else
      p.sizes.push_back(sizes[i]), p.strides.push_back(strides[i]);
  }
  if (p.sizes.empty()) p.sizes = p.strides = {1};
  return p;
}

// ---- images behind images

struct Joined {
  size_t element;
  std::vector<std::vector<uint8_t>> tables;  // of each input; empty: its bytes as they are
};

void join_lines(void* context, const octet_network_call* call) {
  const Joined& joined = *(const Joined*)context;
  const octet_network_image& out = call->output;
  const size_t line = out.w * out.channels * joined.element, begin = call->first * line,
               end = call->end * line;
  Pieces to(out, joined.element, begin);
  size_t first = 0;  // the input's in the output
  for (size_t k = 0; k < joined.tables.size(); ++k) {
    const octet_network_image& in = call->inputs[k];
    const size_t behind = first + in.h * in.w * in.channels * joined.element,
                 at = std::max(begin, first);
    const std::vector<uint8_t>& table = joined.tables[k];
    if (at < std::min(end, behind)) {
      Pieces from(in, joined.element, at - first);
      copy_bytes(&from, &to, std::min(end, behind) - at, table.empty() ? nullptr : table.data());
    }
    first = behind;
  }
}

struct Block {
  size_t element, block;
  bool pixels_together;
};

void depth_to_space_lines(void* context, const octet_network_call* call) {
  const Block b = *(const Block*)context;
  const octet_network_image &in = call->inputs[0], &out = call->output;
  const size_t block = b.block, bytes = out.channels * b.element;
  const size_t place = b.pixels_together ? b.element : bytes;  // between pixels of a square
  for (size_t y = call->first; y < call->end; ++y) {
    const auto* const from =
        (const uint8_t*)octet_network_line(&in, y / block) + y % block * block * place;
    auto* const to = (uint8_t*)octet_network_line(&out, y);
    for (size_t x = 0; x < out.w; ++x) {
      const uint8_t* const pixel = from + x / block * in.pixel + x % block * place;
      if (b.pixels_together)
        copy_strided(b.element, pixel, block * block * b.element, out.channels, to + x * out.pixel);
      else
        std::memcpy(to + x * out.pixel, pixel, bytes);
    }
  }
}

void space_to_depth_lines(void* context, const octet_network_call* call) {
  const Block b = *(const Block*)context;
  const octet_network_image &in = call->inputs[0], &out = call->output;
  const size_t block = b.block, bytes = in.channels * b.element;
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t line = 0; line < block; ++line) {
      const auto* const from = (const uint8_t*)octet_network_line(&in, y * block + line);
      auto* const to = (uint8_t*)octet_network_line(&out, y) + line * block * bytes;
      for (size_t x = 0; x < out.w * block; ++x)
        std::memcpy(to + x / block * out.pixel + x % block * bytes, from + x * in.pixel, bytes);
    }
}

}  // namespace

Function copy_function(size_t element, const std::vector<uint8_t>& table, bool all_images) {
  auto copy = std::make_shared<Copy>(Copy{element, nullptr, {}, {}});
  if (!table.empty()) {
    std::copy(table.begin(), table.end(), copy->bytes);
    copy->table = copy->bytes, copy->look_up = look_up_function(OCTET_U8, OCTET_U8, table);
  }
  Function f;
  f.lines.run = copy_lines, f.lines.context = copy.get(), f.lines.kernel_h = reach(all_images);
  f.arguments = std::move(copy);
  return f;
}

Function permute_function(size_t element, const std::vector<size_t>& shape,
                          const std::vector<size_t>& permutation, bool all_images) {
  std::vector<size_t> sizes, strides;
  const std::vector<size_t> from = strides_of(shape);
  for (const size_t axis : permutation) sizes.push_back(shape[axis]), strides.push_back(from[axis]);
  return function_of(merged(element, sizes, strides, 0), permute_lines, reach(all_images));
}

Function cut_function(size_t element, const std::vector<size_t>& shape,
                      const std::vector<size_t>& begins, const std::vector<size_t>& sizes) {
  const std::vector<size_t> strides = strides_of(shape);
  size_t first = 0;
  for (size_t i = 0; i < shape.size(); ++i) first += begins[i] * strides[i];
  return function_of(merged(element, sizes, strides, first), permute_lines, reach(true));
}

Function join_images_function(size_t element, std::vector<std::vector<uint8_t>> tables) {
  return function_of(Joined{element, std::move(tables)}, join_lines, reach(true));
}

Function depth_to_space_function(size_t element, size_t block, bool pixels_together) {
  Function f = function_of(Block{element, block, pixels_together}, depth_to_space_lines, 1);
  f.lines.repeat_h = block;
  return f;
}

Function space_to_depth_function(size_t element, size_t block) {
  Function f = function_of(Block{element, block, false}, space_to_depth_lines, block);
  f.lines.stride_h = block;
  return f;
}

Function owned_function(octet_function* function) {
  Function f;
  f.arguments = std::shared_ptr<octet_function>(function, octet_function_destroy);
  octet_error error = {};
  check(octet_function_for_network(function, &f.lines, &error), error);
  return f;
}

Function look_up_function(octet_type from, octet_type to, const std::vector<uint8_t>& table) {
  octet_lut_desc d = OCTET_LUT_DESC_INIT;
  d.input = from, d.output = to;
  std::copy(table.begin(), table.end(), d.table);
  octet_function* function = nullptr;
  octet_error error = {};
  check(octet_lut_create(&d, &function, &error), error);
  return owned_function(function);
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
