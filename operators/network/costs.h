// SPDX-License-Identifier: Apache-2.0
// Predicts the time, the memory and the traffic of a network's parts.
#pragma once

#include "dispatch/cpu/features.h"
#include "operators/conv/cost.h"
#include "operators/network/network.h"
#include "operators/network/schedule.h"

namespace octet {

// The terms of an op's predicted time, in any part.
struct OpCost {
  Estimate far;  // where its tensors come from the cache that holds them
  double near;   // its memory term if they lie in L2
  size_t bytes;  // of its tensors, in all images or in one
  size_t tile;   // lines of the algorithm's tiles
  size_t tasks;  // by itself
  // Sums over all ops up to this one: microseconds of each at least, in a part whose tasks share
  // it evenly; traffic of its tensors in all images, if none is a ring; bytes of its weights.
  double least, traffic;
  size_t weights;
};

// Of an alias root that the chain of its writers and readers can keep as a ring.
struct RingCost {
  bool read;          // an op reads it; without a reader it is no ring
  bool middle;        // a chain needs its middle line, whatever its ops
  size_t bytes;       // of a ring with the fewest lines that any chain needs
  double traffic[2];  // of all its uses where it is no ring: on all images, image by image
};

// What a chain's task computes of an op.
struct TaskWork {
  size_t lines;  // of its output
  double share;  // of the op's work
  double inner;  // of its tensors: those that lie in rings
};

// The cost of a switch before an op, from image by image to all images at once: tensors that pass
// from one to the other exist for all images.
struct MergeCost {
  size_t live;
  double traffic;
};

// Microseconds from the last task of an op to the first one of the next, on a pool whose threads
// spin, with what tasks differ by.
constexpr double kRegion = 2;

// The machine that costs are predicted for.
struct PlanMachine {
  CpuFeatures cpu;
  size_t cache_bytes;  // size of the cache that a chain should stay in
};

class Costs {
 public:
  // ops: two for each op of the network; rings and lines: one for each tensor; work: for a chain.
  // They outlive this object.
  Costs(const octet_network& network, const PlanMachine& machine, OpCost* ops, RingCost* rings,
        LineRange* lines, TaskWork* work);

  // Predicted time of a part whose rings are marked and whose tasks are set: find_work saw it last,
  // in any bands, if it is a chain in tasks. Its traffic, if it is shaped.
  void find_work(const NetworkPart& part, const RowSlices& row_slices) const;
  double microseconds_of_part(const NetworkPart& part) const;
  double traffic_of_part(const NetworkPart& part) const;

  // Of a part's ops, whatever its bands. least: the least time that they can take in a part whose
  // tasks share the work evenly; of a chain, in its tasks. traffic: of their tensors, were none a
  // ring, without that of weights.
  double least(const NetworkPart& part) const { return sum(part, &OpCost::least); }
  double least_of_tasks(const NetworkPart& chain) const {  // after find_work
    return chain.tasks > 1 ? time_of_tasks(chain, false) : least(chain) * (double)n_.concurrency;
  }
  double traffic(const NetworkPart& part) const { return sum(part, &OpCost::traffic); }
  const RingCost& ring(size_t alias_root) const { return rings_[alias_root]; }

  // True if weights and so many bytes of rings leave the cache no room for a chain.
  bool too_heavy(const NetworkPart& part, size_t rings) const {
    return sum(part, &OpCost::weights) + rings > machine_.cache_bytes / 4 * 3;
  }
  // True if everything that a band uses stays in the cache until the next band: rings, weights and
  // scratch of one task, and the passing lines of other tensors.
  bool stays_in_cache(const NetworkPart& part) const;

  MergeCost merge(size_t op) const;

 private:
  // A block of rows is multiplied by one micro-panel of weights after the other. bytes: the part of
  // the input that it reads, and its gathered copy; weights: a micro-panel's; written: lines of the
  // output that a micro-panel writes, in a share of the cache's sets; again: bytes moved for lines
  // that several write. Zeros for algorithms that read their input in another way.
  struct Blocks {
    size_t count, bytes, weights, written;
    double sets;
    size_t again, micro_panels;
  };

  const NetworkTensor& alias_root(size_t tensor) const {
    return n_.tensors[n_.tensors[tensor].alias_root];
  }
  double images_of_part(const NetworkPart& part) const {
    return (double)n_.tensors[n_.ops[part.first].output].batch;
  }
  const OpCost& cost(size_t op, bool by_image) const { return ops_[2 * op + by_image]; }
  template <typename Value>
  Value sum(const NetworkPart& part, Value OpCost::*field) const {
    const Value before = part.first ? cost(part.first - 1, part.by_image).*field : Value();
    return cost(part.end - 1, part.by_image).*field - before;
  }

  OpCost cost_of_op(size_t index, bool by_image) const;
  void add_traffic(size_t index, bool by_image, OpCost* cost, RingCost* rings) const;
  void find_rings(RingCost* rings) const;
  size_t ring_bytes(const NetworkPart& part, size_t tensor) const;
  size_t passing_bytes(const NetworkPart& part) const;
  bool touched(const NetworkPart& part, size_t end, size_t alias_root) const;
  double traffic_of(const NetworkPart& part, size_t tensor) const;
  double missed(size_t bytes) const;
  double weights_traffic(const NetworkPart& part) const;
  Blocks blocks_of(const NetworkOp& op, const NetworkPart& part) const;
  bool stay(size_t bytes) const { return bytes <= machine_.cache_bytes / 8 * 7; }
  double rows_again(const NetworkOp& op, const NetworkPart& part) const;
  double passes_of(const NetworkOp& op, const NetworkPart& part) const;
  size_t lines_of(const NetworkPart& part, const NetworkOp& op) const;
  double inner_of(const NetworkPart& part, size_t index) const;
  double time_of(const NetworkPart& part, size_t index) const;
  double time_of(const OpCost& cost, const NetworkTensor& out, size_t lines, double inner,
                 bool whole = false) const;
  double time_of_tasks(const NetworkPart& part, bool in_bands) const;
  template <typename Visit>
  void for_each_share(const NetworkPart& part, const RowSlices& row_slices,
                      const Visit& visit) const;

  const octet_network& n_;
  const PlanMachine& machine_;
  const OpCost* const ops_;
  const RingCost* const rings_;
  LineRange* const lines_;
  TaskWork* const work_;
  size_t all_weights_ = 0;
};

// True for a convolution that reads and writes slices of one tensor: it runs only in a chain.
bool by_lines_only(const octet_network& network, size_t op);

}  // namespace octet
