// SPDX-License-Identifier: Apache-2.0
// Compares Octet with its written contract: contract.py's results on every tier. README.md
// describes the vectors.
#include <cstdlib>

#include "support/vector_test.h"

namespace octet_test {
namespace {

class Vectors : public VectorTest {
 protected:
  // The directory may be copied, to a board for example.
  void check(const char* file) {
    const char* moved = std::getenv("OCTET_VECTORS_DIR");
    VectorTest::check(std::string(moved ? moved : OCTET_SOURCE_DIR "/tests/vectors") + "/" + file);
  }
};

TEST_P(Vectors, S32) { check("s32.bin"); }
TEST_P(Vectors, Float) { check("float.bin"); }
TEST_P(Vectors, FloatResidual) { check("float_residual.bin"); }
TEST_P(Vectors, Tflite) { check("tflite.bin"); }
TEST_P(Vectors, TfliteResidual) { check("tflite_residual.bin"); }
TEST_P(Vectors, Double) { check("double.bin"); }
TEST_P(Vectors, F32) { check("f32.bin"); }
TEST_P(Vectors, Dynamic) { check("dynamic.bin"); }
TEST_P(Vectors, S16) { check("s16.bin"); }
TEST_P(Vectors, Int4) { check("int4.bin"); }
TEST_P(Vectors, ScaleBlocks) { check("scale_blocks.bin"); }

OCTET_FOR_EACH_TIER(Vectors);

}  // namespace
}  // namespace octet_test
