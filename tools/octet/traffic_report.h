// SPDX-License-Identifier: Apache-2.0
// Declares the reports of octet traffic.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "octet/traffic.h"

namespace tool {

// Bytes read from memory and written to it, by octet_operand.
struct Moved {
  uint64_t read[OCTET_OPERANDS] = {}, written[OCTET_OPERANDS] = {};

  uint64_t reads() const;
  uint64_t writes() const;
  uint64_t all() const { return reads() + writes(); }
  uint64_t of(octet_operand operand) const { return read[operand] + written[operand]; }
  Moved& operator+=(const Moved& other);
};

struct LayerReport {
  std::string name, kind, algorithm, kernel;
  // Sizes of one image; products: 1 x m
  size_t in_channels, out_channels, in_w, in_h, out_w, out_h;
  size_t in_bytes, weight_bytes, out_bytes;  // bytes of all images
  double macs, compute_us;
  Moved moved;
};

// The same layers in chains.
struct ChainsReport {
  std::vector<Moved> layers = {};
  Moved total = {};
  size_t map_bytes = 0;
  std::vector<octet_network_part> parts = {};  // parts other than plain layers

  // The first layer that runs all images at once; the number of layers if there is none.
  size_t merged_from() const;
};

struct TrafficReport {
  std::string network;
  size_t batch, cache_bytes;
  double bandwidth, fps;  // bytes per second; images per second
  std::vector<LayerReport> layers;
  Moved total;
  size_t map_bytes, workspace_bytes;
  ChainsReport chains = {};
  std::vector<LayerReport> one_by_one = {};  // with a batch: one image's layers, image by image
  ChainsReport one_in_chains = {};           // with a batch: one image in chains

  double memory_us(const LayerReport& layer) const {
    return (double)layer.moved.all() / bandwidth * 1e6;
  }
  bool memory_bound(const LayerReport& layer) const { return memory_us(layer) > layer.compute_us; }
  // The first layer from which on a batch moves fewer bytes together than image by image, and the
  // bytes of an image then; the number of layers if there is none.
  size_t merged_from(double* bytes_per_image) const;
};

void print_summary(const TrafficReport& report);
std::string to_csv(const TrafficReport& report);
std::string to_svg(const TrafficReport& report);
// The first report's JSON, and all reports under "caches".
nlohmann::ordered_json to_json(const std::vector<TrafficReport>& reports);

}  // namespace tool
