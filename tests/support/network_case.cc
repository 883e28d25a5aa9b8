// SPDX-License-Identifier: Apache-2.0
// Builds networks op by op, and computes their expected outputs.
#include "support/network_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace octet_test {

size_t element(octet_type type) {
  return type == OCTET_S8 || type == OCTET_U8 ? 1 : type == OCTET_S16 ? 2 : 4;
}

namespace {

// Of the output of an op that reads this type.
octet_type output_of(octet_type type) { return type == OCTET_S16 ? OCTET_S16 : OCTET_U8; }

const uint8_t* pixel(const octet_network_image& t, size_t y, size_t x) {
  return (const uint8_t*)octet_network_line(&t, y) + x * t.pixel;
}

uint8_t* pixel_of(const octet_network_call* call, size_t y, size_t x) {
  return (uint8_t*)octet_network_line(&call->output, y) + x * call->output.pixel;
}

template <typename Value>
void for_each(const octet_network_call* call, const Value& value) {
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t x = 0; x < call->output.w; ++x)
      for (size_t c = 0; c < call->output.channels; ++c)
        pixel_of(call, y, x)[c] = (uint8_t)value(y, x, c);
}

void add_lines(void*, const octet_network_call* call) {
  const octet_network_image &a = call->inputs[0], &b = call->inputs[1];
  for_each(call,
           [&](size_t y, size_t x, size_t c) { return pixel(a, y, x)[c] + 3 * pixel(b, y, x)[c]; });
}

struct Window {
  size_t kernel, stride, pad;
};

void pool_lines(void* context, const octet_network_call* call) {
  const Window& w = *(const Window*)context;
  const octet_network_image& in = call->inputs[0];
  for_each(call, [&](size_t y, size_t x, size_t c) {
    uint8_t most = 0;
    for (size_t ky = 0; ky < w.kernel; ++ky)
      for (size_t kx = 0; kx < w.kernel; ++kx) {
        const size_t iy = y * w.stride + ky - w.pad, ix = x * w.stride + kx - w.pad;
        if (iy < in.h && ix < in.w) most = std::max(most, pixel(in, iy, ix)[c]);
      }
    return most;
  });
}

void pool_all_lines(void*, const octet_network_call* call) {
  const octet_network_image& in = call->inputs[0];
  for_each(call, [&](size_t, size_t, size_t c) {
    size_t sum = 0;
    for (size_t y = 0; y < in.h; ++y)
      for (size_t x = 0; x < in.w; ++x) sum += pixel(in, y, x)[c];
    return sum / (in.h * in.w);
  });
}

void resize_lines(void* context, const octet_network_call* call) {
  const size_t times = ((const Window*)context)->kernel;
  const octet_network_image& in = call->inputs[0];
  for_each(call, [&](size_t y, size_t x, size_t c) { return pixel(in, y / times, x / times)[c]; });
}

}  // namespace

NetworkCase::~NetworkCase() {
  for (octet_conv2d* conv : convs_) octet_conv2d_destroy(conv);
  for (octet_gemm* gemm : gemms_) octet_gemm_destroy(gemm);
}

size_t NetworkCase::tensor(size_t batch, size_t h, size_t w, size_t channels, octet_type type) {
  octet_network_tensor t = {};
  t.batch = batch, t.h = h, t.w = w, t.channels = channels, t.type = type;
  tensors.push_back(t);
  return tensors.size() - 1;
}

size_t NetworkCase::slice(size_t parent, size_t first, size_t channels) {
  octet_network_tensor t = tensors[parent];
  t.slice = 1, t.keep = 0, t.parent = parent, t.first_channel = first, t.channels = channels;
  tensors.push_back(t);
  return tensors.size() - 1;
}

std::vector<int8_t> NetworkCase::draw_weights(size_t count) {
  std::vector<int8_t> weights(count);
  for (int8_t& w : weights) w = (int8_t)((int)draw.below(255) - 127);
  return weights;
}

