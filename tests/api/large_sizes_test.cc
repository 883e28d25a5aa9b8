// SPDX-License-Identifier: Apache-2.0
// Checks sizes about the end of a 32-bit address space, from 2^30 to 2^32 - 1, and products of
// sizes that pass it. Every size that a call returns must hold its contents, counted in doubles,
// which do not wrap; otherwise the call is refused and names the argument. Most of these sizes are
// legal with 64 bits. No test allocates so much memory.
#include <algorithm>
#include <initializer_list>
#include <string>

#include "octet/helpers.h"
#include "octet/network.h"
#include "octet/sparse.h"
#include "octet/traffic.h"
#include "support/network_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

constexpr double kMost = (double)PTRDIFF_MAX;
constexpr size_t k2To30 = size_t{1} << 30, k2To31 = size_t{1} << 31;
// 46341^2 is just above 2^31, 65536^2 is 2^32.
constexpr size_t kSizes[] = {1,      3,          46340,     46341,      65536,
                             65537,  k2To30 - 1, k2To30,    k2To30 + 1, k2To31 - 1,
                             k2To31, k2To31 + 1, UINT32_MAX};

double product(std::initializer_list<size_t> sizes) {
  double all = 1;
  for (const size_t size : sizes) all *= (double)size;
  return all;
}

std::string text(std::initializer_list<size_t> sizes) {
  std::string all;
  for (const size_t size : sizes) all += (all.empty() ? "" : " x ") + std::to_string(size);
  return all;
}

// A refusal has one of these statuses, and one of the names.
void expect_named(octet_status status, const octet_error& error,
                  std::initializer_list<octet_status> statuses,
                  std::initializer_list<const char*> names) {
  EXPECT_TRUE(std::count(statuses.begin(), statuses.end(), status))
      << octet_status_name(status) << ": " << error.message;
  EXPECT_TRUE(std::any_of(
      names.begin(), names.end(),
      [&](const char* name) { return std::string(error.message).find(name) != std::string::npos; }))
      << "'" << error.message << "' names no argument";
}

TEST(LargeSizes, PackedMatrices) {
  for (const octet_rhs_order order : {OCTET_KN, OCTET_NK})
    for (const octet_sparsity sparsity : {OCTET_SPARSE_NONE, OCTET_SPARSE_2_4})
      for (const size_t n : kSizes)
        for (const size_t k : kSizes)
          for (const size_t batch : {size_t{1}, size_t{2}, size_t{65536}}) {
            SCOPED_TRACE(text({n, k, batch}));
            octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
            rhs.type = OCTET_S8, rhs.order = order, rhs.n = n, rhs.k = k, rhs.batch = batch;
            rhs.sparsity = sparsity;
            size_t bytes = 0;
            octet_error error = {};
            const octet_status status = octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error);
            const double least = product({n, k, batch}) * (sparsity ? 0.75 : 1);
            if (status == OCTET_OK)
              EXPECT_GE((double)bytes, least);
            else
              expect_named(status, error, {OCTET_BAD_SIZE}, {"rhs.n", "rhs.k", "rhs.batch"});
            EXPECT_TRUE(status != OCTET_OK || least <= kMost);
          }
}

TEST(LargeSizes, ProductsOfWeightsThatComeWithARun) {
  for (const size_t n : kSizes) {
    if (sizeof(size_t) > 4 && n > 65537) break;  // legal: arrays over columns of gigabytes
    for (const size_t m : kSizes)
      for (const size_t k : kSizes)
        for (const size_t batch : {size_t{1}, size_t{3}}) {
          SCOPED_TRACE(text({m, n, k, batch}));
          octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
          desc.m_max = m, desc.n = n, desc.k = k, desc.batch_max = batch;
          desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
          octet_gemm* gemm = nullptr;
          octet_error error = {};
          const octet_status created = octet_gemm_create(&desc, &gemm, &error);
          if (created != OCTET_OK) {
            expect_named(created, error, {OCTET_BAD_SIZE, OCTET_ACCUMULATOR_OVERFLOW},
                         {"desc.m_max", "desc.n", "desc.k", "desc.batch_max"});
            continue;
          }
          EXPECT_LE(product({m, k}), kMost);
          EXPECT_LE(product({n, k}), kMost);
          EXPECT_LE(product({m, n, 4}), kMost);
          for (const size_t concurrency : {size_t{1}, size_t{1024}}) {
            size_t bytes = 0;
            const octet_status status = octet_gemm_workspace(gemm, m, concurrency, &bytes, &error);
            if (status == OCTET_OK)
              EXPECT_GE((double)bytes, (double)k);  // for some columns, packed, or for rows
            else
              expect_named(status, error, {OCTET_BAD_SIZE}, {"concurrency", "m "});
          }
          octet_gemm_destroy(gemm);
        }
  }
}

