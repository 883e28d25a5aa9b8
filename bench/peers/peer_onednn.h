// SPDX-License-Identifier: Apache-2.0
// Declares the common part of products and convolutions by oneDNN 2.x and 3.x: an engine, a
// primitive and its arguments. Version 2 scales the sum of product and s32 bias. Version 3 takes
// the scales as an argument and adds an f32 bias to the scaled product, so that some of its outputs
// differ from Octet's by a step.
#pragma once

#include <dnnl.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/machine/contestant.h"
#include "bench/problems/conv_data.h"
#include "bench/problems/operands.h"

namespace tool {

class OneDnnContestant : public Contestant {
 public:
  void run(size_t calls) override {
    for (size_t i = 0; i < calls; ++i)
      if (dnnl_primitive_execute(primitive_.get(), stream_.get(), (int)args_.size(),
                                 args_.data()) != dnnl_success)
        throw Error("oneDNN failed to run");
  }
  const void* dst() const override { return dst_.as(); }

 protected:
  explicit OneDnnContestant(size_t dst_bytes)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), dst_(dst_bytes) {}

  void add(int argument, const dnnl::memory::desc& desc, const void* data) {
    operands_.emplace_back(desc, engine_, (void*)data);
    args_.push_back({argument, operands_.back().get()});
  }
  // Reorders the weights once, into the layout that the primitive chose.
  void add_weights(const dnnl::memory::desc& plain, const dnnl::memory::desc& chosen,
                   const Buffer& weights) {
    packed_ = Buffer(chosen.get_size());
    dnnl::memory from(plain, engine_, weights.as()), to(chosen, engine_, packed_.as());
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
    add(DNNL_ARG_WEIGHTS, chosen, packed_.as());
  }

#if DNNL_VERSION_MAJOR >= 3
  void set_zero_point(dnnl::primitive_attr* attributes, int32_t of_src) {
    if (of_src) attributes->set_zero_points_mask(DNNL_ARG_SRC, 0);
  }
  void add_zero_point(const int32_t& of_src) {
    if (of_src)
      add(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC,
          {{1}, dnnl::memory::data_type::s32, dnnl::memory::format_tag::a}, &of_src);
  }
  // channel_mask: the dimensions of the weights that an output channel selects.
  void set_scales(dnnl::primitive_attr* attributes, const std::vector<float>& scales,
                  int channel_mask) {
    if (!scales.empty())
      attributes->set_scales_mask(DNNL_ARG_WEIGHTS, scales.size() > 1 ? channel_mask : 0);
  }
  void add_scales(const std::vector<float>& scales) {
    if (scales.empty()) return;
    add(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS,
        {{(dnnl::memory::dim)scales.size()},
         dnnl::memory::data_type::f32,
         dnnl::memory::format_tag::a},
        scales.data());
  }
  static dnnl::memory::data_type bias_type(const std::vector<float>& scales) {
    return scales.empty() ? dnnl::memory::data_type::s32 : dnnl::memory::data_type::f32;
  }
  void add_bias(const dnnl::memory::desc& desc, const std::vector<int32_t>& bias,
                const std::vector<float>& scales) {
    for (size_t i = 0; !scales.empty() && i < bias.size(); ++i)
      scaled_bias_.push_back((float)bias[i] * scales[scales.size() > 1 ? i : 0]);
    add(DNNL_ARG_BIAS, desc, scales.empty() ? (const void*)bias.data() : scaled_bias_.data());
  }
#else
  void set_zero_point(dnnl::primitive_attr* attributes, int32_t of_src) {
    if (of_src) attributes->set_zero_points(DNNL_ARG_SRC, 0, {of_src});
  }
  void add_zero_point(int32_t) {}
  void set_scales(dnnl::primitive_attr* attributes, const std::vector<float>& scales, int) {
    if (!scales.empty()) attributes->set_output_scales(scales.size() > 1 ? 1 << 1 : 0, scales);
  }
  void add_scales(const std::vector<float>&) {}
  static dnnl::memory::data_type bias_type(const std::vector<float>&) {
    return dnnl::memory::data_type::s32;
  }
  void add_bias(const dnnl::memory::desc& desc, const std::vector<int32_t>& bias,
                const std::vector<float>&) {
    add(DNNL_ARG_BIAS, desc, bias.data());
  }
#endif

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  Buffer dst_;

 private:
  Buffer packed_;
  std::vector<float> scaled_bias_;
  std::vector<dnnl::memory> operands_;
  std::vector<dnnl_exec_arg_t> args_;
};

std::unique_ptr<Contestant> make_onednn_conv(const ConvData& data);  // null if oneDNN has none

// A primitive's description, whose constructor took an operation's in version 2.
template <typename Primitive, typename... Args>
typename Primitive::primitive_desc onednn_describe(const dnnl::engine& engine,
                                                   const dnnl::primitive_attr& attributes,
                                                   const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, args..., attributes};
#else
  return {{args...}, attributes, engine};
#endif
}

inline dnnl::post_ops onednn_relu() {
  dnnl::post_ops relu;
#if DNNL_VERSION_MAJOR >= 3
  relu.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
#else
  relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
#endif
  return relu;
}

inline dnnl::memory::data_type onednn_type(octet_type type) {
  switch (type) {
    case OCTET_S8: return dnnl::memory::data_type::s8;
    case OCTET_U8: return dnnl::memory::data_type::u8;
    case OCTET_S32: return dnnl::memory::data_type::s32;
    case OCTET_F32: return dnnl::memory::data_type::f32;
    default: break;
  }
  return dnnl::memory::data_type::undef;
}

}  // namespace tool
