// SPDX-License-Identifier: Apache-2.0
// Plans a network: chooses its parts and places its tensors in the workspace.
#include "operators/network/plan.h"

#include <math.h>

#include "dispatch/select/override.h"
#include "operators/common/arena.h"
#include "operators/conv/machine.h"
#include "operators/network/candidates.h"
#include "operators/network/layout.h"

namespace octet {
namespace {

// The planner's scratch memory.
struct Desk {
  // best[i]: the best plan of the ops before op i, if its last part runs all images at once
  struct Best {
    double cost;
    size_t live;
    size_t last;        // slot of its last part; kNoSlot: there is no part
    bool after_images;  // the parts before the last run image by image
  } * best, *by_image;  // by_image[i]: the same, if all parts run image by image
  // The cost of all ops before op i as parts of their own, two for each op: on all images, image by
  // image.
  double* singles;
  Candidates::Memory candidates;
  Piece* pieces;

  static Desk on(Arena* arena, size_t tensors, size_t ops, bool chooses) {
    Desk desk = {};
    desk.pieces = arena->take<Piece>(tensors + 2 * ops);
    desk.candidates.values = arena->take<size_t>(shaping_values(ops));
    if (!chooses) return desk;
    desk.best = arena->take<Best>(ops + 1);
    desk.by_image = arena->take<Best>(ops + 1);
    desk.singles = arena->take<double>(2 * (ops + 1));
    desk.candidates.ops = arena->take<OpCost>(2 * ops);
    desk.candidates.rings = arena->take<RingCost>(tensors);
    desk.candidates.lines = arena->take<LineRange>(tensors);
    desk.candidates.work = arena->take<TaskWork>(kLongestChain);
    desk.candidates.states = arena->take<Candidates::State>(slots_of(ops));
    desk.candidates.figures = arena->take<Candidates::Figures>(slots_of(ops));
    return desk;
  }
};

void find_uses(octet_network* n) {
  for (size_t i = 0; i < n->tensor_count; ++i)
    n->tensors[i].first_use = n->tensors[i].last_use = kNoUse;
  const auto use = [&](size_t tensor, size_t op) {
    NetworkTensor& alias_root = n->tensors[n->tensors[tensor].alias_root];
    if (alias_root.first_use == kNoUse) alias_root.first_use = op;
    alias_root.last_use = op;
  };
  for (size_t i = 0; i < n->op_count; ++i) {
    const NetworkOp& op = n->ops[i];
    for (size_t k = 0; k < op.input_count; ++k) use(op.inputs[k], i);
    use(op.output, i);
    n->tensors[n->tensors[op.output].alias_root].written = true;
  }
}

// ---- parts

// Compares candidates by the goal.
struct Weigh {
  octet_network_goal goal;
  size_t most_live;
  bool least_live;  // minimize memory, whatever the cost

