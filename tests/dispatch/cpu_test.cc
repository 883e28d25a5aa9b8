// SPDX-License-Identifier: Apache-2.0
// Checks what the library knows of a CPU, from files and from its registers, and the plan for it.
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "dispatch/cpu/files.h"
#include "dispatch/select/machine.h"
#include "dispatch/tables/designs.h"
#include "support/conv_case.h"

namespace octet_test {
namespace {

// ---- files

// A folder such as /sys/devices/system/cpu.
class Tree {
 public:
  Tree() { EXPECT_NE(mkdtemp(&root_[0]), nullptr); }
  ~Tree() { EXPECT_EQ(std::system(("rm -rf " + root_).c_str()), 0); }
  Tree& add(const std::string& path, const std::string& text) {
    for (size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1))
      mkdir((root_ + '/' + path.substr(0, at)).c_str(), 0700);
    std::ofstream(root_ + '/' + path) << text;
    return *this;
  }
  Tree& cache(int cpu, int index, const char* level, const char* type, const char* size) {
    const std::string folder =
        "cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + '/';
    return add(folder + "level", level).add(folder + "type", type).add(folder + "size", size);
  }
  Tree& midr(int cpu, const char* value) {
    return add("cpu" + std::to_string(cpu) + "/regs/identification/midr_el1", value);
  }
  octet::CpuFiles read(uint32_t cpus) const {
    return octet::read_cpu_files(root_.c_str(), cpus, (root_ + "/cpuinfo").c_str());
  }

 private:
  std::string root_ = testing::TempDir() + "/octet_cpu_XXXXXX";
};

void expect_caches(const octet::Caches& c, size_t l1d, size_t l2, size_t l3) {
  EXPECT_EQ(c.l1d_bytes, l1d);
  EXPECT_EQ(c.l2_bytes, l2);
  EXPECT_EQ(c.l3_bytes, l3);
}

void expect_cores(const octet::Cores& c, uint32_t known, uint32_t in_order) {
  EXPECT_EQ(c.known, known);
  EXPECT_EQ(c.in_order, in_order);
}

constexpr const char *kA53 = "0x00000000410fd034\n", *kA55 = "0x00000000412fd050\n",
                     *kA76 = "0x00000000414fd0b1\n", *kKryoSilver = "0x0000000051df805e\n";

TEST(CpuFiles, FourSmallCores) {
  Tree tree;
  for (int cpu = 0; cpu < 4; ++cpu)
    tree.midr(cpu, kA53)
        .cache(cpu, 0, "1\n", "Data\n", "32K\n")
        .cache(cpu, 1, "1\n", "Instruction\n", "48K\n")
        .cache(cpu, 2, "2\n", "Unified\n", "512K\n");
  expect_caches(tree.read(4).caches, 32 << 10, 512 << 10, 0);
  expect_cores(tree.read(4).cores, 4, 4);
  EXPECT_EQ(tree.read(4).identification, 0x410fd034u);
}

TEST(CpuFiles, BigCoresCountWhereThereAreSome) {
  Tree tree;
  for (int cpu = 0; cpu < 6; ++cpu)
    tree.midr(cpu, cpu < 4 ? kA55 : kA76)
        .cache(cpu, 0, "1", "Data", cpu < 4 ? "32K" : "64K")
        .cache(cpu, 1, "1", "Instruction", "64K")
        .cache(cpu, 2, "2", "Unified", cpu < 4 ? "128K" : "512K")
        .cache(cpu, 3, "3", "Unified", "3072K");
  expect_caches(tree.read(6).caches, 64 << 10, 512 << 10, 3072 << 10);
  expect_cores(tree.read(6).cores, 6, 4);
  expect_cores(tree.read(3).cores, 3, 3);  // reads no more CPUs than asked for
  EXPECT_EQ(tree.read(6).identification, 0x414fd0b1u);
  EXPECT_EQ(tree.read(3).identification, 0x412fd050u);
}

TEST(CpuFiles, TheFirstBigCoreCounts) {
  Tree tree;
  tree.midr(0, kA76).cache(0, 0, "2", "Unified", "1M").midr(1, kA76);
  tree.midr(2, kKryoSilver).cache(1, 0, "2", "Unified", "2M");
  expect_caches(tree.read(3).caches, 0, 1 << 20, 0);
  expect_cores(tree.read(3).cores, 3, 1);
}

TEST(CpuFiles, WhatIsMissingIsUnknown) {
  Tree tree;
  expect_caches(tree.read(8).caches, 0, 0, 0);
  expect_cores(tree.read(8).cores, 0, 0);
  // Offline CPUs have no registers; old kernels list a cache without its size.
  tree.midr(3, kA53).add("cpu0/cache/index0/level", "1").add("cpu0/cache/index0/type", "Data");
  tree.cache(0, 1, "2", "Unified", "256K");
  expect_caches(tree.read(8).caches, 0, 256 << 10, 0);
  expect_cores(tree.read(8).cores, 1, 1);
  EXPECT_EQ(tree.read(8).identification, 0x410fd034u);
  EXPECT_EQ(tree.read(3).identification, 0u);
}

TEST(CpuFiles, NonsenseIsUnknown) {
  const std::string long_line(5000, '9');
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("K"), std::string("-5K"), long_line}) {
    SCOPED_TRACE(text);
    Tree tree;
    tree.midr(0, text.c_str()).cache(0, 0, "2", "Unified", text.c_str());
    tree.cache(0, 1, text.c_str(), "Unified", "64K").cache(0, 2, "7", "Unified", "64K");
    expect_caches(tree.read(1).caches, 0, tree.read(1).caches.l2_bytes, 0);
    expect_cores(tree.read(1).cores, 0, 0);
  }
  Tree none;
  none.midr(0, "0x0000000000000000");
  expect_cores(none.read(1).cores, 0, 0);
  EXPECT_EQ(octet::read_cpu_files(long_line.c_str(), 1).cores.known, 0u);
}

