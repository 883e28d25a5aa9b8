// SPDX-License-Identifier: Apache-2.0
// The class Convolution: a packed filter, and a run of images through it.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "engines/python/arithmetic.h"
#include "engines/python/arrays.h"
#include "engines/python/errors.h"
#include "engines/python/module.h"
#include "engines/python/running.h"
#include "octet/helpers.h"
#include "octet/octet.hpp"

namespace nb = nanobind;

namespace octet::python {
namespace {

using Pair = std::array<size_t, 2>;  // along height and width
using Pads = std::array<size_t, 4>;  // top, bottom, left, right

struct Size {
  size_t batch, h, w;
};

// The planned object for images of at most a size.
struct Plan {
  octet_conv2d_shape shape;
  Conv2d conv;
};

// Many threads may run it at once: plans are immutable, and the packed weights serve all of them.
class Convolution {
 public:
  Convolution(nb::handle weights, const Arithmetic& arithmetic, const std::string& order,
              const std::string& layout, Pair stride, Pair dilation, size_t groups, bool same,
              Pads pads, Pair size)
      : arithmetic_(arithmetic), same_(same) {
    if (order != "OHWI" && order != "OIHW")
      fail(PyExc_ValueError, "order is " + order + ": OHWI or OIHW is needed");
    if (layout != "NHWC" && layout != "NCHW")
      fail(PyExc_ValueError, "layout is " + layout + ": NHWC or NCHW is needed");
    const Array array(weights, "weights", {OCTET_S8, OCTET_U8}, 4, 4);
    array.require_dense();
    arithmetic_.require_channels(array.extent(3));
    layout_ = layout == "NHWC" ? OCTET_NHWC : OCTET_NCHW;
    filter_.type = array.type();
    filter_.order = order == "OHWI" ? OCTET_OHWI : OCTET_OIHW;
    filter_.data = array.data();
    arithmetic_.describe_weights(&filter_);
    const bool last = filter_.order == OCTET_OHWI;  // the channels are the last axis
    octet_conv2d_shape& shape = filter_.shape;
    shape.in_h_max = size[0], shape.in_w_max = size[1];
    shape.groups = groups;
    shape.out_channels = array.extent(3);
    shape.in_channels = array.extent(last ? 0 : 2) * groups;
    shape.kernel_h = array.extent(last ? 2 : 1), shape.kernel_w = array.extent(last ? 1 : 0);
    shape.stride_h = stride[0], shape.stride_w = stride[1];
    shape.dilation_h = dilation[0], shape.dilation_w = dilation[1];
    shape.pad_top = pads[0], shape.pad_bottom = pads[1];
    shape.pad_left = pads[2], shape.pad_right = pads[3];
    const nb::gil_scoped_release released;
    pad(&shape);
    auto packed = PackedWeights::pack(filter_);
    filter_.data = nullptr;
    if (!packed) throw packed.error();
    packed_ = std::move(*packed);
    plan_ = plan(shape);
  }

  nb::object run(nb::handle x, nb::handle out, size_t count) const {
    const Array lhs(x, "x", {arithmetic_.input()}, 4, 4);
    const bool nhwc = layout_ == OCTET_NHWC;
    const octet_conv2d_shape& shape = filter_.shape;
    if (lhs.extent(nhwc ? 0 : 2) != shape.in_channels)
      fail(PyExc_ValueError, "x has the shape " + shape_text(lhs.shape()) + ": " +
                                 std::to_string(shape.in_channels) + " channels are needed, as " +
                                 (nhwc ? "the last axis" : "the second axis"));
    auto args = make<octet_conv2d_args>();
    args.batch = lhs.extent(3);
    args.in_h = lhs.extent(nhwc ? 2 : 1), args.in_w = lhs.extent(nhwc ? 1 : 0);
    args.lhs = lhs.data();
    if (!nhwc) lhs.require_dense();
    if (!lhs.dense_along(0)) lhs.fail_layout();
    if (nhwc) args.lhs_stride = lhs.stride_of(1, 4, shape.in_channels);

    octet_conv2d_shape sized = shape;
    sized.in_h_max = args.in_h, sized.in_w_max = args.in_w;
    octet_error error;
    octet_status status = pad(&sized, &error);
    if (!status)
      status =
          octet_conv2d_output_size(&sized, args.in_h, args.in_w, &args.out_h, &args.out_w, &error);
    check(status, error);
    const octet_conv2d_pads pads = {sized.pad_top, sized.pad_bottom, sized.pad_left,
                                    sized.pad_right};
    if (same_) args.pads = &pads;
    const size_t channels = shape.out_channels;
    const Result result(out, arithmetic_.output(),
                        nhwc ? std::vector<size_t>{args.batch, args.out_h, args.out_w, channels}
                             : std::vector<size_t>{args.batch, channels, args.out_h, args.out_w});
    args.dst = result.array.data();
    const engines::Threads threads = threads_of(count);
    {
      const nb::gil_scoped_release released;
      status = convolve(&args, threads, &error);
    }
    check(status, error);
    return result.object;
  }

