// SPDX-License-Identifier: Apache-2.0
// Reads and writes the names of shapes.
#include "bench/problems/conv_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace tool {
namespace {

constexpr const char* kFields[] = {"mb", "g",  "ic", "oc", "ih", "iw", "oh", "ow",
                                   "kh", "kw", "sh", "sw", "dh", "dw", "ph", "pw"};
constexpr const char* kList = "mb g ic oc ih iw oh ow kh kw sh sw dh dw ph pw";
constexpr size_t kLargest = 9999999;

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {
    size_t at = text.rfind('t', 0) == 0 ? 1 : 0;
    while (at < text.size()) at = text[at] == '_' ? at + 1 : read_field(at);
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(fmt::format("'{}' is not a case: {}", text_, why));
  }
  std::optional<size_t> optional(const std::string& field) const {
    const auto found = values_.find(field);
    return found == values_.end() ? std::nullopt : std::optional<size_t>(found->second);
  }
  size_t required(const std::string& field) const {
    if (const auto value = optional(field)) return *value;
    fail(fmt::format("{} is missing", field));
  }

 private:
  size_t read_field(size_t at) {
    const char* const begin = text_.data() + at;
    for (const char* name : kFields) {
      const size_t length = std::char_traits<char>::length(name);
      if (text_.compare(at, length, name) != 0) continue;
      size_t value = 0;
      const auto [end, problem] =
          std::from_chars(begin + length, text_.data() + text_.size(), value);
      if (problem == std::errc::result_out_of_range || value > kLargest)
        fail(fmt::format("{} is larger than {}", name, kLargest));
      if (problem != std::errc()) fail(fmt::format("{} has no number", name));
      if (value == 0 && name[0] == 'd')
        fail(fmt::format("{}0: a dilation of 1 is none here", name));
      if (value == 0 && name[0] != 'p') fail(fmt::format("{} must be at least 1", name));
      if (!values_.emplace(name, value).second) fail(fmt::format("{} is given twice", name));
      return at + (size_t)(end - begin);
    }
    fail(fmt::format("no field starts at '{}'; there are {}, and t in front for a transposed one",
                     begin, kList));
  }

  const std::string& text_;
  std::map<std::string, size_t> values_;
};

// The sizes along h or w.
struct Axis {
  size_t in, kernel, stride, dilation, before;
  size_t out = 0, after = 0, extra = 0;

  size_t reach() const { return dilation * (kernel - 1) + 1; }
  // transposed: the output without padding
  size_t full() const { return (in - 1) * stride + reach(); }
};

// Derives the output from the padding after the axis, or the padding from the output.
void complete(const Parser& p, const std::string& out_name, std::optional<size_t> out, Axis* a) {
  if (!out) {
    a->after = a->before;
    const size_t padded = a->in + 2 * a->before;
    if (padded < a->reach())
      p.fail(fmt::format("the kernel reaches over {} positions, the padded input has {}",
                         a->reach(), padded));
    a->out = (padded - a->reach()) / a->stride + 1;
    return;
  }
  a->out = *out;
  const size_t needed = (a->out - 1) * a->stride + a->reach(), there = a->in + a->before;
  const size_t least = there < a->reach() ? 1 : (there - a->reach()) / a->stride + 1;
  if (a->out < least) p.fail(fmt::format("{} is at least {}", out_name, least));
  a->after = needed > there ? needed - there : 0;
}

void complete_transposed(const Parser& p, const std::string& out_name, std::optional<size_t> out,
                         Axis* a) {
  if (!out && a->full() <= 2 * a->before)
    p.fail(fmt::format("the padding leaves no output: {} positions less 2 x {}", a->full(),
                       a->before));
  a->out = out.value_or(a->full() - 2 * a->before);
  const size_t room = a->full() + a->stride - 1, most = room - std::min(a->before, room);
  if (a->out > most) p.fail(fmt::format("{} is at most {}", out_name, most));
  const size_t end = a->before + a->out;
  a->after = end < a->full() ? a->full() - end : 0;
  a->extra = end > a->full() ? end - a->full() : 0;
}

