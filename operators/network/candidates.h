// The candidates for a network's parts: each range of ops that can be a part, with each band
// height, on all images at once or image by image, and its predicted cost.
#pragma once

#include "dispatch/cpu/features.h"
#include "operators/conv/cost.h"
#include "operators/network/chains.h"

namespace octet {

struct PartCandidate {
  NetworkPart part;
  bool tight;           // argument of shape_part
  size_t live;          // bytes of all tensors while it runs, with its rings
  double microseconds;  // predicted
  double traffic;       // bytes that the cache misses
};

// The cost of a switch before an op, from image by image to all images at once: tensors that pass
// from one to the other exist for all images.
struct MergeCost {
  size_t live;
  double traffic;
};

// The terms of an op's predicted time, in any part.
struct OpCost {
  Estimate far;  // where its tensors come from the cache that holds them
  double near;   // its memory term if they lie in L2
  size_t bytes;  // of its tensors, in all images or in one
  size_t tile;   // lines of the algorithm's tiles
  // Microseconds of all ops up to this one: by themselves, and at least, in a part.
  double alone, least;
};

// For the goal TIME the predicted time of a part of several ops counts so much more: small
// predicted gains may be losses.
constexpr double kLongerPart = 1.04;

// The machine that costs are predicted for.
struct PlanMachine {
  CpuFeatures cpu;
  size_t cache_bytes;  // size of the cache that a chain should stay in
};

struct Candidates {
  PartCandidate* list;  // sorted by the parts' first ops, then by their ends
  size_t count;
  MergeCost* merge;  // entry i: before op i; the last one: after the last op
  OpCost* ops;       // two for each op: on all images, image by image
};

// The most ops of a chain, and the band heights that are tried.
constexpr size_t kLongestChain = 24;
constexpr size_t kBands[] = {1, 2, 4, 8, 16, 32};  // besides all lines at once
constexpr size_t most_candidates(size_t ops) {
  return 2 * ops * (1 + kLongestChain * (1 + sizeof kBands / sizeof kBands[0]));
}

// Leaves out parts that no plan for the goal would take. memory: scratch of shaping_values(number
// of ops) values.
octet_status find_candidates(octet_network* network, const PlanMachine& machine,
                             octet_network_goal goal, size_t* memory, Candidates* candidates,
                             octet_error* error);

// The batch of all ops; 0 if they differ.
size_t batch_of(const octet_network& network);
// True for a convolution that reads and writes slices of one tensor: it runs only in a chain.
bool by_lines_only(const octet_network& network, size_t op);

}  // namespace octet
