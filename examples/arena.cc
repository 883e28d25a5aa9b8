// SPDX-License-Identifier: Apache-2.0
// Two fully connected layers in one piece of memory of the program's: packed weights, objects,
// activations and workspace lie in an arena, which is closed before the first run. Plain loops
// check every value.
#include <octet/octet.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kBatch = 4, kIn = 64, kHidden = 48, kOut = 10;

// Hands out memory from its beginning on, and nothing after close. Octet's objects ask it by the
// functions of octet_allocator.
class Arena {
 public:
  void* take(size_t bytes, size_t alignment) {
    const size_t begin = (used_ + alignment - 1) / alignment * alignment;
    if (closed_ || alignment > OCTET_ALIGNMENT || bytes > sizeof memory_ - begin) return nullptr;
    used_ = begin + bytes;
    return memory_ + begin;
  }
  void close() { closed_ = true; }
  size_t used() const { return used_; }
  octet_allocator allocator() {
    return {[](void* arena, size_t bytes, size_t alignment) {
              return static_cast<Arena*>(arena)->take(bytes, alignment);
            },
            [](void*, void*) {}, this};  // nothing is given back
  }

 private:
  alignas(OCTET_ALIGNMENT) unsigned char memory_[1 << 17];
  size_t used_ = 0;
  bool closed_ = false;
};

Arena arena;

void check(octet_status status, const char* message) {
  if (status == OCTET_OK) return;
  std::fprintf(stderr, "%s: %s\n", octet_status_name(status), message);
  std::exit(EXIT_FAILURE);
}

void* take(size_t bytes) {
  void* const memory = arena.take(bytes, OCTET_ALIGNMENT);
  check(memory ? OCTET_OK : OCTET_OUT_OF_MEMORY, "the arena is full");
  return memory;
}

// A layer whose weights, n x k as frameworks store them, are packed into the arena.
octet::Gemm make_layer(size_t n, size_t k, const int8_t* weights, const float* scale) {
  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = n, rhs.k = k, rhs.data = weights;
  const auto bytes = octet::PackedWeights::packed_bytes(rhs);
  check(bytes.status(), bytes.error().message);
  const auto packed = octet::PackedWeights::pack_into(take(*bytes), *bytes, rhs);
  check(packed.status(), packed.error().message);

  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = kBatch, desc.n = n, desc.k = k;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8;
  desc.dst_type = scale ? OCTET_U8 : OCTET_S32;  // without a scale: the sums
  desc.epilogue.scales = scale, desc.epilogue.scale_count = scale ? 1 : 0;
  packed->attach(desc);
  desc.allocator = arena.allocator();
  auto gemm = octet::Gemm::create(desc);
  check(gemm.status(), gemm.error().message);
  return std::move(*gemm);
}

// One of the layer's sums, by definition.
int32_t sum_of(const uint8_t* row, const int8_t* weights, size_t k) {
  int32_t sum = 0;
  for (size_t i = 0; i < k; ++i) sum += row[i] * weights[i];
  return sum;
}

void run(const octet::Gemm& gemm, const void* lhs, void* dst, octet::Workspace& workspace) {
  auto args = octet::make<octet_gemm_args>();
  args.m = kBatch, args.lhs = lhs, args.dst = dst;
  workspace.attach(args);
  octet_error error;
  check(gemm.run(args, &error), error.message);
}

}  // namespace

int main() {
  static int8_t hidden_weights[kHidden * kIn], out_weights[kOut * kHidden];
  for (size_t i = 0; i < sizeof hidden_weights; ++i)
    hidden_weights[i] = static_cast<int8_t>(i * 37 + i / 9);
  for (size_t i = 0; i < sizeof out_weights; ++i)
    out_weights[i] = static_cast<int8_t>(i * 53 + i / 7);
  const float scale = 1.0f / 512;  // input scale * weight scale / output scale
  const octet::Gemm hidden = make_layer(kHidden, kIn, hidden_weights, &scale);
  const octet::Gemm out = make_layer(kOut, kHidden, out_weights, nullptr);

  // Layers run one after the other: one workspace serves both.
  size_t bytes = 0;
  for (const octet::Gemm* gemm : {&hidden, &out}) {
    const auto needed = gemm->workspace_bytes(kBatch);
    check(needed.status(), needed.error().message);
    bytes = std::max(bytes, *needed);
  }
  auto workspace = octet::Workspace::borrow(take(bytes), bytes);
  auto* const input = static_cast<uint8_t*>(take(kBatch * kIn));
  auto* const activations = static_cast<uint8_t*>(take(kBatch * kHidden));
  auto* const sums = static_cast<int32_t*>(take(kBatch * kOut * sizeof(int32_t)));
  arena.close();

  size_t wrong = 0;
  for (size_t frame = 0; frame < 3; ++frame) {
    for (size_t i = 0; i < kBatch * kIn; ++i) input[i] = static_cast<uint8_t>(i * 11 + frame * 101);
    run(hidden, input, activations, workspace);
    run(out, activations, sums, workspace);
    for (size_t m = 0; m < kBatch; ++m) {
      uint8_t row[kHidden];
      for (size_t n = 0; n < kHidden; ++n) {
        const float value =
            std::nearbyint(sum_of(input + m * kIn, hidden_weights + n * kIn, kIn) * scale);
        row[n] = static_cast<uint8_t>(std::min(std::max(value, 0.0f), 255.0f));
      }
      for (size_t n = 0; n < kOut; ++n)
        wrong += sums[m * kOut + n] != sum_of(row, out_weights + n * kHidden, kHidden);
    }
  }
  std::printf("%zu bytes of the arena are used: %zu values are wrong\n", arena.used(), wrong);
  return wrong != 0;
}
