// Fuzzes networks of convolutions, products and functions in any order: dead branches, slices of
// one tensor, windows that read padding only, shared objects; planned for each goal or in forced
// parts; beside the same ops one by one on tensors that lie apart. Tensors are of bytes or, in one
// network of three, of words, too.
#include "octet/network.h"

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/memory.h"
#include "fuzz/network_functions.h"
#include "octet/traffic.h"

namespace octet_fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

struct Destroy {
  void operator()(octet_conv2d* conv) const { octet_conv2d_destroy(conv); }
  void operator()(octet_gemm* gemm) const { octet_gemm_destroy(gemm); }
  void operator()(octet_network* network) const { octet_network_destroy(network); }
  void operator()(octet_traffic* traffic) const { octet_traffic_destroy(traffic); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

class Network {
 public:
  explicit Network(Choices* c) : c_(c), random_(c->random()) {}

  void draw() {
    const size_t inputs = 1 + c_->one_in(4);
    batch_ = c_->any<size_t>({1, 1, 1, 2, 3});
    words_ = c_->one_in(3);
    for (size_t i = 0; i < inputs; ++i) {
      // Tall tensors have repeating bands, which the planner skips
      const bool tall = c_->one_in(6);
      there_.push_back(tensor(tall ? 20 + c_->below(100) : 1 + c_->below(9),
                              1 + c_->below(tall ? 2 : 5), tall ? 1 + c_->below(3) : channels(),
                              type()));
      tensors_.back().keep = 1;
    }
    const size_t ops = 1 + c_->below(7);
    for (size_t tries = 0; ops_.size() < ops && tries < 3 * ops; ++tries) add_op();
    if (ops_.empty()) function(there_[0], 1);
    for (octet_network_tensor& t : tensors_)
      if (!t.slice && !t.keep) t.keep = c_->one_in(4);
  }

  // All alias roots after the ops one by one; inputs are drawn here.
  void compute() {
    alias_roots_.resize(tensors_.size());
    for (size_t i = 0; i < tensors_.size(); ++i) {
      alias_roots_[i].resize(tensors_[i].slice ? 0 : bytes_of(tensors_[i]));
      for (uint8_t& byte : alias_roots_[i]) byte = (uint8_t)random_();
    }
    before_ = alias_roots_;
    for (const octet_network_op& op : ops_) compute(op);
  }

  void live() {
    octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
    desc.tensors = tensors_.data(), desc.tensor_count = tensors_.size();
    desc.ops = ops_.data(), desc.op_count = ops_.size();
    desc.concurrency = c_->any<size_t>({1, 1, 2, 3, 5, SIZE_MAX});
    desc.goal = (octet_network_goal)c_->below(4);
    desc.cache_bytes = c_->any<size_t>({0, 0, 256, 2000, 30000});
    std::vector<octet_network_part> parts;
    if (c_->one_in(2)) parts = draw_parts();
    if (!parts.empty()) desc.parts = parts.data(), desc.part_count = parts.size();
    // The workspace of SIZE_MAX tasks exceeds all memory and must be refused
    octet_network* created = nullptr;
    octet_error error;
    const octet_status status = checked("octet_network_create", &error, [&](octet_error* e) {
      return octet_network_create(&desc, &created, e);
    });
    Owned<octet_network> network(created);
    if (status == OCTET_BAD_SIZE && desc.concurrency == SIZE_MAX) {
      ++tally.refusals;
      desc.concurrency = 4;
      must_accept("octet_network_create",
                  [&](octet_error* e) { return octet_network_create(&desc, &created, e); });
      network.reset(created);
    } else if (status != OCTET_OK) {
      fail("octet_network_create refused what is valid: %s", error.message);
    }
    if (desc.concurrency == SIZE_MAX) return;  // more than lines, and than threads of any pool
    run(*network, desc.concurrency);
    if (c_->one_in(8)) within_memory(desc);
  }

 private:
  size_t channels() { return c_->any<size_t>({1, 2, 3, 4, 8, 16, 17}); }
  octet_type type() {
    return words_ ? c_->any({OCTET_S16, OCTET_S16, OCTET_U8, OCTET_S8})
                  : c_->any({OCTET_U8, OCTET_S8});
  }
  // Of the output of a convolution or a product: of bytes as it comes.
  octet_type type_of_output(size_t in) {
    if (tensors_[in].type == OCTET_S16) return OCTET_S16;
    if (open_ != kNone && is_8bit(tensors_[open_].type)) return tensors_[open_].type;
    return type_8bit(c_);
  }
  static size_t bytes_of(const octet_network_tensor& t) {
    return t.batch * t.h * t.w * t.channels * element_bytes(t.type);
  }
  size_t alias_root(size_t i) const { return tensors_[i].slice ? tensors_[i].parent : i; }

  size_t tensor(size_t h, size_t w, size_t channels, octet_type type) {
    octet_network_tensor t = {};
    t.batch = batch_, t.h = h, t.w = w, t.channels = channels, t.type = type;
    tensors_.push_back(t);
    return tensors_.size() - 1;
  }
  // A new tensor, or a slice of one whose rest other ops may write.
  size_t output(size_t h, size_t w, size_t channels, octet_type type) {
    const bool open = open_ != kNone && tensors_[open_].h == h && tensors_[open_].w == w &&
                      tensors_[open_].type == type && tensors_[open_].channels - used_ >= channels;
    if (!open && c_->one_in(3))
      open_ = tensor(h, w, channels + c_->below(20), type), used_ = 0;
    else if (!open || c_->one_in(3))
      return tensor(h, w, channels, type);
    octet_network_tensor t = tensors_[open_];
    t.slice = 1, t.parent = open_, t.first_channel = used_, t.channels = channels;
    used_ += channels;
    tensors_.push_back(t);
    return tensors_.size() - 1;
  }
  size_t pick() {  // the latest ones more often
    return there_[there_.size() - 1 - c_->below(std::min<size_t>(there_.size(), 4))];
  }
  // Another tensor of these sizes, of bytes where `i` is.
  size_t alike(size_t i) {
    const octet_network_tensor& t = tensors_[i];
    for (const size_t other : there_) {
      const octet_network_tensor& o = tensors_[other];
      if (alias_root(other) != alias_root(i) && o.h == t.h && o.w == t.w &&
          o.channels == t.channels && is_8bit(o.type) == is_8bit(t.type))
        return other;
    }
    return kNone;
  }

  void add_op() {
    const size_t in = pick();
    switch (c_->below(10)) {
      case 0:
        return function(in, 1);
      case 1:
        return function(in, 1 + c_->below(OCTET_NETWORK_INPUTS_MAX));
      case 2:
        return product(in, false);
      case 3:
        return product(in, c_->one_in(2) && !tensors_[in].slice);
      case 4:  // a slice of a tensor, as a later input
        if (!tensors_[in].slice && tensors_[in].channels > 1) {
          octet_network_tensor t = tensors_[in];
          t.slice = 1, t.keep = 0, t.parent = in, t.first_channel = c_->below(t.channels - 1);
          t.channels = 1 + c_->below(t.channels - t.first_channel);
          tensors_.push_back(t);
          there_.push_back(tensors_.size() - 1);
        }
        return;
      case 5:
      case 6:
        return library_function(in);
      default:
        return convolution(in);
    }
  }

  void function(size_t first, size_t inputs) {
    octet_network_op op = {};
    op.inputs[op.input_count++] = first;
    while (op.input_count < inputs) op.inputs[op.input_count++] = pick();
    Mix& f = mixes_.emplace_back();
    f.lines = {mix,
               &f,
               c_->any<size_t>({1, 2, 3, 0, 5}),
               c_->any<size_t>({1, 2, 0, 3, 12}),
               c_->any<size_t>({1, 0, 2, 3}),
               c_->any<size_t>({0, 1, 2, 5, 9})};
    op.function = &f.lines;
    const octet_network_tensor t = tensors_[first];
    const octet_type type = words_ ? this->type() : type_of_output(first);
    op.output = c_->one_in(2) ? output(1 + c_->below(9), 1 + c_->below(5), channels(), type)
                              : output(t.h, t.w, t.channels, type);
    // A function may not read slices of the tensor that it writes
    for (size_t k = 0; k < op.input_count; ++k)
      if (alias_root(op.inputs[k]) == alias_root(op.output)) op.inputs[k] = there_[0];
    if (alias_root(op.inputs[0]) == alias_root(op.output)) return;
    for (size_t k = 0; k < op.input_count; ++k)
      f.elements[k] = element_bytes(tensors_[op.inputs[k]].type);
    f.out_element = element_bytes(tensors_[op.output].type);
    add(op);
  }

  // One of the library's, of two tensors of the same type now and then.
  void library_function(size_t in) {
    LibraryFunction drawn = draw_function(c_, tensors_[in]);
    octet_network_op op = {};
    op.inputs[op.input_count++] = in;
    if (drawn.inputs == 2) {
      const size_t other = alike(in);
      op.inputs[op.input_count++] =
          other == kNone || tensors_[other].type != tensors_[in].type ? in : other;
    }
    op.output = output(drawn.h, drawn.w, drawn.channels, drawn.type);
    for (size_t k = 0; k < op.input_count; ++k)
      if (alias_root(op.inputs[k]) == alias_root(op.output)) return;
    library_.push_back(std::move(drawn));
    op.function = &library_.back().lines;
    add(op);
  }

  void add(const octet_network_op& op) {
    ops_.push_back(op);
    there_.push_back(op.output);
    if (!tensors_[op.output].slice) return;
    const size_t parent = alias_root(op.output);
    size_t written = 0;
    for (const octet_network_op& other : ops_)
      if (alias_root(other.output) == parent) written += tensors_[other.output].channels;
    if (written == tensors_[parent].channels) there_.push_back(parent);
  }

  // Draws the fields that convolutions and products share.
  template <typename Desc>
  void complete(Desc* desc, octet_network_op* op, size_t depth) {
    const octet_network_tensor &in = tensors_[op->inputs[0]], &out = tensors_[op->output];
    desc->lhs_type = in.type, desc->rhs_type = OCTET_S8, desc->dst_type = out.type;
    const bool words = in.type == OCTET_S16;
    desc->lhs_zero_point = words ? 0 : in.type == OCTET_U8 ? 100 : -5;
    scale_ = 1.0f / (float)(40 + 30 * depth);
    desc->epilogue.scales = &scale_, desc->epilogue.scale_count = 1;
    desc->epilogue.dst_zero_point = words ? 0 : out.type == OCTET_U8 ? 120 : 3;
    if (const size_t residual = words || !c_->one_in(3) ? kNone : alike(op->output);
        residual != kNone) {
      desc->epilogue.residual.type = tensors_[residual].type;
      desc->epilogue.residual.scale = 0.75f;
      op->inputs[op->input_count++] = residual;
    }
  }

  Block weights(size_t count) {
    Bytes values(count);
    for (uint8_t& value : values) value = (uint8_t)random_();
    return Block(c_, values);
  }

  void convolution(size_t in) {
    const octet_network_tensor t = tensors_[in];
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    octet_conv2d_shape& s = filter.shape;
    s.batch_max = t.batch, s.in_h_max = t.h, s.in_w_max = t.w, s.in_channels = t.channels;
    s.kernel_h = 1 + c_->below(3), s.kernel_w = c_->one_in(2) ? 1 + c_->below(3) : s.kernel_h;
    s.stride_h = c_->any<size_t>({1, 1, 2, 3, 12}), s.stride_w = c_->any<size_t>({1, 1, 2});
    s.dilation_h = c_->any<size_t>({1, 1, 1, 2});
    s.pad_top = c_->any<size_t>({0, 1, 1, 2, 7}), s.pad_bottom = c_->any<size_t>({0, 1, 1, 2, 6});
    s.pad_left = c_->below(3), s.pad_right = c_->below(3);
    s.out_channels = channels();
    if (c_->one_in(4)) s.groups = s.out_channels = t.channels;
    if (c_->one_in(6) && s.groups == 1) s.transposed = 1;
    if (c_->one_in(3)) {  // Winograd's
      s.kernel_h = s.kernel_w = 3;
      s.stride_h = s.stride_w = 1 + c_->one_in(4);
      s.dilation_h = 1, s.transposed = 0;
    }
    size_t h = 0, w = 0;
    if (octet_conv2d_output_size(&s, t.h, t.w, &h, &w, nullptr) != OCTET_OK || h * w > 300) return;
    const Block data = weights(s.out_channels * s.kernel_h * s.kernel_w * (t.channels / s.groups));
    filter.type = OCTET_S8, filter.data = data.data();
    filter.algorithm = (octet_conv_algorithm)c_->below(OCTET_CONV_GROUPED + 1);
    if (t.type == OCTET_S16 && filter.algorithm == OCTET_CONV_WINOGRAD_2X2_INT8)
      filter.algorithm = OCTET_CONV_AUTO;  // of bytes only
    size_t bytes = 0;
    if (octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, nullptr) != OCTET_OK) {
      filter.algorithm = OCTET_CONV_AUTO;
      must_accept("octet_conv2d_pack_size", [&](octet_error* e) {
        return octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, e);
      });
    }
    blobs_.emplace_back(c_, bytes, OCTET_ALIGNMENT);
    must_accept("octet_conv2d_pack", [&](octet_error* e) {
      return octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blobs_.back().data(), bytes, e);
    });
    octet_network_op op = {};
    op.inputs[op.input_count++] = in;
    op.output = output(h, w, s.out_channels, type_of_output(in));
    octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
    desc.shape = s;
    complete(&desc, &op, s.kernel_h * s.kernel_w * (t.channels / s.groups));
    desc.packed = blobs_.back().data(), desc.packed_bytes = bytes;
    octet_conv2d* conv = nullptr;
    must_accept("octet_conv2d_create",
                [&](octet_error* e) { return octet_conv2d_create(&desc, &conv, e); });
    convs_.emplace_back(conv);
    op.conv2d = conv;
    add(op);
  }

  void product(size_t in, bool flat) {
    const octet_network_tensor t = tensors_[in];
    const size_t k = flat ? t.h * t.w * t.channels : t.channels, n = channels();
    if (flat && k == t.channels) flat = false;  // an image of one pixel is a pixel
    octet_network_op op = {};
    op.inputs[op.input_count++] = in;
    op.output =
        flat ? output(1, 1, n, type_of_output(in)) : output(t.h, t.w, n, type_of_output(in));
    if (alias_root(op.output) == alias_root(in)) return;  // refused for products
    const Block data = weights(n * k);
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = data.data();
    size_t bytes = 0;
    must_accept("octet_pack_size",
                [&](octet_error* e) { return octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, e); });
    blobs_.emplace_back(c_, bytes, OCTET_ALIGNMENT);
    must_accept("octet_pack", [&](octet_error* e) {
      return octet_pack(&rhs, OCTET_ISA_AUTO, blobs_.back().data(), bytes, e);
    });
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    desc.m_max = t.batch * (flat ? 1 : t.h * t.w), desc.n = n, desc.k = k;
    complete(&desc, &op, k);
    desc.packed = blobs_.back().data(), desc.packed_bytes = bytes;
    octet_gemm* gemm = nullptr;
    must_accept("octet_gemm_create",
                [&](octet_error* e) { return octet_gemm_create(&desc, &gemm, e); });
    gemms_.emplace_back(gemm);
    op.gemm = gemm;
    add(op);
  }

  // ---- one by one

  Bytes dense(size_t i) const {
    const octet_network_tensor &t = tensors_[i], &whole = tensors_[alias_root(i)];
    const size_t first = t.slice ? t.first_channel : 0, element = element_bytes(t.type);
    Bytes bytes;
    for (size_t p = 0; p < t.batch * t.h * t.w; ++p) {
      const auto from =
          alias_roots_[alias_root(i)].begin() + (ptrdiff_t)((p * whole.channels + first) * element);
      bytes.insert(bytes.end(), from, from + (ptrdiff_t)(t.channels * element));
    }
    return bytes;
  }

  void compute(const octet_network_op& op) {
    std::vector<Bytes> in;
    for (size_t k = 0; k < op.input_count; ++k) in.push_back(dense(op.inputs[k]));
    const octet_network_tensor& t = tensors_[op.output];
    Bytes out(bytes_of(t));
    size_t bytes = 0;
    if (op.conv2d) {
      octet_conv2d_workspace(op.conv2d, 0, 0, 0, 1, &bytes, nullptr);
      const Block workspace(c_, bytes, OCTET_ALIGNMENT);
      octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
      args.lhs = in[0].data(), args.dst = out.data();
      if (op.input_count > 1) args.residual = in[1].data();
      args.workspace = workspace.data(), args.workspace_bytes = bytes;
      must_accept("octet_conv2d_run",
                  [&](octet_error* e) { return octet_conv2d_run(op.conv2d, &args, e); });
    } else if (op.gemm) {
      octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
      args.m = t.batch * t.h * t.w;
      octet_gemm_workspace(op.gemm, args.m, 1, &bytes, nullptr);
      const Block workspace(c_, bytes, OCTET_ALIGNMENT);
      args.lhs = in[0].data(), args.dst = out.data();
      if (op.input_count > 1) args.residual = in[1].data();
      args.workspace = workspace.data(), args.workspace_bytes = bytes;
      must_accept("octet_gemm_run",
                  [&](octet_error* e) { return octet_gemm_run(op.gemm, &args, e); });
    } else {
      for (size_t i = 0; i < t.batch; ++i) {
        const auto image = [i](Bytes* from, const octet_network_tensor& of) {
          const size_t pixel = of.channels * element_bytes(of.type), line = of.w * pixel;
          return octet_network_image{
              from->data() + i * of.h * line, pixel, line, of.h, of.w, of.channels, 0, 0};
        };
        octet_network_call call = {};
        call.image = i, call.end = t.h;
        for (size_t k = 0; k < in.size(); ++k)
          call.inputs[k] = image(&in[k], tensors_[op.inputs[k]]);
        call.output = image(&out, t);
        op.function->run(op.function->context, &call);
      }
    }
    const octet_network_tensor& whole = tensors_[alias_root(op.output)];
    Bytes& to = alias_roots_[alias_root(op.output)];
    const size_t element = element_bytes(t.type), pixel = t.channels * element;
    for (size_t p = 0; p < t.batch * t.h * t.w; ++p)
      std::memcpy(&to[(p * whole.channels + (t.slice ? t.first_channel : 0)) * element],
                  &out[p * pixel], pixel);
  }

  // ---- together

  bool reads_its_alias_root(const octet_network_op& op) const {
    for (size_t k = 0; k < op.input_count; ++k)
      if (alias_root(op.inputs[k]) == alias_root(op.output)) return true;
    return false;
  }
  bool is_flat(const octet_network_op& op) const {
    return op.gemm && tensors_[op.inputs[0]].h * tensors_[op.inputs[0]].w > 1 &&
           tensors_[op.output].h * tensors_[op.output].w == 1;
  }

  std::vector<octet_network_part> draw_parts() {
    std::vector<octet_network_part> parts;
    for (size_t at = 0; at < ops_.size();) {
      octet_network_part part = {at, at + 1 + c_->below(ops_.size() - at),
                                 c_->any<size_t>({1, 2, 3, 0, 4, 9})};
      bool must_chain = false;
      for (size_t i = at; i < part.end_op; ++i) {
        must_chain |= ops_[i].conv2d && reads_its_alias_root(ops_[i]);
        if (is_flat(ops_[i])) part.end_op = i > at ? i : i + 1;
      }
      if (is_flat(ops_[at]))
        part.end_op = at + 1, part.band_lines = 0;
      else if (must_chain && !part.band_lines)
        part.band_lines = 1;
      if (c_->one_in(3)) part.band_lines |= OCTET_NETWORK_BY_IMAGE;
      parts.push_back(part);
      at = part.end_op;
    }
    return parts;
  }

  void run(const octet_network& network, size_t concurrency) {
    size_t bytes = 0;
    must_accept("octet_network_workspace",
                [&](octet_error* e) { return octet_network_workspace(&network, &bytes, e); });
    const Block workspace(c_, bytes, OCTET_ALIGNMENT);
    std::vector<Block> blocks(tensors_.size());
    std::vector<void*> memory(tensors_.size());
    Foreseen after;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!tensors_[i].keep) continue;
      blocks[i] = Block(c_, before_[i].size(), element_bytes(tensors_[i].type));
      std::memcpy(blocks[i].data(), before_[i].data(), before_[i].size());
      memory[i] = blocks[i].data();
      after.add(blocks[i]);
      std::memcpy(after.at(memory[i]), alias_roots_[i].data(), alias_roots_[i].size());
    }
    octet_network_args args = OCTET_NETWORK_ARGS_INIT;
    args.tensors = memory.data(), args.workspace = workspace.data(), args.workspace_bytes = bytes;
    Parallel parallel = {c_->random(), concurrency};
    args.concurrency = 1 + c_->below(concurrency);
    if (args.concurrency > 1) args.parallel_for = parallel_for, args.parallel_context = &parallel;
    if (bytes && c_->one_in(8)) {
      octet_network_args less = args;
      less.workspace_bytes = c_->below(bytes);
      must_refuse("octet_network_run", "a workspace that is too small",
                  [&](octet_error* e) { return octet_network_run(&network, &less, e); });
    }
    must_accept("octet_network_run",
                [&](octet_error* e) { return octet_network_run(&network, &args, e); });
    if (after.difference()) fail("a network gives other bytes than its ops one by one");
    ++tally.runs;
    for (const Block& block : blocks) tally.outputs += block.bytes();
    if (!multiplies_words() && c_->one_in(8)) walk(network, args);
  }

  // Of which there is no model of the traffic.
  bool multiplies_words() const {
    for (const octet_network_op& op : ops_)
      if ((op.conv2d || op.gemm) && tensors_[op.inputs[0]].type == OCTET_S16) return true;
    return false;
  }

  void walk(const octet_network& network, const octet_network_args& args) {
    octet_traffic_options options = OCTET_TRAFFIC_OPTIONS_INIT;
    options.layers = ops_.size(), options.cache_bytes = 4096;
    octet_traffic* created = nullptr;
    must_accept("octet_traffic_create",
                [&](octet_error* e) { return octet_traffic_create(&options, &created, e); });
    const Owned<octet_traffic> traffic(created);
    must_accept("octet_traffic_network", [&](octet_error* e) {
      return octet_traffic_network(traffic.get(), &network, &args, e);
    });
  }

  // The smallest possible memory is enough.
  void within_memory(octet_network_desc desc) {
    desc.goal = OCTET_NETWORK_MEMORY, desc.parts = nullptr, desc.part_count = 0;
    octet_network* created = nullptr;
    const auto create = [&](octet_error* e) { return octet_network_create(&desc, &created, e); };
    must_accept("octet_network_create", create);
    const Owned<octet_network> least(created);
    octet_network_explanation explanation = OCTET_NETWORK_EXPLANATION_INIT;
    must_accept("octet_network_explain", [&](octet_error* e) {
      return octet_network_explain(least.get(), 0, &explanation, e);
    });
    run(*least, desc.concurrency);
    if (!explanation.map_bytes) return;
    desc.memory_bytes = explanation.map_bytes + c_->below(2) * c_->below(3000);
    must_accept("octet_network_create", create);
    const Owned<octet_network> within(created);
    run(*within, desc.concurrency);
    // Less is refused, or kept to: the planner finds the minimum by an estimate
    desc.memory_bytes = 1 + c_->below(explanation.map_bytes);
    if (checked("octet_network_create", create) != OCTET_OK) {
      ++tally.refusals;
      return;
    }
    const Owned<octet_network> less(created);
    must_accept("octet_network_explain", [&](octet_error* e) {
      return octet_network_explain(less.get(), 0, &explanation, e);
    });
    if (explanation.map_bytes > desc.memory_bytes)
      fail("%zu bytes for tensors, %zu were allowed", explanation.map_bytes, desc.memory_bytes);
    run(*less, desc.concurrency);
  }

  static constexpr size_t kNone = SIZE_MAX;
  Choices* c_;
  Random random_;
  size_t batch_ = 1;
  bool words_ = false;
  float scale_ = 1;
  std::vector<octet_network_tensor> tensors_;
  std::vector<octet_network_op> ops_;
  std::vector<size_t> there_;       // tensors that ops may read
  size_t open_ = kNone, used_ = 0;  // the tensor whose channels are handed out in slices
  std::deque<Mix> mixes_;
  std::deque<LibraryFunction> library_;
  std::deque<Block> blobs_;  // outlive the objects
  std::vector<Owned<octet_conv2d>> convs_;
  std::vector<Owned<octet_gemm>> gemms_;
  std::vector<Bytes> alias_roots_, before_;
};

}  // namespace

void fuzz_one(Choices* c) {
  Network network(c);
  network.draw();
  network.compute();
  network.live();
}

}  // namespace octet_fuzz
