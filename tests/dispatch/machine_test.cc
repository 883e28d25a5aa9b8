// Checks the library's knowledge of the machine: from files, from callers, and its effect on the
// plan. It never changes a byte of output.
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "dispatch/cpu/files.h"
#include "dispatch/select/machine.h"
#include "dispatch/tables/designs.h"
#include "octet/tune.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

octet_machine machine(size_t l2, size_t l3, int in_order = 0) {
  octet_machine m = OCTET_MACHINE_INIT;
  m.l2_bytes = l2, m.l3_bytes = l3, m.in_order = in_order;
  return m;
}

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
                             octet_machine m = machine(1 << 20, 32 << 20)) {
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
      EXPECT_EQ(planned(OCTET_ISA_AVX512VNNI, two_units, s), OCTET_CONV_DIRECT);
  // AVX2 multiplies int16 as fast as int8: Winograd on every design
  for (const octet_cpu_design any : {OCTET_DESIGN_ZEN3, OCTET_DESIGN_ZEN4, OCTET_DESIGN_SKY_LAKE})
    EXPECT_EQ(planned(OCTET_ISA_AVX2, any, resnet), OCTET_CONV_WINOGRAD_4X4);
  // SDOT and SMMLA do so many more products than SMLAL that a quarter of the products does not pay
  const octet_machine small = machine(512 << 10, 0, 1), big = machine(1 << 20, 32 << 20);
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
      {OCTET_ISA_AVX2, OCTET_DESIGN_ZEN3, kernel3(16, 16, 14), OCTET_CONV_WINOGRAD_4X4,
       OCTET_CONV_GROUPED},
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

// ---- callers' machines

struct Filter {
  explicit Filter(const octet_conv2d_shape& shape) {
    desc.shape = shape;
    desc.type = OCTET_S8;
  }
  octet_filter_desc desc = OCTET_FILTER_DESC_INIT;  // without data
};

struct Explained {
  std::vector<octet_conv2d_candidate> candidates;
  const octet_conv2d_candidate* chosen = nullptr;
};

Explained explain(const octet_filter_desc& filter, octet_isa isa) {
  Explained e;
  octet_conv2d_candidate c = OCTET_CONV2D_CANDIDATE_INIT;
  octet_error error = {};
  while (octet_conv2d_explain(&filter, isa, e.candidates.size(), &c, &error) == OCTET_OK)
    e.candidates.push_back(c);
  EXPECT_FALSE(e.candidates.empty()) << error.message;
  for (const octet_conv2d_candidate& candidate : e.candidates)
    if (candidate.chosen) e.chosen = &candidate;
  return e;
}

size_t pack_size(const octet_filter_desc& filter, octet_isa isa) {
  size_t bytes = 0;
  octet_error error = {};
  EXPECT_EQ(octet_conv2d_pack_size(&filter, isa, &bytes, &error), OCTET_OK) << error.message;
  return bytes;
}

TEST(GivenMachine, NonsenseIsRefused) {
  const auto expect_each_refuses = [](octet_status status, const std::string& field,
                                      const octet_machine& m) {
    Filter filter(square(8, 16, 16, 3, 1, 1));
    filter.desc.machine = &m;
    octet_gemm_desc product = OCTET_GEMM_DESC_INIT;
    product.m_max = product.n = product.k = 8;
    product.lhs_type = OCTET_U8, product.rhs_type = OCTET_S8, product.dst_type = OCTET_S32;
    product.machine = &m;
    size_t bytes;
    octet_gemm* gemm;
    octet_gemm_explanation explanation = OCTET_GEMM_EXPLANATION_INIT;
    expect_refused(status, ("filter.machine." + field).c_str(), [&](octet_error* e) {
      return octet_conv2d_pack_size(&filter.desc, OCTET_ISA_AUTO, &bytes, e);
    });
    expect_refused(status, ("desc.machine." + field).c_str(),
                   [&](octet_error* e) { return octet_gemm_create(&product, &gemm, e); });
    expect_refused(status, ("desc.machine." + field).c_str(), [&](octet_error* e) {
      return octet_gemm_explain(&product, 1, &explanation, e);
    });
    const int8_t weights[16 * 16 * 9] = {};
    filter.desc.data = weights;
    filter.desc.machine = nullptr;
    const size_t blob_bytes = pack_size(filter.desc, OCTET_ISA_AUTO);
    const Guarded blob(blob_bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_conv2d_pack(&filter.desc, OCTET_ISA_AUTO, blob.data(), blob_bytes, nullptr),
              OCTET_OK);
    octet_conv2d_desc layer = OCTET_CONV2D_DESC_INIT;
    layer.shape = filter.desc.shape;
    layer.lhs_type = OCTET_U8, layer.rhs_type = OCTET_S8, layer.dst_type = OCTET_S32;
    layer.packed = blob.data(), layer.packed_bytes = blob_bytes;
    layer.machine = &m;
    octet_conv2d* conv;
    expect_refused(status, ("desc.machine." + field).c_str(),
                   [&](octet_error* e) { return octet_conv2d_create(&layer, &conv, e); });
  };
  const size_t too_large = (size_t{1} << 31) + 1;
  for (const size_t l2 : {size_t{0}, size_t{1}, size_t{4095}, too_large, SIZE_MAX})
    expect_each_refuses(OCTET_BAD_SIZE, "l2_bytes", machine(l2, 0));
  for (const size_t l3 : {size_t{1}, size_t{4095}, too_large, SIZE_MAX})
    expect_each_refuses(OCTET_BAD_SIZE, "l3_bytes", machine(1 << 18, l3));
  for (const int in_order : {-1, 2})
    expect_each_refuses(OCTET_UNKNOWN_ENUM, "in_order", machine(1 << 18, 0, in_order));
  octet_machine m = machine(1 << 18, 0);
  for (const int design : {-1, OCTET_DESIGN_NEOVERSE_V2 + 1}) {
    m.design = (octet_cpu_design)design;
    expect_each_refuses(OCTET_UNKNOWN_ENUM, "design", m);
  }
  // A message names wrong fields before missing ones.
  m = machine(0, 0);
  m.design = (octet_cpu_design)99;
  expect_each_refuses(OCTET_UNKNOWN_ENUM, "design", m);
  expect_each_refuses(OCTET_UNKNOWN_ENUM, "in_order", machine(0, 0, 7));
  // A machine with a tuning has all sizes or none.
  octet_tuning* tuning = nullptr;
  if (octet_tuning_create(&tuning, nullptr) == OCTET_OK) {
    for (octet_machine part : {machine(0, 0, 1), machine(0, 1 << 20)}) {
      part.tuning = tuning;
      expect_each_refuses(OCTET_BAD_SIZE, "l2_bytes is 0", part);
      part.tuning = nullptr;
    }
    octet_tuning_destroy(tuning);
  }
  m = machine(1 << 18, 0);
  m.struct_size = 0;
  expect_each_refuses(OCTET_BAD_STRUCT_SIZE, "struct_size", m);
}

const octet_machine kMachines[] = {machine(4096, 0), machine(128 << 10, 0, 1),
                                   machine(512 << 10, 4 << 20, 1),
                                   machine(size_t{1} << 31, size_t{1} << 31)};

// The test does not depend on this machine: weights are packed for any tier.
TEST(GivenMachine, DecidesBetweenAlgorithms) {
  for (const octet_isa isa : {OCTET_ISA_AVX2, OCTET_ISA_NEON}) {
    std::set<octet_conv_algorithm> chosen;
    for (const octet_machine& m : kMachines) {
      Filter filter(square(7, 512, 512, 3, 1, 1));
      filter.desc.machine = &m;
      chosen.insert(explain(filter.desc, isa).chosen->algorithm);
    }
    EXPECT_GT(chosen.size(), 1u) << octet_isa_name(isa);
  }
}

TEST(GivenMachine, SmallerOnesAreSlower) {
  const octet_machine small = machine(64 << 10, 0), in_order = machine(64 << 10, 0, 1),
                      large = machine(64 << 20, 0);
  for (const octet_isa isa : tiers_to_test()) {
    Filter filter(square(28, 256, 256, 3, 1, 1));
    const auto microseconds = [&](const octet_machine& m) {
      filter.desc.machine = &m;
      return explain(filter.desc, isa).candidates[0].microseconds;
    };
    EXPECT_LT(microseconds(large), microseconds(small));
    EXPECT_LT(microseconds(small), microseconds(in_order));
  }
}

TEST(GivenMachine, CutsTheBlocksOfAProduct) {
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = 100000, desc.n = 64, desc.k = 1024;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  const auto rows = [&](size_t l2) {
    const octet_machine m = machine(l2, 0);
    desc.machine = &m;
    octet_gemm_explanation e = OCTET_GEMM_EXPLANATION_INIT;
    EXPECT_EQ(octet_gemm_explain(&desc, 1, &e, nullptr), OCTET_OK);
    return e.block_rows;
  };
  EXPECT_LT(rows(64 << 10), rows(1 << 20));
}

TEST(GivenMachine, CutsTheBandsOfAConvolution) {
  const ConvProblem problem(turned(square(8, 16, 16, 3, 1, 1), 0));
  for (const octet_machine& m : kMachines) {
    ConvHow how;
    how.machine = &m;
    const Conv conv(problem, how);
    ASSERT_EQ(conv.status(), OCTET_OK);
    EXPECT_EQ(octet::choice_of(*conv.get()).cache_bytes, m.l2_bytes);
  }
}

std::vector<octet_conv2d_shape> shapes() {
  octet_conv2d_shape transposed = square(9, 16, 24, 3, 2, 1);
  transposed.transposed = 1;
  return {square(9, 40, 24, 3, 1, 1),      square(12, 16, 48, 3, 2, 1), square(7, 64, 64, 1),
          square(10, 32, 32, 3, 1, 1, 32), square(9, 3, 20, 5, 2, 2),   transposed};
}

// The blob and the kernels may differ; the output bytes may not.
TEST(GivenMachine, NeverChangesAByte) {
  uint32_t turn = 0;
  std::set<std::string> choices;
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_isa isa : tiers_to_test()) {
      const ConvProblem problem(turned(shape, ++turn));
      for (const octet_machine& m : kMachines) {
        ConvHow how;
        how.isa = isa, how.machine = &m;
        SCOPED_TRACE(testing::Message() << problem.c << ", " << how);
        check(problem, how);
        octet_filter_desc filter = problem.filter_desc();
        filter.machine = &m;
        choices.insert(explain(filter, isa).chosen->choice);
      }
    }
  EXPECT_GT(choices.size(), shapes().size() * tiers_to_test().size());
}

