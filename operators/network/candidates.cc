// Lists the candidates for a network's parts, with predicted time, memory and traffic.
#include "operators/network/candidates.h"

#include "operators/common/check.h"
#include "operators/conv/plan.h"

namespace octet {
namespace {

double part_of(size_t some, size_t all) { return all ? (double)some / (double)all : 0; }

// Bytes of a tensor's own channels, in so many images.
size_t bytes_of(const NetworkTensor& t, size_t images) {
  return images * t.h * t.w * t.channels * element_bytes(t.type);
}

// The slowdown of an op in bands of so many of its lines: bands cut tiles at their ends, and each
// fetches weights and tables anew. An estimate (docs/chains.md).
double band_factor(size_t tile, const NetworkTensor& out, size_t lines) {
  constexpr double kPixels = 64;  // pixels' worth of work that each band costs
  return (double)round_up(lines, tile) / (double)lines * (1 + kPixels / (double)(lines * out.w));
}

class Costs {
 public:
  // ops: two for each op of the network.
  Costs(const octet_network& n, const PlanMachine& machine, OpCost* ops)
      : n_(n), machine_(machine), ops_(ops) {
    for (size_t i = 0; i < n.op_count; ++i) all_weights_ += weights_of(n.ops[i]);
    for (size_t i = 0; i < n.op_count; ++i) {
      OpCost *const whole = ops + 2 * i, *const by_image = whole + 1;
      *whole = *by_image = cost_of_op(i, false);
      if (n.tensors[n.ops[i].output].batch > 1) *by_image = cost_of_op(i, true);
      // Sums of the ops before: a range's sum is a difference
      for (OpCost* c = whole; i && c <= by_image; ++c)
        c->alone += c[-2].alone, c->least += c[-2].least;
    }
  }

  // Predicted time, of a part whose rings are marked.
  double microseconds_of_part(const NetworkPart& part) const {
    double sum = 0;
    for (size_t i = part.first; i < part.end; ++i) sum += time_of(part, i);
    return part.by_image ? sum * images_of_part(part) : sum;
  }

  // The time of a part's ops by themselves, by image if the part is, and the least time that they
  // can take in a part, whatever its bands.
  double alone(const NetworkPart& part) const { return sum(part, &OpCost::alone); }
  double least(const NetworkPart& part) const { return sum(part, &OpCost::least); }
  // True if the weights alone leave the cache no room for a chain.
  bool too_heavy(size_t first, size_t end) const {
    size_t bytes = 0;
    for (size_t i = first; i < end; ++i) bytes += weights_of(n_.ops[i]);
    return bytes > machine_.cache_bytes / 4 * 3;
  }

  void reckon(PartCandidate* c) const {
    const NetworkPart& part = c->part;
    c->microseconds = microseconds_of_part(part);
    c->traffic = 0;
    for (size_t i = part.first; i < part.end; ++i) {
      const NetworkOp& op = n_.ops[i];
      // the cache allocates its lines, then writes them back
      c->traffic += 2 * traffic_of(part, op.output);
      for (size_t k = 0; k < op.input_count; ++k) c->traffic += traffic_of(part, op.inputs[k]);
    }
    c->live = part.tasks * part.ring_bytes;
    if (part.band) c->traffic += (double)c->live;  // read once, then stays in the cache
    if (part.by_image) c->traffic *= images_of_part(part);
    c->traffic += weights_traffic(part);
    for (size_t i = 0; i < n_.tensor_count; ++i) {
      const NetworkTensor& t = n_.tensors[i];
      if (t.alias_root == i && !t.kept && t.first_use != kNoUse && t.first_use < part.end &&
          t.last_use >= part.first && !is_ring_of(part, t))
        c->live += round_up(part.by_image ? t.image : t.bytes, kAlignment);
    }
  }