// As a 32-bit kernel describes a CPU in /proc/cpuinfo.
std::string processor(const char* part) {
  return std::string("processor\t: 0\nmodel name\t: ARMv7 Processor rev 5 (v7l)\n") +
         "CPU implementer\t: 0x41\nCPU architecture: 7\nCPU variant\t: 0x2\nCPU part\t: " + part +
         "\nCPU revision\t: 5\n\n";
}

TEST(CpuFiles, CpuinfoNamesCoresWithoutRegisters) {
  const std::string a7 = processor("0xc07"), a15 = processor("0xc0f");
  Tree small;
  small.add("cpuinfo", a7 + a7 + a7 + a7 + "Hardware\t: BCM2835\nRevision\t: a01041\n");
  expect_cores(small.read(4).cores, 4, 4);
  EXPECT_EQ(small.read(4).identification, 0x412fc075u);
  Tree both;
  both.add("cpuinfo", a7 + a7 + a15).cache(2, 0, "2", "Unified", "2M");
  expect_cores(both.read(3).cores, 3, 2);
  expect_caches(both.read(3).caches, 0, 2 << 20, 0);
  EXPECT_EQ(both.read(3).identification, 0x412fc0f5u);
  // Registers say more
  both.midr(0, kA53);
  expect_cores(both.read(3).cores, 1, 1);
}

TEST(CpuFiles, CpuinfoOfOtherCpusOrCutOffIsUnknown) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += processor("0xc07");
  for (const std::string& text :
       {std::string(), std::string("processor\t: 0\nmodel name\t: another CPU\n"), many,
        std::string("CPU revision\t: 5\n"), processor("").substr(0, 100)}) {
    Tree tree;
    tree.add("cpuinfo", text);
    expect_cores(tree.read(2).cores, 0, 0);
  }
}

TEST(CpuInfo, TellsCores) {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  ASSERT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_OK);
  const octet::Cores cores = octet::this_microarchitecture().cores;
  EXPECT_EQ(info.known_cores, cores.known);
  EXPECT_EQ(info.in_order_cores, cores.in_order);
  EXPECT_LE(info.in_order_cores, info.known_cores);
}

// ---- designs

