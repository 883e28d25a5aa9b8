/* SPDX-License-Identifier: Apache-2.0
 * octet_gemm_args.parallel_for, octet_conv2d_args.parallel_for, octet_network_args.parallel_for on
 * a pthreadpool (https://github.com/Maratyszcza/pthreadpool). CMake: octet::pthreadpool.
 *
 *     octet_pthreadpool threads = OCTET_PTHREADPOOL_INIT(pool);
 *     args.parallel_for = octet_pthreadpool_parallel_for_flags;
 *     args.parallel_context = &threads;          borrowed for the run
 *     args.concurrency = pthreadpool_get_threads_count(pool);
 *
 * docs/threads.md has measurements with workers that sleep and with workers that spin.
 */
#ifndef OCTET_PTHREADPOOL_H_
#define OCTET_PTHREADPOOL_H_

#include <pthreadpool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct octet_pthreadpool {
  pthreadpool_t pool; /* null runs on the calling thread */
  /* PTHREADPOOL_FLAG_*. With PTHREADPOOL_FLAG_YIELD_WORKERS workers sleep between runs; without it
   * they spin for a while after each one, which starts the next one sooner, and takes the cores
   * from whatever else runs: another engine, another pool. */
  uint32_t flags;
} octet_pthreadpool;
#define OCTET_PTHREADPOOL_INIT(pool) \
  { (pool), PTHREADPOOL_FLAG_YIELD_WORKERS }

/* context: an octet_pthreadpool. */
static inline void octet_pthreadpool_parallel_for_flags(void* context, size_t count,
                                                        void (*fn)(void* arg, size_t index),
                                                        void* arg) {
  const octet_pthreadpool* const threads = (const octet_pthreadpool*)context;
  pthreadpool_parallelize_1d(threads->pool, fn, arg, count, threads->flags);
}

/* context: a pthreadpool_t, whose workers sleep between runs. */
static inline void octet_pthreadpool_parallel_for(void* context, size_t count,
                                                  void (*fn)(void* arg, size_t index), void* arg) {
  pthreadpool_parallelize_1d((pthreadpool_t)context, fn, arg, count,
                             PTHREADPOOL_FLAG_YIELD_WORKERS);
}

#endif /* OCTET_PTHREADPOOL_H_ */
