// SPDX-License-Identifier: Apache-2.0
// Detects instructions (CPUID, hwcaps), caches and core designs.
#include "dispatch/cpu/features.h"

#include <stdio.h>
#include <string.h>

#include "dispatch/cpu/environment.h"
#include "dispatch/cpu/permission.h"
#include "dispatch/os/os.h"
#include "dispatch/tables/designs.h"
#include "dispatch/tables/kernel_names.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(__aarch64__) && defined(_WIN32)
#include <windows.h>
#endif
#if defined(__linux__)
#include <unistd.h>
#endif
#if defined(OCTET_WITH_CPUINFO)
#include <cpuinfo.h>
#endif

namespace octet {
namespace {

[[maybe_unused]] Features when(bool present, Feature feature) { return present ? feature : 0u; }

#if defined(__x86_64__)

struct Registers {
  uint32_t eax, ebx, ecx, edx;
  bool eax_bit(int i) const { return eax >> i & 1; }
  bool ebx_bit(int i) const { return ebx >> i & 1; }
  bool ecx_bit(int i) const { return ecx >> i & 1; }
  bool edx_bit(int i) const { return edx >> i & 1; }
};

Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r = {};
  if (leaf <= (uint32_t)__get_cpuid_max(leaf & 0x80000000u, nullptr))
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

// Family and model, composed as Intel and AMD document.
struct Identity {
  char vendor[13];
  uint32_t family, model, stepping;

