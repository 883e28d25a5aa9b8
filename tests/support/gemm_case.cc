// SPDX-License-Identifier: Apache-2.0
// Draws, computes and runs a GemmCase.
#include "support/gemm_case.h"

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <ostream>
#include <random>
#include <thread>

#include "support/reference.h"
#include "support/sparse.h"

namespace octet_test {
namespace {

Placement placed(const GemmCase& c, size_t batch, size_t rows, size_t cols, size_t extra) {
  const size_t pad = c.padded ? extra : 0;
  if (c.batching == Batching::kInterleaved) return {rows, cols, batch, batch * cols + pad, cols};
  return {rows, cols, batch, cols + pad, rows * (cols + pad) + pad};
}

template <typename T, typename Value>
void scatter(const Placement& at, const Guarded& memory, const std::vector<Value>& values) {
  T* const out = memory.data<T>();
  size_t next = 0;
  for (size_t b = 0; b < at.batch; ++b)
    for (size_t i = 0; i < at.rows; ++i)
      for (size_t j = 0; j < at.cols; ++j) out[at.at(b, i, j)] = (T)values[next++];
}

// Of 4 bits, element i is half of byte i / 2, the low one first.
void scatter_nibbles(const Placement& at, const Guarded& memory,
                     const std::vector<int32_t>& values) {
  size_t next = 0;
  for (size_t b = 0; b < at.batch; ++b)
    for (size_t i = 0; i < at.rows; ++i)
      for (size_t j = 0; j < at.cols; ++j) {
        const size_t element = at.at(b, i, j), shift = element % 2 * 4;
        uint8_t& two = memory.data()[element / 2];
        two = (uint8_t)((two & ~(15 << shift)) | (values[next++] & 15) << shift);
      }
}

// Pointers are in reverse order: matrix b of the batch is the b-th from the end in memory.
template <typename Pointer>
const Pointer* pointers(std::vector<Pointer>* array, const Guarded& memory, const Placement& at,
                        size_t element) {
  for (size_t b = 0; b < at.batch; ++b)
    array->push_back(memory.data() + b * at.batch_stride * element);
  return array->data();
}

std::vector<int32_t> draw_data(Random* random, size_t count, int32_t least, int32_t most, Data data,
                               bool low) {
  if (data == Data::kRandom || data == Data::kNeverLeast)
    return draw_integers(random, count, least, most);
  if (data != Data::kEnds) return std::vector<int32_t>(count, low ? least : most);
  std::vector<int32_t> values = draw_integers(random, count, 0, 1);
  for (int32_t& value : values) value = value ? most : least;
  return values;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const GemmCase& c) {
  static const char* const kData[] = {"random",    "least*least", "least*most",     "most*least",
                                      "most*most", "ends",        "never the least"};
  out << (c.kernel ? c.kernel : "best kernel") << " within " << octet_isa_name(c.max_isa) << ' '
      << c.m << 'x' << c.n << 'x' << c.k;
  if (c.m_declared | c.n_declared | c.k_declared)
    out << " of " << c.m_declared << 'x' << c.n_declared << 'x' << c.k_declared;
  if (c.batch > 1)
    out << " batch " << c.batch
        << (c.batching == Batching::kStrided  ? " strided"
            : c.batching == Batching::kArrays ? " arrays"
                                              : " interleaved");
  out << ' ' << name_of(c.lhs) << '*' << name_of(c.rhs) << (const EpilogueCase&)c << ", data "
      << kData[(int)c.data] << ", seed " << c.seed;
  if (c.lhs_quant) out << ", lhs quant " << c.lhs_quant;
  if (c.lhs_zero_point) out << ", lhs zp " << c.lhs_zero_point;
  if (c.rhs_zero_points != ZeroPoints::kNone)
    out << ", rhs zp per " << (c.rhs_zero_points == ZeroPoints::kTensor ? "tensor" : "channel");
  if (c.order == OCTET_NK) out << ", NK";
  if (c.runtime_rhs) out << ", run-time rhs";
  if (c.shared_rhs) out << ", shared rhs";
  if (c.sparsity) out << ", sparsity " << c.sparsity;
  if (c.padded) out << ", padded";
  if (c.concurrency > 1) out << ", concurrency " << c.concurrency;
  return out;
}

Gemm::Gemm(const GemmCase& c, Side side, octet_allocator allocator) : c_(c), side_(side) {
  const MicroKernel* kernel = c_.kernel ? octet::find(octet::int8_kernels(), c_.kernel) : nullptr;
  if (kernel && kernel->rhs_layout.sparse()) c_.sparsity = OCTET_SPARSE_2_4;
  generate();
  place();
  compute();
  status_ = c_.runtime_rhs ? OCTET_OK : pack();
  if (status_ == OCTET_OK) status_ = create(allocator);
  if (status_ == OCTET_OK) prepare_workspace(c_.m, c_.concurrency);
}

void Gemm::generate() {
  Random random(c_.seed * 2654435761u + (uint32_t)(c_.m * 131 + c_.n * 17 + c_.k));
  const size_t matrices = c_.shared_rhs ? 1 : c_.batch;

  if (c_.lhs == OCTET_F32) {
    std::normal_distribution<float> normal(0.3f, 2.0f);
    for (size_t i = 0; i < c_.batch * c_.m * c_.k; ++i) ops_.lhs_f32.push_back(normal(random));
  } else {
    const bool low = c_.data == Data::kLeastLeast || c_.data == Data::kLeastMost;
    ops_.lhs =
        draw_data(&random, c_.batch * c_.m * c_.k, least(c_.lhs), most(c_.lhs), c_.data, low);
  }
  // A kernel that is exact only without -128 is tested without it.
  const MicroKernel* kernel = c_.kernel ? octet::find(octet::int8_kernels(), c_.kernel) : nullptr;
  const bool never_least =
      c_.data == Data::kNeverLeast || (kernel && kernel->is(octet::kNoInt8Min));
  const bool low = c_.data == Data::kLeastLeast || c_.data == Data::kMostLeast;
  ops_.rhs = draw_data(&random, matrices * c_.k * c_.n, least(c_.rhs) + never_least, most(c_.rhs),
                       c_.data, low);
  for (size_t b = 0; c_.channels && b < matrices; ++b)
    for (size_t n = 0; n < c_.n; ++n) {
      const std::vector<int32_t> weights =
          weights_of((*c_.channels)[n % c_.channels->size()], c_.k, n + b);
      for (size_t k = 0; k < c_.k; ++k) ops_.rhs[(b * c_.k + k) * c_.n + n] = weights[k];
    }
  if (c_.rhs_zero_points != ZeroPoints::kNone) {
    ops_.rhs_zero_points = draw_integers(
        &random, c_.rhs_zero_points == ZeroPoints::kTensor ? 1 : c_.n, least(c_.rhs), most(c_.rhs));
    if (c_.data == Data::kEnds)
      ops_.rhs_zero_points[0] = c_.seed % 2 ? least(c_.rhs) : most(c_.rhs);
  }
  for (size_t b = 0; (c_.sparsity || c_.made_sparse) && b < matrices; ++b)
    for (size_t n = 0; n < c_.n; ++n) {
      const std::vector<int32_t>& zeros = ops_.rhs_zero_points;
      const int32_t zero = zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : n];
      int32_t* const column = &ops_.rhs[b * c_.k * c_.n + n];
      make_sparse(column, c_.k, c_.n, zero, c_.seed + n);
      // The packed value is the distance
      for (size_t k = 0; never_least && k < c_.k; ++k)
        if (column[k * c_.n] - zero == -128) ++column[k * c_.n];
    }

