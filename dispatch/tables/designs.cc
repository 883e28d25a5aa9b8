// SPDX-License-Identifier: Apache-2.0
// The known CPU core designs, and the costs in which a design differs from its tier's row.
#include "dispatch/tables/designs.h"

#include <string.h>

#include "kernels/core/strict_float.h"

namespace octet {
namespace {

constexpr TierMask kX86Fits =
    mask_of(TierId::kAvx512Vnni) | mask_of(TierId::kAvxVnni) | mask_of(TierId::kAvx2);

// Sorted by octet_cpu_design. AVX2's row was fitted on several designs before Zen 5, to kernels
// before 2026-11-29, and serves each design without costs of its own.
constexpr CpuDesign kDesigns[] = {
    {OCTET_DESIGN_UNKNOWN, "unknown", OCTET_DESIGN_UNKNOWN, 0},
    {OCTET_DESIGN_ZEN3, "zen3", OCTET_DESIGN_ZEN3, mask_of(TierId::kAvx2)},
    {OCTET_DESIGN_ZEN4, "zen4", OCTET_DESIGN_ZEN4,
     mask_of(TierId::kAvx512Vnni) | mask_of(TierId::kAvx2)},
    {OCTET_DESIGN_ZEN5, "zen5", OCTET_DESIGN_ZEN5, kX86Fits},
    {OCTET_DESIGN_SKY_LAKE, "sky_lake", OCTET_DESIGN_SKY_LAKE,
     mask_of(TierId::kAvx512Vnni) | mask_of(TierId::kAvx512Bw) | mask_of(TierId::kAvx2)},
    {OCTET_DESIGN_SUNNY_COVE, "sunny_cove", OCTET_DESIGN_SUNNY_COVE, 0},
    {OCTET_DESIGN_SUNNY_COVE_CLIENT, "sunny_cove_client", OCTET_DESIGN_ZEN4, 0},
    {OCTET_DESIGN_GOLDEN_COVE, "golden_cove", OCTET_DESIGN_GOLDEN_COVE,
     kX86Fits | mask_of(TierId::kAvx512Bw) | mask_of(TierId::kAmxInt8)},
    {OCTET_DESIGN_CORTEX_A53, "cortex_a53", OCTET_DESIGN_CORTEX_A53, 0},
    {OCTET_DESIGN_CORTEX_A55, "cortex_a55", OCTET_DESIGN_CORTEX_A55, 0},
    {OCTET_DESIGN_CORTEX_A72, "cortex_a72", OCTET_DESIGN_CORTEX_A72, 0},
    {OCTET_DESIGN_NEOVERSE_N1, "neoverse_n1", OCTET_DESIGN_NEOVERSE_N1, 0},
    {OCTET_DESIGN_NEOVERSE_N2, "neoverse_n2", OCTET_DESIGN_NEOVERSE_N2, 0},
    {OCTET_DESIGN_NEOVERSE_V1, "neoverse_v1", OCTET_DESIGN_NEOVERSE_V1, 0},
    {OCTET_DESIGN_NEOVERSE_V2, "neoverse_v2", OCTET_DESIGN_NEOVERSE_V1, 0},
};
constexpr size_t kDesignCount = sizeof kDesigns / sizeof kDesigns[0];

struct X86Models {
  octet_cpu_design design;
  uint32_t family, first, last;  // models
};

constexpr X86Models kAmd[] = {
    {OCTET_DESIGN_ZEN3, 25, 0x00, 0x0f},  // Milan
    {OCTET_DESIGN_ZEN4, 25, 0x10, 0x1f},  // Genoa
    {OCTET_DESIGN_ZEN3, 25, 0x20, 0x5f},  // Vermeer, Rembrandt, Cezanne
    {OCTET_DESIGN_ZEN4, 25, 0x60, 0xaf},  // Raphael, Phoenix, Bergamo
    {OCTET_DESIGN_ZEN5, 26, 0x00, 0xff},  // Turin, Granite Ridge, Strix
};

constexpr X86Models kIntel[] = {
    {OCTET_DESIGN_SKY_LAKE, 6, 0x55, 0x55},           // Skylake-X, Cascade Lake, Cooper Lake
    {OCTET_DESIGN_SUNNY_COVE, 6, 0x6a, 0x6c},         // Ice Lake servers
    {OCTET_DESIGN_SUNNY_COVE_CLIENT, 6, 0x7d, 0x7e},  // Ice Lake
    {OCTET_DESIGN_SUNNY_COVE_CLIENT, 6, 0x8c, 0x8d},  // Tiger Lake
    {OCTET_DESIGN_GOLDEN_COVE, 6, 0x8f, 0x8f},        // Sapphire Rapids
    {OCTET_DESIGN_GOLDEN_COVE, 6, 0x97, 0x9a},        // Alder Lake
    {OCTET_DESIGN_SUNNY_COVE_CLIENT, 6, 0xa7, 0xa7},  // Rocket Lake
    {OCTET_DESIGN_GOLDEN_COVE, 6, 0xad, 0xae},        // Granite Rapids
    {OCTET_DESIGN_GOLDEN_COVE, 6, 0xb7, 0xb7},        // Raptor Lake
    {OCTET_DESIGN_GOLDEN_COVE, 6, 0xba, 0xba},        // Raptor Lake, mobile
    {OCTET_DESIGN_GOLDEN_COVE, 6, 0xbf, 0xbf},        // Raptor Lake, smaller dies
    {OCTET_DESIGN_GOLDEN_COVE, 6, 0xcf, 0xcf},        // Emerald Rapids
};

struct ArmPart {
  octet_cpu_design design;
  uint32_t implementer, part;  // of MIDR_EL1
};

constexpr ArmPart kArm[] = {
    {OCTET_DESIGN_CORTEX_A53, 0x41, 0xd03},  {OCTET_DESIGN_CORTEX_A53, 0x51, 0x801},
    {OCTET_DESIGN_CORTEX_A55, 0x41, 0xd05},  {OCTET_DESIGN_CORTEX_A55, 0x51, 0x803},
    {OCTET_DESIGN_CORTEX_A55, 0x51, 0x805},  {OCTET_DESIGN_CORTEX_A72, 0x41, 0xd08},
    {OCTET_DESIGN_NEOVERSE_N1, 0x41, 0xd0c}, {OCTET_DESIGN_NEOVERSE_N2, 0x41, 0xd49},
    {OCTET_DESIGN_NEOVERSE_V1, 0x41, 0xd40}, {OCTET_DESIGN_NEOVERSE_V2, 0x41, 0xd4f},
};

// The costs of a tier in which a design differs from the tier's row, which assumes two VPDPBUSD zmm
// per cycle, two SDOT (N1) or SMMLA (N2), and one SMULL.
struct OtherCosts {
  octet_cpu_design design;
  TierId tier_id;
  void (*change)(TierCosts& costs);
};

// clang-format off
constexpr OtherCosts kOtherCosts[] = {
    // One VPDPBUSD zmm and one VPDPWSSD zmm per cycle; Intel's client CPUs lack the servers' second
    // unit, too. Fitted to 241 layers on an EPYC 9004.
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, [](TierCosts& c) {
        c.macs = 65; c.tile = 44; c.tile_tap = 12.5; c.int16_macs = 35; c.int16_exposed = 0.14;
        c.int16_in = 0.37; c.int16_out = 0.16; c.int16_call = 46; c.transform_call = 9;
        c.depthwise = 0.3; c.depthwise_line = 64; c.grouped_macs = 60; c.grouped_store = 0.6;
        c.grouped_partial = 19; c.l2_bytes = 17; c.l3_bytes = 15; c.memory_bytes = 4.3;
        c.point = 1.9; c.copy = 27; c.copy_bytes = 10.5; c.sparse_macs = 60;
        c.sparse_macs_beside = 91;
     }},
    // Two of each, and a clock far above the nominal one: octet tune --calibrate on an EPYC 9005,
    // the mean of two or three runs. Sparse products and epilogues, which it does not measure, keep
    // their ratio to dense ones.
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, [](TierCosts& c) {
        c.macs = 155; c.tile = 40; c.tile_tap = 11; c.gather_row = 6.2; c.point = 0.94; c.copy = 16;
        c.copy_bytes = 14; c.int16_macs = 91; c.int16_exposed = 0.55; c.int16_in = 0.32;
        c.int16_out = 0.054; c.int16_call = 11; c.transform_call = 4.9; c.depthwise = 0.23;
        c.depthwise_line = 11; c.grouped_macs = 165; c.grouped_store = 0.41; c.grouped_partial = 11;
        c.l2_bytes = 166; c.l3_bytes = 21; c.memory_bytes = 13; c.sparse_macs = 143;
        c.sparse_macs_beside = 217;
     }},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, [](TierCosts& c) {
        c.macs = 77; c.tile = 23; c.tile_tap = 6.1; c.gather_row = 6.6; c.point = 1.4; c.copy = 17;
        c.copy_bytes = 14; c.int16_macs = 42; c.int16_exposed = 0.54; c.int16_in = 0.33;
        c.int16_out = 0.076; c.int16_call = 21; c.transform_call = 2.9; c.depthwise = 0.44;
        c.depthwise_line = 89; c.grouped_macs = 76; c.grouped_store = 0.24; c.grouped_partial = 9.8;
        c.l2_bytes = 125; c.l3_bytes = 17; c.memory_bytes = 11; c.sparse_macs = 109;
     }},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, [](TierCosts& c) {
        c.macs = 32; c.tile = 30; c.tile_tap = 13; c.gather_row = 2; c.point = 0.81;
        c.copy = 18; c.copy_bytes = 41; c.int16_macs = 37; c.int16_exposed = 0.58;
        c.int16_in = 0.52; c.int16_out = 0.074; c.int16_call = 27; c.transform_call = 1.8;
        c.depthwise = 0.66; c.depthwise_line = 92; c.grouped_macs = 34; c.grouped_store = 0.61;
        c.grouped_partial = 13; c.l2_bytes = 73; c.l3_bytes = 15; c.memory_bytes = 8;
        c.sparse_macs = 60; c.epilogue = 0.75; c.epilogue_call = 125;
     }},
    // octet tune --calibrate on an Emerald Rapids: the mean of three runs for AVX512VNNI, of four
    // for AVXVNNI. The costs of Winograd, of a tap, of groups and of memory were then fitted to the
    // fastest algorithms of 85 layers. AVX2's and AVX512BW's were fitted to all
    // algorithms of 238 layers. Sparse costs stay the tier's.
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, [](TierCosts& c) {
        c.macs = 102; c.tile = 94; c.tile_tap = 10.6; c.gather_row = 10.8; c.point = 0.87;
        c.copy = 22.6; c.copy_bytes = 5.2; c.int16_macs = 50.6; c.int16_exposed = 0.64;
        c.int16_in = 0.37; c.int16_out = 0.26; c.int16_call = 42; c.transform_call = 6.9;
        c.depthwise = 0.36; c.depthwise_line = 25; c.grouped_macs = 110; c.grouped_store = 0.66;
        c.grouped_partial = 18.4; c.l2_bytes = 44; c.l3_bytes = 5.6; c.memory_bytes = 2.4;
     }},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, [](TierCosts& c) {
        c.macs = 46; c.tile = 73; c.tile_tap = 8; c.gather_row = 12.4; c.point = 1.1; c.copy = 26;
        c.copy_bytes = 8.4; c.int16_macs = 22.1; c.int16_exposed = 0.5; c.int16_in = 0.39;
        c.int16_out = 0.26; c.int16_call = 47; c.transform_call = 5.9; c.depthwise = 0.93;
        c.depthwise_line = 112; c.grouped_macs = 44; c.grouped_store = 0.7;
        c.grouped_partial = 26.5; c.l2_bytes = 56; c.l3_bytes = 8; c.memory_bytes = 2.4;
        c.row_bytes = 24;
     }},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx2, [](TierCosts& c) {
        c.macs = 21.4; c.tile = 68; c.tile_tap = 18; c.gather_row = 12; c.point = 16; c.copy = 22;
        c.copy_bytes = 3; c.int16_macs = 19; c.int16_exposed = 0.28; c.int16_in = 0.23;
        c.int16_out = 0.1; c.int16_call = 66; c.transform_call = 4.8; c.depthwise = 1.3;
        c.depthwise_line = 140; c.grouped_macs = 16.5; c.grouped_store = 1; c.grouped_partial = 66;
        c.l2_bytes = 8.3; c.l3_bytes = 9; c.memory_bytes = 1.9; c.row_bytes = 18;
     }},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Bw, [](TierCosts& c) {
        c.macs = 28.5; c.tile = 280; c.tile_tap = 55; c.gather_row = 14; c.point = 11; c.copy = 33;
        c.copy_bytes = 5; c.int16_macs = 28; c.int16_exposed = 0.2; c.int16_in = 0.27;
        c.int16_out = 0.05; c.int16_call = 5; c.transform_call = 16; c.depthwise = 1.05;
        c.depthwise_line = 284; c.grouped_macs = 14; c.grouped_store = 0.4; c.grouped_partial = 35;
        c.l2_bytes = 9; c.l3_bytes = 8.2; c.memory_bytes = 2.4;
     }},
    // Copied windows of few channels and Winograd's products, in which SSE4.1's row was off by 1.2
    // to 1.6 there.
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kSse41, [](TierCosts& c) {
        c.copy_bytes = 0.6; c.int16_macs = 12; c.int16_call = 40;
     }},
    // octet tune --calibrate on a Cascade Lake, the mean of three runs (AVX512BW: five), but the
    // depthwise costs of AVX2 and AVX512BW: of a layer of 1 to 64 channels, which no probe is like.
    // Sparse products keep their ratio to dense.
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, [](TierCosts& c) {
        c.macs = 76; c.tile = 188; c.tile_tap = 67; c.gather_row = 17; c.point = 3.1; c.copy = 103;
        c.copy_bytes = 3.7; c.int16_macs = 42; c.int16_exposed = 0.97; c.int16_in = 0.93;
        c.int16_out = 0.14; c.int16_call = 38; c.transform_call = 16; c.depthwise = 0.71;
        c.depthwise_line = 44; c.grouped_macs = 82; c.grouped_store = 1.6; c.grouped_partial = 32;
        c.l2_bytes = 46; c.l3_bytes = 4.8; c.memory_bytes = 3.6; c.sparse_macs = 70;
        c.sparse_macs_beside = 106;
     }},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, [](TierCosts& c) {
        c.macs = 18.5; c.tile = 247; c.tile_tap = 58; c.gather_row = 5.6; c.point = 2.9;
        c.copy = 54; c.copy_bytes = 2.1; c.int16_macs = 24; c.int16_exposed = 0.64;
        c.int16_in = 1.2; c.int16_out = 0.18; c.int16_call = 69; c.transform_call = 14;
        c.depthwise = 2; c.depthwise_line = 200; c.grouped_macs = 12; c.grouped_store = 1.7;
        c.grouped_partial = 45; c.l2_bytes = 33; c.l3_bytes = 2.2; c.memory_bytes = 1.7;
     }},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, [](TierCosts& c) {
        c.macs = 13; c.tile = 120; c.tile_tap = 50; c.gather_row = 8.8;
        c.point = 4.2; c.copy = 105; c.copy_bytes = 4.9; c.int16_macs = 14; c.int16_exposed = 0.71;
        c.int16_in = 0.94; c.int16_out = 0.27; c.int16_call = 122; c.transform_call = 8;
        c.depthwise = 2.6; c.depthwise_line = 200; c.grouped_macs = 12; c.grouped_store = 1.6;
        c.grouped_partial = 44; c.l2_bytes = 23; c.l3_bytes = 4.5; c.memory_bytes = 2.5;
     }},
    // In-order cores: costs from published issue rules, applied to the kernels' loops.
    {OCTET_DESIGN_CORTEX_A53, TierId::kNeon, [](TierCosts& c) { c.macs = 4; c.int16_macs = 2.9; }},
    {OCTET_DESIGN_CORTEX_A55, TierId::kNeon, [](TierCosts& c) { c.macs = 4; c.int16_macs = 2.9; }},
    {OCTET_DESIGN_CORTEX_A55, TierId::kDotprod, [](TierCosts& c) {
        c.macs = 14; c.int16_macs = 2.9;
     }},
    // Four SDOT or SMMLA and two SMLAL per cycle: llvm-mca's estimates of the kernels' loops.
    {OCTET_DESIGN_NEOVERSE_V1, TierId::kDotprod, [](TierCosts& c) {
        c.macs = 60; c.int16_macs = 8;
     }},
    {OCTET_DESIGN_NEOVERSE_V1, TierId::kI8mm, [](TierCosts& c) { c.macs = 120; c.int16_macs = 8; }},
};
// clang-format on