// ---- a limit to the packed bytes

octet_machine known_machine() {
  octet_machine m = machine(512 << 10, 8 << 20);
  m.design = OCTET_DESIGN_ZEN3;
  return m;
}

TEST(PackedBytesMax, CandidatesTellTheirSize) {
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_isa isa : tiers_to_test()) {
      Filter filter(shape);
      for (const octet_conv2d_candidate& c : explain(filter.desc, isa).candidates) {
        EXPECT_EQ(c.packed_bytes != 0, c.possible != 0) << c.reason;
        filter.desc.algorithm = c.algorithm;
        if (c.possible) {
          EXPECT_EQ(c.packed_bytes, pack_size(filter.desc, isa));
        }
        filter.desc.algorithm = OCTET_CONV_AUTO;
      }
    }
}

TEST(PackedBytesMax, TheBestThatFitsIsTaken) {
  size_t ruled_out = 0;
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_isa isa : tiers_to_test()) {
      const octet_machine known = known_machine();  // else Winograd needs a clear lead
      Filter filter(shape);
      filter.desc.machine = &known;
      const Explained free = explain(filter.desc, isa);
      std::set<size_t> sizes;
      for (const octet_conv2d_candidate& c : free.candidates)
        if (c.possible) sizes.insert(c.packed_bytes);
      const ConvProblem problem(turned(shape, ++turn));
      for (const size_t bytes : sizes)
        for (const size_t limit : {bytes, bytes + 1, bytes * 2}) {
          filter.desc.packed_bytes_max = limit;
          const Explained within = explain(filter.desc, isa);
          EXPECT_LE(pack_size(filter.desc, isa), limit);
          EXPECT_EQ(pack_size(filter.desc, isa), within.chosen->packed_bytes);
          for (size_t i = 0; i < free.candidates.size(); ++i) {
            const octet_conv2d_candidate &was = free.candidates[i], &is = within.candidates[i];
            EXPECT_EQ(is.packed_bytes, was.packed_bytes);
            EXPECT_EQ(is.possible, was.possible && was.packed_bytes <= limit);
            if (is.possible) {
              EXPECT_LE(within.chosen->microseconds, is.microseconds);
            } else if (was.possible) {
              ++ruled_out;
              EXPECT_NE(std::string(is.reason).find(std::to_string(was.packed_bytes) + " bytes"),
                        std::string::npos)
                  << is.reason;
              EXPECT_NE(std::string(is.reason).find("filter.packed_bytes_max"), std::string::npos);
            }
          }
        }
      ConvHow how;
      how.isa = isa;
      for (const octet_conv2d_candidate& c : explain(problem.filter_desc(), isa).candidates) {
        if (!c.possible) continue;
        how.packed_bytes_max = c.packed_bytes;
        check(problem, how);
      }
    }
  EXPECT_GT(ruled_out, 0u);
}

