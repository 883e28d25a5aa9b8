// SPDX-License-Identifier: Apache-2.0
// Times Octet itself at a simpler problem, to show the cost of a feature.
#include "bench/peers/peer.h"
#include "bench/problems/conv_plan.h"
#include "bench/problems/gemm_plan.h"

namespace tool {
namespace {

class OctetPeer : public Peer {
 public:
  OctetPeer(const char* name, const Forced& forced, ThreadPool* pool)
      : name_(name), forced_(forced), pool_(pool) {}
  std::string name() const override { return name_; }
  bool comparable(const OperandTypes& types) const override {
    return !forced_.symmetric && !forced_.plain && (!forced_.int8 || types.lhs != OCTET_S16);
  }
  std::unique_ptr<Contestant> gemm(const GemmData& data) override {
    return std::make_unique<GemmPlan>(data, forced_, pool_);
  }
  std::unique_ptr<Contestant> conv(const ConvData& data) override {
    return std::make_unique<ConvPlan>(data, forced_, pool_);
  }

 private:
  const char* const name_;
  const Forced forced_;
  ThreadPool* pool_;
};

}  // namespace

std::unique_ptr<Peer> make_peer_float(Forced forced, ThreadPool* pool) {
  forced.float_mode = true;
  return std::make_unique<OctetPeer>("float mode", forced, pool);
}

std::unique_ptr<Peer> make_peer_symmetric(Forced forced, ThreadPool* pool) {
  forced.symmetric = true;
  return std::make_unique<OctetPeer>("symmetric weights", forced, pool);
}

std::unique_ptr<Peer> make_peer_plain(Forced forced, ThreadPool* pool) {
  forced.plain = true;
  return std::make_unique<OctetPeer>("neither residual nor table", forced, pool);
}

std::unique_ptr<Peer> make_peer_int8(Forced forced, ThreadPool* pool) {
  forced.int8 = true;
  return std::make_unique<OctetPeer>("8 bits", forced, pool);
}

std::unique_ptr<Peer> make_peer_dense(Forced forced, ThreadPool* pool) {
  forced.sparsity = OCTET_SPARSE_NONE;
  return std::make_unique<OctetPeer>("dense weights", forced, pool);
}

}  // namespace tool
