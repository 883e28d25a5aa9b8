// SPDX-License-Identifier: Apache-2.0
// Checks the emulated instructions of tile registers against a definition of their own, and counts
// them in the kernels that use them: more than a product needs are time that no other test sees.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <random>
#include <vector>

#include "emulated_isa/tiles.h"
#include "operators/conv/object.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

using emulated_isa::tile_counts;
using emulated_isa::TileCounts;

bool has_tiles(const MicroKernel& kernel) { return kernel.leave && is_to_test(kernel); }

// Installs the emulator, too.
bool emulates() {
  for (const MicroKernel* kernel : table())
    if (has_tiles(*kernel)) return true;
  return false;
}

struct Configuration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
  Configuration(int m, int n, int k) {
    bytes[0] = (uint16_t)(4 * n), rows[0] = (uint8_t)m;
    bytes[1] = (uint16_t)(4 * k), rows[1] = (uint8_t)m;
    bytes[2] = (uint16_t)(4 * n), rows[2] = (uint8_t)k;
  }
  void load() const { __asm__ volatile("ldtilecfg %0" ::"m"(*this)); }
};

class EmulatedTiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!emulates()) GTEST_SKIP() << "OCTET_EMULATE names no tier with tile registers";
    const size_t before = tile_counts().configurations;
    Configuration(4, 4, 4).load();
    __asm__ volatile("tilerelease");
    if (tile_counts().configurations == before)
      GTEST_SKIP() << "this CPU has tile registers, so no instruction reaches the emulator";
  }
  ~EmulatedTiles() override {
    if (emulates()) __asm__ volatile("tilerelease");
  }
};

template <typename T>
void load_operands(const T* sums, const T* lhs, const T* rhs, int64_t stride) {
  __asm__ volatile(
      "tileloadd (%0,%3,1), %%tmm0\n tileloadd (%1,%3,1), %%tmm1\n tileloadd (%2,%3,1), %%tmm2" ::
          "r"(sums),
      "r"(lhs), "r"(rhs), "r"(stride)
      : "memory");
}
void store_sums(void* to, int64_t stride) {
  __asm__ volatile("tilestored %%tmm0, (%0,%1,1)" ::"r"(to), "r"(stride) : "memory");
}

struct Matrices {
  uint8_t lhs[16][64], rhs[16][64];
  int32_t sums[16][16];
  explicit Matrices(uint32_t seed) {
    std::mt19937 random(seed);
    for (auto& row : lhs)
      for (uint8_t& byte : row) byte = (uint8_t)random();
    for (auto& row : rhs)
      for (uint8_t& byte : row) byte = (uint8_t)random();
    for (auto& row : sums)
      for (int32_t& sum : row) sum = (int32_t)random();
  }
};

int64_t number(uint8_t byte, bool is_signed) { return is_signed ? (int8_t)byte : byte; }

void check_product(void (*product)(), bool lhs_signed, bool rhs_signed, int m, int n, int k) {
  const Matrices before((uint32_t)(m * 256 + n * 16 + k));
  Matrices after = before;
  Configuration(m, n, k).load();
  load_operands((const uint8_t*)before.sums, before.lhs[0], before.rhs[0], 64);
  product();
  store_sums(after.sums, 64);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      int64_t sum = before.sums[i][j];
      for (int step = 0; i < m && j < n && step < 4 * k; ++step)
        sum += number(before.lhs[i][step], lhs_signed) *
               number(before.rhs[step / 4][4 * j + step % 4], rhs_signed);
      ASSERT_EQ(after.sums[i][j], (int32_t)sum)
          << m << 'x' << n << 'x' << k << " at " << i << ' ' << j;
    }
}

TEST_F(EmulatedTiles, MultiplyEverySignAndShape) {
  const auto ss = [] { __asm__ volatile("tdpbssd %tmm2, %tmm1, %tmm0"); };
  const auto su = [] { __asm__ volatile("tdpbsud %tmm2, %tmm1, %tmm0"); };
  const auto us = [] { __asm__ volatile("tdpbusd %tmm2, %tmm1, %tmm0"); };
  const auto uu = [] { __asm__ volatile("tdpbuud %tmm2, %tmm1, %tmm0"); };
  for (const int m : {1, 7, 16})
    for (const int n : {1, 5, 16})
      for (const int k : {1, 9, 16}) {
        check_product(ss, true, true, m, n, k);
        check_product(su, true, false, m, n, k);
        check_product(us, false, true, m, n, k);
        check_product(uu, false, false, m, n, k);
        if (HasFatalFailure()) return;
      }
}

