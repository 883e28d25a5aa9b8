/* SPDX-License-Identifier: Apache-2.0
 * Octet: a model of the traffic between caches and memory.
 *
 * An octet_traffic is a model of the caches before a memory. Convolutions and products are walked
 * through it one after the other: their own code runs, with kernels that compute nothing and trace
 * the bytes that they would have read and written. A line that no cache holds is read from memory;
 * a written line that leaves the caches is written back, and counts for the layer that wrote it.
 *
 * All functions are in an archive of their own, liboctet_traffic.a (CMake: octet::traffic,
 * pkg-config: octet-traffic), which a library built with OCTET_WITH_TRAFFIC=OFF does not have.
 * docs/traffic.md has examples, and lists what the model leaves out.
 */
#ifndef OCTET_TRAFFIC_H_
#define OCTET_TRAFFIC_H_

#include "octet/network.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct octet_traffic octet_traffic;

/* The operand that bytes belong to. Residuals are inputs; biases and scales are weights. */
typedef enum octet_operand OCTET_INT_ENUM {
  OCTET_OPERAND_INPUT = 0,
  OCTET_OPERAND_WEIGHTS = 1,
  OCTET_OPERAND_OUTPUT = 2,
  OCTET_OPERAND_WORKSPACE = 3
} octet_operand;
#define OCTET_OPERANDS 4

typedef struct octet_traffic_options {
  size_t struct_size;
  size_t cache_bytes; /* of the last level before memory: a multiple of 4096, up to 2^31 */
  size_t layers;      /* that are told apart; 0 means 1024 */
  /* -- an older struct may end here -- */
  size_t l1_bytes; /* a multiple of 1024, up to 2^31; 0 means 32 KB */
} octet_traffic_options;
#define OCTET_TRAFFIC_OPTIONS_INIT OCTET_INIT(octet_traffic_options)

/* Indexed by octet_operand, in whole lines of 64 bytes. */
typedef struct octet_layer_traffic {
  size_t struct_size;
  uint64_t read_bytes[OCTET_OPERANDS];  /* from memory, also of lines that are only written */
  uint64_t write_bytes[OCTET_OPERANDS]; /* written back to memory until now */
  /* -- an older struct may end here -- */
} octet_layer_traffic;
#define OCTET_LAYER_TRAFFIC_INIT OCTET_INIT(octet_layer_traffic)

/* The caches are empty, the layer is 0. The first level has 8 ways, the last one 16; in each, the
 * least recently used line of a set leaves. Takes 16 bytes for each line. Not for two threads at
 * once. */
OCTET_API octet_status octet_traffic_create(const octet_traffic_options* options,
                                            octet_traffic** traffic, octet_error* error);
OCTET_API void octet_traffic_destroy(octet_traffic* traffic); /* null is allowed */

/* Reads and writes from now on count for layer `index`, below options.layers. Layers may take
 * turns. */
OCTET_API octet_status octet_traffic_begin(octet_traffic* traffic, size_t index,
                                           octet_error* error);

/* As octet_conv2d_run and octet_gemm_run, by one task whatever the arguments say, but nothing is
 * computed: the content of dst and of the workspace is lost, and inputs are read as far as plain
 * code copies them. Buffers count by their addresses: use the same address where one layer writes
 * and the next one reads. */
OCTET_API octet_status octet_traffic_conv2d(octet_traffic* traffic, const octet_conv2d* conv,
                                            const octet_conv2d_args* args, octet_error* error);
OCTET_API octet_status octet_traffic_gemm(octet_traffic* traffic, const octet_gemm* gemm,
                                          const octet_gemm_args* args, octet_error* error);

/* As octet_network_run, by one task at a time, as planned: op i counts for layer begun + i, where
 * `begun` is the layer of the last octet_traffic_begin, and functions are not called: they read the
 * lines that they said, and write theirs. Afterwards the layer is that of an op. */
OCTET_API octet_status octet_traffic_network(octet_traffic* traffic, const octet_network* network,
                                             const octet_network_args* args, octet_error* error);

/* Reports bytes that other code reads (write = 0) or writes (1), from first to last, up to 2^40 (of
 * 32 bits: 2^31 - 1). The memory need not be there. */
OCTET_API octet_status octet_traffic_touch(octet_traffic* traffic, const void* at, size_t bytes,
                                           octet_operand operand, int write, octet_error* error);

/* Writes back all written lines, and empties the caches. */
OCTET_API octet_status octet_traffic_flush(octet_traffic* traffic, octet_error* error);

OCTET_API octet_status octet_traffic_get(const octet_traffic* traffic, size_t index,
                                         octet_layer_traffic* layer, octet_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_TRAFFIC_H_ */
