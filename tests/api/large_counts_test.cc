// SPDX-License-Identifier: Apache-2.0
// Checks every count that a caller can pass, near the end of size_t and where 32 bits end: each
// function that takes it answers with a status and a sentence, and no sum, product or quotient of
// counts leads beyond memory, to a division by zero or to work without end.
#include "api/large_counts.h"

// A sanitizer, too, answers a request for more memory than there is as the system does.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace octet_test {
namespace {

TEST(LargeCounts, OfPackedWeights) {
  for (const octet_sparsity sparsity : {OCTET_SPARSE_NONE, OCTET_SPARSE_2_4})
    for (const octet_rhs_order order : {OCTET_KN, OCTET_NK}) {
      Product p(true);
      octet_rhs_desc& w = p.weights;
      w.sparsity = sparsity, w.order = order;
      p.pack();
      const int32_t zero_point = 0;
      w.zero_points = &zero_point, w.zero_point_count = 1;
      std::vector<uint8_t> pruned(p.rhs.size());
      size_t bytes = 0;
      try_counts(
          {{"n", &w.n, true},
           {"k", &w.k, true},
           {"batch", &w.batch, true},
           {"stride", &w.stride, true},
           {"batch_stride", &w.batch_stride, true},
           {"zero_point_count", &w.zero_point_count, false, true},
           {"m_max", &w.m_max}},
          {{"pack_size",
            [&](bool, octet_error* e) { return octet_pack_size(&w, OCTET_ISA_AUTO, &bytes, e); }},
           {"pack",
            [&](bool has_memory, octet_error* e) {
              return has_memory ? octet_pack(&w, OCTET_ISA_AUTO, p.blob.data(), p.blob_bytes, e)
                                : OCTET_OK;
            }},
           {"prune", [&](bool has_memory, octet_error* e) {
              return has_memory ? octet_sparse_prune(&w, pruned.data(), nullptr, e) : OCTET_OK;
            }}});
      try_counts({{"blob_bytes", &p.blob_bytes}},
                 {{"get_info",
                   [&](bool, octet_error* e) {
                     octet_blob_info info = OCTET_BLOB_INFO_INIT;
                     return octet_blob_get_info(p.blob.data(), p.blob_bytes, &info, e);
                   }},
                  {"verify", [&](bool, octet_error* e) {
                     return octet_blob_verify(p.blob.data(), p.blob_bytes, e);
                   }}});
    }
}

TEST(LargeCounts, OfProducts) {
  for (const bool packed : {false, true})
    for (const octet_type dst : {OCTET_S32, OCTET_U8}) {
      Product p(packed, dst);
      try_counts({{"m_max", &p.desc.m_max},
                  {"n", &p.desc.n},
                  {"k", &p.desc.k},
                  {"batch_max", &p.desc.batch_max},
                  {"packed_bytes", &p.desc.packed_bytes},
                  {"scale_count", &p.desc.epilogue.scale_count, false, true},
                  {"multiplier_count", &p.desc.epilogue.multiplier_count, false, true},
                  {"factor_count", &p.desc.epilogue.factor_count, false, true},
                  {"m of the workspace", &p.rows},
                  {"concurrency of the workspace", &p.tasks}},
                 {{"use", [&](bool has_memory, octet_error* e) { return p.use(has_memory, e); }},
                  {"explain", [&](bool, octet_error* e) { return p.explain(e); }}});
    }
}

TEST(LargeCounts, OfRunsOfProducts) {
  for (const bool packed : {false, true}) {
    Product p(packed);
    octet_gemm_args& a = p.args;
    const int32_t zero_point = 0;
    if (!packed) a.rhs_zero_points = &zero_point, a.rhs_zero_point_count = 1;
    octet_gemm* gemm = nullptr;
    ASSERT_EQ(octet_gemm_create(&p.desc, &gemm, nullptr), OCTET_OK);
    const Traffic traffic;
    std::vector<Count> counts = {{"m", &a.m},
                                 {"batch", &a.batch},
                                 {"lhs_stride", &a.lhs_stride, true},
                                 {"lhs_batch_stride", &a.lhs_batch_stride, true},
                                 {"dst_stride", &a.dst_stride, true},
                                 {"dst_batch_stride", &a.dst_batch_stride, true},
                                 {"residual_stride", &a.residual_stride, true},
                                 {"residual_batch_stride", &a.residual_batch_stride, true},
                                 {"workspace_bytes", &a.workspace_bytes},
                                 {"concurrency", &a.concurrency}};
    if (!packed)
      counts.insert(counts.end(), {{"n", &a.n},
                                   {"k", &a.k},
                                   {"rhs_stride", &a.rhs_stride, true},
                                   {"rhs_batch_stride", &a.rhs_batch_stride, true},
                                   {"rhs_zero_point_count", &a.rhs_zero_point_count, false, true}});
    try_counts(counts, {{"run",
                         [&](bool has_memory, octet_error* e) {
                           return has_memory ? octet_gemm_run(gemm, &a, e) : OCTET_OK;
                         }},
                        {"traffic", [&](bool has_memory, octet_error* e) {
                           return has_memory ? octet_traffic_gemm(traffic.get, gemm, &a, e)
                                             : OCTET_OK;
                         }}});
    octet_gemm_destroy(gemm);
  }
}

TEST(LargeCounts, OfFilters) {
  for (const bool transposed : {false, true}) {
    Layer l(OCTET_CONV_AUTO, transposed);
    octet_filter_desc& f = l.filter;
    const int32_t zero_point = 0;
    f.zero_points = &zero_point, f.zero_point_count = 1;
    std::vector<Count> counts = l.counts_of(&f.shape, true);
    counts.insert(counts.end(), {{"zero_point_count", &f.zero_point_count, false, true},
                                 {"packed_bytes_max", &f.packed_bytes_max}});
    std::vector<uint8_t> pruned(l.rhs.size());
    size_t bytes = 0;
    try_counts(counts, {{"pack_size",
                         [&](bool, octet_error* e) {
                           return octet_conv2d_pack_size(&f, OCTET_ISA_AUTO, &bytes, e);
                         }},
                        {"pack",
                         [&](bool has_memory, octet_error* e) {
                           return has_memory ? octet_conv2d_pack(&f, OCTET_ISA_AUTO, l.blob.data(),
                                                                 l.blob_bytes, e)
                                             : OCTET_OK;
                         }},
                        {"prune", [&](bool has_memory, octet_error* e) {
                           return has_memory
                                      ? octet_sparse_prune_filter(&f, pruned.data(), nullptr, e)
                                      : OCTET_OK;
                         }}});
    f.data = nullptr;  // explain would read weights
    size_t index = 0;
    counts.push_back({"index", &index});
    try_counts(counts, {{"explain", [&](bool, octet_error* e) {
                           octet_conv2d_candidate c = OCTET_CONV2D_CANDIDATE_INIT;
                           return octet_conv2d_explain(&f, OCTET_ISA_AUTO, index, &c, e);
                         }}});
  }
}

// Fields that an output size does not depend on may have any value.
TEST(LargeCounts, OfOutputSizes) {
  for (const bool transposed : {false, true}) {
    Layer l(OCTET_CONV_AUTO, transposed);
    octet_conv2d_shape& s = l.filter.shape;
    size_t in_h = kSide, in_w = kSide, h = 0, w = 0;
    std::vector<Count> counts = l.counts_of(&s, false);
    counts.insert(counts.end(), {{"in_h", &in_h}, {"in_w", &in_w}});
    try_counts(counts, {{"output_size",
                         [&](bool, octet_error* e) {
                           return octet_conv2d_output_size(&s, in_h, in_w, &h, &w, e);
                         }},
                        {"set_padding", [&](bool, octet_error* e) {
                           octet_conv2d_shape changed = s;
                           return octet_conv2d_set_padding(OCTET_PADDING_SAME, &changed, e);
                         }}});
  }
  Layer l(OCTET_CONV_AUTO, true);
  std::vector<Count> counts = l.counts_of(&l.filter.shape, false);
  counts.insert(counts.end(), {{"out_h", &l.out_h}, {"out_w", &l.out_w}});
  try_counts(counts, {{"set_output_size", [&](bool, octet_error* e) {
                         octet_conv2d_shape changed = l.filter.shape;
                         return octet_conv2d_set_output_size(OCTET_PADDING_SAME, l.out_h, l.out_w,
                                                             &changed, e);
                       }}});
}

constexpr octet_conv_algorithm kAlgorithms[] = {OCTET_CONV_DIRECT,       OCTET_CONV_IM2COL,
                                                OCTET_CONV_DEPTHWISE,    OCTET_CONV_WINOGRAD_2X2,
                                                OCTET_CONV_WINOGRAD_4X4, OCTET_CONV_GROUPED};

TEST(LargeCounts, OfConvolutions) {
  for (const octet_conv_algorithm algorithm : kAlgorithms) {
    SCOPED_TRACE(octet_conv_algorithm_name(algorithm));
    Layer l(algorithm);
    std::vector<Count> counts = l.counts_of(&l.desc.shape, false);
    counts.insert(counts.end(),
                  {{"packed_bytes", &l.desc.packed_bytes},
                   {"scale_count", &l.desc.epilogue.scale_count, false, true},
                   {"multiplier_count", &l.desc.epilogue.multiplier_count, false, true},
                   {"factor_count", &l.desc.epilogue.factor_count, false, true},
                   {"batch of the workspace", &l.batch},
                   {"in_h of the workspace", &l.in_h},
                   {"in_w of the workspace", &l.in_w},
                   {"concurrency of the workspace", &l.tasks}});
    try_counts(counts, {{"use", [&](bool, octet_error* e) { return l.use(e); }}});
  }
}

TEST(LargeCounts, OfRunsOfConvolutions) {
  for (const octet_conv_algorithm algorithm : kAlgorithms) {
    SCOPED_TRACE(octet_conv_algorithm_name(algorithm));
    Layer l(algorithm);
    octet_conv2d_args& a = l.args;
    a.pads = &l.pads;
    octet_conv2d* conv = nullptr;
    ASSERT_EQ(octet_conv2d_create(&l.desc, &conv, nullptr), OCTET_OK);
    const Traffic traffic;
    try_counts({{"batch", &a.batch},
                {"in_h", &a.in_h},
                {"in_w", &a.in_w},
                {"out_h", &a.out_h},
                {"out_w", &a.out_w},
                {"lhs_stride", &a.lhs_stride, true},
                {"dst_stride", &a.dst_stride, true},
                {"residual_stride", &a.residual_stride, true},
                {"workspace_bytes", &a.workspace_bytes},
                {"concurrency", &a.concurrency},
                {"pads.top", &l.pads.top},
                {"pads.bottom", &l.pads.bottom},
                {"pads.left", &l.pads.left},
                {"pads.right", &l.pads.right}},
               {{"run",
                 [&](bool has_memory, octet_error* e) {
                   return has_memory ? octet_conv2d_run(conv, &a, e) : OCTET_OK;
                 }},
                {"traffic", [&](bool has_memory, octet_error* e) {
                   return has_memory ? octet_traffic_conv2d(traffic.get, conv, &a, e) : OCTET_OK;
                 }}});
    octet_conv2d_destroy(conv);
  }
}

TEST(LargeCounts, OfTuning) {
  octet_tuning* tuning = nullptr;
  ASSERT_EQ(octet_tuning_create(&tuning, nullptr), OCTET_OK);
  double now = 0;
  octet_tune_options options = quick(&now);
  octet_tune_result result = OCTET_TUNE_RESULT_INIT;
  Product p(false);
  p.desc.epilogue.residual = {};
  // Tuning makes its own operands, of the declared sizes
  try_counts({{"concurrency", &options.concurrency},
              {"m_max", &p.desc.m_max, true},
              {"n", &p.desc.n, true},
              {"k", &p.desc.k, true},
              {"batch_max", &p.desc.batch_max, true}},
             {{"tune_gemm",
               [&](bool has_memory, octet_error* e) {
                 return has_memory ? octet_tune_gemm(&p.desc, &options, tuning, &result, e)
                                   : OCTET_OK;
               }}},
             false);
  Layer l(OCTET_CONV_AUTO);
  octet_conv2d_shape& s = l.filter.shape;
  std::vector<Count> counts = {{"concurrency", &options.concurrency}};
  for (const Count& count : l.counts_of(&s, true)) {
    counts.push_back(count);
    counts.back().promises = true;
  }
  try_counts(counts,
             {{"tune_conv2d",
               [&](bool has_memory, octet_error* e) {
                 l.desc.shape = s;
                 return has_memory
                            ? octet_tune_conv2d(&l.filter, &l.desc, &options, tuning, &result, e)
                            : OCTET_OK;
               }}},
             false);
  octet_tuning_destroy(tuning);
}

TEST(LargeCounts, OfSparseWeights) {
  Product p(true);
  octet_rhs_desc& w = p.weights;
  w.order = OCTET_NK, w.batch = 1, w.k = 64, w.n = 16;
  octet_sparse_stream_format format = OCTET_SPARSE_STREAM_FORMAT_INIT;
  format.chunk = 64, format.alignment = 4;
  size_t bytes = 0, weights = 0, n = w.n, k = w.k, stride = 64, values_bytes = 512,
         metadata_bytes = 128;
  octet_error error = {};
  ASSERT_EQ(octet_sparse_export_stream_size(&w, &format, &bytes, &error), OCTET_OK)
      << error.message;
  std::vector<uint8_t> stream(bytes), values(512), metadata(128), out(1024);
  const size_t stream_bytes = bytes;
  size_t given = bytes;
  const auto reading = [](auto call) {
    return [call](bool has_memory, octet_error* e) { return has_memory ? call(e) : OCTET_OK; };
  };
  const std::vector<Count> rhs = {{"n", &w.n, true},         {"k", &w.k, true},
                                  {"batch", &w.batch, true}, {"stride", &w.stride, true},
                                  {"chunk", &format.chunk},  {"alignment", &format.alignment},
                                  {"m_max", &w.m_max}};
  try_counts(
      rhs, {{"export_stream_size", reading([&](octet_error* e) {
               return octet_sparse_export_stream_size(&w, &format, &bytes, e);
             })},
            {"export_stream", reading([&](octet_error* e) {
               return octet_sparse_export_stream(&w, &format, stream.data(), stream_bytes, e);
             })},
            {"export_indexed", reading([&](octet_error* e) {
               return octet_sparse_export_indexed(&w, OCTET_METADATA_ROWS, values.data(),
                                                  values_bytes, metadata.data(), metadata_bytes, e);
             })}});
  try_counts({{"stream_bytes", &given, true},
              {"n", &n},
              {"k", &k},
              {"stride", &stride, true},
              {"chunk", &format.chunk},
              {"alignment", &format.alignment}},
             {{"import_stream", reading([&](octet_error* e) {
                 return octet_sparse_import_stream(&format, stream.data(), given, n, k, out.data(),
                                                   stride, e);
               })}});
  try_counts({{"stream_bytes", &given, true}}, {{"import_stream_size", reading([&](octet_error* e) {
                                                   return octet_sparse_import_stream_size(
                                                       &format, stream.data(), given, &weights, e);
                                                 })}});
  try_counts({{"n", &n},
              {"k", &k},
              {"stride", &stride, true},
              {"values_bytes", &values_bytes},
              {"metadata_bytes", &metadata_bytes}},
             {{"import_indexed", reading([&](octet_error* e) {
                 return octet_sparse_import_indexed(OCTET_METADATA_CUTLASS, n, k, values.data(),
                                                    values_bytes, metadata.data(), metadata_bytes,
                                                    out.data(), stride, e);
               })}});
}

TEST(LargeCounts, OfValues) {
  float values[2] = {1, 2}, scale = 0;
  int8_t quantized[2] = {};
  int32_t zero_point = 0, multipliers[2] = {}, shifts[2] = {};
  size_t count = 2;
  const auto reading = [](auto call) {
    return [call](bool has_memory, octet_error* e) { return has_memory ? call(e) : OCTET_OK; };
  };
  try_counts({{"count", &count, true}},
             {{"tflite_multipliers", reading([&](octet_error* e) {
                 return octet_tflite_multipliers(OCTET_TFLITE_CONVOLUTION, OCTET_S8, 1, values,
                                                 count, 8, multipliers, shifts, e);
               })},
              {"dynamic_quantize", reading([&](octet_error* e) {
                 return octet_dynamic_quantize(OCTET_LHS_SYMMETRIC, values, count, quantized,
                                               &scale, &zero_point, e);
               })},
              {"quantize", reading([&](octet_error* e) {
                 return octet_quantize(values, count, 1, 0, OCTET_S8, quantized, e);
               })},
              {"dequantize", reading([&](octet_error* e) {
                 return octet_dequantize(quantized, OCTET_S8, count, 1, 0, values, e);
               })}});
}

}  // namespace
}  // namespace octet_test
