#include "dispatch/cpu_features.h"

#include "dispatch/tables/tiers.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <unistd.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
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
  bool ebx_bit(int i) const { return ebx >> i & 1; }
  bool ecx_bit(int i) const { return ecx >> i & 1; }
};

Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r = {};
  if (leaf <= (uint32_t)__get_cpuid_max(leaf & 0x80000000u, nullptr))
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

// The register state that the operating system saves: without it the instructions trap.
uint64_t xgetbv() {
  uint32_t eax, edx;
  __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return (uint64_t)edx << 32 | eax;
}

// Deterministic cache parameters: Intel's leaf 4 and AMD's leaf 0x8000001D have the same form.
void detect_caches(CpuFeatures* cpu) {
  const uint32_t leaf = cpuid(4, 0).eax & 31 ? 4 : 0x8000001D;
  for (uint32_t i = 0; i < 8; ++i) {
    const Registers r = cpuid(leaf, i);
    const uint32_t type = r.eax & 31, level = r.eax >> 5 & 7;
    if (type == 0) break;
    const size_t bytes = (size_t)((r.ebx >> 22) + 1) * ((r.ebx >> 12 & 0x3ff) + 1) *
                         ((r.ebx & 0xfff) + 1) * ((size_t)r.ecx + 1);
    if (level == 1 && type == 1) cpu->l1d_bytes = bytes;
    if (level == 2) cpu->l2_bytes = bytes;
    if (level == 3) cpu->l3_bytes = bytes;
  }
}

Features detect(CpuFeatures* cpu) {
  detect_caches(cpu);
  const Registers leaf1 = cpuid(1, 0), leaf7 = cpuid(7, 0), leaf7_1 = cpuid(7, 1);
  if (!leaf1.ecx_bit(27)) return 0;  // OSXSAVE
  const uint64_t state = xgetbv();
  const bool ymm = (state & 0x6) == 0x6, zmm = (state & 0xe6) == 0xe6;
  const bool avx2 = ymm && leaf1.ecx_bit(28) && leaf7.ebx_bit(5);
  // F, DQ, BW, VL
  const bool avx512 =
      zmm && leaf7.ebx_bit(16) && leaf7.ebx_bit(17) && leaf7.ebx_bit(30) && leaf7.ebx_bit(31);
  return when(avx2, kHasAvx2) | when(avx2 && leaf7_1.eax >> 4 & 1, kHasAvxVnni) |
         when(avx512, kHasAvx512) | when(avx512 && leaf7.ecx_bit(11), kHasAvx512Vnni);
}

#elif defined(__aarch64__) && defined(__linux__)

// arch/arm64/include/uapi/asm/hwcap.h; spelled here because old C libraries lack the newer names.
constexpr unsigned long kHwcapAsimddp = 1ul << 20;
constexpr unsigned long kHwcap2I8mm = 1ul << 13;

Features detect([[maybe_unused]] CpuFeatures* cpu) {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const auto size = [](int name) {
    const long bytes = sysconf(name);
    return bytes > 0 ? (size_t)bytes : 0;
  };
  cpu->l1d_bytes = size(_SC_LEVEL1_DCACHE_SIZE);
  cpu->l2_bytes = size(_SC_LEVEL2_CACHE_SIZE);
  cpu->l3_bytes = size(_SC_LEVEL3_CACHE_SIZE);
#endif
  return kHasNeon | when(getauxval(AT_HWCAP) & kHwcapAsimddp, kHasDotprod) |
         when(getauxval(AT_HWCAP2) & kHwcap2I8mm, kHasI8mm);
}

#elif defined(__aarch64__) && defined(__APPLE__)

size_t sysctl_value(const char* name) {
  int64_t value = 0;
  size_t bytes = sizeof value;
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 && value > 0 ? (size_t)value : 0;
}

Features detect(CpuFeatures* cpu) {
  cpu->l1d_bytes = sysctl_value("hw.perflevel0.l1dcachesize");
  cpu->l2_bytes = sysctl_value("hw.perflevel0.l2cachesize");
  return kHasNeon | when(sysctl_value("hw.optional.arm.FEAT_DotProd"), kHasDotprod) |
         when(sysctl_value("hw.optional.arm.FEAT_I8MM"), kHasI8mm);
}

#else

Features detect(CpuFeatures*) { return 0; }

#endif

// cpuinfo knows caches where the C library does not (Arm). It is asked for nothing else: its
// feature flags can be wrong.
void refine_with_cpuinfo([[maybe_unused]] CpuFeatures* cpu) {
#if defined(OCTET_WITH_CPUINFO)
  if (!cpuinfo_initialize()) return;
  const auto keep = [](const struct cpuinfo_cache* cache, size_t* bytes) {
    if (cache && *bytes == 0) *bytes = cache->size;
  };
  keep(cpuinfo_get_l1d_cache(0), &cpu->l1d_bytes);
  keep(cpuinfo_get_l2_cache(0), &cpu->l2_bytes);
  keep(cpuinfo_get_l3_cache(0), &cpu->l3_bytes);
#endif
}

}  // namespace

CpuFeatures detect_cpu() {
  CpuFeatures cpu = {};
  cpu.isas = tiers_of(detect(&cpu));
  refine_with_cpuinfo(&cpu);
  return cpu;
}

}  // namespace octet
