// SPDX-License-Identifier: Apache-2.0
// Runs an LSTM in integers: the input's products of many steps at once, then, step by step, the
// state's products and the gates.
#include "engines/graph/recurrent/lstm.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engines/graph/recurrent/gates.h"
#include "engines/graph/recurrent/layer.h"
#include "engines/graph/recurrent/sums.h"
#include "engines/graph/refused.h"
#include "engines/graph/sizes.h"

namespace octet::graph::recurrent {
namespace {

// Steps whose products with the input are computed together, so that their sums stay in a cache.
constexpr size_t kStepsTogether = 64;

template <typename T>
std::vector<T> values_of(const Tensor& t, size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), t.data, count * sizeof(T));
  return values;
}

template <typename T>
void append(const std::vector<T>& values, std::vector<T>* to) {
  to->insert(to->end(), values.begin(), values.end());
}

class Lstm : public Layer {
 public:
  Lstm(const Graph& g, const Op& op, const Packing* packing) : n_(read_lstm(g, op)) {
    if (packing) pack(*packing);
    // The tensors are borrowed until here
    for (const Tensor** tensors : {n_.input_weights, n_.state_weights, n_.biases})
      std::fill_n(tensors, kGates, nullptr);
    has_projection_ = n_.projection != nullptr;
    n_.projection = n_.projection_bias = nullptr;
  }

  size_t scratch_bytes() const override { return arrays(nullptr).end; }

  void run(const octet_network_call& call, uint8_t* scratch) const override {
    const Arrays arrays_of_run = arrays(scratch);
    for (size_t first = 0; first < n_.steps; first += kStepsTogether) {
      const size_t end = std::min(n_.steps, first + kStepsTogether);
      multiply_input(call.inputs[0], first, end, arrays_of_run);
      for (size_t step = first; step < end; ++step)
        run_step(call, step, step - first, arrays_of_run);
    }
  }

 private:
  // The pieces of a run's scratch memory.
  struct Arrays {
    int32_t *of_input, *of_state, *of_projection;
    int16_t* gates[kGates];
    int16_t* tanh_of_cell;
    int8_t* hidden;
    void* workspace;
    size_t end;
  };
  Arrays arrays(uint8_t* scratch) const {
    Arrays a = {};
    const auto take = [&](auto** array, size_t count) {
      *array = (std::remove_reference_t<decltype(**array)>*)((uintptr_t)scratch + a.end);
      a.end += aligned(count * sizeof **array);
    };
    take(&a.of_input, rows_together() * columns());
    take(&a.of_state, n_.batch * columns());
    take(&a.of_projection, n_.batch * n_.outputs);
    for (int16_t*& gate : a.gates) take(&gate, n_.cells);
    take(&a.tanh_of_cell, n_.cells);
    take(&a.hidden, n_.batch * n_.cells);
    a.workspace = (void*)((uintptr_t)scratch + a.end);
    a.end += std::max({of_input_.workspace_bytes(), of_state_.workspace_bytes(),
                       of_projection_.workspace_bytes()});
    return a;
  }
  size_t columns() const { return n_.gates * n_.cells; }
  size_t rows_together() const { return n_.batch * std::min(n_.steps, kStepsTogether); }

  void pack(const Packing& packing) {
    std::vector<int8_t> of_input, of_state;
    std::vector<int32_t> bias;
    for (size_t gate = 0; gate < n_.gates; ++gate) {
      append(values_of<int8_t>(*n_.input_weights[gate], n_.cells * n_.depth), &of_input);
      append(values_of<int8_t>(*n_.state_weights[gate], n_.cells * n_.outputs), &of_state);
      append(values_of<int32_t>(*n_.biases[gate], n_.cells), &bias);
    }
    of_input_.pack(of_input, columns(), n_.depth, n_.x_zero, bias, rows_together(), packing);
    of_state_.pack(of_state, columns(), n_.outputs, n_.output_zero, {}, n_.batch, packing);
    for (size_t gate = 0; gate < n_.gates; ++gate) {
      of_input_.need_shift(gate * n_.cells, n_.cells, n_.by_input[gate].shift);
      of_state_.need_shift(gate * n_.cells, n_.cells, n_.by_state[gate].shift);
    }
    if (n_.projection) pack_projection(packing);
  }