TEST(CpuDesign, IsWhatCpuidAndMidrSay) {
  using octet::x86_design;
  constexpr octet::Features kNone = 0, kVnni = octet::kHasAvx512Vnni,
                            kBoth = octet::kHasAvx512Vnni | octet::kHasAvxVnni;
  EXPECT_EQ(x86_design("AuthenticAMD", 25, 0x01, kNone), OCTET_DESIGN_ZEN3);
  EXPECT_EQ(x86_design("AuthenticAMD", 25, 0x11, kVnni), OCTET_DESIGN_ZEN4);
  EXPECT_EQ(x86_design("AuthenticAMD", 25, 0x21, kNone), OCTET_DESIGN_ZEN3);
  EXPECT_EQ(x86_design("AuthenticAMD", 25, 0x61, kVnni), OCTET_DESIGN_ZEN4);
  EXPECT_EQ(x86_design("AuthenticAMD", 25, 0xa0, kVnni), OCTET_DESIGN_ZEN4);
  EXPECT_EQ(x86_design("AuthenticAMD", 26, 0x02, kBoth), OCTET_DESIGN_ZEN5);
  EXPECT_EQ(x86_design("GenuineIntel", 6, 0x55, kVnni), OCTET_DESIGN_SKY_LAKE);
  EXPECT_EQ(x86_design("GenuineIntel", 6, 0x6a, kVnni), OCTET_DESIGN_SUNNY_COVE);
  EXPECT_EQ(x86_design("GenuineIntel", 6, 0x8c, kVnni), OCTET_DESIGN_SUNNY_COVE_CLIENT);
  EXPECT_EQ(x86_design("GenuineIntel", 6, 0x8f, kBoth), OCTET_DESIGN_GOLDEN_COVE);
  EXPECT_EQ(x86_design("GenuineIntel", 6, 0xcf, kBoth), OCTET_DESIGN_GOLDEN_COVE);
  EXPECT_EQ(x86_design("GenuineIntel", 6, 0x97, octet::kHasAvxVnni), OCTET_DESIGN_GOLDEN_COVE);
  for (const uint32_t raptor_lake : {0xb7, 0xba, 0xbf})
    EXPECT_EQ(x86_design("GenuineIntel", 6, raptor_lake, octet::kHasAvxVnni),
              OCTET_DESIGN_GOLDEN_COVE);
  EXPECT_EQ(x86_design("GenuineIntel", 6, 0xbe, octet::kHasAvxVnni),  // Gracemont cores only
            OCTET_DESIGN_UNKNOWN);
  EXPECT_EQ(x86_design("GenuineIntel", 6, 0x3c, kNone), OCTET_DESIGN_UNKNOWN);
  // The same family and model of another maker are another design
  EXPECT_EQ(x86_design("HygonGenuine", 25, 0x11, kVnni), OCTET_DESIGN_UNKNOWN);
  // Newer than the table: the nearest by features
  EXPECT_EQ(x86_design("AuthenticAMD", 27, 0x00, kBoth), OCTET_DESIGN_ZEN5);
  EXPECT_EQ(x86_design("AuthenticAMD", 27, 0x00, kVnni), OCTET_DESIGN_ZEN4);
  EXPECT_EQ(x86_design("GenuineIntel", 19, 0x01, kBoth), OCTET_DESIGN_GOLDEN_COVE);
  EXPECT_EQ(octet::arm_design(0x410fd034), OCTET_DESIGN_CORTEX_A53);
  EXPECT_EQ(octet::arm_design(0x412fd050), OCTET_DESIGN_CORTEX_A55);
  EXPECT_EQ(octet::arm_design(0x410fd083), OCTET_DESIGN_CORTEX_A72);
  EXPECT_EQ(octet::arm_design(0x413fd0c1), OCTET_DESIGN_NEOVERSE_N1);
  EXPECT_EQ(octet::arm_design(0x410fd493), OCTET_DESIGN_NEOVERSE_N2);
  EXPECT_EQ(octet::arm_design(0x411fd401), OCTET_DESIGN_NEOVERSE_V1);
  EXPECT_EQ(octet::arm_design(0x410fd4f1), OCTET_DESIGN_NEOVERSE_V2);
  EXPECT_EQ(octet::arm_design(0x610f0000), OCTET_DESIGN_UNKNOWN);
  EXPECT_EQ(octet::arm_design(0), OCTET_DESIGN_UNKNOWN);
}

TEST(CpuDesign, HasAPlaceInTheTableByItsValue) {
  for (size_t i = 0; const octet::CpuDesign* design = octet::nth_design(i); ++i) {
    EXPECT_EQ((size_t)design->design, i);
    EXPECT_STREQ(octet_cpu_design_name(design->design), design->name);
  }
  EXPECT_STREQ(octet_cpu_design_name((octet_cpu_design)99), "unknown");
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  ASSERT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_OK);
  EXPECT_EQ(info.design, octet::this_microarchitecture().design);
}

