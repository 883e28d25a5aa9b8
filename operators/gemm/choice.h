// SPDX-License-Identifier: Apache-2.0
// The choice of kernels, blocks and tasks of a product. Pure: the CPU, its caches, the problem and
// the forced kernel's name are arguments.
#pragma once

#include "dispatch/select/choice.h"
#include "dispatch/select/select.h"

namespace octet {

// The best choice, if the selection of the kernel for many rows is kOk. `forced` as for select.
Selection choose_gemm(const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                      const char* forced, Choice* choice);

// Whether the choice computes the problem on this CPU; else *why says why not. Run-time weights
// have facts with the choice's layout.
bool may_use(const Choice& choice, const CpuFeatures& cpu, const Problem& problem,
             const WeightFacts& facts, const char** why);

// Rows of a block: half of the L2 cache is for them, the other half for the weights that are read
// meanwhile. k: as declared, so that a run with less depth never needs more workspace.
size_t block_rows(const CpuFeatures& cpu, const MicroKernel& kernel, size_t k);

// The int8 kernel of this name, or null.
const MicroKernel* int8_kernel(const KernelName* name);

// octet_gemm_create without its trace, with a choice or, null, the best one. A choice beside
// desc.kernel is refused.
octet_status create_gemm(const octet_gemm_desc* desc, const Choice* choice, octet_gemm** gemm,
                         octet_error* error);
const Choice& choice_of(const octet_gemm& gemm);

}  // namespace octet
