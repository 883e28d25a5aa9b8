// SPDX-License-Identifier: Apache-2.0
// The container of packed weights of any kind: one relocatable, little-endian piece of memory, the
// blob:
//
//   header (192 bytes) | sections, in the order of their ids
//
// The header lists the sections. Each begins at a multiple of 64 bytes; unused bytes are zero. The
// header and the geometry (the first section) form the head. It is checked whenever a blob is used,
// and suffices to recompute everything else that the header says. The rest is the payload. An
// outline is a head without a payload: it stands for weights that are not there yet.
#pragma once

#include "packing/checksum.h"
#include "packing/format.h"

namespace octet {

// Version 2 had separate headers for products and convolutions, version 1 had CRCs.
constexpr uint32_t kContainerVersion = 6;

// The use of the weights. The values are stored.
enum class BlobKind : uint16_t {
  kMatrices = 1,
  kFilter = 2,
  kScaleBlocks = 3,  // matrices whose weights have scales of their own
};

// The values are stored.
enum class SectionId : uint64_t {
  kNone = 0,
  kGeometry = 1,    // a struct of the kind, from which the sections' sizes follow
  kZeroPoints = 2,  // s32 per column, for the format's element type; absent if all are 0
  kSums = 3,        // of columns (ColumnSums), or of scale blocks
  kWeights = 4,     // in the blob's weight format
  kMinimums = 5,    // of scale blocks, f32; absent if there are none
};

// The values are stored.
enum class Sparsity : uint8_t {
  kNotAsked = 0,
  kTwoOfFour = 1,  // the format is sparse
  // The format is dense, because
  kPattern = 2,    // the weights are not 2:4 sparse
  kDistances = 3,  // some w - zero_point does not fit s8
  kNoGain = 4,     // the tier multiplies dense weights no slower
  kNoRoom = 5,     // sparse weights would take more bytes
  kCount
};

struct Section {
  SectionId id;
  uint64_t offset, bytes;
};

struct ContainerHeader {
  char mark[8];
  uint32_t version;
  uint32_t head_bytes;
  uint64_t bytes;  // of the whole blob
  BlobKind kind;
  FormatId format;
  uint8_t type;          // octet_type of the caller's weights
  uint8_t has_int8_min;  // a packed weight is -128
  Sparsity sparsity;     // whether the weights are sparse, or why not
  uint8_t outline;       // 1: the payload is not there
  Checksum payload_checksum;
  uint64_t head_checksum;  // of the head with this field 0, folded
  Section sections[5];
  uint8_t reserved_at_end[16];
};
static_assert(sizeof(ContainerHeader) == 192, "the header is 192 bytes on every machine");

constexpr size_t kMostGeometry = 128;
constexpr size_t kOutlineBytes = sizeof(ContainerHeader) + kMostGeometry;

// The head of a blob that is planned or was read.
struct Container {
  ContainerHeader header;
  uint8_t geometry[kMostGeometry];  // the kind's struct; its size is a multiple of 64
  const WeightFormat* format;

  template <typename Geometry>
  Geometry read_geometry() const {
    Geometry g;
    __builtin_memcpy(&g, geometry, sizeof g);
    return g;
  }
  const Section* find(SectionId id) const;  // null if there is none
};

enum class BlobProblem {
  kNone,
  kTruncated,
  kMark,
  kVersion,
  kHeader,
  kHeaderFields,
  kOtherKind,
  kPayload,
  kOutline
};
const char* describe(BlobProblem problem);

// ---- writing: begin, add sections, write them into the blob, seal

Container begin_container(BlobKind kind, const WeightFormat& format, uint8_t type,
                          const void* geometry, size_t geometry_bytes);
// Adds sections in the order of their ids. False if the blob's size would not fit ptrdiff_t.
bool add_section(SectionId id, size_t bytes, Container* container);
// The section's address in the blob; null if there is none, and in an outline.
uint8_t* section_of(const Container& container, SectionId id, void* blob);
const uint8_t* section_of(const Container& container, SectionId id, const void* blob);
// Clears the gaps between sections, adds the checksums and writes the head.
void seal_container(Container* container, void* blob);
// Writes the head alone, and zeros up to kOutlineBytes.
void write_outline(Container* container, void* outline);

// ---- reading

// Plans the container that the kind would write for this geometry, format and type, with zero
// points where `container` has them. False where the kind refuses such a geometry.
using PlanContainer = bool (*)(const Container& container, Container* planned);

// Checks mark, version and head checksum. The kind is in the header then.
BlobProblem read_head(const void* blob, size_t bytes, Container* container);
// Checks all that can be known without the payload. Even a head with a valid checksum is not
// trusted: every field is recomputed and compared.
BlobProblem check_container(const void* blob, size_t bytes,
                            const WeightFormat* (*find_format)(uint16_t), BlobKind kind,
                            PlanContainer plan, Container* container);
BlobProblem check_payload(const Container& container, const void* blob);

}  // namespace octet
