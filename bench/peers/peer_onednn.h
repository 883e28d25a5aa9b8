// Declares the common part of products and convolutions by oneDNN 2.x: an engine, a primitive and
// its arguments.
#pragma once

#include <dnnl.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/machine/contestant.h"
#include "bench/problems/conv_data.h"
#include "bench/problems/operands.h"

namespace tool {

class OneDnnContestant : public Contestant {
 public:
  void run(size_t calls) override {
    for (size_t i = 0; i < calls; ++i)
      if (dnnl_primitive_execute(primitive_.get(), stream_.get(), (int)args_.size(),
                                 args_.data()) != dnnl_success)
        throw Error("oneDNN failed to run");
  }
  const void* dst() const override { return dst_.as(); }

 protected:
  explicit OneDnnContestant(size_t dst_bytes)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), dst_(dst_bytes) {}

  void add(int argument, const dnnl::memory::desc& desc, const void* data) {
    operands_.emplace_back(desc, engine_, (void*)data);
    args_.push_back({argument, operands_.back().get()});
  }
  // Reorders the weights once, into the layout that the primitive chose.
  void add_weights(const dnnl::memory::desc& plain, const dnnl::memory::desc& chosen,
                   const Buffer& weights) {
    packed_ = Buffer(chosen.get_size());
    dnnl::memory from(plain, engine_, weights.as()), to(chosen, engine_, packed_.as());
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
    add(DNNL_ARG_WEIGHTS, chosen, packed_.as());
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  Buffer dst_;

 private:
  Buffer packed_;
  std::vector<dnnl::memory> operands_;
  std::vector<dnnl_exec_arg_t> args_;
};

std::unique_ptr<Contestant> make_onednn_conv(const ConvData& data);  // null if oneDNN has none

inline dnnl::memory::data_type onednn_type(octet_type type) {
  switch (type) {
    case OCTET_S8: return dnnl::memory::data_type::s8;
    case OCTET_U8: return dnnl::memory::data_type::u8;
    case OCTET_S32: return dnnl::memory::data_type::s32;
    case OCTET_F32: return dnnl::memory::data_type::f32;
    default: break;
  }
  return dnnl::memory::data_type::undef;
}

}  // namespace tool
