// SPDX-License-Identifier: Apache-2.0
// Draws layers with a state at random, as models of the definition and as graphs.
#pragma once

#include "graph/state_definitions.h"

namespace octet_test {

template <typename T>
Bytes bytes_of_values(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T>
std::vector<T> values_of_bytes(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// A graph of one layer. Its inputs are x and then the states.
struct StateCase : GraphCase {
  Matrix draw_matrix(size_t n, size_t k, float scale) {
    Matrix m = {values_of_bytes<int8_t>(draw(n * k)), scale, k};
    return m;
  }
  std::vector<int32_t> draw_s16(size_t n, int32_t most) {
    std::vector<int32_t> values(n);
    for (int32_t& value : values) value = (int32_t)(random() % (2 * (uint32_t)most)) - most;
    return values;
  }
  template <typename T>
  int constant_of(std::vector<int64_t> shape, octet_type type, const std::vector<T>& values,
                  float scale) {
    return constant(std::move(shape), type, bytes_of_values(values), scale);
  }
  int matrix(const Matrix& m) {
    return constant_of({(int64_t)(m.values.size() / m.k), (int64_t)m.k}, OCTET_S8, m.values,
                       m.scale);
  }
  int variable(std::vector<int64_t> shape, octet_type type, float scale, int32_t zero = 0) {
    const int t = input(std::move(shape), type, scale, zero);
    g.tensors[(size_t)t].variable = true;
    return t;
  }
};

struct LstmCase : StateCase {
  LstmModel m;

  // Sizes, flags and clips are the model's; scales are such that s16 values and bytes spread.
  explicit LstmCase(LstmModel model) : m(std::move(model)) {
    m.x = {0.02f, -7}, m.state = {1 / 128.f, 5};
    m.hidden = m.projected ? Quantized{1 / 150.f, 11} : m.state;
    const float of_x = 1.5f / (0.02f * 74 * 74 * std::sqrt((float)m.depth));
    const float of_state = 2 / (74.f * std::sqrt((float)m.outputs));
    for (int gate = m.coupled ? 1 : 0; gate < 4; ++gate) {
      m.of_x[gate] = draw_matrix(m.cells, m.depth, of_x * (1 + 0.1f * (float)gate));
      m.of_state[gate] = draw_matrix(m.cells, m.outputs, of_state * (1.3f - 0.1f * (float)gate));
      m.biases[gate] = draw_s16(m.cells, 6000);
    }
    if (m.projected) {
      m.projection = draw_matrix(m.outputs, m.cells, 0.04f / std::sqrt((float)m.cells));
      if (m.outputs % 2) m.projection_bias = draw_s16(m.outputs, 2000);
    }
    build();
  }

  void build() {
    const auto b = (int64_t)m.batch, t = (int64_t)m.steps;
    const auto shape = [&](size_t width) {
      return m.time_major ? std::vector<int64_t>{t, b, (int64_t)width}
                          : std::vector<int64_t>{b, t, (int64_t)width};
    };
    std::vector<int> inputs = {input(shape(m.depth), OCTET_S8, m.x.scale, m.x.zero)};
    for (const Matrix* four : {m.of_x, m.of_state})
      for (int gate = 0; gate < 4; ++gate)
        inputs.push_back(gate == 0 && m.coupled ? -1 : matrix(four[gate]));
    for (int gate = 0; gate < 4; ++gate)
      inputs.push_back(gate == 0 && m.coupled ? -1 : bias_of(m.biases[gate]));
    inputs.push_back(m.projected ? matrix(m.projection) : -1);
    inputs.push_back(m.projection_bias.empty() ? -1 : bias_of(m.projection_bias));
    inputs.push_back(variable({b, (int64_t)m.outputs}, OCTET_S8, m.state.scale, m.state.zero));
    inputs.push_back(variable({b, (int64_t)m.cells}, OCTET_S16, std::ldexp(1.f, m.cell_bits - 15)));
    const int y = tensor(shape(m.outputs), OCTET_S8, m.state.scale, m.state.zero);
    const int hidden = tensor({0}, OCTET_S8, m.hidden.scale, m.hidden.zero);
    Op& layer = op(Kind::kLstm, inputs, y);
    layer.hidden = hidden, layer.time_major = m.time_major;
    layer.cell_clip = m.cell_clip, layer.projection_clip = m.projection_clip;
    g.outputs = {y};
  }
  int bias_of(const std::vector<int32_t>& values) {
    return constant_of({(int64_t)values.size()}, OCTET_S32, values, 0);
  }
};

struct SvdfCase : StateCase {
  SvdfModel m;

  explicit SvdfCase(SvdfModel model, bool biased = true) : m(std::move(model)) {
    const size_t filters = m.units * m.rank;
    m.x = {0.03f, 9}, m.y = {0.5f, biased ? -128 : 3};
    m.feature = draw_matrix(filters, m.depth, 0.01f);
    m.time = values_of_bytes<int16_t>(draw(filters * m.memory * 2));
    m.state_scale = 0.03f * 0.01f * 74 * 74 * std::sqrt((float)m.depth) / 12000;
    m.time_scale = 1 / 32768.f;
    if (biased) m.bias = draw_s16(m.units, 100000000);
    build();
  }

  void build() {
    const auto b = (int64_t)m.batch, u = (int64_t)m.units, n = u * (int64_t)m.rank,
               memory = (int64_t)m.memory;
    const int x = input({b, (int64_t)m.depth}, OCTET_S8, m.x.scale, m.x.zero);
    const int time = constant_of({n, memory}, OCTET_S16, m.time, m.time_scale);
    const int bias = m.bias.empty() ? -1 : constant_of({u}, OCTET_S32, m.bias, 0);
    const int feature = matrix(m.feature);
    const int state = variable({b, n * memory}, OCTET_S16, m.state_scale);
    const int y = tensor({b, u}, OCTET_S8, m.y.scale, m.y.zero);
    Op& layer = op(Kind::kSvdf, {x, feature, time, bias, state}, y);
    layer.rank = m.rank, layer.clamp.activation = Activation::kRelu;
    g.outputs = {y};
  }
};

// The output bytes of a run, which writes the states among the inputs.
inline Bytes run_with_states(const Program& program, const Graph& g, std::vector<Bytes>* inputs) {
  std::vector<const void*> in;
  for (const Bytes& bytes : *inputs) in.push_back(bytes.data());
  Bytes y(bytes_of(g, g.outputs[0]));
  void* const out[] = {y.data()};
  ProgramArguments a;
  a.inputs = in.data(), a.outputs = out;
  octet_error error = {};
  EXPECT_EQ(program.run(a, &error), OCTET_OK) << error.message;
  return y;
}

}  // namespace octet_test
