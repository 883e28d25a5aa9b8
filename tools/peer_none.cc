#include "peer.h"

namespace tool {

std::string peer_name() { return ""; }

std::unique_ptr<Contestant> make_peer_gemm(const GemmData&, size_t) { return nullptr; }
std::unique_ptr<Contestant> make_peer_conv(const ConvData&, size_t) { return nullptr; }

}  // namespace tool
