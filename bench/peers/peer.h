// Declares whom Octet is compared with: a library that was there at build time, or another program.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/machine/contestant.h"
#include "bench/machine/thread_pool.h"
#include "bench/problems/conv_data.h"
#include "bench/problems/forced.h"
#include "bench/problems/gemm_data.h"

namespace tool {

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;  // "oneDNN 2.6.3"
  // Whether its outputs should be ours
  virtual bool comparable() const { return true; }
  // The cost of a call that computes nothing, if the peer knows it
  virtual std::optional<double> call_us() const { return std::nullopt; }

  // The same product, or convolution, with weights in the peer's own layout; null if it has no such
  // thing. The data must outlive it, and the peer may want the one before to be gone.
  virtual std::unique_ptr<Contestant> gemm(const GemmData& data) = 0;
  virtual std::unique_ptr<Contestant> conv(const ConvData& data) = 0;
};

// "onednn", "float", "symmetric", "plain", or the command of a program that speaks the language of
// peer_program.cc; null for "". forced and pool are Octet's own.
std::unique_ptr<Peer> make_peer(const std::string& wanted, const Forced& forced, ThreadPool* pool);

std::unique_ptr<Peer> make_onednn(size_t threads);  // null if the tool was built without it
// Octet in float mode, with weights without zero points, or with neither residual nor table,
// whatever the data asks for.
std::unique_ptr<Peer> make_peer_float(Forced forced, ThreadPool* pool);
std::unique_ptr<Peer> make_peer_symmetric(Forced forced, ThreadPool* pool);
std::unique_ptr<Peer> make_peer_plain(Forced forced, ThreadPool* pool);
// With the same weights packed dense, and by whatever kernel is best for them.
std::unique_ptr<Peer> make_peer_dense(Forced forced, ThreadPool* pool);
// Processes of their own, which run in their turns only.
std::unique_ptr<Peer> make_peer_program(const std::string& command, size_t threads);
using MakePeer = std::unique_ptr<Peer> (*)(size_t threads);  // in that process
std::unique_ptr<Peer> make_peer_process(const char* name, size_t threads, MakePeer make);

}  // namespace tool