  const bool per_row = c_.lhs_quant == OCTET_LHS_PER_ROW;
  if (per_row || c_.lhs_quant == OCTET_LHS_PER_TENSOR) {
    const size_t count = c_.batch * (per_row ? c_.m : 1);
    ops_.lhs_zero_points = draw_integers(&random, count, least(c_.lhs), most(c_.lhs));
    for (size_t i = 0; i < count && c_.dst != OCTET_S32; ++i)
      ops_.lhs_scales.push_back(0.25f + (float)(i % 7) * 0.3f);
  }
  const double magnitude =
      c_.data == Data::kRandom ? 5000 * std::sqrt((double)c_.k) : 16000.0 * (double)c_.k;
  ops_.epilogue = Epilogue(c_, c_.n, (c_.lhs == OCTET_F32 ? 2 : 100) / magnitude, &random);
  if (c_.residual)
    ops_.residual =
        draw_integers(&random, c_.batch * c_.m * c_.n, least(c_.residual), most(c_.residual));
}

void Gemm::place() {
  lhs_at_ = placed(c_, c_.batch, c_.m, c_.k, 5);
  dst_at_ = placed(c_, c_.batch, c_.m, c_.n, 3);
  residual_at_ = c_.residual_is_dst ? dst_at_ : placed(c_, c_.batch, c_.m, c_.n, 7);
  const bool kn = c_.order == OCTET_KN;
  rhs_at_ = placed(c_, c_.shared_rhs ? 1 : c_.batch, kn ? c_.k : c_.n, kn ? c_.n : c_.k, 9);

  const size_t lhs_element = element_bytes(c_.lhs), dst_element = element_bytes(c_.dst);
  lhs_ = Guarded(lhs_at_.elements() * lhs_element, side_, lhs_element);
  rhs_ = Guarded(is_4bit(c_.rhs) ? (rhs_at_.elements() + 1) / 2 : rhs_at_.elements(), side_);
  dst_ = Guarded(dst_at_.elements() * dst_element, side_, dst_element);
  if (c_.lhs == OCTET_F32)
    scatter<float>(lhs_at_, lhs_, ops_.lhs_f32);
  else
    scatter<uint8_t>(lhs_at_, lhs_, ops_.lhs);
  std::vector<int32_t> stored = ops_.rhs;
  if (!kn)
    for (size_t b = 0; b < rhs_at_.batch; ++b)
      for (size_t k = 0; k < c_.k; ++k)
        for (size_t n = 0; n < c_.n; ++n)
          stored[(b * c_.n + n) * c_.k + k] = ops_.rhs[(b * c_.k + k) * c_.n + n];
  if (is_4bit(c_.rhs))
    scatter_nibbles(rhs_at_, rhs_, stored);
  else
    scatter<uint8_t>(rhs_at_, rhs_, stored);
  lhs_zero_points_ = Guarded(ops_.lhs_zero_points, side_);
  lhs_scales_ = Guarded(ops_.lhs_scales, side_);
  rhs_zero_points_ = Guarded(ops_.rhs_zero_points, side_);
  if (c_.residual) residual_ = Guarded(residual_at_.elements(), side_);
  clear_dst();

  args_.m = c_.m;
  args_.batch = c_.batch;
  if (c_.batching == Batching::kArrays) {
    args_.lhs_array = pointers(&lhs_array_, lhs_, lhs_at_, lhs_element);
    args_.dst_array = pointers(&dst_array_, dst_, dst_at_, dst_element);
    if (c_.residual)
      args_.residual_array =
          pointers(&residual_array_, c_.residual_is_dst ? dst_ : residual_, residual_at_, 1);
  } else {
    args_.lhs = lhs_.data();
    args_.dst = dst_.data();
    if (c_.residual) args_.residual = c_.residual_is_dst ? dst_.data() : residual_.data();
  }
  // Dense operands leave the strides to the library
  const bool dense = !c_.padded && c_.batching != Batching::kInterleaved;
  if (!dense) {
    args_.lhs_stride = lhs_at_.stride, args_.lhs_batch_stride = lhs_at_.batch_stride;
    args_.dst_stride = dst_at_.stride, args_.dst_batch_stride = dst_at_.batch_stride;
    args_.residual_stride = residual_at_.stride,
    args_.residual_batch_stride = residual_at_.batch_stride;
  }
  if (!ops_.lhs_zero_points.empty()) args_.lhs_zero_points = lhs_zero_points_.data<int32_t>();
  if (!ops_.lhs_scales.empty()) args_.lhs_scales = lhs_scales_.data<float>();
  if (c_.runtime_rhs) {
    if (c_.n_declared) args_.n = c_.n;
    if (c_.k_declared) args_.k = c_.k;
    if (c_.batching == Batching::kArrays || c_.shared_rhs) {
      args_.rhs_array = pointers(&rhs_array_, rhs_, rhs_at_, 1);
      if (c_.shared_rhs) {
        rhs_array_.assign(c_.batch, rhs_.data());
        args_.rhs_array = rhs_array_.data();
      }
    } else {
      args_.rhs = rhs_.data();
    }
    if (!dense) args_.rhs_stride = rhs_at_.stride, args_.rhs_batch_stride = rhs_at_.batch_stride;
    if (!ops_.rhs_zero_points.empty()) args_.rhs_zero_points = rhs_zero_points_.data<int32_t>();
    args_.rhs_zero_point_count = ops_.rhs_zero_points.size();
  }
  if (c_.concurrency > 1) {
    args_.parallel_for = threaded_for;
    args_.concurrency = c_.concurrency;
  }
}

void Gemm::clear_dst() {
  std::memset(dst_.data(), Guarded::kUntouched, dst_.bytes());
  if (c_.residual)
    scatter<uint8_t>(residual_at_, c_.residual_is_dst ? dst_ : residual_, ops_.residual);
}

void Gemm::compute() {
  std::vector<int64_t> row(c_.n);
  std::vector<int32_t> plain_rhs = ops_.rhs;
  for (size_t i = 0; i < plain_rhs.size() && !ops_.rhs_zero_points.empty(); ++i)
    plain_rhs[i] -= ops_.rhs_zero_points[ops_.rhs_zero_points.size() == 1 ? 0 : i % c_.n];
  for (size_t b = 0; b < c_.batch; ++b)
    for (size_t i = 0; i < c_.m; ++i) {
      const size_t line = b * c_.m + i, quant = c_.lhs_quant == OCTET_LHS_PER_ROW ? line : b;
      QuantizedRow on_the_fly;
      const int32_t* lhs = c_.lhs == OCTET_F32 ? nullptr : &ops_.lhs[line * c_.k];
      int32_t lhs_zero_point =
          ops_.lhs_zero_points.empty() ? c_.lhs_zero_point : ops_.lhs_zero_points[quant];
      if (!lhs) {
        const float* from = &ops_.lhs_f32[line * c_.k];
        on_the_fly = c_.lhs_quant == OCTET_LHS_SYMMETRIC ? quantize_symmetric(from, c_.k)
                                                         : quantize_asymmetric(from, c_.k);
        lhs = on_the_fly.values.data();
        lhs_zero_point = on_the_fly.zero_point;
        ops_.lhs_scales.assign(c_.batch, on_the_fly.scale);
      }
      for (size_t n = 0; n < c_.n; ++n) row[n] = ops_.epilogue.bias(n);
      std::vector<int32_t> plain_lhs(lhs, lhs + c_.k);
      for (int32_t& l : plain_lhs) l -= lhs_zero_point;
      multiply_row(c_.n, c_.k, plain_lhs.data(), &plain_rhs[(c_.shared_rhs ? 0 : b) * c_.k * c_.n],
                   row.data());
      for (size_t n = 0; n < c_.n; ++n) {
        const float* const lhs_scale = ops_.lhs_scales.empty() ? nullptr : &ops_.lhs_scales[quant];
        expected_.push_back(ops_.epilogue.expected_output(
            n, lhs_scale, row[n], c_.residual ? ops_.residual[line * c_.n + n] : 0));
      }
    }
}

octet_status Gemm::pack() {
  // Forces the layout, too: kernels for tests only have their own.
  const ScopedEnvironment forced("OCTET_KERNEL", c_.kernel);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = c_.rhs;
  rhs.order = c_.order;
  rhs.n = c_.n;
  rhs.k = c_.k;
  rhs.batch = rhs_at_.batch;
  rhs.data = rhs_.data();
  rhs.stride = rhs_at_.stride;
  rhs.batch_stride = rhs_at_.batch_stride;
  rhs.zero_points = ops_.rhs_zero_points.empty() ? nullptr : rhs_zero_points_.data<int32_t>();
  rhs.zero_point_count = ops_.rhs_zero_points.size();
  rhs.sparsity = c_.sparsity;
  size_t bytes;
  if (const octet_status status = octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error_))
    return status;
  blob_ = Guarded(bytes, side_, OCTET_ALIGNMENT);
  if (const octet_status status = octet_pack(&rhs, OCTET_ISA_AUTO, blob_.data(), bytes, &error_))
    return status;
  rhs_ = Guarded();
  rhs_zero_points_ = Guarded();
  blob_.read_only();
  return octet_blob_verify(blob_.data(), bytes, &error_);
}

