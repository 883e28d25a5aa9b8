// SPDX-License-Identifier: Apache-2.0
// struct_size: how the library reads structs of callers with an older or a newer header (octet.h,
// "versions").
#pragma once

#include "dispatch/api/error.h"
#include "octet/functions.h"
#include "octet/image_functions.h"
#include "octet/network.h"
#include "octet/sparse.h"
#include "octet/traffic.h"
#include "octet/tune.h"

namespace octet {

// The bytes that the first version of each struct had: all before the line "an older struct may end
// here", where this member stands.
#define OCTET_OLDER(type, member) \
  constexpr size_t oldest(const type*) { return offsetof(type, member); }
OCTET_OLDER(octet_cpu_info, l1d_bytes)
OCTET_OLDER(octet_machine, in_order)
OCTET_OLDER(octet_kernel_info, isa)
OCTET_OLDER(octet_rhs_desc, zero_points)
OCTET_OLDER(octet_gemm_desc, epilogue)
OCTET_OLDER(octet_gemm_explanation, lhs_type)
OCTET_OLDER(octet_gemm_args, workspace)
OCTET_OLDER(octet_filter_desc, zero_points)
OCTET_OLDER(octet_conv2d_candidate, macs)
OCTET_OLDER(octet_conv2d_desc, epilogue)
OCTET_OLDER(octet_conv2d_args, workspace)
OCTET_OLDER(octet_sparse_stream_format, alignment)
OCTET_OLDER(octet_blob_info, algorithm)
OCTET_OLDER(octet_tune_options, clock)
OCTET_OLDER(octet_network_desc, concurrency)
OCTET_OLDER(octet_network_args, parallel_for)
OCTET_OLDER(octet_unary_desc, least)
OCTET_OLDER(octet_max_pool_desc, least)
OCTET_OLDER(octet_average_pool_desc, least)
OCTET_OLDER(octet_mean_desc, least)
OCTET_OLDER(octet_resize_desc, output)
OCTET_OLDER(octet_calibration, seconds)
OCTET_OLDER(octet_tune_result, seconds)
OCTET_OLDER(octet_traffic_options, l1_bytes)
#undef OCTET_OLDER

// Structs of their first version
template <typename Struct>
constexpr size_t oldest(const Struct*) {
  return sizeof(Struct);
}

struct StructSizes {
  const char* name;  // the argument's name, for messages
  size_t oldest, known, alignment;
};
template <typename Struct>
constexpr StructSizes sizes_of(const Struct* argument, const char* name) {
  return {name, oldest(argument), sizeof(Struct), alignof(Struct)};
}

// Refuses a size that no version of the struct has.
octet_status check_struct_size(size_t size, const StructSizes& sizes, octet_error* error);
// Copies the bytes that this library knows. Bytes of the caller's struct beyond them must be zero.
octet_status resize_struct(const void* given, size_t size, const StructSizes& sizes, void* copy,
                           octet_error* error);
// Writes `size` bytes, except struct_size.
void fill_struct(const void* filled, size_t known, size_t size, void* to);

// A caller's struct in this library's size: the struct itself where the sizes agree, else a copy.
template <typename Struct>
class CallerStruct {
 public:
  octet_status read(const Struct* given, const char* name, octet_error* error) {
    if (!given) return fail(error, OCTET_NULL_POINTER, "%s is null", name);
    const size_t size = given->struct_size;
    known_ = size == sizeof(Struct) ? given : &copy_;
    return known_ == given ? OCTET_OK
                           : resize_struct(given, size, sizes_of(given, name), &copy_, error);
  }
  const Struct& operator*() const { return *known_; }
  const Struct* operator->() const { return known_; }

 private:
  const Struct* known_;
  Struct copy_;
};

// A struct that the library fills: the caller's size is checked first, then as many bytes are
// written as fit.
template <typename Struct>
octet_status check_out(const Struct* out, const char* name, octet_error* error) {
  if (!out) return fail(error, OCTET_NULL_POINTER, "%s is null", name);
  return check_struct_size(out->struct_size, sizes_of(out, name), error);
}
template <typename Struct>
octet_status give(const Struct& filled, Struct* out) {
  fill_struct(&filled, sizeof filled, out->struct_size, out);
  return OCTET_OK;
}

}  // namespace octet
