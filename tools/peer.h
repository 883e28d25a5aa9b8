// The library that Octet is compared with, if it was there at build time.
#pragma once

#include <memory>
#include <string>

#include "contestant.h"
#include "conv_data.h"
#include "gemm_data.h"

namespace tool {

// "onednn 2.6.3"; empty if the tool was built without it.
std::string peer_name();

// The same product by the peer with weights in its own layout; null if it has no such types. The data must outlive it.
std::unique_ptr<Contestant> make_peer_gemm(const GemmData& data, size_t threads);

// The same convolution; likewise.
std::unique_ptr<Contestant> make_peer_conv(const ConvData& data, size_t threads);

}  // namespace tool
