// SPDX-License-Identifier: Apache-2.0
// Checks LSTM and SVDF layers by their definition, over runs whose states carry over.
#include <thread>

#include "engines/graph/recurrent/fixed_point.h"
#include "graph/state_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

namespace recurrent = octet::graph::recurrent;

TEST(StateLayers, SigmoidOfEveryS16) {
  for (int32_t x = -32768; x <= 32767; ++x)
    ASSERT_EQ(recurrent::sigmoid_of(x), defined_sigmoid(x)) << x;
}

TEST(StateLayers, TanhOfEveryS16) {
  for (int bits = 0; bits <= 6; ++bits)
    for (int32_t x = -32768; x <= 32767; ++x)
      ASSERT_EQ(recurrent::tanh_of(x, bits), defined_tanh(x, bits)) << x << " with " << bits;
}

TEST(StateLayers, DivisionAtHalvesAndEnds) {
  for (const int32_t x : {INT32_MIN, INT32_MIN + 1, -6, -5, -3, -1, 0, 1, 3, 5, 6, INT32_MAX})
    for (const int shift : {0, 1, 2, 21, 30, 31})
      EXPECT_EQ(recurrent::divided(x, shift), divide_by_power(x, shift)) << x << " by " << shift;
}

// Sizes and options of an LSTM; scales and weights come with the case.
LstmModel model(size_t batch, size_t steps, size_t depth, size_t cells, size_t outputs) {
  LstmModel m;
  m.batch = batch, m.steps = steps, m.depth = depth, m.cells = cells, m.outputs = outputs;
  m.projected = cells != outputs;
  return m;
}

void check(LstmCase c, int runs = 3) {
  const auto program = created(c.g);
  std::vector<int8_t> state(c.m.batch * c.m.outputs, (int8_t)c.m.state.zero);
  std::vector<int16_t> cells(c.m.batch * c.m.cells);
  std::vector<Bytes> inputs = {{}, bytes_of_values(state), bytes_of_values(cells)};
  for (int run = 0; run < runs; ++run) {
    inputs[0] = c.draw(c.m.batch * c.m.steps * c.m.depth);
    const Bytes y = run_with_states(*program, c.g, &inputs);
    EXPECT_EQ(values_of_bytes<int8_t>(y),
              c.m.run(values_of_bytes<int8_t>(inputs[0]), &state, &cells))
        << "run " << run;
    EXPECT_EQ(values_of_bytes<int8_t>(inputs[1]), state) << "run " << run;
    EXPECT_EQ(values_of_bytes<int16_t>(inputs[2]), cells) << "run " << run;
  }
}

TEST(StateLayers, Lstm) {
  check(LstmCase(model(1, 1, 1, 1, 1)));
  check(LstmCase(model(1, 5, 10, 16, 16)));
  check(LstmCase(model(2, 3, 33, 19, 19)));
}

TEST(StateLayers, LstmOfAMatrixIsOneStep) {
  for (const bool time_major : {false, true}) {
    LstmCase c(model(3, 1, 10, 16, 16));
    c.g.tensors[(size_t)c.g.inputs[0]].shape = {3, 10};
    c.g.tensors[(size_t)c.g.outputs[0]].shape = {3, 16};
    c.g.ops[0].time_major = time_major;
    check(std::move(c));
  }
}

TEST(StateLayers, LstmOfMoreStepsThanAreMultipliedTogether) {
  for (const bool time_major : {false, true}) {
    LstmModel m = model(2, 131, 4, 6, 6);
    m.time_major = time_major;
    check(LstmCase(m), 2);
  }
}

TEST(StateLayers, LstmWithProjection) {
  for (const size_t outputs : {7, 30})  // with a bias, and without
    for (const bool coupled : {false, true}) {
      LstmModel m = model(3, 4, 12, 20, outputs);
      m.coupled = coupled, m.time_major = coupled;
      check(LstmCase(m));
    }
}

TEST(StateLayers, LstmOfEveryCellScale) {
  for (int bits = 0; bits <= 6; ++bits) {
    LstmModel m = model(1, 6, 8, 10, 10);
    m.cell_bits = bits, m.coupled = bits % 2 != 0;
    check(LstmCase(m));
  }
}

TEST(StateLayers, LstmClips) {
  LstmModel m = model(1, 6, 8, 24, 12);
  m.cell_clip = 0.6f, m.projection_clip = 0.3f;
  check(LstmCase(m));
  m.cell_clip = 1e9f, m.projection_clip = 1e9f;
  check(LstmCase(m));
}

