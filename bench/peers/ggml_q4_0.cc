// SPDX-License-Identifier: Apache-2.0
// ggml's products by Q4_0 beside Octet's by scale blocks of 32, of the same tensor, f32 to f32,
// quantization of the lhs included. The script ggml_q4_0 beside this file compiles and runs it.
#include <octet/octet.h>
#include <octet/quantized_weights.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace {

struct Problem {
  size_t m, n, k, copies;  // copies of the weights, so that they come from DRAM
};

void check(octet_status status, const octet_error& error) {
  if (status == OCTET_OK) return;
  std::fprintf(stderr, "ggml_q4_0: %s\n", error.message);
  std::exit(1);
}

void* aligned(size_t bytes) {
  return std::aligned_alloc(OCTET_ALIGNMENT,
                            (bytes + OCTET_ALIGNMENT) / OCTET_ALIGNMENT * OCTET_ALIGNMENT);
}

// Memory lives as long as the program.
class Octet {
 public:
  Octet(const Problem& p, const std::vector<uint8_t>& tensor, const float* lhs) : dst_(p.m * p.n) {
    octet_error error;
    std::vector<uint8_t> weights(p.n * p.k / 2);
    std::vector<uint16_t> scales(p.n * p.k / 32);
    check(octet_import_q4_0(tensor.data(), p.n, p.k, weights.data(), scales.data(), &error), error);
    const int32_t eight = 8;
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_U4, rhs.order = OCTET_NK;
    rhs.n = p.n, rhs.k = p.k, rhs.data = weights.data();
    rhs.scale_block = 32, rhs.scale_type = OCTET_F16, rhs.scales = scales.data();
    rhs.zero_points = &eight, rhs.zero_point_count = 1;
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    desc.m_max = p.m, desc.n = p.n, desc.k = p.k;
    desc.lhs_type = desc.dst_type = OCTET_F32, desc.rhs_type = OCTET_U4;
    desc.lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS;
    const float one = 1;
    desc.epilogue.scales = &one, desc.epilogue.scale_count = 1;
    check(octet_pack_size(&rhs, OCTET_ISA_AUTO, &desc.packed_bytes, &error), error);
    for (size_t c = 0; c < p.copies; ++c) {
      void* const blob = aligned(desc.packed_bytes);
      check(octet_pack(&rhs, OCTET_ISA_AUTO, blob, desc.packed_bytes, &error), error);
      desc.packed = blob;
      gemms_.push_back(nullptr);
      check(octet_gemm_create(&desc, &gemms_.back(), &error), error);
    }
    check(octet_gemm_workspace(gemms_[0], p.m, 1, &args_.workspace_bytes, &error), error);
    args_.m = p.m, args_.lhs = lhs, args_.dst = dst_.data();
    args_.workspace = aligned(args_.workspace_bytes);
  }

  void run() {
    octet_error error;
    for (octet_gemm* gemm : gemms_) check(octet_gemm_run(gemm, &args_, &error), error);
  }
  const float* dst() const { return dst_.data(); }
  const char* kernel() const { return octet_gemm_kernel(gemms_[0], args_.m); }

 private:
  std::vector<float> dst_;
  std::vector<octet_gemm*> gemms_;
  octet_gemm_args args_ = OCTET_GEMM_ARGS_INIT;
};

// Repacked for this CPU, where ggml does so, but with PLAIN set.
ggml_backend_buffer_type_t weights_type() {
  ggml_backend_buffer_type_t type = ggml_backend_cpu_buffer_type();
  if (std::getenv("PLAIN")) return type;
  ggml_backend_reg_t cpu = ggml_backend_reg_by_name("CPU");
  const auto extra = (ggml_backend_dev_get_extra_bufts_t)ggml_backend_reg_get_proc_address(
      cpu, "ggml_backend_dev_get_extra_bufts");
  for (auto* one = extra(ggml_backend_reg_dev_get(cpu, 0)); one && *one; ++one)
    if (std::strstr(ggml_backend_buft_name(*one), "REPACK")) type = *one;
  return type;
}

