#include "network/plan.h"

#include "dispatch/arena.h"
#include "dispatch/conv_machine.h"
#include "network/candidates.h"
#include "network/layout.h"

namespace octet {
namespace {

// Memory of the planner's.
struct Desk {
  PartCandidate* candidates;
  struct Best {  // of the ops before one
    double cost;
    size_t live;
    const PartCandidate* last;
  } * best;
  Piece* pieces;
  size_t* words;

  static Desk on(Arena* arena, size_t tensors, size_t ops, size_t candidates) {
    Desk desk;
    desk.candidates = arena->take<PartCandidate>(candidates);
    desk.best = arena->take<Best>(ops + 1);
    desk.pieces = arena->take<Piece>(tensors + 2 * ops);
    desk.words = arena->take<size_t>(4 * ops);
    return desk;
  }
};

void find_uses(octet_network* n) {
  for (size_t i = 0; i < n->tensor_count; ++i)
    n->tensors[i].first_use = n->tensors[i].last_use = kNoUse;
  const auto use = [&](size_t tensor, size_t op) {
    NetworkTensor& home = n->tensors[n->tensors[tensor].home];
    if (home.first_use == kNoUse) home.first_use = op;
    home.last_use = op;
  };
  for (size_t i = 0; i < n->op_count; ++i) {
    const NetworkOp& op = n->ops[i];
    for (size_t k = 0; k < op.input_count; ++k) use(op.inputs[k], i);
    use(op.output, i);
    n->tensors[n->tensors[op.output].home].written = true;
  }
}

// ---- which parts

// As long as it takes, less where another one is less by so little that it does not count.
struct Weigh {
  octet_network_goal goal;
  size_t most_live;
  bool least_live;  // whatever else it costs