TEST_F(EmulatedTiles, KeepTheirConfiguration) {
  const Configuration loaded(3, 4, 5);
  uint8_t stored[64];
  loaded.load();
  __asm__ volatile("sttilecfg %0" : "=m"(stored));
  EXPECT_EQ(std::memcmp(stored, &loaded, sizeof stored), 0);
  __asm__ volatile("tilerelease\n sttilecfg %0" : "=m"(stored));
  EXPECT_EQ(std::count(stored, stored + sizeof stored, 0), 64);
}

TEST_F(EmulatedTiles, LoadZerosOrOneRowIntoAll) {
  const Matrices before(1);
  int32_t sums[16][16];
  Configuration(16, 16, 16).load();
  load_operands((const uint8_t*)before.sums, before.lhs[0], before.rhs[0], 0);
  store_sums(sums, 64);
  for (const auto& row : sums) EXPECT_EQ(std::memcmp(row, before.sums[0], sizeof row), 0);
  __asm__ volatile("tilezero %tmm0");
  store_sums(sums, 64);
  EXPECT_EQ(std::count(sums[0], sums[0] + 256, 0), 256);
}

// Each use that a CPU refuses ends the process here, too.
TEST_F(EmulatedTiles, TrapWhereACpuTraps) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto dies = testing::KilledBySignal(SIGILL);
  EXPECT_EXIT(__asm__ volatile("tilezero %tmm0"), dies, "");  // no configuration
  EXPECT_EXIT(
      {
        Configuration(4, 4, 4).load();
        __asm__ volatile("tilezero %tmm3");  // a register without rows
      },
      dies, "");
  EXPECT_EXIT(
      {
        Configuration c(4, 4, 4);
        c.rows[2] = 5;  // of the weights, for four bytes each of a row of lhs
        c.load();
        __asm__ volatile("tdpbssd %tmm2, %tmm1, %tmm0");
      },
      dies, "");
  EXPECT_EXIT(Configuration(17, 4, 4).load(), dies, "");
  EXPECT_EXIT(Configuration(4, 17, 4).load(), dies, "");
  EXPECT_EXIT(
      {
        Configuration c(4, 4, 4);
        c.palette = 2;
        c.load();
      },
      dies, "");
}

// ---- the kernels' instructions

TileCounts operator-(const TileCounts& a, const TileCounts& b) {
  return {a.configurations - b.configurations, a.releases - b.releases, a.loads - b.loads,
          a.stores - b.stores, a.products - b.products};
}

size_t parts(size_t all, size_t part) { return (all + part - 1) / part; }

// Loads of operands in a step. Where a step of a tile is partial, its last step has registers to
// itself, and two heights by two vectors have one register of each operand less.
size_t loads_of_step(size_t heights, size_t vectors, bool partial) {
  return heights + vectors + (partial && heights == 2 && vectors == 2);
}

// One tile: as many products as the shape has, and of the loads of one step each operand once.
void count_tile(const MicroKernel& kernel, size_t rows, size_t cols, size_t depth) {
  SCOPED_TRACE(std::string(kernel.name) + ' ' + std::to_string(rows) + 'x' + std::to_string(cols) +
               'x' + std::to_string(depth));
  const size_t lanes = octet::round_up(cols, 16), lane_bytes = octet::round_up(depth, 4);
  const std::vector<uint8_t> lhs(rows * depth, 1), rhs(lanes * lane_bytes, 1);
  const std::vector<int32_t> init(lanes);
  std::vector<int32_t> dst(rows * cols);
  octet::Tile tile = {};
  tile.lhs = lhs.data(), tile.lhs_stride = depth;
  tile.rhs = rhs.data(), tile.rhs_stride = 64, tile.rhs_panel_stride = 16 * lane_bytes;
  tile.depth = depth, tile.rows = rows, tile.cols = cols;
  tile.init = init.data();
  tile.dst = dst.data(), tile.dst_stride = cols * sizeof(int32_t);
  const TileCounts before = tile_counts();
  kernel.multiply(tile);
  const TileCounts made = tile_counts() - before;
  EXPECT_EQ(dst.back(), (int32_t)depth);
  const size_t heights = parts(rows, 16), vectors = parts(cols, 16), steps = parts(depth, 64),
               sums = heights * vectors;
  // Two heights of unlike rows, or that end within a group, have no registers for a partial step
  const bool apart = heights == 2 && depth % 64 && (rows < 32 || depth % 4);
  EXPECT_EQ(made.products, sums * steps);
  EXPECT_EQ(made.loads, sums + steps * (apart ? 2 * loads_of_step(1, vectors, true)
                                              : loads_of_step(heights, vectors, depth % 64)));
  EXPECT_EQ(made.stores, sums);
  EXPECT_LE(made.configurations, apart ? 2u : 1u);
}