TEST(PackedBytesMax, WhereNoneFitsTheLeastIsTold) {
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_isa isa : tiers_to_test()) {
      Filter filter(shape);
      size_t least = SIZE_MAX;
      for (const octet_conv2d_candidate& c : explain(filter.desc, isa).candidates)
        if (c.possible) least = std::min(least, c.packed_bytes);
      for (const size_t limit : {size_t{1}, least / 2, least - 1}) {
        filter.desc.packed_bytes_max = limit;
        size_t bytes;
        const std::string said = "to is " + std::to_string(least) + " bytes";
        expect_refused(OCTET_BAD_SIZE, said.c_str(), [&](octet_error* e) {
          return octet_conv2d_pack_size(&filter.desc, isa, &bytes, e);
        });
        octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
        expect_refused(OCTET_BAD_SIZE, "filter.packed_bytes_max", [&](octet_error* e) {
          return octet_conv2d_explain(&filter.desc, isa, 0, &candidate, e);
        });
      }
      filter.desc.packed_bytes_max = least;
      EXPECT_EQ(pack_size(filter.desc, isa), least);
    }
}

TEST(PackedBytesMax, AForcedAlgorithmObeysIt) {
  for (const octet_isa isa : tiers_to_test()) {
    Filter filter(square(14, 64, 64, 3, 1, 1));
    filter.desc.algorithm = OCTET_CONV_WINOGRAD_4X4;
    size_t bytes = pack_size(filter.desc, isa);
    filter.desc.packed_bytes_max = bytes;
    EXPECT_EQ(pack_size(filter.desc, isa), bytes);
    filter.desc.packed_bytes_max = bytes - 1;
    expect_refused(OCTET_UNSUPPORTED, "filter.packed_bytes_max", [&](octet_error* e) {
      return octet_conv2d_pack_size(&filter.desc, isa, &bytes, e);
    });
  }
}

}  // namespace
}  // namespace octet_test
