// Checks the programs of a model whose inputs have changing sizes.
#include "engines/graph/programs.h"

#include <set>
#include <thread>

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

}  // namespace
}  // namespace octet_test