// The algorithm that the plan packs a layer for, on a machine of this design.
octet_conv_algorithm planned(octet_isa isa, octet_cpu_design design, const octet_conv2d_shape& s,
                             octet_machine m = machine_of(1 << 20, 32 << 20)) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = s, filter.type = OCTET_S8;
  m.design = design;
  filter.machine = &m;
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  octet_error error = {};
  for (size_t i = 0; octet_conv2d_explain(&filter, isa, i, &candidate, &error) == OCTET_OK; ++i)
    if (candidate.chosen) return candidate.algorithm;
  ADD_FAILURE() << error.message;
  return OCTET_CONV_AUTO;
}

octet_conv2d_shape kernel3(size_t in_channels, size_t out_channels, size_t size) {
  octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
  s.in_h_max = s.in_w_max = size, s.in_channels = in_channels, s.out_channels = out_channels;
  s.kernel_h = s.kernel_w = 3, s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
  return s;
}

// The fastest algorithm of these layers depends on the design.
TEST(CpuDesign, ChoosesTheAlgorithm) {
  const octet_conv2d_shape resnet = kernel3(256, 256, 14), densenet = kernel3(128, 32, 28),
                           inception = kernel3(448, 384, 8), yolo = kernel3(32, 32, 80);
  for (const octet_cpu_design d :
       {OCTET_DESIGN_ZEN4, OCTET_DESIGN_SUNNY_COVE_CLIENT, OCTET_DESIGN_SKY_LAKE})
    EXPECT_EQ(planned(OCTET_ISA_AVX512VNNI, d, d == OCTET_DESIGN_SKY_LAKE ? densenet : resnet),
              OCTET_CONV_WINOGRAD_4X4);
  for (const octet_cpu_design zen : {OCTET_DESIGN_ZEN4, OCTET_DESIGN_ZEN5})
    for (const octet_conv2d_shape& s :
         {densenet, yolo, zen == OCTET_DESIGN_ZEN4 ? inception : resnet})
      EXPECT_EQ(planned(OCTET_ISA_AVX512VNNI, zen, s), OCTET_CONV_WINOGRAD_4X4);
  for (const octet_cpu_design two_units :
       {OCTET_DESIGN_UNKNOWN, OCTET_DESIGN_SUNNY_COVE, OCTET_DESIGN_GOLDEN_COVE})
    for (const octet_conv2d_shape& s : {resnet, densenet, yolo})
      EXPECT_EQ(planned(OCTET_ISA_AVX512VNNI, two_units, s),
                two_units == OCTET_DESIGN_GOLDEN_COVE && s.in_channels == 128
                    ? OCTET_CONV_WINOGRAD_4X4
                    : OCTET_CONV_DIRECT);
  // AVX2 multiplies int16 as fast as int8: Winograd on every design
  for (const octet_cpu_design any : {OCTET_DESIGN_ZEN3, OCTET_DESIGN_ZEN4, OCTET_DESIGN_SKY_LAKE})
    EXPECT_EQ(planned(OCTET_ISA_AVX2, any, resnet), OCTET_CONV_WINOGRAD_4X4);
  // SDOT and SMMLA do so many more products than SMLAL that a quarter of the products does not pay
  const octet_machine small = machine_of(512 << 10, 0, 1), big = machine_of(1 << 20, 32 << 20);
  for (const octet_cpu_design arm : {OCTET_DESIGN_CORTEX_A55, OCTET_DESIGN_NEOVERSE_N1,
                                     OCTET_DESIGN_NEOVERSE_V1, OCTET_DESIGN_NEOVERSE_V2})
    EXPECT_EQ(planned(OCTET_ISA_DOTPROD, arm, resnet, arm == OCTET_DESIGN_CORTEX_A55 ? small : big),
              OCTET_CONV_DIRECT);
  for (const octet_cpu_design arm :
       {OCTET_DESIGN_NEOVERSE_N2, OCTET_DESIGN_NEOVERSE_V1, OCTET_DESIGN_NEOVERSE_V2})
    EXPECT_EQ(planned(OCTET_ISA_I8MM, arm, resnet), OCTET_CONV_DIRECT);
  for (const octet_cpu_design arm :
       {OCTET_DESIGN_CORTEX_A53, OCTET_DESIGN_CORTEX_A55, OCTET_DESIGN_CORTEX_A72})
    EXPECT_EQ(planned(OCTET_ISA_NEON, arm, kernel3(64, 64, 56), small), OCTET_CONV_WINOGRAD_4X4);
}