  // LiteRT's kernel subtracts the zero point of the cells' outputs where a projection reads them:
  // their zero point is then the negated one, which may be no byte, so that it goes into the bias.
  void pack_projection(const Packing& packing) {
    const auto weights = values_of<int8_t>(*n_.projection, n_.outputs * n_.cells);
    std::vector<int32_t> bias(n_.outputs);
    if (n_.projection_bias) bias = values_of<int32_t>(*n_.projection_bias, n_.outputs);
    for (size_t row = 0; row < n_.outputs; ++row) {
      int64_t sum = bias[row];
      for (size_t i = 0; i < n_.cells; ++i)
        sum += (int64_t)n_.hidden_zero * weights[row * n_.cells + i];
      if (sum < INT32_MIN || sum > INT32_MAX)
        throw Refused(OCTET_ACCUMULATOR_OVERFLOW, "the bias of its projection leaves int32");
      bias[row] = (int32_t)sum;
    }
    of_projection_.pack(weights, n_.outputs, n_.cells, 0, bias, n_.batch, packing);
    of_projection_.need_shift(0, n_.outputs, n_.by_projection.shift);
  }

  // x has a row for each image and step.
  size_t row_of(size_t image, size_t step) const {
    return n_.time_major ? step * n_.batch + image : image * n_.steps + step;
  }
  // Of the sums with the input, which has steps together.
  size_t row_of_sums(size_t image, size_t step) const {
    return n_.time_major ? step * n_.batch + image
                         : image * std::min(n_.steps, kStepsTogether) + step;
  }

  void multiply_input(const octet_network_image& x, size_t first, size_t end,
                      const Arrays& a) const {
    const size_t products = n_.time_major ? 1 : n_.batch;
    for (size_t image = 0; image < products; ++image)
      of_input_.run((const int8_t*)x.data + row_of(image, first) * x.pixel, x.pixel,
                    (end - first) * (n_.batch / products),
                    a.of_input + row_of_sums(image, 0) * columns(), a.workspace);
  }

  void run_step(const octet_network_call& call, size_t step, size_t together,
                const Arrays& a) const {
    auto* const state = (int8_t*)call.inputs[1].data;
    auto* const cells = (int16_t*)call.inputs[2].data;
    of_state_.run(state, n_.outputs, n_.batch, a.of_state, a.workspace);
    for (size_t image = 0; image < n_.batch; ++image)
      run_cells(a.of_input + row_of_sums(image, together) * columns(),
                a.of_state + image * columns(), cells + image * n_.cells,
                a.hidden + image * n_.cells, a);
    if (has_projection_)
      project(a, state);
    else
      std::copy_n(a.hidden, n_.batch * n_.cells, state);
    for (size_t image = 0; image < n_.batch; ++image)
      std::copy_n(state + image * n_.outputs, n_.outputs,
                  (int8_t*)call.output.data + row_of(image, step) * call.output.pixel);
  }

  // Of one image.
  void run_cells(const int32_t* of_input, const int32_t* of_state, int16_t* cell, int8_t* hidden,
                 const Arrays& a) const {
    for (size_t gate = 0; gate < n_.gates; ++gate) {
      int16_t* const s16 = a.gates[gate];
      add_sums(of_input + gate * n_.cells, of_state + gate * n_.cells, n_.cells, n_.by_input[gate],
               n_.by_state[gate], s16);
      if (gate == kCandidate)
        tanh(s16, n_.cells, 3, s16);
      else
        sigmoid(s16, n_.cells);
    }
    CellUpdate update = {};
    update.forget = a.gates[kForget], update.candidate = a.gates[kCandidate];
    if (n_.gates == kGates) update.input = a.gates[kInputGate];
    update.shift = 15 + n_.cell_bits, update.clip = n_.cell_clip;
    update_cell(update, n_.cells, cell);
    tanh(cell, n_.cells, n_.cell_bits, a.tanh_of_cell);
    make_hidden(a.gates[kOutputGate], a.tanh_of_cell, n_.cells, n_.by_hidden,
                has_projection_ ? -n_.hidden_zero : n_.hidden_zero, hidden);
  }

  void project(const Arrays& a, int8_t* state) const {
    of_projection_.run(a.hidden, n_.cells, n_.batch, a.of_projection, a.workspace);
    const size_t count = n_.batch * n_.outputs;
    to_bytes(a.of_projection, count, n_.by_projection, n_.output_zero, state);
    const int32_t clip = n_.projection_clip;
    for (size_t i = 0; clip && i < count; ++i)
      state[i] = (int8_t)std::clamp((int32_t)state[i], -clip, clip);
  }

  LstmNumbers n_;
  bool has_projection_ = false;
  Sums of_input_, of_state_, of_projection_;
};

}  // namespace

std::unique_ptr<Layer> make_lstm(const Graph& graph, const Op& op, const Packing* packing) {
  return std::make_unique<Lstm>(graph, op, packing);
}

}  // namespace octet::graph::recurrent