  nb::list explain() const {
    nb::list candidates;
    octet_error error;
    for (size_t i = 0;; ++i) {
      auto c = make<octet_conv2d_candidate>();
      const octet_status status = octet_conv2d_explain(&filter_, OCTET_ISA_AUTO, i, &c, &error);
      if (status == OCTET_BAD_SIZE && i) return candidates;
      check(status, error);
      nb::dict facts;
      facts["algorithm"] = octet_conv_algorithm_name(c.algorithm);
      facts["possible"] = c.possible != 0;
      facts["chosen"] = c.chosen != 0;
      facts["kernel"] = c.kernel;
      facts["microseconds"] = c.microseconds;
      facts["packed_bytes"] = c.packed_bytes;
      facts["reason"] = (const char*)c.reason;
      facts["choice"] = (const char*)c.choice;
      facts["origin"] = c.origin;
      candidates.append(facts);
    }
  }

  const char* kernel() const { return current()->conv.kernel(); }
  const char* algorithm() const { return octet_conv_algorithm_name(current()->conv.algorithm()); }
  size_t packed_bytes() const { return packed_.size(); }
  size_t in_channels() const { return filter_.shape.in_channels; }
  size_t out_channels() const { return filter_.shape.out_channels; }
  Pair kernel_size() const { return {filter_.shape.kernel_h, filter_.shape.kernel_w}; }

 private:
  // Sets the pads of SAME for the shape's size.
  octet_status pad(octet_conv2d_shape* shape, octet_error* error) const {
    return same_ ? octet_conv2d_set_padding(OCTET_PADDING_SAME, shape, error) : OCTET_OK;
  }
  void pad(octet_conv2d_shape* shape) const {
    octet_error error;
    if (pad(shape, &error)) throw error;
  }

  std::shared_ptr<const Plan> plan(octet_conv2d_shape shape) const {
    if (same_) {  // the most that SAME pads: an image of one pixel
      octet_conv2d_shape pixel = shape;
      pixel.in_h_max = pixel.in_w_max = 1;
      pad(&pixel);
      shape.pad_top = pixel.pad_top, shape.pad_bottom = pixel.pad_bottom;
      shape.pad_left = pixel.pad_left, shape.pad_right = pixel.pad_right;
    }
    auto desc = make<octet_conv2d_desc>();
    desc.shape = shape;
    desc.lhs_layout = desc.dst_layout = layout_;
    desc.rhs_type = filter_.type;
    arithmetic_.describe(&desc);
    packed_.attach(desc);
    auto conv = Conv2d::create(desc);
    if (!conv) throw conv.error();
    return std::make_shared<Plan>(Plan{shape, std::move(*conv)});
  }

  std::shared_ptr<const Plan> current() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return plan_;
  }

  // A plan for images of this size: the last one, or a larger one in its place.
  std::shared_ptr<const Plan> plan_for(const octet_conv2d_args& args) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    octet_conv2d_shape shape = plan_->shape;
    if (args.batch > shape.batch_max || args.in_h > shape.in_h_max || args.in_w > shape.in_w_max) {
      shape.batch_max = std::max(shape.batch_max, args.batch);
      shape.in_h_max = std::max(shape.in_h_max, args.in_h);
      shape.in_w_max = std::max(shape.in_w_max, args.in_w);
      plan_ = plan(shape);
    }
    return plan_;
  }

  octet_status convolve(octet_conv2d_args* args, const engines::Threads& threads,
                        octet_error* error) const {
    const std::shared_ptr<const Plan> planned = plan_for(*args);
    threads.lend(args);
    size_t bytes;
    if (octet_status s = octet_conv2d_workspace(planned->conv.get(), args->batch, args->in_h,
                                                args->in_w, args->concurrency, &bytes, error))
      return s;
    const Scratch scratch(bytes);
    scratch.attach(args);
    return planned->conv.run(*args, error);
  }

  const Arithmetic arithmetic_;
  const bool same_;
  octet_layout layout_;
  octet_filter_desc filter_ = make<octet_filter_desc>();
  PackedWeights packed_;
  mutable std::mutex mutex_;  // nothing that holds it waits for the GIL
  mutable std::shared_ptr<const Plan> plan_;
};

}  // namespace

void bind_convolution(nb::module_& m) {
  nb::class_<Convolution>(m, "Convolution", "A packed filter.")
      .def(nb::init<nb::handle, const Arithmetic&, const std::string&, const std::string&, Pair,
                    Pair, size_t, bool, Pads, Pair>(),
           nb::arg("weights"), nb::arg("arithmetic"), nb::kw_only(), nb::arg("order"),
           nb::arg("layout"), nb::arg("stride"), nb::arg("dilation"), nb::arg("groups"),
           nb::arg("same"), nb::arg("pads"), nb::arg("size"))
      .def("run", &Convolution::run, nb::arg("x").none(), nb::arg("out") = nb::none(),
           nb::arg("threads") = 1)
      .def("explain", &Convolution::explain)
      .def_prop_ro("kernel", &Convolution::kernel)
      .def_prop_ro("algorithm", &Convolution::algorithm)
      .def_prop_ro("packed_bytes", &Convolution::packed_bytes)
      .def_prop_ro("in_channels", &Convolution::in_channels)
      .def_prop_ro("out_channels", &Convolution::out_channels)
      .def_prop_ro("kernel_size", &Convolution::kernel_size);
}

}  // namespace octet::python
