/* SPDX-License-Identifier: Apache-2.0
 * Classifies handwritten digits with an int8 multi-layer perceptron: digits [--sparse] [directory
 * [expected checksum]]
 *
 * train.py makes model.bin, model_2_4.bin (--sparse: of every four weights of a neuron two are 0)
 * and images.bin; README.md describes them. The checksum covers every byte of the logits, so equal
 * checksums from two machines, tiers or compilers mean equal results, not only equal accuracy.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "octet/octet.h"

#ifndef OCTET_DIGITS_DIR
#define OCTET_DIGITS_DIR "examples/digits"
#endif

enum { kBatch = 32, kMaxLayers = 8, kMaxCount = 32767, kRepeats = 20, kMemory = 4 << 20 };

/* The files have these three headers as bytes: every CPU that Octet has kernels for is
 * little-endian. */
typedef struct {
  char magic[8];
  uint32_t layers;
  float float_accuracy;
} model_header;
typedef struct {
  uint32_t n, k;
  int32_t lhs_zero_point, dst_zero_point;
  uint32_t relu;
} layer_header;
typedef struct {
  char magic[8];
  uint32_t images, pixels;
} images_header;

typedef struct {
  uint32_t n, k;
  octet_gemm* gemm;
  void* workspace;
  size_t workspace_bytes;
  uint8_t* dst; /* kBatch x n */
} layer;

static void fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fputs("digits: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(EXIT_FAILURE);
}

static void check(octet_status status, const octet_error* error) {
  if (status != OCTET_OK) fail("%s: %s", octet_status_name(status), error->message);
}

/* All memory comes from one block, as on a small device: nothing to free, and each piece is
 * aligned as Octet asks. */
static void* take(size_t bytes) {
  static unsigned char* memory;
  static size_t used;
  if (!memory && !(memory = malloc(kMemory))) fail("out of memory");
  const size_t padding =
      (OCTET_ALIGNMENT - (uintptr_t)(memory + used) % OCTET_ALIGNMENT) % OCTET_ALIGNMENT;
  if (padding + bytes > kMemory - used)
    fail("the model and images.bin ask for more than %d bytes", kMemory);
  used += padding + bytes;
  return memory + used - bytes;
}

static void* read_into(FILE* file, void* memory, size_t bytes) {
  if (fread(memory, 1, bytes, file) != bytes) fail("a model or images.bin ends too early");
  return memory;
}

static FILE* open_file(const char* directory, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE* file = fopen(path, "rb");
  if (!file) fail("cannot open %s", path);
  return file;
}

static layer read_layer(FILE* file, octet_sparsity sparsity) {
  octet_error error;
  layer_header header;
  read_into(file, &header, sizeof header);
  if (header.n > kMaxCount || header.k > kMaxCount)
    fail("the model has a layer that is wider than %d", kMaxCount);
  layer l = {.n = header.n, .k = header.k, .dst = take((size_t)kBatch * header.n)};

  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = kBatch;
  desc.n = l.n;
  desc.k = l.k;
  desc.lhs_type = desc.dst_type = OCTET_U8;
  desc.rhs_type = OCTET_S8;
  desc.lhs_zero_point = header.lhs_zero_point;
  desc.epilogue.dst_zero_point = header.dst_zero_point;
  desc.epilogue.activation = header.relu ? OCTET_ACTIVATION_RELU : OCTET_ACTIVATION_NONE;
  desc.epilogue.scales = read_into(file, take(l.n * sizeof(float)), l.n * sizeof(float));
  desc.epilogue.scale_count = l.n;
  desc.epilogue.bias = read_into(file, take(l.n * sizeof(int32_t)), l.n * sizeof(int32_t));

  octet_rhs_desc weights = OCTET_RHS_DESC_INIT;
  weights.type = OCTET_S8;
  weights.order = OCTET_NK;
  weights.n = l.n;
  weights.k = l.k;
  weights.sparsity = sparsity; /* pack checks it */
  weights.data = read_into(file, take((size_t)l.n * l.k), (size_t)l.n * l.k);
  check(octet_pack_size(&weights, OCTET_ISA_AUTO, &desc.packed_bytes, &error), &error);
  void* packed = take(desc.packed_bytes);
  check(octet_pack(&weights, OCTET_ISA_AUTO, packed, desc.packed_bytes, &error), &error);
  desc.packed = packed;

  check(octet_gemm_create(&desc, &l.gemm, &error), &error);
  check(octet_gemm_workspace(l.gemm, kBatch, 1, &l.workspace_bytes, &error), &error);
  l.workspace = take(l.workspace_bytes);
  return l;
}

