// SPDX-License-Identifier: Apache-2.0
// A created network: tensors, ops, and the plan of its execution. Plain data, so that a model of
// memory traffic can walk it as the executor does (schedule.h has the lines of each band).
#pragma once

#include "octet/network.h"
#include "operators/common/check.h"
#include "operators/conv/run_lines.h"
#include "operators/gemm/object.h"

namespace octet {

constexpr size_t kNoSlot = SIZE_MAX, kNoUse = SIZE_MAX;

struct NetworkTensor {
  // Where runs find it, from prepare_ops on: `first` bytes behind args.tensors[caller] or, if that
  // is kNoUse, in the workspace; an image is `step_image` bytes behind the one before.
  size_t caller, first, step_image;
  size_t batch, h, w, channels;
  octet_type type;
  size_t pixel, line, image;  // bytes from one to the next, over all channels of the alias root
  // bytes from one pixel, line or image to the next, over all channels of the alias root
  size_t alias_root, at;
  bool kept;  // lies in the caller's memory
  // The fields below are those of an alias root.
  size_t bytes;                // of all images
  bool written;                // an op writes it; if none does, it is an input
  size_t first_use, last_use;  // first and last op that use it; kNoUse: none
  size_t offset;  // in the workspace; a ring's is in its task's part of NetworkPart::rings
  // Buffer holds one image: it is used only inside one image-by-image group.
  bool one_image;
  // Buffer is a ring of ring_lines lines: only the chain that writes it uses it. 0 lines: readers
  // need only its padding.
  bool is_ring;
  size_t ring_lines;
  size_t span;  // lines of the ring that are needed at a time
  size_t step;  // lines that a band writes, except for the first and the last band
};

struct NetworkOp {
  const octet_conv2d* conv;  // conv, gemm or, if both are null, the function
  const octet_gemm* gemm;
  octet_network_function function;
  size_t inputs[OCTET_NETWORK_INPUTS_MAX], input_count;
  size_t output;
  bool flat;  // a product with one row per image, not per pixel
  // A function that gets all images of its tensors as one.
  bool all_images;
  // In a chain: each tensor that the chain writes has a slot number. out_slot is the output's,
  // in_slots are the inputs'; kNoSlot: the input comes from outside the chain.
  size_t out_slot, in_slots[OCTET_NETWORK_INPUTS_MAX];
  size_t most;  // most output lines that it computes at once

  // Outside of chains, what does not depend on a run's arguments: prepare_ops.
  double cycles;  // of a function or a direct product, for all images of the part
  // A product whose arguments need no checks, for its tensors do not overlap and fit: its loops are
  // called without octet_gemm_run.
  bool direct;
  octet_network_call call;  // a function's, without addresses
};

// How a run performs an op that is bound to addresses.
enum class BoundStep : uint8_t {
  kCall,    // calls the function, in one task
  kDirect,  // NetworkOp::direct, in one task
  kOther    // as an op that is not bound
};

// The addresses of the last run. A program runs a network in the same memory again and again, and
// looking addresses up takes longer than a function of some bytes. One run at a time uses it, and
// others look up theirs.
struct BoundNetwork {
  uint32_t busy;  // an exchange of a byte would need libatomic on RISC-V
  bool can_be;    // all ops run one by one, for one image
  bool filled;    // by a run
  const void* workspace;
  const void** tensors;       // those of octet_network::callers
  octet_network_call* calls;  // of each op; of a direct product only its first input and output
  BoundStep* steps;
};

// Ops [first, end), which run in this order.
struct NetworkPart {
  size_t first, end;
  // Not 0: a chain, which runs in bands of so many output lines of its last op. 0: the ops run one
  // by one, on whole tensors.
  size_t band;
  // True: one image runs through all neighbouring by_image parts before the next image.
  bool by_image;
  // Tasks of a chain. Each computes a row slice of the last op's output lines, counted through all
  // images of the run, with its own rings and scratch. It recomputes the lines that its slice needs
  // from above.
  size_t tasks;
  size_t rings, ring_bytes;       // offset in the workspace; bytes of one task
  size_t scratch, scratch_bytes;  // memory of ops besides tensors; of one task in chains
};

inline Extent packed_of(const NetworkOp& op) {
  return op.conv   ? extent_of(op.conv->packed, op.conv->packed_bytes)
         : op.gemm ? extent_of(op.gemm->packed, op.gemm->packed_bytes)
                   : Extent{};
}

// Number of a tensor's images that a part runs at once.
constexpr size_t images_of(const NetworkPart& part, const NetworkTensor& t) {
  return part.by_image ? 1 : t.batch;
}

// Elements from one pixel to the next.
inline size_t stride_of(const NetworkTensor& t) { return t.pixel / element_bytes(t.type); }

}  // namespace octet

// One allocation; the arrays follow the object.
struct octet_network {
  octet::NetworkTensor* tensors;
  octet::NetworkOp* ops;
  octet::NetworkPart* parts;
  size_t* callers;  // tensors that lie in the caller's memory and are no slices
  size_t tensor_count, op_count, part_count, caller_count;
  bool outline;           // an op has no weights: the network does not run
  octet::Extent weights;  // from the first to the last byte of all packed weights
  octet::BoundNetwork* bound;
  size_t concurrency;
  size_t workspace_bytes;
  size_t map_bytes, separate_bytes, kept_bytes;  // as in octet_network_explanation
  octet_allocator allocator;
};

namespace octet {

// The end of the image-by-image group that begins with part p; p + 1 if the part runs all images.
inline size_t end_of_group(const octet_network& n, size_t p) {
  if (!n.parts[p].by_image) return p + 1;
  while (p < n.part_count && n.parts[p].by_image) ++p;
  return p;
}

// The rows that a product has in a part.
inline size_t rows_of(const octet_network& n, const NetworkPart& part, const NetworkOp& op) {
  const NetworkTensor& in = n.tensors[op.inputs[0]];
  const size_t images = images_of(part, in);
  return op.flat ? images : images * in.h * in.w;
}

}  // namespace octet
