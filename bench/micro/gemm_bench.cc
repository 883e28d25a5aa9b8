// Planned runs through the C API. 8x8x8 is what a call costs. `octet bench` has the full list, the
// peak and a peer.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench/micro/aligned.h"

namespace {

struct Shape {
  size_t m, n, k;
  std::string name() const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  }
};

// Ones times ones, plus a bias of 1, requantized with scale 1 where the output has 8 bits.
class Plan {
 public:
  Plan(const Shape& shape, octet_type dst_type)
      : shape_(shape),
        type_(dst_type),
        lhs_(bench::aligned<uint8_t>(shape.m * shape.k)),
        dst_(bench::aligned<int32_t>(shape.m * shape.n)) {
    std::memset(lhs_.get(), 1, shape.m * shape.k);
    const std::vector<int8_t> weights(shape.n * shape.k, 1);
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8;
    rhs.n = shape.n;
    rhs.k = shape.k;
    rhs.data = weights.data();
    size_t bytes = 0;
    check(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error_));
    packed_ = bench::aligned<uint8_t>(bytes);
    check(octet_pack(&rhs, OCTET_ISA_AUTO, packed_.get(), bytes, &error_));

    const std::vector<int32_t> bias(shape.n, 1);
    const float scale = 1;
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    desc.m_max = shape.m;
    desc.n = shape.n;
    desc.k = shape.k;
    desc.lhs_type = OCTET_U8;
    desc.rhs_type = OCTET_S8;
    desc.dst_type = dst_type;
    desc.packed = packed_.get();
    desc.packed_bytes = bytes;
    desc.epilogue.bias = bias.data();
    desc.epilogue.scales = dst_type == OCTET_S32 ? nullptr : &scale;
    desc.epilogue.scale_count = dst_type == OCTET_S32 ? 0 : 1;
    check(octet_gemm_create(&desc, &gemm_, &error_));
    check(octet_gemm_workspace(gemm_, shape.m, 1, &bytes, &error_));
    workspace_ = bench::aligned<uint8_t>(bytes);
    args_.m = shape.m;
    args_.lhs = lhs_.get();
    args_.dst = dst_.get();
    args_.workspace = workspace_.get();
    args_.workspace_bytes = bytes;
  }
  ~Plan() { octet_gemm_destroy(gemm_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void run() { check(octet_gemm_run(gemm_, &args_, &error_)); }
  const char* error() const { return failed_ ? error_.message : nullptr; }
  const char* kernel() const { return octet_gemm_kernel(gemm_, shape_.m); }
  double ops() const { return 2.0 * static_cast<double>(shape_.m * shape_.n * shape_.k); }
  bool right() const {
    const int32_t acc = static_cast<int32_t>(shape_.k) + 1;
    for (size_t i = 0; i < shape_.m * shape_.n; ++i)
      if (type_ == OCTET_S32
              ? dst_[i] != acc
              : reinterpret_cast<const uint8_t*>(dst_.get())[i] != (acc < 255 ? acc : 255))
        return false;
    return true;
  }

 private:
  void check(octet_status status) { failed_ |= status != OCTET_OK; }

  Shape shape_;
  octet_type type_;
  bench::Aligned<uint8_t> lhs_, packed_, workspace_;
  bench::Aligned<int32_t> dst_;
  octet_gemm* gemm_ = nullptr;
  octet_gemm_args args_ = OCTET_GEMM_ARGS_INIT;
  octet_error error_ = {};
  bool failed_ = false;
};

void gemm(benchmark::State& state, const Shape& shape, octet_type dst_type) {
  Plan plan(shape, dst_type);
  if (!plan.error()) plan.run();
  if (plan.error()) return state.SkipWithError(plan.error());
  if (!plan.right()) return state.SkipWithError("wrong product");
  for (auto _ : state) plan.run();
  state.SetLabel(plan.kernel());
  state.counters["OPS"] =
      benchmark::Counter(plan.ops(), benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  const Shape shapes[] = {{8, 8, 8},       {1, 64, 64},     {16, 32, 64},       {64, 64, 64},
                          {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {128, 768, 3072},
                          {1, 4096, 4096}, {49, 512, 2048}, {12544, 64, 147}};
  for (const Shape& shape : shapes)
    for (const octet_type type : {OCTET_S32, OCTET_U8}) {
      const std::string name =
          "gemm_u8s8" + std::string(type == OCTET_S32 ? "s32_" : "u8_") + shape.name();
      benchmark::RegisterBenchmark(name.c_str(), gemm, shape, type);
    }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