class Ggml {
 public:
  Ggml(const Problem& p, const std::vector<uint8_t>& tensor, const std::vector<float>& lhs)
      : type_(weights_type()) {
    ggml_context* const of_weights =
        ggml_init({ggml_tensor_overhead() * (p.copies + 4), nullptr, true});
    std::vector<ggml_tensor*> weights;
    for (size_t c = 0; c < p.copies; ++c)
      weights.push_back(ggml_new_tensor_2d(of_weights, GGML_TYPE_Q4_0, (int64_t)p.k, (int64_t)p.n));
    if (!ggml_backend_alloc_ctx_tensors_from_buft(of_weights, type_)) std::exit(1);
    const size_t outputs = p.copies * p.m * p.n * sizeof(float), room = size_t{16} << 20;
    ggml_context* const others =
        ggml_init({room + 2 * outputs + 2 * lhs.size() * sizeof(float), nullptr, false});
    ggml_tensor* const x = ggml_new_tensor_2d(others, GGML_TYPE_F32, (int64_t)p.k, (int64_t)p.m);
    std::memcpy(x->data, lhs.data(), lhs.size() * sizeof(float));
    for (ggml_tensor* w : weights) {
      ggml_backend_tensor_set(w, tensor.data(), 0, tensor.size());
      dst_ = ggml_mul_mat(others, w, x);
      graphs_.push_back(ggml_new_graph_custom(others, 8, false));
      ggml_build_forward_expand(graphs_.back(), dst_);
    }
    ggml_threadpool_params one = ggml_threadpool_params_default(1);
    plan_ = ggml_graph_plan(graphs_[0], 1, ggml_threadpool_new(&one));
    if (plan_.work_size) plan_.work_data = (uint8_t*)aligned(plan_.work_size);
  }

  void run() {
    for (ggml_cgraph* graph : graphs_) ggml_graph_compute(graph, &plan_);
  }
  const float* dst() const { return (const float*)dst_->data; }
  const char* buffer() const { return ggml_backend_buft_name(type_); }

 private:
  ggml_backend_buffer_type_t type_;
  std::vector<ggml_cgraph*> graphs_;
  ggml_tensor* dst_ = nullptr;  // of the last copy
  ggml_cplan plan_;
};

// Microseconds of one product.
template <typename Library>
double time(Library& library, const Problem& p) {
  const size_t macs = p.m * p.n * p.k * p.copies, calls = std::max<size_t>(1, 20000000 / macs);
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < calls; ++i) library.run();
  const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - begin;
  return all.count() / (double)(calls * p.copies);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  Problem p = {};
  if (argc < 2 || std::sscanf(argv[1], "%zux%zux%zu", &p.m, &p.n, &p.k) != 3) return 2;
  p.copies = argc > 2 ? std::stoul(argv[2]) : 1;
  const size_t rounds = argc > 3 ? std::stoul(argv[3]) : 9;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> weights(p.n * p.k), lhs(p.m * p.k);
  for (float& w : weights) w = normal(random) * 0.05f;
  for (float& x : lhs) x = normal(random);
  std::vector<uint8_t> tensor(p.n * p.k / 32 * 18);
  ggml_cpu_init();
  ggml_quantize_chunk(GGML_TYPE_Q4_0, weights.data(), tensor.data(), 0, (int64_t)p.n, (int64_t)p.k,
                      nullptr);
  Octet octet(p, tensor, lhs.data());
  Ggml ggml(p, tensor, lhs);
  octet.run();
  ggml.run();
  double difference = 0, largest = 0;
  for (size_t i = 0; i < p.m * p.n; ++i) {
    difference = std::max(difference, (double)std::fabs(octet.dst()[i] - ggml.dst()[i]));
    largest = std::max(largest, (double)std::fabs(ggml.dst()[i]));
  }
  std::vector<double> ours, its, ratios;
  for (size_t r = 0; r < rounds; ++r) {
    ours.push_back(time(octet, p));
    its.push_back(time(ggml, p));
    ratios.push_back(its.back() / ours.back());
  }
  std::printf(
      "%s, %zu copies: octet %.0f us (%s), ggml %.0f us (%s), its time over octet's %.2f; "
      "outputs differ by %.1e of the largest\n",
      argv[1], p.copies, median(ours), octet.kernel(), median(its), ggml.buffer(), median(ratios),
      difference / largest);
}