  double cost(const PartCandidate& c) const {
    // Of little traffic, no more than takes this long
    constexpr double kBytesPerMicrosecond = 20;
    return goal == OCTET_NETWORK_TRAFFIC ? c.traffic + c.microseconds * kBytesPerMicrosecond
           // What is predicted to gain little may lose
           : goal == OCTET_NETWORK_TIME && c.part.end - c.part.first > 1 ? c.microseconds * 1.04
                                                                         : c.microseconds;
  }
};

// The best way to cut the ops into candidates, by dynamic programming. Returns the bytes that live
// at once; SIZE_MAX if there is no way.
size_t choose(const octet_network& n, const Candidates& candidates, const Weigh& weigh,
              Desk::Best* best) {
  for (size_t i = 0; i <= n.op_count; ++i) best[i] = {0, i ? SIZE_MAX : 0, nullptr};
  for (size_t i = 0; i < candidates.count; ++i) {  // in the order of their first ops
    const PartCandidate& c = candidates.list[i];
    const Desk::Best& before = best[c.part.first];
    Desk::Best& after = best[c.part.end];
    if (before.live == SIZE_MAX || c.live > weigh.most_live) continue;
    const Desk::Best with = {before.cost + weigh.cost(c), larger(before.live, c.live), &c};
    const bool better = after.live == SIZE_MAX ||
                        (weigh.least_live && with.live != after.live ? with.live < after.live
                                                                     : with.cost < after.cost);
    if (better) after = with;
  }
  return best[n.op_count].live;
}

// The chosen ones, shaped anew.
octet_status take_parts(octet_network* n, const Desk& desk, octet_error* error) {
  n->part_count = 0;
  for (size_t end = n->op_count; end; end = desk.best[end].last->part.first) ++n->part_count;
  size_t at = n->part_count;
  for (size_t end = n->op_count; end;) {
    const PartCandidate& c = *desk.best[end].last;
    end = c.part.first;
    n->parts[--at] = c.part;
    OCTET_TRY(shape_part(n, &n->parts[at], c.tight, desk.words, error));
  }
  return OCTET_OK;
}

octet_status take_given(const octet_network_desc& desc, octet_network* n, const Desk& desk,
                        octet_error* error) {
  size_t at = 0;
  n->part_count = 0;
  for (size_t p = 0; p < desc.part_count; ++p) {
    const octet_network_part& given = desc.parts[p];
    if (given.first_op != at || given.end_op <= at || given.end_op > n->op_count)
      return fail(error, OCTET_BAD_NETWORK,
                  "desc.parts[%zu] is of ops %zu to %zu, but must begin with op %zu of %zu", p,
                  given.first_op, given.end_op, at, n->op_count);
    NetworkPart& part = n->parts[n->part_count++];
    part = {};
    part.first = given.first_op, part.end = at = given.end_op, part.band = given.band_lines;
    if (part.band) {
      if (const char* why = refuse_chain(*n, part.first, part.end))
        return fail(error, OCTET_UNSUPPORTED, "desc.parts[%zu] cannot be a chain: %s", p, why);
    } else {
      for (size_t i = part.first; i < part.end; ++i)
        if (by_lines_only(*n, i))
          return fail(error, OCTET_UNSUPPORTED,
                      "desc.parts[%zu] must be a chain: ops[%zu] reads and writes slices of one "
                      "tensor",
                      p, i);
    }
    OCTET_TRY(shape_part(n, &part, false, desk.words, error));
  }
  if (at == n->op_count) return OCTET_OK;
  return fail(error, OCTET_BAD_NETWORK, "desc.parts ends before op %zu of %zu", at, n->op_count);
}

// ---- where everything lies

octet_status lay_out_network(octet_network* n, Piece* pieces, octet_error* error) {
  size_t count = 0, sum = 0;
  bool fits = true;
  const auto add = [&](size_t bytes, size_t first, size_t last, size_t* offset) {
    if (bytes) pieces[count++] = {bytes, first, last, offset};
    fits = fits && !__builtin_add_overflow(sum, bytes + kAlignment, &sum) && sum <= PTRDIFF_MAX;
  };
  const auto part_with = [&](size_t op) {
    size_t p = 0;
    while (n->parts[p].end <= op) ++p;
    return p;
  };
  n->separate_bytes = n->kept_bytes = 0;
  for (size_t i = 0; i < n->tensor_count; ++i) {
    NetworkTensor& t = n->tensors[i];
    if (t.home != i || t.first_use == kNoUse) continue;
    (t.kept ? n->kept_bytes : n->separate_bytes) +=
        t.kept ? t.bytes : round_up(t.bytes, kAlignment);
    if (!t.kept && !is_ring(t))
      add(t.bytes, part_with(t.first_use), part_with(t.last_use), &t.offset);
  }
  for (size_t p = 0; p < n->part_count; ++p)
    if (n->parts[p].band) add(n->parts[p].tasks * n->parts[p].ring_bytes, p, p, &n->parts[p].rings);
  const size_t maps = count;
  for (size_t p = 0; p < n->part_count; ++p) {
    const NetworkPart& part = n->parts[p];
    add(part.scratch_bytes * part.tasks, p, p, &n->parts[p].scratch);
  }
  if (!fits) return fail(error, OCTET_BAD_SIZE, "desc: the tensors leave size_t together");
  n->map_bytes = lay_out(pieces, count, maps, &n->workspace_bytes);
  return OCTET_OK;
}

octet_status plan_parts(octet_network* n, const Candidates& candidates, const Weigh& weigh,
                        const Desk& desk, octet_error* error) {
  choose(*n, candidates, weigh, desk.best);
  OCTET_TRY(take_parts(n, desk, error));
  return lay_out_network(n, desk.pieces, error);
}

// Within so much memory. The layout may need a little more than what lives at once: then with less.
octet_status plan_within(octet_network* n, const Candidates& candidates, size_t most,
                         const Desk& desk, octet_error* error) {
  const size_t least = choose(*n, candidates, {OCTET_NETWORK_MEMORY, SIZE_MAX, true}, desk.best);
  for (size_t live = most ? most : least; live >= least;) {
    OCTET_TRY(plan_parts(n, candidates, {OCTET_NETWORK_MEMORY, live, false}, desk, error));
    if (!most || n->map_bytes <= most) return OCTET_OK;
    live -= smaller(live, larger(n->map_bytes - most, live / 64 + 1));
  }
  OCTET_TRY(plan_parts(n, candidates, {OCTET_NETWORK_MEMORY, SIZE_MAX, true}, desk, error));
  if (n->map_bytes <= most) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE,
              "desc.memory_bytes = %zu, but the tensors need at least %zu bytes", most,
              n->map_bytes);
}

octet_status plan(const octet_network_desc& desc, octet_network* n, const Desk& desk,
                  octet_error* error) {
  if (desc.parts) {
    OCTET_TRY(take_given(desc, n, desk, error));
    return lay_out_network(n, desk.pieces, error);
  }
  PlanMachine machine = {conv_machine().cpu, desc.cache_bytes};
  if (!machine.cache_bytes) machine.cache_bytes = machine.cpu.l2_bytes();
  Candidates candidates = {desk.candidates, 0};
  OCTET_TRY(find_candidates(n, machine, desc.goal, desk.words, &candidates, error));
  if (desc.goal == OCTET_NETWORK_MEMORY)
    return plan_within(n, candidates, desc.memory_bytes, desk, error);
  return plan_parts(n, candidates, {desc.goal, SIZE_MAX, false}, desk, error);
}

}  // namespace

octet_status plan_network(const octet_network_desc& desc, octet_network* n, octet_error* error) {
  find_uses(n);
  const size_t candidates = desc.parts ? 0 : most_candidates(n->op_count);
  Arena arena = {nullptr, 0};
  Desk::on(&arena, n->tensor_count, n->op_count, candidates);
  if (arena.used > PTRDIFF_MAX) return refuse_size(error);
  octet_allocator allocator = n->allocator;
  void* memory;
  OCTET_TRY(allocate(&allocator, arena.used, &memory, error));
  arena = {(uint8_t*)memory, 0};
  const Desk desk = Desk::on(&arena, n->tensor_count, n->op_count, candidates);
  const octet_status status = plan(desc, n, desk, error);
  allocator.release(allocator.context, memory);
  return status;
}

}  // namespace octet
