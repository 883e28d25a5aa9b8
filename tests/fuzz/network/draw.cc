// SPDX-License-Identifier: Apache-2.0
// Draws networks: dead branches, slices of one tensor, windows that read padding only.
#include "fuzz/network/network.h"

namespace octet_fuzz {

void Network::draw() {
  const size_t inputs = 1 + c_->one_in(4);
  batch_ = c_->any<size_t>({1, 1, 1, 2, 3});
  s16_ = c_->one_in(3);
  for (size_t i = 0; i < inputs; ++i) {
    // Tall tensors have repeating bands, which the planner skips
    const bool tall = c_->one_in(6);
    there_.push_back(tensor(tall ? 20 + c_->below(100) : 1 + c_->below(9),
                            1 + c_->below(tall ? 2 : 5), tall ? 1 + c_->below(3) : channels(),
                            type()));
    tensors_.back().keep = 1;
  }
  const size_t ops = 1 + c_->below(7);
  for (size_t tries = 0; ops_.size() < ops && tries < 3 * ops; ++tries) add_op();
  if (ops_.empty()) function(there_[0], 1);
  for (octet_network_tensor& t : tensors_)
    if (!t.slice && !t.keep) t.keep = c_->one_in(4);
}

size_t Network::tensor(size_t h, size_t w, size_t channels, octet_type type) {
  octet_network_tensor t = {};
  t.batch = batch_, t.h = h, t.w = w, t.channels = channels, t.type = type;
  tensors_.push_back(t);
  return tensors_.size() - 1;
}

size_t Network::output(size_t h, size_t w, size_t channels, octet_type type) {
  const bool open = open_ != kNone && tensors_[open_].h == h && tensors_[open_].w == w &&
                    tensors_[open_].type == type && tensors_[open_].channels - used_ >= channels;
  if (!open && c_->one_in(3))
    open_ = tensor(h, w, channels + c_->below(20), type), used_ = 0;
  else if (!open || c_->one_in(3))
    return tensor(h, w, channels, type);
  octet_network_tensor t = tensors_[open_];
  t.slice = 1, t.parent = open_, t.first_channel = used_, t.channels = channels;
  used_ += channels;
  tensors_.push_back(t);
  return tensors_.size() - 1;
}

size_t Network::alike(size_t i) {
  const octet_network_tensor& t = tensors_[i];
  for (const size_t other : there_) {
    const octet_network_tensor& o = tensors_[other];
    if (alias_root(other) != alias_root(i) && o.h == t.h && o.w == t.w &&
        o.channels == t.channels && is_8bit(o.type) == is_8bit(t.type))
      return other;
  }
  return kNone;
}

void Network::add_op() {
  const size_t in = pick();
  switch (c_->below(10)) {
    case 0:
      return function(in, 1);
    case 1:
      return function(in, 1 + c_->below(OCTET_NETWORK_INPUTS_MAX));
    case 2:
      return product(in, false);
    case 3:
      return product(in, c_->one_in(2) && !tensors_[in].slice);
    case 4:  // a slice of a tensor, as a later input
      if (!tensors_[in].slice && tensors_[in].channels > 1) {
        octet_network_tensor t = tensors_[in];
        t.slice = 1, t.keep = 0, t.parent = in, t.first_channel = c_->below(t.channels - 1);
        t.channels = 1 + c_->below(t.channels - t.first_channel);
        tensors_.push_back(t);
        there_.push_back(tensors_.size() - 1);
      }
      return;
    case 5:
    case 6:
      return library_function(in);
    default:
      return convolution(in);
  }
}

void Network::function(size_t first, size_t inputs) {
  octet_network_op op = {};
  op.inputs[op.input_count++] = first;
  while (op.input_count < inputs) op.inputs[op.input_count++] = pick();
  Mix& f = mixes_.emplace_back();
  f.lines = {mix,
             &f,
             c_->any<size_t>({1, 2, 3, 0, 5}),
             c_->any<size_t>({1, 2, 0, 3, 12}),
             c_->any<size_t>({1, 0, 2, 3}),
             c_->any<size_t>({0, 1, 2, 5, 9})};
  op.function = &f.lines;
  const octet_network_tensor t = tensors_[first];
  const octet_type type = s16_ ? this->type() : type_of_output(first);
  op.output = c_->one_in(2) ? output(1 + c_->below(9), 1 + c_->below(5), channels(), type)
                            : output(t.h, t.w, t.channels, type);
  // A function may not read slices of the tensor that it writes
  for (size_t k = 0; k < op.input_count; ++k)
    if (alias_root(op.inputs[k]) == alias_root(op.output)) op.inputs[k] = there_[0];
  if (alias_root(op.inputs[0]) == alias_root(op.output)) return;
  for (size_t k = 0; k < op.input_count; ++k)
    f.elements[k] = element_bytes(tensors_[op.inputs[k]].type);
  f.out_element = element_bytes(tensors_[op.output].type);
  add(op);
}

void Network::library_function(size_t in) {
  LibraryFunction drawn = draw_function(c_, tensors_[in]);
  octet_network_op op = {};
  op.inputs[op.input_count++] = in;
  if (drawn.inputs == 2) {
    const size_t other = alike(in);
    op.inputs[op.input_count++] =
        other == kNone || tensors_[other].type != tensors_[in].type ? in : other;
  }
  op.output = output(drawn.h, drawn.w, drawn.channels, drawn.type);
  for (size_t k = 0; k < op.input_count; ++k)
    if (alias_root(op.inputs[k]) == alias_root(op.output)) return;
  library_.push_back(std::move(drawn));
  op.function = &library_.back().lines;
  add(op);
}

void Network::add(const octet_network_op& op) {
  ops_.push_back(op);
  there_.push_back(op.output);
  if (!tensors_[op.output].slice) return;
  const size_t parent = alias_root(op.output);
  size_t written = 0;
  for (const octet_network_op& other : ops_)
    if (alias_root(other.output) == parent) written += tensors_[other.output].channels;
  if (written == tensors_[parent].channels) there_.push_back(parent);
}

template <typename Desc>
void Network::complete(Desc* desc, octet_network_op* op, size_t depth) {
  const octet_network_tensor &in = tensors_[op->inputs[0]], &out = tensors_[op->output];
  desc->lhs_type = in.type, desc->rhs_type = OCTET_S8, desc->dst_type = out.type;
  const bool s16 = in.type == OCTET_S16;
  desc->lhs_zero_point = s16 ? 0 : in.type == OCTET_U8 ? 100 : -5;
  scale_ = 1.0f / (float)(40 + 30 * depth);
  desc->epilogue.scales = &scale_, desc->epilogue.scale_count = 1;
  desc->epilogue.dst_zero_point = s16 ? 0 : out.type == OCTET_U8 ? 120 : 3;
  if (const size_t residual = s16 || !c_->one_in(3) ? kNone : alike(op->output);
      residual != kNone) {
    desc->epilogue.residual.type = tensors_[residual].type;
    desc->epilogue.residual.scale = 0.75f;
    op->inputs[op->input_count++] = residual;
  }
}

Block Network::weights(size_t count) {
  Bytes values(count);
  for (uint8_t& value : values) value = (uint8_t)random_();
  return Block(c_, values);
}

void Network::convolution(size_t in) {
  const octet_network_tensor t = tensors_[in];
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_shape& s = filter.shape;
  s.batch_max = t.batch, s.in_h_max = t.h, s.in_w_max = t.w, s.in_channels = t.channels;
  s.kernel_h = 1 + c_->below(3), s.kernel_w = c_->one_in(2) ? 1 + c_->below(3) : s.kernel_h;
  s.stride_h = c_->any<size_t>({1, 1, 2, 3, 12}), s.stride_w = c_->any<size_t>({1, 1, 2});
  s.dilation_h = c_->any<size_t>({1, 1, 1, 2});
  s.pad_top = c_->any<size_t>({0, 1, 1, 2, 7}), s.pad_bottom = c_->any<size_t>({0, 1, 1, 2, 6});
  s.pad_left = c_->below(3), s.pad_right = c_->below(3);
  s.out_channels = channels();
  if (c_->one_in(4)) s.groups = s.out_channels = t.channels;
  if (c_->one_in(6) && s.groups == 1) s.transposed = 1;
  if (c_->one_in(3)) {  // Winograd's
    s.kernel_h = s.kernel_w = 3;
    s.stride_h = s.stride_w = 1 + c_->one_in(4);
    s.dilation_h = 1, s.transposed = 0;
  }
  size_t h = 0, w = 0;
  if (octet_conv2d_output_size(&s, t.h, t.w, &h, &w, nullptr) != OCTET_OK || h * w > 300) return;
  const Block data = weights(s.out_channels * s.kernel_h * s.kernel_w * (t.channels / s.groups));
  filter.type = OCTET_S8, filter.data = data.data();
  filter.algorithm = (octet_conv_algorithm)c_->below(OCTET_CONV_GROUPED + 1);
  if (t.type == OCTET_S16 && filter.algorithm == OCTET_CONV_WINOGRAD_2X2_INT8)
    filter.algorithm = OCTET_CONV_AUTO;  // of bytes only
  size_t bytes = 0;
  if (octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, nullptr) != OCTET_OK) {
    filter.algorithm = OCTET_CONV_AUTO;
    must_accept("octet_conv2d_pack_size", [&](octet_error* e) {
      return octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, e);
    });
  }
  blobs_.emplace_back(c_, bytes, OCTET_ALIGNMENT);
  must_accept("octet_conv2d_pack", [&](octet_error* e) {
    return octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blobs_.back().data(), bytes, e);
  });
  octet_network_op op = {};
  op.inputs[op.input_count++] = in;
  op.output = output(h, w, s.out_channels, type_of_output(in));
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  desc.shape = s;
  complete(&desc, &op, s.kernel_h * s.kernel_w * (t.channels / s.groups));
  desc.packed = blobs_.back().data(), desc.packed_bytes = bytes;
  octet_conv2d* conv = nullptr;
  must_accept("octet_conv2d_create",
              [&](octet_error* e) { return octet_conv2d_create(&desc, &conv, e); });
  convs_.emplace_back(conv);
  op.conv2d = conv;
  add(op);
}

