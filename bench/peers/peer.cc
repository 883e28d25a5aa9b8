// SPDX-License-Identifier: Apache-2.0
// Makes the peer that the command line names.
#include "bench/peers/peer.h"

namespace tool {

#if defined(_WIN32)  // peer_program.cc stops and continues processes of POSIX
std::unique_ptr<Peer> make_peer_program(const std::string& command, size_t) {
  throw Error("no program can be a peer on Windows: " + command);
}
#endif

std::unique_ptr<Peer> make_peer(const std::string& wanted, const Forced& forced, ThreadPool* pool) {
  const size_t threads = pool->threads();
  if (wanted.empty()) return nullptr;
  if (wanted == "float") return make_peer_float(forced, pool);
  if (wanted == "symmetric") return make_peer_symmetric(forced, pool);
  if (wanted == "plain") return make_peer_plain(forced, pool);
  if (wanted == "int8") return make_peer_int8(forced, pool);
  if (wanted != "onednn") return make_peer_program(wanted, threads);
  std::unique_ptr<Peer> peer = make_onednn(threads);
  if (!peer)
    throw Error("this octet was built without oneDNN: install libdnnl-dev and build again");
  return peer;
}

}  // namespace tool
