// SPDX-License-Identifier: Apache-2.0
// Wraps the C API with exceptions for errors, and has the names that the command line uses.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "octet/octet.h"

namespace tool {

// An error that the user can correct: a bad argument, an unusable kernel, a file that cannot be
// written.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A failed call, with the library's status and sentence.
struct LibraryError : Error {
  LibraryError(octet_status s, const std::string& message) : Error(message), status(s) {}
  octet_status status;
};
void check(octet_status status, const octet_error& error);

octet_cpu_info cpu_info();
std::vector<octet_kernel_info> kernels();

// The kernel of that name; throws if it does not exist or this CPU cannot run it.
octet_kernel_info usable_kernel(const std::string& name);
// The tier of that name; throws if it does not exist; usable_tier also if this CPU cannot run it.
octet_isa any_tier(const std::string& name);
octet_isa usable_tier(const std::string& name);

// All algorithms that a caller can force. The last one is approximate.
constexpr octet_conv_algorithm kAlgorithms[] = {
    OCTET_CONV_DIRECT,       OCTET_CONV_IM2COL,           OCTET_CONV_DEPTHWISE,
    OCTET_CONV_WINOGRAD_2X2, OCTET_CONV_WINOGRAD_4X4,     OCTET_CONV_WINOGRAD_2X2_S2,
    OCTET_CONV_GROUPED,      OCTET_CONV_WINOGRAD_2X2_INT8};
octet_conv_algorithm algorithm(const std::string& name);  // throws if it does not exist

std::vector<octet_isa> tiers_of(uint32_t isas);  // the tiers of a mask that this library knows
std::string names_of(uint32_t isas);             // "SCALAR AVX2", "none"

size_t type_bytes(octet_type type);

// The bytes that packing wrote, which may be fewer than the memory for them.
size_t blob_bytes(const void* blob, size_t memory_bytes);

struct GemmDeleter {
  void operator()(octet_gemm* gemm) const { octet_gemm_destroy(gemm); }
};
using Gemm = std::unique_ptr<octet_gemm, GemmDeleter>;

struct ConvDeleter {
  void operator()(octet_conv2d* conv) const { octet_conv2d_destroy(conv); }
};
using Conv = std::unique_ptr<octet_conv2d, ConvDeleter>;

}  // namespace tool
