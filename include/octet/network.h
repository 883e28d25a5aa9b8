/* SPDX-License-Identifier: Apache-2.0
 * Octet: networks of convolutions and products.
 *
 * A network is ops over tensors, in an order in which they can run: convolutions and products that
 * the caller created, and functions of the caller for the small steps between them (pooling,
 * resizing, adding, look-ups). octet_network_create checks it and plans one workspace for all
 * tensors that only live inside; octet_network_run runs it. It is for engines that hand sub-graphs
 * over: there are no operators here but Octet's own.
 *
 * Tensors are NHWC. Concatenating and splitting cost nothing: ops write and read channel slices of
 * the joined tensor. No output byte depends on how a network is run.
 *
 * A library built with OCTET_WITH_NETWORK=OFF or OCTET_WITH_CONVOLUTION=OFF does not have these
 * functions: a program that calls them does not link. A program that calls none of them links
 * nothing of them. docs/chains.md tells more. Stack: a run needs less than 4 KB beside that of its
 * ops, creating less than 10 KB.
 */
#ifndef OCTET_NETWORK_H_
#define OCTET_NETWORK_H_

#include "octet/octet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the description of a network ------------------------------------------------------------ */

/* batch x h x w x channels, dense, in this order: a kept tensor's memory holds
 * batch * h * w * channels values of its type. Frozen. */
typedef struct octet_network_tensor {
  size_t batch, h, w, channels;
  octet_type type; /* OCTET_S8, _U8, _S16, _S32 or _F32 */
  /* 1: the tensor lies in memory of the caller's, which comes with each run; for inputs and
   * results. The content of a tensor that is neither kept nor read is lost. 0: it lies in the
   * workspace, while it is needed. */
  int keep;
  /* 1: the tensor is channels [first_channel, first_channel + channels) of tensor `parent`, of the
   * same sizes and type, which is no slice. keep is the parent's then, and 0 here. */
  int slice;
  int reserved; /* must be 0 */
  size_t parent, first_channel;
} octet_network_tensor;

/* One image of a tensor, as a caller's function gets it. Line y is at octet_network_line(). */
typedef struct octet_network_image {
  void* data;
  size_t pixel, line; /* bytes from one to the next */
  size_t h, w, channels;
  /* Not 0: only so many lines are there, around those that are computed; line y is at (first + y) %
   * ring. */
  size_t ring, first;
} octet_network_image;

#define OCTET_NETWORK_INPUTS_MAX 4

/* The task of one call of a caller's function: output lines [first, end) of one image. */
typedef struct octet_network_call {
  size_t image;
  size_t first, end;
  octet_network_image inputs[OCTET_NETWORK_INPUTS_MAX];
  octet_network_image output;
} octet_network_call;

/* As kernel_h: the function reads all lines of all images, and gets each tensor as one image, whose
 * lines are those of all images, one after the other. Its tensors may have different batches. It
 * runs in no chain, and keeps the network from running image by image. With an output of one line
 * (batch and h are 1) a run calls the function once. The function may then write to inputs[i].data
 * of a kept tensor that no other op reads, for example a state; the caller gives each of several
 * runs at the same time its own memory for that tensor. */
#define OCTET_NETWORK_ALL_IMAGES ((size_t)-1)

/* A function over lines. Its output may depend on nothing but the lines that it reads, and the
 * bytes of a line not on the other lines of the call. Called by many threads at once. Frozen. */
typedef struct octet_network_function {
  void (*run)(void* context, const octet_network_call* call);
  void* context; /* borrowed until destroy */
  /* Output line y reads lines floor(t / repeat_h) of each input, for kernel_h values t from
   * y * stride_h - pad_top on; lines outside of the image are not read. kernel_h 0 stands for all
   * lines of the image, OCTET_NETWORK_ALL_IMAGES for those of all images. A stride_h or repeat_h of
   * 0 stands for 1. A 2x2 pooling has kernel_h = stride_h = 2, resizing to twice the size by
   * repetition kernel_h = 1, repeat_h = 2. */
  size_t kernel_h, stride_h, repeat_h, pad_top;
} octet_network_function;