  Identity() : vendor() {
    const Registers maker = cpuid(0, 0), leaf1 = cpuid(1, 0);
    const uint32_t letters[] = {maker.ebx, maker.edx, maker.ecx};
    memcpy(vendor, letters, sizeof letters);
    const uint32_t base = leaf1.eax >> 8 & 15;
    family = base + (base == 15 ? leaf1.eax >> 20 & 255 : 0);
    model = (leaf1.eax >> 4 & 15) | (leaf1.eax >> 16 & 15) << 4;
    stepping = leaf1.eax & 15;
  }
};

// The register state that the operating system saves. Instructions that use other registers trap.
uint64_t xgetbv() {
  uint32_t eax, edx;
  __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return (uint64_t)edx << 32 | eax;
}

// Deterministic cache parameters. Intel's leaf 4 and AMD's leaf 0x8000001D have the same layout.
Caches detect_caches() {
  Caches caches = {};
  const uint32_t leaf = cpuid(4, 0).eax & 31 ? 4 : 0x8000001D;
  for (uint32_t i = 0; i < 8; ++i) {
    const Registers r = cpuid(leaf, i);
    const uint32_t type = r.eax & 31, level = r.eax >> 5 & 7;
    if (type == 0) break;
    const size_t bytes = (size_t)((r.ebx >> 22) + 1) * ((r.ebx >> 12 & 0x3ff) + 1) *
                         ((r.ebx & 0xfff) + 1) * ((size_t)r.ecx + 1);
    if (level == 1 && type == 1) caches.l1d_bytes = bytes;
    if (level == 2) caches.l2_bytes = bytes;
    if (level == 3) caches.l3_bytes = bytes;
  }
  return caches;
}

void identify(char (*name)[kCpuNameBytes]) {
  const Identity id;
  snprintf(*name, sizeof *name, "%s-%u-%u-%u", id.vendor, id.family, id.model, id.stepping);
}

Features detect_instructions() {
  const Registers leaf1 = cpuid(1, 0), leaf7 = cpuid(7, 0), leaf7_1 = cpuid(7, 1);
  const Features sse41 = when(leaf1.ecx_bit(19), kHasSse41);
  if (!leaf1.ecx_bit(27)) return sse41;  // OSXSAVE
  const uint64_t state = xgetbv();
  const bool ymm = (state & 0x6) == 0x6, zmm = (state & 0xe6) == 0xe6;
  const bool avx2 = ymm && leaf1.ecx_bit(28) && leaf7.ebx_bit(5) && leaf1.ecx_bit(29);  // F16C
  // F, DQ, BW, VL
  const bool avx512 =
      zmm && leaf7.ebx_bit(16) && leaf7.ebx_bit(17) && leaf7.ebx_bit(30) && leaf7.ebx_bit(31);
  // TILE and INT8; the state of tiles: their configuration and their data
  const bool amx_int8 = avx512 && leaf7.edx_bit(24) && leaf7.edx_bit(25) && (state >> 17 & 3) == 3;
  return sse41 | when(avx2, kHasAvx2) | when(avx2 && leaf7_1.eax_bit(4), kHasAvxVnni) |
         when(avx2 && leaf7_1.edx_bit(4), kHasAvxVnniInt8) | when(avx512, kHasAvx512) |
         when(avx512 && leaf7.ecx_bit(11), kHasAvx512Vnni) |
         when(avx512 && leaf7.ecx_bit(1), kHasAvx512Vbmi) | when(amx_int8, kHasAmxInt8);
}

Features detect(CpuFeatures* cpu) {
  const Identity id;
  cpu->wide_shuffles = strcmp(id.vendor, "AuthenticAMD") == 0;
  return detect_instructions();
}

Microarchitecture ask_system() {
  const Identity id;
  return {detect_caches(), {}, x86_design(id.vendor, id.family, id.model, detect_instructions())};
}

#elif (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)

// Bits from arch/arm64/include/uapi/asm/hwcap.h and arch/arm/..., and PR_SVE_GET_VL; old C
// libraries lack the newer names.
#if defined(__aarch64__)
constexpr int kSveGetLength = 51;
constexpr unsigned long kHwcapAsimddp = 1ul << 20;
constexpr unsigned long kHwcap2SveI8mm = 1ul << 9, kHwcap2I8mm = 1ul << 13, kHwcap2Sme = 1ul << 23;

// The bytes of an SVE register on this thread, which threads that it starts inherit; 0 if the
// system does not tell.
size_t sve_bytes() {
  const int length = prctl(kSveGetLength, 0, 0, 0, 0);
  return length > 0 ? (size_t)length & 0xffff : 0;
}

Features detect(CpuFeatures*) {
  const unsigned long hwcap2 = getauxval(AT_HWCAP2);
  return kHasNeon | when(getauxval(AT_HWCAP) & kHwcapAsimddp, kHasDotprod) |
         when(hwcap2 & kHwcap2I8mm, kHasI8mm) | when(hwcap2 & kHwcap2Sme, kHasSme) |
         when(hwcap2 & kHwcap2SveI8mm && sve_bytes() == 32, kHasSve256I8mm);
}
#else
constexpr unsigned long kHwcapNeon = 1ul << 12;

Features detect(CpuFeatures*) { return when(getauxval(AT_HWCAP) & kHwcapNeon, kHasNeon); }
#endif

#elif defined(__aarch64__) && defined(__APPLE__)

size_t sysctl_value(const char* name) {
  int64_t value = 0;
  size_t bytes = sizeof value;
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 && value > 0 ? (size_t)value : 0;
}

void identify(char (*name)[kCpuNameBytes]) {
  snprintf(*name, sizeof *name, "apple-%llx", (unsigned long long)sysctl_value("hw.cpufamily"));
}

Microarchitecture ask_system() {
  return {
      {sysctl_value("hw.perflevel0.l1dcachesize"), sysctl_value("hw.perflevel0.l2cachesize"), 0},
      {}};
}

Features detect(CpuFeatures*) {
  return kHasNeon | when(sysctl_value("hw.optional.arm.FEAT_DotProd"), kHasDotprod) |
         when(sysctl_value("hw.optional.arm.FEAT_I8MM"), kHasI8mm) |
         when(sysctl_value("hw.optional.arm.FEAT_SME"), kHasSme);
}

#elif defined(__aarch64__) && defined(_WIN32)

// Numbers of winnt.h; old headers lack the newer names.
constexpr DWORD kDotprodPresent = 43, kI8mmPresent = 66;

Features detect(CpuFeatures*) {
  return kHasNeon | when(IsProcessorFeaturePresent(kDotprodPresent), kHasDotprod) |
         when(IsProcessorFeaturePresent(kI8mmPresent), kHasI8mm);
}

#else

// Without a way to ask the system, the features that the compiler may assume are used: on aarch64
// at least NEON.
Features detect(CpuFeatures*) {
  Features features = 0;
#if defined(__ARM_NEON)
  features |= kHasNeon;
#endif
#if defined(__ARM_FEATURE_DOTPROD)
  features |= kHasDotprod;
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8)
  features |= kHasI8mm;
#endif
  return features;
}

#endif

#if defined(OCTET_WITH_CPUINFO)

// cpuinfo knows core designs and their usual caches. It is asked last, because the system's own
// answer is better, and only for these: its feature flags can be wrong.
void ask_cpuinfo(Microarchitecture* found) {
  if (found->caches.l2_bytes && found->cores.known) return;
  if (!cpuinfo_initialize()) return;
  // cpuinfo sorts processors, the big cores first.
  const auto size = [](const struct cpuinfo_cache* cache) {
    return cache ? (size_t)cache->size : 0;
  };
  const Caches caches = {size(cpuinfo_get_l1d_cache(0)), size(cpuinfo_get_l2_cache(0)),
                         size(cpuinfo_get_l3_cache(0))};
  Cores cores = {};
  for (uint32_t i = 0; i < cpuinfo_get_cores_count(); ++i) switch (cpuinfo_get_core(i)->uarch) {
      case cpuinfo_uarch_unknown: break;
      case cpuinfo_uarch_cortex_a35:
      case cpuinfo_uarch_cortex_a53:
      case cpuinfo_uarch_cortex_a55r0:
      case cpuinfo_uarch_cortex_a55:
      case cpuinfo_uarch_brahma_b53: ++cores.in_order; [[fallthrough]];
      default: ++cores.known;
    }
  if (!found->caches.l2_bytes) found->caches = caches;
  if (!found->cores.known) found->cores = cores;
}

#endif

#if defined(__linux__) && !defined(__x86_64__) && OCTET_WITH_CPU_FILES

CpuFiles read_files() {
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
#if defined(__arm__)
  const char* const cpuinfo = "/proc/cpuinfo";
#else
  const char* const cpuinfo = nullptr;
#endif
  return read_cpu_files("/sys/devices/system/cpu", cpus > 0 ? (uint32_t)cpus : 0, cpuinfo);
}

// All cache sizes come from one source: an L3 size of 0 there means that there is no L3. sysconf
// may read files, too.
Microarchitecture ask_system() {
  const CpuFiles files = read_files();
#if (defined(__aarch64__) || defined(__arm__)) && defined(_SC_LEVEL1_DCACHE_SIZE)
  const auto size = [](int name) {
    const long bytes = sysconf(name);
    return bytes > 0 ? (size_t)bytes : 0;
  };
  const Caches told = {size(_SC_LEVEL1_DCACHE_SIZE), size(_SC_LEVEL2_CACHE_SIZE),
                       size(_SC_LEVEL3_CACHE_SIZE)};
  if (told.l2_bytes) return {told, files.cores, arm_design(files.identification)};
#endif
  return {files.caches, files.cores, arm_design(files.identification)};
}

void identify(char (*name)[kCpuNameBytes]) {
  const uint32_t identification = read_files().identification;
  snprintf(*name, sizeof *name, identification ? "arm-%08x" : "unknown", (unsigned)identification);
}

#elif !defined(__x86_64__) && !(defined(__aarch64__) && defined(__APPLE__))

Microarchitecture ask_system() { return {}; }

void identify(char (*name)[kCpuNameBytes]) { snprintf(*name, sizeof *name, "unknown"); }

#endif

}  // namespace

void name_cpu(char (*name)[kCpuNameBytes]) {
  identify(name);
  // A name is one word of a line of text, so other characters become '_'.
  for (char* c = *name; *c; ++c)
    if (*c <= ' ' || *c > '~' || *c == '|') *c = '_';
}

CpuFeatures read_cpu() {
  CpuFeatures cpu = {};
  const Features found = detect(&cpu);
  cpu.features = permitted(found, compiled_tiers() & allowed_tiers(), os::request_tiles);
  cpu.tiers = tiers_of(cpu.features);
  return cpu;
}

Microarchitecture detect_microarchitecture() {
  Microarchitecture found = ask_system();
#if defined(OCTET_WITH_CPUINFO)
  ask_cpuinfo(&found);
#endif
  return found;
}

}  // namespace octet