  MergeCost merge(size_t op) const {
    MergeCost cost = {};
    for (size_t i = 0; i < n_.tensor_count; ++i) {
      const NetworkTensor& t = n_.tensors[i];
      if (t.alias_root != i || t.kept || t.first_use == kNoUse || t.first_use >= op ||
          t.last_use < op)
        continue;
      cost.live += round_up(t.bytes, kAlignment) - round_up(t.image, kAlignment);
      // counted twice, as for outputs
      cost.traffic += 2 * (missed(t.bytes) - (double)t.batch * missed(t.image));
    }
    return cost;
  }

  // True if everything that a band uses stays in the cache until the next band: rings, weights and
  // scratch of one task, and the passing lines of other tensors.
  bool stays_in_cache(const NetworkPart& part) const {
    size_t bytes = part.ring_bytes + passing_bytes(part);
    for (size_t i = part.first; i < part.end; ++i) {
      const NetworkOp& op = n_.ops[i];
      bytes += weights_of(op);
    }
    return bytes + part.scratch_bytes / 2 <= machine_.cache_bytes / 4 * 3;
  }

 private:
  const NetworkTensor& alias_root(size_t tensor) const {
    return n_.tensors[n_.tensors[tensor].alias_root];
  }
  // is_ring of a tensor outside this part was set for another part, which was shaped earlier.
  static bool is_ring_of(const NetworkPart& part, const NetworkTensor& alias_root) {
    return alias_root.is_ring && alias_root.first_use >= part.first &&
           alias_root.last_use < part.end;
  }
  size_t ring_bytes(const NetworkPart& part, size_t tensor) const {
    if (!is_ring_of(part, alias_root(tensor))) return 0;
    return bytes_of(n_.tensors[tensor], images_of(part, n_.tensors[tensor]));
  }
  size_t passing_bytes(const NetworkPart& part) const {
    size_t bytes = 0;
    for (size_t i = part.first; i < part.end; ++i) {
      const NetworkOp& op = n_.ops[i];
      const size_t h = n_.tensors[op.output].h;
      const auto pass = [&](size_t tensor) {
        const NetworkTensor& t = alias_root(tensor);
        if (!is_ring_of(part, t) && !touched(part, i, n_.tensors[tensor].alias_root))
          bytes += smaller(t.h, divide_up(op.most * t.h, h)) * t.line;
      };
      for (size_t k = 0; k < op.input_count; ++k) pass(op.inputs[k]);
      pass(op.output);
    }
    return bytes;
  }
  // True if an op of the part before op `end` reads or writes it.
  bool touched(const NetworkPart& part, size_t end, size_t alias_root) const {
    for (size_t i = part.first; i < end; ++i) {
      const NetworkOp& op = n_.ops[i];
      if (n_.tensors[op.output].alias_root == alias_root) return true;
      for (size_t k = 0; k < op.input_count; ++k)
        if (n_.tensors[op.inputs[k]].alias_root == alias_root) return true;
    }
    return false;
  }
  // Bytes beyond the cache. A tensor that fits half the cache may still be there when it is read,
  // so 1/12 of it counts: a judgement after runs of the model (docs/chains.md).
  double traffic_of(const NetworkPart& part, size_t tensor) const {
    if (is_ring_of(part, alias_root(tensor))) return 0;
    const NetworkTensor& t = n_.tensors[tensor];
    const double some = (double)bytes_of(t, images_of(part, t)), all = (double)bytes_of(t, t.batch);
    // The caller's tensors come from memory and go there: their size in all images counts
    return alias_root(tensor).kept && part.by_image ? missed((size_t)all) * some / all
                                                    : missed((size_t)some);
  }
  double missed(size_t bytes) const {
    return bytes > machine_.cache_bytes / 2 ? (double)bytes : (double)bytes / 12;
  }