/* Frozen. */
typedef struct octet_network_op {
  /* One of the three. The objects are borrowed until destroy: NHWC, without run-time zero points or
   * weights. The function is copied. */
  const octet_conv2d* conv2d;
  /* Each pixel is a row of the product, or, where k is h * w * channels of a tensor that is no
   * slice, each image. */
  const octet_gemm* gemm;
  const octet_network_function* function;
  /* Of a convolution or a product: the lhs, then the residual if it was created with one. */
  size_t inputs[OCTET_NETWORK_INPUTS_MAX];
  size_t input_count;
  size_t output; /* written here and by no other op */
} octet_network_op;

/* The quantity that the plan keeps small. */
typedef enum octet_network_goal OCTET_INT_ENUM {
  OCTET_NETWORK_TIME = 0, /* ops run in chains only where that is predicted to be faster */
  /* Bytes between the cache (cache_bytes) and memory. */
  OCTET_NETWORK_TRAFFIC = 1,
  /* The memory for tensors, or, with memory_bytes, the time within so much of it. */
  OCTET_NETWORK_MEMORY = 2,
  OCTET_NETWORK_LAYERS = 3 /* each op by itself */
} octet_network_goal;

/* A bit of band_lines: this part and neighbouring parts with the bit run image by image, one image
 * through all of them before the next one, so that an image's tensors stay in the cache; those that
 * live only inside have room for one image. All their ops have the same batch then. Without it, a
 * part runs all images before the next part does, so that small tensors are one matrix whose
 * weights pass once. */
#define OCTET_NETWORK_BY_IMAGE (~((size_t)-1 >> 1))

/* Ops [first_op, end_op) run as a chain: band_lines output lines of the last op with the lines of
 * other ops that these need, then the next ones. Tensors that live only inside a chain are rings of
 * some lines; no line is computed twice but at the borders of tasks. 0 lines: one op after the
 * other. Frozen. */
typedef struct octet_network_part {
  size_t first_op, end_op;
  size_t band_lines; /* and OCTET_NETWORK_BY_IMAGE, or not */
} octet_network_part;

typedef struct octet_network_desc {
  size_t struct_size;
  const octet_network_tensor* tensors;
  size_t tensor_count;
  const octet_network_op* ops; /* in an order in which they can run */
  size_t op_count;
  octet_allocator allocator;
  /* -- an older struct may end here -- */
  size_t concurrency; /* most tasks of a run; 0 means 1. Small runs make fewer */
  /* The cache that chains are to stay in, of one task; 0 means the machine's L2. */
  size_t cache_bytes;
  /* OCTET_NETWORK_MEMORY: bytes that tensors (map_bytes) may take; 0 means as few as possible. A
   * limit that is too small is refused, and the message has the smallest possible one. The limit is
   * not for the memory that ops need beside tensors: octet_network_workspace has the sum. */
  size_t memory_bytes;
  /* Instead of a plan by the goal: all ops, in their order. Borrowed for the call; null means
   * none. */
  const octet_network_part* parts;
  size_t part_count;
  octet_network_goal goal;
  int reserved; /* must be 0 */
  /* The machine that will run it; null means this one. Its tuning is not read here: measured
   * choices enter by the descriptors that the ops were created from. */
  const octet_machine* machine;
} octet_network_desc;
#define OCTET_NETWORK_DESC_INIT OCTET_INIT(octet_network_desc)

typedef struct octet_network octet_network;

/* Checks desc and plans. Copies tensors and ops. On failure *network is null. */
OCTET_API octet_status octet_network_create(const octet_network_desc* desc, octet_network** network,
                                            octet_error* error);
OCTET_API void octet_network_destroy(
    octet_network* network); /* null is allowed; no run in progress */

