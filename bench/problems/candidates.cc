// SPDX-License-Identifier: Apache-2.0
// Asks octet_conv2d_explain for each candidate.
#include "bench/problems/candidates.h"

namespace tool {

std::vector<octet_conv2d_candidate> candidates(const octet_filter_desc& filter, octet_isa isa) {
  std::vector<octet_conv2d_candidate> all;
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  for (;;) {
    octet_error error = {};
    const octet_status status = octet_conv2d_explain(&filter, isa, all.size(), &candidate, &error);
    if (status == OCTET_BAD_SIZE && !all.empty()) return all;  // the end
    check(status, error);
    all.push_back(candidate);
  }
}

}  // namespace tool
