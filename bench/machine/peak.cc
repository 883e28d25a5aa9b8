// SPDX-License-Identifier: Apache-2.0
// Samples the peak of each tier by a loop of its dot-product instruction.
#include "bench/machine/peak.h"

#include <cctype>
#include <cstring>

namespace tool {
namespace {

// Each loop keeps as many independent accumulators as hide the latency of the instruction on every
// CPU so far: 24, or 12 pairs.
#define ACCUMULATORS_24 ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
#define ACCUMULATORS_12 ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"

#if defined(__x86_64__)

#define LOOP(accumulators, body) \
  asm volatile("1:\n" accumulators body ".endr\n dec %0\n jnz 1b\n" : "+r"(n)::"cc", CLOBBERS)
#define CLOBBERS_16                                                                        \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

#define CLOBBERS CLOBBERS_16, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23"
__attribute__((target("avx512f"))) void vpdpbusd_zmm(int64_t n) {
  LOOP(ACCUMULATORS_24, "vpdpbusd %%zmm30,%%zmm31,%%zmm\\r\n");
}
__attribute__((target("avx512bw"))) void vpmaddwd_zmm(int64_t n) {
  LOOP(ACCUMULATORS_24, "vpmaddwd %%zmm30,%%zmm31,%%zmm29\n vpaddd %%zmm29,%%zmm\\r,%%zmm\\r\n");
}
#undef CLOBBERS

#define CLOBBERS CLOBBERS_16
__attribute__((target("avx2"))) void vpdpbusd_ymm_vex(int64_t n) {
  LOOP(ACCUMULATORS_12, "%{vex%} vpdpbusd %%ymm14,%%ymm15,%%ymm\\r\n");
}
__attribute__((target("sse4.1"))) void pmaddwd_xmm(int64_t n) {
  LOOP(ACCUMULATORS_12,
       "movdqa %%xmm15,%%xmm13\n pmaddwd %%xmm14,%%xmm13\n paddd %%xmm13,%%xmm\\r\n");
}
__attribute__((target("avx2"))) void vpmaddwd_ymm(int64_t n) {
  LOOP(ACCUMULATORS_12, "vpmaddwd %%ymm14,%%ymm15,%%ymm13\n vpaddd %%ymm13,%%ymm\\r,%%ymm\\r\n");
}
#undef CLOBBERS

#elif defined(__aarch64__)

// The instructions are encoded by hand, so that every assembler takes them for every target:
// instruction + destination register.
#define LOOP(code)                                                                                 \
  asm volatile("1:\n" ACCUMULATORS_24 ".inst " code " + \\r\n.endr\n subs %0, %0, #1\n b.ne 1b\n"  \
               : "+r"(n)::"cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", \
                 "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",      \
                 "v22", "v23")

void smmla(int64_t n) { LOOP("0x4e9fa7c0"); }  // smmla v\r.4s, v30.16b, v31.16b
void sdot(int64_t n) { LOOP("0x4e9f97c0"); }   // sdot v\r.4s, v30.16b, v31.16b

#endif

#if defined(__x86_64__)
#define ON_X86_64(function) function
#else
#define ON_X86_64(function) nullptr
#endif
#if defined(__aarch64__)
#define ON_AARCH64(function) function
#else
#define ON_AARCH64(function) nullptr
#endif

// One row for every tier, of all architectures, so that a test finds a missing one. A tier whose
// kernels have no single multiply instruction, or need a state of the CPU, has no loop.
struct Row {
  const char* tier;
  PeakLoop loop;
};
constexpr Row kRows[] = {
    {"AMXINT8", {}},  // tiles would have to be configured first
    {"SME", {}},      // streaming mode would have to be entered first
    {"AVX512VNNI", {"vpdpbusd zmm", 24 * 128, ON_X86_64(vpdpbusd_zmm)}},
    {"AVXVNNI", {"vpdpbusd ymm", 12 * 64, ON_X86_64(vpdpbusd_ymm_vex)}},
    {"AVX512BW", {"vpmaddwd + vpaddd zmm", 24 * 64, ON_X86_64(vpmaddwd_zmm)}},
    {"AVX2", {"vpmaddwd + vpaddd ymm", 12 * 32, ON_X86_64(vpmaddwd_ymm)}},
    {"SSE41", {"pmaddwd + paddd xmm", 12 * 16, ON_X86_64(pmaddwd_xmm)}},
    {"I8MM", {"smmla", 24 * 64, ON_AARCH64(smmla)}},
    {"DOTPROD", {"sdot", 24 * 32, ON_AARCH64(sdot)}},
    {"NEON", {}},
    {"SCALAR", {}},
};

// Whether the kernel's name begins with the tier's, in small letters, and "_".
bool is_of(const char* kernel, const char* tier) {
  for (; *tier; ++tier, ++kernel)
    if (*kernel != std::tolower((unsigned char)(*tier))) return false;
  return *kernel == '_';
}

}  // namespace

const PeakLoop* peak_loop(const char* kernel) {
  for (const Row& row : kRows)
    if (is_of(kernel, row.tier)) return row.loop.iterate ? &row.loop : nullptr;
  return nullptr;
}

bool has_peak_row(const char* tier) {
  for (const Row& row : kRows)
    if (std::strcmp(row.tier, tier) == 0) return true;
  return false;
}

double sample_peak(const PeakLoop& loop, ThreadPool* pool, const Clock& clock) {
  constexpr int64_t kIterations = 100000;
  const auto one = [](void* arg, size_t) { ((const PeakLoop*)arg)->iterate(kIterations); };
  const double seconds = clock.time([&] { pool->run(pool->threads(), one, (PeakLoop*)(&loop)); });
  return loop.ops_per_iteration * kIterations * (double)pool->threads() / seconds / 1e9;
}

}  // namespace tool