  double cost(const PartCandidate& c) const {
    // So many bytes of traffic count as much as a microsecond
    constexpr double kBytesPerMicrosecond = 20;
    // Only plain single ops count their time without a surcharge
    const bool plain = c.part.end - c.part.first == 1 && !c.part.by_image;
    return goal == OCTET_NETWORK_TRAFFIC ? c.traffic + c.microseconds * kBytesPerMicrosecond
           : goal == OCTET_NETWORK_TIME && !plain ? c.microseconds * kLongerPart
                                                  : c.microseconds;
  }
  double cost(const MergeCost& c) const { return goal == OCTET_NETWORK_TRAFFIC ? c.traffic : 0; }
  template <typename Best>
  bool better(const Best& a, const Best& b) const {
    if (a.live == SIZE_MAX || b.live == SIZE_MAX) return a.live < b.live;
    return least_live && a.live != b.live ? a.live < b.live : a.cost < b.cost;
  }
};

// Sums up the cost of parts of one op. NaN or infinite where one of them is no part of a plan.
void add_singles(const octet_network& n, const Candidates& candidates, const Weigh& weigh,
                 double* sums) {
  sums[0] = sums[1] = 0;
  for (size_t i = 0; i < n.op_count; ++i)
    for (size_t k = 0; k < 2; ++k) {
      const PartCandidate c = candidates.single(i, k && candidates.by_image());
      sums[2 * i + 2 + k] = sums[2 * i + k] + (c.live > weigh.most_live ? INFINITY : weigh.cost(c));
    }
}

// Cuts the ops into candidates by dynamic programming: first parts that run image by image, maybe
// none, then parts that run all images. Candidates that could be of no use are not shaped. Returns
// the bytes that live at once; SIZE_MAX if there is no cut.
size_t choose(const octet_network& n, Candidates* candidates, const Weigh& weigh,
              const Desk& desk) {
  for (size_t i = 0; i <= n.op_count; ++i)
    desk.best[i] = desk.by_image[i] = {0, i ? SIZE_MAX : 0, kNoSlot, false};
  add_singles(n, *candidates, weigh, desk.singles);
  // Image by image before op i, all images from op i on
  const auto merged_at = [&](size_t i) {
    Desk::Best b = desk.by_image[i];
    if (b.live == SIZE_MAX) return b;
    const MergeCost merge = candidates->merge(i);
    b.live += merge.live;
    b.cost += weigh.cost(merge);
    if (b.live > weigh.most_live) b.live = SIZE_MAX;
    b.after_images = true;
    return b;
  };
  for (size_t first = 0; first < n.op_count; ++first) {
    if (desk.best[first].live == SIZE_MAX && desk.by_image[first].live == SIZE_MAX) continue;
    const Desk::Best merged = merged_at(first);
    Desk::Best all = desk.best[first];
    all.after_images = false;
    // Returns whether the candidate, after its best predecessor, is better than the best plan so
    // far.
    const auto extend = [&](const PartCandidate& c, Desk::Best* after) {
      const auto append = [&](const Desk::Best& before) {
        if (before.live == SIZE_MAX || c.live > weigh.most_live) return false;
        const Desk::Best with = {before.cost + weigh.cost(c), larger(before.live, c.live), kNoSlot,
                                 before.after_images};
        if (!weigh.better(with, *after)) return false;
        *after = with;
        return true;
      };
      if (c.part.by_image) return append(desk.by_image[first]);
      const bool better = append(all);
      return (first && append(merged)) || better;
    };
    const auto best_before = [&](const PartCandidate& c) -> Desk::Best& {
      return (c.part.by_image ? desk.by_image : desk.best)[c.part.end];
    };
    candidates->visit(
        first,
        [&](const PartCandidate& bound) {
          const double* const sum = desk.singles + bound.part.by_image;
          const double singles = sum[2 * bound.part.end] - sum[2 * first];
          if (!weigh.least_live && weigh.cost(bound) > singles * (1 + 1e-9)) return false;
          Desk::Best after = best_before(bound);
          return extend(bound, &after);
        },
        [&](size_t slot, const PartCandidate& c) {
          if (extend(c, &best_before(c))) best_before(c).last = slot;
        });
  }
  const bool images = weigh.better(desk.by_image[n.op_count], desk.best[n.op_count]);
  if (images) desk.best[n.op_count] = desk.by_image[n.op_count];
  return desk.best[n.op_count].live;
}

// Calls take(slot) for the chosen candidates, the last one first.
template <typename Take>
octet_status for_each_chosen(const octet_network& n, const Candidates& candidates, const Desk& desk,
                             Take take) {
  for (const Desk::Best* b = &desk.best[n.op_count]; b->last != kNoSlot;) {
    const size_t slot = b->last;
    const PartCandidate c = candidates.candidate(slot);
    b = (c.part.by_image || b->after_images ? desk.by_image : desk.best) + c.part.first;
    OCTET_TRY(take(slot));
  }
  return OCTET_OK;
}

// Shapes the chosen parts, because later candidates have changed the ops. Sets *possible to false
// if one of them is no candidate after all.
octet_status take_parts(octet_network* n, Candidates* candidates, const Desk& desk, bool* possible,
                        octet_error* error) {
  n->part_count = 0;
  OCTET_TRY(for_each_chosen(*n, *candidates, desk, [&](size_t) {
    ++n->part_count;
    return OCTET_OK;
  }));
  size_t at = n->part_count;
  return for_each_chosen(*n, *candidates, desk, [&](size_t slot) {
    n->parts[--at] = candidates->candidate(slot).part;
    return candidates->shape_chosen(slot, &n->parts[at], possible, error);
  });
}

// Checks that the ops of an image-by-image part and of the one before it have the same number of
// images.
octet_status check_images(const octet_network& n, size_t p, octet_error* error) {
  const NetworkPart& part = n.parts[p];
  if (!part.by_image) return OCTET_OK;
  const size_t from = p && n.parts[p - 1].by_image ? part.first - 1 : part.first;
  for (size_t i = from; i < part.end; ++i)
    if (n.ops[i].all_images)
      return fail(error, OCTET_UNSUPPORTED,
                  "desc.parts[%zu] cannot run image by image: ops[%zu] reads all images", p, i);
  for (size_t i = from + 1; i < part.end; ++i) {
    const size_t batch = n.tensors[n.ops[i].output].batch,
                 before = n.tensors[n.ops[i - 1].output].batch;
    if (batch != before)
      return fail(
          error, OCTET_UNSUPPORTED,
          "desc.parts[%zu] cannot run image by image: ops[%zu] has %zu images, ops[%zu] %zu", p,
          i - 1, before, i, batch);
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
    part.first = given.first_op, part.end = at = given.end_op;
    part.band = given.band_lines & ~OCTET_NETWORK_BY_IMAGE;
    part.by_image = part.band != given.band_lines;
    OCTET_TRY(check_images(*n, p, error));
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
    OCTET_TRY(shape_part(n, &part, false, desk.candidates.values, error));
  }
  if (at == n->op_count) return OCTET_OK;
  return fail(error, OCTET_BAD_NETWORK, "desc.parts ends before op %zu of %zu", at, n->op_count);
}

// ---- memory

octet_status lay_out_network(octet_network* n, Piece* pieces, octet_error* error) {
  size_t count = 0, sum = 0;
  bool fits = true;
  const auto add = [&](size_t bytes, size_t first, size_t last, size_t* offset) {
    if (bytes) pieces[count++] = {bytes, first, last, offset};
    fits = fits && !__builtin_add_overflow(sum, bytes + kAlignment, &sum) && sum <= PTRDIFF_MAX;
  };
  // The part of an op, and the parts [first, end) of its image-by-image group.
  struct Place {
    size_t first, part, end;
  };
  const auto place_of = [&](size_t op) {
    Place place = {0, 0, end_of_group(*n, 0)};
    for (; n->parts[place.part].end <= op; ++place.part)
      if (place.part + 1 == place.end)
        place.first = place.end, place.end = end_of_group(*n, place.end);
    return place;
  };
  n->separate_bytes = n->kept_bytes = 0;
  for (size_t i = 0; i < n->tensor_count; ++i) {
    NetworkTensor& t = n->tensors[i];
    if (t.alias_root != i || t.first_use == kNoUse) continue;
    (t.kept ? n->kept_bytes : n->separate_bytes) +=
        t.kept ? t.bytes : round_up(t.bytes, kAlignment);
    t.one_image = false;
    if (t.kept || t.is_ring) continue;
    const Place first = place_of(t.first_use), last = place_of(t.last_use);
    t.one_image = n->parts[first.part].by_image && first.first == last.first;
    // The buffer is reused for each image until the last part of the group is done
    if (t.one_image)
      add(t.image, first.part, last.part, &t.offset);
    else
      add(t.bytes, first.first, last.end - 1, &t.offset);
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

octet_status plan_parts(octet_network* n, Candidates* candidates, const Weigh& weigh,
                        const Desk& desk, octet_error* error) {
  for (bool possible = false; !possible;) {
    possible = true;
    choose(*n, candidates, weigh, desk);
    OCTET_TRY(take_parts(n, candidates, desk, &possible, error));
  }
  return lay_out_network(n, desk.pieces, error);
}

// The least bytes that can live at once. Looks for them within limits that grow, because a low
// limit rules out most candidates before they are shaped. Parts of one op are within the last one.
size_t find_least(const octet_network& n, Candidates* candidates, const Desk& desk) {
  size_t most = 0;
  for (size_t i = 0; i < n.op_count; ++i) most = larger(most, candidates->single(i, false).live);
  size_t least = SIZE_MAX;
  for (size_t parts = 16; least == SIZE_MAX; parts = parts * 2 / 3)
    least = choose(n, candidates, {OCTET_NETWORK_MEMORY, most / parts, true}, desk);
  return least;
}

// Plans within a memory limit. The layout may need a little more than the live bytes; then plans
// again with a lower limit.
octet_status plan_within(octet_network* n, Candidates* candidates, size_t most, const Desk& desk,
                         octet_error* error) {
  const size_t least = find_least(*n, candidates, desk);
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
  PlanMachine machine = {conv_machine().cpu, desc.cache_bytes};
  // Given parts need no machine, but a wrong machine is refused all the same
  if (desc.machine || !desc.parts)
    OCTET_TRY(read_machine(desc.machine, "desc", &machine.cpu, error));
  if (desc.parts) {
    OCTET_TRY(take_given(desc, n, desk, error));
    return lay_out_network(n, desk.pieces, error);
  }
  if (!machine.cache_bytes) machine.cache_bytes = machine.cpu.l2_bytes();
  Candidates candidates(n, machine, desc.goal, desk.candidates);
  OCTET_TRY(candidates.find_singles(error));
  if (desc.goal == OCTET_NETWORK_MEMORY)
    return plan_within(n, &candidates, desc.memory_bytes, desk, error);
  return plan_parts(n, &candidates, {desc.goal, SIZE_MAX, false}, desk, error);
}

}  // namespace

octet_status plan_network(const octet_network_desc& desc, octet_network* n, octet_error* error) {
  find_uses(n);
  Arena arena = {nullptr, 0};
  Desk::on(&arena, n->tensor_count, n->op_count, !desc.parts);
  if (arena.used > PTRDIFF_MAX) return refuse_size(error);
  octet_allocator allocator = n->allocator;
  void* memory;
  OCTET_TRY(allocate(&allocator, arena.used, &memory, error));
  arena = {(uint8_t*)memory, 0};
  const Desk desk = Desk::on(&arena, n->tensor_count, n->op_count, !desc.parts);
  const octet_status status = plan(desc, n, desk, error);
  allocator.release(allocator.context, memory);
  return status;
}

}  // namespace octet
