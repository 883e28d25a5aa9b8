/* SPDX-License-Identifier: Apache-2.0
 * Octet: INT8 GEMM and convolution with the same bytes on every CPU.
 *
 * The life of a GEMM or a convolution: pack the weights, create the object (this checks the
 * description and chooses the kernel), ask for its workspace, run it as often as wanted from as
 * many threads as wanted, destroy it. A created object is immutable. run allocates nothing, takes
 * no lock and fails only for a bad argument. No function aborts, throws or prints, except for the
 * trace lines that OCTET_VERBOSE asks for. All functions are thread-safe; those that read the
 * environment (pack, create, cpu info) are so as long as nobody calls setenv meanwhile.
 *
 * Conventions. A matrix is row-major. Strides count elements of the matrix's own type, from one
 * row to the next; 0 means dense. lhs is the activations, M x K. rhs is the weights, K x N, or
 * stored as N x K. dst is the result, M x N.
 *
 *     acc[m,n] = sum_k (lhs[m,k] - lhs_zero_point) * (rhs[k,n] - rhs_zero_point[n]) + bias[n]
 *
 * is exact, in int32; an epilogue makes the output of it. DESIGN.md holds the complete numeric
 * contract. Every pointer that a function takes is borrowed for the call only, unless its comment
 * says otherwise. Stack: a run needs less than 20 KB, packing and first use less than 24 KB,
 * everything else less than 10 KB (release builds, the C library's part included).
 *
 * Sections: status and errors; versions; types and tiers; the machine; epilogue; memory and
 * threads; GEMM; convolution; blobs; helpers.
 */
#ifndef OCTET_OCTET_H_
#define OCTET_OCTET_H_

#include <stddef.h>
#include <stdint.h>

/* Marks the functions that a shared library exports: its build defines OCTET_API. */
#ifndef OCTET_API
#define OCTET_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations are ints in C++ too, so that a value outside one can arrive and be refused. */
#ifdef __cplusplus
#define OCTET_INT_ENUM : int
#else
#define OCTET_INT_ENUM
#endif

/* ---- status and errors ----------------------------------------------------------------------- */

typedef enum octet_status OCTET_INT_ENUM {
  OCTET_OK = 0,
  OCTET_NULL_POINTER = 1,       /* a required pointer is null */
  OCTET_BAD_STRUCT_SIZE = 2,    /* see "versions" */
  OCTET_UNKNOWN_ENUM = 3,       /* a value outside its enumeration */
  OCTET_BAD_SIZE = 4,           /* zero, no multiple, or out of range; a product beyond size_t */
  OCTET_SIZE_ABOVE_MAXIMUM = 5, /* run asks for more than create declared */
  OCTET_BAD_STRIDE = 6,         /* a stride smaller than a row */
  /* Blobs and workspaces are at multiples of OCTET_ALIGNMENT, matrices of s32 and f32 and
   * arrays of zero points at multiples of 4 bytes, matrices of s16 at multiples of 2. */
  OCTET_MISALIGNED = 7,
  OCTET_OVERLAP = 8, /* an output that overlaps an input or the workspace */
  OCTET_WORKSPACE_TOO_SMALL = 9,
  /* The weights, bias and zero points could push the accumulator out of int32. */
  OCTET_ACCUMULATOR_OVERFLOW = 10,
  /* A scale is NaN, infinite, zero, negative or above 2^48 (of scale blocks: not finite or above);
   * or a multiplier or a shift is out of range. */
  OCTET_BAD_SCALE = 11,
  OCTET_BAD_ZERO_POINT = 12, /* outside the range of its type */
  /* The lower bound is above the upper bound, or one is NaN or outside the output type. */
  OCTET_BAD_CLAMP = 13,
  /* Packed weights whose header is damaged, truncated, of another version or for another problem.
   * octet_blob_verify: also whose payload is damaged. octet_sparse_import_stream: a bad stream. */
  OCTET_BAD_BLOB = 14,
  OCTET_WRONG_TIER = 15, /* packed weights whose layout no usable kernel reads */
  /* OCTET_MAX_ISA, OCTET_KERNEL, OCTET_CONV or OCTET_VERBOSE holds an unknown value, or
   * OCTET_TUNING names no file that can be read. */
  OCTET_BAD_ENVIRONMENT = 16,
  OCTET_UNKNOWN_KERNEL = 17, /* a forced kernel name that does not exist */
  /* A forced kernel that this CPU or these packed weights cannot run. */
  OCTET_KERNEL_UNUSABLE = 18,
  OCTET_UNSUPPORTED = 19, /* a valid combination that Octet does not implement */
  OCTET_OUT_OF_MEMORY = 20,
  OCTET_BAD_SPARSITY = 21, /* weights that are not as sparse as they are said to be */
  OCTET_BAD_FILE = 22,     /* a file that cannot be read or written */
  /* Ops of a network in an order that cannot run: an input is not there yet or written twice. */
  OCTET_BAD_NETWORK = 23
} octet_status;

/* The optional last argument of every function that can fail. On failure it holds the status and
 * one sentence that names the argument and says why; on success it is left alone. It belongs to
 * the caller: there is no thread-local or global error state. */
typedef struct octet_error {
  octet_status status;
  char message[252];
} octet_error;

/* "OCTET_OK", ...; "unknown status" outside the enumeration; never null. */
OCTET_API const char* octet_status_name(octet_status status);

/* ---- versions -------------------------------------------------------------------------------- */

#define OCTET_VERSION_MAJOR 0
#define OCTET_VERSION_MINOR 2
#define OCTET_VERSION_PATCH 0

OCTET_API const char* octet_version(void); /* of the library: "0.2.0" */

/* A program goes on working with later libraries than the one that it was compiled for, since 0.2.
 * Every struct that may grow begins with struct_size, which the caller sets to sizeof; the _INIT
 * macros and octet::make do. It grows at its end, and a field that is zero asks for nothing new:
 *
 * - A smaller struct, of an older program, is taken as if it went on with zeros. It has to hold at
 *   least the fields before the line "an older struct may end here".
 * - A larger struct, of a newer program, is taken if all fields unknown to this library are zero.
 * - Of a struct that the library fills in it writes struct_size bytes: fields that the library does
 *   not know are zero, fields that the caller has no room for are left out.
 *
 * Any other struct_size is OCTET_BAD_STRUCT_SIZE: one that is too small, above 4096, or not a
 * multiple of the struct's alignment. Structs without a struct_size are frozen, but for
 * octet_epilogue, which is the end of the descriptors that hold it, and grows with them. */

/* Zeros and struct_size for the _INIT macros, without a warning about missing initialisers. */
#ifdef __cplusplus
#define OCTET_INIT(type)              \
  []() {                              \
    type zeros = {};                  \
    zeros.struct_size = sizeof zeros; \
    return zeros;                     \
  }()
#else
#define OCTET_INIT(type) \
  { .struct_size = sizeof(type) }
#endif

/* ---- types and tiers ------------------------------------------------------------------------- */

