// Packed weights as one relocatable, little-endian piece of memory:
//
//   header (128 bytes) | zero points, s32[lanes], if any
//   | per matrix: positive s32[lanes], negative s32[lanes] | per matrix: panels
//
// Sections begin at multiples of 64 bytes; gaps are zero. lanes = N rounded up to the layout's
// step.
#pragma once

#include "kernels/pack/checksum.h"
#include "kernels/pack/packed_rhs.h"

namespace octet {

constexpr uint32_t kBlobVersion = 2;

struct BlobHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t bytes;  // of the whole blob
  uint64_t n, k, batch;
  uint64_t zero_points, sums, panels;   // offsets of the sections; zero_points 0 = all zero
  uint64_t sums_stride, panels_stride;  // bytes from one matrix to the next
  uint16_t width, step, kr;
  uint8_t domain;     // Domain
  uint8_t type;       // octet_type of the weights as given
  uint8_t kind;       // 1 = dense panels
  uint8_t has_least;  // a packed weight is -128
  uint8_t reserved[6];
  Checksum payload_checksum;  // of all bytes after the header
  uint64_t header_checksum;   // of the header up to here, folded
};
static_assert(sizeof(BlobHeader) == 128, "the blob's header is 128 bytes on every machine");

// What the first eight bytes say that a blob is.
constexpr char kGemmMagic[8] = {'O', 'C', 'T', 'E', 'T', 'R', 'H', 'S'},
               kConvMagic[8] = {'O', 'C', 'T', 'E', 'T', 'C', 'N', 'V'};
enum class BlobKind { kNone, kGemm, kConv };
BlobKind blob_kind(const void* blob, size_t bytes);

enum class BlobProblem { kNone, kTruncated, kMagic, kVersion, kHeader, kHeaderFields, kPayload };
const char* describe(BlobProblem problem);

// Lays the sections out. Returns false if a size leaves size_t.
bool plan_blob(const RhsLayout& layout, const RhsView& rhs, size_t batch, uint8_t type,
               BlobHeader* header);

// Writes the blob that plan_blob laid out. matrix_stride in bytes.
void write_blob(const BlobHeader& planned, RhsView rhs, size_t matrix_stride, void* blob);

BlobProblem check_blob_header(const void* blob, size_t bytes, BlobHeader* header);
BlobProblem check_blob_payload(const void* blob, const BlobHeader& header);

RhsLayout blob_layout(const BlobHeader& header);
PackedRhs blob_matrix(const void* blob, const BlobHeader& header, size_t index);

}  // namespace octet