// Any two fields of a shape, the others small.
TEST(LargeSizes, ShapesOfConvolutions) {
  size_t octet_conv2d_shape::*const fields[] = {
      &octet_conv2d_shape::batch_max,    &octet_conv2d_shape::in_h_max,
      &octet_conv2d_shape::in_w_max,     &octet_conv2d_shape::in_channels,
      &octet_conv2d_shape::out_channels, &octet_conv2d_shape::kernel_h,
      &octet_conv2d_shape::kernel_w,     &octet_conv2d_shape::stride_h,
      &octet_conv2d_shape::stride_w,     &octet_conv2d_shape::dilation_h,
      &octet_conv2d_shape::dilation_w,   &octet_conv2d_shape::pad_top,
      &octet_conv2d_shape::pad_bottom,   &octet_conv2d_shape::pad_left,
      &octet_conv2d_shape::pad_right};
  for (const int transposed : {0, 1})
    for (const auto first : fields)
      for (const auto second : fields)
        for (const size_t a : kSizes)
          for (const size_t b : {size_t{3}, size_t{46341}, size_t{65536}, k2To31 - 1, k2To31}) {
            octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
            s.in_h_max = s.in_w_max = 7, s.in_channels = s.out_channels = 4;
            s.kernel_h = s.kernel_w = 3, s.transposed = transposed;
            s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
            s.*first = a, s.*second = b;
            octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
            filter.shape = s, filter.type = OCTET_S8, filter.algorithm = OCTET_CONV_DIRECT;
            size_t bytes = 0, h = 0, w = 0;
            octet_error error = {};
            octet_status status = octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error);
            if (status == OCTET_OK) {
              EXPECT_GE((double)bytes,
                        product({s.in_channels, s.out_channels, s.kernel_h, s.kernel_w}));
              EXPECT_LE(product({s.batch_max, s.in_h_max, s.in_w_max, s.in_channels}), kMost);
            } else {
              expect_named(status, error, {OCTET_BAD_SIZE, OCTET_UNSUPPORTED}, {"filter"});
            }
            if (octet_conv2d_output_size(&s, s.in_h_max, s.in_w_max, &h, &w, &error) == OCTET_OK &&
                status == OCTET_OK) {
              EXPECT_LE(product({s.batch_max, h, w, s.out_channels}), kMost);
              EXPECT_GE(std::min(h, w), 1u);
            }
          }
}

