// Packed weights of any kind as one relocatable, little-endian piece of memory, a blob:
//
//   header (192 bytes) | sections, in the order of their ids
//
// The header lists the sections. Each begins at a multiple of 64 bytes; what is not used is zero.
// Header and geometry, the first section, are the head: checked whenever a blob is used, and enough
// to compute all else that the header says. The rest is the payload.
#pragma once

#include "packing/checksum.h"
#include "packing/format.h"

namespace octet {

// 2 had a header for products and another for convolutions, 1 had CRCs.
constexpr uint32_t kContainerVersion = 6;

// What weights are for. The values are stored.
enum class BlobKind : uint16_t { kMatrices = 1, kFilter = 2 };

// The values are stored.
enum class SectionId : uint64_t {
  kNone = 0,
  kGeometry = 1,    // what the kind must know to tell its sections' sizes
  kZeroPoints = 2,  // s32 per column, in the form's domain; absent if all are 0
  kSums = 3,        // s32 per column, positive ones and negative ones (ColumnSums)
  kWeights = 4,     // in their form
};

// The values are stored.
enum class Sparsity : uint8_t {
  kNotAsked = 0,
  kTwoOfFour = 1,  // the form is sparse
  // Dense, because
  kPattern = 2,    // the weights are not so sparse
  kDistances = 3,  // some w - zero_point leaves s8
  kNoGain = 4,     // the tier multiplies dense ones no slower
  kNoRoom = 5,     // sparse ones would take more bytes
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
  uint8_t type;          // octet_type of the weights as given
  uint8_t has_int8_min;  // a packed weight is -128
  Sparsity sparsity;     // what became of the wish for sparse weights
  uint8_t reserved;
  Checksum payload_checksum;
  uint64_t head_checksum;  // of the head with 0 here, folded
  Section sections[5];
  uint8_t reserved_at_end[16];
};
static_assert(sizeof(ContainerHeader) == 192, "the header is 192 bytes on every machine");

constexpr size_t kMostGeometry = 128;

// The head of a blob, planned or read.
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
  kPairs
};
const char* describe(BlobProblem problem);

// ---- writing: begin, add sections, write them into the blob, finish

Container begin_container(BlobKind kind, const WeightFormat& format, uint8_t type,
                          const void* geometry, size_t geometry_bytes);
// False if the blob's size would leave ptrdiff_t. Sections come in the order of their ids.
bool add_section(SectionId id, size_t bytes, Container* container);
// Where it lies; null if there is none.
uint8_t* section_of(const Container& container, SectionId id, void* blob);
const uint8_t* section_of(const Container& container, SectionId id, const void* blob);
// Clears what lies between the sections, adds the checksums and writes the head.
void seal_container(Container* container, void* blob);

// ---- reading

// A kind's plan: what it would have begun and added for this geometry, form and type, with a
// section of zero points where there is one here. False where it would have refused.
using PlanContainer = bool (*)(const Container& container, Container* planned);

// Mark, version, checksum. What kind it is, is in the header then.
BlobProblem read_head(const void* blob, size_t bytes, Container* container);
// All that can be known without the payload. A well-meant head from another writer must still be
// safe to follow: everything that it says about itself is recomputed and compared.
BlobProblem check_container(const void* blob, size_t bytes,
                            const WeightFormat* (*find_format)(uint16_t), BlobKind kind,
                            PlanContainer plan, Container* container);
BlobProblem check_payload(const Container& container, const void* blob);

}  // namespace octet
