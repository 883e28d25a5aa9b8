// Octet itself in float mode, beside which its other mode is timed.
#include "conv_plan.h"
#include "gemm_plan.h"
#include "peer.h"

namespace tool {
namespace {

class FloatPeer : public Peer {
 public:
  FloatPeer(Forced forced, ThreadPool* pool) : forced_(std::move(forced)), pool_(pool) {
    forced_.float_mode = true;
  }
  std::string name() const override { return "float mode"; }
  std::unique_ptr<Contestant> gemm(const GemmData& data) override {
    return std::make_unique<GemmPlan>(data, forced_, pool_);
  }
  std::unique_ptr<Contestant> conv(const ConvData& data) override {
    return std::make_unique<ConvPlan>(data, forced_, pool_);
  }

 private:
  Forced forced_;
  ThreadPool* pool_;
};

}  // namespace

std::unique_ptr<Peer> make_peer_float(const Forced& forced, ThreadPool* pool) {
  return std::make_unique<FloatPeer>(forced, pool);
}

}  // namespace tool