TEST(LargeSizes, RunsOfConvolutions) {
  const std::vector<uint8_t> weights(9 * 4 * 4, 1);
  for (const octet_layout layout : {OCTET_NHWC, OCTET_NCHW})
    for (const size_t h : kSizes)
      for (const size_t w : kSizes)
        for (const size_t batch : {size_t{1}, size_t{46341}}) {
          SCOPED_TRACE(text({batch, h, w}));
          octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
          octet_conv2d_shape& s = filter.shape;
          s.batch_max = batch, s.in_h_max = h, s.in_w_max = w, s.in_channels = s.out_channels = 4;
          s.kernel_h = s.kernel_w = 3;
          s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
          filter.type = OCTET_S8, filter.data = weights.data();
          filter.algorithm = OCTET_CONV_DIRECT;
          size_t bytes = 0;
          octet_error error = {};
          if (octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error) != OCTET_OK) continue;
          Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
          ASSERT_EQ(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob.data(), bytes, &error),
                    OCTET_OK)
              << error.message;
          octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
          desc.shape = s, desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8;
          desc.dst_type = OCTET_S32, desc.lhs_layout = desc.dst_layout = layout;
          desc.packed = blob.data(), desc.packed_bytes = bytes;
          octet_conv2d* conv = nullptr;
          const octet_status created = octet_conv2d_create(&desc, &conv, &error);
          if (created != OCTET_OK) {
            expect_named(created, error, {OCTET_BAD_SIZE}, {"desc"});
            continue;
          }
          EXPECT_LE(product({batch, h, w, 4, 4}), kMost);
          for (const size_t concurrency : {size_t{1}, size_t{1024}, size_t{65536}}) {
            size_t workspace = 0;
            const octet_status status =
                octet_conv2d_workspace(conv, 0, 0, 0, concurrency, &workspace, &error);
            if (status != OCTET_OK) {
              expect_named(status, error, {OCTET_BAD_SIZE}, {"concurrency", "in_w", "in_h"});
            } else if (layout == OCTET_NCHW) {
              EXPECT_GE((double)workspace, product({w, 4}));  // a staged line
            }
          }
          octet_conv2d_destroy(conv);
        }
}

TEST(LargeSizes, Networks) {
  for (const size_t h : kSizes)
    for (const size_t w : kSizes)
      for (const size_t channels : {size_t{1}, size_t{3}}) {
        SCOPED_TRACE(text({h, w, channels}));
        NetworkCase c{1};
        const size_t input = c.tensor(1, h, w, channels), a = c.add(input, input), b = c.add(a, a),
                     sum = c.add(a, b);
        c.add(sum, input);
        c.keep_ends();
        octet_network_desc desc = c.desc();
        desc.goal = OCTET_NETWORK_LAYERS;
        octet_network* network = nullptr;
        octet_error error = {};
        octet_status status = octet_network_create(&desc, &network, &error);
        if (status != OCTET_OK) {
          expect_named(status, error, {OCTET_BAD_SIZE}, {"tensors[", "desc: the tensors"});
          continue;
        }
        size_t bytes = 0;
        ASSERT_EQ(octet_network_workspace(network, &bytes, &error), OCTET_OK) << error.message;
        EXPECT_GE((double)bytes, product({2, h, w, channels}));
        EXPECT_LE((double)bytes, kMost);
        octet_network_destroy(network);
      }
}

TEST(LargeSizes, SparseWeights) {
  uint8_t bytes[64] = {}, weights[256] = {};
  octet_sparse_stream_format format = OCTET_SPARSE_STREAM_FORMAT_INIT;
  format.chunk = 32;
  octet_error error = {};
  for (const size_t n : kSizes)
    for (const size_t k : kSizes) {
      SCOPED_TRACE(text({n, k}));
      if (product({n, k}) < 1e6) continue;
      octet_status status =
          octet_sparse_import_stream(&format, bytes, 64, n, k, weights, 0, &error);
      // The weights, if size_t holds their number, overlap the stream
      expect_named(status, error, {OCTET_BAD_SIZE, OCTET_BAD_BLOB, OCTET_OVERLAP},
                   {"n = ", "stream"});
      for (const octet_sparse_metadata order : {OCTET_METADATA_ROWS, OCTET_METADATA_CUTLASS}) {
        status =
            octet_sparse_import_indexed(order, n, k, bytes, 32, bytes + 32, 8, weights, 0, &error);
        expect_named(status, error, {OCTET_BAD_SIZE}, {"n = ", "values_bytes", "metadata_bytes"});
      }
    }
}

TEST(LargeSizes, ValuesBeyondTheAddressSpace) {
  float value = 0;
  int8_t byte = 0;
  for (const size_t count : {SIZE_MAX / 8 + 1, SIZE_MAX / 4, SIZE_MAX / 2, SIZE_MAX}) {
    int32_t zero_point, shift;
    expect_refused(OCTET_BAD_SIZE, "count", [&](octet_error* e) {
      return octet_tflite_multipliers(OCTET_TFLITE_CONVOLUTION, OCTET_S8, 1, &value, count, 1,
                                      &zero_point, &shift, e);
    });
    expect_refused(OCTET_BAD_SIZE, "count", [&](octet_error* e) {
      return octet_quantize(&value, count, 1, 0, OCTET_S8, &byte, e);
    });
    expect_refused(OCTET_BAD_SIZE, "count", [&](octet_error* e) {
      return octet_dequantize(&byte, OCTET_S8, count, 1, 0, &value, e);
    });
    expect_refused(OCTET_BAD_SIZE, "count", [&](octet_error* e) {
      return octet_dynamic_quantize(OCTET_LHS_SYMMETRIC, &value, count, &byte, &value, &zero_point,
                                    e);
    });
  }
}