TEST_F(EmulatedTiles, KernelsIssueNoMoreThanAShapeNeeds) {
  size_t counted = 0;
  for (const MicroKernel* kernel : table()) {
    if (!has_tiles(*kernel)) continue;
    for (size_t cols : {1, 16, 17, 32, 33, 48, 49, 64}) {
      if (cols > kernel->nr) continue;
      for (size_t rows : {1, 15, 16, 17, 31, 32})
        for (size_t depth : {1, 4, 61, 64, 65, 128, 260})
          if (rows <= kernel->rows_of(cols)) count_tile(*kernel, rows, cols, depth), ++counted;
    }
  }
  EXPECT_GT(counted, 0u);
}

// Loads take half as long as products: at most five for four keep the products busy.
TEST_F(EmulatedTiles, LargestTilesLoadLittle) {
  for (const MicroKernel* kernel : table()) {
    if (!has_tiles(*kernel)) continue;
    const size_t heights = kernel->mr / 16u, vectors = kernel->nr / 16u;
    EXPECT_LE(4 * (heights + vectors), 5 * heights * vectors) << kernel->name;
  }
}

// Runs a product of these sizes, and counts its instructions.
void count_product(const MicroKernel& kernel, size_t m, size_t n, size_t k, TileCounts* made) {
  GemmCase c;
  c.kernel = kernel.name;
  c.m = m, c.n = n, c.k = k;
  c.lhs = types_of(kernel).front().lhs;
  c.dst = OCTET_S8;
  Gemm gemm(c);
  ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
  const TileCounts before = tile_counts();
  ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
  *made = tile_counts() - before;
  EXPECT_TRUE(gemm.as_expected(c.m));
}

// A task configures its tiles once and leaves none behind.
TEST_F(EmulatedTiles, TasksConfigureOnceAndRelease) {
  for (const MicroKernel* kernel : table()) {
    if (!has_tiles(*kernel)) continue;
    SCOPED_TRACE(kernel->name);
    TileCounts made;
    ASSERT_NO_FATAL_FAILURE(count_product(*kernel, 64, 128, 256, &made));
    EXPECT_EQ(made.configurations, 1u);
    EXPECT_EQ(made.releases, 1u);
    EXPECT_EQ(made.products, 64u / 16 * (128 / 16) * (256 / 64));
    uint8_t stored[64];
    __asm__ volatile("sttilecfg %0" : "=m"(stored));
    EXPECT_EQ(stored[0], 0);
  }
}

// ---- the macro-kernel's instructions

// No product is issued for columns, rows or steps that are not there, and sums are stored once.
TEST_F(EmulatedTiles, ProductsOfMatricesAreThoseOfTheirShape) {
  for (const MicroKernel* kernel : table()) {
    if (!has_tiles(*kernel)) continue;
    for (const size_t n : {17, 40, 72, 100}) {
      SCOPED_TRACE(std::string(kernel->name) + ' ' + std::to_string(n) + " columns");
      TileCounts made;
      ASSERT_NO_FATAL_FAILURE(count_product(*kernel, 70, n, 148, &made));
      EXPECT_EQ(made.stores, parts(70, 16) * parts(n, 16));
      EXPECT_EQ(made.products, made.stores * parts(148, 64));
    }
  }
}

struct ConvCounts {
  const char* kernel;
  size_t in, channels, outputs, pad;
  size_t rows, steps;  // registers of 16 rows, products along depth
};

void count_convolution(const MicroKernel& kernel, const ConvCounts& counts) {
  SCOPED_TRACE(std::string(kernel.name) + ' ' + std::to_string(counts.channels) + " to " +
               std::to_string(counts.outputs) + " channels");
  ConvCase c;
  c.shape = square(counts.in, counts.channels, counts.outputs, 3, 1, counts.pad);
  c.lhs = types_of(kernel).front().lhs;
  c.lhs_zero_point = 3;  // so that padding is multiplied
  c.dst = OCTET_S8;
  const ConvProblem problem(c);
  ConvHow how;
  how.algorithm = OCTET_CONV_DIRECT;
  how.kernel = counts.kernel;
  Conv conv(problem, how);
  ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
  ASSERT_STREQ(octet_conv2d_kernel(conv.get()), kernel.name);
  const TileCounts before = tile_counts();
  ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
  const TileCounts made = tile_counts() - before;
  EXPECT_TRUE(conv.as_expected());
  EXPECT_EQ(made.stores, counts.rows * parts(counts.outputs, 16));
  EXPECT_EQ(made.products, made.stores * counts.steps);
  EXPECT_EQ(made.releases, 1u);
  if (counts.outputs % kernel.nr) return;
  const size_t heights = kernel.mr / 16u, vectors = kernel.nr / 16u;
  const bool partial = 9 * octet::round_up(counts.channels, 4) % 64;
  EXPECT_EQ((made.loads - made.stores) * heights * vectors,
            made.products * loads_of_step(heights, vectors, partial));
  EXPECT_EQ(made.configurations, 1u);
}

