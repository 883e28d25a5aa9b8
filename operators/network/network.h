// A created network: tensors, ops, and the plan of how they run. Plain data, so that a model of
// what moves through memory can walk what the executor walks (schedule.h has the lines of each
// band).
#pragma once

#include "octet/network.h"
#include "operators/conv/run_lines.h"
#include "operators/gemm/object.h"

namespace octet {

constexpr size_t kNoSlot = SIZE_MAX, kNoUse = SIZE_MAX;

struct NetworkTensor {
  size_t batch, h, w, channels;
  octet_type type;
  size_t pixel, line, image;  // bytes from one to the next, all channels of its home
  // The tensor in whose memory it lies, itself if it is no slice, and the bytes of the channels
  // before its own.
  size_t alias_root, at;
  bool kept;  // in the caller's memory
  // Of a home:
  size_t bytes;                // all of it
  bool written;                // by an op; what is not is an input
  size_t first_use, last_use;  // the ops that write or read it; kNoUse: none does
  size_t offset;  // in the workspace; of a ring: in its task's part of NetworkPart::rings
  // Of a home that lives only in parts side by side that run image by image: there is room for one
  bool one_image;
  // Of a home that lives only in the chain that writes it: it is a ring, of so many lines. No line
  // at all is a ring, too: nothing reads of it but padding.
  bool is_ring;
  size_t ring_lines;
  size_t span;  // lines of the ring that are wanted at a time
  size_t step;  // lines that a band writes, if it is not the first or the last one
};

struct NetworkOp {
  const octet_conv2d* conv;  // one of the three; conv and gemm null: function
  const octet_gemm* gemm;
  octet_network_function function;
  size_t inputs[OCTET_NETWORK_INPUTS_MAX], input_count;
  size_t output;
  bool flat;  // a product whose rows are images, not pixels
  // In a chain: the numbers of the homes that it writes and reads among those that its part writes.
  // kNoSlot: of an input that comes from elsewhere.
  size_t out_slot, in_slots[OCTET_NETWORK_INPUTS_MAX];
  size_t most;  // output lines that it computes at once, at most
};

// Ops [first, end), in their order.
struct NetworkPart {
  size_t first, end;
  // Not 0: a chain, in bands of so many output lines of its last op. 0: one op after the other, of
  // whole tensors.
  size_t band;
  // With the parts of this kind beside it: one image through all of them before the next one.
  bool by_image;
  // Of a chain: stripes of the last op's lines, counted through all images that run, each with
  // rings and scratch of its own. What lies above its first line a stripe computes anew.
  size_t tasks;
  size_t rings, ring_bytes;       // offset in the workspace; of one task
  size_t scratch, scratch_bytes;  // likewise, of one task in chains: what ops need beside tensors
};

// How many of a tensor's images a part runs at once.
constexpr size_t images_of(const NetworkPart& part, const NetworkTensor& t) {
  return part.by_image ? 1 : t.batch;
}

}  // namespace octet

// One allocation; the arrays follow the object.
struct octet_network {
  octet::NetworkTensor* tensors;
  octet::NetworkOp* ops;
  octet::NetworkPart* parts;
  size_t tensor_count, op_count, part_count;
  size_t concurrency;
  size_t workspace_bytes;
  size_t map_bytes, separate_bytes, kept_bytes;  // as octet_network_explanation has them
  octet_allocator allocator;
};

namespace octet {

// Parts that run image by image together with part p: [p, end_of_group); by itself if it does not.
inline size_t end_of_group(const octet_network& n, size_t p) {
  if (!n.parts[p].by_image) return p + 1;
  while (p < n.part_count && n.parts[p].by_image) ++p;
  return p;
}

}  // namespace octet
