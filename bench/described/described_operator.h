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
    size_t alias_root;  // the tensor whose memory a reshape shares
    std::string type, maker;
    size_t dimensions;
    bool computed, constant, made;
    bool comes_later;            // its operator was not read yet
    bool empty;                  // has no elements
    octet_network_tensor sizes;  // the model's; its memory has the alias root's sizes
    std::string because_of;      // the left-out operator, if this is not computed
  };

  OperatorReader(const std::string& path, octet_isa isa, size_t batch, DescribedNetwork* to,
                 LayerVisitor visitor)
      : DescriptionFile(path), isa_(isa), batch_(batch), to_(*to), visitor_(std::move(visitor)) {}

  // Sets op_, whose tensors are the description's, and the other fields for an operator that makes
  // output_ of inputs_. Throws Error with the reason if there is none.
  void create_op(const json& op);
  void check_type(size_t tensor, const char* type) const;

  const octet_isa isa_;
  const size_t batch_;
  DescribedNetwork& to_;
  const LayerVisitor visitor_;  // visits convolutions and products; empty: a network is made
  bool float_ = false;          // the arithmetic: ONNX's, not TFLite's
  std::vector<Tensor> tensors_;
  // The operator that is being read
  std::vector<size_t> inputs_;
  size_t output_ = 0;
  octet_network_op op_ = {};
  size_t depth_ = 0;                     // a product's
  FusableConvolution convolution_ = {};  // without the place of the op

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
  // The common type of the op's inputs and output.
  octet_type function_type() const;
  Bounds function_bounds(const json& op, octet_type type) const;
  // Makes op_ this function over lines; it reads one line until the caller changes that.
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
  // Checks that each window has a pixel, and no more pixels than a sum allows.
  void check_windows(const Window& f, bool average) const;

  std::vector<int32_t> multipliers_, shifts_, bias_;
  std::vector<float> scales_;
};

}  // namespace tool
