// SPDX-License-Identifier: Apache-2.0
// Fuzzes 2:4 weights as streams and as values with places (sound, damaged, anything), and pruning.
// Accepted input decodes to 2:4 weights; refused input writes nothing.
#include <cstring>
#include <vector>

#include "fuzz/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/memory.h"
#include "octet/sparse.h"

namespace octet_fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kMostWeights = 1 << 14;

octet_sparse_stream_format some_format(Choices* c) {
  octet_sparse_stream_format format = OCTET_SPARSE_STREAM_FORMAT_INIT;
  format.chunk = c->any<size_t>({32, 64});
  format.alignment = c->any<size_t>({0, 4, 8});
  if (format.chunk == 32) format.alignment &= 4;
  format.keep_zeros = c->one_in(2);
  return format;
}

octet_rhs_desc rows_of(const Block& block, size_t n, size_t k) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8;
  rhs.order = OCTET_NK;
  rhs.n = n;
  rhs.k = k;
  rhs.data = block.data();
  return rhs;
}

bool is_sparse(const uint8_t* rows, size_t n, size_t k) {
  for (size_t row = 0; row < n; ++row)
    for (size_t group = 0; group < k; group += 4) {
      int weights = 0;
      for (size_t i = group; i < k && i < group + 4; ++i) weights += rows[row * k + i] != 0;
      if (weights > 2) return false;
    }
  return true;
}

// Decoded weights, encoded and decoded again, are the same.
void must_return(Choices* c, const octet_sparse_stream_format& format, const Block& rows, size_t n,
                 size_t k) {
  const octet_rhs_desc rhs = rows_of(rows, n, k);
  size_t bytes = 0;
  must_accept("octet_sparse_export_stream_size", [&](octet_error* e) {
    return octet_sparse_export_stream_size(&rhs, &format, &bytes, e);
  });
  const Block stream(c, bytes), again(c, rows.bytes());
  must_accept("octet_sparse_export_stream", [&](octet_error* e) {
    return octet_sparse_export_stream(&rhs, &format, stream.data(), bytes, e);
  });
  must_accept("octet_sparse_import_stream", [&](octet_error* e) {
    return octet_sparse_import_stream(&format, stream.data(), bytes, n, k, again.data(), 0, e);
  });
  if (std::memcmp(again.data(), rows.data(), rows.bytes()) != 0)
    fail("a stream of %zu x %zu weights is read as other ones", n, k);
  tally.outputs += rows.bytes();
}

void import_anything(Choices* c, const octet_sparse_stream_format& format, const Bytes& bytes,
                     size_t n, size_t k) {
  if (bytes.empty()) return;
  const Block stream(c, bytes), rows(c, n * k);
  Foreseen foreseen;
  foreseen.add(stream);
  foreseen.add(rows);
  const octet_status status = checked("octet_sparse_import_stream", [&](octet_error* e) {
    return octet_sparse_import_stream(&format, stream.data(), stream.bytes(), n, k, rows.data(), 0,
                                      e);
  });
  size_t weights = 0;
  const octet_status sized = checked("octet_sparse_import_stream_size", [&](octet_error* e) {
    return octet_sparse_import_stream_size(&format, stream.data(), stream.bytes(), &weights, e);
  });
  if (status != OCTET_OK) {
    ++tally.refusals;
    if (foreseen.difference()) fail("a refused stream has left weights behind");
    return;
  }
  if (sized != OCTET_OK || weights % format.chunk || weights < n * k)
    fail("a stream of %zu x %zu weights is said to hold %zu", n, k, weights);
  if (!is_sparse(rows.data(), n, k)) fail("a stream has given weights that are not 2:4");
  ++tally.runs;
  must_return(c, format, rows, n, k);
}

