// SPDX-License-Identifier: Apache-2.0
// Runs one GEMM or convolution RUNS times, for estimate.py to count. Two runs minus one run is
// exactly one call of octet_gemm_run or octet_conv2d_run, without start-up, packing, self-test and
// create. Linked statically and without PIE, so that addresses are those of the file.
//
//     one_shape MxNxK LHS RHS DST RUNS [OPTION...]
//     one_shape ic512oc512_ih7kh3ph1 LHS RHS DST RUNS [OPTION...]
//
// Types: s8 u8 (dst also s32, f32; rhs of a product also s4); an lhs of f32 is quantized by the
// run, asymmetrically per row. Options: tflite; sparse: two of every four weights are zero, and
// they are packed sparse; zero-points: each column has a zero point; zero-point: all have one;
// blocks: s4 weights have a scale per 32, and so has an lhs of f32; relu6, lhs-zero-point (that of
// zeros at the type's least value) and residual: of convolutions to 8 bits. Convolutions as `octet
// bench` names them. Prints the multiply-adds and the kernel's name, for convolutions the algorithm
// too.
#include <octet/helpers.h>
#include <octet/octet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

[[noreturn]] void fail(const char* what, const char* why) {
  fprintf(stderr, "one_shape: %s: %s\n", what, why);
  exit(2);
}

octet_type type_of(const char* name) {
  if (strcmp(name, "s8") == 0) return OCTET_S8;
  if (strcmp(name, "u8") == 0) return OCTET_U8;
  if (strcmp(name, "s4") == 0) return OCTET_S4;  // of a product; half of the random bytes
  if (strcmp(name, "s32") == 0) return OCTET_S32;
  if (strcmp(name, "f32") == 0) return OCTET_F32;
  fail("unknown type", name);
}

void* allocate(size_t bytes) {
  void* memory =
      aligned_alloc(OCTET_ALIGNMENT, (bytes + OCTET_ALIGNMENT) / OCTET_ALIGNMENT * OCTET_ALIGNMENT);
  if (!memory) exit(3);
  return memory;
}

// The values do not matter to the counts, but -128 in the weights would exclude NEON's faster
// kernel.
int8_t* random_bytes(size_t count) {
  static uint32_t state = 1;
  int8_t* bytes = (int8_t*)allocate(count);
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    bytes[i] = (int8_t)((int)((state >> 24) % 255) - 127);
  }
  return bytes;
}

void check(octet_status status, const octet_error& error) {
  if (status != OCTET_OK) fail(octet_status_name(status), error.message);
}

// Activations of the type. Floats are between -1 and 1.
void* random_lhs(octet_type type, size_t count) {
  int8_t* bytes = random_bytes(count);
  if (type != OCTET_F32) return bytes;
  float* values = (float*)allocate(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) values[i] = (float)bytes[i] / 127;
  return values;
}

// One zero point per output, around the middle of the type's range, so that few differences fit s8.
const int32_t* random_zero_points(octet_type type, size_t n, bool same) {
  int32_t* values = (int32_t*)allocate(n * sizeof(int32_t));
  for (size_t i = 0; i < n; ++i)
    values[i] = (type == OCTET_U8 ? 128 : 0) + (same ? 5 : 16 * ((int32_t)(i % 7) - 3));
  return values;
}

// One scale and one bias per output. The scales make outputs fill their range, as calibration does,
// so that create certifies the usual steps.
float scale(size_t i, size_t depth) {
  size_t root = 1;
  while (root * root < depth) ++root;
  return (0.008f + 1e-5f * (float)(i % 7)) / (float)root;
}
const int32_t* biases(size_t n) {
  int32_t* values = (int32_t*)allocate(n * sizeof(int32_t));
  for (size_t i = 0; i < n; ++i) values[i] = (int32_t)(i % 11) - 5;
  return values;
}

struct Types {
  octet_type lhs, rhs, dst;
  bool tflite, sparse, zero_points, zero_point, blocks, relu6, lhs_zero_point, residual;
};

// Random weights, 2:4 if sparse and if the depth is a multiple of four.
int8_t* random_weights(size_t count, const Types& types) {
  int8_t* weights = random_bytes(count);
  for (size_t i = 0; types.sparse && i < count; ++i)
    if ((i + i / 4) % 4 < 2) weights[i] = 0;
  return weights;
}