octet_network_op NetworkCase::op_of(size_t input, size_t residual, size_t output,
                                    octet_epilogue* epilogue) const {
  octet_network_op op = {};
  op.inputs[0] = input, op.input_count = 1, op.output = output;
  if (residual != kNone) {
    epilogue->residual.type = tensors[residual].type;
    epilogue->residual.scale = 0.75f;
    op.inputs[op.input_count++] = residual;
  }
  return op;
}

size_t NetworkCase::conv(size_t input, octet_conv2d_shape shape, size_t residual, size_t output,
                         octet_conv_algorithm algorithm) {
  const octet_network_tensor in = tensors[input];
  shape.batch_max = in.batch, shape.in_h_max = in.h, shape.in_w_max = in.w;
  shape.in_channels = in.channels;
  octet_error error = {};
  size_t out_h = 0, out_w = 0;
  EXPECT_EQ(octet_conv2d_output_size(&shape, in.h, in.w, &out_h, &out_w, &error), OCTET_OK)
      << error.message;
  if (output == kNew)
    output = tensor(in.batch, out_h, out_w, shape.out_channels, output_of(in.type));
  const size_t k = shape.kernel_h * shape.kernel_w * in.channels / shape.groups;
  const std::vector<int8_t> weights = draw_weights(k * shape.out_channels);
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = shape, filter.type = OCTET_S8, filter.order = OCTET_OHWI;
  filter.data = weights.data(), filter.algorithm = algorithm;
  size_t bytes = 0;
  filter.machine = machine;
  if (octet_conv2d_pack_size(&filter, isa, &bytes, nullptr)) {
    filter.algorithm = OCTET_CONV_AUTO;
    EXPECT_EQ(octet_conv2d_pack_size(&filter, isa, &bytes, &error), OCTET_OK) << error.message;
  }
  blobs_.emplace_back(bytes, Side::kBack, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_conv2d_pack(&filter, isa, blobs_.back().data(), bytes, &error), OCTET_OK)
      << error.message;
  const float scale = 1 / (std::sqrt((float)k) * 70);
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  desc.shape = shape, desc.max_isa = isa, desc.machine = machine;
  desc.lhs_type = in.type, desc.rhs_type = OCTET_S8, desc.dst_type = tensors[output].type;
  desc.lhs_zero_point = in.type == OCTET_U8 ? 100 : in.type == OCTET_S16 ? 0 : 5;
  desc.packed = blobs_.back().data(), desc.packed_bytes = bytes;
  desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
  if (desc.dst_type == OCTET_U8) desc.epilogue.dst_zero_point = 120;
  octet_network_op op = op_of(input, residual, output, &desc.epilogue);
  octet_conv2d* conv = nullptr;
  EXPECT_EQ(octet_conv2d_create(&desc, &conv, &error), OCTET_OK) << error.message;
  convs_.push_back(conv);
  op.conv2d = conv;
  ops.push_back(op);
  return output;
}

size_t NetworkCase::gemm(size_t input, size_t n, bool flat, size_t residual) {
  const octet_network_tensor in = tensors[input];
  const size_t k = flat ? in.h * in.w * in.channels : in.channels;
  const octet_type type = output_of(in.type);
  const size_t output =
      flat ? tensor(in.batch, 1, 1, n, type) : tensor(in.batch, in.h, in.w, n, type);
  const std::vector<int8_t> weights = draw_weights(k * n);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = weights.data();
  octet_error error = {};
  size_t bytes = 0;
  EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, &error), OCTET_OK) << error.message;
  blobs_.emplace_back(bytes, Side::kBack, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_pack(&rhs, isa, blobs_.back().data(), bytes, &error), OCTET_OK) << error.message;
  const float scale = 1 / (std::sqrt((float)k) * 70);
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = in.batch * (flat ? 1 : in.h * in.w), desc.n = n, desc.k = k;
  desc.lhs_type = in.type, desc.rhs_type = OCTET_S8, desc.dst_type = type;
  desc.lhs_zero_point = type == OCTET_S16 ? 0 : 90, desc.max_isa = isa, desc.machine = machine;
  desc.packed = blobs_.back().data(), desc.packed_bytes = bytes;
  desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
  if (type == OCTET_U8) desc.epilogue.dst_zero_point = 110;
  octet_network_op op = op_of(input, residual, output, &desc.epilogue);
  octet_gemm* gemm = nullptr;
  EXPECT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
  gemms_.push_back(gemm);
  op.gemm = gemm;
  ops.push_back(op);
  return output;
}

