// SPDX-License-Identifier: Apache-2.0
// Convolves by oneDNN: a convolution or deconvolution primitive on NHWC tensors that chooses
// its own layout for the weights, with a scale per channel, a bias and, where the output
// type does not clamp at 0 by itself, a ReLU.
#include <fmt/format.h>

#include "bench/peers/peer_onednn.h"

namespace tool {
namespace {

using dnnl::memory;
using Dims = memory::dims;
using Tag = memory::format_tag;

Dims dims(std::initializer_list<size_t> sizes) { return Dims(sizes.begin(), sizes.end()); }

// The sizes of the filter; groups, if any, are a dimension of their own.
Dims filter_sizes(const ConvData& d) {
  const octet_conv2d_shape& g = d.shape.geometry;
  Dims sizes = dims({d.shape.group_out(), d.shape.group_in(), g.kernel_h, g.kernel_w});
  if (g.groups > 1) sizes.insert(sizes.begin(), (memory::dim)g.groups);
  return sizes;
}

// The strides of a filter that lies as OHWI.
Dims filter_strides(const ConvData& d) {
  const octet_conv2d_shape& g = d.shape.geometry;
  const size_t i = d.shape.group_in(), row = g.kernel_w * i, one = g.kernel_h * row;
  Dims strides = dims({one, 1, row, i});
  if (g.groups > 1) strides.insert(strides.begin(), (memory::dim)(d.shape.group_out() * one));
  return strides;
}

// Padding after an axis, as oneDNN checks it against the sizes: how far the output reaches, or, if
// transposed, how much it omits; may be negative.
memory::dim pad_after(bool transposed, size_t in, size_t out, size_t kernel, size_t stride,
                      size_t dilation, size_t before) {
  const size_t small = transposed ? in : out, large = transposed ? out : in;
  return (memory::dim)((small - 1) * stride + dilation * (kernel - 1) + 1) -
         (memory::dim)(large + before);
}

class OneDnnConv : public OneDnnContestant {
 public:
  explicit OneDnnConv(const ConvData& d)
      : OneDnnContestant(d.dst_elements() * type_bytes(d.types.dst)) {
    const octet_conv2d_shape& g = d.shape.geometry;
    const memory::desc src(dims({g.batch_max, g.in_channels, g.in_h_max, g.in_w_max}),
                           onednn_type(d.types.lhs), Tag::nhwc);
    const memory::desc dst(dims({g.batch_max, g.out_channels, d.shape.out_h, d.shape.out_w}),
                           onednn_type(d.types.dst), Tag::nhwc);
    const memory::desc bias(dims({g.out_channels}), bias_type(d.scales), Tag::a),
        plain(filter_sizes(d), onednn_type(d.types.rhs), filter_strides(d)),
        any(filter_sizes(d), onednn_type(d.types.rhs), Tag::any);
    const Dims strides = dims({g.stride_h, g.stride_w}),
               dilations = dims({g.dilation_h - 1, g.dilation_w - 1});
    const Dims before = dims({g.pad_top, g.pad_left});
    const Dims after = {pad_after(g.transposed, g.in_h_max, d.shape.out_h, g.kernel_h, g.stride_h,
                                  g.dilation_h, g.pad_top),
                        pad_after(g.transposed, g.in_w_max, d.shape.out_w, g.kernel_w, g.stride_w,
                                  g.dilation_w, g.pad_left)};
    dnnl::primitive_attr attributes;
    set_zero_point(&attributes, d.lhs_zero_point);
    set_scales(&attributes, d.scales, g.groups > 1 ? 1 << 0 | 1 << 1 : 1 << 0);
    if (d.activation.relu() && d.types.dst != OCTET_U8) {
      attributes.set_post_ops(onednn_relu());
    }
    const auto create = [&](auto primitive, dnnl::algorithm algorithm) {
      using Primitive = decltype(primitive);
      const auto described = onednn_describe<Primitive>(
          engine_, attributes, dnnl::prop_kind::forward_inference, algorithm, src, any, bias, dst,
          strides, dilations, before, after);
      primitive_ = Primitive(described);
      return described.weights_desc();
    };
    const memory::desc chosen =
        g.transposed ? create(dnnl::deconvolution_forward(), dnnl::algorithm::deconvolution_direct)
                     : create(dnnl::convolution_forward(), dnnl::algorithm::convolution_direct);
    add(DNNL_ARG_SRC, src, d.lhs.as());
    add_weights(plain, chosen, d.filter);
    add_zero_point(d.lhs_zero_point);
    add_scales(d.scales);
    add_bias(bias, d.bias, d.scales);
    add(DNNL_ARG_DST, dst, dst_.as());
  }
};

}  // namespace

std::unique_ptr<Contestant> make_onednn_conv(const ConvData& data) {
  if (data.types.rhs != OCTET_S8) return nullptr;  // it has no u8 weights
  try {
    return std::make_unique<OneDnnConv>(data);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) return nullptr;
    throw Error(fmt::format("oneDNN refuses {} {}: {}", data.shape.name(), data.types.name(),
                            error.what()));
  }
}

}  // namespace tool
