// oneDNN 2.x: a matmul primitive that chooses its own layout for the weights, with per-channel output scales and an s32 bias.
#include <fmt/format.h>
#include <omp.h>

#include <dnnl.hpp>

#include "peer.h"

namespace tool {
namespace {

using dnnl::memory;
using DataType = memory::data_type;
using Tag = memory::format_tag;

DataType data_type(octet_type type) {
  switch (type) {
    case OCTET_S8: return DataType::s8;
    case OCTET_U8: return DataType::u8;
    case OCTET_S32: return DataType::s32;
    case OCTET_F32: return DataType::f32;
  }
  return DataType::undef;
}

class OneDnnGemm : public Contestant {
 public:
  explicit OneDnnGemm(const GemmData& d)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), dst_(d.shape.m * d.shape.n * type_bytes(d.types.dst)) {
    const auto m = static_cast<memory::dim>(d.shape.m), n = static_cast<memory::dim>(d.shape.n), k = static_cast<memory::dim>(d.shape.k);
    const memory::desc src({m, k}, data_type(d.types.lhs), Tag::ab), dst({m, n}, data_type(d.types.dst), Tag::ab);
    const memory::desc plain({k, n}, data_type(d.types.rhs), Tag::ab), any({k, n}, data_type(d.types.rhs), Tag::any);
    const memory::desc bias({1, n}, DataType::s32, Tag::ab);
    dnnl::primitive_attr attributes;
    if (!d.scales.empty()) attributes.set_output_scales(1 << 1, d.scales);
    const dnnl::matmul::desc matmul = d.bias.empty() ? dnnl::matmul::desc(src, any, dst) : dnnl::matmul::desc(src, any, bias, dst);
    const dnnl::matmul::primitive_desc primitive(matmul, attributes, engine_);
    primitive_ = dnnl::matmul(primitive);

    packed_ = Buffer(primitive.weights_desc().get_size());
    memory weights(primitive.weights_desc(), engine_, packed_.as());
    memory plain_weights(plain, engine_, d.rhs.as());
    dnnl::reorder(plain_weights, weights).execute(stream_, plain_weights, weights);
    stream_.wait();

    add(DNNL_ARG_SRC, memory(src, engine_, d.lhs.as()));
    add(DNNL_ARG_WEIGHTS, weights);
    add(DNNL_ARG_DST, memory(dst, engine_, dst_.as()));
    if (!d.bias.empty()) add(DNNL_ARG_BIAS, memory(bias, engine_, const_cast<int32_t*>(d.bias.data())));
  }

  void run(size_t calls) override {
    for (size_t i = 0; i < calls; ++i)
      if (dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(args_.size()), args_.data()) != dnnl_success)
        throw Error("oneDNN failed to run");
  }
  const void* dst() const override { return dst_.as(); }

 private:
  void add(int argument, const memory& operand) {
    operands_.push_back(operand);
    args_.push_back({argument, operand.get()});
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul primitive_;
  Buffer packed_, dst_;
  std::vector<memory> operands_;
  std::vector<dnnl_exec_arg_t> args_;
};

}  // namespace

std::string peer_name() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("onednn {}.{}.{}", version->major, version->minor, version->patch);
}

std::unique_ptr<Contestant> make_peer_gemm(const GemmData& data, size_t threads) {
  if (data.types.rhs != OCTET_S8) return nullptr;  // it has no u8 weights
  omp_set_num_threads(static_cast<int>(threads));
  try {
    return std::make_unique<OneDnnGemm>(data);
  } catch (const dnnl::error& error) {
    throw Error(fmt::format("oneDNN refuses {} {}: {}", data.shape.name(), data.types.name(), error.what()));
  }
}

}  // namespace tool
