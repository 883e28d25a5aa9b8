#include "kernels/gemm/blob.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Octet's packed weights are little-endian and read in place"
#endif

namespace octet {
namespace {

constexpr uint8_t kDense = 1;
constexpr size_t kHeaderChecked = sizeof(BlobHeader) - sizeof(uint64_t);

// a * b + c, or false if it leaves size_t.
bool multiply_add(size_t a, size_t b, size_t c, size_t* out) {
  return !__builtin_mul_overflow(a, b, out) && !__builtin_add_overflow(*out, c, out);
}

const int32_t* ints(const void* blob, uint64_t offset) {
  return (const int32_t*)((const uint8_t*)blob + offset);
}

}  // namespace

BlobKind blob_kind(const void* blob, size_t bytes) {
  if (bytes < sizeof kGemmMagic) return BlobKind::kNone;
  return memcmp(blob, kGemmMagic, sizeof kGemmMagic) == 0   ? BlobKind::kGemm
         : memcmp(blob, kConvMagic, sizeof kConvMagic) == 0 ? BlobKind::kConv
                                                            : BlobKind::kNone;
}

const char* describe(BlobProblem problem) {
  switch (problem) {
    case BlobProblem::kNone: return "no problem";
    case BlobProblem::kTruncated: return "is shorter than its header says";
    case BlobProblem::kMagic: return "does not begin with the mark of packed weights";
    case BlobProblem::kVersion: return "has a format version that this library does not read";
    case BlobProblem::kHeader: return "has a damaged header (checksum mismatch)";
    case BlobProblem::kHeaderFields: return "has a header whose fields contradict each other";
    case BlobProblem::kPayload: return "has a damaged payload (checksum mismatch)";
  }
  return "unknown problem";
}

bool plan_blob(const RhsLayout& layout, const RhsView& rhs, size_t batch, uint8_t type,
               BlobHeader* h) {
  *h = {};
  memcpy(h->magic, kGemmMagic, sizeof kGemmMagic);
  h->version = kBlobVersion;
  h->header_bytes = sizeof(BlobHeader);
  h->n = rhs.n;
  h->k = rhs.k;
  h->batch = batch;
  h->width = layout.width;
  h->step = layout.step;
  h->kr = layout.kr;
  h->domain = (uint8_t)layout.domain;
  h->type = type;
  h->kind = kDense;

  constexpr size_t kSlack = 1024;  // more than every rounding below adds
  size_t panel_bytes, sum_bytes, end;
  if (rhs.n > SIZE_MAX / 16 - kSlack || rhs.k > SIZE_MAX - kSlack) return false;
  if (!multiply_add(layout.lanes(rhs.n), layout.depth(rhs.k), kSlack, &panel_bytes)) return false;
  panel_bytes = round_up(panel_bytes - kSlack, kAlignment);
  sum_bytes = round_up(layout.lanes(rhs.n) * sizeof(int32_t), kAlignment);

  bool any_zero_point = false;
  for (size_t n = 0; n < (rhs.zero_points ? rhs.zero_point_count : 0); ++n)
    any_zero_point |= rhs.zero_point(n) != -domain_shift(rhs.is_u8, layout.domain);
  if (!rhs.zero_points) any_zero_point = domain_shift(rhs.is_u8, layout.domain) != 0;
  end = sizeof(BlobHeader);
  if (any_zero_point) {
    h->zero_points = end;
    end += sum_bytes;
  }
  h->sums = end;
  h->sums_stride = 2 * sum_bytes;
  if (!multiply_add(batch, h->sums_stride, end, &end)) return false;
  h->panels = end;
  h->panels_stride = panel_bytes;
  if (!multiply_add(batch, panel_bytes, end, &end)) return false;
  h->bytes = end;
  return true;
}

void write_blob(const BlobHeader& planned, RhsView rhs, size_t matrix_stride, void* blob) {
  BlobHeader h = planned;
  const RhsLayout layout = blob_layout(h);
  uint8_t* const bytes = (uint8_t*)blob;
  memset(bytes + sizeof h, 0, (size_t)h.panels - sizeof h);
  if (h.zero_points) {
    int32_t* zero_points = (int32_t*)(bytes + h.zero_points);
    for (size_t n = 0; n < rhs.n; ++n)
      zero_points[n] = rhs.zero_point(n) + domain_shift(rhs.is_u8, layout.domain);
  }
  const uint8_t* const data = rhs.data;
  for (size_t b = 0; b < h.batch; ++b) {
    rhs.data = data + b * matrix_stride;
    int32_t* positive = (int32_t*)(bytes + h.sums + b * h.sums_stride);
    const ColumnSums sums = {positive, positive + h.sums_stride / (2 * sizeof(int32_t))};
    if (sum_columns(layout, rhs, 0, rhs.n, sums)) h.has_least = 1;
    uint8_t* panels = bytes + h.panels + b * h.panels_stride;
    pack_columns(layout, rhs, 0, rhs.n, panels);
    const size_t used = layout.bytes(rhs.n, rhs.k);
    memset(panels + used, 0, (size_t)h.panels_stride - used);
  }
  h.payload_checksum = checksum(bytes + sizeof h, (size_t)h.bytes - sizeof h);
  h.header_checksum = checksum(&h, kHeaderChecked).folded();
  memcpy(blob, &h, sizeof h);
}

BlobProblem check_blob_header(const void* blob, size_t bytes, BlobHeader* h) {
  if (bytes < sizeof *h) return BlobProblem::kTruncated;
  memcpy(h, blob, sizeof *h);
  if (blob_kind(blob, bytes) != BlobKind::kGemm) return BlobProblem::kMagic;
  if (h->version != kBlobVersion) return BlobProblem::kVersion;
  if (h->header_checksum != checksum(h, kHeaderChecked).folded()) return BlobProblem::kHeader;

  // A well-meant header from another writer must still be safe to follow: recompute what it says
  // about itself.
  const bool sane = h->header_bytes == sizeof *h && h->kind == kDense && h->n && h->k && h->batch &&
                    h->width && h->step &&
                    (h->kr == 2 || h->kr == 4 || h->kr == 8 || h->kr == 16) &&
                    h->width % h->step == 0 && h->domain <= 1 && (h->type == 1 || h->type == 2);
  if (!sane) return BlobProblem::kHeaderFields;
  RhsView shape = {};
  shape.n = (size_t)h->n;
  shape.k = (size_t)h->k;
  shape.is_u8 = h->type == 2;
  // Any non-zero value in the layout's own domain asks plan_blob for a zero-point section.
  const int32_t zero_point =
      (h->zero_points ? 1 : 0) - domain_shift(shape.is_u8, (Domain)h->domain);
  shape.zero_points = &zero_point;
  shape.zero_point_count = 1;
  BlobHeader expected;
  if (!plan_blob(blob_layout(*h), shape, (size_t)h->batch, h->type, &expected))
    return BlobProblem::kHeaderFields;
  expected.has_least = h->has_least;
  expected.payload_checksum = h->payload_checksum;
  expected.header_checksum = h->header_checksum;
  if (memcmp(&expected, h, sizeof *h) != 0) return BlobProblem::kHeaderFields;
  return bytes < h->bytes ? BlobProblem::kTruncated : BlobProblem::kNone;
}

BlobProblem check_blob_payload(const void* blob, const BlobHeader& h) {
  const uint8_t* payload = (const uint8_t*)blob + sizeof h;
  return checksum(payload, (size_t)h.bytes - sizeof h) == h.payload_checksum
             ? BlobProblem::kNone
             : BlobProblem::kPayload;
}

RhsLayout blob_layout(const BlobHeader& h) { return {h.width, h.step, h.kr, (Domain)h.domain}; }

PackedRhs blob_matrix(const void* blob, const BlobHeader& h, size_t index) {
  const size_t sums = (size_t)(h.sums + index * h.sums_stride);
  return {(const uint8_t*)blob + h.panels + index * h.panels_stride, ints(blob, sums),
          ints(blob, sums + h.sums_stride / 2),
          h.zero_points ? ints(blob, h.zero_points) : nullptr};
}

}  // namespace octet
