// SPDX-License-Identifier: Apache-2.0
// Checks the programs of a model whose inputs have changing sizes.
#include "engines/graph/programs.h"

#include <set>
#include <stdexcept>
#include <thread>

#include "engines/graph/functions.h"
#include "graph/graph_case.h"

namespace octet_test {
namespace {

// A convolution, a mean and a product of images of h x w.
struct Sized : GraphCase {
  Sized(int64_t h, int64_t w) {
    const int x = input({1, h, w, 4}, OCTET_S8, 0.04f, -9);
    const int a = tensor({1, h, w, 8}, OCTET_S8, 0.07f, 11);
    const int m = tensor({1, 1, 1, 8}, OCTET_S8, 0.03f), y = tensor({1, 5}, OCTET_S8, 0.02f);
    op(Kind::kConvolution, {x, weights({8, 3, 3, 4})}, a).window.padding = Padding::kSame;
    op(Kind::kMean, {a}, m);
    op(Kind::kProduct, {m, weights({5, 8})}, y);
    g.outputs = {y};
  }
};

std::shared_ptr<const Program> get(Programs* programs, const Graph& g) {
  std::shared_ptr<const Program> program;
  octet_error error = {};
  EXPECT_EQ(programs->get(g, &program, &error), OCTET_OK) << error.message;
  return program;
}

TEST(Programs, OneForEachSize) {
  const auto weights = std::make_shared<PackedWeights>();
  Programs programs({}, weights);
  std::set<const Program*> seen;
  for (const int64_t h : {9, 4, 17}) {
    Sized c(h, 6);
    const auto program = get(&programs, c.g);
    EXPECT_EQ(get(&programs, c.g), program);
    seen.insert(program.get());
    const Bytes in = c.draw((size_t)h * 24);
    EXPECT_EQ(run(*program, c.g, {in}), run(*created(c.g), c.g, {in}));
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(programs.count(), 3u);
  EXPECT_EQ(weights->packed(), 2u);
}

TEST(Programs, AnswerBeforeWeightsAreThere) {
  Sized c(9, 6);
  // An outline's weights use the whole range of their type
  for (const octet::graph::Tensor& t : c.g.tensors)
    if (t.constant) *(uint8_t*)t.data = 0x80;
  const std::unique_ptr<Program> packed = created(c.g);
  Graph unknown = c.g;
  for (octet::graph::Tensor& t : unknown.tensors) t.data = nullptr;
  ProgramOptions options;
  options.outline = true;
  std::unique_ptr<Program> outlined;
  octet_error error = {};
  ASSERT_EQ(Program::create(unknown, options, nullptr, &outlined, &error), OCTET_OK)
      << error.message;
  EXPECT_EQ(outlined->explain(), packed->explain());
  EXPECT_GE(outlined->workspace_bytes(), packed->workspace_bytes());
  const Bytes in = c.draw(9 * 24);
  Bytes out(5);
  const void* const inputs[] = {in.data()};
  void* const outputs[] = {out.data()};
  octet::graph::ProgramArguments arguments;
  arguments.inputs = inputs, arguments.outputs = outputs;
  EXPECT_EQ(outlined->run(arguments, &error), OCTET_BAD_BLOB);
  EXPECT_EQ(out, Bytes(5));
  options.outline = false;
  EXPECT_EQ(Program::create(unknown, options, nullptr, &outlined, &error), OCTET_NULL_POINTER);
}

TEST(Programs, TheOldestGoesAndLivesOn) {
  Programs programs({}, nullptr, 2);
  const Sized a(4, 4), b(5, 4);
  Sized c(6, 4);
  const auto first = get(&programs, a.g), second = get(&programs, b.g);
  EXPECT_EQ(get(&programs, a.g), first);
  get(&programs, c.g);
  EXPECT_EQ(programs.count(), 2u);
  EXPECT_EQ(get(&programs, a.g), first);
  EXPECT_NE(get(&programs, b.g), second);
  const Bytes in = c.draw(80);
  EXPECT_EQ(run(*second, b.g, {in}), run(*created(b.g), b.g, {in}));
}

// Fewer images are planned when they run, after the caller's machine may be gone.
TEST(Programs, KeepTheirMachine) {
  GraphCase c;
  const int x = c.input({2, 9, 6, 4}, OCTET_S8, 0.04f, -9),
            y = c.tensor({2, 9, 6, 8}, OCTET_S8, 0.07f, 11);
  c.op(Kind::kConvolution, {x, c.weights({8, 3, 3, 4})}, y).window.padding = Padding::kSame;
  c.g.outputs = {y};
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.l2_bytes = 1 << 20;
  ProgramOptions options;
  options.machine = &machine;
  const auto program = created(c.g, options);
  machine.l2_bytes = 1;  // which no plan takes
  const Bytes in = c.draw(c.count(c.g.inputs[0]));
  EXPECT_EQ(run(*program, c.g, {in}, 1, 2), run(*created(c.g), c.g, {in}, 1, 2));
}

TEST(Programs, PadsAndBeginningsAreSizes) {
  Programs programs({});
  Sized c(6, 6);
  const auto same = get(&programs, c.g);
  Window& w = c.g.ops[0].window;
  w.padding = Padding::kExplicit, w.top = 2, w.left = 1, w.right = 1;
  const auto other = get(&programs, c.g);
  EXPECT_NE(same, other);
  const Bytes in = c.draw(144);
  EXPECT_NE(run(*same, c.g, {in}), run(*other, c.g, {in}));
}

TEST(Programs, Refusals) {
  Programs programs({});
  Sized c(4, 4);
  octet_error error = {};
  EXPECT_EQ(programs.get(c.g, nullptr, &error), OCTET_NULL_POINTER);
  std::shared_ptr<const Program> program = get(&programs, c.g);
  c.g.tensors[0].shape[1] = -1;
  EXPECT_EQ(programs.get(c.g, &program, &error), OCTET_UNSUPPORTED);
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(std::string(error.message), "op0: the sizes of tensor 0 ('t0') are not known");
  EXPECT_EQ(programs.count(), 1u);
}

TEST(Programs, ManyThreads) {
  Programs programs({}, nullptr, 3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 6; ++k) {
        Sized c(3 + (i + k) % 4, 4);
        const Bytes in = c.draw(c.count(c.g.inputs[0]));
        const auto program = get(&programs, c.g);
        EXPECT_EQ(run(*program, c.g, {in}), run(*created(c.g), c.g, {in}));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(programs.count(), 3u);
}

// An engine's threads that throw before, between or behind their tasks make a run fail, with their
// words, and leave the program as it was.
TEST(Programs, AnEngineThatThrows) {
  struct Engine {
    size_t calls = 0, fails_at = 0;
    bool first = false, of_std = true;
    static void run(void* self, size_t count, void (*task)(void* arg, size_t index), void* arg) {
      auto& engine = *(Engine*)self;
      const bool fails = ++engine.calls == engine.fails_at;
      for (size_t i = 0; i < (fails && engine.first ? 1 : count); ++i) task(arg, i);
      if (fails && engine.of_std) throw std::runtime_error("no threads today");
      if (fails) throw 7;
    }
  };
  GraphCase c;
  int x = c.input({1, 40, 40, 8}, OCTET_S8, 0.04f, -9);
  for (int i = 0; i < 2; ++i) {
    const int y = c.tensor({1, 40, 40, 8}, OCTET_S8, 0.07f, 11);
    c.op(Kind::kConvolution, {x, c.weights({8, 3, 3, 8})}, y).window.padding = Padding::kSame;
    x = y;
  }
  c.g.outputs = {x};
  ProgramOptions options;
  options.concurrency = 3, options.goal = OCTET_NETWORK_LAYERS;
  const auto program = created(c.g, options);
  const Bytes in = c.draw(c.count(c.g.inputs[0])), want = run(*program, c.g, {in});
  Bytes out(want.size());
  const void* const inputs[] = {in.data()};
  void* const outputs[] = {out.data()};
  ProgramArguments a;
  a.inputs = inputs, a.outputs = outputs;
  a.parallel_for = Engine::run, a.concurrency = 3;
  octet_error error = {};
  Engine whole;
  a.parallel_context = &whole;
  ASSERT_EQ(program->run(a, &error), OCTET_OK) << error.message;
  ASSERT_GT(whole.calls, 1u);
  EXPECT_EQ(out, want);
  for (size_t at = 1; at <= whole.calls; ++at)
    for (const bool first : {false, true})
      for (const bool of_std : {false, true}) {
        Engine engine;
        engine.fails_at = at, engine.first = first, engine.of_std = of_std;
        a.parallel_context = &engine;
        EXPECT_EQ(program->run(a, &error), OCTET_UNSUPPORTED);
        EXPECT_STREQ(error.message,
                     of_std ? "no threads today" : "the engine threw what is no std::exception");
        EXPECT_EQ(engine.calls, at);
        engine.fails_at = 0;
        EXPECT_EQ(program->run(a, &error), OCTET_OK) << error.message;
        EXPECT_EQ(out, want);
      }
}

// A sum is created once for all that ask for it, and each other one by itself.
TEST(Programs, SumsAreKept) {
  struct Sum : GraphCase {
    Sum() {
      const int a = input({1, 2, 3, 4}, OCTET_S8, 0.05f, 3),
                b = input({1, 2, 3, 4}, OCTET_S8, 0.1f);
      op(Kind::kAdd, {a, b}, tensor({1, 2, 3, 4}, OCTET_S8, 0.07f, -5));
      g.outputs = {2};
    }
  };
  const auto make = [](const Sum& sum) { return make_function(sum.g, sum.g.ops[0]); };
  const Function first = make(Sum());
  EXPECT_EQ(make(Sum()).lines.context, first.lines.context);
  std::vector<Sum> others(8);
  others[0].g.arithmetic = Arithmetic::kXnnpack;
  others[1].g.ops[0].kind = Kind::kMultiply;
  others[2].g.ops[0].clamp.activation = Activation::kRelu;
  others[3].g.tensors[0].scales = {0.051f};
  others[4].g.tensors[1].zero_points = {1};
  others[5].g.tensors[2].zero_points = {-4};
  others[6].g.tensors[1].shape = {1, 1, 1, 4};
  for (Tensor& t : others[7].g.tensors) t.type = OCTET_U8, t.zero_points = {3};
  std::set<void*> contexts = {first.lines.context};
  std::vector<Function> functions;  // in use, so that no two have one address in turn
  for (const Sum& other : others) {
    functions.push_back(make(other));
    EXPECT_TRUE(contexts.insert(functions.back().lines.context).second) << functions.size();
  }
}

}  // namespace
}  // namespace octet_test
