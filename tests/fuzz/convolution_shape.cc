// SPDX-License-Identifier: Apache-2.0
// Draws the shape of a convolution, and the sizes and pads of its run.
#include "fuzz/convolution.h"

namespace octet_fuzz {

using octet_test::ConvSizes;

namespace {

// Takes at most n from the budget of multiplications.
size_t take(size_t* budget, size_t n) {
  n = std::max<size_t>(1, std::min(n, *budget));
  *budget /= n;
  return n;
}

// As octet.h requires, the output has at least 1 along both axes.
bool has_output(const octet_conv2d_shape& s) {
  const ConvSizes sizes(s, 1, s.in_h_max, s.in_w_max);
  return sizes.out_h > 0 && sizes.out_w > 0;
}

// Wide lines, whose windows direct reads where they lie if the channels are few.
void draw_wide(Choices* c, octet_conv2d_shape* s) {
  s->kernel_w = 1 + c->below(c->one_in(3) ? 17 : 5);
  s->stride_w = s->stride_h = 1 + c->below(3);
  s->dilation_w = 1;
  s->in_w_max = (24 + c->below(60)) * s->stride_w + s->kernel_w;
  for (size_t* pad : {&s->pad_left, &s->pad_right})
    *pad = c->below(std::min<size_t>(s->kernel_w, 3));
  if (c->one_in(4)) s->pad_bottom = c->below(90);
}

}  // namespace

void Convolution::draw_shape() {
  enum Kind {
    kPointwise,
    kAny,
    kThree,
    kThreeByTwo,
    kDepthwise,
    kGroups,
    kSmallGroups,
    kTransposed,
    kLine,
    kWide,
    kKinds
  };
  octet_conv2d_shape& s = desc.shape;
  const size_t kind = c_->below(kKinds);
  // Depthwise kernels have ways of their own for 3x3 and 5x5.
  const bool three = kind == kThree || kind == kThreeByTwo || (kind == kDepthwise && c_->one_in(2)),
             five = kind == kDepthwise && !three && c_->one_in(2);
  const auto some = [&](size_t usual, size_t most) {
    return 1 + c_->below(c_->one_in(8) ? most : usual);
  };
  for (size_t* side : {&s.kernel_h, &s.kernel_w})
    *side = kind == kPointwise ? 1 : three ? 3 : five ? 5 : some(4, 7);
  if (kind != kPointwise && !three && !five && c_->one_in(3))
    s.dilation_h = some(2, 4), s.dilation_w = some(2, 4);
  s.stride_h = kind == kThree        ? 1
               : kind == kThreeByTwo ? 2
                                     : c_->any<size_t>({1, 1, 2, some(3, 5)});
  s.stride_w = kind == kThree || kind == kThreeByTwo || c_->one_in(2) ? s.stride_h : some(3, 5);
  // More channels than Winograd adds up in one piece, or many pixels, or neither.
  const bool deep = kind == kThree && c_->one_in(8), large = !deep && c_->one_in(8);
  s.in_h_max = large ? c_->size(40) : 1 + c_->below(deep ? 4 : 9);
  s.in_w_max = large ? c_->size(40) : 1 + c_->below(deep ? 4 : 9);
  if (kind == kLine) s.kernel_h = s.in_h_max = s.stride_h = s.dilation_h = 1;
  const size_t most_pad =
      kind == kPointwise && c_->one_in(2)
          ? 1
          : c_->any<size_t>({2, 3, 3, 1 + s.kernel_h * s.dilation_h + s.in_w_max});
  for (size_t* pad : {&s.pad_top, &s.pad_bottom, &s.pad_left, &s.pad_right})
    *pad = c_->below(most_pad);
  if (kind == kWide) draw_wide(c_, &s);
  if (kind == kTransposed) {
    s.transposed = 1;
    s.output_padding_h = c_->below(s.stride_h);
    s.output_padding_w = c_->below(s.stride_w);
  }
  while (!has_output(s)) {
    if (s.transposed)
      s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 0;
    else
      ++s.in_h_max, ++s.in_w_max;
  }

  const ConvSizes sizes(s, 1, s.in_h_max, s.in_w_max);
  size_t budget = kind == kWide ? 400000 : 100000;
  take(&budget, s.kernel_h * s.kernel_w);
  take(&budget, s.transposed ? s.in_h_max * s.in_w_max : (size_t)(sizes.out_h * sizes.out_w));
  s.batch_max = take(&budget, c_->any<size_t>({1, 1, 2, 3}));
  size_t in = c_->one_in(6) ? 64 * some(1, 3) : c_->size(70), out = c_->size(70);
  if (deep) in = 220 + c_->below(200);
  const bool wide_groups = kind == kWide && c_->one_in(3);
  if (kind == kWide) in = some(3, 16), out = some(16, 40);
  if (wide_groups) in = 4 * some(7, 8);
  if (kind == kDepthwise) in = 1, out = c_->any<size_t>({1, 1, some(4, 8)});
  if (kind == kGroups) in = some(4, 20), out = some(4, 20);
  if (kind == kSmallGroups) in = out = c_->any<size_t>({2, 4, 8, 16});
  in = take(&budget, in);
  out = take(&budget, out);
  const size_t groups = kind == kDepthwise                 ? c_->size(150)
                        : kind == kSmallGroups             ? c_->size(40)
                        : wide_groups                      ? 1 + c_->below(4)
                        : kind == kGroups || c_->one_in(8) ? 1 + c_->below(20)
                                                           : 1;
  s.groups = take(&budget, groups);
  s.in_channels = in * s.groups;
  s.out_channels = out * s.groups;
}

// Draws the sizes of the run and of the filter; both may differ from the declared ones.
void Convolution::draw_sizes() {
  octet_conv2d_shape& s = desc.shape;
  args.batch = c_->any<size_t>({0, 0, s.batch_max, 1});
  args.in_h = c_->any<size_t>({0, 0, s.in_h_max, 1 + c_->below(s.in_h_max)});
  args.in_w = c_->any<size_t>({0, 0, s.in_w_max, 1 + c_->below(s.in_w_max)});
  const ConvSizes declared = run_sizes();
  no_output = declared.out_h < 1 || declared.out_w < 1;
  draw_pads();
  const ConvSizes sizes = run_sizes();
  if (!no_output && c_->one_in(2)) {
    args.out_h = (size_t)sizes.out_h;
    args.out_w = (size_t)sizes.out_w;
  }
  filter.shape = s;
  if (!c_->one_in(3)) return;
  octet_conv2d_shape other = s;
  other.batch_max = 1 + c_->below(4);
  other.in_h_max = c_->size(60);
  other.in_w_max = c_->size(60);
  for (size_t* pad : {&other.pad_top, &other.pad_bottom, &other.pad_left, &other.pad_right})
    *pad = c_->below(4);
  if (s.transposed) other.output_padding_h = 0;
  if (has_output(other)) filter.shape = other;
}

// Draws the run's pads; their output of this input is at most that of the declared pads.
void Convolution::draw_pads() {
  if (no_output || !c_->one_in(3)) return;
  const octet_conv2d_shape& s = desc.shape;
  const ConvSizes declared = run_sizes();
  const size_t more = s.transposed ? 3 : 1, most_h = s.pad_top + s.pad_bottom + s.stride_h + more,
               most_w = s.pad_left + s.pad_right + s.stride_w + more;
  pads = Block(c_, sizeof(octet_conv2d_pads), alignof(octet_conv2d_pads));
  octet_conv2d_pads& p = *pads.data<octet_conv2d_pads>();
  p = {c_->below(most_h), c_->below(most_h), c_->below(most_w), c_->below(most_w)};
  args.pads = &p;
  const ConvSizes sizes = run_sizes();
  const auto fits = [](int64_t out, int64_t most) { return out >= 1 && out <= most; };
  if (!fits(sizes.out_h, declared.out_h)) p.top = s.pad_bottom, p.bottom = s.pad_top;
  if (!fits(sizes.out_w, declared.out_w)) p.left = s.pad_right, p.right = s.pad_left;
}

octet_conv2d_shape Convolution::run_shape() const {
  octet_conv2d_shape s = desc.shape;
  if (!args.pads) return s;
  s.pad_top = args.pads->top;
  s.pad_bottom = args.pads->bottom;
  s.pad_left = args.pads->left;
  s.pad_right = args.pads->right;
  return s;
}

ConvSizes Convolution::run_sizes() const {
  const octet_conv2d_shape s = run_shape();
  return ConvSizes(s, args.batch ? args.batch : s.batch_max, args.in_h ? args.in_h : s.in_h_max,
                   args.in_w ? args.in_w : s.in_w_max);
}

}  // namespace octet_fuzz
