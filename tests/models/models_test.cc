// SPDX-License-Identifier: Apache-2.0
// Runs the layers that check.py took out of whole networks, and those that sparse.py pruned, by
// every algorithm on every tier. Only these two scripts start it.
#include <octet/sparse.h>

#include <cstdlib>
#include <vector>

#include "support/vector_test.h"

namespace octet_test {
namespace {

class Models : public VectorTest {};

TEST_P(Models, EveryLayerAsLiteRt) {
  const char* const file = std::getenv("OCTET_MODEL_LAYERS");
  ASSERT_NE(file, nullptr) << "check.py says where the layers are, in OCTET_MODEL_LAYERS";
  check(file);
}

OCTET_FOR_EACH_TIER(Models);

TEST(Pruning, AsInPythonAndThroughAStream) {
  const char* const file = std::getenv("OCTET_MODEL_WEIGHTS");
  if (!file) GTEST_SKIP() << "only sparse.py prunes";
  for (const Case& c : VectorFile::read(file)) {
    SCOPED_TRACE(c.name);
    const Tensor &weights = *c.find("weights"), &expected = *c.find("pruned");
    std::vector<uint8_t> pruned(weights.size()), imported(weights.size());
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8;
    rhs.order = OCTET_NK;
    rhs.n = weights.rows;
    rhs.k = weights.columns;
    rhs.data = weights.data<void>();
    octet_error error = {};
    ASSERT_EQ(octet_sparse_prune(&rhs, pruned.data(), nullptr, &error), OCTET_OK) << error.message;
    EXPECT_EQ(pruned, expected.bytes);
    rhs.data = pruned.data();
    octet_sparse_stream_format format = OCTET_SPARSE_STREAM_FORMAT_INIT;
    format.chunk = 32;
    size_t bytes = 0;
    ASSERT_EQ(octet_sparse_export_stream_size(&rhs, &format, &bytes, &error), OCTET_OK)
        << error.message;
    std::vector<uint8_t> stream(bytes);
    ASSERT_EQ(octet_sparse_export_stream(&rhs, &format, stream.data(), bytes, &error), OCTET_OK);
    ASSERT_EQ(octet_sparse_import_stream(&format, stream.data(), bytes, rhs.n, rhs.k,
                                         imported.data(), 0, &error),
              OCTET_OK)
        << error.message;
    EXPECT_EQ(imported, pruned);
  }
}

}  // namespace
}  // namespace octet_test