/* ---- questions before weights are there ------------------------------------------------------ */

/* An outline stands for a blob whose weights are not there yet. octet_gemm_explain,
 * octet_gemm_create and octet_conv2d_create take it as desc.packed, and octet_network_create takes
 * their objects: kernels, algorithms, workspaces and plans are those of the blob that octet_pack or
 * octet_conv2d_pack would make, of weights that use the whole range of their type. The workspace of
 * known weights is never larger, unless these turn out to be sparse, or are packed in pairs
 * (octet_pack_size) for an s16 lhs. Sums that may leave the accumulator are refused only when the
 * weights are there. Runs are refused with OCTET_BAD_BLOB. An outline may be freed once its objects
 * are destroyed; a file of outlines is of no use. */
#define OCTET_OUTLINE_BYTES ((size_t)320)

/* Writes OCTET_OUTLINE_BYTES at a multiple of OCTET_ALIGNMENT. rhs->data, rhs->scales and
 * filter->data are not read and may be null; of rhs->minimums it matters only whether it is null.
 * OCTET_SPARSE_AUTO, and OCTET_SPARSE_2_4 with zero points, count as dense. */
OCTET_API octet_status octet_pack_outline(const octet_rhs_desc* rhs, octet_isa isa, void* outline,
                                          octet_error* error);
OCTET_API octet_status octet_conv2d_pack_outline(const octet_filter_desc* filter, octet_isa isa,
                                                 void* outline, octet_error* error);

/* ---- runs ------------------------------------------------------------------------------------ */

/* The workspace bytes of any run: all tensors that are not kept, and the ops' own memory. */
OCTET_API octet_status octet_network_workspace(const octet_network* network, size_t* bytes,
                                               octet_error* error);

typedef struct octet_network_args {
  size_t struct_size;
  /* One pointer per tensor. Looked at where the tensor is kept, dense, at multiples of its type's
   * bytes. Memory that ops write may overlap no other memory of a run. */
  void* const* tensors;
  void* workspace; /* as octet_gemm_args has these */
  size_t workspace_bytes;
  /* -- an older struct may end here -- */
  octet_parallel_for parallel_for;
  void* parallel_context;
  size_t concurrency; /* at most as declared; 0 means 1. Small runs make fewer tasks */
} octet_network_args;
#define OCTET_NETWORK_ARGS_INIT OCTET_INIT(octet_network_args)

/* Runs all ops. A bad argument is found before anything is written. */
OCTET_API octet_status octet_network_run(const octet_network* network,
                                         const octet_network_args* args, octet_error* error);

/* ---- the plan -------------------------------------------------------------------------------- */

/* A part, and, in the last fields, the whole network. */
typedef struct octet_network_explanation {
  size_t struct_size;
  octet_network_part part;
  size_t tasks;         /* of the part, where it is a chain: row slices of the last op's lines */
  size_t ring_bytes;    /* of the part, all its tasks' */
  size_t scratch_bytes; /* that the ops need beside tensors */
  size_t workspace_bytes;
  size_t map_bytes;      /* of that: for tensors, at the moment when most is needed */
  size_t separate_bytes; /* of these tensors in a buffer each */
  size_t kept_bytes;     /* of the caller's tensors */
  /* -- an older struct may end here -- */
} octet_network_explanation;
#define OCTET_NETWORK_EXPLANATION_INIT OCTET_INIT(octet_network_explanation)

/* The parts of the plan in their order, index 0, 1, ... until OCTET_BAD_SIZE. */
OCTET_API octet_status octet_network_explain(const octet_network* network, size_t index,
                                             octet_network_explanation* explanation,
                                             octet_error* error);

/* Where line y of an image lies, if it is there. */
static inline void* octet_network_line(const octet_network_image* image, size_t y) {
  return (char*)image->data + (image->ring ? (image->first + y) % image->ring : y) * image->line;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_NETWORK_H_ */
