// SPDX-License-Identifier: Apache-2.0
// Reads and makes the arrays that calls from Python have as operands.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "octet/octet.h"

namespace octet::python {

// "(2, 3)", as Python prints it.
std::string shape_text(const std::vector<size_t>& shape);
// NumPy's name of a type, such as "int8".
const char* type_text(octet_type type);
// The type of this name, one of `types`; `name` is the argument's, for the error.
octet_type type_of_text(const std::string& text, const char* name,
                        std::initializer_list<octet_type> types);

// An argument that is an array in the CPU's memory: NumPy's, or any object with __dlpack__ or a
// buffer. Holds a reference to it. Errors name the argument.
class Array {
 public:
  // One that is read: of one of these types, with as many axes as from `axes_min` to `axes_max`.
  Array(nanobind::handle object, const char* name, std::initializer_list<octet_type> types,
        size_t axes_min, size_t axes_max);
  // One that is written: of this type and shape, row after row.
  Array(nanobind::handle object, const char* name, octet_type type,
        const std::vector<size_t>& shape);

  const std::string& name() const { return name_; }
  octet_type type() const { return type_; }
  const std::vector<size_t>& shape() const { return shape_; }
  size_t axes() const { return shape_.size(); }
  // From the end: 0 is the last axis. 1 for an axis that the array lacks.
  size_t extent(size_t axis) const { return axis < axes() ? shape_[axes() - 1 - axis] : 1; }
  void* data() const { return array_.data_handle() ? (char*)data_ : nullptr; }

  // Whether elements of this axis, counted from the end, lie side by side.
  bool dense_along(size_t axis) const;
  // The axes from `first` to before `end`, counted from the last axis, taken as one axis: the
  // elements from one of its indices to the next, at least `inner`, or 0 if it has a single index.
  // Fails where the axes cannot be taken as one.
  size_t stride_of(size_t first, size_t end, size_t inner) const;
  // Fails if not all elements lie side by side in the order of the axes.
  void require_dense() const;
  [[noreturn]] void fail_layout() const;

 private:
  void import(nanobind::handle object, bool writable);
  int64_t stride(size_t axis) const { return array_.stride(axes() - 1 - axis); }

  std::string name_;
  nanobind::ndarray<nanobind::ro> array_;
  const void* data_ = nullptr;
  octet_type type_ = {};
  std::vector<size_t> shape_;
};

// A result: `out` where the caller gave one, else a new array of NumPy's.
struct Result {
  Result(nanobind::handle out, octet_type type, const std::vector<size_t>& shape);

  nanobind::object object;
  Array array;
};

}  // namespace octet::python
