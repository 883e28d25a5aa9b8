// SPDX-License-Identifier: Apache-2.0
// Writes the message of an octet_error.
#include "dispatch/api/error.h"

#include <stdarg.h>
#include <stdio.h>

namespace octet {

octet_status fail(octet_error* error, octet_status status, const char* format, ...) {
  if (error) {
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
  }
  return status;
}

}  // namespace octet

const char* octet_status_name(octet_status status) {
  switch (status) {
    case OCTET_OK: return "OCTET_OK";
    case OCTET_NULL_POINTER: return "OCTET_NULL_POINTER";
    case OCTET_BAD_STRUCT_SIZE: return "OCTET_BAD_STRUCT_SIZE";
    case OCTET_UNKNOWN_ENUM: return "OCTET_UNKNOWN_ENUM";
    case OCTET_BAD_SIZE: return "OCTET_BAD_SIZE";
    case OCTET_SIZE_ABOVE_MAXIMUM: return "OCTET_SIZE_ABOVE_MAXIMUM";
    case OCTET_BAD_STRIDE: return "OCTET_BAD_STRIDE";
    case OCTET_MISALIGNED: return "OCTET_MISALIGNED";
    case OCTET_OVERLAP: return "OCTET_OVERLAP";
    case OCTET_WORKSPACE_TOO_SMALL: return "OCTET_WORKSPACE_TOO_SMALL";
    case OCTET_ACCUMULATOR_OVERFLOW: return "OCTET_ACCUMULATOR_OVERFLOW";
    case OCTET_BAD_SCALE: return "OCTET_BAD_SCALE";
    case OCTET_BAD_ZERO_POINT: return "OCTET_BAD_ZERO_POINT";
    case OCTET_BAD_CLAMP: return "OCTET_BAD_CLAMP";
    case OCTET_BAD_BLOB: return "OCTET_BAD_BLOB";
    case OCTET_WRONG_TIER: return "OCTET_WRONG_TIER";
    case OCTET_BAD_ENVIRONMENT: return "OCTET_BAD_ENVIRONMENT";
    case OCTET_UNKNOWN_KERNEL: return "OCTET_UNKNOWN_KERNEL";
    case OCTET_KERNEL_UNUSABLE: return "OCTET_KERNEL_UNUSABLE";
    case OCTET_UNSUPPORTED: return "OCTET_UNSUPPORTED";
    case OCTET_OUT_OF_MEMORY: return "OCTET_OUT_OF_MEMORY";
    case OCTET_BAD_SPARSITY: return "OCTET_BAD_SPARSITY";
    case OCTET_BAD_FILE: return "OCTET_BAD_FILE";
    case OCTET_BAD_NETWORK: return "OCTET_BAD_NETWORK";
  }
  return "unknown status";
}
