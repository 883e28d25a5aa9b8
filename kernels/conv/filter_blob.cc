#include "kernels/conv/filter_blob.h"

#include <string.h>

namespace octet {
namespace {

constexpr size_t kHeaderChecked = sizeof(FilterHeader) - sizeof(uint64_t);

size_t array_bytes(const ConvShape& s) { return round_up(s.out_channels, 16) * sizeof(int32_t); }
const int32_t* ints(const void* blob, uint64_t offset) {
  return (const int32_t*)((const uint8_t*)blob + offset);
}

}  // namespace

bool has_zero_points(const FilterView& f, Domain domain) {
  const int32_t zero = -domain_shift(f.is_u8, domain);
  if (!f.zero_points) return zero != 0;
  for (size_t i = 0; i < f.zero_point_count; ++i)
    if (f.zero_points[i] != zero) return true;
  return false;
}

bool has_least(const ConvShape& s, const FilterView& f) {
  const size_t count = s.taps() * s.group_in() * s.out_channels;  // dense, in whatever order
  return memchr(f.data, f.is_u8 ? 0x00 : 0x80, count) != nullptr;
}

bool plan_filter_blob(const ConvShape& s, const FilterForm& form, uint8_t type, bool zero_points,
                      FilterHeader* h) {
  *h = {};
  memcpy(h->magic, kConvMagic, sizeof kConvMagic);
  h->version = kFilterBlobVersion;
  h->header_bytes = sizeof(FilterHeader);
  h->in_channels = s.in_channels;
  h->out_channels = s.out_channels;
  h->groups = s.groups;
  h->kernel_h = s.kernel_h;
  h->kernel_w = s.kernel_w;
  h->stride_h = s.stride_h;
  h->stride_w = s.stride_w;
  h->dilation_h = s.dilation_h;
  h->dilation_w = s.dilation_w;
  h->width = form.layout.width;
  h->step = form.layout.step;
  h->kr = form.layout.kr;
  h->domain = (uint8_t)form.layout.domain;
  h->isa = (uint8_t)form.isa;
  h->type = type;
  h->algorithm = form.algorithm;
  h->transposed = s.transposed;

  h->payload_bytes = form.method->payload_bytes(form.layout, s);
  if (h->payload_bytes == 0 || h->payload_bytes > PTRDIFF_MAX - 4 * array_bytes(s)) return false;
  size_t end = sizeof(FilterHeader);
  if (zero_points) {
    h->zero_points = end;
    end += array_bytes(s);
  }
  h->sums = end;
  end += 2 * array_bytes(s);
  h->payload = end;
  h->bytes = end + round_up((size_t)h->payload_bytes, kAlignment);
  return true;
}

void write_filter_blob(const FilterHeader& planned, const ConvShape& s, const FilterForm& form,
                       const FilterView& filter, const float* tap_ranges, void* blob) {
  FilterHeader h = planned;
  uint8_t* const bytes = (uint8_t*)blob;
  memset(bytes + sizeof h, 0, (size_t)h.payload - sizeof h);
  if (h.zero_points) {
    int32_t* zero_points = (int32_t*)(bytes + h.zero_points);
    for (size_t o = 0; o < s.out_channels; ++o)
      zero_points[o] = filter.zero_point(o) + domain_shift(filter.is_u8, form.layout.domain);
  }
  int32_t* const positive = (int32_t*)(bytes + h.sums);
  int32_t* const negative = positive + array_bytes(s) / sizeof(int32_t);
  uint8_t* payload = bytes + h.payload;
  h.has_least =
      form.method->pack(form.layout, s, filter, tap_ranges, {positive, negative}, payload);
  memset(payload + h.payload_bytes, 0, (size_t)(h.bytes - h.payload - h.payload_bytes));
  h.payload_checksum = checksum(bytes + sizeof h, (size_t)h.bytes - sizeof h);
  h.header_checksum = checksum(&h, kHeaderChecked).folded();
  memcpy(blob, &h, sizeof h);
}

BlobProblem check_filter_header(const void* blob, size_t bytes,
                                const ConvMethod* (*method_of)(uint8_t), FilterHeader* h) {
  if (bytes < sizeof *h) return BlobProblem::kTruncated;
  memcpy(h, blob, sizeof *h);
  if (blob_kind(blob, bytes) != BlobKind::kConv) return BlobProblem::kMagic;
  if (h->version != kFilterBlobVersion) return BlobProblem::kVersion;
  if (h->header_checksum != checksum(h, kHeaderChecked).folded()) return BlobProblem::kHeader;

  // A well-meant header from another writer must still be safe to follow: recompute what it says
  // about itself.
  const ConvMethod* method = method_of(h->algorithm);
  constexpr uint64_t kLargest = (uint64_t)1 << 31;
  const uint64_t sizes[] = {h->in_channels, h->out_channels, h->groups,
                            h->kernel_h,    h->kernel_w,     h->stride_h,
                            h->stride_w,    h->dilation_h,   h->dilation_w};
  bool sane = h->header_bytes == sizeof *h && method && h->width && h->step && h->kr &&
              h->width % h->step == 0 && h->domain <= 2 && (h->type == 1 || h->type == 2) &&
              h->transposed <= 1;
  for (const uint64_t size : sizes) sane = sane && size != 0 && size <= kLargest;
  if (!sane || h->in_channels % h->groups || h->out_channels % h->groups)
    return BlobProblem::kHeaderFields;
  uint64_t depth;
  if (__builtin_mul_overflow(h->kernel_h, h->kernel_w, &depth) ||
      __builtin_mul_overflow(depth, h->in_channels / h->groups, &depth) || depth > kLargest)
    return BlobProblem::kHeaderFields;
  const ConvShape shape = blob_shape(*h);
  if (shape.transposed && (h->stride_h > kMaxPhases || h->stride_w > kMaxPhases ||
                           h->stride_h * h->stride_w > kMaxPhases))
    return BlobProblem::kHeaderFields;
  // Depthwise and Winograd know no zero points. Their payloads are s8 or s16, where a section of
  // zero points means that some are not 0.
  if (method->refuse(shape, h->zero_points && h->domain != (uint8_t)Domain::kU8))
    return BlobProblem::kHeaderFields;
  FilterHeader expected;
  const FilterForm form = {blob_layout(*h), (Isa)h->isa, method, h->algorithm};
  if (!plan_filter_blob(shape, form, h->type, h->zero_points != 0, &expected))
    return BlobProblem::kHeaderFields;
  expected.has_least = h->has_least;
  expected.payload_checksum = h->payload_checksum;
  expected.header_checksum = h->header_checksum;
  if (memcmp(&expected, h, sizeof *h) != 0) return BlobProblem::kHeaderFields;
  return bytes < h->bytes ? BlobProblem::kTruncated : BlobProblem::kNone;
}

BlobProblem check_filter_payload(const void* blob, const FilterHeader& h) {
  const uint8_t* payload = (const uint8_t*)blob + sizeof h;
  return checksum(payload, (size_t)h.bytes - sizeof h) == h.payload_checksum
             ? BlobProblem::kNone
             : BlobProblem::kPayload;
}

ConvShape blob_shape(const FilterHeader& h) {
  ConvShape s = {};
  s.in_channels = (size_t)h.in_channels;
  s.out_channels = (size_t)h.out_channels;
  s.groups = (size_t)h.groups;
  s.kernel_h = (size_t)h.kernel_h;
  s.kernel_w = (size_t)h.kernel_w;
  s.stride_h = (size_t)h.stride_h;
  s.stride_w = (size_t)h.stride_w;
  s.dilation_h = (size_t)h.dilation_h;
  s.dilation_w = (size_t)h.dilation_w;
  s.transposed = h.transposed != 0;
  return s;
}

RhsLayout blob_layout(const FilterHeader& h) { return {h.width, h.step, h.kr, (Domain)h.domain}; }

FilterSums blob_sums(const void* blob, const FilterHeader& h) {
  const size_t array = (size_t)(h.payload - h.sums) / 2;
  return {ints(blob, h.sums), ints(blob, h.sums + array),
          h.zero_points ? ints(blob, h.zero_points) : nullptr};
}

}  // namespace octet
