// SPDX-License-Identifier: Apache-2.0
// Fuzzes networks, planned for each goal or in forced parts, beside the same ops one by one on
// tensors that lie apart.
#include <cstring>

#include "fuzz/network/network.h"

namespace octet_fuzz {

void Network::compute() {
  alias_roots_.resize(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    alias_roots_[i].resize(tensors_[i].slice ? 0 : bytes_of(tensors_[i]));
    for (uint8_t& byte : alias_roots_[i]) byte = (uint8_t)random_();
  }
  before_ = alias_roots_;
  for (const octet_network_op& op : ops_) compute(op);
}

void Network::live() {
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

Bytes Network::dense(size_t i) const {
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

void Network::compute(const octet_network_op& op) {
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
      for (size_t k = 0; k < in.size(); ++k) call.inputs[k] = image(&in[k], tensors_[op.inputs[k]]);
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

std::vector<octet_network_part> Network::draw_parts() {
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

void Network::run(const octet_network& network, size_t concurrency) {
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
  if (!multiplies_s16() && c_->one_in(8)) walk(network, args);
}

void Network::walk(const octet_network& network, const octet_network_args& args) {
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

void Network::within_memory(octet_network_desc desc) {
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

void fuzz_one(Choices* c) {
  Network network(c);
  network.draw();
  network.compute();
  network.live();
}

}  // namespace octet_fuzz