template <size_t kCount>
octet_cpu_design find(const X86Models (&models)[kCount], uint32_t family, uint32_t model) {
  for (const X86Models& m : models)
    if (m.family == family && m.first <= model && model <= m.last) return m.design;
  return OCTET_DESIGN_UNKNOWN;
}

}  // namespace

const CpuDesign* nth_design(size_t index) {
  return index < kDesignCount ? &kDesigns[index] : nullptr;
}

const CpuDesign* find_design(int design) {
  for (const CpuDesign& d : kDesigns)
    if ((int)d.design == design) return &d;
  return nullptr;
}

octet_cpu_design x86_design(const char* vendor, uint32_t family, uint32_t model,
                            Features features) {
  const bool amd = strncmp(vendor, "AuthenticAMD", 12) == 0,
             intel = strncmp(vendor, "GenuineIntel", 12) == 0;
  const octet_cpu_design known = amd     ? find(kAmd, family, model)
                                 : intel ? find(kIntel, family, model)
                                         : OCTET_DESIGN_UNKNOWN;
  if (known != OCTET_DESIGN_UNKNOWN || !(features & kHasAvx512Vnni)) return known;
  // AMD's first design with AVX-512 has one unit for it, and no AVX-VNNI.
  if (amd) return features & kHasAvxVnni ? OCTET_DESIGN_ZEN5 : OCTET_DESIGN_ZEN4;
  return intel ? OCTET_DESIGN_GOLDEN_COVE : OCTET_DESIGN_UNKNOWN;
}

octet_cpu_design arm_design(uint32_t midr) {
  for (const ArmPart& part : kArm)
    if (part.implementer == midr >> 24 && part.part == (midr >> 4 & 0xfff)) return part.design;
  return OCTET_DESIGN_UNKNOWN;
}

TierCosts costs_of(const Tier& tier, octet_cpu_design design) {
  TierCosts costs = tier.costs;
  const CpuDesign* const known = find_design((int)design);
  for (const OtherCosts& other : kOtherCosts)
    if (known && other.design == known->like && other.tier_id == tier.tier_id) other.change(costs);
  return costs;
}

bool has_measured_costs(const Tier& tier, octet_cpu_design design) {
  const CpuDesign* const known = find_design((int)design);
  return known && has(known->measured, tier);
}

}  // namespace octet
