// SPDX-License-Identifier: Apache-2.0
// Registers filter blobs as a kind of container.
#include "operators/common/blob.h"
#include "operators/conv/algorithms/filter_blob.h"
#include "operators/conv/layouts.h"

namespace octet {
namespace {

bool plan(const Container& c, Container* planned) {
  const uint8_t algorithm = c.read_geometry<FilterGeometry>().algorithm;
  const ConvAlgorithm* const implementation = algorithm_of(algorithm);
  return implementation && c.format->kind == implementation->operands &&
         plan_filter_again(c, *implementation, planned);
}

}  // namespace

octet_status check_filter_blob(const void* blob, size_t bytes, const char* name, Container* c,
                               octet_error* error) {
  return blob_status(check_container(blob, bytes, find_format, BlobKind::kFilter, plan, c), name,
                     bytes, error);
}

void describe_filter(const Container& c, octet_blob_info* info) {
  const ConvShape s = filter_shape(c);
  info->n = s.out_channels;
  info->k = s.taps() * s.group_in();
  info->batch = 1;
  info->algorithm = (octet_conv_algorithm)c.read_geometry<FilterGeometry>().algorithm;
  copy_filter_shape(s, &info->shape);
}

PackedPanels panels_of_filter(const Container& c, const void* blob) {
  const ConvAlgorithm& implementation = *algorithm_of(c.read_geometry<FilterGeometry>().algorithm);
  return implementation.panels(c.format->layout, filter_shape(c),
                               section_of(c, SectionId::kWeights, blob));
}

}  // namespace octet
