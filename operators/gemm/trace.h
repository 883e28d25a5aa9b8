// SPDX-License-Identifier: Apache-2.0
// OCTET_VERBOSE: one CSV line on stderr per create (1) and per run (2).
//     octet,create|run,gemm,MxNxK,batch,lhs:rhs:dst,kernel,algorithm,microseconds,origin
//     octet,create|run,conv,SHAPE,batch,lhs:rhs:dst,kernel,algorithm,microseconds,origin
//     octet,demoted,TIER       before a create or an explain, for each tier that failed the
//                              self-test
// with SHAPE such as mb1_ic64oc64_ih56oh56kh3sh1dh1ph1; origin is "measured" if the choice is a
// tuning's, else "predicted".
#pragma once

#include "dispatch/cpu/features.h"
#include "dispatch/os/os.h"
#include "operators/gemm/object.h"

namespace octet {

inline double now_microseconds() { return os::microseconds(); }
inline const char* origin_s16(bool measured) { return measured ? "measured" : "predicted"; }
void trace_demotions(TierMask demoted);
void trace(const char* event, const octet_gemm& gemm, size_t m, size_t n, size_t k, size_t batch,
           double microseconds);
}  // namespace octet