void Network::product(size_t in, bool flat) {
  const octet_network_tensor t = tensors_[in];
  const size_t k = flat ? t.h * t.w * t.channels : t.channels, n = channels();
  if (flat && k == t.channels) flat = false;  // an image of one pixel is a pixel
  octet_network_op op = {};
  op.inputs[op.input_count++] = in;
  op.output = flat ? output(1, 1, n, type_of_output(in)) : output(t.h, t.w, n, type_of_output(in));
  if (alias_root(op.output) == alias_root(in)) return;  // refused for products
  const Block data = weights(n * k);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = data.data();
  size_t bytes = 0;
  must_accept("octet_pack_size",
              [&](octet_error* e) { return octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, e); });
  blobs_.emplace_back(c_, bytes, OCTET_ALIGNMENT);
  must_accept("octet_pack", [&](octet_error* e) {
    return octet_pack(&rhs, OCTET_ISA_AUTO, blobs_.back().data(), bytes, e);
  });
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = t.batch * (flat ? 1 : t.h * t.w), desc.n = n, desc.k = k;
  complete(&desc, &op, k);
  desc.packed = blobs_.back().data(), desc.packed_bytes = bytes;
  octet_gemm* gemm = nullptr;
  must_accept("octet_gemm_create",
              [&](octet_error* e) { return octet_gemm_create(&desc, &gemm, e); });
  gemms_.emplace_back(gemm);
  op.gemm = gemm;
  add(op);
}

}  // namespace octet_fuzz
