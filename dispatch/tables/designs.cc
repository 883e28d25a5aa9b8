// The known CPU core designs, and the costs in which a design differs from its tier's row.
#include "dispatch/tables/designs.h"

#include <string.h>

#include "kernels/core/strict_float.h"

namespace octet {
namespace {

constexpr TierMask kX86Fits =
    mask_of(TierId::kAvx512Vnni) | mask_of(TierId::kAvxVnni) | mask_of(TierId::kAvx2);

// Sorted by octet_cpu_design. AVX2's row was fitted on several designs before Zen 5, and serves
// each design without costs of its own.
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
    {OCTET_DESIGN_GOLDEN_COVE, "golden_cove", OCTET_DESIGN_GOLDEN_COVE, kX86Fits},
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

// A cost of a tier on one design. The tier's own row assumes two VPDPBUSD zmm per cycle, two SDOT
// (N1) or SMMLA (N2), and one SMULL.
struct OtherCost {
  octet_cpu_design design;
  TierId tier_id;
  double TierCosts::*cost;
  double value;
};

constexpr OtherCost kOtherCosts[] = {
    // One VPDPBUSD zmm and one VPDPWSSD zmm per cycle; Intel's client CPUs lack the servers' second
    // unit, too. Fitted to 241 layers on an EPYC 9004.
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::macs, 65},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::tile, 44},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::tile_tap, 12.5},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::int16_macs, 35},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::int16_exposed, 0.14},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::int16_in, 0.37},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::int16_out, 0.16},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::int16_call, 46},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::transform_call, 9},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::depthwise, 0.3},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::depthwise_line, 64},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::grouped_macs, 60},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::grouped_store, 0.6},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::grouped_partial, 19},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::l2_bytes, 17},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::l3_bytes, 15},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::memory_bytes, 4.3},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::point, 1.9},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::copy, 27},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::copy_bytes, 10.5},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::sparse_macs, 60},
    {OCTET_DESIGN_ZEN4, TierId::kAvx512Vnni, &TierCosts::sparse_macs_beside, 91},
    // Two of each, and a clock far above the nominal one: octet tune --calibrate on an EPYC 9005,
    // the mean of two or three runs. Sparse products and epilogues, which it does not measure, keep
    // their ratio to dense ones.
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::macs, 155},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::tile, 40},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::tile_tap, 11},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::gather_row, 6.2},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::point, 0.94},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::copy, 16},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::copy_bytes, 14},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::int16_macs, 91},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::int16_exposed, 0.55},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::int16_in, 0.32},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::int16_out, 0.054},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::int16_call, 11},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::transform_call, 4.9},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::depthwise, 0.23},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::depthwise_line, 11},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::grouped_macs, 165},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::grouped_store, 0.41},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::grouped_partial, 11},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::l2_bytes, 166},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::l3_bytes, 21},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::memory_bytes, 13},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::sparse_macs, 143},
    {OCTET_DESIGN_ZEN5, TierId::kAvx512Vnni, &TierCosts::sparse_macs_beside, 217},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::macs, 77},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::tile, 23},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::tile_tap, 6.1},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::gather_row, 6.6},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::point, 1.4},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::copy, 17},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::copy_bytes, 14},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::int16_macs, 42},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::int16_exposed, 0.54},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::int16_in, 0.33},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::int16_out, 0.076},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::int16_call, 21},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::transform_call, 2.9},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::depthwise, 0.44},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::depthwise_line, 89},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::grouped_macs, 76},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::grouped_store, 0.24},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::grouped_partial, 9.8},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::l2_bytes, 125},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::l3_bytes, 17},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::memory_bytes, 11},
    {OCTET_DESIGN_ZEN5, TierId::kAvxVnni, &TierCosts::sparse_macs, 109},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::macs, 32},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::tile, 30},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::tile_tap, 13},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::gather, 11},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::gather_row, 2},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::point, 0.81},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::copy, 18},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::copy_bytes, 41},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::int16_macs, 37},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::int16_exposed, 0.58},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::int16_in, 0.52},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::int16_out, 0.074},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::int16_call, 27},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::transform_call, 1.8},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::depthwise, 0.66},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::depthwise_line, 92},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::grouped_macs, 34},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::grouped_store, 0.61},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::grouped_partial, 13},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::l2_bytes, 73},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::l3_bytes, 15},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::memory_bytes, 8},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::sparse_macs, 60},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::epilogue, 0.75},
    {OCTET_DESIGN_ZEN5, TierId::kAvx2, &TierCosts::epilogue_call, 125},
    // octet tune --calibrate on an Emerald Rapids: the mean of three runs for AVX512VNNI, of four
    // for AVXVNNI. The costs of Winograd, of a tap, of groups and of memory were then fitted to the
    // fastest algorithms of 85 layers. Sparse costs stay the tier's. AVX2's calibrated costs choose
    // no better than its row.
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::macs, 102},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::tile, 94},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::tile_tap, 10.6},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::gather_row, 10.8},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::point, 0.87},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::copy, 22.6},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::copy_bytes, 5.2},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::int16_macs, 50.6},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::int16_exposed, 0.64},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::int16_in, 0.37},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::int16_out, 0.26},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::int16_call, 42},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::transform_call, 6.9},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::depthwise, 0.36},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::depthwise_line, 25},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::grouped_macs, 110},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::grouped_store, 0.66},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::grouped_partial, 18.4},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::l2_bytes, 44},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::l3_bytes, 5.6},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvx512Vnni, &TierCosts::memory_bytes, 2.4},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::macs, 46},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::tile, 73},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::tile_tap, 8},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::gather_row, 12.4},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::point, 1.1},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::copy, 26},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::copy_bytes, 8.4},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::int16_macs, 22.1},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::int16_exposed, 0.5},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::int16_in, 0.39},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::int16_out, 0.26},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::int16_call, 47},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::transform_call, 5.9},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::depthwise, 0.93},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::depthwise_line, 112},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::grouped_macs, 44},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::grouped_store, 0.7},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::grouped_partial, 26.5},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::l2_bytes, 56},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::l3_bytes, 5.4},
    {OCTET_DESIGN_GOLDEN_COVE, TierId::kAvxVnni, &TierCosts::memory_bytes, 2.4},
    // octet tune --calibrate on a Cascade Lake, the mean of three runs (AVX512BW: five), but the
    // depthwise costs of AVX2 and AVX512BW: of a layer of 1 to 64 channels, which no probe is like.
    // Sparse products keep their ratio to dense.
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::macs, 76},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::tile, 188},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::tile_tap, 67},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::gather_row, 17},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::point, 3.1},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::copy, 103},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::copy_bytes, 3.7},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::int16_macs, 42},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::int16_exposed, 0.97},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::int16_in, 0.93},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::int16_out, 0.14},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::int16_call, 38},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::transform_call, 16},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::depthwise, 0.71},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::depthwise_line, 44},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::grouped_macs, 82},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::grouped_store, 1.6},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::grouped_partial, 32},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::l2_bytes, 46},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::l3_bytes, 4.8},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::memory_bytes, 3.6},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::sparse_macs, 70},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Vnni, &TierCosts::sparse_macs_beside, 106},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::macs, 18.5},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::tile, 247},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::tile_tap, 58},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::gather, 2.3},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::gather_row, 5.6},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::point, 2.9},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::copy, 54},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::copy_bytes, 2.1},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::int16_macs, 24},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::int16_exposed, 0.64},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::int16_in, 1.2},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::int16_out, 0.18},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::int16_call, 69},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::transform_call, 14},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::depthwise, 2},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::depthwise_line, 200},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::grouped_macs, 12},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::grouped_store, 1.7},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::grouped_partial, 45},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::l2_bytes, 33},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::l3_bytes, 2.2},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx512Bw, &TierCosts::memory_bytes, 1.7},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::macs, 13},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::tile, 120},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::tile_tap, 50},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::gather, 3.4},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::gather_row, 8.8},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::point, 4.2},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::copy, 105},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::copy_bytes, 4.9},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::int16_macs, 14},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::int16_exposed, 0.71},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::int16_in, 0.94},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::int16_out, 0.27},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::int16_call, 122},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::transform_call, 8},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::depthwise, 2.6},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::depthwise_line, 200},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::grouped_macs, 12},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::grouped_store, 1.6},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::grouped_partial, 44},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::l2_bytes, 23},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::l3_bytes, 4.5},
    {OCTET_DESIGN_SKY_LAKE, TierId::kAvx2, &TierCosts::memory_bytes, 2.5},
    // In-order cores: costs from published issue rules, applied to the kernels' loops.
    {OCTET_DESIGN_CORTEX_A53, TierId::kNeon, &TierCosts::macs, 4},
    {OCTET_DESIGN_CORTEX_A53, TierId::kNeon, &TierCosts::int16_macs, 2.9},
    {OCTET_DESIGN_CORTEX_A55, TierId::kNeon, &TierCosts::macs, 4},
    {OCTET_DESIGN_CORTEX_A55, TierId::kNeon, &TierCosts::int16_macs, 2.9},
    {OCTET_DESIGN_CORTEX_A55, TierId::kDotprod, &TierCosts::macs, 14},
    {OCTET_DESIGN_CORTEX_A55, TierId::kDotprod, &TierCosts::int16_macs, 2.9},
    // Four SDOT or SMMLA and two SMLAL per cycle: llvm-mca's estimates of the kernels' loops.
    {OCTET_DESIGN_NEOVERSE_V1, TierId::kDotprod, &TierCosts::macs, 60},
    {OCTET_DESIGN_NEOVERSE_V1, TierId::kDotprod, &TierCosts::int16_macs, 8},
    {OCTET_DESIGN_NEOVERSE_V1, TierId::kI8mm, &TierCosts::macs, 120},
    {OCTET_DESIGN_NEOVERSE_V1, TierId::kI8mm, &TierCosts::int16_macs, 8},
};

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
  for (const OtherCost& other : kOtherCosts)
    if (known && other.design == known->like && other.tier_id == tier.tier_id)
      costs.*other.cost = other.value;
  return costs;
}

bool has_measured_costs(const Tier& tier, octet_cpu_design design) {
  const CpuDesign* const known = find_design((int)design);
  return known && has(known->measured, tier);
}

}  // namespace octet
