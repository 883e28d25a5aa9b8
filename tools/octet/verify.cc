// SPDX-License-Identifier: Apache-2.0
// Runs octet verify: every usable kernel and every algorithm against references that share no code
// with the library.
#include <fmt/format.h>

#include <cstring>

#include <algorithm>

#include "bench/problems/gemm_check.h"
#include "bench/problems/gemm_plan.h"
#include "tools/octet/commands.h"
#include "tools/octet/verify_conv.h"

namespace tool {
namespace {

struct Tally {
  size_t right = 0, wrong = 0, refused = 0;
  bool other_family = false;  // another kernel ran: the forced one does not multiply these types
  std::string first_error, refusal;
};

// Shapes around the tile in each direction, and of a few tiles. A kernel whose name does not end in
// its tile multiplies no matrices, so any shape is refused.
std::vector<GemmShape> shapes_around(const std::string& kernel) {
  size_t tile[3];
  if (!parse_triple(kernel.substr(kernel.rfind('_') + 1), tile)) return {{1, 1, 1}};
  const auto [mr, nr, kr] = tile;
  const auto sizes = [](size_t one, size_t many) {
    std::vector<size_t> all = {1, one, one + 1, many};
    if (one > 2) all.push_back(one - 1);
    return all;
  };
  std::vector<GemmShape> shapes;
  for (const size_t m : sizes(mr, 2 * mr + 1))
    for (const size_t n : sizes(nr, 2 * nr + 3))
      for (const size_t k : sizes(kr, 67)) shapes.push_back({m, n, k});
  shapes.push_back({3 * mr - 1, nr + 5, 1001});
  return shapes;
}

void add(const Verdict& verdict, const char* kernel, const GemmData& data, Fill fill,
         Tally* tally) {
  ++(verdict.right ? tally->right : tally->wrong);
  if (!verdict.right && tally->first_error.empty())
    tally->first_error = fmt::format("{} {} {}, {} data: {}", kernel, data.types.name(),
                                     data.shape.name(), fill_name(fill), verdict.first_error);
}

void verify_product(const char* kernel, const GemmShape& shape, const OperandTypes& types,
                    Fill fill, Tally* tally) {
  GemmData data = full_data(shape, types, fill);
  Forced forced;
  forced.kernel = kernel;
  if (std::strstr(kernel, "_sparse_")) {
    forced.sparsity = OCTET_SPARSE_2_4;
    const int32_t zero = *centre(types.rhs);
    data.rhs_zero_points.assign(shape.n, zero);
    make_sparse(&data.rhs, {shape.n, shape.k, 1, shape.n}, shape.k, zero, shape.n + shape.k);
  }
  try {
    GemmPlan plan(data, forced);
    if (std::string(plan.kernel(shape.m)) != kernel) {
      tally->other_family = true;
      return;
    }
    plan.run(1);
    add(check_product(data, plan.dst()), kernel, data, fill, tally);
  } catch (const LibraryError& error) {
    if (error.status != OCTET_KERNEL_UNUSABLE) throw;
    ++tally->refused;  // a kernel may be exact for some weights only
    tally->refusal = error.what();
  }
}

Tally verify_types(const char* kernel, octet_type lhs, octet_type rhs) {
  Tally tally;
  tally.other_family = std::strstr(kernel, "_sparse_") && is_4bit(rhs);
  if (tally.other_family) return tally;
  for (const GemmShape& shape : shapes_around(kernel))
    for (const octet_type dst : {OCTET_S32, OCTET_S8, OCTET_U8, OCTET_F32})
      for (const Fill fill : kFills) {
        verify_product(kernel, shape, {lhs, rhs, dst}, fill, &tally);
        if (tally.other_family) return tally;
      }
  return tally;
}

// Weights in scale blocks, of which a tier has one kernel; those of s8 have no zero points. All
// scales are 1, so that sums are integers.
Tally verify_scale_blocks(octet_isa isa, octet_type lhs, octet_type rhs) {
  constexpr size_t kBlock = 32;
  Tally tally;
  for (const size_t m : {1, 2, 7, 50})
    for (const size_t n : {1, 16, 33, 130})
      for (const size_t k : {kBlock, 3 * kBlock, 32 * kBlock})
        for (const octet_type dst : {OCTET_S8, OCTET_U8, OCTET_F32})
          for (const Fill fill : kFills) {
            GemmData data = full_data({m, n, k}, {lhs, rhs, dst}, fill);
            data.scale_block = kBlock;
            data.bias.clear();
            if (rhs == OCTET_S8) data.rhs_zero_points.clear();
            Forced forced;
            forced.isa = isa;
            GemmPlan plan(data, forced);
            plan.run(1);
            add(check_product(data, plan.dst()), plan.kernel(m), data, fill, &tally);
          }
  return tally;
}

// An s16 lhs, which the tier's s16 kernels multiply, or its int8 kernels in two halves.
Tally verify_s16(octet_isa isa, octet_type dst) {
  Tally tally;
  for (const size_t m : {1, 2, 7, 50})
    for (const size_t n : {1, 16, 33, 130})
      for (const size_t k : {1, 4, 67, 1001})
        for (const Requant requant : {Requant::kFloat, Requant::kTflite})
          for (const Fill fill : kFills) {
            if (dst == OCTET_F32 && requant == Requant::kTflite) continue;
            GemmData data = full_data({m, n, k}, {OCTET_S16, OCTET_S8, dst}, fill);
            data.tflite = tflite_scales(data.scales, requant);
            Forced forced;
            forced.isa = isa;
            GemmPlan plan(data, forced);
            plan.run(1);
            add(check_product(data, plan.dst()), plan.kernel(m), data, fill, &tally);
          }
  return tally;
}

void print_row(const std::string& kernel, const std::string& types, const Tally& t) {
  fmt::print("{:<32}{:<12}", kernel, types);
  if (t.other_family)
    fmt::print("{:>10}{:>10}{:>10}  skipped: another kernel multiplies these types\n", "-", "-",
               "-");
  else if (t.right + t.wrong == 0)
    fmt::print("{:>10}{:>10}{:>10}  skipped: {}\n", "-", "-", t.refused, t.refusal);
  else
    fmt::print("{:>10}{:>10}{:>10}  {}\n", t.right, t.wrong, t.refused,
               t.wrong ? "WRONG: " + t.first_error : "ok");
  std::fflush(stdout);
}

}  // namespace

Verified verify_all(const std::string& only, const std::function<bool()>& is_time_left) {
  if (!only.empty()) usable_kernel(only);
  fmt::print("{:<32}{:<12}{:>10}{:>10}{:>10}\n", "kernel", "lhs x rhs", "right", "wrong",
             "refused");
  Verified all;
  for (const octet_kernel_info& kernel : kernels()) {
    if (!only.empty() && only != kernel.name) continue;
    if (!kernel.usable) {
      fmt::print("{:<32}skipped: this CPU cannot run it\n", kernel.name);
      continue;
    }
    if (all.products.right && !is_time_left()) {
      ++all.left_out;
      continue;
    }
    std::vector<std::pair<std::string, Tally>> tallies;
    for (const octet_type lhs : {OCTET_U8, OCTET_S8})
      for (const octet_type rhs : {OCTET_S8, OCTET_U8, OCTET_S4, OCTET_U4})
        tallies.emplace_back(fmt::format("{} x {}", octet_type_name(lhs), octet_type_name(rhs)),
                             verify_types(kernel.name, lhs, rhs));
    if (std::all_of(tallies.begin(), tallies.end(),
                    [](const auto& row) { return row.second.other_family; })) {
      fmt::print("{:<32}no products: it computes convolutions only\n", kernel.name);
      continue;
    }
    // A kernel of 8 bits says nothing of weights of 4 bits, nor the other way round
    const auto bits = [](const std::string& types) { return types.back(); };
    std::string multiplied;
    for (const auto& [types, tally] : tallies)
      if (!tally.other_family) multiplied = types;
    for (const auto& [types, tally] : tallies) {
      if (bits(types) != bits(multiplied)) continue;
      print_row(kernel.name, types, tally);
      all.products.right += tally.right;
      all.products.wrong += tally.wrong;
    }
  }
  const octet_cpu_info cpu = cpu_info();
  for (const octet_isa isa : tiers_of(only.empty() ? cpu.detected_isas & ~cpu.demoted_isas : 0)) {
    if (all.products.right && !is_time_left()) {
      ++all.left_out;
      continue;
    }
    for (const octet_type lhs : {OCTET_U8, OCTET_S8})
      for (const octet_type rhs : {OCTET_S4, OCTET_U4, OCTET_S8}) {
        const Tally tally = verify_scale_blocks(isa, lhs, rhs);
        print_row(fmt::format("{}, scale blocks", octet_isa_name(isa)),
                  fmt::format("{} x {}", octet_type_name(lhs), octet_type_name(rhs)), tally);
        all.products.right += tally.right;
        all.products.wrong += tally.wrong;
      }
    for (const octet_type dst : {OCTET_S16, OCTET_F32}) {
      const Tally tally = verify_s16(isa, dst);
      print_row(fmt::format("{}, to {}", octet_isa_name(isa), octet_type_name(dst)), "s16 x s8",
                tally);
      all.products.right += tally.right;
      all.products.wrong += tally.wrong;
    }
  }
  fmt::print("\n");
  if (is_time_left())
    all.convolutions = verify_conv(only);
  else
    ++all.left_out;
  fmt::print("\n{} products right, {} wrong\n", all.products.right, all.products.wrong);
  fmt::print("{} convolutions right, {} wrong\n", all.convolutions.right, all.convolutions.wrong);
  return all;
}

int verify(const std::string& only) {
  return verify_all(only, [] { return true; }).is_right() ? kSuccess : kMismatch;
}

}  // namespace tool
