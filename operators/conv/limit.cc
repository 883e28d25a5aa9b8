// SPDX-License-Identifier: Apache-2.0
// octet_conv2d_limit_packed: decides which filters of a network are packed smaller than the plan
// would, so that all together stay within a limit.
#include <math.h>
#include <stdlib.h>

#include "operators/conv/filter.h"

namespace octet {
namespace {

// One way to pack a filter.
struct Way {
  size_t bytes;
  double microseconds;
};

// All ways that pack could take: the first without a limit, each later one with a limit just below
// the bytes of the one before. Each algorithm counts with and without a format
// that is tried.
struct Ways {
  Way list[2 * kAlgorithms];
  size_t count, chosen;

  const Way& now() const { return list[chosen]; }
};

// saves: the share of the compute time that is lost where no format is tried. Predictions do not
// model it, because it depends on the weights.
double microseconds_of(const FilterBuilder& d, double saves) {
  const Candidate& c = d.plans.candidates[d.algorithm];
  return c.microseconds + (d.tried ? 0 : saves * c.estimate.compute);
}

octet_status find_ways(const octet_filter_desc& filter, octet_isa isa, Ways* ways,
                       size_t* weight_bytes, octet_error* error) {
  FilterBuilder builder;
  OCTET_TRY(read_filter(&filter, isa, false, &builder, error));
  if (builder.most_bytes > PTRDIFF_MAX)
    return fail(error, OCTET_BAD_SIZE, "filter.shape: the packed size leaves ptrdiff_t");
  const ConvShape& s = builder.shape;
  *weight_bytes = s.taps() * s.group_in() * s.out_channels;
  octet_filter_desc limited = *builder.given;
  double saves[kAlgorithms] = {};  // by the format that an algorithm could try
  const bool fixed = limited.packed_bytes_max || limited.algorithm != OCTET_CONV_AUTO;
  ways->count = ways->chosen = 0;
  for (octet_error none;;) {
    if (builder.tried) saves[builder.algorithm] = builder.tried->packing->trial->saves;
    ways->list[ways->count++] = {builder.most_bytes,
                                 microseconds_of(builder, saves[builder.algorithm])};
    limited.packed_bytes_max = builder.most_bytes - 1;
    const bool full = ways->count == sizeof ways->list / sizeof *ways->list;
    if (fixed || full || read_filter(&limited, isa, false, &builder, &none)) return OCTET_OK;
  }
}

// The error of one of several filters: its message begins with the filter's index.
octet_status fail_of(size_t index, octet_status status, octet_error* error) {
  if (!error) return status;
  const octet_error of_filter = *error;
  return fail(error, status, "filters[%zu]: %s", index, of_filter.message);
}

// The default limit: it may cost this share of all filters' time.
constexpr double kMostLostByDefault = 1. / 20;

uint64_t added(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

struct Sums {
  // 64 bits, because size_t may have 32
  uint64_t weights, now, least;
  double microseconds;
};

octet_status find_all_ways(octet_filter_desc* const* filters, size_t count, octet_isa isa,
                           Ways* ways, Sums* sums, octet_error* error) {
  *sums = {};
  for (size_t i = 0; i < count; ++i) {
    size_t weight_bytes;
    if (const octet_status status =
            filters[i] ? find_ways(*filters[i], isa, &ways[i], &weight_bytes, error)
                       : fail(error, OCTET_NULL_POINTER, "filter is null"))
      return fail_of(i, status, error);
    // An older caller's struct that lacks this field can hold no limit
    if (filters[i]->struct_size <
        offsetof(octet_filter_desc, packed_bytes_max) + sizeof(filters[i]->packed_bytes_max)) {
      fail(error, OCTET_BAD_STRUCT_SIZE,
           "filter.struct_size is %zu: the struct ends before packed_bytes_max",
           filters[i]->struct_size);
      return fail_of(i, OCTET_BAD_STRUCT_SIZE, error);
    }
    const Ways& w = ways[i];
    sums->weights = added(sums->weights, weight_bytes);
    sums->microseconds += w.now().microseconds;
    sums->least += w.list[w.count - 1].bytes;
    if (__builtin_add_overflow(sums->now, (uint64_t)w.now().bytes, &sums->now))
      return fail(error, OCTET_BAD_SIZE,
                  "filters[0] to filters[%zu]: the bytes of their blobs leave 64 bits", i);
  }
  return OCTET_OK;
}

// Takes the step to a smaller way that loses the least time per byte, among those that lose no more
// than *may_lose. Of equal steps the first filter's, to the largest way.
bool step_down(Ways* ways, size_t count, uint64_t* now, double* may_lose) {
  Ways* best = nullptr;
  size_t best_way = 0;
  double best_loss = 0;
  for (Ways* w = ways; w < ways + count; ++w)
    for (size_t to = w->chosen + 1; to < w->count; ++to) {
      const double lost = w->list[to].microseconds - w->now().microseconds,
                   loss = lost / (double)(w->now().bytes - w->list[to].bytes);
      if (lost > *may_lose || (best && loss >= best_loss)) continue;
      best = w, best_way = to, best_loss = loss;
    }
  if (!best) return false;
  *now -= best->now().bytes - best->list[best_way].bytes;
  *may_lose -= best->list[best_way].microseconds - best->now().microseconds;
  best->chosen = best_way;
  return true;
}

// Takes back a step that later, larger steps made needless: the one that wins the most time among
// those that fit.
bool step_up(Ways* ways, size_t count, uint64_t room, uint64_t* now) {
  Ways* best = nullptr;
  size_t best_way = 0;
  double best_gain = 0;
  for (Ways* w = ways; w < ways + count; ++w)
    for (size_t to = 0; to < w->chosen; ++to) {
      const double gain = w->now().microseconds - w->list[to].microseconds;
      if (w->list[to].bytes - w->now().bytes > room || gain <= best_gain) continue;
      best = w, best_way = to, best_gain = gain;
    }
  if (!best) return false;
  *now += best->list[best_way].bytes - best->now().bytes;
  best->chosen = best_way;
  return true;
}

octet_status limit(octet_filter_desc* const* filters, size_t count, octet_isa isa, size_t bytes_max,
                   size_t* bytes, Ways* ways, octet_error* error) {
  Sums sums;
  OCTET_TRY(find_all_ways(filters, count, isa, ways, &sums, error));
  uint64_t most = bytes_max;
  double may_lose = INFINITY;
  if (!bytes_max) {
    most = added(added(sums.weights, sums.weights), sums.weights / 2);
    may_lose = kMostLostByDefault * sums.microseconds;
  } else if (sums.least > most) {
    return fail(error, OCTET_BAD_SIZE,
                "bytes_max is %zu; the least that these %zu filters can be packed to is %llu bytes",
                bytes_max, count, (unsigned long long)sums.least);
  }
  while (sums.now > most && step_down(ways, count, &sums.now, &may_lose)) continue;
  if (sums.now > SIZE_MAX)
    return fail(error, OCTET_BAD_SIZE,
                "bytes_max is 0, and the packed bytes of these %zu filters exceed SIZE_MAX even "
                "within the default limit",
                count);
  while (sums.now < most && step_up(ways, count, most - sums.now, &sums.now)) continue;
  for (size_t i = 0; i < count; ++i) {
    size_t& max = filters[i]->packed_bytes_max;
    const size_t its = ways[i].now().bytes;
    // A filter that is listed twice gets the smaller limit
    if (ways[i].chosen && (!max || its < max)) max = its;
  }
  if (bytes) *bytes = (size_t)sums.now;
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_conv2d_limit_packed(octet_filter_desc* const* filters, size_t count,
                                       octet_isa isa, size_t bytes_max, size_t* bytes,
                                       octet_error* error) {
  if (count == 0) {
    if (bytes) *bytes = 0;
    return OCTET_OK;
  }
  if (!filters) return fail(error, OCTET_NULL_POINTER, "filters is null, but count is %zu", count);
  if (count > PTRDIFF_MAX / sizeof(Ways))
    return fail(error, OCTET_BAD_SIZE, "count is %zu; so many filters leave size_t", count);
  Ways* const ways = (Ways*)malloc(count * sizeof(Ways));
  if (!ways)
    return fail(error, OCTET_OUT_OF_MEMORY, "cannot allocate %zu bytes to plan %zu filters",
                count * sizeof(Ways), count);
  const octet_status status = limit(filters, count, isa, bytes_max, bytes, ways, error);
  free(ways);
  return status;
}
