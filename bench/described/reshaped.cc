// Copies tensors into other shapes.
#include "bench/described/reshaped.h"

#include <algorithm>
#include <cstring>

namespace tool {
namespace {

void copy_lines(void*, const octet_network_call* call) {
  const octet_network_image &in = call->inputs[0], &out = call->output;
  const size_t in_line = in.w * in.pixel, out_line = out.w * out.pixel;  // neither is a slice
  size_t at = call->first * out_line;                                    // in the image
  for (size_t y = call->first; y < call->end; ++y) {
    char* to = (char*)octet_network_line(&out, y);
    for (size_t left = out_line; left > 0;) {
      const size_t bytes = std::min(left, in_line - at % in_line);
      const char* const from = (const char*)octet_network_line(&in, at / in_line);
      std::memcpy(to, from + at % in_line, bytes);
      to += bytes, at += bytes, left -= bytes;
    }
  }
}

}  // namespace

bool same_sizes(const octet_network_tensor& a, const octet_network_tensor& b) {
  return a.batch == b.batch && a.h == b.h && a.w == b.w && a.channels == b.channels;
}

void set_sizes(octet_network_tensor* to, const octet_network_tensor& from) {
  to->batch = from.batch, to->h = from.h, to->w = from.w, to->channels = from.channels;
}

bool has_rows(const octet_network_tensor& tensor, size_t depth) {
  return tensor.channels == depth || tensor.h * tensor.w * tensor.channels == depth;
}

octet_network_tensor rows_of(const octet_network_tensor& tensor, size_t depth, size_t n) {
  octet_network_tensor rows = tensor;
  if (tensor.channels != depth) rows.h = rows.w = 1;
  rows.channels = n;
  return rows;
}

octet_network_function copy_function() {
  octet_network_function f = {};
  f.run = copy_lines;  // kernel_h is 0: any line may want all of the input's
  return f;
}

}  // namespace tool
