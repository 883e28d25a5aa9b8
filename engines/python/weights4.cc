// SPDX-License-Identifier: Apache-2.0
// Makes weights of 4 bits of float32 weights and of other tools' arrays, in arrays of the caller's.
#include <nanobind/stl/string.h>

#include "engines/python/arrays.h"
#include "engines/python/errors.h"
#include "engines/python/module.h"
#include "octet/quantized_weights.h"

namespace nb = nanobind;

namespace octet::python {
namespace {

using Shape = std::vector<size_t>;

Array input(nb::handle object, const char* name, octet_type type, const Shape& shape) {
  Array array(object, name, {type}, shape.size(), shape.size());
  if (array.shape() != shape)
    fail(PyExc_ValueError, std::string(name) + " has the shape " + shape_text(array.shape()) +
                               ": " + shape_text(shape) + " is needed");
  array.require_dense();
  return array;
}

void quantize(nb::handle values, size_t block, nb::handle weights, nb::handle scales,
              nb::handle zero_points, const std::string& scale_type) {
  const Array from(values, "w", {OCTET_F32}, 2, 2);
  from.require_dense();
  const size_t n = from.extent(1), k = from.extent(0);
  if (!block || k % block || k % 2)
    fail(PyExc_ValueError, "w has the shape " + shape_text(from.shape()) + ": blocks of " +
                               std::to_string(block) + " do not divide its even last axis");
  const octet_type type = type_of_text(scale_type, "scale_type", {OCTET_F16, OCTET_F32});
  const Array to(weights, "weights", OCTET_U8, {n, k / 2});
  const Array by(scales, "scales", type, {n, k / block});
  int32_t* zeros = nullptr;
  if (!zero_points.is_none())
    zeros = (int32_t*)Array(zero_points, "zero_points", OCTET_S32, {n, k / block}).data();
  octet_error error;
  check(octet_quantize_weights((const float*)from.data(), n, k, block, zeros ? OCTET_U4 : OCTET_S4,
                               (uint8_t*)to.data(), type, by.data(), zeros, &error),
        error);
}

void import_q4_0(nb::handle blocks, nb::handle weights, nb::handle scales) {
  const Array from(blocks, "blocks", {OCTET_U8}, 2, 2);
  from.require_dense();
  const size_t n = from.extent(1), per_row = from.extent(0) / 18, k = per_row * 32;
  if (from.extent(0) % 18)
    fail(PyExc_ValueError, "blocks has the shape " + shape_text(from.shape()) +
                               ": rows are whole blocks of 18 bytes");
  const Array to(weights, "weights", OCTET_U8, {n, k / 2});
  const Array by(scales, "scales", OCTET_F16, {n, per_row});
  octet_error error;
  check(octet_import_q4_0(from.data(), n, k, (uint8_t*)to.data(), (uint16_t*)by.data(), &error),
        error);
}

void import_qweight(const std::string& layout, nb::handle qweight, nb::handle qzeros,
                    nb::handle scales, nb::handle g_idx, nb::handle weights, nb::handle to_scales,
                    nb::handle zero_points) {
  octet_qweight from = {};
  from.layout = layout == "awq"       ? OCTET_QWEIGHT_AWQ
                : layout == "gptq_v2" ? OCTET_QWEIGHT_GPTQ_V2
                                      : OCTET_QWEIGHT_GPTQ;
  const Array by(scales, "scales", {OCTET_F16}, 2, 2);
  by.require_dense();
  const Array words(qweight, "qweight", {OCTET_S32}, 2, 2);
  words.require_dense();
  const bool awq = from.layout == OCTET_QWEIGHT_AWQ;
  const size_t groups = by.extent(1);
  from.n = words.extent(0) * (awq ? 8 : 1);
  from.k = words.extent(1) * (awq ? 1 : 8);
  if (by.extent(0) != from.n || from.k % groups || from.n % 8 || from.k % 2)
    fail(PyExc_ValueError, "qweight has the shape " + shape_text(words.shape()) +
                               " and scales the shape " + shape_text(by.shape()) +
                               ": scales are to be (groups, n), n a multiple of 8, and groups are "
                               "to divide k");
  from.group = from.k / groups;
  from.qweight = (const int32_t*)words.data();
  from.scales = (const uint16_t*)by.data();
  const Array zeros = input(qzeros, "qzeros", OCTET_S32, {groups, from.n / 8});
  from.qzeros = (const int32_t*)zeros.data();
  if (!g_idx.is_none())
    from.g_idx = (const int32_t*)input(g_idx, "g_idx", OCTET_S32, {from.k}).data();
  const Array to(weights, "weights", OCTET_U8, {from.n, from.k / 2});
  const Array to_by(to_scales, "scales", OCTET_F16, {from.n, groups});
  const Array to_zeros(zero_points, "zero_points", OCTET_S32, {from.n, groups});
  octet_error error;
  check(octet_import_qweight(&from, (uint8_t*)to.data(), OCTET_F16, to_by.data(),
                             (int32_t*)to_zeros.data(), &error),
        error);
}

void unpack_zero_points(nb::handle packed, nb::handle zero_points, size_t n, size_t blocks) {
  const Array from = input(packed, "zero_points", OCTET_U8, {n, (blocks + 1) / 2});
  const Array to(zero_points, "zero_points", OCTET_S32, {n, blocks});
  octet_error error;
  check(
      octet_unpack_zero_points((const uint8_t*)from.data(), n, blocks, (int32_t*)to.data(), &error),
      error);
}

}  // namespace

void bind_weights4(nb::module_& m) {
  m.def("quantize4", &quantize, nb::arg("values"), nb::arg("block"), nb::arg("weights"),
        nb::arg("scales"), nb::arg("zero_points") = nb::none(), nb::arg("scale_type") = "float16");
  m.def("import_q4_0", &import_q4_0, nb::arg("blocks"), nb::arg("weights"), nb::arg("scales"));
  m.def("import_qweight", &import_qweight, nb::arg("layout"), nb::arg("qweight"), nb::arg("qzeros"),
        nb::arg("scales"), nb::arg("g_idx").none(), nb::arg("weights"), nb::arg("to_scales"),
        nb::arg("zero_points"));
  m.def("unpack_zero_points", &unpack_zero_points, nb::arg("packed"), nb::arg("zero_points"),
        nb::arg("n"), nb::arg("blocks"));
}

}  // namespace octet::python
