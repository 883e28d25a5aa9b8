// SPDX-License-Identifier: Apache-2.0
// Checks where operands of a batch may lie: random layouts of pointer arrays are accepted or
// refused as a map of every byte says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "octet/octet.hpp"
#include "support/draw.h"

namespace octet_test {
namespace {

constexpr size_t kN = 3, kK = 5;

// A product of `batch` matrices whose operands are pieces of one arena.
struct Layout {
  size_t m, batch, dst_stride, lhs_stride;
  std::vector<size_t> lhs, dst, residual;  // offsets
  size_t workspace, workspace_bytes;

  size_t lhs_span() const { return (m - 1) * lhs_stride + kK; }
  size_t dst_span() const { return (m - 1) * dst_stride + kN; }
};

enum Owner : uint8_t { kNobody, kInput, kWorkspace };

// As octet.h says, matrices of inputs count from first to last byte; outputs count row by row among
// themselves, and from first to last byte against all other operands.
bool legal(const Layout& l, size_t arena) {
  std::vector<Owner> owner(arena, kNobody);
  for (const size_t at : l.lhs) std::fill_n(&owner[at], l.lhs_span(), kInput);
  const bool in_place = l.residual == l.dst;
  if (!in_place)
    for (const size_t at : l.residual) std::fill_n(&owner[at], l.dst_span(), kInput);
  for (size_t i = 0; i < l.workspace_bytes; ++i) {
    if (owner[l.workspace + i] != kNobody) return false;
    owner[l.workspace + i] = kWorkspace;
  }
  std::vector<bool> written(arena, false);
  for (const size_t at : l.dst) {
    for (size_t i = 0; i < l.dst_span(); ++i)
      if (owner[at + i] != kNobody) return false;
    for (size_t row = 0; row < l.m; ++row)
      for (size_t j = 0; j < kN; ++j) {
        if (written[at + row * l.dst_stride + j]) return false;
        written[at + row * l.dst_stride + j] = true;
      }
  }
  return true;
}

struct Product {
  octet::PackedWeights packed;
  octet::Gemm gemm;
};

Product make(size_t m, size_t batch, bool residual) {
  const std::vector<int8_t> weights(kN * kK, 1);
  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8, rhs.n = kN, rhs.k = kK, rhs.data = weights.data();
  auto packed = octet::PackedWeights::pack(rhs);
  auto desc = octet::make<octet_gemm_desc>();
  const float scale = 1;
  desc.m_max = m, desc.batch_max = batch, desc.n = kN, desc.k = kK;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_U8;
  desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
  if (residual) desc.epilogue.residual.type = OCTET_U8, desc.epilogue.residual.scale = 1;
  packed->attach(desc);
  auto gemm = octet::Gemm::create(desc);
  return {std::move(*packed), std::move(*gemm)};
}

template <typename T>
std::vector<T*> pointers(uint8_t* arena, const std::vector<size_t>& offsets) {
  std::vector<T*> out;
  for (const size_t offset : offsets) out.push_back(arena + offset);
  return out;
}

// Runs the product and returns the status; an accepted run must be right, and a refused one must
// write nothing.
octet_status run(const Product& product, const Layout& l, std::vector<uint8_t>* arena,
                 octet_error* error) {
  uint8_t* const data = arena->data();
  const auto lhs = pointers<const void>(data, l.lhs),
             residual = pointers<const void>(data, l.residual);
  const auto dst = pointers<void>(data, l.dst);
  const std::vector<uint8_t> before = *arena;
  auto args = octet::make<octet_gemm_args>();
  args.m = l.m, args.batch = l.batch;
  args.lhs_array = lhs.data(), args.lhs_stride = l.lhs_stride;
  args.dst_array = dst.data(), args.dst_stride = l.dst_stride;
  if (!residual.empty()) args.residual_array = residual.data(), args.residual_stride = l.dst_stride;
  args.workspace = data + l.workspace, args.workspace_bytes = l.workspace_bytes;
  const octet_status status = octet_gemm_run(product.gemm.get(), &args, error);
  if (status != OCTET_OK) {
    std::memcpy(data + l.workspace, &before[l.workspace], l.workspace_bytes);  // anybody's guess
    EXPECT_TRUE(before == *arena) << error->message;
    return status;
  }
  for (size_t b = 0; b < l.batch; ++b)
    for (size_t row = 0; row < l.m; ++row)
      for (size_t j = 0; j < kN; ++j) {
        int sum = residual.empty() ? 0 : before[l.residual[b] + row * l.dst_stride + j];
        for (size_t k = 0; k < kK; ++k) sum += before[l.lhs[b] + row * l.lhs_stride + k];
        EXPECT_EQ((*arena)[l.dst[b] + row * l.dst_stride + j], sum) << "matrix " << b;
      }
  return status;
}

std::vector<size_t> shuffled(Draw* random, std::vector<size_t> values) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random->below(i)]);
  return values;
}