// Windows of taps that are no multiple of 64 channels have no more steps than their bytes fill, and
// windows that cross lines or sides need no more loads than others.
TEST_F(EmulatedTiles, ProductsOfConvolutionsAreThoseOfTheirShape) {
  for (const MicroKernel* kernel : table()) {
    if (!has_tiles(*kernel)) continue;
    for (const size_t outputs : {24, 64, 100}) {
      count_convolution(*kernel, {kernel->name, 10, 64, outputs, 0, 4, 9});
      count_convolution(*kernel, {kernel->name, 10, 40, outputs, 0, 4, 6});
      count_convolution(*kernel, {kernel->name, 8, 33, outputs, 1, 4, 6});
    }
  }
}

// Deep convolutions, too, have the tiles that read fewer weights.
TEST_F(EmulatedTiles, DeepConvolutionsHaveTallTiles) {
  size_t counted = 0;
  for (const MicroKernel* kernel : table()) {
    if (!has_tiles(*kernel)) continue;
    // 9 taps: this depth and the next smaller one
    const size_t channels = kernel->k_min ? octet::divide_up(kernel->k_min, 9) : 60;
    count_convolution(
        *kernel, {nullptr, 10, channels, 64, 0, 4, parts(9 * octet::round_up(channels, 4), 64)});
    ++counted;
  }
  EXPECT_GT(counted, 1u);
}

// ---- instructions of copies

// Counts instructions of calls of a kernel's copy_rows, one single step after the other.
class CountedCopies {
 public:
  // The convolution takes its kernel from here as long as this object lives.
  explicit CountedCopies(const octet_conv2d* conv)
      : plan_(const_cast<octet::ConvPlan&>(conv->plan)),
        kernel_(plan_.kernel),
        counting_(*kernel_) {
    counting_.copy_rows = count;
    copy_ = kernel_->copy_rows;
    steps_ = 0;
    plan_.kernel = &counting_;
    struct sigaction action = {};
    action.sa_handler = [](int) { ++steps_; };
    sigaction(SIGTRAP, &action, &before_);
  }
  ~CountedCopies() {
    plan_.kernel = kernel_;
    sigaction(SIGTRAP, &before_, nullptr);
  }
  size_t steps() const { return steps_; }

 private:
  static void count(const octet::Rows& rows, size_t stride, uint8_t* to) {
    constexpr uint64_t kTrap = 0x100;
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | kTrap);
    copy_(rows, stride, to);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~kTrap);
  }

  static size_t steps_;
  static octet::CopyRowsFn copy_;
  octet::ConvPlan& plan_;
  const MicroKernel* const kernel_;
  MicroKernel counting_;
  struct sigaction before_;
};
size_t CountedCopies::steps_;
octet::CopyRowsFn CountedCopies::copy_;

struct CopyingLayer {
  size_t in, channels, outputs, batch;
  double most;  // instructions of copies per product, by GCC 14, which takes 2 % more than GCC 12
};

// The windows of a kernel line are copied once for all kernel lines, and not for each tile. Where
// taps fill no whole steps, a kernel line of a whole window is one copy; of few channels, kernels
// read the staged input in place.
TEST_F(EmulatedTiles, CopiesTakeFewInstructionsPerProduct) {
  octet_machine machine = {};
  machine.struct_size = sizeof machine;
  machine.l2_bytes = 2 << 20;  // of the CPUs that have tiles
  const CopyingLayer layers[] = {
      {28, 64, 64, 1, 4.7}, {14, 64, 256, 1, 1.8},  {28, 128, 128, 1, 2.7}, {7, 256, 256, 2, 4.7},
      {28, 24, 64, 1, 0},   {14, 32, 128, 1, 13.9}, {14, 48, 192, 1, 8.2},  {14, 96, 96, 1, 13.4}};
  for (const CopyingLayer& layer : layers) {
    SCOPED_TRACE(std::to_string(layer.in) + ' ' + std::to_string(layer.channels));
    ConvCase c;
    c.shape = square(layer.in, layer.channels, layer.outputs, 3, 1, 1);
    c.shape.batch_max = layer.batch;
    c.lhs_zero_point = 3;
    c.dst = OCTET_S8;
    ConvHow how;
    how.algorithm = OCTET_CONV_DIRECT;
    how.machine = &machine;
    const ConvProblem problem(c);
    Conv conv(problem, how);
    ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
    const CountedCopies copies(conv.get());
    const TileCounts before = tile_counts();
    ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
    const TileCounts made = tile_counts() - before;
    EXPECT_TRUE(conv.as_expected());
    EXPECT_EQ(copies.steps() > 0, layer.most > 0);
    // Tiles of a line have equal height
    EXPECT_LE(made.configurations, layer.most ? 20u : 1u);
    EXPECT_LE((double)copies.steps(), layer.most * (double)made.products);
  }
}

}  // namespace
}  // namespace octet_test