octet_status Gemm::create(octet_allocator allocator, const octet::Choice* choice) {
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.kernel = c_.kernel;
  d.max_isa = c_.max_isa;
  d.m_max = c_.m_declared ? c_.m_declared : c_.m;
  d.n = c_.n_declared ? c_.n_declared : c_.n;
  d.k = c_.k_declared ? c_.k_declared : c_.k;
  d.batch_max = c_.batch;
  d.lhs_type = c_.lhs;
  d.rhs_type = c_.rhs;
  d.lhs_quant = c_.lhs_quant;
  d.lhs_zero_point = c_.lhs_zero_point;
  if (!c_.runtime_rhs) {
    d.packed = blob_.data();
    d.packed_bytes = blob_.bytes();
  }
  d.rhs_order = c_.order;
  const EpilogueArrays arrays = ops_.epilogue.describe(side_, &d);
  d.allocator = allocator;
  return octet::create_gemm(&d, choice, &gemm_, &error_);
}

octet_status Gemm::choose(const octet::Choice& choice) {
  octet_gemm_destroy(gemm_);
  gemm_ = nullptr;
  status_ = create({}, &choice);
  if (status_ != OCTET_OK) return status_;
  prepare_workspace(c_.m, c_.concurrency);
  clear_dst();
  return status_;
}