typedef enum octet_type OCTET_INT_ENUM {
  OCTET_S8 = 1,
  OCTET_U8 = 2,
  OCTET_S32 = 3,
  OCTET_F32 = 4,
  OCTET_S4 = 5,  /* weights of -8 to 7: elements 2 i, 2 i + 1 are the low, high nibble of byte i */
  OCTET_U4 = 6,  /* weights of 0 to 15, laid out as OCTET_S4 */
  OCTET_F16 = 7, /* IEEE 754 binary16: scales of weights only */
  OCTET_S16 = 8  /* of products and convolutions by s8, and of functions (docs/int16.md) */
} octet_type;

/* "s8", "u8", "s32", "f32", "s4", "u4", "f16", "s16"; "unknown" outside the enumeration. */
OCTET_API const char* octet_type_name(octet_type type);

/* Instruction-set tiers. A limit to one allows the tiers whose features are all among its own, and
 * SCALAR: I8MM allows NEON and DOTPROD, AVXVNNI allows AVX2 and SSE41 but not AVX512BW; AVX512VNNI
 * and AMXINT8 allow AVXVNNI, too. AMXINT8 asks Linux for registers: docs/integration.md. */
typedef enum octet_isa OCTET_INT_ENUM {
  OCTET_ISA_AUTO = 0, /* the best that this CPU, the self-test and OCTET_MAX_ISA allow */
  OCTET_ISA_SCALAR = 1,
  OCTET_ISA_AVX2 = 2,
  OCTET_ISA_AVXVNNI = 3,
  OCTET_ISA_AVX512VNNI = 4,
  OCTET_ISA_NEON = 5,
  OCTET_ISA_DOTPROD = 6,
  OCTET_ISA_I8MM = 7,
  OCTET_ISA_SSE41 = 8,
  OCTET_ISA_AMXINT8 = 9,
  OCTET_ISA_AVX512BW = 10,
  OCTET_ISA_SME = 11
} octet_isa;

/* "SCALAR", "AVX2", ...: the value of OCTET_MAX_ISA; "unknown" outside the enumeration. */
OCTET_API const char* octet_isa_name(octet_isa isa);

/* ---- the machine ----------------------------------------------------------------------------- */

/* The design of a core (its microarchitecture), as far as choices depend on it: how many products
 * it does in a cycle, by which instructions. Names are those of pytorch/cpuinfo where it
 * has the design. */
typedef enum octet_cpu_design OCTET_INT_ENUM {
  OCTET_DESIGN_UNKNOWN = 0, /* or none of these: a tier's costs are those of its usual design */
  OCTET_DESIGN_ZEN3 = 1,
  OCTET_DESIGN_ZEN4 = 2,
  OCTET_DESIGN_ZEN5 = 3,
  OCTET_DESIGN_SKY_LAKE = 4,          /* Skylake-X, Cascade Lake, Cooper Lake */
  OCTET_DESIGN_SUNNY_COVE = 5,        /* Ice Lake servers */
  OCTET_DESIGN_SUNNY_COVE_CLIENT = 6, /* Ice Lake, Tiger Lake, Rocket Lake: one unit for AVX-512 */
  OCTET_DESIGN_GOLDEN_COVE = 7, /* Sapphire Rapids and later servers; Alder Lake, Raptor Lake */
  OCTET_DESIGN_CORTEX_A53 = 8,
  OCTET_DESIGN_CORTEX_A55 = 9,
  OCTET_DESIGN_CORTEX_A72 = 10,
  OCTET_DESIGN_NEOVERSE_N1 = 11,
  OCTET_DESIGN_NEOVERSE_N2 = 12,
  OCTET_DESIGN_NEOVERSE_V1 = 13,
  OCTET_DESIGN_NEOVERSE_V2 = 14
} octet_cpu_design;

/* The design's name, such as "zen4"; "unknown" outside the enumeration. A static string. */
OCTET_API const char* octet_cpu_design_name(octet_cpu_design design);

/* The CPU: its tiers, caches and cores. Bit i of a mask of tiers stands for (octet_isa)i. */
typedef struct octet_cpu_info {
  size_t struct_size;
  uint32_t compiled_isas; /* tiers compiled into this library */
  uint32_t detected_isas; /* compiled in, and the CPU and the operating system support them */
  uint32_t demoted_isas;  /* detected, but an int8 kernel's self-test went wrong: never used */
  octet_isa best_isa;     /* the tier that OCTET_ISA_AUTO means now, OCTET_MAX_ISA included */
  /* -- an older struct may end here -- */
  /* Bytes of the big cores' caches; 0 if unknown. There is no L3 where it is 0 and L2 is not. */
  size_t l1d_bytes, l2_bytes, l3_bytes;
  /* CPUs whose design the system reports, and how many of these execute in order (Cortex-A53, A55,
   * A510, ...). Both 0 if unknown. */
  uint32_t known_cores, in_order_cores;
  /* -- an older struct may end here -- */
  octet_cpu_design design; /* of the first core that executes out of order, else of the first */
} octet_cpu_info;
#define OCTET_CPU_INFO_INIT OCTET_INIT(octet_cpu_info)

/* Detects the CPU and tests its kernels at first use, in less than a millisecond on big cores. */
OCTET_API octet_status octet_get_cpu_info(octet_cpu_info* info, octet_error* error);

typedef struct octet_tuning octet_tuning;

/* A machine as the caller describes it: this one, if its system reports no caches, or another, for
 * which weights are packed. The description replaces all that was found. Choices may depend on it,
 * output bytes only with OCTET_ACCURACY_APPROXIMATE. Descriptors hold it by pointer; null means
 * this machine, as octet_get_cpu_info reports it, with 256 KB of L2 and no L3 where it reports
 * none. Where caches and cores are given and no tuning is, the library opens no file. */
typedef struct octet_machine {
  size_t struct_size;
  /* Of one core, 4096 to 2^31. Without a second level: of the first. */
  size_t l2_bytes;
  size_t l3_bytes; /* 0: there is none; else 4096 to 2^31 */
  /* -- an older struct may end here -- */
  int in_order; /* 1: all cores that a run may be on execute in order; else 0 */
  /* Design of those cores, as octet_get_cpu_info reports it for the machine at hand.
   * OCTET_DESIGN_UNKNOWN: the costs of the tier's usual design, and OCTET_CONV_AUTO then takes
   * exact Winograd only at a lead of 1.2. */
  octet_cpu_design design;
  /* Choices that were measured on this machine (tune.h), looked up before any are predicted. Null:
   * only the file that OCTET_TUNING names, and no file for a described machine. With a tuning all
   * fields above may be 0, and then mean what was found. */
  const octet_tuning* tuning;
} octet_machine;
#define OCTET_MACHINE_INIT OCTET_INIT(octet_machine)

/* One micro-kernel of the library. Strings are static. */
typedef struct octet_kernel_info {
  size_t struct_size;
  const char* name; /* {isa}_{types}_{mr}x{nr}x{kr}: the value of OCTET_KERNEL */
  /* -- an older struct may end here -- */
  octet_isa isa;
  int usable;     /* 1 if this CPU can run it now */
  int tests_only; /* 1 if it is never chosen, only forced */
} octet_kernel_info;
#define OCTET_KERNEL_INFO_INIT OCTET_INIT(octet_kernel_info)