// Winograd's lead is above 1.2, between 1 and 1.2, or below 1: on an unknown design a layer with a
// lead between takes the best other algorithm.
TEST(CpuDesign, UnknownOnesTakeWinogradByAClearLeadOnly) {
  const struct {
    octet_isa isa;
    octet_cpu_design design;  // its costs are those of an unknown one
    octet_conv2d_shape shape;
    octet_conv_algorithm known, unknown;
  } kLayers[] = {
      {OCTET_ISA_AVX2, OCTET_DESIGN_ZEN3, kernel3(64, 64, 28), OCTET_CONV_WINOGRAD_4X4,
       OCTET_CONV_WINOGRAD_4X4},
      {OCTET_ISA_AVX2, OCTET_DESIGN_ZEN3, kernel3(16, 16, 28), OCTET_CONV_WINOGRAD_4X4,
       OCTET_CONV_DIRECT},
      {OCTET_ISA_AVX2, OCTET_DESIGN_ZEN3, kernel3(4, 4, 8), OCTET_CONV_DIRECT, OCTET_CONV_DIRECT},
      {OCTET_ISA_NEON, OCTET_DESIGN_CORTEX_A72, kernel3(64, 64, 56), OCTET_CONV_WINOGRAD_4X4,
       OCTET_CONV_WINOGRAD_4X4},
      {OCTET_ISA_NEON, OCTET_DESIGN_CORTEX_A72, kernel3(32, 32, 7), OCTET_CONV_WINOGRAD_4X4,
       OCTET_CONV_DIRECT},
      {OCTET_ISA_NEON, OCTET_DESIGN_CORTEX_A72, kernel3(16, 16, 7), OCTET_CONV_DIRECT,
       OCTET_CONV_DIRECT},
      {OCTET_ISA_SCALAR, OCTET_DESIGN_ZEN3, kernel3(256, 256, 56), OCTET_CONV_WINOGRAD_4X4,
       OCTET_CONV_DIRECT},
      {OCTET_ISA_SCALAR, OCTET_DESIGN_ZEN3, kernel3(16, 16, 28), OCTET_CONV_DIRECT,
       OCTET_CONV_DIRECT},
  };
  for (const auto& l : kLayers) {
    EXPECT_EQ(planned(l.isa, l.design, l.shape), l.known)
        << octet_isa_name(l.isa) << ' ' << l.shape.in_channels << ' ' << l.shape.in_h_max;
    EXPECT_EQ(planned(l.isa, OCTET_DESIGN_UNKNOWN, l.shape), l.unknown)
        << octet_isa_name(l.isa) << ' ' << l.shape.in_channels << ' ' << l.shape.in_h_max;
  }
}

// One input channel has as many groups as channels, but many outputs of it are a product.
TEST(CpuDesign, KnowsWhatRepeatedChannelsCost) {
  octet_conv2d_shape speech = OCTET_CONV2D_SHAPE_INIT, twice = kernel3(32, 64, 56);
  speech.in_h_max = 1, speech.in_w_max = 16000, speech.in_channels = 1, speech.out_channels = 512;
  speech.kernel_h = 1, speech.kernel_w = 10, speech.stride_w = 5;
  twice.groups = 32;
  for (const octet_cpu_design any :
       {OCTET_DESIGN_UNKNOWN, OCTET_DESIGN_ZEN4, OCTET_DESIGN_ZEN5, OCTET_DESIGN_SKY_LAKE})
    for (const octet_isa isa : {OCTET_ISA_AVX512VNNI, OCTET_ISA_AVX512BW, OCTET_ISA_AVX2}) {
      for (const octet_conv2d_shape& s :
           {speech, kernel3(1, 64, 224), kernel3(1, 64, 64), kernel3(1, 512, 28)})
        EXPECT_EQ(planned(isa, any, s), OCTET_CONV_DIRECT);
      EXPECT_EQ(planned(isa, any, twice), OCTET_CONV_DEPTHWISE);
    }
}

}  // namespace
}  // namespace octet_test