void Gemm::prepare_workspace(size_t m, size_t concurrency) {
  size_t bytes = 0;
  status_ = octet_gemm_workspace(gemm_, m, concurrency, &bytes, &error_);
  workspace_ = bytes ? Guarded(bytes, side_, OCTET_ALIGNMENT) : Guarded();
  args_.workspace = workspace_.data();
  args_.workspace_bytes = bytes;
}

testing::AssertionResult Gemm::as_expected(size_t rows) const {
  const size_t element = element_bytes(c_.dst);
  std::vector<uint8_t> want(dst_.bytes(), Guarded::kUntouched);
  if (c_.residual_is_dst) {
    size_t next = 0;
    for (size_t b = 0; b < c_.batch; ++b)
      for (size_t i = 0; i < c_.m; ++i)
        for (size_t j = 0; j < c_.n; ++j)
          want[dst_at_.at(b, i, j)] = (uint8_t)ops_.residual[next++];
  }
  for (size_t b = 0; b < c_.batch; ++b)
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < c_.n; ++j)
        std::memcpy(&want[dst_at_.at(b, i, j) * element], &expected_[(b * c_.m + i) * c_.n + j],
                    element);
  if (std::memcmp(want.data(), dst_.data(), want.size()) == 0) return testing::AssertionSuccess();
  for (size_t b = 0; b < c_.batch; ++b)
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < c_.n; ++j) {
        const uint8_t *w = &want[dst_at_.at(b, i, j) * element],
                      *g = dst_.data() + dst_at_.at(b, i, j) * element;
        if (std::memcmp(w, g, element) == 0) continue;
        int32_t want_bits = 0, got_bits = 0;
        std::memcpy(&want_bits, w, element);
        std::memcpy(&got_bits, g, element);
        return testing::AssertionFailure()
               << c_ << ": first wrong element [" << b << "][" << i << "][" << j << "]: want bits "
               << want_bits << ", got " << got_bits;
      }
  return testing::AssertionFailure() << c_ << ": wrote between or beyond the rows of dst";
}

