/* SPDX-License-Identifier: Apache-2.0
 * octet_gemm_args.parallel_for, octet_conv2d_args.parallel_for, octet_network_args.parallel_for on
 * OpenMP. CMake: octet::openmp.
 *
 *     args.parallel_for = octet_openmp_parallel_for;
 *     args.parallel_context = NULL;                              or an int*: the number of threads
 *     args.concurrency = omp_get_max_threads();
 */
#ifndef OCTET_OPENMP_H_
#define OCTET_OPENMP_H_

#ifndef _OPENMP
#error "octet/openmp.h needs the compiler's OpenMP flag, e.g. -fopenmp"
#endif
#include <omp.h>
#include <stddef.h>

static inline void octet_openmp_parallel_for(void* context, size_t count,
                                             void (*fn)(void* arg, size_t index), void* arg) {
  const int threads = context ? *(const int*)context : omp_get_max_threads();
  size_t i;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (i = 0; i < count; ++i) fn(arg, i);
}

#endif /* OCTET_OPENMP_H_ */