  static size_t weights_of(const NetworkOp& op) {
    return op.conv ? op.conv->packed_bytes : op.gemm ? op.gemm->packed_bytes : 0;
  }
  // Weights' traffic of a batch. With one image all plans read the weights equally often, so it is
  // left out.
  double weights_traffic(const NetworkPart& part) const {
    const size_t batch = n_.tensors[n_.ops[part.first].output].batch;
    if (batch == 1) return 0;
    double bytes = 0, again = 0;
    for (size_t i = part.first; i < part.end; ++i) {
      const NetworkOp& op = n_.ops[i];
      bytes += (double)weights_of(op) * (part.band ? 1 : passes_of(op, part));
      if (!part.band) again += rows_again(op, part);
    }
    if (!part.by_image) return bytes + again;
    return bytes * (all_weights_ > machine_.cache_bytes / 2 ? (double)batch : 1) +
           again * (double)batch;
  }
  // A block of rows is multiplied by one micro-panel of weights after the other. bytes: the part of
  // the input that it reads, and its gathered copy. Zeros for algorithms that read their input in
  // another way.
  struct Blocks {
    size_t count, bytes, micro_panels;
  };
  Blocks blocks_of(const NetworkOp& op, const NetworkPart& part) const {
    const NetworkTensor &in = n_.tensors[op.inputs[0]], &out = n_.tensors[op.output];
    const Choice& choice = op.conv ? op.conv->choice : op.gemm->choice;
    if (!choice.block || (op.conv && !op.conv->plan.implementation->passes)) return {};
    const MicroKernel& kernel = op.conv ? *op.conv->plan.kernel : *op.gemm->plan.kernel;
    const size_t images = images_of(part, out), cols = op.conv ? out.channels : op.gemm->plan.n,
                 rows = images * (op.gemm && op.flat ? 1 : out.h * out.w),
                 block = smaller(rows, choice.block);
    const size_t taps = op.conv ? op.conv->plan.shape.taps() : 1,
                 depth = op.conv ? op.conv->plan.shape.group_in() : op.gemm->plan.k,
                 tiles = divide_up(block, kernel.mr);
    const double read = (double)bytes_of(in, images_of(part, in)) * part_of(block, rows);
    const size_t gathered = kernel.gather ? tiles * kernel.lhs_panel_bytes(depth, taps) : 0,
                 pointers = taps > 1 ? block * taps * sizeof(void*) : 0;
    return {divide_up(rows, block), (size_t)read + gathered + pointers, divide_up(cols, kernel.nr)};
  }
  bool stay(size_t bytes) const { return bytes <= machine_.cache_bytes / 8 * 7; }
  // Bytes of blocks that leave the cache before the next micro-panel reads them again.
  double rows_again(const NetworkOp& op, const NetworkPart& part) const {
    if (!op.conv && !op.gemm) return 0;
    const Blocks b = blocks_of(op, part);
    return b.micro_panels && !stay(b.bytes)
               ? (double)b.count * (double)(b.micro_panels - 1) * (double)b.bytes
               : 0;
  }
  // How often an op reads its weights: once per block of rows if they do not stay in the cache,
  // else once.
  double passes_of(const NetworkOp& op, const NetworkPart& part) const {
    const size_t weights = weights_of(op);
    if (!weights) return 1;
    const Choice& choice = op.conv ? op.conv->choice : op.gemm->choice;
    if (choice.pass) return 1;
    if (const Blocks b = blocks_of(op, part); b.micro_panels)
      return stay(weights + b.bytes) ? 1 : (double)b.count;
    if (weights <= machine_.cache_bytes / 2) return 1;
    if (!choice.block) return 1;
    const NetworkTensor& out = n_.tensors[op.output];
    const size_t lines =
                     op.conv
                         ? op.conv->plan.implementation->grain(op.conv->plan, out.h, out.w).lines
                         : 1,
                 tiles = divide_up(out.h, lines) * divide_up(out.w, lines);
    return (double)divide_up(images_of(part, out) * tiles, choice.block);
  }

  // Lines that an op computes in a band; 0: all of them at once.
  size_t lines_of(const NetworkPart& part, const NetworkOp& op) const {
    const size_t h = n_.tensors[op.output].h, last = n_.tensors[n_.ops[part.end - 1].output].h;
    return smaller(h, divide_up(part.band * h, last));
  }

