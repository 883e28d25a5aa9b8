#include "dispatch/kernel_table.h"

#include "kernels/arm/kernels.h"
#include "kernels/ref/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

constexpr const MicroKernel* kTable[] = {
#if defined(OCTET_AVX512VNNI)
    &avx512vnni_u8s8_6x64x4, &avxvnni_evex_u8s8_6x16x4,
#endif
#if defined(OCTET_AVXVNNI)
    &avxvnni_u8s8_6x16x4,
#endif
#if defined(OCTET_AVX2)
    &avx2_s16s8_6x8x4,
#endif
#if defined(OCTET_I8MM)
    &i8mm_s8s8_1x16x8,       &i8mm_s8s8_12x64x8,        &i8mm_u8s8_1x16x8,
    &i8mm_u8s8_12x64x8,      &i8mm_u8u8_1x16x8,         &i8mm_u8u8_12x64x8,
#endif
#if defined(OCTET_DOTPROD)
    &dotprod_s8s8_6x16x4,
#endif
#if defined(OCTET_NEON)
    &neon_s8s8_4x64x16,      &neon_s8s8_least_4x64x16,
#endif
    &scalar_u8s8_4x4x4,      &scalar_u8s8_3x5x2,
};

// s16 x s16, for Winograd. A null ends each list, so that none is ever empty.
constexpr const MicroKernel* kWords[] = {
#if defined(OCTET_AVX512VNNI)
    &avx512vnni_s16s16_14x32x2, &avxvnni_evex_s16s16_6x16x2,
#endif
#if defined(OCTET_AVXVNNI)
    &avxvnni_s16s16_6x16x2,
#endif
#if defined(OCTET_AVX2)
    &avx2_s16s16_6x16x2,
#endif
#if defined(OCTET_NEON)
    &neon_s16s16_8x8x1,
#endif
    &scalar_s16s16_4x4x2,       nullptr,
};

constexpr const DepthwiseKernel* kDepthwise[] = {
#if defined(OCTET_AVX512VNNI)
    &avx512vnni_u8s8_dw64,   &avx512vnni_u8s8_dw32,
    &avxvnni_evex_u8s8_dw32,
#endif
#if defined(OCTET_AVXVNNI)
    &avxvnni_u8s8_dw32,
#endif
#if defined(OCTET_AVX2)
    &avx2_s16s8_dw32,
#endif
#if defined(OCTET_DOTPROD)
    &dotprod_s8s8_dw16,
#endif
#if defined(OCTET_NEON)
    &neon_s8s8_dw16,
#endif
    &scalar_u8s8_dw16,       nullptr,
};

template <typename Kernel, size_t count>
constexpr Table<Kernel> until_null(const Kernel* const (&rows)[count]) {
  return {rows, count - 1};
}

}  // namespace

KernelList all_kernels() { return {kTable, sizeof kTable / sizeof kTable[0]}; }
KernelList word_kernels() { return until_null(kWords); }
DepthwiseList depthwise_kernels() { return until_null(kDepthwise); }

const MicroKernel* find_kernel(const char* name) { return find(all_kernels(), name); }
bool kernel_exists(const char* name) {
  return find_kernel(name) || find(word_kernels(), name) || find(depthwise_kernels(), name);
}

bool supports(const CpuFeatures& cpu, const MicroKernel& kernel) {
  return cpu.isas & mask_of(kernel.isa);
}
bool supports(const CpuFeatures& cpu, const DepthwiseKernel& kernel) {
  return cpu.isas & mask_of(kernel.isa);
}

RhsLayout layout_of(Isa isa, bool rhs_u8) {
  switch (isa) {
    case Isa::kScalar: return scalar_u8s8_4x4x4.rhs_layout;
    case Isa::kAvx2:
    case Isa::kAvxVnni:
    case Isa::kAvx512Vnni: return kX86Layout;
    case Isa::kNeon: return kNeonLayout;
    case Isa::kDotprod: return kDotprodLayout;
    case Isa::kI8mm: return rhs_u8 ? kI8mmU8Layout : kI8mmLayout;
  }
  return scalar_u8s8_4x4x4.rhs_layout;
}

RhsLayout word_layout_of(Isa isa) {
  switch (isa) {
    case Isa::kAvx2:
    case Isa::kAvxVnni:
    case Isa::kAvx512Vnni: return kX86WordLayout;
    case Isa::kScalar: break;
    case Isa::kNeon:
    case Isa::kDotprod:
    case Isa::kI8mm: return kArmWordLayout;
  }
  return kScalarWordLayout;
}

RhsLayout depthwise_layout_of(Isa) { return kDepthwiseLayout; }

Isa smallest_isa(const RhsLayout& layout) {
  constexpr Isa kSmallest[] = {Isa::kAvx2, Isa::kNeon, Isa::kDotprod, Isa::kI8mm};
  for (const Isa isa : kSmallest)
    if (layout == layout_of(isa, layout.domain == Domain::kU8)) return isa;
  return Isa::kScalar;
}

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return "SCALAR";
    case Isa::kAvx2: return "AVX2";
    case Isa::kAvxVnni: return "AVXVNNI";
    case Isa::kAvx512Vnni: return "AVX512VNNI";
    case Isa::kNeon: return "NEON";
    case Isa::kDotprod: return "DOTPROD";
    case Isa::kI8mm: return "I8MM";
  }
  return "unknown";
}

}  // namespace octet