// Slots in rows of a plane, as heads lie side by side in a tensor, then a push here and there.
Layout draw(Draw* random, size_t m, size_t batch, bool residual, size_t workspace_bytes,
            size_t* arena) {
  Layout l = {m, batch, 0, kK + random->below(3), {}, {}, {}, 0, workspace_bytes};
  const size_t across = 1 + random->below(5);
  l.dst_stride = across * kN + random->below(3);
  const size_t plane = l.m * l.dst_stride;
  std::vector<size_t> cells;
  for (size_t i = 0; i < batch + 3; ++i)
    cells.push_back(i / across * plane + i % across * kN + (i % across ? random->below(2) : 0));
  const size_t outputs = cells.back() + l.dst_span() + l.dst_stride;
  cells = shuffled(random, cells);
  l.dst.assign(cells.begin(), cells.begin() + (ptrdiff_t)batch);
  // The other operands lie behind, or between where rows of outputs end.
  size_t end = outputs;
  std::vector<size_t> inputs;
  for (size_t i = 0; i < batch; ++i, end += l.lhs_span() + random->below(2)) inputs.push_back(end);
  l.lhs = shuffled(random, inputs);
  if (residual) {
    if (random->one_in(2)) {
      l.residual = l.dst;
    } else {
      for (size_t i = 0; i < batch; ++i, end += l.dst_span()) l.residual.push_back(end);
      l.residual = shuffled(random, l.residual);
    }
  }
  l.workspace = (end + 63) / 64 * 64;
  end = l.workspace + workspace_bytes;
  if (random->one_in(2)) {  // something is pushed to where it may or may not be
    std::vector<size_t>* const lists[] = {&l.dst, &l.lhs, &l.residual};
    std::vector<size_t>& pushed = *lists[random->below(residual ? 3 : 2)];
    size_t& one = pushed[random->below(batch)];
    const size_t push = 1 + random->below(2 * kN);
    one = random->one_in(2) || one < push ? one + push : one - push;
  }
  *arena = end + plane + l.lhs_span() + 64;
  return l;
}

TEST(Overlap, DrawnLayouts) {
  size_t accepted = 0, refused = 0;
  for (const size_t batch : {1, 2, 3, 7, 20, 63, 64, 65, 130})
    for (const size_t m : {1, 2, 5})
      for (const bool residual : {false, true}) {
        const Product product = make(m, batch, residual);
        size_t workspace_bytes = 0;
        ASSERT_EQ(octet_gemm_workspace(product.gemm.get(), m, 1, &workspace_bytes, nullptr),
                  OCTET_OK);
        Draw random((uint32_t)(batch * 31 + m * 7 + residual));
        for (int i = 0; i < 60; ++i) {
          size_t bytes;
          const Layout layout = draw(&random, m, batch, residual, workspace_bytes, &bytes);
          std::vector<uint8_t> memory(bytes + 64);
          for (uint8_t& byte : memory) byte = (uint8_t)random.below(20);
          // The workspace is aligned, so the arena begins at a multiple of 64.
          const size_t skip = (64 - (uintptr_t)memory.data() % 64) % 64;
          Layout placed = layout;
          for (auto* list : {&placed.lhs, &placed.dst, &placed.residual})
            for (size_t& offset : *list) offset += skip;
          placed.workspace += skip;
          const bool fine = legal(placed, memory.size());
          ++(fine ? accepted : refused);
          octet_error error = {};
          ASSERT_EQ(run(product, placed, &memory, &error), fine ? OCTET_OK : OCTET_OVERLAP)
              << error.message << "; batch " << batch << ", m " << m << ", residual " << residual
              << ", draw " << i;
        }
      }
  EXPECT_GT(accepted, 500u);
  EXPECT_GT(refused, 500u);
}