TEST(LargeSizes, OutputSizesAndPadding) {
  for (const octet_padding padding : {OCTET_PADDING_SAME, OCTET_PADDING_VALID})
    for (const size_t in : kSizes)
      for (const size_t kernel : kSizes)
        for (const size_t stride : kSizes)
          for (const int transposed : {0, 1}) {
            SCOPED_TRACE(text({in, kernel, stride}) + (transposed ? " transposed" : ""));
            octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
            s.in_h_max = 1, s.in_w_max = in, s.in_channels = s.out_channels = 1;
            s.kernel_h = 1, s.kernel_w = kernel, s.stride_w = stride, s.transposed = transposed;
            octet_error error = {};
            octet_status status = octet_conv2d_set_padding(padding, &s, &error);
            if (status != OCTET_OK) {
              expect_named(status, error, {OCTET_BAD_SIZE, OCTET_UNSUPPORTED}, {"shape"});
              continue;
            }
            size_t h = 0, w = 0;
            status = octet_conv2d_output_size(&s, 1, in, &h, &w, &error);
            if (status != OCTET_OK) {
              expect_named(status, error, {OCTET_BAD_SIZE, OCTET_UNSUPPORTED},
                           {"in_w", "out_w", "shape"});
              continue;
            }
            const double wide = (double)w;
            if (padding == OCTET_PADDING_SAME) {
              const double same = (double)((in - 1) / stride + 1);
              EXPECT_EQ(wide, transposed ? product({in, stride}) : same);
            }
            EXPECT_LE(wide, (double)k2To31);
          }
}

TEST(LargeSizes, Traffic) {
  octet_error error = {};
  for (const size_t size :
       {k2To31 + 1, k2To31 + 4096, size_t{UINT32_MAX}, size_t{UINT32_MAX} & ~size_t{4095}}) {
    octet_traffic_options options = OCTET_TRAFFIC_OPTIONS_INIT;
    octet_traffic* traffic = nullptr;
    options.cache_bytes = size;
    expect_refused(OCTET_BAD_SIZE, "options.cache_bytes",
                   [&](octet_error* e) { return octet_traffic_create(&options, &traffic, e); });
    options.cache_bytes = 4096, options.l1_bytes = size;
    expect_refused(OCTET_BAD_SIZE, "options.l1_bytes",
                   [&](octet_error* e) { return octet_traffic_create(&options, &traffic, e); });
    options.l1_bytes = 0, options.layers = size;
    expect_refused(OCTET_BAD_SIZE, "options.layers",
                   [&](octet_error* e) { return octet_traffic_create(&options, &traffic, e); });
  }
  octet_traffic_options options = OCTET_TRAFFIC_OPTIONS_INIT;
  options.cache_bytes = 4096;
  octet_traffic* traffic = nullptr;
  ASSERT_EQ(octet_traffic_create(&options, &traffic, &error), OCTET_OK) << error.message;
  const void* const late = (void*)(UINTPTR_MAX - 100);
  EXPECT_EQ(octet_traffic_touch(traffic, late, 100, OCTET_OPERAND_INPUT, 0, &error), OCTET_OK);
  for (const size_t bytes : {size_t{102}, k2To31, size_t{UINT32_MAX}, SIZE_MAX})
    expect_refused(OCTET_BAD_SIZE, "bytes", [&](octet_error* e) {
      return octet_traffic_touch(traffic, late, bytes, OCTET_OPERAND_INPUT, 0, e);
    });
  octet_traffic_destroy(traffic);
}

}  // namespace
}  // namespace octet_test