/* Lists the kernels compiled in, best first: index 0, 1, ... until OCTET_BAD_SIZE. */
OCTET_API octet_status octet_get_kernel_info(size_t index, octet_kernel_info* info,
                                             octet_error* error);

/* ---- epilogue -------------------------------------------------------------------------------- */

/* How an accumulator becomes an output of type s8, u8 or s16. */
typedef enum octet_requant OCTET_INT_ENUM {
  /* Float mode: round_half_even(float(acc) * scale[n]), clamped, + zero point. */
  OCTET_REQUANT_FLOAT = 0,
  /* TFLite mode: as TensorFlow Lite's reference kernels: Q31 multiplier, shift, two roundings. */
  OCTET_REQUANT_TFLITE = 1,
  /* Double mode: (double)acc * factors[n], rounded with halves away from zero, clamped, + zero
   * point, as FULLY_CONNECTED in LiteRT's reference kernels from 1.3 on. It has no residual. */
  OCTET_REQUANT_DOUBLE = 2
} octet_requant;

typedef enum octet_activation OCTET_INT_ENUM {
  OCTET_ACTIVATION_NONE = 0,
  OCTET_ACTIVATION_RELU = 1, /* [0, infinity]; integer dst: the lower bound is dst_zero_point */
  /* [0, 6]. Integer dst: the bound is dst_zero_point + round(6 / dst_scale), halves to even; in
   * TFLite mode and double mode halves away from zero. */
  OCTET_ACTIVATION_RELU6 = 2,
  /* [clamp_min, clamp_max], in dst's own units. Bounds that are both 0 are refused as forgotten. */
  OCTET_ACTIVATION_CLAMP = 3,
  OCTET_ACTIVATION_RELU_N1_TO_1 = 4 /* [-1, 1], rounded as of RELU6 */
} octet_activation;

/* A tensor of dst's shape that is added before the final rounding (float mode) or by TFLite's
 * quantized ADD, int8 or uint8 (TFLite mode). dst must be s8 or u8. Frozen. */
typedef struct octet_residual {
  /* OCTET_S8 or OCTET_U8; 0 means that there is no residual, and then a field that is not 0 is
   * refused: the type was forgotten. */
  octet_type type;
  int32_t zero_point;
  float scale; /* float mode: residual scale / dst scale */
  /* TFLite mode: the product is first requantized to intermediate_zero_point with the epilogue's
   * multipliers, as a tensor of dst's type. Then ADD scales both inputs, left-shifted by 20, by
   * their multiplier and shift (shift <= 0), and the sum by dst_multiplier and dst_shift.
   * octet_tflite_add makes the six of ADD. */
  int32_t intermediate_zero_point;
  int32_t product_multiplier, product_shift;
  int32_t residual_multiplier, residual_shift;
  int32_t dst_multiplier, dst_shift;
} octet_residual;

/* All that happens to the accumulators of a GEMM or of a convolution: bias, scale, clamp of the
 * product, residual, clamp, zero point and look-up table, in this order. n is the number of
 * columns, or of output channels. create copies the arrays. Zeros are right for an s32 dst, which
 * holds the accumulators as they are; every other dst needs its scales. create refuses a field that
 * is set but could not reach the output: a residual, a table or a zero point with a dst that has
 * none, the scales of the other mode, fields of a residual whose type is 0. Parameters of features
 * that were not asked for are not read and may hold anything: clamp_min and clamp_max of any
 * activation but OCTET_ACTIVATION_CLAMP, dst_scale and product_scale of any activation but RELU6
 * and RELU_N1_TO_1, all product_ fields without a product_activation, and those fields of
 * octet_residual that belong to the other mode. */
typedef struct octet_epilogue {
  /* n values at scale lhs * rhs; null means 0. With an lhs scale of each run, use bias_f32. */
  const int32_t* bias;
  octet_requant requant;
  /* Float mode: lhs scale * rhs scale / dst scale (dst s8, u8) or lhs scale * rhs scale (f32).
   * With any other lhs_quant than static leave the lhs scale out: it is multiplied in at run
   * time, and so can be the scale of a run-time rhs. Refused for an s32 dst. */
  const float* scales;
  size_t scale_count;         /* 1 or n */
  const int32_t* multipliers; /* TFLite mode: 0 or in [2^30, 2^31) */
  const int32_t* shifts;      /* TFLite mode: in [-31, 30]; to the left is positive */
  size_t multiplier_count;    /* 1 or n */
  const float* bias_f32;      /* f32 dst only: n values added after the scale; null means none */

  int32_t dst_zero_point;      /* s8, u8 dst */
  octet_activation activation; /* s8, u8, f32 dst */
  float clamp_min, clamp_max;  /* OCTET_ACTIVATION_CLAMP: integers for an integer dst */
  float dst_scale;             /* RELU6, RELU_N1_TO_1 with an integer dst */
  octet_residual residual;
  /* s8, u8 dst: 256 output bytes, indexed by the clamped output byte as unsigned; or null. */
  const uint8_t* lut;

  /* With a residual only: the activation of the product alone, before the residual is added;
   * `activation` is that of the sum. Float mode: bounds are floats in steps of dst, less its zero
   * point, such as 6 / dst_scale. TFLite mode: those of the intermediate tensor, integers at
   * product_scale and residual.intermediate_zero_point, rounded as TFLite does. */
  octet_activation product_activation;
  float product_clamp_min, product_clamp_max; /* OCTET_ACTIVATION_CLAMP */
  float product_scale; /* TFLite mode: RELU6, RELU_N1_TO_1; float mode has dst_scale */
  /* Double mode: lhs scale * rhs scale / dst scale in double, finite, positive, at most 2^48. */
  const double* factors;
  size_t factor_count;     /* 1 or n */
  const int64_t* bias_s64; /* s16 lhs only: `bias` in 64 bits, instead of it; null means 0 */
} octet_epilogue;

/* ---- memory and threads ---------------------------------------------------------------------- */

/* Blobs and workspaces begin at multiples of this, a blob also inside a larger file. Their sizes
 * are multiples of it too. */
#define OCTET_ALIGNMENT 64

/* Where a created object lives. context must live until destroy. Null functions mean the C
 * library's. Frozen. */
typedef struct octet_allocator {
  void* (*allocate)(void* context, size_t bytes, size_t alignment); /* null on failure */
  void (*release)(void* context, void* memory);
  void* context;
} octet_allocator;

/* Runs fn(arg, 0) ... fn(arg, count - 1), on any threads and in any order, and returns when all
 * have returned and their writes are visible. pthreadpool.h and openmp.h have one each. */
typedef void (*octet_parallel_for)(void* context, size_t count, void (*fn)(void* arg, size_t index),
                                   void* arg);

/* ---- GEMM ------------------------------------------------------------------------------------ */

typedef enum octet_rhs_order OCTET_INT_ENUM {
  OCTET_KN = 0, /* stored K x N: row k holds the N columns */
  /* Stored N x K, as frameworks store fully connected weights: row n holds output n's weights */
  OCTET_NK = 1
} octet_rhs_order;