// Missing fields of w are those of h.
Axis axis(const Parser& p, char letter, bool transposed) {
  const auto given = [&](char what) {
    const std::optional<size_t> own = p.optional({what, letter});
    return own || letter == 'h' ? own : p.optional({what, 'h'});
  };
  const auto required = [&](char what) {
    return given(what) ? *given(what) : p.required({what, letter});
  };
  Axis a = {required('i'), required('k'), given('s').value_or(1), given('d').value_or(1),
            given('p').value_or(0)};
  (transposed ? complete_transposed : complete)(p, {'o', letter}, given('o'), &a);
  return a;
}

}  // namespace

ConvShape parse_conv(const std::string& text) {
  const Parser p(text);
  const bool transposed = text.rfind('t', 0) == 0;
  ConvShape shape = {OCTET_CONV2D_SHAPE_INIT, 0, 0};
  octet_conv2d_shape& g = shape.geometry;
  g.batch_max = p.optional("mb").value_or(1);
  g.groups = p.optional("g").value_or(1);
  g.in_channels = p.required("ic");
  g.out_channels = p.required("oc");
  for (const auto& [name, channels] : {std::pair{"ic", g.in_channels}, {"oc", g.out_channels}})
    if (channels % g.groups)
      p.fail(fmt::format("{}{} is not a multiple of g{}", name, channels, g.groups));
  const Axis h = axis(p, 'h', transposed), w = axis(p, 'w', transposed);
  g.transposed = transposed;
  g.in_h_max = h.in, g.kernel_h = h.kernel, g.stride_h = h.stride, g.dilation_h = h.dilation;
  g.in_w_max = w.in, g.kernel_w = w.kernel, g.stride_w = w.stride, g.dilation_w = w.dilation;
  g.pad_top = h.before, g.pad_bottom = h.after, g.output_padding_h = h.extra;
  g.pad_left = w.before, g.pad_right = w.after, g.output_padding_w = w.extra;
  shape.out_h = h.out, shape.out_w = w.out;
  constexpr double kMostElements = 1e12;
  const auto product = [](auto... factors) { return (1.0 * ... * (double)factors); };
  if (product(g.batch_max, h.in, w.in, g.in_channels) > kMostElements ||
      product(g.batch_max, h.out, w.out, g.out_channels) > kMostElements ||
      product(g.out_channels, shape.group_in(), h.kernel, w.kernel) > kMostElements)
    p.fail("a tensor has more than 10^12 elements");
  return shape;
}

std::string ConvShape::name() const {
  const octet_conv2d_shape& g = geometry;
  const auto axis = [](char c, size_t in, size_t out, size_t kernel, size_t stride, size_t dilation,
                       size_t before, bool dilated) {
    return fmt::format("_i{0}{1}o{0}{2}k{0}{3}s{0}{4}{5}p{0}{6}", c, in, out, kernel, stride,
                       dilated ? fmt::format("d{}{}", c, dilation) : "", before);
  };
  const bool dilated = g.dilation_h > 1 || g.dilation_w > 1;
  const bool square = g.in_h_max == g.in_w_max && out_h == out_w && g.kernel_h == g.kernel_w &&
                      g.stride_h == g.stride_w && g.dilation_h == g.dilation_w &&
                      g.pad_top == g.pad_left;
  return fmt::format(
      "{}{}mb{}_ic{}oc{}{}{}", g.transposed ? "t" : "",
      g.groups > 1 ? fmt::format("g{}", g.groups) : "", g.batch_max, g.in_channels, g.out_channels,
      axis('h', g.in_h_max, out_h, g.kernel_h, g.stride_h, g.dilation_h, g.pad_top, dilated),
      square ? ""
             : axis('w', g.in_w_max, out_w, g.kernel_w, g.stride_w, g.dilation_w, g.pad_left,
                    dilated));
}

double ConvShape::ops() const {
  const double window = (double)(geometry.kernel_h * geometry.kernel_w);
  return geometry.transposed
             ? 2 * window * (double)in_pixels() * (double)(geometry.in_channels * group_out())
             : 2 * window * (double)out_pixels() * (double)(geometry.out_channels * group_in());
}

}  // namespace tool
