// SPDX-License-Identifier: Apache-2.0
// Checks arrays from Python before the library sees their pointers: type, shape, order, device.
#include "engines/python/arrays.h"

#include <algorithm>

#include "engines/python/errors.h"

namespace nb = nanobind;

namespace octet::python {
namespace {

constexpr octet_type kTypes[] = {OCTET_S8, OCTET_U8, OCTET_S32, OCTET_F32};

octet_type type_of(nb::dlpack::dtype type) {
  if (type == nb::dtype<int8_t>()) return OCTET_S8;
  if (type == nb::dtype<uint8_t>()) return OCTET_U8;
  if (type == nb::dtype<int32_t>()) return OCTET_S32;
  if (type == nb::dtype<float>()) return OCTET_F32;
  if (type == nb::dlpack::dtype{(uint8_t)nb::dlpack::dtype_code::Float, 16, 1}) return OCTET_F16;
  return octet_type{};
}

std::string any_of(std::initializer_list<octet_type> types) {
  std::string text;
  for (const octet_type type : types)
    text += (text.empty() ? "" : " or ") + std::string(type_text(type));
  return text;
}

std::string text_of(nb::handle object) { return nb::str(object).c_str(); }

// The type of the elements, as the object itself names it: "float64", "torch.int64".
std::string element_text(nb::handle object) {
  if (nb::hasattr(object, "dtype")) return text_of(object.attr("dtype"));
  return "elements of another type";
}

// numpy.empty and the dtypes of results. They live as long as the process.
struct Numpy {
  Numpy() {
    const nb::module_ numpy = nb::module_::import_("numpy");
    empty = numpy.attr("empty");
    for (const octet_type type : kTypes) dtypes[type] = numpy.attr("dtype")(type_text(type));
  }
  nb::object empty, dtypes[OCTET_F32 + 1];
};

nb::object new_array(octet_type type, const std::vector<size_t>& shape) {
  static const Numpy& numpy = *new Numpy;
  nb::list extents;
  for (const size_t extent : shape) extents.append(extent);
  return numpy.empty(nb::tuple(extents), numpy.dtypes[type]);
}

}  // namespace

std::string shape_text(const std::vector<size_t>& shape) {
  std::string text;
  for (const size_t extent : shape) text += (text.empty() ? "(" : ", ") + std::to_string(extent);
  return text.empty() ? "()" : text + (shape.size() == 1 ? ",)" : ")");
}

const char* type_text(octet_type type) {
  switch (type) {
    case OCTET_S8: return "int8";
    case OCTET_U8: return "uint8";
    case OCTET_S32: return "int32";
    case OCTET_F32: return "float32";
    case OCTET_F16: return "float16";
    case OCTET_S16:
    case OCTET_S4:
    case OCTET_U4: break;  // no arrays
  }
  return "unknown";
}

octet_type type_of_text(const std::string& text, const char* name,
                        std::initializer_list<octet_type> types) {
  for (const octet_type type : types)
    if (text == type_text(type)) return type;
  fail(PyExc_ValueError, std::string(name) + " is " + text + ": " + any_of(types) + " is needed");
}

void Array::import(nb::handle object, bool writable) {
  if (writable) {
    nb::ndarray<> array;
    if (nb::try_cast(object, array, false)) array_ = nb::ndarray<nb::ro>(array);
  }
  if (!array_.is_valid()) {
    nb::ndarray<nb::ro> array;
    if (!nb::try_cast(object, array, false))
      fail(PyExc_TypeError, name_ + " is of type " + text_of(nb::inst_name(object)) +
                                ": an array of NumPy's or an object with __dlpack__ is needed");
    if (writable) fail(PyExc_ValueError, name_ + " is read-only");
    array_ = array;
  }
  if (array_.device_type() != nb::device::cpu::value)
    fail(PyExc_ValueError, name_ + " is not in the CPU's memory");
  data_ = array_.data();
  for (size_t i = 0; i < array_.ndim(); ++i) shape_.push_back(array_.shape(i));
  type_ = type_of(array_.dtype());
}

Array::Array(nb::handle object, const char* name, std::initializer_list<octet_type> types,
             size_t axes_min, size_t axes_max)
    : name_(name) {
  import(object, false);
  bool found = false;
  for (const octet_type type : types) found |= type == type_;
  if (!found)
    fail(PyExc_TypeError,
         name_ + " has the type " + element_text(object) + ": " + any_of(types) + " is needed");
  if (axes() < axes_min || axes() > axes_max) {
    std::string wanted = std::to_string(axes_min);
    if (axes_max > axes_min)
      wanted += axes_max == SIZE_MAX ? " or more" : " to " + std::to_string(axes_max);
    fail(PyExc_ValueError,
         name_ + " has the shape " + shape_text(shape_) + ": " + wanted + " axes are needed");
  }
  for (const size_t extent : shape_)
    if (extent == 0)
      fail(PyExc_ValueError,
           name_ + " has the shape " + shape_text(shape_) + ", and so no elements");
}

Array::Array(nb::handle object, const char* name, octet_type type, const std::vector<size_t>& shape)
    : name_(name) {
  import(object, true);
  if (type_ != type)
    fail(PyExc_TypeError,
         name_ + " has the type " + element_text(object) + ": the result is of " + type_text(type));
  if (shape_ != shape)
    fail(PyExc_ValueError, name_ + " has the shape " + shape_text(shape_) +
                               ": the result has the shape " + shape_text(shape));
  require_dense();
}

bool Array::dense_along(size_t axis) const {
  return axis >= axes() || extent(axis) == 1 || stride(axis) == 1;
}

size_t Array::stride_of(size_t first, size_t end, size_t inner) const {
  int64_t step = 0, next = 0;  // of the innermost axis with a second index; of all axes so far
  for (size_t axis = first; axis < std::min(end, axes()); ++axis) {
    if (extent(axis) == 1) continue;
    if (step == 0) {
      step = next = stride(axis);
      if (step < (int64_t)inner) fail_layout();
    }
    if (stride(axis) != next) fail_layout();
    next *= (int64_t)extent(axis);
  }
  return (size_t)step;
}

void Array::require_dense() const {
  int64_t next = 1;
  for (size_t axis = 0; axis < axes(); ++axis) {
    if (extent(axis) != 1 && stride(axis) != next) fail_layout();
    next *= (int64_t)extent(axis);
  }
}

void Array::fail_layout() const {
  std::string text;
  for (size_t axis = axes(); axis-- > 0;)
    text += (text.empty() ? "(" : ", ") + std::to_string(stride(axis));
  fail(PyExc_ValueError, name_ + " has the shape " + shape_text(shape_) + " with the strides " +
                             text + ") in elements, and is not contiguous: copy it with " +
                             "numpy.ascontiguousarray");
}

Result::Result(nb::handle out, octet_type type, const std::vector<size_t>& shape)
    : object(out.is_none() ? new_array(type, shape) : nb::borrow(out)),
      array(object, "out", type, shape) {}

}  // namespace octet::python