size_t NetworkCase::function(std::vector<size_t> inputs, size_t output, const Function& f) {
  functions_.push_back(f);
  functions_.back().function.context = &functions_.back().kernel;
  octet_network_op op = {};
  op.function = &functions_.back().function;
  for (const size_t input : inputs) op.inputs[op.input_count++] = input;
  op.output = output;
  ops.push_back(op);
  return output;
}

size_t NetworkCase::add(size_t a, size_t b) {
  const octet_network_tensor t = tensors[a];
  return function({a, b}, tensor(t.batch, t.h, t.w, t.channels),
                  {{add_lines, nullptr, 1, 1, 1, 0}, 1, 1, 0});
}

size_t NetworkCase::pool(size_t input, size_t kernel, size_t stride, size_t pad) {
  const octet_network_tensor t = tensors[input];
  const auto out = [&](size_t in) { return (in + 2 * pad - kernel) / stride + 1; };
  return function({input}, tensor(t.batch, out(t.h), out(t.w), t.channels),
                  {{pool_lines, nullptr, kernel, stride, 1, pad}, kernel, stride, pad});
}

size_t NetworkCase::pool_all(size_t input) {
  const octet_network_tensor t = tensors[input];
  return function({input}, tensor(t.batch, 1, 1, t.channels),
                  {{pool_all_lines, nullptr, 0, 0, 0, 0}, 0, 0, 0});
}

size_t NetworkCase::resize(size_t input, size_t times) {
  const octet_network_tensor t = tensors[input];
  return function({input}, tensor(t.batch, t.h * times, t.w * times, t.channels),
                  {{resize_lines, nullptr, 1, 0, times, 0}, times, 0, 0});
}

size_t NetworkCase::alias_root(size_t tensor) const {
  return tensors[tensor].slice ? tensors[tensor].parent : tensor;
}

void NetworkCase::keep_ends() {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].slice) continue;
    bool read = false, written = false;
    for (const octet_network_op& op : ops) {
      written |= alias_root(op.output) == i;
      for (size_t k = 0; k < op.input_count; ++k) read |= alias_root(op.inputs[k]) == i;
    }
    if (!written || !read) tensors[i].keep = 1;
  }
}

std::vector<Bytes> NetworkCase::inputs() {
  std::vector<Bytes> alias_roots(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    bool written = tensors[i].slice;
    for (const octet_network_op& op : ops) written |= alias_root(op.output) == i;
    if (written) continue;
    alias_roots[i].resize(bytes_of(i));
    for (uint8_t& value : alias_roots[i]) value = (uint8_t)draw.below(256);
  }
  return alias_roots;
}

// A tensor by itself, without the channels beside it.
Bytes NetworkCase::dense(const std::vector<Bytes>& alias_roots, size_t i) const {
  const octet_network_tensor &t = tensors[i], &whole = tensors[alias_root(i)];
  const size_t e = element(t.type), first = t.slice ? t.first_channel : 0;
  Bytes bytes;
  for (size_t p = 0; p < t.batch * t.h * t.w; ++p) {
    const auto from = alias_roots[alias_root(i)].begin() + (p * whole.channels + first) * e;
    bytes.insert(bytes.end(), from, from + t.channels * e);
  }
  return bytes;
}

void NetworkCase::store(std::vector<Bytes>* alias_roots, size_t i, const Bytes& bytes) const {
  const octet_network_tensor &t = tensors[i], &whole = tensors[alias_root(i)];
  const size_t e = element(t.type), first = t.slice ? t.first_channel : 0,
               pixels = t.batch * t.h * t.w;
  Bytes& to = (*alias_roots)[alias_root(i)];
  to.resize(pixels * whole.channels * e);
  for (size_t p = 0; p < pixels; ++p)
    std::copy_n(bytes.begin() + p * t.channels * e, t.channels * e,
                to.begin() + (p * whole.channels + first) * e);
}

