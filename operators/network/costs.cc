// SPDX-License-Identifier: Apache-2.0
// Predicts what a network's parts cost.
#include "operators/network/costs.h"

#include "operators/common/check.h"
#include "operators/common/task_size.h"
#include "operators/conv/plan.h"
#include "operators/network/chains.h"

namespace octet {
namespace {

double part_of(size_t some, size_t all) { return all ? (double)some / (double)all : 0; }

// Bytes of a tensor's own channels, in so many images.
size_t bytes_of(const NetworkTensor& t, size_t images) {
  return images * t.h * t.w * t.channels * element_bytes(t.type);
}

// Cycles of a function's value in vectors; of tasks its cost is four times that.
constexpr double kValue = 0.25;

constexpr size_t kLine = 64;  // bytes of a line of the cache

// The slowdown of an op in bands of so many of its lines: bands cut tiles at their ends, and each
// fetches weights and tables anew. whole: the band is all that a task computes of the op, as its
// tasks by itself would. An estimate (docs/chains.md).
double band_factor(size_t tile, const NetworkTensor& out, size_t lines, bool whole) {
  constexpr double kPixels = 64;  // pixels' worth of work that each band costs
  const double again = whole ? 0 : kPixels / (double)(lines * out.w);
  return (double)round_up(lines, tile) / (double)lines * (1 + again);
}

size_t weights_of(const NetworkOp& op) {
  return op.conv ? op.conv->packed_bytes : op.gemm ? op.gemm->packed_bytes : 0;
}

// True of a tensor that is a ring in this part. Another part, which was shaped earlier, may have
// set is_ring of a tensor outside this part.
bool is_ring_of(const NetworkPart& part, const NetworkTensor& alias_root) {
  return alias_root.is_ring && alias_root.first_use >= part.first && alias_root.last_use < part.end;
}

NetworkPart part_of_op(size_t op, bool by_image) {
  NetworkPart part = {};
  part.first = op, part.end = op + 1, part.by_image = by_image;
  return part;
}

}  // namespace

Costs::Costs(const octet_network& n, const PlanMachine& machine, OpCost* ops, RingCost* rings,
             LineRange* lines, TaskWork* work)
    : n_(n), machine_(machine), ops_(ops), rings_(rings), lines_(lines), work_(work) {
  for (size_t i = 0; i < n.op_count; ++i) all_weights_ += weights_of(n.ops[i]);
  find_rings(rings);
  for (size_t i = 0; i < n.op_count; ++i) {
    OpCost *const whole = ops + 2 * i, *const by_image = whole + 1;
    *whole = *by_image = cost_of_op(i, false);
    if (n.tensors[n.ops[i].output].batch > 1) *by_image = cost_of_op(i, true);
    add_traffic(i, false, whole, rings);
    add_traffic(i, true, by_image, rings);
    // Sums of the ops before: a range's sum is a difference
    for (OpCost* c = whole; i && c <= by_image; ++c) {
      const OpCost& before = c[-2];
      c->least += before.least, c->traffic += before.traffic, c->weights += before.weights;
    }
  }
}

double Costs::microseconds_of_part(const NetworkPart& part) const {
  if (part.band && part.tasks > 1) return time_of_tasks(part, true);
  double sum = 0;
  for (size_t i = part.first; i < part.end; ++i) {
    const size_t tasks = part.band ? 1 : cost(i, part.by_image).tasks;
    sum += tasks > 1 ? time_of(part, i) / (double)tasks + kRegion : time_of(part, i);
  }
  return part.by_image ? sum * images_of_part(part) : sum;
}

// Calls visit(op, lines, share) for the ops of a chain, the last one first: what a task between two
// others, which computes lines above its own, computes of each.
template <typename Visit>
void Costs::for_each_share(const NetworkPart& part, const RowSlices& row_slices,
                           const Visit& visit) const {
  const size_t task = part.tasks / 2;
  const LineRange last = row_slices.piece(task, task * row_slices.step);
  const double slices = (double)row_slices.step / (double)last.count(),
               equal = 1 / (double)part.tasks;
  for_each_needed(n_, part, last, lines_, [&](size_t i, LineRange out) {
    const NetworkTensor& t = n_.tensors[n_.ops[i].output];
    // Few lines or none where others are needed by none: as many as each task has of all
    const size_t all = images_of(part, t) * t.h, least = divide_up(all, part.tasks),
                 count = larger(out.end > out.first ? out.count() : 0, smaller(least, t.h));
    const double share = part_of(count, all) * slices;
    visit(i, count, share > equal ? share : equal);
  });
}

void Costs::find_work(const NetworkPart& part, const RowSlices& row_slices) const {
  if (part.tasks <= 1) return;
  for_each_share(part, row_slices, [&](size_t i, size_t lines, double share) {
    work_[i - part.first] = {lines, share, inner_of(part, i)};
  });
}

// A chain that is not in bands yet takes at least that.
double Costs::time_of_tasks(const NetworkPart& part, bool in_bands) const {
  const bool whole = work_[part.end - 1 - part.first].lines <= part.band;
  double sum = kRegion;
  for (size_t i = part.first; i < part.end; ++i) {
    const NetworkOp& op = n_.ops[i];
    const TaskWork& work = work_[i - part.first];
    const size_t lines = !in_bands ? 0
                         : whole   ? work.lines
                                   : smaller(lines_of(part, op), work.lines);
    sum += time_of(cost(i, part.by_image), n_.tensors[op.output], lines, work.inner, whole) *
           work.share;
  }
  return part.by_image ? sum * images_of_part(part) : sum;
}

double Costs::traffic_of_part(const NetworkPart& part) const {
  double traffic = 0;
  for (size_t i = part.first; i < part.end; ++i) {
    const NetworkOp& op = n_.ops[i];
    // the cache allocates its lines, then writes them back
    traffic += 2 * traffic_of(part, op.output);
    for (size_t k = 0; k < op.input_count; ++k) traffic += traffic_of(part, op.inputs[k]);
  }
  // rings are read once, then stay in the cache
  if (part.band) traffic += (double)(part.tasks * part.ring_bytes);
  if (part.by_image) traffic *= images_of_part(part);
  return traffic + weights_traffic(part);
}

MergeCost Costs::merge(size_t op) const {
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

bool Costs::stays_in_cache(const NetworkPart& part) const {
  const size_t bytes = part.ring_bytes + passing_bytes(part) + sum(part, &OpCost::weights);
  return bytes + part.scratch_bytes / 2 <= machine_.cache_bytes / 4 * 3;
}

void Costs::add_traffic(size_t index, bool by_image, OpCost* cost, RingCost* rings) const {
  const NetworkOp& op = n_.ops[index];
  const NetworkPart alone = part_of_op(index, by_image);
  const double images = by_image ? images_of_part(alone) : 1;
  const auto add = [&](size_t tensor, double times) {
    const double traffic = times * images * traffic_of(alone, tensor);
    cost->traffic += traffic;
    rings[n_.tensors[tensor].alias_root].traffic[by_image] += traffic;
  };
  add(op.output, 2);
  for (size_t k = 0; k < op.input_count; ++k) add(op.inputs[k], 1);
}

// A chain computes the middle line of each of its ops, if that line does not serve padding only:
// then a ring holds at least the lines that a reader's middle line reads.
void Costs::find_rings(RingCost* rings) const {
  for (size_t i = 0; i < n_.tensor_count; ++i) rings[i] = {};
  for (size_t i = 0; i < n_.op_count; ++i)
    for (size_t k = 0; k < n_.ops[i].input_count; ++k)
      rings[n_.tensors[n_.ops[i].inputs[k]].alias_root].read = true;
  for (size_t i = n_.op_count; i-- > 0;) {
    const NetworkOp& op = n_.ops[i];
    const NetworkTensor& out = alias_root(op.output);
    const RingCost& own = rings[n_.tensors[op.output].alias_root];
    if (own.read && !out.kept && !own.middle) continue;
    for (size_t k = 0; k < op.input_count; ++k) {
      const NetworkTensor& in = alias_root(op.inputs[k]);
      RingCost& ring = rings[n_.tensors[op.inputs[k]].alias_root];
      const LineRange lines = lines_read(n_, op, k, {out.h / 2, out.h / 2 + 1});
      ring.bytes = larger(ring.bytes, round_up(lines.count() * in.line, kAlignment));
      ring.middle |= lines.first <= in.h / 2 && in.h / 2 < lines.end;
    }
  }
}

size_t Costs::ring_bytes(const NetworkPart& part, size_t tensor) const {
  if (!is_ring_of(part, alias_root(tensor))) return 0;
  return bytes_of(n_.tensors[tensor], images_of(part, n_.tensors[tensor]));
}

size_t Costs::passing_bytes(const NetworkPart& part) const {
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
bool Costs::touched(const NetworkPart& part, size_t end, size_t alias_root) const {
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
double Costs::traffic_of(const NetworkPart& part, size_t tensor) const {
  if (is_ring_of(part, alias_root(tensor))) return 0;
  const NetworkTensor& t = n_.tensors[tensor];
  const double some = (double)bytes_of(t, images_of(part, t)), all = (double)bytes_of(t, t.batch);
  // The caller's tensors come from memory and go there: their size in all images counts
  return alias_root(tensor).kept && part.by_image ? missed((size_t)all) * some / all
                                                  : missed((size_t)some);
}

double Costs::missed(size_t bytes) const {
  return bytes > machine_.cache_bytes / 2 ? (double)bytes : (double)bytes / 12;
}

// Weights' traffic of a batch. With one image all plans read the weights equally often, so it is
// left out.
double Costs::weights_traffic(const NetworkPart& part) const {
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

Costs::Blocks Costs::blocks_of(const NetworkOp& op, const NetworkPart& part) const {
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
  const size_t gathered = kernel.gather ? tiles * kernel.lhs_panel_bytes(depth, taps)
                          : kernel.copy_rows && taps > 1 ? block * kernel.copied_stride(depth, taps)
                                                         : 0,
               pointers = taps > 1 ? block * taps * sizeof(void*) : 0;
  const size_t micro_panels = divide_up(cols, kernel.nr), nr = smaller(kernel.nr, cols),
               weights = round_up(nr, kernel.rhs_layout.step) * taps *
                         kernel.rhs_layout.lane_bytes(depth),
               row = cols * element_bytes(out.type), some = nr * element_bytes(out.type);
  const bool whole_lines = row % kLine == 0 && (some % kLine == 0 || kLine % some == 0);
  const size_t written = smaller(row, whole_lines ? round_up(some, kLine) : some + kLine);
  // Rows a multiple of 2, 4, ... lines apart leave all but each 2nd, 4th, ... set to others
  const size_t apart = row % kLine ? kLine : row & (0 - row);
  return {divide_up(rows, block),
          (size_t)read + gathered + pointers + kernel.decoded_bytes(taps, depth, block),
          weights,
          block * written,
          written < apart ? part_of(written, apart) : 1,
          2 * block * (micro_panels * written - row),
          micro_panels};
}

// Bytes of blocks that leave the cache before the next micro-panel reads them again, and of lines
// of the output that it finishes. Sets of the cache are not filled evenly.
double Costs::rows_again(const NetworkOp& op, const NetworkPart& part) const {
  if (!op.conv && !op.gemm) return 0;
  const Blocks b = blocks_of(op, part);
  if (b.micro_panels < 2) return 0;
  const auto leaves = [&](double bytes) {
    const double share = 4 * bytes / (double)machine_.cache_bytes - 3.5;
    return share < 0 ? 0 : share > 1 ? 1 : share;
  };
  const double same = (double)(b.bytes + b.weights);
  const double share =
      b.sets * leaves(same + (double)b.written / b.sets) + (1 - b.sets) * leaves(same);
  return share * (double)b.count * (double)((b.micro_panels - 1) * b.bytes + b.again);
}

// How often an op reads its weights: once per block of rows if they do not stay in the cache,
// else once.
double Costs::passes_of(const NetworkOp& op, const NetworkPart& part) const {
  const size_t weights = weights_of(op);
  if (!weights) return 1;
  const Choice& choice = op.conv ? op.conv->choice : op.gemm->choice;
  if (choice.pass) return 1;
  if (const Blocks b = blocks_of(op, part); b.micro_panels)
    return stay(weights + b.bytes) ? 1 : (double)b.count;
  if (weights <= machine_.cache_bytes / 2) return 1;
  if (!choice.block) return 1;
  const NetworkTensor& out = n_.tensors[op.output];
  const size_t lines = op.conv
                           ? op.conv->plan.implementation->grain(op.conv->plan, out.h, out.w).lines
                           : 1,
               tiles = divide_up(out.h, lines) * divide_up(out.w, lines);
  return (double)divide_up(images_of(part, out) * tiles, choice.block);
}

// Lines that an op computes in a band; 0: all of them at once.
size_t Costs::lines_of(const NetworkPart& part, const NetworkOp& op) const {
  const size_t h = n_.tensors[op.output].h, last = n_.tensors[n_.ops[part.end - 1].output].h;
  return smaller(h, divide_up(part.band * h, last));
}

OpCost Costs::cost_of_op(size_t index, bool by_image) const {
  const NetworkOp& op = n_.ops[index];
  const NetworkPart alone = part_of_op(index, by_image);
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
  c.weights = weights_of(op);
  if (op.conv) {
    const ConvCost cost = cost_of(*op.conv, images_of(alone, in), in.h, in.w, machine_.cpu);
    c.far = cost.far, c.near = cost.near.memory;
    c.tile = op.conv->plan.implementation->grain(op.conv->plan, out.h, out.w).lines;
  } else {  // counts only what differs between plans: memory traffic of tensors
    const TierCosts none = {};
    const ConvShape any = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, false, 0, 0};
    const ConvWork work(any, {}, none, machine_.cpu.l2_bytes(), machine_.cpu.l3_bytes());
    c.far.memory = microseconds((double)c.bytes / work.bandwidth((double)c.bytes));
    c.near = microseconds((double)c.bytes / work.bandwidth(0));
  }
  c.tasks = 1;
  if (n_.concurrency > 1) {
    const double cycles = cycles_of(n_, alone, op);
    c.tasks = !by_lines_only(n_, index) ? tasks_worth(cycles, n_.concurrency) : 1;
    if (!op.conv) c.far.compute = microseconds(op.gemm ? cycles : kValue * cycles);
  }
  const double images = by_image ? images_of_part(alone) : 1;
  c.least = images * time_of(c, out, 0, part_of(inner, c.bytes)) / (double)n_.concurrency;
  return c;
}

// The share of an op's tensors that lies in rings.
double Costs::inner_of(const NetworkPart& part, size_t index) const {
  const NetworkOp& op = n_.ops[index];
  size_t inner = ring_bytes(part, op.output);
  for (size_t k = 0; k < op.input_count; ++k) inner += ring_bytes(part, op.inputs[k]);
  return part_of(inner, cost(index, part.by_image).bytes);
}

double Costs::time_of(const NetworkPart& part, size_t index) const {
  const NetworkOp& op = n_.ops[index];
  return time_of(cost(index, part.by_image), n_.tensors[op.output], lines_of(part, op),
                 inner_of(part, index));
}

double Costs::time_of(const OpCost& c, const NetworkTensor& out, size_t lines, double inner,
                      bool whole) const {
  Estimate e = c.far;
  // Each task has a core and its caches; cores share L3 and memory.
  const double shared = 1 + (double)(smaller(n_.concurrency, 8) - 1) / 3;
  const double beyond = e.memory > c.near ? e.memory - c.near : 0;
  e.memory = c.near + (1 - inner) * shared * beyond;
  if (lines) {
    const double factor = band_factor(c.tile, out, lines, whole);
    e.compute *= factor, e.transform *= factor;
  }
  return microseconds_of(e, machine_.cpu.in_order());
}

bool by_lines_only(const octet_network& n, size_t i) {
  const NetworkOp& op = n.ops[i];
  for (size_t k = 0; k < op.input_count && op.conv; ++k)
    if (n.tensors[op.inputs[k]].alias_root == n.tensors[op.output].alias_root) return true;
  return false;
}

}  // namespace octet