TEST(Overlap, TwoOutputsAtEveryDistance) {
  for (const size_t m : {1, 2, 5}) {
    const Product product = make(m, 2, false);
    size_t workspace_bytes = 0;
    ASSERT_EQ(octet_gemm_workspace(product.gemm.get(), m, 1, &workspace_bytes, nullptr), OCTET_OK);
    for (const size_t stride : {kN, kN + 1, 2 * kN - 1, 2 * kN, 3 * kN + 2})
      for (size_t distance = 0; distance <= (m + 1) * stride; ++distance)
        for (const bool swapped : {false, true}) {
          Layout l = {m, 2, stride, kK, {}, {0, distance}, {}, 0, workspace_bytes};
          if (swapped) std::swap(l.dst[0], l.dst[1]);
          const size_t end = distance + l.dst_span();
          l.lhs = {end, end + l.lhs_span()};
          std::vector<uint8_t> memory(end + 2 * l.lhs_span() + 128 + workspace_bytes, 3);
          const uintptr_t free = (uintptr_t)memory.data() + end + 2 * l.lhs_span();
          l.workspace = end + 2 * l.lhs_span() + (64 - free % 64) % 64;
          octet_error error = {};
          const bool fine = legal(l, memory.size());
          ASSERT_EQ(run(product, l, &memory, &error), fine ? OCTET_OK : OCTET_OVERLAP)
              << error.message << "; m " << m << ", stride " << stride << ", distance " << distance;
        }
  }
}

// A single operand may lie between the matrices of a batch, without touching one.
TEST(Overlap, BetweenMatrices) {
  constexpr size_t kM = 2, kBatch = 2, kFar = 4096;
  alignas(64) static uint8_t arena[4 * kFar];
  const std::vector<int8_t> weights(kN * kK, 1);
  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8, rhs.n = kN, rhs.k = kK, rhs.data = weights.data();
  size_t blob_bytes = 0;
  ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &blob_bytes, nullptr), OCTET_OK);
  ASSERT_LT(blob_bytes, kFar);
  for (const char* const between : {"workspace", "packed", "zero points", "scales", "lhs_array"})
    for (const bool outputs : {false, true}) {
      SCOPED_TRACE(std::string(between) + (outputs ? " between outputs" : " between inputs"));
      uint8_t* const middle = arena + kFar;
      uint8_t* const elsewhere = arena + 3 * kFar;
      const auto place = [&](const char* what) { return std::strcmp(what, between) == 0; };
      alignas(64) static uint8_t own_blob[kFar];
      uint8_t* const blob = place("packed") ? middle : own_blob;
      ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob, blob_bytes, nullptr), OCTET_OK);
      auto desc = octet::make<octet_gemm_desc>();
      const float scale = 1;
      desc.m_max = kM, desc.batch_max = kBatch, desc.n = kN, desc.k = kK;
      desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_U8;
      desc.lhs_quant = OCTET_LHS_PER_TENSOR;
      desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
      desc.packed = blob, desc.packed_bytes = blob_bytes;
      octet_gemm* gemm = nullptr;
      ASSERT_EQ(octet_gemm_create(&desc, &gemm, nullptr), OCTET_OK);
      size_t bytes = 0;
      ASSERT_EQ(octet_gemm_workspace(gemm, kM, 1, &bytes, nullptr), OCTET_OK);
      std::vector<uint8_t> far_workspace(bytes + 64);
      auto args = octet::make<octet_gemm_args>();
      args.m = kM, args.batch = kBatch;
      const size_t skip = (64 - (uintptr_t)far_workspace.data() % 64) % 64;
      args.workspace = place("workspace") ? middle : far_workspace.data() + skip;
      args.workspace_bytes = place("workspace") ? kFar / 2 : bytes;
      int32_t own_zero_points[kBatch] = {};
      float own_scales[kBatch] = {1, 1};
      const void* own_lhs[kBatch];
      args.lhs_zero_points =
          place("zero points") ? new (middle) int32_t[kBatch]() : own_zero_points;
      args.lhs_scales = place("scales") ? new (middle) float[kBatch]{1, 1} : own_scales;
      const void** const lhs = place("lhs_array") ? new (middle) const void*[kBatch] : own_lhs;
      lhs[0] = outputs ? elsewhere : arena;
      lhs[1] = outputs ? elsewhere + 64 : arena + 2 * kFar;
      void* const dst[kBatch] = {outputs ? arena : elsewhere,
                                 outputs ? arena + 2 * kFar : elsewhere + 64};
      args.lhs_array = lhs, args.dst_array = dst;
      octet_error error = {};
      EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
      octet_gemm_destroy(gemm);
    }
}

}  // namespace
}  // namespace octet_test