/* Weights of which at most two of every four along K are not zero, the four beginning at a multiple
 * of four; a last group may be short. In a convolution K is the input channels of one group at one
 * kernel position. Zero means equal to the zero point. Such weights can be packed in 3/4 of the
 * bytes, and no output byte depends on it. */
typedef enum octet_sparsity OCTET_INT_ENUM {
  OCTET_SPARSE_NONE = 0, /* packed dense */
  /* Packed sparse; other weights are OCTET_BAD_SPARSITY. Where some w - zero_point leaves
   * [-128, 127] they are packed dense after all. */
  OCTET_SPARSE_2_4 = 1,
  /* Packed sparse where the weights are sparse and the tier multiplies them faster; else dense. */
  OCTET_SPARSE_AUTO = 2
} octet_sparsity;

typedef struct octet_rhs_desc {
  size_t struct_size;
  octet_type type; /* OCTET_S8 or OCTET_U8; OCTET_S4 or OCTET_U4, with OCTET_SPARSE_NONE only */
  octet_rhs_order order;
  size_t n, k;
  /* Matrices in one blob, all n x k; 0 means 1. A single one serves all matrices of a run. */
  size_t batch;
  const void* data;    /* not read by octet_pack_size */
  size_t stride;       /* elements from one stored row to the next; 0 means dense */
  size_t batch_stride; /* elements from one matrix to the next; 0 means dense */
  /* -- an older struct may end here -- */
  const int32_t* zero_points; /* zero_point_count values in the range of type; null means 0 */
  /* 1 (per tensor) or n (per channel, shared by the batch); 0 with null. See also scale_block. */
  size_t zero_point_count;
  /* Rows that runs will have, at most: a hint for sparse weights; 0 means any number. For 1 to 4
   * they take 5/8 of the dense bytes where the tier has kernels for that, AVX-VNNI, AVX512-VNNI and
   * AMX-INT8; other tiers multiply such a blob, too, but slowly. */
  size_t m_max;
  octet_sparsity sparsity;
  int reserved; /* must be 0 */
  /* Weights in scale blocks: each `scale_block` consecutive weights of a column have a scale of
   * their own. A multiple of 16, at most 256 (of 8 bits: 128), that divides k; 0 means that there
   * are none, and then the next three are 0, too. Zero points may also be one for each block, in
   * the order of the scales: zero_point_count is then batch x n x (k / scale_block). Those that
   * differ make the blob larger. Those of OCTET_S8 are all 0, those of OCTET_U8 all 128. */
  size_t scale_block;
  octet_type scale_type; /* OCTET_F16 or OCTET_F32 */
  /* batch x n x (k / scale_block), dense: finite, at most 2^48 in magnitude, negative ones and zero
   * included. Not read by octet_pack_size. */
  const void* scales;
  /* As scales: a weight q stands for (q - zero point) * scale + minimum. Null means 0. */
  const void* minimums;
} octet_rhs_desc;
#define OCTET_RHS_DESC_INIT OCTET_INIT(octet_rhs_desc)

/* The bytes that octet_pack will write for this tier; with a sparsity, at most:
 * octet_blob_info.bytes has the bytes that it wrote, and the rest is not needed. A blob depends on
 * the tier's layout and on the weights only, never on M: one blob serves prefill and decode; SSE41
 * to AMXINT8 share one layout, and so, for weights of 8 bits, do DOTPROD and SME. With
 * OCTET_ISA_AUTO and no sparsity, a machine whose best tier is AVX2 or AVX512BW tries the form
 * s8_16x4_paired, which AVX-VNNI and AVX512-VNNI read no faster and SSE4.1 not at all; where the
 * weights do not suit it, the blob is in the shared layout, and zeros follow it up to this size
 * (octet_blob_info.form and .bytes tell). Pack with OCTET_ISA_AVX2 for other machines. */
OCTET_API octet_status octet_pack_size(const octet_rhs_desc* rhs, octet_isa isa, size_t* bytes,
                                       octet_error* error);

/* Packs into the caller's memory. Any tier may be packed for on any machine; OCTET_ISA_AUTO means
 * this machine's best and obeys OCTET_MAX_ISA and OCTET_KERNEL. The blob is position-independent
 * and little-endian: write it to a file, map it elsewhere, read-only if you like. The same input
 * and tier give the same bytes. */
OCTET_API octet_status octet_pack(const octet_rhs_desc* rhs, octet_isa isa, void* blob,
                                  size_t blob_bytes, octet_error* error);

/* Where the lhs zero point (and scale) come from. */
typedef enum octet_lhs_quant OCTET_INT_ENUM {
  OCTET_LHS_STATIC = 0, /* desc.lhs_zero_point */
  /* At run time: args.lhs_zero_points[b], args.lhs_scales[b] of matrix (or image) b. */
  OCTET_LHS_PER_TENSOR = 1,
  OCTET_LHS_PER_ROW = 2, /* the same at [b * m + i], for row i of a run's m; not of a convolution */
  /* An f32 lhs, each row of which (a convolution: each image) is quantized on the fly: scale =
   * max|x| / 127, zero point 0. */
  OCTET_LHS_SYMMETRIC = 3,
  /* The same by ONNX DynamicQuantizeLinear's formula. In both, a row with NaN, infinity or a range
   * that leaves float gives a row of NaN. */
  OCTET_LHS_ASYMMETRIC = 4,
  /* As OCTET_LHS_SYMMETRIC, each scale block of a row by itself, as ONNX Runtime's MatMulNBits
   * does: of a product by such weights. A block with NaN or infinity gives a row of NaN. */
  OCTET_LHS_SYMMETRIC_BLOCKS = 5,
  /* The same with scales that are rounded to f16 once they have divided (GGUF's Q8_0). */
  OCTET_LHS_SYMMETRIC_BLOCKS_F16 = 6,
  /* An s8 lhs, zero point 0, in the weights' blocks: args.lhs_scales has as many per row. */
  OCTET_LHS_PER_BLOCK = 7
} octet_lhs_quant;

