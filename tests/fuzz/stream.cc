// Fuzz target: streams of 2:4 weights, sound ones, damaged ones, anything; and pruning. Whatever is
// accepted decodes to weights that are 2:4; whatever is refused has written nothing.
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

octet_sparse_stream some_format(Choices* c) {
  octet_sparse_stream format = OCTET_SPARSE_STREAM_INIT;
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

// The stream of what was decoded, decoded again, is the same.
void must_return(Choices* c, const octet_sparse_stream& format, const Block& rows, size_t n,
                 size_t k) {
  const octet_rhs_desc rhs = rows_of(rows, n, k);
  size_t bytes = 0;
  must_accept("octet_sparse_export_size",
              [&](octet_error* e) { return octet_sparse_export_size(&rhs, &format, &bytes, e); });
  const Block stream(c, bytes), again(c, rows.bytes());
  must_accept("octet_sparse_export", [&](octet_error* e) {
    return octet_sparse_export(&rhs, &format, stream.data(), bytes, e);
  });
  must_accept("octet_sparse_import", [&](octet_error* e) {
    return octet_sparse_import(&format, stream.data(), bytes, n, k, again.data(), 0, e);
  });
  if (std::memcmp(again.data(), rows.data(), rows.bytes()) != 0)
    fail("a stream of %zu x %zu weights is read as other ones", n, k);
  tally.outputs += rows.bytes();
}

void import_anything(Choices* c, const octet_sparse_stream& format, const Bytes& bytes, size_t n,
                     size_t k) {
  if (bytes.empty()) return;
  const Block stream(c, bytes), rows(c, n * k);
  Foreseen foreseen;
  foreseen.add(stream);
  foreseen.add(rows);
  const octet_status status = checked("octet_sparse_import", [&](octet_error* e) {
    return octet_sparse_import(&format, stream.data(), stream.bytes(), n, k, rows.data(), 0, e);
  });
  size_t weights = 0;
  const octet_status sized = checked("octet_sparse_import_size", [&](octet_error* e) {
    return octet_sparse_import_size(&format, stream.data(), stream.bytes(), &weights, e);
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

Bytes damaged(Choices* c, Bytes stream) {
  for (size_t times = 1 + c->below(3); times > 0 && !stream.empty(); --times) {
    const auto at = stream.begin() + static_cast<ptrdiff_t>(c->below(stream.size()));
    switch (c->below(5)) {
      case 0:
        *at ^= static_cast<uint8_t>(1u << c->below(8));
        break;
      case 1:
        *at = static_cast<uint8_t>(c->bits(1));
        break;
      case 2:
        stream.erase(at, stream.end());
        break;
      case 3:
        stream.erase(at);
        break;
      default:
        stream.insert(at, static_cast<uint8_t>(c->bits(1)));
    }
  }
  return stream;
}

}  // namespace

void fuzz_one(Choices* c) {
  const octet_sparse_stream format = some_format(c);
  const size_t n = c->size(40), k = c->size(kMostWeights / n);
  Random random = c->random();
  const size_t density = 1 + c->below(8);  // of eight
  Bytes rows(n * k);
  for (uint8_t& weight : rows)
    if (random.below(8) < density) weight = static_cast<uint8_t>(random());
  const Block dense(c, rows), pruned(c, rows.size());
  const octet_rhs_desc given = rows_of(dense, n, k);
  size_t bytes = 0;
  const auto size = [&](octet_error* e) {
    return octet_sparse_export_size(&given, &format, &bytes, e);
  };
  if (is_sparse(rows.data(), n, k))
    must_accept("octet_sparse_export_size", size);
  else
    must_refuse("octet_sparse_export_size", "a group of three", size);
  must_accept("octet_sparse_prune", [&](octet_error* e) {
    return octet_sparse_prune(&given, pruned.data(), nullptr, e);
  });
  if (!is_sparse(pruned.data(), n, k)) fail("pruned weights of %zu x %zu are not 2:4", n, k);
  must_return(c, format, pruned, n, k);

  const octet_rhs_desc sparse = rows_of(pruned, n, k);
  must_accept("octet_sparse_export_size", [&](octet_error* e) {
    return octet_sparse_export_size(&sparse, &format, &bytes, e);
  });
  Bytes stream(bytes);
  must_accept("octet_sparse_export", [&](octet_error* e) {
    return octet_sparse_export(&sparse, &format, stream.data(), bytes, e);
  });
  stream = damaged(c, std::move(stream));
  import_anything(c, c->one_in(4) ? some_format(c) : format, stream, n, k);
  Bytes anything(c->size(200));
  for (uint8_t& byte : anything) byte = static_cast<uint8_t>(c->bits(1));
  import_anything(c, format, anything, 1 + c->below(3), c->size(100));
}

}  // namespace octet_fuzz
