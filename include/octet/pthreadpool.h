/*
 * octet_gemm_args.parallel_for, octet_conv2d_args.parallel_for on a pthreadpool
 * (https://github.com/Maratyszcza/pthreadpool). CMake: octet::pthreadpool.
 *
 *     args.parallel_for = octet_pthreadpool_parallel_for;
 *     args.parallel_context = pool;              a pthreadpool_t; null runs on the calling thread
 *     args.concurrency = pthreadpool_get_threads_count(pool);
 */
#ifndef OCTET_PTHREADPOOL_H_
#define OCTET_PTHREADPOOL_H_

#include <pthreadpool.h>
#include <stddef.h>

static inline void octet_pthreadpool_parallel_for(void* context, size_t count,
                                                  void (*fn)(void* arg, size_t index), void* arg) {
  pthreadpool_parallelize_1d((pthreadpool_t)context, fn, arg, count, 0);
}

#endif /* OCTET_PTHREADPOOL_H_ */