void set_epilogue(size_t n, size_t depth, const Types& types, octet_epilogue* epilogue) {
  if (types.dst == OCTET_F32) {
    float* values = (float*)allocate(n * sizeof(float));
    for (size_t i = 0; i < n; ++i) values[i] = (float)(i % 11) - 5;
    epilogue->bias_f32 = values;
  } else {
    epilogue->bias = biases(n);
  }
  if (types.dst == OCTET_S32) return;
  if (!types.tflite) {
    float* values = (float*)allocate(n * sizeof(float));
    for (size_t i = 0; i < n; ++i) values[i] = scale(i, depth);
    epilogue->scales = values;
    epilogue->scale_count = n;
    return;
  }
  octet_error error;
  int32_t* multipliers = (int32_t*)allocate(n * sizeof(int32_t));
  int32_t* shifts = (int32_t*)allocate(n * sizeof(int32_t));
  for (size_t i = 0; i < n; ++i)
    check(octet_quantize_multiplier(scale(i, depth), &multipliers[i], &shifts[i], &error), error);
  epilogue->requant = OCTET_REQUANT_TFLITE;
  epilogue->multipliers = multipliers;
  epilogue->shifts = shifts;
  epilogue->multiplier_count = n;
}

// The clamp and the residual of an output of 8 bits.
void set_sides(const Types& types, octet_epilogue* epilogue) {
  const int32_t least = types.dst == OCTET_S8 ? -128 : 0;
  if (types.relu6) {
    epilogue->activation = OCTET_ACTIVATION_RELU6;
    epilogue->dst_scale = 6.0f / 250;
    epilogue->dst_zero_point = least;
  }
  if (!types.residual) return;
  octet_residual* const r = &epilogue->residual;
  r->type = types.dst;
  r->zero_point = least + 125;
  if (!types.tflite) {
    r->scale = 0.75f;
    return;
  }
  r->intermediate_zero_point = least + 125;
  octet_error error;
  check(octet_tflite_add(0.023f, 0.02f, 0.025f, r, &error), error);
}

void set_scale_blocks(octet_rhs_desc* weights) {
  const size_t blocks = weights->n * (weights->k / 32);
  uint16_t* scales = (uint16_t*)allocate(blocks * sizeof(uint16_t));
  for (size_t i = 0; i < blocks; ++i) scales[i] = (uint16_t)(0x2000 + i % 7);
  weights->scale_block = 32;
  weights->scale_type = OCTET_F16;
  weights->scales = scales;
}

void run_gemm(size_t m, size_t n, size_t k, const Types& types, long runs) {
  octet_error error;
  octet_rhs_desc weights = OCTET_RHS_DESC_INIT;
  weights.type = types.rhs;
  weights.order = OCTET_NK;
  weights.n = n;
  weights.k = k;
  weights.data = random_weights(n * k, types);
  weights.sparsity = types.sparse ? OCTET_SPARSE_2_4 : OCTET_SPARSE_NONE;
  if (types.zero_points || types.zero_point) {
    weights.zero_points = random_zero_points(types.rhs, n, types.zero_point);
    weights.zero_point_count = types.zero_point ? 1 : n;
  }
  if (types.blocks) set_scale_blocks(&weights);
  size_t bytes;
  check(octet_pack_size(&weights, OCTET_ISA_AUTO, &bytes, &error), error);
  void* packed = allocate(bytes);
  check(octet_pack(&weights, OCTET_ISA_AUTO, packed, bytes, &error), error);

  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = m;
  desc.n = n;
  desc.k = k;
  desc.lhs_type = types.lhs;
  desc.rhs_type = types.rhs;
  desc.dst_type = types.dst;
  if (types.lhs == OCTET_F32)
    desc.lhs_quant = types.blocks ? OCTET_LHS_SYMMETRIC_BLOCKS : OCTET_LHS_ASYMMETRIC;
  desc.packed = packed;
  desc.packed_bytes = bytes;
  set_epilogue(n, k, types, &desc.epilogue);
  octet_gemm* gemm;
  check(octet_gemm_create(&desc, &gemm, &error), error);

  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = m;
  args.lhs = random_lhs(types.lhs, m * k);
  args.dst = allocate(m * n * 4);
  check(octet_gemm_workspace(gemm, m, 1, &args.workspace_bytes, &error), error);
  args.workspace = allocate(args.workspace_bytes);
  for (; runs > 0; --runs) check(octet_gemm_run(gemm, &args, &error), error);
  printf("%zu %s\n", m * n * k, octet_gemm_kernel(gemm, m));
}

// The number behind a field of the case's name; a missing width equals the height.
size_t field(const char* name, const char* height, const char* width, size_t otherwise) {
  if (width && strstr(name, width))
    return strtoul(strstr(name, width) + strlen(width), nullptr, 10);
  return strstr(name, height) ? strtoul(strstr(name, height) + strlen(height), nullptr, 10)
                              : otherwise;
}

// The pad of the far side, from the output's size if the name has it.
size_t far_pad(const char* name, const char* height, const char* width, size_t in, size_t kernel,
               size_t stride, size_t near) {
  const size_t out = field(name, height, width, 0), reach = (out - 1) * stride + kernel;
  if (out == 0) return near;
  return reach > in + near ? reach - in - near : 0;
}