void check(SvdfCase c, int runs) {
  const auto program = created(c.g);
  std::vector<int16_t> state(c.m.batch * c.m.units * c.m.rank * c.m.memory);
  std::vector<Bytes> inputs = {{}, bytes_of_values(state)};
  for (int run = 0; run < runs; ++run) {
    inputs[0] = c.draw(c.m.batch * c.m.depth);
    const Bytes y = run_with_states(*program, c.g, &inputs);
    EXPECT_EQ(values_of_bytes<int8_t>(y), c.m.run(values_of_bytes<int8_t>(inputs[0]), &state))
        << "run " << run;
    EXPECT_EQ(values_of_bytes<int16_t>(inputs[1]), state) << "run " << run;
  }
}

TEST(StateLayers, Svdf) {
  check(SvdfCase({1, 1, 1, 1, 1, {}, {}, 1, 1, {}, {}, {}}), 3);
  check(SvdfCase({1, 40, 24, 2, 10, {}, {}, 1, 1, {}, {}, {}}), 13);
  check(SvdfCase({3, 17, 9, 3, 5, {}, {}, 1, 1, {}, {}, {}}, false), 8);
}

// A sum of 33 products of words leaves int32, and wraps around.
TEST(StateLayers, SvdfWrapsAround) {
  SvdfCase c({1, 3, 2, 1, 33, {}, {}, 1, 1, {}, {}, {}});
  c.m.time.assign(c.m.time.size(), -32768), c.m.state_scale /= 100;
  c.g = {}, c.build();
  check(c, 40);
}

// A layer whose input and output lie in other sizes, as slices, and beside other operators.
TEST(StateLayers, InsideOfANetwork) {
  LstmCase c(model(2, 4, 6, 8, 8));
  Graph& g = c.g;
  const int images = c.input({2, 2, 2, 6}, OCTET_S8, 0.03f, 2);
  const int before = c.tensor({2, 2, 2, 6}, OCTET_S8, c.m.x.scale, c.m.x.zero);
  const int joined = c.tensor({2, 4, 16}, OCTET_S8, c.m.state.scale, c.m.state.zero);
  const int after = c.tensor({2, 4, 5}, OCTET_S8, 0.05f);
  const int x = g.inputs[0], y = g.outputs[0];
  g.inputs.erase(g.inputs.begin()), g.outputs = {after};
  c.op(Kind::kConvolution, {images, c.weights({6, 1, 1, 6})}, before);
  c.op(Kind::kReshape, {before}, x);
  c.op(Kind::kConcatenate, {y, y}, joined).axis = 2;
  c.op(Kind::kProduct, {joined, c.weights({5, 16})}, after);
  const auto whole = created(g);
  // Behind the convolution, and a copy of its output in one line
  EXPECT_EQ(whole->explain()[2], "op0: a layer with a state");

  // The same operators, each in a program of its own
  std::vector<std::unique_ptr<Program>> single;
  std::vector<Graph> parts;
  for (const auto& [inputs, output] :
       {std::pair<std::vector<int>, int>{{images}, before}, {{x}, y}, {{joined}, after}}) {
    Graph part = g;
    part.ops.clear(), part.inputs = inputs, part.outputs = {output};
    for (const Op& op : g.ops)
      if (op.outputs[0] == output) part.ops = {op};
    if (output == y) part.inputs = {x, g.inputs[0], g.inputs[1]};
    single.push_back(created(part)), parts.push_back(part);
  }
  std::vector<Bytes> inputs = {Bytes(16, (uint8_t)c.m.state.zero), Bytes(32), {}};
  std::vector<Bytes> own = {{}, inputs[0], inputs[1]};
  for (int run = 0; run < 3; ++run) {
    std::vector<Bytes> in = {c.draw(48)};
    inputs[2] = in[0];
    own[0] = run_with_states(*single[0], parts[0], &in);
    const Bytes made = run_with_states(*single[1], parts[1], &own);
    Bytes twice;
    for (size_t row = 0; row < 8; ++row)
      for (int copy = 0; copy < 2; ++copy)
        twice.insert(twice.end(), &made[row * 8], &made[row * 8] + 8);
    std::vector<Bytes> last = {twice};
    EXPECT_EQ(run_with_states(*whole, g, &inputs), run_with_states(*single[2], parts[2], &last));
    EXPECT_EQ(inputs[0], own[1]);
    EXPECT_EQ(inputs[1], own[2]);
  }
}

// A run of a graph of `outputs` with a batch, which is refused for these words.
void expect_run_refused(const Program& program, octet_status status, const char* words,
                        const std::vector<const void*>& inputs, void* output, size_t batch = 0) {
  ProgramArguments a;
  a.inputs = inputs.data(), a.outputs = &output, a.batch = batch;
  expect_refused(status, words, [&](octet_error* error) { return program.run(a, error); });
}