// Imports values and places of any bytes: an accepted input is exported again, but for places of
// zeros.
void import_indexed(Choices* c, Random* random) {
  const bool rows = c->one_in(2);
  const octet_sparse_metadata order = rows ? OCTET_METADATA_ROWS : OCTET_METADATA_CUTLASS;
  const size_t n = rows ? c->size(20) : 16 * (1 + c->below(3)),
               k = rows ? 8 * (1 + c->below(20)) : 64 * (1 + c->below(3));
  Bytes values(n * k / 2), metadata(n * k / 8);
  for (uint8_t& value : values) value = (uint8_t)((*random)() % 3);
  constexpr uint8_t kInOrder[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
  for (uint8_t& places : metadata)
    places = (uint8_t)(kInOrder[random->below(6)] | kInOrder[random->below(6)] << 4);
  if (c->one_in(3)) metadata[c->below(metadata.size())] = (uint8_t)c->bits(1);
  const Block from(c, values), places(c, metadata), to(c, n * k), again(c, n * k),
      values_again(c, values.size()), places_again(c, metadata.size());
  const auto import = [&](const Block& v, const Block& m, const Block& weights) {
    return checked("octet_sparse_import_indexed", [&](octet_error* e) {
      return octet_sparse_import_indexed(order, n, k, v.data(), v.bytes(), m.data(), m.bytes(),
                                         weights.data(), 0, e);
    });
  };
  bool in_order = true;
  for (const uint8_t byte : metadata)
    for (const int group : {byte & 15, byte >> 4}) in_order &= (group & 3) < (group >> 2);
  if ((import(from, places, to) == OCTET_OK) != in_order)
    fail("places that are %sin order are %s", in_order ? "" : "not ",
         in_order ? "refused" : "accepted");
  if (!in_order) {
    ++tally.refusals;
    return;
  }
  if (!is_sparse(to.data(), n, k)) fail("places have given weights that are not 2:4");
  const octet_rhs_desc rhs = rows_of(to, n, k);
  must_accept("octet_sparse_export_indexed", [&](octet_error* e) {
    return octet_sparse_export_indexed(&rhs, order, values_again.data(), values_again.bytes(),
                                       places_again.data(), places_again.bytes(), e);
  });
  if (import(values_again, places_again, again) != OCTET_OK ||
      std::memcmp(to.data(), again.data(), to.bytes()) != 0)
    fail("values and places of %zu x %zu weights are read as other ones", n, k);
  ++tally.runs;
}

Bytes damaged(Choices* c, Bytes stream) {
  for (size_t times = 1 + c->below(3); times > 0 && !stream.empty(); --times) {
    const auto at = stream.begin() + (ptrdiff_t)c->below(stream.size());
    switch (c->below(5)) {
      case 0:
        *at ^= (uint8_t)(1u << c->below(8));
        break;
      case 1:
        *at = (uint8_t)c->bits(1);
        break;
      case 2:
        stream.erase(at, stream.end());
        break;
      case 3:
        stream.erase(at);
        break;
      default:
        stream.insert(at, (uint8_t)c->bits(1));
    }
  }
  return stream;
}

}  // namespace

void fuzz_one(Choices* c) {
  const octet_sparse_stream_format format = some_format(c);
  const size_t n = c->size(40), k = c->size(kMostWeights / n);
  Random random = c->random();
  const size_t density = 1 + c->below(8);  // of eight
  Bytes rows(n * k);
  for (uint8_t& weight : rows)
    if (random.below(8) < density) weight = (uint8_t)random();
  const Block dense(c, rows), pruned(c, rows.size());
  const octet_rhs_desc given = rows_of(dense, n, k);
  size_t bytes = 0;
  const auto size = [&](octet_error* e) {
    return octet_sparse_export_stream_size(&given, &format, &bytes, e);
  };
  if (is_sparse(rows.data(), n, k))
    must_accept("octet_sparse_export_stream_size", size);
  else
    must_refuse("octet_sparse_export_stream_size", "a group of three", size);
  must_accept("octet_sparse_prune", [&](octet_error* e) {
    return octet_sparse_prune(&given, pruned.data(), nullptr, e);
  });
  if (!is_sparse(pruned.data(), n, k)) fail("pruned weights of %zu x %zu are not 2:4", n, k);
  must_return(c, format, pruned, n, k);

  const octet_rhs_desc sparse = rows_of(pruned, n, k);
  must_accept("octet_sparse_export_stream_size", [&](octet_error* e) {
    return octet_sparse_export_stream_size(&sparse, &format, &bytes, e);
  });
  Bytes stream(bytes);
  must_accept("octet_sparse_export_stream", [&](octet_error* e) {
    return octet_sparse_export_stream(&sparse, &format, stream.data(), bytes, e);
  });
  stream = damaged(c, std::move(stream));
  import_anything(c, c->one_in(4) ? some_format(c) : format, stream, n, k);
  Bytes anything(c->size(200));
  for (uint8_t& byte : anything) byte = (uint8_t)c->bits(1);
  import_anything(c, format, anything, 1 + c->below(3), c->size(100));
  import_indexed(c, &random);
}

}  // namespace octet_fuzz