/* Runs m <= kBatch images through all layers and returns the logits. */
static const uint8_t* run(const layer* layers, uint32_t count, const uint8_t* images, size_t m) {
  octet_error error;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = m;
  args.lhs = images;
  for (const layer* l = layers; l < layers + count; ++l) {
    args.dst = l->dst;
    args.workspace = l->workspace;
    args.workspace_bytes = l->workspace_bytes;
    check(octet_gemm_run(l->gemm, &args, &error), &error);
    args.lhs = args.dst;
  }
  return args.lhs;
}

int main(int argc, char** argv) {
  const int sparse = argc > 1 && strcmp(argv[1], "--sparse") == 0;
  argc -= sparse;
  argv += sparse;
  if (argc > 3) fail("usage: digits [--sparse] [directory [expected checksum]]");
  const char* directory = argc > 1 ? argv[1] : OCTET_DIGITS_DIR;
  const char* name = sparse ? "model_2_4.bin" : "model.bin";

  model_header model;
  layer layers[kMaxLayers];
  FILE* file = open_file(directory, name);
  read_into(file, &model, sizeof model);
  if (memcmp(model.magic, "OCTETMLP", 8) != 0 || model.layers < 1 || model.layers > kMaxLayers)
    fail("%s is not a model", name);
  for (uint32_t i = 0; i < model.layers; ++i) {
    layers[i] = read_layer(file, sparse ? OCTET_SPARSE_2_4 : OCTET_SPARSE_NONE);
    if (i > 0 && layers[i].k != layers[i - 1].n)
      fail("layer %" PRIu32 " of the model does not fit the one before", i);
  }
  fclose(file);

  images_header header;
  file = open_file(directory, "images.bin");
  read_into(file, &header, sizeof header);
  if (memcmp(header.magic, "OCTETIMG", 8) != 0 || header.images < 1 || header.images > kMaxCount) {
    fail("images.bin is not a set of images");
  }
  if (header.pixels != layers[0].k) fail("images.bin does not fit the model");
  const size_t image_bytes = (size_t)header.images * header.pixels;
  const uint8_t* images = read_into(file, take(image_bytes), image_bytes);
  const uint8_t* labels = read_into(file, take(header.images), header.images);
  fclose(file);

  const uint32_t classes = layers[model.layers - 1].n;
  uint8_t* logits = take((size_t)header.images * classes);
  const clock_t start = clock();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (uint32_t i = 0; i < header.images; i += kBatch) {
      const size_t m = header.images - i < kBatch ? header.images - i : kBatch;
      memcpy(logits + (size_t)i * classes,
             run(layers, model.layers, images + (size_t)i * header.pixels, m), m * classes);
    }
  }
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;

  uint32_t correct = 0;
  uint64_t checksum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (uint32_t i = 0; i < header.images; ++i) {
    const uint8_t* row = logits + (size_t)i * classes;
    uint32_t best = 0;
    for (uint32_t c = 0; c < classes; ++c) {
      if (row[c] > row[best]) best = c;
      checksum = (checksum ^ row[c]) * UINT64_C(0x100000001b3);
    }
    correct += best == labels[i];
  }

  for (uint32_t i = 0; i < model.layers; ++i) {
    const layer* l = &layers[i];
    printf("layer %" PRIu32 "         %" PRIu32 " -> %" PRIu32 "  %s\n", i + 1, l->k, l->n,
           octet_gemm_kernel(l->gemm, kBatch));
    octet_gemm_destroy(l->gemm);
  }
  printf("images          %" PRIu32 "\n", header.images);
  printf("float accuracy  %.2f %%\n", 100 * (double)model.float_accuracy);
  printf("int8 accuracy   %.2f %%\n", 100.0 * correct / header.images);
  printf("time per image  %.3f us\n", 1e6 * seconds / kRepeats / header.images);
  printf("checksum        %016" PRIx64 "\n", checksum);
  if (argc > 2 && strtoull(argv[2], NULL, 16) != checksum)
    fail("the checksum should be %s", argv[2]);
  return EXIT_SUCCESS;
}