typedef struct octet_gemm_desc {
  size_t struct_size;

  size_t m_max; /* rows per run and matrix, at most */
  /* With run-time weights: at most. create refuses a k whose sums could leave int32. With known
   * weights that is exact; else k ends at 65,793 for u8 x s8, and at 33,025 if rhs zero points
   * come with a run. */
  size_t n, k;
  size_t batch_max; /* matrices per run, at most; 0 means 1 */

  /* OCTET_S8 or OCTET_U8; OCTET_F32 with OCTET_LHS_SYMMETRIC, _ASYMMETRIC, _SYMMETRIC_BLOCKS*.
   * OCTET_S16 with OCTET_LHS_STATIC, packed OCTET_S8 weights and no zero points (docs/int16.md). */
  octet_type lhs_type;
  octet_type rhs_type; /* as octet_rhs_desc.type; must match the blob; of 8 bits without a blob */
  /* OCTET_S32, OCTET_S8, OCTET_U8, OCTET_F32; of an s16 lhs OCTET_S16 or OCTET_F32. Weights in
   * scale blocks give no s32, take no bias but bias_f32, and requantize in float mode. */
  octet_type dst_type;
  octet_lhs_quant lhs_quant;
  int32_t lhs_zero_point; /* OCTET_LHS_STATIC only */

  octet_rhs_order rhs_order; /* run-time rhs only */
  /* A blob from octet_pack, borrowed until destroy and never written; null means that the rhs
   * comes with each run. Only its header is checked: octet_blob_verify what you do not trust. */
  const void* packed;
  size_t packed_bytes;

  /* OCTET_ISA_AUTO means what OCTET_MAX_ISA says, else no limit. Beats the environment. */
  octet_isa max_isa;
  /* Forces one kernel by its name; null means what OCTET_KERNEL says where it fits, else the best.
   * Beats the environment. A kernel for other operand types, or for convolutions only, is left
   * aside; octet_gemm_kernel tells which one was taken. */
  const char* kernel;
  octet_allocator allocator;
  const octet_machine* machine; /* not read after create; null means this one */
  uintptr_t reserved[3];        /* must be 0 */
  /* -- an older struct may end here -- */
  octet_epilogue epilogue; /* last: it may grow at its end */
} octet_gemm_desc;
#define OCTET_GEMM_DESC_INIT OCTET_INIT(octet_gemm_desc)

typedef struct octet_gemm_args {
  size_t struct_size;
  size_t m;     /* 1 .. m_max */
  size_t batch; /* 1 .. batch_max; 0 means 1 */
  size_t n, k;  /* run-time rhs: 1 .. declared; 0 means as declared */

  /* Batches. X_batch_stride counts elements from one matrix to the next; 0 means rows * stride,
   * never "the same matrix again": repeat a pointer in X_array for that (grouped-query heads).
   * Heads that are interleaved as [token][head][d] have stride = heads * d, batch_stride = d. Each
   * operand has either X or X_array, an array of `batch` pointers. With m, n or k below the
   * declared sizes dense strides follow the run's sizes, and the first n of bias, scales and
   * multipliers apply. The lengths of buffers cannot be checked. */
  const void* lhs; /* m x k */
  size_t lhs_stride, lhs_batch_stride;
  const void* const* lhs_array; /* batched by pointers: `batch` matrices, instead of lhs */
  /* OCTET_LHS_PER_TENSOR: 1 per matrix; OCTET_LHS_PER_ROW: m per matrix; null means 0. */
  const int32_t* lhs_zero_points;
  const float* lhs_scales; /* as many; OCTET_LHS_PER_BLOCK: m x blocks; null means 1 */

  const void* rhs; /* run-time rhs in desc.rhs_order */
  size_t rhs_stride, rhs_batch_stride;
  const void* const* rhs_array; /* batched by pointers, instead of rhs */
  /* Run-time rhs: rhs_zero_point_count values for all matrices; null means 0. */
  const int32_t* rhs_zero_points;
  size_t rhs_zero_point_count; /* 1 or n; 0 with null */

  /* m x n. Must not overlap any input, except that it may be exactly the residual; each matrix is
   * judged from its first to its last byte, gaps between rows included. Output matrices may
   * interleave row by row. */
  void* dst;
  size_t dst_stride, dst_batch_stride;
  void* const* dst_array; /* batched by pointers, instead of dst */

  const void* residual; /* m x n of epilogue.residual.type */
  size_t residual_stride, residual_batch_stride;
  const void* const* residual_array; /* batched by pointers, instead of residual */

  /* -- an older struct may end here -- */
  /* Scratch of this call only, at a multiple of OCTET_ALIGNMENT; null if the query says 0 bytes.
   * Calls at the same time need different ones. Calls one after another may share one, of any
   * GEMM or convolution. */
  void* workspace;
  size_t workspace_bytes;
  /* Null means the calling thread. A run of more than one task calls it once, another does not. */
  octet_parallel_for parallel_for;
  void* parallel_context;
  /* Most tasks of a run, as declared to the workspace query; 0 means 1. A run makes fewer where a
   * task would have less than about 2 microseconds of predicted work, and never more than 4096. */
  size_t concurrency;
} octet_gemm_args;
#define OCTET_GEMM_ARGS_INIT OCTET_INIT(octet_gemm_args)

typedef struct octet_gemm octet_gemm;

/* Checks desc, chooses the kernels and copies every array of desc but the packed weights. On
 * failure *gemm is null. */
OCTET_API octet_status octet_gemm_create(const octet_gemm_desc* desc, octet_gemm** gemm,
                                         octet_error* error);

/* The workspace bytes of any run with at most m rows and this concurrency (0 means 1). Run-time
 * weights are packed into the workspace, or for few rows their sums are kept there. */
OCTET_API octet_status octet_gemm_workspace(const octet_gemm* gemm, size_t m, size_t concurrency,
                                            size_t* bytes, octet_error* error);

/* Multiplies. On failure dst is untouched. */
OCTET_API octet_status octet_gemm_run(const octet_gemm* gemm, const octet_gemm_args* args,
                                      octet_error* error);

OCTET_API void octet_gemm_destroy(octet_gemm* gemm); /* of null, too; no run may be in progress */

/* The kernel that a run of m rows uses, a static string; null if gemm is null. No desc.kernel names
 * "..._few_rows", which multiply few rows by run-time weights, nor "..._blocks_...", of scale
 * blocks: desc.max_isa chooses among these. */
OCTET_API const char* octet_gemm_kernel(const octet_gemm* gemm, size_t m);

/* How a GEMM runs with m_max rows and batch_max matrices. Strings are static. */
typedef struct octet_gemm_explanation {
  size_t struct_size;
  const char* kernel;       /* of runs of more than small_m rows */
  const char* small_kernel; /* of runs of at most small_m rows; kernel again where small_m is 0 */
  size_t small_m;
  octet_isa isa;        /* the kernel's tier */
  octet_isa layout_isa; /* the smallest tier that reads weights in this layout */
  /* -- an older struct may end here -- */
  /* The types that kernels multiply: OCTET_S8 or OCTET_U8. Operands of the other type are flipped
   * on their way, weights of 4 bits are decoded to OCTET_S8, in scale blocks to OCTET_U8. */
  octet_type lhs_type, rhs_type;
  /* Weights lie in panels of so many columns, the last one a multiple of the step, with so many
   * rows of a column side by side. */
  size_t panel_columns, panel_step, panel_depth;
  size_t block_rows; /* rows that stay in a cache while all columns pass by */
  size_t batch_tasks, row_tasks, column_tasks; /* of the largest run, at this concurrency */
  size_t workspace_bytes;                      /* as octet_gemm_workspace says */
  char reason[160];                            /* why this kernel */
  /* The choice, on which no output byte depends, in a line (DESIGN.md, "A choice"). */
  char choice[256];
  const char* origin; /* of the choice: "measured, on this machine", "predicted" */
} octet_gemm_explanation;
#define OCTET_GEMM_EXPLANATION_INIT OCTET_INIT(octet_gemm_explanation)

/* Fails like octet_gemm_create, whose work it does and whose object it destroys again. Without
 * packed weights it explains run-time ones. concurrency 0 means 1. */
