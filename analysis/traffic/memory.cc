// SPDX-License-Identifier: Apache-2.0
// Models two cache levels and counts the traffic of each layer with memory.
#include "analysis/traffic/memory.h"

namespace octet {
namespace {

constexpr size_t kLayers = 1024, kL1Bytes = 32 * 1024, kWays = 16;

size_t layers_of(const octet_traffic_options& o) { return o.layers ? o.layers : kLayers; }
size_t l1_lines_of(const octet_traffic_options& o) {
  return (o.l1_bytes ? o.l1_bytes : kL1Bytes) / kLineBytes;
}

struct Sections {
  size_t l1, last, layers, bytes;  // offsets
  explicit Sections(const octet_traffic_options& o)
      : l1(round_up(sizeof(Memory), kAlignment)),
        last(round_up(l1 + Cache::bytes(l1_lines_of(o)), kAlignment)),
        layers(round_up(last + Cache::bytes(o.cache_bytes / kLineBytes), kAlignment)),
        bytes(layers + layers_of(o) * sizeof(octet_layer_traffic)) {}
};

}  // namespace

size_t Memory::bytes(const octet_traffic_options& options) { return Sections(options).bytes; }

void Memory::init(const octet_traffic_options& options) {
  const Sections at(options);
  uint8_t* const memory = (uint8_t*)this;
  l1_.init(l1_lines_of(options), kWays / 2, memory + at.l1);
  last_.init(options.cache_bytes / kLineBytes, kWays, memory + at.last);
  traffic_ = (octet_layer_traffic*)(memory + at.layers);
  layers_ = layers_of(options);
  layer_ = 0;
  for (size_t i = 0; i < layers_; ++i) traffic_[i] = OCTET_LAYER_TRAFFIC_INIT;
}

// Writes go through the first level, so that the last level knows which lines are newer than
// memory. A read that hits the first level is not a use of the last level's line.
void Memory::touch(const void* at, size_t bytes, octet_operand operand, bool write) {
  if (!bytes) return;
  const uint32_t mark = write ? mark_of(operand) : Cache::kClean;
  const uint64_t end = ((uintptr_t)at + bytes - 1) / kLineBytes;
  for (uint64_t line = (uintptr_t)at / kLineBytes; line <= end; ++line) {
    uint32_t left;
    if (l1_.touch(line, Cache::kClean, &left) && !write) continue;
    if (!last_.touch(line, mark, &left)) traffic_[layer_].read_bytes[operand] += kLineBytes;
    write_back(left);
  }
}

void Memory::write_back(uint32_t mark) {
  if (mark == Cache::kClean) return;
  const uint32_t written = mark - 1;
  traffic_[written / OCTET_OPERANDS].write_bytes[written % OCTET_OPERANDS] += kLineBytes;
}

void Memory::flush() {
  last_.for_each([&](uint32_t mark) { write_back(mark); });
  last_.clear();
  l1_.clear();
}

}  // namespace octet
