// SPDX-License-Identifier: Apache-2.0
// Multiplies matrices that are both computed, by the library's run-time weights.
#include <algorithm>
#include <vector>

#include "engines/graph/objects.h"
#include "engines/graph/refused.h"
#include "engines/graph/sizes.h"
#include "engines/graph/weights.h"

namespace octet::graph {
namespace {

// A run looks at the zero points that come with it, and create at none. Throws the sentence that
// create would give.
void check_sums(const ProductDescription& d) {
  const octet_epilogue& e = d.gemm.epilogue;
  int64_t most = INT32_MAX;
  for (size_t i = 0; e.shifts && i < e.multiplier_count; ++i)
    most = std::min<int64_t>(most, INT32_MAX >> std::max(e.shifts[i], 0));
  const Bounds bounds = bounds_of_type(d.gemm.rhs_type);
  for (const int32_t zero : d.weight_zeros) {
    const int64_t reach = std::max(bounds.most - zero, zero - bounds.least);
    if (255 * reach * (int64_t)d.gemm.k > most)
      throw Refused(OCTET_ACCUMULATOR_OVERFLOW,
                    join("its rows of ", d.gemm.k, " elements, with the right zero point ", zero,
                         ", have sums that may leave int32"));
  }
}

class Pair {
 public:
  Pair(const ProductDescription& d, octet_isa isa)
      : m_(d.gemm.m_max),
        k_rows_(d.gemm.rhs_order == OCTET_KN ? d.gemm.k : d.gemm.n),
        matrices_(d.rhs_matrices),
        zeros_(d.weight_zeros),
        dst_element_(d.gemm.dst_type == OCTET_S8 || d.gemm.dst_type == OCTET_U8 ? 1 : 4) {
    check_sums(d);
    octet_gemm_desc desc = d.gemm;
    desc.max_isa = isa;
    octet_error error = {};
    check(octet_gemm_create(&desc, &gemm_, &error), error);
    check(octet_gemm_workspace(gemm_, m_, 1, &bytes_, &error), error);
    memory_ = std::make_shared<RunMemory>(bytes_, SIZE_MAX);
  }
  ~Pair() { octet_gemm_destroy(gemm_); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  const std::shared_ptr<RunMemory>& memory() const { return memory_; }

  // The run has begun with memory for all of its tasks.
  static void run(void* context, const octet_network_call* call) noexcept {
    ((const Pair*)context)->multiply(*call);
  }

 private:
  // Output lines are rows, all matrices' one after the other; so are those of the operands.
  void multiply(const octet_network_call& call) const {
    const octet_network_image &lhs = call.inputs[0], &rhs = call.inputs[1], &dst = call.output;
    const RunMemory::Taken workspace(memory_.get());
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.lhs_stride = lhs.pixel, args.rhs_stride = rhs.pixel;
    args.dst_stride = dst.pixel / dst_element_;
    args.workspace = workspace.data(), args.workspace_bytes = bytes_;
    if (!zeros_.empty()) args.rhs_zero_points = zeros_.data(), args.rhs_zero_point_count = 1;
    for (size_t row = call.first * dst.w, end = call.end * dst.w; row < end; row += args.m) {
      const size_t matrix = matrices_ == 1 ? 0 : row / m_;
      args.m = std::min(m_ - row % m_, end - row);
      args.lhs = (const uint8_t*)lhs.data + row * lhs.pixel;
      args.rhs = (const uint8_t*)rhs.data + matrix * k_rows_ * rhs.pixel;
      args.dst = (uint8_t*)dst.data + row * dst.pixel;
      octet_error error = {};
      if (octet_gemm_run(gemm_, &args, &error) != OCTET_OK) return memory_->fail(error);
    }
  }

  const size_t m_, k_rows_;  // rows of a matrix: of the output, of the rhs
  const size_t matrices_;    // of the rhs; 1: the same for all
  const std::vector<int32_t> zeros_;
  const size_t dst_element_;
  octet_gemm* gemm_ = nullptr;
  size_t bytes_ = 0;
  std::shared_ptr<RunMemory> memory_;  // a workspace for each task at the same time
};

}  // namespace

Function pair_function(const ProductDescription& description, octet_isa isa,
                       std::shared_ptr<RunMemory>* memory) {
  const auto pair = std::make_shared<Pair>(description, isa);
  *memory = pair->memory();
  Function f;
  f.arguments = pair;
  f.lines.run = Pair::run, f.lines.context = pair.get();
  f.lines.kernel_h = OCTET_NETWORK_ALL_IMAGES;
  return f;
}

}  // namespace octet::graph