OCTET_API octet_status octet_gemm_explain(const octet_gemm_desc* desc, size_t concurrency,
                                          octet_gemm_explanation* explanation, octet_error* error);

/* ---- convolution ----------------------------------------------------------------------------- */

typedef enum octet_layout OCTET_INT_ENUM {
  OCTET_NHWC = 0, /* native */
  OCTET_NCHW = 1  /* converted in the workspace */
} octet_layout;

/* How weights are stored, the last letter varying fastest. O = output channels, I = input
 * channels of one group, H x W = the kernel. */
typedef enum octet_filter_order OCTET_INT_ENUM {
  OCTET_OHWI = 0, /* TensorFlow Lite: convolution, transposed convolution */
  OCTET_OIHW = 1, /* ONNX, PyTorch: convolution */
  /* TensorFlow. With one input channel per group it is 1HWC, TensorFlow Lite's depthwise order. */
  OCTET_HWIO = 2,
  /* ONNX, PyTorch: transposed convolution. Here I is all input channels, and O the output channels
   * of one group. */
  OCTET_IOHW = 3
} octet_filter_order;

/* How a convolution is computed. All give the same bytes, but for OCTET_CONV_WINOGRAD_2X2_INT8.
 * The names are the values of OCTET_CONV. */
typedef enum octet_conv_algorithm OCTET_INT_ENUM {
  /* "auto": the algorithm that octet_conv2d_explain predicts to be fastest. On an unknown machine
   * (no L2 was found, or the design is OCTET_DESIGN_UNKNOWN and no tuning has its costs) exact
   * Winograd, whose weights take 3.6 to 18 times the bytes of the filter, is chosen only if it is
   * predicted to be 1.2 times as fast as every other algorithm. */
  OCTET_CONV_AUTO = 0,
  /* "direct": the GEMM kernels read the input where it lies, tap by tap. */
  OCTET_CONV_DIRECT = 1,
  OCTET_CONV_IM2COL = 2,       /* "im2col": patches are copied, then multiplied */
  OCTET_CONV_DEPTHWISE = 3,    /* "depthwise": one input channel per group */
  OCTET_CONV_WINOGRAD_2X2 = 4, /* "winograd2x2": F(2x2,3x3) in int16, exact */
  OCTET_CONV_WINOGRAD_4X4 = 5, /* "winograd4x4": F(4x4,3x3) in int16, exact; larger: sums of it */
  OCTET_CONV_WINOGRAD_2X2_S2 = 6, /* "winograd2x2_s2": 3x3 with stride 2 in int16, exact */
  /* "winograd2x2_int8": F(2x2,3x3) requantized to int8. It is approximate, and needs
   * OCTET_ACCURACY_APPROXIMATE. */
  OCTET_CONV_WINOGRAD_2X2_INT8 = 7,
  /* "grouped": groups of 2, 4, 8 or 16 channels, as many output as input channels each; where
   * weights have zero points (u8: other than 128), an output has at most 16,448 of them */
  OCTET_CONV_GROUPED = 8
} octet_conv_algorithm;

/* "direct", ...; "unknown" outside the enumeration. */
OCTET_API const char* octet_conv_algorithm_name(octet_conv_algorithm algorithm);

typedef enum octet_accuracy OCTET_INT_ENUM {
  OCTET_ACCURACY_EXACT = 0,
  /* Also allows algorithms whose output differs from the contract's by some units. */
  OCTET_ACCURACY_APPROXIMATE = 1
} octet_accuracy;

/* The geometry of a convolution. A 1-D one has in_h = kernel_h = 1. With i, o the channels of one
 * group:
 *
 *     acc[b,y,x,o] = sum over ky, kx, i of (lhs[b,iy,ix,i] - lhs_zero_point)
 *                                          * (weight[o,ky,kx,i] - weight_zero_point[o]) + bias[o]
 *     iy = y * stride_h + ky * dilation_h - pad_top
 *     ix = x * stride_w + kx * dilation_w - pad_left
 *
 * where positions outside the input contribute exactly zero. A transposed convolution scatters
 * where this one gathers: input pixel (y, x) adds to output pixel
 *
 *     (y * stride_h + ky * dilation_h - pad_top, x * stride_w + kx * dilation_w - pad_left)
 *
 * The output size is, along each axis,
 *
 *     (in + pad_before + pad_after - dilation * (kernel - 1) - 1) / stride + 1
 *
 * rounded down, or, transposed,
 *
 *     (in - 1) * stride + dilation * (kernel - 1) + 1 - pad_before - pad_after + output_padding
 *
 * and any padding that leaves at least 1 is legal. Frozen. */
typedef struct octet_conv2d_shape {
  size_t batch_max, in_h_max, in_w_max; /* a run may have less; 0 is refused */
  size_t in_channels, out_channels;     /* both multiples of groups */
  /* groups = in_channels is depthwise, with multiplier out_channels / groups. */
  size_t groups;
  size_t kernel_h, kernel_w;
  size_t stride_h, stride_w;
  size_t dilation_h, dilation_w; /* 1 means none */
  size_t pad_top, pad_bottom, pad_left, pad_right;
  int transposed;
  size_t output_padding_h, output_padding_w; /* transposed only; less than the stride */
} octet_conv2d_shape;

/* Zeros, but 1 for batch_max, groups, strides and dilations. */
#ifdef __cplusplus
#define OCTET_CONV2D_SHAPE_INIT                                                           \
  []() {                                                                                  \
    octet_conv2d_shape shape = {};                                                        \
    shape.batch_max = shape.groups = shape.stride_h = shape.stride_w = shape.dilation_h = \
        shape.dilation_w = 1;                                                             \
    return shape;                                                                         \
  }()
#else
#define OCTET_CONV2D_SHAPE_INIT \
  { .batch_max = 1, .groups = 1, .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 }
#endif

/* The output's height and width for an input of in_h x in_w. Neither the declared maxima nor
 * channels and groups matter. */
OCTET_API octet_status octet_conv2d_output_size(const octet_conv2d_shape* shape, size_t in_h,
                                                size_t in_w, size_t* out_h, size_t* out_w,
                                                octet_error* error);

