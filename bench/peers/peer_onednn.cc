// SPDX-License-Identifier: Apache-2.0
// Multiplies by oneDNN: a matmul primitive that chooses its own layout for the weights, or
// reads them as a run brings them, with a scale per channel and a bias.
#include "bench/peers/peer_onednn.h"

#include <fmt/format.h>
#include <omp.h>

#include "bench/peers/peer.h"

namespace tool {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

class OneDnnGemm : public OneDnnContestant {
 public:
  explicit OneDnnGemm(const GemmData& d)
      : OneDnnContestant(d.shape.m * d.shape.n * type_bytes(d.types.dst)) {
    const auto m = (memory::dim)d.shape.m, n = (memory::dim)d.shape.n, k = (memory::dim)d.shape.k;
    const memory::desc src({m, k}, onednn_type(d.types.lhs), Tag::ab),
        dst({m, n}, onednn_type(d.types.dst), Tag::ab);
    const memory::desc plain({k, n}, onednn_type(d.types.rhs), Tag::ab),
        any({k, n}, onednn_type(d.types.rhs), Tag::any);
    const memory::desc bias({1, n}, bias_type(d.scales), Tag::ab);
    dnnl::primitive_attr attributes;
    set_zero_point(&attributes, d.lhs_zero_point);
    set_scales(&attributes, d.scales, 1 << 1);
    const memory::desc given({k, n}, onednn_type(d.types.rhs),
                             d.run_time == OCTET_NK ? Tag::ba : Tag::ab),
        weights = d.run_time ? given : any;
    const auto primitive =
        d.bias.empty()
            ? onednn_describe<dnnl::matmul>(engine_, attributes, src, weights, dst)
            : onednn_describe<dnnl::matmul>(engine_, attributes, src, weights, bias, dst);
    primitive_ = dnnl::matmul(primitive);
    add(DNNL_ARG_SRC, src, d.lhs.as());
    if (d.run_time)
      add(DNNL_ARG_WEIGHTS, given, d.weights().as());
    else
      add_weights(plain, primitive.weights_desc(), d.rhs);
    add(DNNL_ARG_DST, dst, dst_.as());
    add_zero_point(d.lhs_zero_point);
    add_scales(d.scales);
    if (!d.bias.empty()) add_bias(bias, d.bias, d.scales);
  }
};

class OneDnn : public Peer {
 public:
  explicit OneDnn(size_t threads) { omp_set_num_threads((int)threads); }
  std::string name() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }
  std::unique_ptr<Contestant> gemm(const GemmData& data) override {
    if (data.types.rhs != OCTET_S8) return nullptr;  // it has no u8 weights
    try {
      return std::make_unique<OneDnnGemm>(data);
    } catch (const dnnl::error& error) {
      throw Error(fmt::format("oneDNN refuses {} {}: {}", data.shape.name(), data.types.name(),
                              error.what()));
    }
  }
  std::unique_ptr<Contestant> conv(const ConvData& data) override { return make_onednn_conv(data); }
};

}  // namespace

std::unique_ptr<Peer> make_onednn(size_t threads) {
  return make_peer_process("oneDNN", threads, [](size_t count) -> std::unique_ptr<Peer> {
    return std::make_unique<OneDnn>(count);
  });
}

}  // namespace tool
