// SPDX-License-Identifier: Apache-2.0
// Times every usable kernel on a full tile of packed operands that stay in the first-level cache.
#include <benchmark/benchmark.h>

#include "bench/micro/aligned.h"
#include "dispatch/select/machine.h"
#include "dispatch/tables/formats.h"
#include "dispatch/tables/kernels.h"

namespace {

using namespace octet;

constexpr size_t kCacheBytes = 24 * 1024;  // the smallest CPUs have 32 KiB

// Ones times ones: each output must be the depth, or half of it, where every other weight of a
// sparse column is 0. The figures count all products of the dense tile.
class Product {
 public:
  explicit Product(const MicroKernel& kernel)
      : kernel_(kernel),
        layout_(kernel.rhs_layout),
        depth_(fitting_depth(kernel)),
        lhs_(bench::aligned<uint8_t>(kernel.mr * depth_)),
        rhs_(bench::aligned<uint8_t>(layout_.bytes(kernel.nr, depth_))),
        panel_(bench::aligned<uint8_t>(panel_bytes())),
        init_(bench::aligned<int32_t>(layout_.lanes(kernel.nr))),
        dst_(bench::aligned<int32_t>(kernel.mr * kernel.nr)) {
    std::memset(lhs_.get(), 1, kernel.mr * depth_);
    const auto ones = bench::aligned<uint8_t>(kernel.nr * depth_);
    std::memset(ones.get(), 1, kernel.nr * depth_);
    const RhsView view = {ones.get(),           kernel.nr, depth_, kernel.nr, 1,
                          layout_.element_type, nullptr,   0};
    for (size_t i = 0; layout_.sparse() && i < kernel.nr * depth_; ++i)
      ones[i] = (i / kernel.nr + i % kernel.nr) % 2;
    find_format_of(layout_)->packing->pack(layout_, view, 0, kernel.nr, rhs_.get());
    if (kernel.gather)
      kernel.gather({lhs_.get(), depth_, kernel.mr, depth_, 0}, lanes(), panel_.get());
    tile_.lhs = kernel.gather ? panel_.get() : lhs_.get();
    tile_.lhs_stride = depth_;
    tile_.rhs = rhs_.get();
    tile_.rhs_stride = layout_.panel_width(0, kernel.nr) * layout_.group_bytes();
    tile_.rhs_panel_stride = layout_.width * layout_.lane_bytes(depth_);
    tile_.depth = depth_;
    tile_.rows = kernel.mr;
    tile_.cols = kernel.nr;
    tile_.init = init_.get();
    tile_.dst = dst_.get();
    tile_.dst_stride = kernel.nr * sizeof(int32_t);
  }

  void multiply() { kernel_.multiply(tile_); }
  double ops() const { return 2.0 * kernel_.mr * kernel_.nr * (double)depth_; }
  bool right() const {
    for (size_t i = 0; i < (size_t)kernel_.mr * kernel_.nr; ++i)
      if (dst_[i] != (int32_t)(layout_.sparse() ? depth_ / 2 : depth_)) return false;
    return true;
  }

 private:
  static size_t fitting_depth(const MicroKernel& kernel) {
    const size_t bytes_per_step = kernel.rhs_layout.lanes(kernel.nr) +
                                  kernel.mr * (kernel.gather ? kernel.lhs_element_bytes : 1u);
    return kCacheBytes / bytes_per_step / 16 * 16;
  }
  size_t lanes() const { return kernel_.gather ? round_up(kernel_.mr, kernel_.lhs_lanes_step) : 0; }
  size_t panel_bytes() const {
    return kernel_.gather ? lanes() * round_up(depth_, kernel_.lhs_kr) * kernel_.lhs_element_bytes
                          : 1;
  }

  const MicroKernel& kernel_;
  const RhsLayout& layout_;
  size_t depth_;
  bench::Aligned<uint8_t> lhs_, rhs_, panel_;
  bench::Aligned<int32_t> init_, dst_;
  Tile tile_ = {};
};

void multiply(benchmark::State& state, const MicroKernel* kernel) {
  Product product(*kernel);
  product.multiply();
  if (!product.right()) return state.SkipWithError("wrong product");
  for (auto _ : state) {
    product.multiply();
    benchmark::ClobberMemory();
  }
  state.counters["OPS"] =
      benchmark::Counter(product.ops(), benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  for (const MicroKernel* kernel : int8_kernels())
    if (supports(this_machine().cpu, *kernel))
      benchmark::RegisterBenchmark(kernel->name, multiply, kernel);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
