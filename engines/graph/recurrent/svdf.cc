// SPDX-License-Identifier: Apache-2.0
// Runs an SVDF in integers: a product per step, whose last steps are the state, and their weighted
// sum.
#include <cstring>

#include "engines/graph/recurrent/gates.h"
#include "engines/graph/recurrent/layer.h"
#include "engines/graph/recurrent/operands.h"
#include "engines/graph/recurrent/sums.h"
#include "engines/graph/refused.h"
#include "engines/graph/sizes.h"

namespace octet::graph::recurrent {
namespace {

// x, feature weights, time weights, bias, state, as TensorFlow Lite has them.
enum : size_t { kX, kFeature, kTime, kBias, kState, kInputs };

class Svdf : public Layer {
 public:
  Svdf(const Graph& g, const Op& op, const Packing* packing) {
    const Operands operands(g, op, kInputs);
    batch_ = operands.size(kX, 2, 0);
    const size_t depth = operands.size(kX, 2, 1);
    filters_ = operands.size(kFeature, 2, 0), memory_ = operands.size(kTime, 2, 1);
    rank_ = op.rank;
    if (rank_ == 0 || filters_ % rank_ != 0)
      refuse("its rank ", rank_, " does not divide its ", filters_, " filters");
    // TensorFlow Lite's kernel takes no other one, and an int8 output ends it
    if (op.clamp.activation != Activation::kRelu) refuse("its activation is not RELU");
    const Tensor& feature = operands.weights(kFeature, OCTET_S8, filters_, depth);
    const Tensor& time = operands.weights(kTime, OCTET_S16, filters_, memory_);
    const Tensor* const bias = operands.has(kBias) ? &operands.bias(kBias, units()) : nullptr;
    const Tensor& state = operands.state(kState, OCTET_S16, batch_ * filters_ * memory_);
    if (zero_of(state) != 0) refuse("its state has a zero point; it must be 0");
    const Tensor &x = operands.input(kX), &y = operands.output();
    if (!known_sizes(y) || element_count(y) != batch_ * units())
      refuse("its output does not have ", batch_, " x ", units(), " elements");
    to_state_ = rescale_of(scale_of(x) * scale_of(feature) / scale_of(state));
    to_output_ = rescale_of(scale_of(state) * scale_of(time) / scale_of(y));
    if (to_output_.shift > 0) refuse("its output's scale is below that of state times weights");
    zero_ = zero_of(y);
    if (packing) pack(feature, time, bias, depth, zero_of(x), *packing);
  }

  size_t scratch_bytes() const override {
    return sums_bytes() + aligned(batch_ * units() * sizeof(int32_t)) + sums_.workspace_bytes();
  }

  void run(const octet_network_call& call, uint8_t* scratch) const override {
    auto* const sums = (int32_t*)scratch;
    auto* const units_sums = (int32_t*)(scratch + sums_bytes());
    void* const workspace = scratch + sums_bytes() + aligned(batch_ * units() * sizeof(int32_t));
    const octet_network_image& x = call.inputs[0];
    sums_.run((const int8_t*)x.data, x.pixel, batch_, sums, workspace);
    auto* state = (int16_t*)call.inputs[1].data;
    for (size_t row = 0; row < batch_; ++row)
      for (size_t unit = 0; unit < units(); ++unit) {
        uint32_t sum = bias_.empty() ? 0 : (uint32_t)bias_[unit];
        for (size_t filter = unit * rank_; filter < (unit + 1) * rank_; ++filter)
          sum += step(sums[row * filters_ + filter], filter, state), state += memory_;
        units_sums[row * units() + unit] = (int32_t)sum;
      }
    for (size_t row = 0; row < batch_; ++row)
      to_bytes(units_sums + row * units(), units(), to_output_, zero_,
               (int8_t*)call.output.data + row * call.output.pixel);
  }

 private:
  size_t units() const { return filters_ / rank_; }
  size_t sums_bytes() const { return aligned(batch_ * filters_ * sizeof(int32_t)); }

  void pack(const Tensor& feature, const Tensor& time, const Tensor* bias, size_t depth,
            int32_t x_zero, const Packing& packing) {
    std::vector<int8_t> bytes(filters_ * depth);
    std::memcpy(bytes.data(), feature.data, bytes.size());
    sums_.pack(bytes, filters_, depth, x_zero, {}, batch_, packing);
    sums_.need_shift(0, filters_, to_state_.shift);
    time_.resize(filters_ * memory_);
    std::memcpy(time_.data(), time.data, time_.size() * sizeof(int16_t));
    if (!bias) return;
    bias_.resize(units());
    std::memcpy(bias_.data(), bias->data, bias_.size() * sizeof(int32_t));
  }

  // Takes a sum into the filter's state as its newest value, and returns the weighted sum of all of
  // them; then the oldest one is gone, and the newest place holds 0.
  uint32_t step(int32_t sum, size_t filter, int16_t* state) const {
    state[memory_ - 1] = (int16_t)saturated16(rescaled(sum, to_state_));
    const uint32_t all = dot(&time_[filter * memory_], state, memory_);
    std::memmove(state, state + 1, (memory_ - 1) * sizeof *state);
    state[memory_ - 1] = 0;
    return all;
  }

  size_t batch_ = 0, filters_ = 0, memory_ = 0, rank_ = 0;
  Rescale to_state_, to_output_;
  int32_t zero_ = 0;
  std::vector<int16_t> time_;
  std::vector<int32_t> bias_;
  Sums sums_;
};

}  // namespace

std::unique_ptr<Layer> make_svdf(const Graph& graph, const Op& op, const Packing* packing) {
  return std::make_unique<Svdf>(graph, op, packing);
}

}  // namespace octet::graph::recurrent
