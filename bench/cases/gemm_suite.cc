// SPDX-License-Identifier: Apache-2.0
// Lists the shapes of the suite of products.
#include "bench/cases/gemm_suite.h"

namespace tool {

const std::vector<GemmCase>& gemm_suite() {
  static const std::vector<GemmCase> suite = {
      {{256, 256, 256}, "square", 1},
      {{512, 512, 512}, "square", 1},
      {{1024, 1024, 1024}, "square", 1},
      {{2048, 2048, 2048}, "square", 1},
      {{128, 768, 768}, "BERT-base q, k, v, o", 48},
      {{128, 3072, 768}, "BERT-base feed-forward in", 12},
      {{128, 768, 3072}, "BERT-base feed-forward out", 12},
      {{384, 1024, 1024}, "BERT-large q, k, v, o", 96},
      {{1, 4096, 4096}, "LLaMA-7B q, k, v, o", 128},
      {{1, 11008, 4096}, "LLaMA-7B gate, up", 64},
      {{4, 4096, 4096}, "LLaMA-7B, 4 rows", 128},
      {{16, 4096, 4096}, "LLaMA-7B, 16 rows", 128},
      {{1, 64, 64}, "tiny", 1},
      {{8, 8, 8}, "tiny", 1},
      {{16, 32, 64}, "tiny", 1},
      {{64, 64, 64}, "tiny", 1},
      {{49, 512, 2048}, "ResNet-50 at 7x7", 2},
      {{196, 256, 1024}, "ResNet-50 at 14x14", 5},
      {{784, 128, 512}, "ResNet-50 at 28x28", 3},
      {{3136, 64, 256}, "ResNet-50 at 56x56", 2},
      {{12544, 64, 147}, "ResNet-50 first layer", 1},
  };
  return suite;
}

}  // namespace tool