// Every tensor of the network is one line, as an image alone is, but the layer has three images.
TEST(StateLayers, TakeAllImages) {
  LstmCase c(model(3, 2, 6, 8, 8));
  const int product = c.tensor({3, 2, 5}, OCTET_S8, 0.05f);
  c.op(Kind::kProduct, {c.g.outputs[0], c.weights({5, 8})}, product);
  c.g.outputs = {product};
  const auto program = created(c.g);
  EXPECT_FALSE(program->has_batch());
  std::vector<Bytes> inputs = {c.draw(36), Bytes(24, (uint8_t)c.m.state.zero), Bytes(48)};
  Bytes y(30);
  for (const size_t batch : {1, 2, 3})
    expect_run_refused(*program, OCTET_UNSUPPORTED,
                       "a layer with a state runs all images that the program was created for",
                       {inputs[0].data(), inputs[1].data(), inputs[2].data()}, y.data(), batch);
  EXPECT_EQ(inputs[1], Bytes(24, (uint8_t)c.m.state.zero));
  run_with_states(*program, c.g, &inputs);
  EXPECT_NE(inputs[1], Bytes(24, (uint8_t)c.m.state.zero));
}

// The caller's bytes are written in the order in which they lie, whatever the axes are.
TEST(StateLayers, StatesOfManyAxesWithChannelsFirst) {
  std::vector<Bytes> states;
  for (const bool channels_first : {false, true}) {
    SvdfCase c({2, 5, 3, 2, 4, {}, {}, 1, 1, {}, {}, {}});
    c.g.channels_first = channels_first;
    if (channels_first) c.g.tensors[(size_t)c.g.inputs[1]].shape = {2, 6, 4};
    const auto program = created(c.g);
    std::vector<Bytes> inputs = {c.draw(10), Bytes(96)};
    run_with_states(*program, c.g, &inputs);
    states.push_back(inputs[1]);
  }
  EXPECT_EQ(states[0], states[1]);
  EXPECT_NE(states[0], Bytes(96));
}

TEST(StateLayers, StatesOverlapNothing) {
  LstmCase c(model(1, 2, 4, 8, 8));
  const auto program = created(c.g);
  alignas(2) uint8_t all[100] = {};
  uint8_t *const x = all, *const state = all + 8, *const cells = all + 16, *const y = all + 40;
  const auto refused = [&](const char* words, const std::vector<const void*>& inputs, void* out) {
    expect_run_refused(*program, OCTET_OVERLAP, words, inputs, out);
  };
  refused("arguments.inputs[1], a variable, overlaps arguments.inputs[2]", {x, cells, cells}, y);
  refused("arguments.inputs[1], a variable, overlaps arguments.inputs[0]", {x, x + 7, cells}, y);
  refused("arguments.inputs[1], a variable, overlaps arguments.inputs[2]", {x, state, x + 10}, y);
  refused("arguments.inputs[1], a variable, overlaps arguments.outputs[0]", {x, y + 15, cells}, y);
  refused("arguments.inputs[2], a variable, overlaps arguments.outputs[0]", {x, state, y}, y);
  const void* const in[] = {x, state, cells};
  void* const out[] = {y};
  ProgramArguments a;
  a.inputs = in, a.outputs = out;
  EXPECT_EQ(program->run(a, nullptr), OCTET_OK);
}

// One program runs for many callers at the same time, each with states of its own.
TEST(StateLayers, ManyThreadsWithTheirStates) {
  LstmCase c(model(2, 9, 20, 24, 11));
  const auto program = created(c.g);
  std::vector<std::vector<Bytes>> xs(4);
  for (std::vector<Bytes>& runs : xs)
    for (int run = 0; run < 20; ++run) runs.push_back(c.draw(2 * 9 * 20));
  const auto last_of = [&](const std::vector<Bytes>& runs) {
    std::vector<Bytes> inputs = {{}, Bytes(22, (uint8_t)c.m.state.zero), Bytes(96)};
    Bytes y;
    for (const Bytes& x : runs) inputs[0] = x, y = run_with_states(*program, c.g, &inputs);
    return y;
  };
  std::vector<Bytes> wanted, got(xs.size());
  for (const std::vector<Bytes>& runs : xs) wanted.push_back(last_of(runs));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < xs.size(); ++i) threads.emplace_back([&, i] { got[i] = last_of(xs[i]); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, wanted);
}

}  // namespace
}  // namespace octet_test