  double images_of_part(const NetworkPart& part) const {
    return (double)n_.tensors[n_.ops[part.first].output].batch;
  }
  const OpCost& cost(size_t op, bool by_image) const { return ops_[2 * op + by_image]; }
  double sum(const NetworkPart& part, double OpCost::*field) const {
    const double before = part.first ? cost(part.first - 1, part.by_image).*field : 0;
    return cost(part.end - 1, part.by_image).*field - before;
  }

  OpCost cost_of_op(size_t index, bool by_image) const {
    const NetworkOp& op = n_.ops[index];
    NetworkPart alone = {};
    alone.first = index, alone.end = index + 1, alone.by_image = by_image;
    const NetworkTensor &in = n_.tensors[op.inputs[0]], &out = n_.tensors[op.output];
    OpCost c = {};
    size_t inner = 0;
    const auto add = [&](size_t tensor) {
      const NetworkTensor& t = n_.tensors[tensor];
      const size_t bytes = bytes_of(t, images_of(alone, t));
      c.bytes += bytes;
      if (!alias_root(tensor).kept) inner += bytes;
    };
    add(op.output);
    for (size_t k = 0; k < op.input_count; ++k) add(op.inputs[k]);
    c.tile = 1;
    if (op.conv) {
      const ConvCost cost =
          octet::cost_of(*op.conv, images_of(alone, in), in.h, in.w, machine_.cpu);
      c.far = cost.far, c.near = cost.near.memory;
      c.tile = op.conv->plan.implementation->grain(op.conv->plan, out.h, out.w).lines;
    } else {  // counts only what differs between plans: memory traffic of tensors
      const TierCosts none = {};
      const ConvShape any = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, false, 0, 0};
      const ConvWork work(any, {}, none, machine_.cpu.l2_bytes(), machine_.cpu.l3_bytes());
      c.far.memory = microseconds((double)c.bytes / work.bandwidth((double)c.bytes));
      c.near = microseconds((double)c.bytes / work.bandwidth(0));
    }
    const double images = by_image ? images_of_part(alone) : 1;
    c.alone = images * time_of(c, out, by_lines_only(n_, index) ? out.h : 0, 0);
    c.least = images * time_of(c, out, 0, part_of(inner, c.bytes));
    return c;
  }

  double time_of(const NetworkPart& part, size_t index) const {
    const NetworkOp& op = n_.ops[index];
    const OpCost& c = cost(index, part.by_image);
    size_t inner = ring_bytes(part, op.output);
    for (size_t k = 0; k < op.input_count; ++k) inner += ring_bytes(part, op.inputs[k]);
    return time_of(c, n_.tensors[op.output], lines_of(part, op), part_of(inner, c.bytes));
  }
  // inner: the share of its tensors' bytes that lies in rings.
  double time_of(const OpCost& c, const NetworkTensor& out, size_t lines, double inner) const {
    Estimate e = c.far;
    // Each task has a core and its caches; cores share L3 and memory.
    const double shared = 1 + (double)(smaller(n_.concurrency, 8) - 1) / 3;
    const double beyond = e.memory > c.near ? e.memory - c.near : 0;
    e.memory = c.near + (1 - inner) * shared * beyond;
    if (lines) {
      const double factor = band_factor(c.tile, out, lines);
      e.compute *= factor, e.transform *= factor;
    }
    return microseconds_of(e, machine_.cpu.in_order());
  }

  const octet_network& n_;
  const PlanMachine& machine_;
  const OpCost* const ops_;
  size_t all_weights_ = 0;
};

}  // namespace

size_t batch_of(const octet_network& n) {
  const size_t batch = n.tensors[n.ops[0].output].batch;
  for (size_t i = 1; i < n.op_count; ++i)
    if (n.tensors[n.ops[i].output].batch != batch) return 0;
  return batch;
}