std::vector<Bytes> NetworkCase::compute(const std::vector<Bytes>& inputs) const {
  std::vector<Bytes> alias_roots = inputs;
  for (const octet_network_op& op : ops) {
    std::vector<Bytes> in;
    for (size_t k = 0; k < op.input_count; ++k) in.push_back(dense(alias_roots, op.inputs[k]));
    const octet_network_tensor& t = tensors[op.output];
    Bytes out(bytes_of(op.output));
    octet_error error = {};
    size_t bytes = 0;
    if (op.conv2d) {
      EXPECT_EQ(octet_conv2d_workspace(op.conv2d, 0, 0, 0, 1, &bytes, nullptr), OCTET_OK);
      const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
      octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
      args.lhs = in[0].data(), args.dst = out.data();
      if (op.input_count > 1) args.residual = in[1].data();
      args.workspace = workspace.data(), args.workspace_bytes = bytes;
      EXPECT_EQ(octet_conv2d_run(op.conv2d, &args, &error), OCTET_OK) << error.message;
    } else if (op.gemm) {
      const size_t m = t.batch * t.h * t.w;
      EXPECT_EQ(octet_gemm_workspace(op.gemm, m, 1, &bytes, nullptr), OCTET_OK);
      const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
      octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
      args.m = m, args.lhs = in[0].data(), args.dst = out.data();
      if (op.input_count > 1) args.residual = in[1].data();
      args.workspace = workspace.data(), args.workspace_bytes = bytes;
      EXPECT_EQ(octet_gemm_run(op.gemm, &args, &error), OCTET_OK) << error.message;
    } else {
      const auto image = [](Bytes* bytes, const octet_network_tensor& t, size_t i) {
        const size_t line = t.w * t.channels;
        return octet_network_image{
            bytes->data() + i * t.h * line, t.channels, line, t.h, t.w, t.channels, 0, 0};
      };
      for (size_t i = 0; i < t.batch; ++i) {
        octet_network_call call = {};
        call.image = i, call.end = t.h;
        for (size_t k = 0; k < in.size(); ++k)
          call.inputs[k] = image(&in[k], tensors[op.inputs[k]], i);
        call.output = image(&out, t, i);
        op.function->run(op.function->context, &call);
      }
    }
    store(&alias_roots, op.output, out);
  }
  return alias_roots;
}

octet_network_desc NetworkCase::desc() const {
  octet_network_desc d = OCTET_NETWORK_DESC_INIT;
  d.tensors = tensors.data(), d.tensor_count = tensors.size();
  d.ops = ops.data(), d.op_count = ops.size(), d.machine = machine;
  return d;
}

// ---- random ones

namespace {

octet_conv2d_shape draw_shape(Draw* draw, const octet_network_tensor& in) {
  octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
  s.kernel_h = draw->any<size_t>({1, 3, 3, 3, 5}), s.kernel_w = draw->any<size_t>({1, 3, 3});
  if (draw->one_in(2)) s.kernel_w = s.kernel_h;
  s.stride_h = s.stride_w = draw->any<size_t>({1, 1, 1, 2});
  if (draw->one_in(6)) s.dilation_h = s.dilation_w = 2;
  s.pad_top = s.pad_bottom = s.dilation_h * (s.kernel_h - 1) / 2;
  s.pad_left = s.pad_right = s.dilation_w * (s.kernel_w - 1) / 2;
  if (draw->one_in(6)) s.pad_top = 0;
  if (draw->one_in(6)) s.pad_bottom += 1;
  s.out_channels = draw->any<size_t>({1, 3, 8, 16, 20, 40});
  if (draw->one_in(3)) s.groups = s.out_channels = in.channels;
  if (in.channels % 4 == 0 && draw->one_in(8))
    s.groups = in.channels / 4, s.out_channels = in.channels;
  if (draw->one_in(8) && s.groups == 1 && in.h < 20) {
    s.transposed = 1;
    s.stride_h = s.stride_w = 2;
    s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 0;
  }
  return s;
}

bool possible(const octet_conv2d_shape& shape, const octet_network_tensor& in) {
  octet_conv2d_shape s = shape;
  s.batch_max = in.batch, s.in_h_max = in.h, s.in_w_max = in.w, s.in_channels = in.channels;
  size_t h, w;
  return octet_conv2d_output_size(&s, in.h, in.w, &h, &w, nullptr) == OCTET_OK;
}

bool alike(const octet_network_tensor& a, const octet_network_tensor& b) {
  return a.h == b.h && a.w == b.w && a.channels == b.channels && a.batch == b.batch;
}

}  // namespace