typedef struct octet_filter_desc {
  size_t struct_size;
  octet_conv2d_shape shape;
  octet_type type; /* as octet_rhs_desc.type; weights of 4 bits are packed as s8 (u4 less 8) */
  octet_filter_order order;
  const void* data; /* dense; of 4 bits (n + 1) / 2 bytes; not read by octet_conv2d_pack_size */
  /* -- an older struct may end here -- */
  /* zero_point_count values in the range of type; null means 0. winograd4x4 takes -100 to 99 (u8:
   * 28 to 227), winograd2x2_int8 0 only (u8: 128, u4: 8), all others any. */
  const int32_t* zero_points;
  size_t zero_point_count; /* 1 (per tensor) or out_channels; 0 with null */
  /* OCTET_CONV_AUTO means what OCTET_CONV says, else the plan's choice. Beats the environment. */
  octet_conv_algorithm algorithm;
  octet_accuracy accuracy;
  /* winograd2x2_int8: 16 calibrated magnitudes of B^T x B, row by row, with u8 inputs centred (x -
   * 128); larger values saturate. null means the widest, 512. */
  const float* tap_ranges;
  /* The machine that will run it. Matters with OCTET_CONV_AUTO only; null means this one. */
  const octet_machine* machine;
  /* The most that the blob may take; 0 means any size. An algorithm whose weights take more cannot
   * be used: those of Winograd are 3.6 to 18 times the bytes of the filter. */
  size_t packed_bytes_max;
  /* OCTET_SPARSE_2_4 leaves direct and im2col. */
  octet_sparsity sparsity;
  int reserved; /* must be 0 */
  /* The output, whose cost OCTET_CONV_AUTO counts: transforms of Winograd requantize in float mode
   * only, a residual is a step of its own. dst_type 0: unknown, as 8 bits without the following. */
  octet_type dst_type;
  octet_requant requant;     /* of an s8, u8 or s16 dst */
  int has_residual, has_lut; /* 1: the epilogue has one, of an s8 or u8 dst */
} octet_filter_desc;
#ifdef __cplusplus
#define OCTET_FILTER_DESC_INIT            \
  []() {                                  \
    octet_filter_desc desc = {};          \
    desc.struct_size = sizeof desc;       \
    desc.shape = OCTET_CONV2D_SHAPE_INIT; \
    return desc;                          \
  }()
#else
#define OCTET_FILTER_DESC_INIT \
  { .struct_size = sizeof(octet_filter_desc), .shape = OCTET_CONV2D_SHAPE_INIT }
#endif

/* The bytes that octet_conv2d_pack will write; with a sparsity, at most, and without, zeros may
 * follow a shorter blob, as with octet_pack_size. The blob holds the weights in the form of one
 * algorithm and of one tier's layout. It serves every batch, input size and padding, though the
 * algorithm was chosen for the declared ones; channels, groups, kernel, strides, dilations and
 * direction are part of it. */
OCTET_API octet_status octet_conv2d_pack_size(const octet_filter_desc* filter, octet_isa isa,
                                              size_t* bytes, octet_error* error);

/* As octet_pack. A forced algorithm that cannot compute the shape is OCTET_UNSUPPORTED, with the
 * reason. Where no algorithm stays within packed_bytes_max, that is OCTET_BAD_SIZE, and the message
 * has the smallest size that there is. */
OCTET_API octet_status octet_conv2d_pack(const octet_filter_desc* filter, octet_isa isa, void* blob,
                                         size_t blob_bytes, octet_error* error);

/* The plan's predictions for one algorithm, one convolution and one tier of this machine. */
typedef struct octet_conv2d_candidate {
  size_t struct_size;
  octet_conv_algorithm algorithm;
  /* The kernel, a static string; null if refused, or if this library has none of that tier. */
  const char* kernel;
  int possible; /* 0: cannot compute this shape, or not exactly */
  int chosen;   /* 1 for the algorithm that octet_conv2d_pack takes */
  /* -- an older struct may end here -- */
  /* The multiply-accumulates of this algorithm, with padding and rounding up to tiles. */
  double macs;
  /* Input, weights as packed and output, each once, and tensors staged in the workspace, written
   * and read. */
  double bytes;
  /* Predicted for one thread, declared sizes and the filter's dst_type; 0 if refused. The parts
   * follow; of the first two the shorter one hides behind the longer one, but for a fifth, unless
   * cores execute in order. */
  double microseconds;
  double compute_microseconds;   /* dot products */
  double memory_microseconds;    /* traffic from the cache or the memory where the operands live */
  double transform_microseconds; /* transforms, copies, layout conversion, the epilogue */
  char reason[160];              /* why refused, or what limits it */
  /* The choice with this algorithm, on which no output byte depends, in a line (DESIGN.md, "A
   * choice"), for a u8 input and an output of 8 bits; empty where kernel is null. */
  char choice[256];
  size_t packed_bytes; /* of the blob; 0 if refused, but not if refused for packed_bytes_max */
  /* How the chosen one was chosen, else null: "measured, on this machine"; "predicted", by costs
   * that were fitted to this design of CPU; "predicted, costs not measured", by costs of another
   * design; "predicted, calibrated" or "predicted, assumed" (tune.h). */
  const char* origin;
} octet_conv2d_candidate;
#define OCTET_CONV2D_CANDIDATE_INIT OCTET_INIT(octet_conv2d_candidate)

/* The candidates, index 0, 1, ... until OCTET_BAD_SIZE; at index 0 that means a bad filter. Fails
 * like pack where a forced algorithm (or OCTET_CONV) cannot compute the shape. filter.data may be
 * null: then the weights are assumed to be the worst. */
OCTET_API octet_status octet_conv2d_explain(const octet_filter_desc* filter, octet_isa isa,
                                            size_t index, octet_conv2d_candidate* candidate,
                                            octet_error* error);

/* Fields that octet_gemm_desc has too mean the same here, with n = out_channels and lhs = the input
 * tensor. */
typedef struct octet_conv2d_desc {
  size_t struct_size;
  /* batch_max, in_h_max, in_w_max, pads and output paddings may differ from the packed filter's;
   * the rest may not. */
  octet_conv2d_shape shape;
  octet_layout lhs_layout;
  octet_layout dst_layout;                 /* of the residual too */
  octet_type lhs_type, rhs_type, dst_type; /* lhs s8, u8, f32, s16 (docs/int16.md); rhs as packed */
  /* OCTET_LHS_STATIC, or OCTET_LHS_PER_TENSOR: one zero point and scale per image. An f32 lhs is
   * quantized line by line in the workspace, and what follows is as if the bytes had come with the
   * run:
   * - OCTET_LHS_STATIC: as octet_quantize does, by lhs_scale and lhs_zero_point to
   *   lhs_quantized_type;
   * - OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC: each image as octet_dynamic_quantize does, and
   *   then as with OCTET_LHS_PER_TENSOR; dst must be OCTET_F32. The calling thread finds the ranges
   *   before the tasks begin. */
  octet_lhs_quant lhs_quant;
  int32_t lhs_zero_point;

  octet_isa max_isa;
  const void* packed; /* a blob from octet_conv2d_pack, borrowed until destroy */
  size_t packed_bytes;
  const char* kernel;
  octet_allocator allocator;
  /* An f32 lhs with OCTET_LHS_STATIC, else 0; once a reserved field, since none can follow the
   * epilogue. The epilogue's scales hold this scale as they would that of an input of bytes. */
  float lhs_scale;
  octet_type lhs_quantized_type; /* OCTET_S8 or OCTET_U8 */
  const octet_machine* machine;
  uintptr_t reserved[3 - 8 / sizeof(uintptr_t)]; /* must be 0 */
  /* -- an older struct may end here -- */
  octet_epilogue epilogue; /* last: it may grow at its end */
} octet_conv2d_desc;
#ifdef __cplusplus
#define OCTET_CONV2D_DESC_INIT            \
  []() {                                  \
    octet_conv2d_desc desc = {};          \
    desc.struct_size = sizeof desc;       \
    desc.shape = OCTET_CONV2D_SHAPE_INIT; \
    return desc;                          \
  }()
