// What a plan may be made of: each range of ops that can be a part, in each height of bands, of all
// images at once or image by image, with what it would cost.
#pragma once

#include "dispatch/cpu/features.h"
#include "operators/network/chains.h"

namespace octet {

struct PartCandidate {
  NetworkPart part;
  bool tight;           // as shape_part has it
  size_t live;          // bytes of tensors while it runs, rings among them
  double microseconds;  // predicted
  double traffic;       // bytes beyond the cache
};

// What it costs that images run one by one before an op and all together from it on, in the same
// terms: what passes between them is there of all images.
struct MergeCost {
  size_t live;
  double traffic;
};

// What costs are reckoned with.
struct PlanMachine {
  CpuFeatures cpu;
  size_t cache_bytes;  // that a chain is to stay in
};

struct Candidates {
  PartCandidate* list;  // by the parts' first ops, then their ends
  size_t count;
  MergeCost* merge;  // before each op, and after the last one
};

// The most ops that a chain may have, and the heights of bands that are tried.
constexpr size_t kLongestChain = 24;
constexpr size_t kBands[] = {1, 2, 4, 8, 16, 32};  // and all lines
constexpr size_t most_candidates(size_t ops) {
  return 2 * ops * (1 + kLongestChain * (1 + sizeof kBands / sizeof kBands[0]));
}

// memory: shaping_words of all ops.
octet_status find_candidates(octet_network* network, const PlanMachine& machine,
                             octet_network_goal goal, size_t* memory, Candidates* candidates,
                             octet_error* error);

// The batch of all ops; 0 if they differ.
size_t batch_of(const octet_network& network);
// An op by itself reads and writes one tensor's channels: only as a chain.
bool by_lines_only(const octet_network& network, size_t op);

}  // namespace octet
