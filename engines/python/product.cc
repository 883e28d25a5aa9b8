// SPDX-License-Identifier: Apache-2.0
// The class Product: packed weights of a matrix, and a run of rows through them.
#include <nanobind/stl/string.h>

#include "engines/python/arithmetic.h"
#include "engines/python/arrays.h"
#include "engines/python/errors.h"
#include "engines/python/module.h"
#include "engines/python/running.h"
#include "octet/octet.hpp"

namespace nb = nanobind;

namespace octet::python {
namespace {

constexpr size_t kRowsMax = size_t{1} << 28;  // of a run: no plan depends on it

// Immutable: many threads may run it at once.
class Product {
 public:
  Product(nb::handle weights, const Arithmetic& arithmetic) : arithmetic_(arithmetic) {
    const Array array(weights, "weights", {OCTET_S8, OCTET_U8}, 2, 2);
    if (!array.dense_along(0)) array.fail_layout();
    arithmetic_.require_channels(array.extent(1));
    auto rhs = describe_weights(array, array.type(), 1);
    pack(&rhs);
  }

  // Weights of 4 bits, two in a byte: (n, k / 2). scales: (n, k / block) of scale blocks; none,
  // where block is 0. by_block: each block of a float32 x is quantized by itself.
  Product(nb::handle weights, const Arithmetic& arithmetic, const std::string& type, size_t block,
          nb::handle scales, bool by_block)
      : arithmetic_(arithmetic), by_block_(by_block) {
    const Array array(weights, "weights", {OCTET_U8}, 2, 2);
    array.require_dense();
    auto rhs = describe_weights(array, type == "int4" ? OCTET_S4 : OCTET_U4, 2);
    if (!block) {
      arithmetic_.require_channels(n_);
      pack(&rhs);
      return;
    }
    const Array by_blocks(scales, "scales", {OCTET_F16, OCTET_F32}, 2, 2);
    by_blocks.require_dense();
    if (by_blocks.extent(1) != n_ || k_ % block || by_blocks.extent(0) != k_ / block)
      fail(PyExc_ValueError, "scales have the shape " + shape_text(by_blocks.shape()) +
                                 ": blocks of " + std::to_string(block) + " of weights of " +
                                 std::to_string(n_) + " x " + std::to_string(k_) +
                                 " need one for each block of each channel");
    arithmetic_.require_channels(n_, k_ / block);
    rhs.scale_block = block;
    rhs.scale_type = by_blocks.type();
    rhs.scales = by_blocks.data();
    pack(&rhs);
  }

  nb::object run(nb::handle x, nb::handle out, size_t count) const {
    const Array lhs(x, "x", {arithmetic_.input()}, 1, SIZE_MAX);
    if (lhs.extent(0) != k_)
      fail(PyExc_ValueError, "x has the shape " + shape_text(lhs.shape()) +
                                 ": its last axis is to have " + std::to_string(k_) + " elements");
    if (!lhs.dense_along(0)) lhs.fail_layout();
    auto args = make<octet_gemm_args>();
    args.m = 1;
    for (size_t axis = 1; axis < lhs.axes(); ++axis) args.m *= lhs.extent(axis);
    args.lhs = lhs.data();
    args.lhs_stride = lhs.stride_of(1, lhs.axes(), k_);
    std::vector<size_t> shape = lhs.shape();
    shape.back() = n_;
    const Result result(out, arithmetic_.output(), shape);
    args.dst = result.array.data();
    const engines::Threads threads = threads_of(count);
    octet_error error;
    octet_status status;
    {
      const nb::gil_scoped_release released;
      status = multiply(&args, threads, &error);
    }
    check(status, error);
    return result.object;
  }

  nb::dict explain(size_t rows, size_t count) const {
    auto e = make<octet_gemm_explanation>();
    octet_error error;
    const octet_gemm_desc desc = describe(rows);
    check(octet_gemm_explain(&desc, threads_of(count).count(), &e, &error), error);
    nb::dict facts;
    facts["kernel"] = octet_gemm_kernel(gemm_.get(), rows);
    facts["tier"] = octet_isa_name(e.isa);
    facts["reason"] = (const char*)e.reason;
    facts["choice"] = (const char*)e.choice;
    facts["origin"] = e.origin;
    facts["tasks"] = e.batch_tasks * e.row_tasks * e.column_tasks;
    facts["workspace_bytes"] = e.workspace_bytes;
    facts["packed_bytes"] = packed_.size();
    return facts;
  }

  const char* kernel(size_t rows) const { return octet_gemm_kernel(gemm_.get(), rows); }
  size_t packed_bytes() const { return packed_.size(); }
  size_t n() const { return n_; }
  size_t k() const { return k_; }

 private:
  // Each element of the array holds so many weights.
  octet_rhs_desc describe_weights(const Array& array, octet_type type, size_t per_element) {
    auto rhs = make<octet_rhs_desc>();
    rhs.type = type_ = type;
    rhs.order = OCTET_NK;
    rhs.n = n_ = array.extent(1);
    rhs.k = k_ = array.extent(0) * per_element;
    rhs.data = array.data();
    rhs.stride = array.stride_of(1, 2, array.extent(0)) * per_element;
    arithmetic_.describe_weights(&rhs);
    return rhs;
  }

  void pack(const octet_rhs_desc* rhs) {
    const nb::gil_scoped_release released;
    auto packed = PackedWeights::pack(*rhs);
    if (!packed) throw packed.error();
    packed_ = std::move(*packed);
    auto gemm = Gemm::create(describe(kRowsMax));
    if (!gemm) throw gemm.error();
    gemm_ = std::move(*gemm);
  }

  octet_gemm_desc describe(size_t rows) const {
    auto desc = make<octet_gemm_desc>();
    desc.m_max = rows;
    desc.n = n_;
    desc.k = k_;
    desc.rhs_type = type_;
    arithmetic_.describe(&desc);
    if (by_block_) desc.lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS;
    packed_.attach(desc);
    return desc;
  }

  octet_status multiply(octet_gemm_args* args, const engines::Threads& threads,
                        octet_error* error) const {
    threads.lend(args);
    size_t bytes;
    if (octet_status s =
            octet_gemm_workspace(gemm_.get(), args->m, args->concurrency, &bytes, error))
      return s;
    const Scratch scratch(bytes);
    scratch.attach(args);
    return gemm_.run(*args, error);
  }

  const Arithmetic arithmetic_;
  bool by_block_ = false;
  octet_type type_;
  size_t n_, k_;
  PackedWeights packed_;
  Gemm gemm_;
};

}  // namespace

void bind_product(nb::module_& m) {
  nb::class_<Product>(m, "Product", "Packed weights of a matrix.")
      .def(nb::init<nb::handle, const Arithmetic&>(), nb::arg("weights"), nb::arg("arithmetic"))
      .def(nb::init<nb::handle, const Arithmetic&, const std::string&, size_t, nb::handle, bool>(),
           nb::arg("weights"), nb::arg("arithmetic"), nb::arg("type"), nb::arg("block"),
           nb::arg("scales") = nb::none(), nb::arg("by_block") = false)
      .def("run", &Product::run, nb::arg("x").none(), nb::arg("out") = nb::none(),
           nb::arg("threads") = 1)
      .def("explain", &Product::explain, nb::arg("rows"), nb::arg("threads") = 1)
      .def("kernel", &Product::kernel, nb::arg("rows"))
      .def_prop_ro("packed_bytes", &Product::packed_bytes)
      .def_prop_ro("n", &Product::n)
      .def_prop_ro("k", &Product::k);
}

}  // namespace octet::python
