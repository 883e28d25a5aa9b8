/* SPDX-License-Identifier: Apache-2.0
 * A network from C99, as one object: a 3x3 convolution, a max pool and a fully connected layer,
 * whose tensors between input and output share one workspace. The image and the weights are made
 * up; plain loops gave the sums that this program expects.
 */
#include <octet/image_functions.h>
#include <octet/network.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 8, CHANNELS = 16, POOLED = SIDE / 2, FLAT = POOLED * POOLED * CHANNELS, OUT = 10 };

static int8_t filter[CHANNELS * 3 * 3], weights[OUT * FLAT];

static void check(octet_status status, const char* message) {
  if (status == OCTET_OK) return;
  fprintf(stderr, "%s: %s\n", octet_status_name(status), message);
  exit(EXIT_FAILURE);
}

/* The next piece of a block of memory, at OCTET_ALIGNMENT: C99 has no aligned_alloc. */
static void* take(size_t bytes) {
  static unsigned char memory[1 << 17];
  static size_t used;
  const size_t begin = used + (OCTET_ALIGNMENT - (uintptr_t)(memory + used) % OCTET_ALIGNMENT);
  const int fits = begin <= sizeof memory && bytes <= sizeof memory - begin;
  check(fits ? OCTET_OK : OCTET_OUT_OF_MEMORY, "the block is too small");
  used = begin + bytes;
  return memory + begin;
}

static octet_conv2d* make_convolution(void) {
  const float scale = 1.0f / 64; /* image scale * filter scale / output scale */
  octet_filter_desc packed = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  octet_conv2d* conv;
  octet_error error;
  packed.shape.in_h_max = packed.shape.in_w_max = SIDE;
  packed.shape.in_channels = 1, packed.shape.out_channels = CHANNELS;
  packed.shape.kernel_h = packed.shape.kernel_w = 3;
  packed.shape.pad_top = packed.shape.pad_bottom = 1;
  packed.shape.pad_left = packed.shape.pad_right = 1;
  packed.type = OCTET_S8, packed.order = OCTET_OHWI, packed.data = filter;
  check(octet_conv2d_pack_size(&packed, OCTET_ISA_AUTO, &desc.packed_bytes, &error), error.message);
  void* const blob = take(desc.packed_bytes);
  check(octet_conv2d_pack(&packed, OCTET_ISA_AUTO, blob, desc.packed_bytes, &error), error.message);
  desc.shape = packed.shape;
  desc.lhs_type = desc.dst_type = OCTET_U8, desc.rhs_type = OCTET_S8;
  desc.lhs_zero_point = 3;
  desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
  desc.packed = blob; /* borrowed until the convolution is destroyed */
  check(octet_conv2d_create(&desc, &conv, &error), error.message);
  return conv;
}

static octet_gemm* make_fully_connected(void) {
  octet_rhs_desc packed = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm* gemm;
  octet_error error;
  packed.type = OCTET_S8, packed.order = OCTET_NK, packed.data = weights;
  packed.n = OUT, packed.k = FLAT;
  check(octet_pack_size(&packed, OCTET_ISA_AUTO, &desc.packed_bytes, &error), error.message);
  void* const blob = take(desc.packed_bytes);
  check(octet_pack(&packed, OCTET_ISA_AUTO, blob, desc.packed_bytes, &error), error.message);
  desc.m_max = 1, desc.n = OUT, desc.k = FLAT;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  desc.packed = blob;
  check(octet_gemm_create(&desc, &gemm, &error), error.message);
  return gemm;
}

static octet_function* make_max_pool(octet_network_function* of_network) {
  octet_max_pool_desc desc = OCTET_MAX_POOL_DESC_INIT;
  octet_function* pool;
  octet_error error;
  desc.input.size.h = desc.input.size.w = SIDE;
  desc.input.size.channels = CHANNELS;
  desc.input.values.type = OCTET_U8;
  desc.window.kernel_h = desc.window.kernel_w = 2;
  desc.window.stride_h = desc.window.stride_w = 2;
  check(octet_max_pool_create(&desc, &pool, &error), error.message);
  check(octet_function_for_network(pool, of_network, &error), error.message);
  return pool;
}

int main(void) {
  uint8_t image[SIDE * SIDE];
  int32_t sums[OUT];
  for (size_t i = 0; i < sizeof image; ++i) image[i] = (uint8_t)(i * i * 7);
  for (size_t i = 0; i < sizeof filter; ++i) filter[i] = (int8_t)((int)(i * 37 % 255) - 127);
  for (size_t i = 0; i < sizeof weights; ++i) weights[i] = (int8_t)((int)(i * i * 53 % 255) - 127);
  octet_network_function max_pool;
  octet_function* const pool = make_max_pool(&max_pool);
  octet_conv2d* const conv = make_convolution();
  octet_gemm* const gemm = make_fully_connected();

  enum { IMAGE, MAPS, POOLED_MAPS, SUMS, TENSORS };
  const octet_network_tensor tensors[TENSORS] = {
      [IMAGE] = {.batch = 1, .h = SIDE, .w = SIDE, .channels = 1, .type = OCTET_U8, .keep = 1},
      [MAPS] = {.batch = 1, .h = SIDE, .w = SIDE, .channels = CHANNELS, .type = OCTET_U8},
      [POOLED_MAPS] =
          {.batch = 1, .h = POOLED, .w = POOLED, .channels = CHANNELS, .type = OCTET_U8},
      [SUMS] = {.batch = 1, .h = 1, .w = 1, .channels = OUT, .type = OCTET_S32, .keep = 1}};
  const octet_network_op ops[] = {
      {.conv2d = conv, .inputs = {IMAGE}, .input_count = 1, .output = MAPS},
      {.function = &max_pool, .inputs = {MAPS}, .input_count = 1, .output = POOLED_MAPS},
      {.gemm = gemm, .inputs = {POOLED_MAPS}, .input_count = 1, .output = SUMS}};
  octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
  desc.tensors = tensors, desc.tensor_count = TENSORS;
  desc.ops = ops, desc.op_count = sizeof ops / sizeof *ops;
  octet_network* network;
  octet_error error;
  check(octet_network_create(&desc, &network, &error), error.message);

  void* const memory[TENSORS] = {[IMAGE] = image, [SUMS] = sums}; /* of tensors that are kept */
  octet_network_args args = OCTET_NETWORK_ARGS_INIT;
  args.tensors = memory;
  check(octet_network_workspace(network, &args.workspace_bytes, &error), error.message);
  args.workspace = take(args.workspace_bytes);
  check(octet_network_run(network, &args, &error), error.message);

  const int32_t expected[OUT] = {-454435, -530569, -547676, -436651, -358909,
                                 -453170, -429499, -640051, -495776, -704044};
  int wrong = 0;
  for (int i = 0; i < OUT; ++i) wrong += sums[i] != expected[i];
  printf("%zu bytes of workspace: %d sums are wrong\n", args.workspace_bytes, wrong);
  octet_network_destroy(network); /* before the objects of its ops */
  octet_gemm_destroy(gemm);
  octet_conv2d_destroy(conv);
  octet_function_destroy(pool);
  return wrong != 0;
}
