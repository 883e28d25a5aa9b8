// SPDX-License-Identifier: Apache-2.0
// Holds a list of layers that are packed and created for a machine, to be run one after the other,
// or walked through a model of memory. All their operands lie in one piece of memory that begins at
// a multiple of 2 MB, so that caches with sets behave the same in every process.
#pragma once

#include "bench/cases/layers.h"
#include "bench/machine/api.h"
#include "bench/problems/conv_data.h"
#include "bench/problems/forced.h"
#include "octet/traffic.h"

namespace tool {

class CreatedLayers {
 public:
  // The list must outlive it.
  CreatedLayers(const LayerList& list, const Forced& forced, const octet_machine& machine);

  void run() const;                         // runs the layers; functions only read and write
  void walk(octet_traffic* traffic) const;  // layer i of the list is layer i of the traffic

  struct Facts {
    std::string algorithm, kernel;  // "-" for functions
    size_t weight_bytes = 0;        // packed
    double compute_us = 0;          // predicted, for one thread
  };
  const Facts& facts(size_t layer) const { return layers_[layer].facts; }
  const octet_conv2d* conv(size_t layer) const { return layers_[layer].conv.get(); }
  const octet_gemm* gemm(size_t layer) const { return layers_[layer].gemm.get(); }
  size_t map_bytes() const { return arena_.bytes; }
  size_t workspace_bytes() const { return workspace_bytes_; }

 private:
  struct Created {
    Facts facts;
    Conv conv;
    Gemm gemm;
  };
  // A layer's data until it is created; dropped when all layers are.
  struct Builder {
    ConvData conv;
    GemmData product;
    Buffer packed;
    size_t packed_at = 0;
  };
  Builder pack(const Layer& layer) const;
  // The weights are at `packed`.
  Created create(const Layer& layer, const Builder& builder, const uint8_t* packed) const;
  size_t workspace_of(const Layer& layer, const Created& created) const;
  void tell_facts(const Layer& layer, const Builder& builder, Created* created) const;
  void* map(size_t index) const { return memory_ + arena_.offsets[index]; }
  // Elements from one pixel of a slice to the next; 0: dense.
  size_t stride(size_t index) const {
    return list_.maps[index].parent == kNoMap ? 0 : list_.maps[list_.alias_root(index)].channels;
  }
  octet_conv2d_args conv_args(const Layer& layer) const;
  octet_gemm_args gemm_args(const Layer& layer) const;
  void pass_lines(const Layer& layer, octet_traffic* traffic) const;
  void pass(size_t index, size_t first, size_t end, octet_operand operand, octet_traffic* traffic,
            unsigned* sum) const;

  const LayerList& list_;
  const Forced forced_;
  const octet_machine machine_;
  const MapArena arena_;  // the maps come first
  std::vector<Created> layers_;
  size_t workspace_bytes_ = 0;
  Buffer buffer_;
  uint8_t *memory_ = nullptr, *workspace_ = nullptr;  // in the buffer
};

}  // namespace tool
