// SPDX-License-Identifier: Apache-2.0
// Draws the descriptors and tensors of a convolution.
#include "fuzz/convolution.h"

#include "support/sparse.h"

namespace octet_fuzz {

using octet_test::ConvSizes;

Tensor::Tensor(Choices* c, octet_layout order, octet_type of, size_t images, size_t height,
               size_t width, size_t channel_count)
    : layout(order),
      type(of),
      batch(images),
      h(height),
      w(width),
      channels(channel_count),
      pixel(channel_count) {
  if (layout == OCTET_NHWC && c->one_in(3)) pixel += 1 + c->below(c->one_in(4) ? 100 : 20);
  const size_t pixels = batch * h * w;
  block = Block(c, ((pixels - 1) * pixel + channels) * element_bytes(type), element_bytes(type));
}

Convolution::Convolution(Choices* c) : c_(c) {
  draw_shape();
  draw_sizes();
  draw_filter();
  draw_lhs();
  octet_gemm_desc fields = OCTET_GEMM_DESC_INIT;
  fields.lhs_type = desc.lhs_type;
  fields.rhs_type = desc.rhs_type;
  fields.dst_type = desc.dst_type;
  fields.lhs_quant = desc.lhs_quant;
  fields.lhs_zero_point = desc.lhs_zero_point;
  epilogue = Epilogue(c, fields, ranges(), filter.shape.out_channels);
  draw_dst();
  draw_parallel();
  compute();
}

void Convolution::draw_filter() {
  const octet_conv2d_shape& s = desc.shape;
  s16_ = c_->one_in(6);
  desc.rhs_type = filter.type = s16_ && !c_->one_in(16) ? OCTET_S8 : type_of_weights(c_);
  filter.order = c_->any({OCTET_OHWI, OCTET_OIHW, OCTET_HWIO, OCTET_IOHW});
  filter.accuracy = c_->one_in(4) ? OCTET_ACCURACY_APPROXIMATE : OCTET_ACCURACY_EXACT;
  zero_points_ = draw_zero_points(c_, filter.type, s.out_channels);
  if (centre(filter.type) && c_->one_in(2)) zero_points_ = {centre(filter.type)};
  zero_points = Block(c_, zero_points_);
  filter.zero_points = zero_points.data<int32_t>();
  filter.zero_point_count = zero_points_.size();
  weights = Block(c_, s.out_channels * s.kernel_h * s.kernel_w * (s.in_channels / s.groups));
  fill(c_, filter.type, zero_points_.empty() ? 0 : zero_points_[0], weights.data(),
       weights.bytes());
  if (!is_4bit(filter.type))
    filter.sparsity = c_->any({OCTET_SPARSE_NONE, OCTET_SPARSE_2_4, OCTET_SPARSE_AUTO});
  if (filter.sparsity == OCTET_SPARSE_2_4 || (filter.sparsity && c_->one_in(2))) make_sparse();
  filter.data = weights.data();
  filter_machine = Block(c_, draw_machine(c_));
  filter.machine = filter_machine.data<octet_machine>();
  machine = Block(c_, draw_machine(c_));
  desc.machine = machine.data<octet_machine>();
  if (!c_->one_in(4)) return;
  std::vector<float> ranges(16, c_->any({512.0f, 100.0f, draw_scale(c_)}));
  ranges[c_->below(16)] = draw_scale(c_);
  tap_ranges = Block(c_, ranges);
  filter.tap_ranges = tap_ranges.data<float>();
}

// Some of the weights become their zero points, the others near enough to it for sparse packing.
void Convolution::make_sparse() {
  const octet_conv2d_shape& s = desc.shape;
  const size_t turn = c_->below(256), in = s.in_channels / s.groups;
  for (size_t o = 0; o < s.out_channels; ++o)
    for (size_t tap = 0; tap < s.kernel_h * s.kernel_w; ++tap)
      for (size_t i = 0; i < in; ++i) {
        const int32_t zero = zero_point_of(o);
        const unsigned places = octet_test::kSparsePlaces[(turn + o + tap + i / 4) %
                                                          std::size(octet_test::kSparsePlaces)];
        uint8_t& byte = weights.data()[weight_at(o, tap / s.kernel_w, tap % s.kernel_w, i)];
        byte = (uint8_t)(places >> i % 4 & 1
                             ? std::clamp(value_of(filter.type, byte), zero - 128, zero + 127)
                             : zero);
      }
}

void Convolution::draw_lhs() {
  const octet_conv2d_shape& s = desc.shape;
  const ConvSizes sizes = run_sizes();
  const bool floats = !s16_ && c_->one_in(4);
  lhs_type_ = s16_ ? OCTET_S16 : type_8bit(c_);
  desc.lhs_type = floats ? OCTET_F32 : lhs_type_;
  desc.dst_type = s16_ ? c_->any({OCTET_S16, OCTET_S16, OCTET_F32})
                       : c_->any({OCTET_S8, OCTET_U8, OCTET_S32, OCTET_F32});
  desc.lhs_layout = c_->one_in(4) ? OCTET_NCHW : OCTET_NHWC;
  lhs = Tensor(c_, desc.lhs_layout, desc.lhs_type, sizes.batch, sizes.in_h, sizes.in_w,
               s.in_channels);
  args.lhs = lhs.block.data();
  args.lhs_stride = lhs.stride();
  floats ? draw_lhs_of_floats() : s16_ ? draw_lhs_of_s16() : draw_lhs_of_bytes();
}

void Convolution::draw_lhs_of_floats() {
  fill_f32(c_, lhs.block.data<float>(), lhs.block.bytes() / sizeof(float));
  if (c_->one_in(2)) {
    desc.lhs_quant = lhs_type_ == OCTET_S8 ? OCTET_LHS_SYMMETRIC : OCTET_LHS_ASYMMETRIC;
    desc.dst_type = OCTET_F32;
    return;
  }
  desc.lhs_quantized_type = lhs_type_;
  desc.lhs_scale = c_->any({1.0f, 2.0f, 0.02f, 0.3f, draw_scale(c_)});
  desc.lhs_zero_point = draw_zero_point(c_, lhs_type_);
}

void Convolution::draw_lhs_of_s16() {
  filter.dst_type = c_->any({filter.dst_type, OCTET_S16});  // a hint
  fill_s16(c_, lhs.block.data<int16_t>(), lhs.block.bytes() / sizeof(int16_t));
}

void Convolution::draw_lhs_of_bytes() {
  const size_t batch = lhs.batch;
  desc.lhs_quant = c_->one_in(4) ? OCTET_LHS_PER_TENSOR : OCTET_LHS_STATIC;
  const int32_t zero_point = draw_zero_point(c_, lhs_type_);
  fill(c_, lhs_type_, zero_point, lhs.block.data(), lhs.block.bytes());
  if (desc.lhs_quant == OCTET_LHS_STATIC) {
    desc.lhs_zero_point = zero_point;
    return;
  }
  if (!c_->one_in(4)) {
    std::vector<int32_t> values(batch, zero_point);
    values[c_->below(batch)] = draw_zero_point(c_, lhs_type_);
    lhs_zero_points = Block(c_, values);
    args.lhs_zero_points = lhs_zero_points.data<int32_t>();
  }
  if (desc.dst_type != OCTET_S32 && !c_->one_in(4)) {
    std::vector<float> values(batch, c_->any({1.0f, 0.25f, draw_scale(c_)}));
    values[c_->below(batch)] = draw_scale(c_);
    lhs_scales = Block(c_, values);
    args.lhs_scales = lhs_scales.data<float>();
  }
}

void Convolution::draw_dst() {
  const ConvSizes sizes = run_sizes();
  const size_t out_h = no_output ? 1 : (size_t)sizes.out_h,
               out_w = no_output ? 1 : (size_t)sizes.out_w;
  desc.dst_layout = c_->one_in(4) ? OCTET_NCHW : OCTET_NHWC;
  dst = Tensor(c_, desc.dst_layout, desc.dst_type, sizes.batch, out_h, out_w,
               desc.shape.out_channels);
  args.dst = dst.block.data();
  args.dst_stride = dst.stride();
  const octet_residual& r = epilogue.desc().epilogue.residual;
  if (!r.type) return;
  in_place = c_->one_in(2);
  if (!in_place)
    residual =
        Tensor(c_, desc.dst_layout, r.type, sizes.batch, out_h, out_w, desc.shape.out_channels);
  const Tensor& from = in_place ? dst : residual;
  fill(c_, r.type, r.zero_point, from.block.data(), from.block.bytes());
  args.residual = from.block.data();
  args.residual_stride = from.stride();
}

void Convolution::draw_parallel() {
  parallel_.random = c_->random();
  parallel_.most = c_->one_in(3) ? 1 + c_->below(9) : 1;
  if (parallel_.most == 1 && !c_->one_in(4)) return;
  args.concurrency = parallel_.most;
  args.parallel_context = &parallel_;
  args.parallel_for = parallel_for;
}

size_t Convolution::weight_at(size_t o, size_t y, size_t x, size_t i) const {
  const octet_conv2d_shape& s = desc.shape;
  const size_t O = s.out_channels, H = s.kernel_h, W = s.kernel_w, I = s.in_channels / s.groups,
               group_out = O / s.groups, all_i = o / group_out * I + i;
  switch (filter.order) {
    case OCTET_OHWI:
      return ((o * H + y) * W + x) * I + i;
    case OCTET_OIHW:
      return ((o * I + i) * H + y) * W + x;
    case OCTET_HWIO:
      return ((y * W + x) * I + i) * O + o;
    case OCTET_IOHW:
      return ((all_i * group_out + o % group_out) * H + y) * W + x;
  }
  return 0;
}

int32_t Convolution::zero_point_of(size_t o) const {
  return zero_points_.empty() ? 0 : zero_points_[zero_points_.size() == 1 ? 0 : o];
}

std::vector<int32_t> Convolution::weight_values() const {
  const octet_conv2d_shape& s = desc.shape;
  std::vector<int32_t> values;
  values.reserve(weights.bytes());
  for (size_t o = 0; o < s.out_channels; ++o)
    for (size_t y = 0; y < s.kernel_h; ++y)
      for (size_t x = 0; x < s.kernel_w; ++x)
        for (size_t i = 0; i < s.in_channels / s.groups; ++i)
          values.push_back(value_of(filter.type, weights.data()[weight_at(o, y, x, i)]) -
                           zero_point_of(o));
  return values;
}

std::vector<int32_t> Convolution::lhs_values() {
  std::vector<int32_t> values;
  values.reserve(lhs.batch * lhs.h * lhs.w * lhs.channels);
  for (size_t b = 0; b < lhs.batch; ++b)
    lhs.type == OCTET_F32 ? add_image_of_floats(b, &values) : add_image_of_bytes(b, &values);
  return values;
}

void Convolution::add_image_of_bytes(size_t b, std::vector<int32_t>* values) const {
  const int32_t zero_point = args.lhs_zero_points ? args.lhs_zero_points[b] : desc.lhs_zero_point;
  for (size_t y = 0; y < lhs.h; ++y)
    for (size_t x = 0; x < lhs.w; ++x)
      for (size_t i = 0; i < lhs.channels; ++i)
        values->push_back(value_at(lhs_type_, lhs.at(b, y, x, i)) - zero_point);
}

void Convolution::add_image_of_floats(size_t b, std::vector<int32_t>* values) {
  std::vector<float> image;
  for (size_t y = 0; y < lhs.h; ++y)
    for (size_t x = 0; x < lhs.w; ++x)
      for (size_t i = 0; i < lhs.channels; ++i) {
        float value;
        std::memcpy(&value, lhs.at(b, y, x, i), sizeof value);
        image.push_back(value);
      }
  if (desc.lhs_quant == OCTET_LHS_STATIC) {
    for (const float value : image)
      values->push_back(
          octet_test::quantize_static(value, desc.lhs_scale, desc.lhs_zero_point, lhs_type_) -
          desc.lhs_zero_point);
    return;
  }
  const octet_test::QuantizedRow row =
      desc.lhs_quant == OCTET_LHS_SYMMETRIC
          ? octet_test::quantize_symmetric(image.data(), image.size())
          : octet_test::quantize_asymmetric(image.data(), image.size());
  for (const int32_t value : row.values) values->push_back(value - row.zero_point);
  own_scales_.push_back(row.scale);
}

std::vector<Range> Convolution::ranges() const {
  const bool fixed = desc.lhs_quant == OCTET_LHS_STATIC;
  const int64_t reach = desc.lhs_quant == OCTET_LHS_SYMMETRIC ? 127 : 255;
  const int64_t lo = fixed ? least(lhs_type_) - desc.lhs_zero_point : -reach;
  const int64_t hi = s16_ ? kS16Reach : fixed ? most(lhs_type_) - desc.lhs_zero_point : reach;
  const std::vector<int32_t> values = weight_values();
  const size_t channels = desc.shape.out_channels, each = values.size() / channels;
  std::vector<Range> out(channels);
  for (size_t i = 0; i < values.size(); ++i) out[i / each].add(values[i], lo, hi);
  return out;
}

void Convolution::compute() {
  for (const Block* block :
       {&lhs.block, &dst.block, &residual.block, &lhs_zero_points, &lhs_scales, &pads})
    before.add(*block);
  after = before;
  if (refused(OCTET_CONV_AUTO) || no_output) return;
  const size_t channels = dst.channels;
  std::vector<int64_t> acc(outputs());
  for (size_t i = 0; i < acc.size(); ++i) acc[i] = epilogue.bias(i % channels);
  octet_test::convolve(run_shape(), run_sizes(), lhs_values().data(), weight_values().data(),
                       acc.data());
  const Tensor& residuals = in_place ? dst : residual;
  const octet_type type = epilogue.desc().epilogue.residual.type;
  uint8_t* const copy = after.at(dst.block.data());
  for (size_t i = 0; i < acc.size(); ++i) {
    const size_t n = i % channels, x = i / channels % dst.w, y = i / channels / dst.w % dst.h,
                 b = i / channels / dst.w / dst.h;
    if (epilogue.may_overflow()) acc[i] = epilogue.held(n, acc[i]);
    if (!s16_ && (acc[i] > INT32_MAX || acc[i] < INT32_MIN))
      fail("an accumulator leaves int32 in a convolution that is taken for valid");
    const float* const scale = !own_scales_.empty() ? &own_scales_[b]
                               : args.lhs_scales    ? args.lhs_scales + b
                                                    : nullptr;
    const int32_t added = type ? value_of(type, *residuals.at(b, y, x, n)) : 0;
    const uint32_t bits = octet_test::expected_output(epilogue.desc(), n, scale, acc[i], added);
    std::memcpy(copy + (dst.at(b, y, x, n) - dst.block.data()), &bits, element_bytes(dst.type));
  }
}

void Convolution::take_outputs(Foreseen* to) const {
  uint8_t* const copy = to->at(dst.block.data());
  for (size_t b = 0; b < dst.batch; ++b)
    for (size_t y = 0; y < dst.h; ++y)
      for (size_t x = 0; x < dst.w; ++x)
        for (size_t n = 0; n < dst.channels; ++n) {
          const uint8_t* const from = dst.at(b, y, x, n);
          std::memcpy(copy + (from - dst.block.data()), from, element_bytes(dst.type));
        }
}

void Convolution::report(const char* what, const char* by, const Foreseen& foreseen,
                         const uint8_t* byte) const {
  const octet_conv2d_shape s = run_shape();
  char shape[300];
  std::snprintf(shape, sizeof shape,
                "%s, %s: %s%zux%zux%zux%zu to %zu, groups %zu, kernel %zux%zu, stride %zux%zu, "
                "dilation %zux%zu, pads %zu %zu %zu %zu",
                by, what, s.transposed ? "transposed " : "", lhs.batch, lhs.h, lhs.w, s.in_channels,
                s.out_channels, s.groups, s.kernel_h, s.kernel_w, s.stride_h, s.stride_w,
                s.dilation_h, s.dilation_w, s.pad_top, s.pad_bottom, s.pad_left, s.pad_right);
  const size_t element = element_bytes(dst.type);
  for (size_t b = 0; b < dst.batch; ++b)
    for (size_t y = 0; y < dst.h; ++y)
      for (size_t x = 0; x < dst.w; ++x)
        for (size_t n = 0; n < dst.channels; ++n) {
          const uint8_t* const at = dst.at(b, y, x, n);
          if (byte < at || byte >= at + element) continue;
          uint32_t got = 0, want = 0;
          std::memcpy(&got, at, element);
          std::memcpy(&want, foreseen.at(at), element);
          fail("%s: image %zu y %zu x %zu channel %zu: want bits %x, got %x; %s", shape, b, y, x, n,
               want, got, text_of(epilogue.desc(), n).c_str());
        }
  fail("%s: wrote to an input, or between the pixels of dst", shape);
}

}  // namespace octet_fuzz