bool by_lines_only(const octet_network& n, size_t i) {
  const NetworkOp& op = n.ops[i];
  for (size_t k = 0; k < op.input_count && op.conv; ++k)
    if (n.tensors[op.inputs[k]].alias_root == n.tensors[op.output].alias_root) return true;
  return false;
}

octet_status find_candidates(octet_network* n, const PlanMachine& machine, octet_network_goal goal,
                             size_t* memory, Candidates* candidates, octet_error* error) {
  const Costs costs(*n, machine, candidates->ops);
  const bool chains = goal != OCTET_NETWORK_LAYERS, least_memory = goal == OCTET_NETWORK_MEMORY;
  // Bands of one or two lines cost time but save memory, and fit where others do not.
  const size_t least_band = goal == OCTET_NETWORK_TIME ? 4 : 1;
  candidates->count = 0;
  for (size_t i = 0; i <= n->op_count; ++i) candidates->merge[i] = costs.merge(i);
  // A part that is predicted to take longer than its ops by themselves is no part of the plan with
  // the least time: its time is known before it is shaped, and bounds of it before that.
  const auto may_gain = [&](const NetworkPart& part, double microseconds) {
    return microseconds * (part.by_image ? 1 : kLongerPart) < costs.alone(part);
  };
  const auto add_one = [&](size_t first, size_t end, size_t band, bool by_image) {
    PartCandidate c = {};
    c.part.first = first, c.part.end = end, c.part.band = band, c.part.by_image = by_image;
    c.tight = least_memory;
    // A longer part that cannot be shaped is no candidate; a single op must run anyway.
    const bool longer = end - first > 1;
    if (longer && goal == OCTET_NETWORK_TIME) {
      mark_rings(n, c.part);
      if (!may_gain(c.part, costs.microseconds_of_part(c.part))) return OCTET_OK;
    }
    if (const octet_status status =
            shape_part(n, &c.part, c.tight, memory, longer ? nullptr : error))
      return longer ? OCTET_OK : status;
    if (band && !least_memory && end - first > 1 && !costs.stays_in_cache(c.part)) {
      if (goal != OCTET_NETWORK_TRAFFIC) return OCTET_OK;
      c.tight = true;
      OCTET_TRY(shape_part(n, &c.part, c.tight, memory, error));
      if (!costs.stays_in_cache(c.part)) return OCTET_OK;
    }
    costs.reckon(&c);
    candidates->list[candidates->count++] = c;
    return OCTET_OK;
  };
  const bool by_image = batch_of(*n) > 1 && goal != OCTET_NETWORK_LAYERS &&
                        (goal != OCTET_NETWORK_TIME || n->concurrency == 1);
  const auto add = [&](size_t first, size_t end, size_t band) {
    OCTET_TRY(add_one(first, end, band, false));
    return by_image ? add_one(first, end, band, true) : OCTET_OK;
  };
  const auto is_hopeless = [&](size_t first, size_t end) {
    NetworkPart part = {};
    part.first = first, part.end = end;
    if (may_gain(part, costs.least(part))) return false;
    part.by_image = true;
    return !by_image || !may_gain(part, costs.least(part));
  };
  for (size_t first = 0; first < n->op_count; ++first) {
    const size_t h = n->tensors[n->ops[first].output].h;
    OCTET_TRY(add(first, first + 1, by_lines_only(*n, first) ? h : 0));
    for (size_t end = first + 2; chains && end <= smaller(n->op_count, first + kLongestChain) &&
                                 !refuse_chain(*n, first, end);
         ++end) {
      if (!least_memory && costs.too_heavy(first, end)) break;
      if (goal == OCTET_NETWORK_TIME && is_hopeless(first, end)) continue;
      const size_t lines = n->tensors[n->ops[end - 1].output].h;
      for (const size_t band : kBands)
        if (band < lines && band >= least_band) OCTET_TRY(add(first, end, band));
      if (lines < 4 || least_memory) OCTET_TRY(add(first, end, lines));
    }
  }
  return OCTET_OK;
}

}  // namespace octet
