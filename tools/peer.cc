#include "peer.h"

namespace tool {

std::unique_ptr<Peer> make_peer(const std::string& wanted, size_t threads) {
  if (wanted.empty()) return nullptr;
  if (wanted != "onednn") return make_peer_program(wanted, threads);
  std::unique_ptr<Peer> peer = make_onednn(threads);
  if (!peer)
    throw Error("this octet was built without oneDNN: install libdnnl-dev and build again");
  return peer;
}

}  // namespace tool
