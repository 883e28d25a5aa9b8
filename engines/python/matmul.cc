// SPDX-License-Identifier: Apache-2.0
// octet.matmul: a product of two arrays, both of which come with the call.
#include "engines/python/arrays.h"
#include "engines/python/errors.h"
#include "engines/python/module.h"
#include "engines/python/running.h"
#include "octet/octet.hpp"

namespace nb = nanobind;

namespace octet::python {
namespace {

// The product of a x b, where a's leading axes count rows, or, beside a b that has them too,
// matrices.
class Matmul {
 public:
  Matmul(const Array& a, const Array& b) : a_(a), b_(b) {
    const bool batched = b.axes() > 2;
    const std::vector<size_t> leading_a(a.shape().begin(), a.shape().end() - 2);
    const std::vector<size_t> leading_b(b.shape().begin(), b.shape().end() - 2);
    const std::string shapes =
        "a has the shape " + shape_text(a.shape()) + " and b the shape " + shape_text(b.shape());
    if (a.extent(0) != b.extent(1))
      fail(PyExc_ValueError, shapes + ": the columns of a are to be as many as the rows of b");
    if (batched && leading_a != leading_b)
      fail(PyExc_ValueError, shapes + ": b is to have two axes, or as many matrices as a");
    shape_ = a.shape();
    shape_.back() = b.extent(0);
    size_t leading = 1;
    for (const size_t extent : leading_a) leading *= extent;
    batch_ = batched ? leading : 1;
    m_ = a.extent(1) * (batched ? 1 : leading);
  }

  const std::vector<size_t>& shape() const { return shape_; }

  octet_gemm_desc describe(int32_t a_zero_point) const {
    auto desc = make<octet_gemm_desc>();
    desc.m_max = m_;
    desc.n = b_.extent(0);
    desc.k = a_.extent(0);
    desc.batch_max = batch_;
    desc.lhs_type = a_.type();
    desc.rhs_type = b_.type();
    desc.dst_type = OCTET_S32;
    desc.lhs_zero_point = a_zero_point;
    if (b_by_columns()) desc.rhs_order = OCTET_NK;
    return desc;
  }

  octet_gemm_args arguments(void* dst) const {
    auto args = make<octet_gemm_args>();
    const size_t rows_end = b_.axes() > 2 ? 2 : a_.axes();  // of a: axes that count rows
    if (!a_.dense_along(0)) a_.fail_layout();
    args.m = m_;
    args.batch = batch_;
    args.lhs = a_.data();
    args.lhs_stride = a_.stride_of(1, rows_end, a_.extent(0));
    args.lhs_batch_stride = a_.stride_of(rows_end, a_.axes(), 1);
    const size_t inner = b_by_columns() ? 1 : 0;  // the axis of b along which it is dense
    if (!b_.dense_along(inner)) b_.fail_layout();
    args.rhs = b_.data();
    args.rhs_stride = b_.stride_of(1 - inner, 2 - inner, b_.extent(inner));
    args.rhs_batch_stride = b_.stride_of(2, b_.axes(), 1);
    args.dst = dst;
    return args;
  }

 private:
  bool b_by_columns() const { return !b_.dense_along(0); }

  const Array &a_, &b_;
  std::vector<size_t> shape_;
  size_t m_, batch_;
};

octet_status run(const octet_gemm_desc& desc, octet_gemm_args* args,
                 const engines::Threads& threads, octet_error* error) {
  const auto gemm = Gemm::create(desc);
  if (!gemm) return *error = gemm.error(), gemm.status();
  threads.lend(args);
  size_t bytes;
  if (octet_status s = octet_gemm_workspace(gemm->get(), args->m, args->concurrency, &bytes, error))
    return s;
  const Scratch scratch(bytes);
  scratch.attach(args);
  return gemm->run(*args, error);
}

nb::object matmul(nb::handle a, nb::handle b, nb::handle out, int32_t a_zero_point,
                  int32_t b_zero_point, size_t count) {
  const Array lhs(a, "a", {OCTET_S8, OCTET_U8}, 2, SIZE_MAX);
  const Array rhs(b, "b", {OCTET_S8, OCTET_U8}, 2, SIZE_MAX);
  const Matmul product(lhs, rhs);
  const octet_gemm_desc desc = product.describe(a_zero_point);
  octet_gemm_args args = product.arguments(nullptr);
  if (b_zero_point) args.rhs_zero_points = &b_zero_point, args.rhs_zero_point_count = 1;
  const Result result(out, OCTET_S32, product.shape());
  args.dst = result.array.data();
  const engines::Threads threads = threads_of(count);
  octet_status status;
  octet_error error;
  {
    const nb::gil_scoped_release released;
    status = run(desc, &args, threads, &error);
  }
  check(status, error);
  return result.object;
}

}  // namespace

void bind_matmul(nb::module_& m) {
  m.def("matmul", &matmul, nb::arg("a").none(), nb::arg("b").none(), nb::arg("out") = nb::none(),
        nb::kw_only(), nb::arg("a_zero_point") = 0, nb::arg("b_zero_point") = 0,
        nb::arg("threads") = 1,
        nb::sig("def matmul(a: typing.Any, b: typing.Any, out: typing.Any | None = None, *, "
                "a_zero_point: int = 0, b_zero_point: int = 0, threads: int = 1) -> typing.Any"),
        R"((a - a_zero_point) @ (b - b_zero_point), exact in int32 on every CPU.

a: int8 or uint8, (..., m, k)
b: int8 or uint8, (k, n), or (..., k, n) with the leading axes of a
out: int32, (..., m, n), contiguous; memory that neither a nor b has. None: a new NumPy array
a_zero_point, b_zero_point: in the range of the array's type
threads: most threads that work on it; 0 means as many as the process may use

Arrays are NumPy's or any objects with __dlpack__ in the CPU's memory. Rows of a may lie apart, and
b may be the transpose of an array (b = w.T); nothing is copied. Returns out.

ValueError: shapes, strides or zero points do not fit, an array has no elements, out is read-only or
overlaps an operand, or k is so large that a sum could leave int32 (k may be 33025 in any case).
TypeError: an array has another type.)");
}

}  // namespace octet::python