void draw_network(NetworkCase* c, size_t ops) {
  Draw& draw = c->draw;
  const size_t drawn = draw.any<size_t>({1, 1, 2}), batch = c->batch ? c->batch : drawn;
  const octet_type type = c->s16 ? OCTET_S16 : OCTET_U8;
  std::vector<size_t> there = {c->tensor(batch, 4 + draw.below(22), 3 + draw.below(9),
                                         draw.any<size_t>({1, 3, 8, 16, 20}), type)};
  const auto pick = [&] {  // the latest ones more often
    return there[there.size() - 1 - draw.below(std::min<size_t>(there.size(), 1 + draw.below(4)))];
  };
  while (c->ops.size() < ops) {
    size_t in = pick();
    const octet_network_tensor t = c->tensors[in];
    const size_t kind = draw.below(12);
    if (c->s16 && (kind < 3 || kind == 6)) continue;  // functions of bytes
    switch (kind) {
      case 0:
        if (t.h > 2 && t.w > 2) there.push_back(c->pool(in, 2, 2, 0));
        break;
      case 1:
        if (t.h > 2 && t.w > 2) there.push_back(c->pool(in, 3, 1 + draw.below(2), 1));
        break;
      case 2:
        if (t.h < 16) there.push_back(c->resize(in, 2));
        break;
      case 3: there.push_back(c->gemm(in, draw.any<size_t>({4, 16, 24}))); break;
      case 4: {  // two convolutions side by side, in slices
        octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
        s.kernel_h = s.kernel_w = 3, s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
        const size_t first = 4 + draw.below(9), second = 1 + draw.below(20),
                     whole = c->tensor(t.batch, t.h, t.w, first + second, type),
                     a = c->slice(whole, 0, first), b = c->slice(whole, first, second);
        s.out_channels = first;
        c->conv(in, s, NetworkCase::kNone, a);
        s.out_channels = second, s.kernel_h = 1, s.pad_top = s.pad_bottom = 0;
        c->conv(in, s, NetworkCase::kNone, b);
        there.push_back(draw.one_in(4) ? b : whole);
        break;
      }
      case 5:  // a slice of a tensor
        if (!t.slice && t.channels > 4) there.push_back(c->slice(in, 1 + draw.below(2), 2));
        break;
      case 6:
        for (const size_t other : there)
          if (other != in && alike(t, c->tensors[other])) {
            there.push_back(c->add(in, other));
            break;
          }
        break;
      default: {
        const octet_conv2d_shape s = draw_shape(&draw, t);
        if (!possible(s, t)) break;
        size_t residual = NetworkCase::kNone;
        octet_conv2d_shape whole = s;
        whole.in_channels = t.channels;
        size_t h = 0, w = 0;
        octet_conv2d_output_size(&whole, t.h, t.w, &h, &w, nullptr);
        for (const size_t other : there) {
          const octet_network_tensor& o = c->tensors[other];
          const bool fits = o.h == h && o.w == w && o.channels == s.out_channels;
          if (fits && !c->s16) residual = other;
        }
        const auto algorithm = (octet_conv_algorithm)draw.below(9);
        there.push_back(
            c->conv(in, s, residual, NetworkCase::kNew,
                    algorithm == OCTET_CONV_WINOGRAD_2X2_INT8 ? OCTET_CONV_AUTO : algorithm));
      }
    }
  }
  if (draw.one_in(4) && !c->s16) there.push_back(c->pool_all(there.back()));
  if (draw.one_in(4) && !c->tensors[there.back()].slice)
    there.push_back(c->gemm(there.back(), 10, true));
  c->keep_ends();
  if (draw.one_in(2)) {
    octet_network_tensor& t = c->tensors[c->ops[c->ops.size() / 2].output];
    if (!t.slice) t.keep = 1;
  }
}

}  // namespace octet_test
