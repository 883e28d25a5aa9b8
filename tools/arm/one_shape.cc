// Runs one GEMM a given number of times: what estimate.py counts. Two runs minus one run is exactly one call of octet_gemm_run, without
// start-up, packing, self-test and create. Linked statically and without PIE, so that addresses are those of the file.
//
//     one_shape M N K LHS RHS DST RUNS       types: s8 u8 (dst also s32); prints the name of the kernel
#include <octet/octet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

octet_type type_of(const char* name) {
  if (strcmp(name, "s8") == 0) return OCTET_S8;
  if (strcmp(name, "u8") == 0) return OCTET_U8;
  if (strcmp(name, "s32") == 0) return OCTET_S32;
  fprintf(stderr, "one_shape: unknown type %s\n", name);
  exit(2);
}

void* allocate(size_t bytes) {
  void* memory = aligned_alloc(OCTET_ALIGNMENT, (bytes + OCTET_ALIGNMENT) / OCTET_ALIGNMENT * OCTET_ALIGNMENT);
  if (!memory) exit(3);
  return memory;
}

// The values do not matter to the counts, but -128 in the weights would exclude NEON's faster kernel.
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
  if (status == OCTET_OK) return;
  fprintf(stderr, "one_shape: %s: %s\n", octet_status_name(status), error.message);
  exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    fprintf(stderr, "usage: one_shape M N K LHS RHS DST RUNS\n");
    return 2;
  }
  const size_t m = strtoul(argv[1], nullptr, 10), n = strtoul(argv[2], nullptr, 10), k = strtoul(argv[3], nullptr, 10);
  const octet_type lhs = type_of(argv[4]), rhs = type_of(argv[5]), dst = type_of(argv[6]);
  octet_error error;

  octet_rhs_desc weights = OCTET_RHS_DESC_INIT;
  weights.type = rhs;
  weights.order = OCTET_NK;
  weights.n = n;
  weights.k = k;
  weights.data = random_bytes(n * k);
  size_t bytes;
  check(octet_pack_size(&weights, OCTET_ISA_AUTO, &bytes, &error), error);
  void* packed = allocate(bytes);
  check(octet_pack(&weights, OCTET_ISA_AUTO, packed, bytes, &error), error);

  const float scale = 0.001f;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = m;
  desc.n = n;
  desc.k = k;
  desc.lhs_type = lhs;
  desc.rhs_type = rhs;
  desc.dst_type = dst;
  desc.packed = packed;
  desc.packed_bytes = bytes;
  if (dst != OCTET_S32) {
    desc.scales = &scale;
    desc.scale_count = 1;
  }
  octet_gemm* gemm;
  check(octet_gemm_create(&desc, &gemm, &error), error);

  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = m;
  args.lhs = random_bytes(m * k);
  args.dst = allocate(m * n * 4);
  check(octet_gemm_workspace(gemm, m, 1, &args.workspace_bytes, &error), error);
  args.workspace = allocate(args.workspace_bytes);
  for (long runs = atol(argv[7]); runs > 0; --runs) check(octet_gemm_run(gemm, &args, &error), error);
  puts(octet_gemm_kernel(gemm, m));
  return 0;
}