void run_conv(const char* name, const Types& types, long runs) {
  octet_error error;
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_shape& s = filter.shape;
  s.batch_max = field(name, "mb", nullptr, 1);
  s.in_channels = field(name, "ic", nullptr, 0);
  s.out_channels = field(name, "oc", nullptr, 0);
  s.groups = field(name, "g", nullptr, 1);
  s.in_h_max = field(name, "ih", nullptr, 0);
  s.in_w_max = field(name, "ih", "iw", 0);
  s.kernel_h = field(name, "kh", nullptr, 1);
  s.kernel_w = field(name, "kh", "kw", 1);
  s.stride_h = field(name, "sh", nullptr, 1);
  s.stride_w = field(name, "sh", "sw", 1);
  s.pad_top = field(name, "ph", nullptr, 0);
  s.pad_left = field(name, "ph", "pw", 0);
  s.pad_bottom = far_pad(name, "oh", nullptr, s.in_h_max, s.kernel_h, s.stride_h, s.pad_top);
  s.pad_right = far_pad(name, "oh", "ow", s.in_w_max, s.kernel_w, s.stride_w, s.pad_left);
  size_t out_h, out_w;
  check(octet_conv2d_output_size(&s, s.in_h_max, s.in_w_max, &out_h, &out_w, &error), error);

  filter.type = types.rhs;
  filter.data = random_weights(s.out_channels * s.kernel_h * s.kernel_w * s.in_channels, types);
  filter.sparsity = types.sparse ? OCTET_SPARSE_2_4 : OCTET_SPARSE_NONE;
  if (types.zero_points || types.zero_point) {
    filter.zero_points = random_zero_points(types.rhs, s.out_channels, types.zero_point);
    filter.zero_point_count = types.zero_point ? 1 : s.out_channels;
  }
  size_t bytes;
  check(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error), error);
  void* packed = allocate(bytes);
  check(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, packed, bytes, &error), error);

  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  desc.shape = s;
  desc.lhs_type = types.lhs;
  desc.rhs_type = types.rhs;
  desc.dst_type = types.dst;
  desc.lhs_zero_point = !types.lhs_zero_point ? 3 : types.lhs == OCTET_S8 ? -128 : 0;
  desc.packed = packed;
  desc.packed_bytes = bytes;
  set_epilogue(s.out_channels, s.kernel_h * s.kernel_w * s.in_channels / s.groups, types,
               &desc.epilogue);
  set_sides(types, &desc.epilogue);
  octet_conv2d* conv;
  check(octet_conv2d_create(&desc, &conv, &error), error);

  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  args.lhs = random_bytes(s.batch_max * s.in_h_max * s.in_w_max * s.in_channels);
  args.dst = allocate(s.batch_max * out_h * out_w * s.out_channels * 4);
  if (types.residual) args.residual = random_bytes(s.batch_max * out_h * out_w * s.out_channels);
  check(octet_conv2d_workspace(conv, 0, 0, 0, 1, &args.workspace_bytes, &error), error);
  args.workspace = allocate(args.workspace_bytes);
  for (; runs > 0; --runs) check(octet_conv2d_run(conv, &args, &error), error);
  const size_t macs = s.batch_max * out_h * out_w * s.out_channels * s.kernel_h * s.kernel_w *
                      s.in_channels / s.groups;
  printf("%zu %s %s\n", macs, octet_conv2d_kernel(conv),
         octet_conv_algorithm_name(octet_conv2d_algorithm(conv)));
}

}  // namespace

int main(int argc, char** argv) {
  Types types = {};
  bool known = argc >= 6;
  for (int i = 6; i < argc; ++i) {
    if (strcmp(argv[i], "tflite") == 0)
      types.tflite = true;
    else if (strcmp(argv[i], "sparse") == 0)
      types.sparse = true;
    else if (strcmp(argv[i], "blocks") == 0)
      types.blocks = true;
    else if (strcmp(argv[i], "zero-points") == 0)
      types.zero_points = true;
    else if (strcmp(argv[i], "zero-point") == 0)
      types.zero_point = true;
    else if (strcmp(argv[i], "relu6") == 0)
      types.relu6 = true;
    else if (strcmp(argv[i], "lhs-zero-point") == 0)
      types.lhs_zero_point = true;
    else if (strcmp(argv[i], "residual") == 0)
      types.residual = true;
    else
      known = false;
  }
  if (!known) {
    fprintf(stderr,
            "usage: one_shape MxNxK|CONVOLUTION LHS RHS DST RUNS [tflite] [sparse] [zero-points] "
            "[zero-point] [blocks] [relu6] [lhs-zero-point] [residual]\n");
    return 2;
  }
  types.lhs = type_of(argv[2]);
  types.rhs = type_of(argv[3]);
  types.dst = type_of(argv[4]);
  const long runs = atol(argv[5]);
  size_t m, n, k;
  if (sscanf(argv[1], "%zux%zux%zu", &m, &n, &k) == 3)
    run_gemm(m, n, k, types, runs);
  else
    run_conv(argv[1], types, runs);
  return 0;
}
