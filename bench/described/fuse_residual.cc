// Finds additions that may become residuals, and makes residuals of them.
#include "bench/described/fuse_residual.h"

#include <algorithm>
#include <utility>

#include "bench/described/reshaped.h"
#include "bench/functions/tflite_add.h"

namespace tool {
namespace {

const TfliteAdd* addition_of(const octet_network_op& op) {
  if (!op.function || op.function->run != run_tflite_add) return nullptr;
  return (const TfliteAdd*)op.function->context;
}

// Adds the addition, whose input `product` is the convolution's result, to the convolution's
// epilogue.
void add_residual(const TfliteAdd& f, size_t product, octet_epilogue* e) {
  octet_residual r = f.add;
  if (product == 1) {
    std::swap(r.product_multiplier, r.residual_multiplier);
    std::swap(r.product_shift, r.residual_shift);
  }
  r.type = f.type;
  r.zero_point = f.zero_points[1 - product];
  r.intermediate_zero_point = e->dst_zero_point;
  e->residual = r;
  e->product_activation = e->activation;
  e->product_clamp_min = e->clamp_min, e->product_clamp_max = e->clamp_max;
  e->product_scale = e->dst_scale;
  e->dst_zero_point = f.zero_points[2];
  e->activation = OCTET_ACTIVATION_CLAMP;
  e->clamp_min = (float)f.least, e->clamp_max = (float)f.most;
}

class Fusion {
 public:
  Fusion(const std::vector<octet_network_tensor>& tensors,
         std::vector<FusableConvolution>* convolutions, std::vector<Conv>* objects,
         std::vector<octet_network_op>* ops)
      : tensors_(tensors),
        convolutions_(*convolutions),
        objects_(*objects),
        ops_(*ops),
        readers_(tensors.size()) {
    for (const octet_network_op& op : ops_)
      for (size_t k = 0; k < op.input_count; ++k) ++readers_[op.inputs[k]];
  }

  std::vector<size_t> fuse() {
    std::vector<size_t> erased;
    for (octet_network_op& op : ops_)
      if (const TfliteAdd* const addition = addition_of(op)) fuse(*addition, &op, &erased);
    std::sort(erased.begin(), erased.end());
    for (size_t i = erased.size(); i-- > 0;) ops_.erase(ops_.begin() + (std::ptrdiff_t)erased[i]);
    return erased;
  }

 private:
  void fuse(const TfliteAdd& addition, octet_network_op* op, std::vector<size_t>* erased) {
    const std::vector<FusableConvolution>::iterator none = convolutions_.end();
    auto from = none;
    size_t product = 0;
    for (const size_t k : {0, 1})
      if (const auto found = maker_of(op->inputs[k], addition.type, addition.zero_points[k]);
          found != none && (from == none || found->op > from->op))
        from = found, product = k;
    if (from == none || !same_sizes(tensors_[op->inputs[0]], tensors_[op->output]) ||
        !same_sizes(tensors_[op->inputs[1]], tensors_[op->output]))
      return;
    octet_conv2d_desc desc = from->desc;
    add_residual(addition, product, &desc.epilogue);
    octet_conv2d* created = nullptr;
    if (octet_conv2d_create(&desc, &created, nullptr) != OCTET_OK) return;
    objects_[from->object].reset(created);
    const size_t residual = op->inputs[1 - product], output = op->output;
    *op = ops_[from->op];
    op->conv2d = created;
    op->inputs[op->input_count++] = residual;
    op->output = output;
    erased->push_back(from->op);
    convolutions_.erase(from);
  }

  // The convolution that makes the tensor and can take the addition in, or end(). A reshape between
  // them may have another zero point than the convolution's.
  std::vector<FusableConvolution>::iterator maker_of(size_t tensor, octet_type type,
                                                     int32_t zero_point) {
    if (readers_[tensor] != 1 || tensors_[tensor].keep || tensors_[tensor].slice)
      return convolutions_.end();
    return std::find_if(convolutions_.begin(), convolutions_.end(),
                        [&](const FusableConvolution& c) {
                          const octet_epilogue& e = c.desc.epilogue;
                          return ops_[c.op].output == tensor && c.desc.dst_type == type &&
                                 e.requant == OCTET_REQUANT_TFLITE && e.residual.type == 0 &&
                                 e.dst_zero_point == zero_point;
                        });
  }

  const std::vector<octet_network_tensor>& tensors_;
  std::vector<FusableConvolution>& convolutions_;
  std::vector<Conv>& objects_;
  std::vector<octet_network_op>& ops_;
  std::vector<size_t> readers_;  // of each tensor
};

}  // namespace

std::vector<size_t> fuse_residuals(const std::vector<octet_network_tensor>& tensors,
                                   std::vector<FusableConvolution>* convolutions,
                                   std::vector<Conv>* objects, std::vector<octet_network_op>* ops) {
  return Fusion(tensors, convolutions, objects, ops).fuse();
}

}  // namespace tool
