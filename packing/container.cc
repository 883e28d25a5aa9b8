// SPDX-License-Identifier: Apache-2.0
// Lays out, writes, reads and checks the container of packed weights.
#include "packing/container.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Octet's packed weights are little-endian and read in place"
#endif

namespace octet {
namespace {

// Blobs of all versions begin with the first five bytes; versions 1 and 2 go on with RHS or CNV.
constexpr char kMark[8] = {'O', 'C', 'T', 'E', 'T', 'B', 'L', 'B'};
constexpr size_t kMarkOfAllVersions = 5;
static_assert(offsetof(Container, geometry) == sizeof(ContainerHeader), "the head is one piece");

uint64_t checksum_of_head(Container c) {
  c.header.head_checksum = 0;
  return checksum(&c, c.header.head_bytes).folded();
}

Checksum checksum_of_payload(const Container& c, const void* blob) {
  const size_t head = c.header.head_bytes;
  return checksum((const uint8_t*)blob + head, (size_t)c.header.bytes - head);
}

// Calls f(offset, bytes) for each gap between a section's end and the next one's beginning.
template <typename F>
void for_each_gap(const Container& c, const F& f) {
  for (const Section& s : c.header.sections) {
    const size_t end = (size_t)(s.offset + s.bytes);
    f(end, round_up(end, kAlignment) - end);
  }
}

}  // namespace

const char* describe(BlobProblem problem) {
  switch (problem) {
    case BlobProblem::kNone: return "no problem";
    case BlobProblem::kTruncated: return "is shorter than its header says";
    case BlobProblem::kMark: return "does not begin with the mark of packed weights";
    case BlobProblem::kVersion: return "has a format version that this library does not read";
    case BlobProblem::kHeader: return "has a damaged header (checksum mismatch)";
    case BlobProblem::kHeaderFields: return "has a header whose fields contradict each other";
    case BlobProblem::kOtherKind: return "holds weights of another kind";
    case BlobProblem::kPayload: return "has a damaged payload (checksum mismatch)";
    case BlobProblem::kOutline: return "is an outline: it has no weights";
  }
  return "unknown problem";
}

const Section* Container::find(SectionId id) const {
  for (const Section& s : header.sections)
    if (s.id == id) return &s;
  return nullptr;
}

Container begin_container(BlobKind kind, const WeightFormat& format, uint8_t type,
                          const void* geometry, size_t geometry_bytes) {
  Container c = {};
  c.format = &format;
  ContainerHeader& h = c.header;
  memcpy(h.mark, kMark, sizeof kMark);
  h.version = kContainerVersion;
  h.kind = kind;
  h.format = format.id;
  h.type = type;
  if (format.layout.sparse()) h.sparsity = Sparsity::kTwoOfFour;
  h.bytes = sizeof h;
  add_section(SectionId::kGeometry, geometry_bytes, &c);
  h.head_bytes = (uint32_t)h.bytes;
  memcpy(c.geometry, geometry, geometry_bytes);
  return c;
}

bool add_section(SectionId id, size_t bytes, Container* c) {
  ContainerHeader& h = c->header;
  uint64_t end;
  if (__builtin_add_overflow(h.bytes, bytes, &end) || end > PTRDIFF_MAX - kAlignment) return false;
  Section* s = h.sections;
  while (s->id != SectionId::kNone) ++s;
  *s = {id, h.bytes, bytes};
  h.bytes = round_up((size_t)end, kAlignment);
  return true;
}

const uint8_t* section_of(const Container& c, SectionId id, const void* blob) {
  const Section* s = c.find(id);
  return s && !c.header.outline ? (const uint8_t*)blob + s->offset : nullptr;
}

uint8_t* section_of(const Container& c, SectionId id, void* blob) {
  return (uint8_t*)section_of(c, id, (const void*)blob);
}

void seal_container(Container* c, void* blob) {
  for_each_gap(*c, [&](size_t gap, size_t bytes) { memset((uint8_t*)blob + gap, 0, bytes); });
  c->header.payload_checksum = checksum_of_payload(*c, blob);
  c->header.head_checksum = checksum_of_head(*c);
  memcpy(blob, c, c->header.head_bytes);
}

void write_outline(Container* c, void* outline) {
  c->header.outline = 1;
  c->header.head_checksum = checksum_of_head(*c);
  memset(outline, 0, kOutlineBytes);
  memcpy(outline, c, c->header.head_bytes);
}

BlobProblem read_head(const void* blob, size_t bytes, Container* c) {
  *c = {};
  ContainerHeader& h = c->header;
  if (bytes < sizeof h) return BlobProblem::kTruncated;
  memcpy(&h, blob, sizeof h);
  if (memcmp(h.mark, kMark, kMarkOfAllVersions) != 0) return BlobProblem::kMark;
  if (h.version != kContainerVersion) return BlobProblem::kVersion;
  if (h.head_bytes < sizeof h || h.head_bytes > sizeof h + kMostGeometry ||
      h.head_bytes % kAlignment)
    return BlobProblem::kHeaderFields;
  if (bytes < h.head_bytes) return BlobProblem::kTruncated;
  memcpy(c, blob, h.head_bytes);
  return h.head_checksum == checksum_of_head(*c) ? BlobProblem::kNone : BlobProblem::kHeader;
}

BlobProblem check_container(const void* blob, size_t bytes,
                            const WeightFormat* (*find_format)(uint16_t), BlobKind kind,
                            PlanContainer plan, Container* c) {
  const BlobProblem problem = read_head(blob, bytes, c);
  if (problem != BlobProblem::kNone) return problem;
  const ContainerHeader& h = c->header;
  if (h.kind != kind) return BlobProblem::kOtherKind;
  c->format = find_format((uint16_t)h.format);
  constexpr unsigned kS8 = 1, kU8 = 2, kS4 = 5, kU4 = 6;  // octet_type
  const bool is_4bit = h.type == kS4 || h.type == kU4;
  // A filter of 4 bits is packed as s8
  const bool as_int8 = kind == BlobKind::kFilter && is_4bit;
  const bool sane = c->format && (is_4bit || h.type == kS8 || h.type == kU8) &&
                    (is_4bit == c->format->layout.is_4bit() || as_int8) && h.has_int8_min <= 1 &&
                    h.outline <= 1 && h.sparsity < Sparsity::kCount &&
                    (h.sparsity == Sparsity::kTwoOfFour) == c->format->layout.sparse();
  Container planned;
  if (!sane || !plan(*c, &planned)) return BlobProblem::kHeaderFields;
  planned.header.has_int8_min = h.has_int8_min;
  planned.header.sparsity = h.sparsity;
  planned.header.outline = h.outline;
  planned.header.payload_checksum = h.payload_checksum;
  planned.header.head_checksum = h.head_checksum;
  if (memcmp(&planned, c, sizeof h + kMostGeometry) != 0) return BlobProblem::kHeaderFields;
  return bytes < h.bytes && !h.outline ? BlobProblem::kTruncated : BlobProblem::kNone;
}

BlobProblem check_payload(const Container& c, const void* blob) {
  if (c.header.outline) return BlobProblem::kOutline;
  bool clear = true;
  for_each_gap(c, [&](size_t gap, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) clear &= ((const uint8_t*)blob)[gap + i] == 0;
  });
  return clear && checksum_of_payload(c, blob) == c.header.payload_checksum ? BlobProblem::kNone
                                                                            : BlobProblem::kPayload;
}

}  // namespace octet
