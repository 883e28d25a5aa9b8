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
// here".
constexpr size_t oldest(const octet_cpu_info*) { return offsetof(octet_cpu_info, l1d_bytes); }
constexpr size_t oldest(const octet_machine*) { return offsetof(octet_machine, in_order); }
constexpr size_t oldest(const octet_kernel_info*) { return offsetof(octet_kernel_info, isa); }
constexpr size_t oldest(const octet_rhs_desc*) { return offsetof(octet_rhs_desc, zero_points); }
constexpr size_t oldest(const octet_gemm_desc*) { return offsetof(octet_gemm_desc, epilogue); }
constexpr size_t oldest(const octet_gemm_explanation*) {
  return offsetof(octet_gemm_explanation, lhs_type);
}
constexpr size_t oldest(const octet_gemm_args*) { return offsetof(octet_gemm_args, workspace); }
constexpr size_t oldest(const octet_filter_desc*) {
  return offsetof(octet_filter_desc, zero_points);
}
constexpr size_t oldest(const octet_conv2d_candidate*) {
  return offsetof(octet_conv2d_candidate, macs);
}
constexpr size_t oldest(const octet_conv2d_desc*) { return offsetof(octet_conv2d_desc, epilogue); }
constexpr size_t oldest(const octet_conv2d_args*) { return offsetof(octet_conv2d_args, workspace); }
constexpr size_t oldest(const octet_sparse_stream_format*) {
  return offsetof(octet_sparse_stream_format, alignment);
}
constexpr size_t oldest(const octet_blob_info*) { return offsetof(octet_blob_info, algorithm); }
constexpr size_t oldest(const octet_tuning_report*) { return sizeof(octet_tuning_report); }
constexpr size_t oldest(const octet_tune_options*) { return offsetof(octet_tune_options, clock); }
constexpr size_t oldest(const octet_network_desc*) {
  return offsetof(octet_network_desc, concurrency);
}
constexpr size_t oldest(const octet_network_args*) {
  return offsetof(octet_network_args, parallel_for);
}
constexpr size_t oldest(const octet_network_explanation*) {
  return sizeof(octet_network_explanation);
}
constexpr size_t oldest(const octet_unary_desc*) { return offsetof(octet_unary_desc, least); }
constexpr size_t oldest(const octet_max_pool_desc*) { return offsetof(octet_max_pool_desc, least); }
constexpr size_t oldest(const octet_average_pool_desc*) {
  return offsetof(octet_average_pool_desc, least);
}
constexpr size_t oldest(const octet_mean_desc*) { return offsetof(octet_mean_desc, least); }
constexpr size_t oldest(const octet_resize_desc*) { return offsetof(octet_resize_desc, output); }
constexpr size_t oldest(const octet_calibration*) { return offsetof(octet_calibration, seconds); }
constexpr size_t oldest(const octet_tune_result*) { return offsetof(octet_tune_result, seconds); }
constexpr size_t oldest(const octet_traffic_options*) {
  return offsetof(octet_traffic_options, l1_bytes);
}
constexpr size_t oldest(const octet_layer_traffic*) { return sizeof(octet_layer_traffic); }

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
