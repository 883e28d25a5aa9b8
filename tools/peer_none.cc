#include "peer.h"

namespace tool {

std::string peer_name() { return ""; }

std::unique_ptr<Contestant> make_peer_gemm(const GemmData&, size_t) { return nullptr; }

}  // namespace tool
