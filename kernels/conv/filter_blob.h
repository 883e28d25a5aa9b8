// Packed convolution weights as one relocatable, little-endian piece of memory, the sibling of
// kernels/gemm/blob.h:
//
//   header (256 bytes) | zero points, s32[out], if any | positive s32[out], negative s32[out]
//   | the algorithm's payload
//
// Sections begin at multiples of 64 bytes; gaps are zero. out = output channels rounded up to 16.
#pragma once

#include "kernels/conv/conv.h"
#include "kernels/gemm/blob.h"

namespace octet {

constexpr uint32_t kFilterBlobVersion = 2;

struct FilterHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t bytes;  // of the whole blob
  uint64_t in_channels, out_channels, groups;
  uint64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  uint64_t zero_points, sums, payload;  // offsets of the sections; zero_points 0 = all zero
  uint64_t payload_bytes;
  uint16_t width, step, kr;  // of the layout
  uint8_t domain;
  uint8_t isa;        // the smallest tier that reads the payload
  uint8_t type;       // octet_type of the weights as given
  uint8_t algorithm;  // octet_conv_algorithm
  uint8_t transposed;
  uint8_t has_least;  // a weight is -128 in s8
  uint8_t reserved[92];
  Checksum payload_checksum;  // of all bytes after the header
  uint64_t header_checksum;   // of the header up to here, folded
};
static_assert(sizeof(FilterHeader) == 256, "the blob's header is 256 bytes on every machine");

struct FilterForm {
  RhsLayout layout;
  Isa isa;
  const ConvMethod* method;
  uint8_t algorithm;
};

// Lays the sections out. False if a size leaves size_t.
bool plan_filter_blob(const ConvShape& shape, const FilterForm& form, uint8_t type,
                      bool zero_points, FilterHeader* header);
void write_filter_blob(const FilterHeader& planned, const ConvShape& shape, const FilterForm& form,
                       const FilterView& filter, const float* tap_ranges, void* blob);

// `method_of` maps an algorithm to its method, or null.
BlobProblem check_filter_header(const void* blob, size_t bytes,
                                const ConvMethod* (*method_of)(uint8_t), FilterHeader* header);
BlobProblem check_filter_payload(const void* blob, const FilterHeader& header);

// What the weights know of it: sizes and pads are 0
ConvShape blob_shape(const FilterHeader& header);
RhsLayout blob_layout(const FilterHeader& header);
FilterSums blob_sums(const void* blob, const FilterHeader& header);

bool has_least(const ConvShape& shape, const FilterView& filter);  // a weight is -128 in s8
// Some weight's zero point is not 0 in this domain.
bool has_zero_points(const FilterView& filter, Domain domain = Domain::kS8);

}  // namespace octet
