// The layers that check.py took out of whole networks, by every algorithm on every tier. It is
// started by check.py only.
#include <cstdlib>

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

}  // namespace
}  // namespace octet_test
