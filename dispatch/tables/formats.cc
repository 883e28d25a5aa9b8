// The weight formats, a row each.
#include "dispatch/tables/formats.h"

#include "dispatch/tables/parts.h"
#include "kernels/arm/kernels.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"
#include "packing/sparse.h"

namespace octet {
namespace {

constexpr KernelKind kBytes = KernelKind::kBytes, kWords = KernelKind::kWords,
                     kDepthwise = KernelKind::kDepthwise, kGrouped = KernelKind::kGrouped;

// Without sparse kernels such a form is known, so that its blobs are, but nothing is packed so.
constexpr Packing kNoSparse = {panel_bytes, nullptr};
constexpr const Packing& kSparse = OCTET_IF_SPARSE(kSparsePacking, kNoSparse);

// The layouts are constants beside the kernels that read them, and say there why they are so.
// clang-format off
constexpr Form kForms[] = {
    // SSE4.1, AVX2, AVX-VNNI, AVX512-VNNI
    {FormId::kS8_16x4, "s8_16x4", kX86Layout, kBytes, &kDensePacking},
    // AVX2, where pairs of neighbours along K fit 16 bits
    {FormId::kS8_16x4_paired, "s8_16x4_paired", kX86PairedLayout, kBytes, &kDensePacking},
    // I8MM, which reads u8 weights as they are
    {FormId::kS8_8x8, "s8_8x8", kI8mmLayout, kBytes, &kDensePacking},
    {FormId::kU8_8x8, "u8_8x8", kI8mmU8Layout, kBytes, &kDensePacking},
    // DOTPROD: the last panel may be half as wide
    {FormId::kS8_16x4_step8, "s8_16x4_step8", kDotprodLayout, kBytes, &kDensePacking},
    // NEON
    {FormId::kS8_4x16, "s8_4x16", kNeonLayout, kBytes, &kDensePacking},
    // SCALAR, and a kernel of its that no power of two divides
    {FormId::kS8_4x4, "s8_4x4", kScalarLayout, kBytes, &kDensePacking},
    {FormId::kS8_5x2, "s8_5x2", kScalarTestLayout, kBytes, &kDensePacking, true},
    // All tiers: 2:4 sparse
    {FormId::kS8_16x16_2of4, "s8_16x16_2of4", kSparseLayout, kBytes, &kSparse},
    // AVX-VNNI, AVX512-VNNI, few rows: the same in fewer bytes
    {FormId::kS8_16x32_2of4, "s8_16x32_2of4", kSparseTightLayout, kBytes, &kSparse},
    // Winograd: x86, Arm, SCALAR
    {FormId::kS16_16x2, "s16_16x2", kX86WordLayout, kWords},
    {FormId::kS16_8x1, "s16_8x1", kArmWordLayout, kWords},
    {FormId::kS16_4x2, "s16_4x2", kScalarWordLayout, kWords},
    // All tiers. Within a group, channels have the order of interleaved pixels
    {FormId::kS8_64x4_depthwise, "s8_64x4_depthwise", kDepthwiseLayout, kDepthwise},
    {FormId::kS16_64x4_depthwise, "s16_64x4_depthwise", kDepthwiseWordLayout, kDepthwise},
    // Likewise. Groups of channels are together in one quarter of a vector
    {FormId::kS8_64x4_grouped, "s8_64x4_grouped", kGroupedLayout, kGrouped},
};
// clang-format on
constexpr size_t kCount = sizeof kForms / sizeof kForms[0];

}  // namespace

const Form* nth_form(size_t index) { return index < kCount ? &kForms[index] : nullptr; }

const Form* find_form(uint16_t id) {
  for (const Form& form : kForms)
    if ((uint16_t)form.id == id) return &form;
  return nullptr;
}

const Form* find_form_of(const RhsLayout& layout) {
  for (const Form& form : kForms)
    if (form.layout == layout) return &form;
  return nullptr;
}

const Form& form_of(FormId id) { return *find_form((uint16_t)id); }

}  // namespace octet