namespace {

// Threads that stay: starting seven takes up to 80 ms under Wine.
class Threads {
 public:
  Threads() {
    for (size_t t = 0; t < kMost; ++t) std::thread([this] { serve(); }).detach();
  }
  // The caller and this many threads, or fewer, do the work; a second caller, or a nested one, does
  // it alone.
  void run(size_t threads, const std::function<void()>& work) {
    if (called_.exchange(1)) return work();
    threads = std::min(threads, kMost);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      work_ = &work, wanted_ = working_ = threads;
    }
    for (size_t t = 0; t < threads; ++t) begin_.notify_one();
    work();
    std::unique_lock<std::mutex> lock(mutex_);
    working_ -= wanted_, wanted_ = 0;  // threads that have not begun would find nothing to do
    end_.wait(lock, [&] { return working_ == 0; });
    called_ = 0;
  }

 private:
  static constexpr size_t kMost = 7;

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      begin_.wait(lock, [&] { return wanted_ > 0; });
      --wanted_;
      lock.unlock(), (*work_)(), lock.lock();
      if (--working_ == 0) end_.notify_one();
    }
  }

  std::atomic<int> called_{0};  // not bool: GCC 12 exchanges bytes by libatomic on RISC-V
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void()>* work_ = nullptr;
  size_t wanted_ = 0, working_ = 0;  // threads that are to begin, and those and the ones that have
};

}  // namespace

void threaded_for(void*, size_t count, void (*fn)(void* arg, size_t index), void* arg) {
  static Threads* const threads = new Threads;  // outlives the threads
  std::atomic<size_t> next{0};
  threads->run(count - 1, [&] {
    for (size_t i; (i = next++) < count;) fn(arg, i);
  });
}

void check(const GemmCase& c) {
  for (const Side side : {Side::kBack, Side::kFront}) {
    Gemm gemm(c, side);
    ASSERT_EQ(gemm.status(), OCTET_OK) << c << ": " << gemm.error().message;
    ASSERT_STREQ(octet_gemm_kernel(gemm.get(), c.m),
                 c.kernel ? c.kernel : octet_gemm_kernel(gemm.get(), c.m))
        << c;
    ASSERT_EQ(gemm.run(), OCTET_OK) << c << ": " << gemm.error().message;
    ASSERT_TRUE(gemm.as_expected(c.m));
  }
}

}  // namespace octet_test
