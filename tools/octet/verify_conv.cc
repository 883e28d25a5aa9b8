// SPDX-License-Identifier: Apache-2.0
// Verifies convolutions of many shapes by every algorithm.
#include "tools/octet/verify_conv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bench/problems/conv_check.h"
#include "bench/problems/conv_plan.h"

namespace tool {
namespace {

// Small shapes that together have every property of convolutions.
constexpr const char* kShapes[] = {
    "ic5oc7_ih6kh1",                            // pointwise
    "mb2_ic37oc70_ih5kh1",                      // over the edges of tiles, two images
    "ic3oc24_ih13kh7sh2ph3",                    // a first layer
    "ic16oc20_ih9kh3ph1",                       // Winograd's layers
    "mb2_ic19oc35_ih7iw10kh3ph1",               // odd everything
    "ic32oc16_ih8kh3",                          // no padding
    "ic12oc18_ih11kh3sh2ph1",                   // stride 2
    "ic8oc9_ih10oh5kh3sh2ph0",                  // padding below only
    "ic9oc5_ih8oh9kh2ph0",                      // even kernel
    "ic4oc6_ih9kh3dh3ph3",                      // dilation
    "ic6oc8_ih4kh3ph4",                         // windows of padding only
    "ic8oc8_ih1iw21oh1ow21kh1kw5sh1sw1ph0pw2",  // 1-D
    "ic4oc4_ih7iw9kh5kw3sh1sw2ph2pw0",          // nothing square
    "g4ic20oc12_ih6kh3ph1",                     // groups
    "g3ic9oc48_ih5kh1",                         // pointwise groups
    "g37ic37oc37_ih9kh3ph1",                    // depthwise
    "mb2_g150ic150oc150_ih6kh3sh2ph1",          // depthwise, stride 2
    "g18ic18oc36_ih6kh5ph2",                    // depthwise with a multiplier
    "g16ic16oc16_ih8kh3dh2ph2",                 // depthwise, dilated
    "tic10oc6_ih5kh2sh2",                       // transposed
    "tic7oc19_ih5oh10kh3sh2ph1",                // transposed with output padding
    "tg3ic12oc9_ih4iw6kh3kw4sh1sw3ph1",         // transposed groups
    "tg8ic8oc8_ih5kh3sh2ph1",                   // transposed depthwise
};
constexpr OperandTypes kTypes[] = {{OCTET_U8, OCTET_S8, OCTET_U8},
                                   {OCTET_S8, OCTET_S8, OCTET_S8},
                                   {OCTET_U8, OCTET_U8, OCTET_S32},
                                   {OCTET_S8, OCTET_U8, OCTET_F32},
                                   {OCTET_S16, OCTET_S8, OCTET_S16}};

struct Tally {
  size_t right = 0, wrong = 0, refused = 0;
  double largest_difference = 0;  // the approximate algorithm's, in outputs of random data
  std::set<std::string> kernels;  // the kernels that ran
  std::string first_error, refusal;
};

// A row of the table and what it forces.
struct Row {
  std::string title;
  Forced forced;
  bool only_if_it_runs;  // else the row is not printed
};

std::vector<Row> rows(const std::string& kernel) {
  const octet_cpu_info cpu = cpu_info();
  std::vector<Row> all;
  const auto add = [&](const char* title, Forced forced, bool only_if_it_runs) {
    for (const octet_conv_algorithm algorithm : kAlgorithms) {
      forced.algorithm = algorithm;
      all.push_back({title, forced, only_if_it_runs});
    }
  };
  if (kernel.empty())
    for (const octet_isa isa : tiers_of(cpu.detected_isas & ~cpu.demoted_isas))
      add(octet_isa_name(isa), {isa, nullptr}, false);
  for (const octet_kernel_info& each : kernels())
    if (kernel.empty() ? each.usable && each.tests_only : each.name == kernel)
      add(each.name, {OCTET_ISA_AUTO, each.name}, true);
  return all;
}

void verify_one(const ConvData& data, const ConvReference& reference, Fill fill, bool symmetric,
                const Row& row, Tally* tally) {
  const bool approximate = row.forced.algorithm == OCTET_CONV_WINOGRAD_2X2_INT8;
  try {
    ConvPlan plan(data, row.forced);
    if (row.forced.kernel && std::string(plan.kernel()) != row.forced.kernel) {
      ++tally->refused;  // the kernel is of another family
      return;
    }
    plan.run(1);
    const Verdict verdict = approximate ? Verdict{} : reference.check(plan.dst());
    ++(verdict.right ? tally->right : tally->wrong);
    tally->kernels.insert(plan.kernel());
    if (approximate && fill == Fill::kRandom && type_bytes(data.types.dst) == 1)
      tally->largest_difference =
          std::max(tally->largest_difference, reference.largest_difference(plan.dst()));
    if (!verdict.right && tally->first_error.empty())
      tally->first_error = fmt::format("{} {} {}, {} data, {} weights: {}", plan.kernel(),
                                       data.types.name(), data.shape.name(), fill_name(fill),
                                       symmetric ? "symmetric" : "asymmetric", verdict.first_error);
  } catch (const LibraryError& error) {
    if (error.status != OCTET_UNSUPPORTED && error.status != OCTET_KERNEL_UNUSABLE) throw;
    ++tally->refused;
    tally->refusal = error.what();
  }
}

std::string remark(const Row& row, const Tally& tally) {
  if (tally.wrong) return "WRONG: " + tally.first_error;
  if (tally.right == 0) return "skipped: " + tally.refusal;
  const std::string by = fmt::format("{}", fmt::join(tally.kernels, ", "));
  if (row.forced.algorithm != OCTET_CONV_WINOGRAD_2X2_INT8) return "ok, by " + by;
  return fmt::format("approximate, up to +-{} in 8 bits, by {}", tally.largest_difference, by);
}

}  // namespace

Verdicts verify_conv(const std::string& kernel) {
  const std::vector<Row> all_rows = rows(kernel);
  std::vector<Tally> tallies(all_rows.size());
  for (const char* shape : kShapes)
    for (const OperandTypes& types : kTypes)
      for (const Fill fill : kFills)
        for (const bool symmetric : {true, false}) {
          const ConvData data = full_conv_data(parse_conv(shape), types, fill, symmetric);
          const ConvReference reference(data);
          for (size_t i = 0; i < all_rows.size(); ++i)
            verify_one(data, reference, fill, symmetric, all_rows[i], &tallies[i]);
        }

  Verdicts total;
  fmt::print("{:<32}{:<18}{:>10}{:>10}{:>10}\n", kernel.empty() ? "tier or kernel" : "kernel",
             "algorithm", "right", "wrong", "refused");
  for (size_t i = 0; i < all_rows.size(); ++i) {
    const Tally& t = tallies[i];
    if (all_rows[i].only_if_it_runs && t.right + t.wrong == 0) continue;
    fmt::print("{:<32}{:<18}{:>10}{:>10}{:>10}  {}\n", all_rows[i].title,
               octet_conv_algorithm_name(all_rows[i].forced.algorithm), t.right, t.wrong, t.refused,
               remark(all_rows[i], t));
    total.right += t.right;
    total.wrong += t.wrong;
  }
  return total;
}

}  // namespace tool
