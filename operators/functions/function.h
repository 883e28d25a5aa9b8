// SPDX-License-Identifier: Apache-2.0
// The object of all functions: a function of a network and its plan, in one allocation.
#pragma once

#include "dispatch/api/error.h"
#include "dispatch/api/struct_size.h"
#include "kernels/core/tier_id.h"
#include "kernels/generic/functions/elementwise.h"
#include "octet/functions.h"
#include "operators/common/arena.h"

namespace octet {

// A run's tensors with all strides filled in.
struct FunctionShapes {
  size_t batch, input_count;
  octet_function_tensor inputs[OCTET_NETWORK_INPUTS_MAX], output;
};

// Checks that the sizes of a run suit each other. plan: the function's.
typedef octet_status (*FunctionCheck)(const void* plan, const FunctionShapes& shapes,
                                      octet_error* error);

// "args.output.h = 3, but must be 4" and its like, if one size is another than wanted.
octet_status check_sizes_of(const char* name, const octet_function_tensor& tensor, size_t h,
                            size_t w, size_t channels, octet_error* error);
// The name of an input, for messages.
const char* input_name(size_t index);

octet_status check_quantized(const octet_quantized& q, const char* name, octet_error* error);
// Of 8 bits, or of 16 with zero point 0.
octet_status check_quantized_or_s16(const octet_quantized& q, const char* name, octet_error* error);
// Refuses tensors of 16 bits in arithmetics that have none.
octet_status check_arithmetic_of_s16(octet_type type, octet_arithmetic arithmetic,
                                     octet_error* error);
// How creators begin: reads the caller's descriptor, and sets *function to null.
template <typename Desc>
octet_status begin(const Desc* given, octet_function** function, CallerStruct<Desc>* desc,
                   octet_error* error) {
  if (!function) return fail(error, OCTET_NULL_POINTER, "function is null");
  *function = nullptr;
  return desc->read(given, "desc", error);
}
octet_status check_arithmetic(octet_arithmetic arithmetic, octet_error* error);

// Sets the bounds of an output from a descriptor's: the type's if both are 0.
octet_status check_bounds(const octet_quantized& output, int32_t least, int32_t most,
                          int32_t (&bounds)[2], octet_error* error);

// The best tier that this machine, the environment and a descriptor allow.
octet_status choose_tier(octet_isa max_isa, TierId* tier_id, octet_error* error);

}  // namespace octet

struct octet_function {
  octet_allocator allocator;
  octet_network_function network;  // its context is the plan
  octet_type types[OCTET_NETWORK_INPUTS_MAX], output_type;
  size_t input_count;
  octet::FunctionCheck check;
  double cycles;  // about, for a byte of the output
};

namespace octet {

// A function of one input, of whose elements each becomes one of the output.
octet_function elementwise_function(octet_type in, octet_type out,
                                    void (*run)(void* plan, const octet_network_call* call));

template <typename Plan>
struct FunctionBuilder {
  octet_function function;
  Plan plan;
  size_t bytes_behind = 0;  // the plan
};

template <typename Plan>
octet_function* build_function(const FunctionBuilder<Plan>& builder, Arena* arena) {
  octet_function* const function = arena->take<octet_function>(1);
  Plan* const plan = arena->take<Plan>(1);
  arena->take<uint8_t>(builder.bytes_behind);
  if (!function) return nullptr;
  *function = builder.function;
  *plan = builder.plan;
  function->network.context = plan;
  return function;
}

template <typename Plan>
octet_status make_function(const FunctionBuilder<Plan>& builder, const octet_allocator& allocator,
                           octet_function** function, octet_error* error) {
  return allocate_and_build(build_function<Plan>, builder, allocator, function, error);
}

}  // namespace octet