#else
#define OCTET_CONV2D_DESC_INIT \
  { .struct_size = sizeof(octet_conv2d_desc), .shape = OCTET_CONV2D_SHAPE_INIT }
#endif

/* The padding of one run. Frozen. */
typedef struct octet_conv2d_pads {
  size_t top, bottom, left, right;
} octet_conv2d_pads;

typedef struct octet_conv2d_args {
  size_t struct_size;
  size_t batch, in_h, in_w; /* 1 .. declared; 0 means as declared, also for the batch */
  /* The output size that the caller expects, which the run checks; 0 means not checked. */
  size_t out_h, out_w;

  /* NHWC: a stride counts elements from one pixel to the next, and 0 means dense; more than the
   * channels reads or writes a slice of a wider tensor. Rows and images follow each other without
   * gaps. Gaps between pixels of lhs may be read; their values do not matter. NCHW tensors are
   * dense, with stride 0. */
  const void* lhs; /* batch x in_h x in_w x in_channels */
  size_t lhs_stride;
  const int32_t* lhs_zero_points; /* OCTET_LHS_PER_TENSOR: one per image; null means 0 */
  const float* lhs_scales;        /* one per image; null means 1 */
  /* batch x out_h x out_w x out_channels. Must not overlap an input, except that it may be exactly
   * the residual; judged from first to last byte, gaps between pixels included. */
  void* dst;
  size_t dst_stride;
  const void* residual; /* as dst, of epilogue.residual.type */
  size_t residual_stride;

  /* -- an older struct may end here -- */
  void* workspace;
  size_t workspace_bytes;
  octet_parallel_for parallel_for;
  void* parallel_context;
  size_t concurrency; /* as octet_gemm_args has it */
  /* Instead of the declared pads, as SAME wants them for each input size; null means as declared.
   * Along neither axis may the output get larger than the declared pads would make it of this
   * input: the workspace query knows only those. Copied before anything is written. */
  const octet_conv2d_pads* pads;
} octet_conv2d_args;
#define OCTET_CONV2D_ARGS_INIT OCTET_INIT(octet_conv2d_args)

typedef struct octet_conv2d octet_conv2d;

/* As octet_gemm_create: copies every array but the packed filter. On failure *conv is null. */
OCTET_API octet_status octet_conv2d_create(const octet_conv2d_desc* desc, octet_conv2d** conv,
                                           octet_error* error);

/* The workspace bytes of any run of at most these sizes (0 means as declared) and this concurrency
 * (0 means 1). */
OCTET_API octet_status octet_conv2d_workspace(const octet_conv2d* conv, size_t batch, size_t in_h,
                                              size_t in_w, size_t concurrency, size_t* bytes,
                                              octet_error* error);

/* A run that is refused has written nothing. */
OCTET_API octet_status octet_conv2d_run(const octet_conv2d* conv, const octet_conv2d_args* args,
                                        octet_error* error);

OCTET_API void octet_conv2d_destroy(octet_conv2d* conv); /* null is allowed */

/* OCTET_CONV_AUTO if conv is null. */
OCTET_API octet_conv_algorithm octet_conv2d_algorithm(const octet_conv2d* conv);
OCTET_API const char* octet_conv2d_kernel(const octet_conv2d* conv); /* null if conv is null */

/* Limits the bytes of all filters of a network together. Each filter is described as it will be
 * packed, its shape with the sizes of the layer, which the prediction is for; data may be null.
 * Sets packed_bytes_max of some of them, so that octet_conv2d_pack_size of all, for the same isa
 * and environment, adds up to at most bytes_max (unless bytes_max is 0): algorithms are given up in
 * the order of the least predicted time lost per byte saved. No output byte depends on it, except
 * of filters with OCTET_ACCURACY_APPROXIMATE, which may change between exact algorithms and
 * OCTET_CONV_WINOGRAD_2X2_INT8: set `accuracy` to exact where bytes must stay.
 *
 * bytes_max: SIZE_MAX limits nothing. A bytes_max below the least that these filters can be packed
 * to is OCTET_BAD_SIZE, and the message has both numbers. 0 takes the default limit: 2.5 times the
 * bytes of the weights as given, except that algorithms are given up only while the predicted time
 * of all filters together grows by at most 5 %; the sum may then stay above 2.5 times.
 *
 * A filter that has an algorithm or a packed_bytes_max keeps them, and its bytes count; a filter
 * that is listed twice counts twice. *bytes, if bytes is not null, becomes the bytes of all blobs;
 * without filters 0. A null filters[i] is OCTET_NULL_POINTER, and a struct that ends before
 * packed_bytes_max is OCTET_BAD_STRUCT_SIZE. On failure no filter is changed; an error that is of
 * one filter begins with "filters[i]: ". Allocates while it runs. */
OCTET_API octet_status octet_conv2d_limit_packed(octet_filter_desc* const* filters, size_t count,
                                                 octet_isa isa, size_t bytes_max, size_t* bytes,
                                                 octet_error* error);

/* ---- blobs ----------------------------------------------------------------------------------- */

/* The header of a blob from octet_pack or octet_conv2d_pack. */
typedef struct octet_blob_info {
  size_t struct_size;
  octet_isa isa;   /* the smallest tier that reads this layout */
  octet_type type; /* of the weights as they were given */
  /* Of a convolution: n = output channels, k = the weights of each, batch = 1. */
  size_t n, k, batch;
  size_t bytes; /* of the whole blob */
  /* -- an older struct may end here -- */
  octet_conv_algorithm algorithm; /* of a convolution, else 0 */
  /* The weight format: a static string, which never names another one. */
  const char* form;
  /* Of a convolution, else 0. Sizes and pads are 0, because the weights do not depend on them. */
  octet_conv2d_shape shape;
  size_t scale_block; /* as octet_rhs_desc has it, else 0 */
  octet_type scale_type;
} octet_blob_info;
#define OCTET_BLOB_INFO_INIT OCTET_INIT(octet_blob_info)

/* Checks the header (magic, version, sizes, its checksum) and reports it. Reads the header only, so
 * that a mapped file stays untouched. */
OCTET_API octet_status octet_blob_get_info(const void* blob, size_t blob_bytes,
                                           octet_blob_info* info, octet_error* error);

/* Checks the header, the checksum of the whole payload, and, of weights in pairs, that no pair of
 * products leaves 16 bits. */
OCTET_API octet_status octet_blob_verify(const void* blob, size_t blob_bytes, octet_error* error);

/* ---- helpers --------------------------------------------------------------------------------- */

/* More are in helpers.h: multipliers, paddings, quantized tensors, tables, from models' numbers.
 *
 * Maps a real factor in [0, 2^30) to TFLite's (multiplier, shift): factor ~ multiplier / 2^31 *
 * 2^shift, as its QuantizeMultiplier does. */
OCTET_API octet_status octet_quantize_multiplier(double factor, int32_t* multiplier, int32_t* shift,
                                                 octet_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_OCTET_H_ */
