// SPDX-License-Identifier: Apache-2.0
// Declares the peers that Octet is compared with: a library that was installed at build time, or
// another program.
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
  // Whether its outputs should equal Octet's
  virtual bool comparable(const OperandTypes&) const { return true; }
  // The cost of a call that computes nothing, if the peer knows it
  virtual std::optional<double> call_us() const { return std::nullopt; }

  // The same product, or convolution, with weights in the peer's own layout; null if the peer has
  // none. The data must outlive it; destroy the one before first.
  virtual std::unique_ptr<Contestant> gemm(const GemmData& data) = 0;
  virtual std::unique_ptr<Contestant> conv(const ConvData& data) = 0;
};

// "onednn", "float", "symmetric", "plain", "int8", or the command of a program that speaks the
// language of peer_program.cc; null for "". forced and pool are Octet's own.
std::unique_ptr<Peer> make_peer(const std::string& wanted, const Forced& forced, ThreadPool* pool);

std::unique_ptr<Peer> make_onednn(size_t threads);  // null if the tool was built without it
// Octet in float mode, with weights without zero points, with neither residual nor table, or with
// operands of 8 bits, in place of the data's own.
std::unique_ptr<Peer> make_peer_float(Forced forced, ThreadPool* pool);
std::unique_ptr<Peer> make_peer_symmetric(Forced forced, ThreadPool* pool);
std::unique_ptr<Peer> make_peer_plain(Forced forced, ThreadPool* pool);
std::unique_ptr<Peer> make_peer_int8(Forced forced, ThreadPool* pool);
// Octet with the same weights packed dense, and the best kernel for them.
std::unique_ptr<Peer> make_peer_dense(Forced forced, ThreadPool* pool);
// Peers in processes of their own, which run in their turns only.
std::unique_ptr<Peer> make_peer_program(const std::string& command, size_t threads);
using MakePeer = std::unique_ptr<Peer> (*)(size_t threads);  // called in that process
std::unique_ptr<Peer> make_peer_process(const char* name, size_t threads, MakePeer make);

}  // namespace tool
