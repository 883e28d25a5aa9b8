// Turns the operators of a description, one at a time, into ops with the object or the function
// that computes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/described/activation_bounds.h"
#include "bench/described/described.h"
#include "bench/described/description_file.h"
#include "bench/described/fuse_residual.h"
#include "octet/helpers.h"

namespace tool {

class OperatorReader : protected DescriptionFile {
 protected:
  struct Tensor {
    size_t alias_root;  // of those that lie in each other, as a reshape's do, the first
    std::string type, maker;
    size_t dimensions;
    bool computed, constant, made;
    bool comes_later;            // of an operator that was not read yet
    bool empty;                  // has no elements
    octet_network_tensor sizes;  // the model's; those of its alias root are where it lies
    std::string because_of;      // the operator that is left out, if this is not computed
  };

  OperatorReader(const std::string& path, octet_isa isa, size_t batch, DescribedNetwork* to,
                 LayerVisitor visitor)
      : DescriptionFile(path), isa_(isa), batch_(batch), to_(*to), visitor_(std::move(visitor)) {}

  // Sets op_ to what computes an operator of inputs_ that makes output_, with tensors of the
  // description, and what else is known of it. Throws why there is none.
  void create_op(const json& op);
  void check_type(size_t tensor, const char* type) const;

  const octet_isa isa_;
  const size_t batch_;
  DescribedNetwork& to_;
  const LayerVisitor visitor_;  // of convolutions and products; empty: a network is made
  bool float_ = false;          // the arithmetic: ONNX's, not TFLite's
  std::vector<Tensor> tensors_;
  // Of the operator that is read now
  std::vector<size_t> inputs_;
  size_t output_ = 0;
  octet_network_op op_ = {};
  size_t depth_ = 0;                     // of a product
  FusableConvolution convolution_ = {};  // but for the place of the op

 private:
  void input(size_t k);
  // Sets the fields that products and convolutions share; the arrays live until the object is
  // created.
  template <typename Desc>
  void rescale(octet_tflite_op kind, const json& op, size_t n, Desc* d);
  // The product of the operands' scales over the output's, rounded in this order as ONNX Runtime
  // does it.
  void rescale_floats(const json& op, octet_type dst, octet_epilogue* to);
  Bounds bounds_of(const json& op, octet_type type) const;
  void rescale_tflite(octet_tflite_op kind, const json& op, octet_type dst, octet_epilogue* to);
  size_t weights_of(const octet_conv2d_shape& s) const;
  void convolution(const json& op);
  void product(const json& op);
  void give(const json& op, DescribedLayer layer) const;
  // Of the op's inputs and output, which are all of this type.
  octet_type function_type() const;
  Bounds function_bounds(const json& op, octet_type type) const;
  // The op becomes this function over lines, those of one line until the caller says otherwise.
  template <typename Arguments>
  octet_network_function& become(const Arguments& arguments,
                                 void (*run)(void*, const octet_network_call*));
  void addition(const json& op);
  // ONNX Runtime drops an activation that the type's range implies, and only then makes one
  // operator of an addition and its quantizations.
  static bool is_bounded(const Bounds& bounds, octet_type type);
  void pooling(const json& op);
  octet_network_function& onnx_average(const json& op, octet_type type, const Bounds& bounds,
                                       const Window& window);
  // Each has a pixel, and no more than its sum allows.
  void check_windows(const Window& f, bool average) const;

  std::vector<int32_t> multipliers_, shifts_, bias_;
  std::vector<float> scales_;
};

}  // namespace tool
