// SPDX-License-Identifier: Apache-2.0
// Fuzzes products, from weights to outputs, by every way that the machine has, beside the
// reference; and wrong ones, which must be refused before anything is written.
#include <cstring>
#include <memory>

#include "fuzz/create.h"
#include "fuzz/other_choice.h"
#include "fuzz/product.h"
#include "operators/gemm/choice.h"
#include "support/reference.h"

namespace octet_fuzz {
namespace {

struct Destroy {
  void operator()(octet_gemm* gemm) const { octet_gemm_destroy(gemm); }
};
using Gemm = std::unique_ptr<octet_gemm, Destroy>;

class Life {
 public:
  Life(Choices* c, Product* p, const Way& way) : c_(c), p_(p), way_(way), allocator_(c) {}
  void live() {
    if (!p_->runtime_rhs) pack();
    desc_ = p_->desc;
    desc_.packed = blob_.data();
    desc_.packed_bytes = blob_bytes_;
    desc_.max_isa = way_.run;
    desc_.kernel = way_.kernel;
    const Gemm gemm(create());
    if (!gemm) return;
    kernel_ = octet_gemm_kernel(gemm.get(), p_->args.m);
    if (!kernel_) fail("a GEMM without a kernel");
    run(gemm.get());
    if (c_->one_in(4)) live_otherwise(octet::choice_of(*gemm));
    compare("the weights", packed_);
  }

 private:
  void pack();
  octet_gemm* create();
  void live_otherwise(const octet::Choice& best);
  void run(const octet_gemm* gemm);
  void run_with_less(const octet_gemm* gemm, octet_gemm_args args);
  void run_wrongly(const octet_gemm* gemm, octet_gemm_args args);
  void compare(const char* what, const Foreseen& foreseen) const {
    if (const uint8_t* byte = foreseen.difference()) p_->report(what, kernel_, byte);
  }

  Choices* c_;
  Product* p_;
  const Way way_;
  BlockAllocator allocator_;  // outlives the object
  Block blob_;
  size_t blob_bytes_ = 0;  // of the packed weights
  Foreseen packed_;
  octet_gemm_desc desc_;
  const char* kernel_ = "";
};

void Life::pack() {
  const ForcedKernel forced(way_);
  // pack borrows these for the call only.
  const Block& bytes_of_weights = p_->weights.blocks[0];
  const Block data =
      is_4bit(p_->rhs.type) ? nibbles_of(c_, bytes_of_weights) : copy_of(c_, bytes_of_weights, 1);
  const Block zero_points = copy_of(c_, p_->rhs_zero_points, sizeof(int32_t));
  octet_rhs_desc rhs = p_->rhs;
  rhs.data = data.data();
  rhs.zero_points = zero_points.data<int32_t>();
  size_t bytes = 0;
  if (c_->one_in(8)) {
    Scratch scratch;
    octet_rhs_desc bad = rhs;
    if (const char* why = spoil(c_, &scratch, &bad))
      must_refuse("octet_pack_size", why,
                  [&](octet_error* e) { return octet_pack_size(&bad, way_.pack, &bytes, e); });
  }
  must_accept("octet_pack_size",
              [&](octet_error* e) { return octet_pack_size(&rhs, way_.pack, &bytes, e); });
  if (bytes == 0 || bytes % OCTET_ALIGNMENT) fail("octet_pack_size says %zu", bytes);
  blob_ = Block(c_, bytes, OCTET_ALIGNMENT);
  const auto pack_into = [&](const octet_rhs_desc& from, size_t room) {
    return
        [&, room](octet_error* e) { return octet_pack(&from, way_.pack, blob_.data(), room, e); };
  };
  // Sparse weights may take fewer bytes than pack_size returned
  if (c_->one_in(8) && !rhs.sparsity)
    must_refuse("octet_pack", "a blob that is too short", pack_into(rhs, c_->below(bytes)));
  if (c_->one_in(16)) {
    octet_rhs_desc bad = rhs;
    bad.data = blob_.data() + c_->below(bytes);
    must_refuse("octet_pack", "a blob over its weights", pack_into(bad, bytes));
  }
  must_accept("octet_pack", pack_into(rhs, bytes));
  must_accept("octet_blob_verify",
              [&](octet_error* e) { return octet_blob_verify(blob_.data(), bytes, e); });
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  must_accept("octet_blob_get_info",
              [&](octet_error* e) { return octet_blob_get_info(blob_.data(), bytes, &info, e); });
  if (info.n != rhs.n || info.k != rhs.k || info.batch != (rhs.batch ? rhs.batch : 1) ||
      info.type != rhs.type || info.bytes > bytes)
    fail("octet_blob_get_info says n = %zu, k = %zu, batch = %zu, %zu bytes", info.n, info.k,
         info.batch, info.bytes);
  // Paired weights that did not pay leave bytes unused, which must be 0
  for (size_t i = info.bytes; i < bytes && !rhs.sparsity; ++i)
    if (blob_.data()[i]) fail("octet_pack leaves byte %zu of %zu unwritten", i, bytes);
  blob_bytes_ = info.bytes;
  packed_.add(blob_);
}

octet_gemm* Life::create() {
  const EpilogueArrays arrays = describe(c_, p_->epilogue.desc(), desc_.n, &desc_);
  return octet_fuzz::create(
      c_, "octet_gemm_create", desc_, &allocator_,
      {p_->refused(), way_.may_refuse, p_->epilogue.may_overflow(), p_->zero_points_may_remain()},
      octet_gemm_create);
}

// The same product by another choice.
void Life::live_otherwise(const octet::Choice& best) {
  const octet::Choice choice = other_choice(c_, best);
  check_text(c_, best);
  octet_gemm_desc desc = desc_;
  BlockAllocator allocator(c_);
  desc.allocator = {BlockAllocator::allocate, BlockAllocator::release, &allocator};
  const EpilogueArrays arrays = describe(c_, p_->epilogue.desc(), desc.n, &desc);
  const Gemm gemm(create_otherwise<octet_gemm>(
      choice, best, desc.kernel || desc.lhs_type == OCTET_S16,
      [&](octet_gemm** to, octet_error* e) { return octet::create_gemm(&desc, &choice, to, e); }));
  if (!gemm) return;
  kernel_ = octet_gemm_kernel(gemm.get(), p_->args.m);
  run(gemm.get());
}

void Life::run(const octet_gemm* gemm) {
  octet_gemm_args args = p_->args;
  size_t bytes = 0;
  const size_t rows = c_->any({args.m, args.m, desc_.m_max});
  must_accept("octet_gemm_workspace", [&](octet_error* e) {
    return octet_gemm_workspace(gemm, rows, args.concurrency, &bytes, e);
  });
  if (bytes % OCTET_ALIGNMENT) fail("octet_gemm_workspace says %zu", bytes);
  const Block workspace(c_, bytes, OCTET_ALIGNMENT);
  args.workspace = workspace.data();
  args.workspace_bytes = bytes;

  p_->before.restore();
  octet_error error;
  const octet_status status = checked(
      "octet_gemm_run", &error, [&](octet_error* e) { return octet_gemm_run(gemm, &args, e); });
  if (status != OCTET_OK) {
    const bool why = status == OCTET_OVERLAP
                         ? p_->run_must_refuse
                         : status == OCTET_ACCUMULATOR_OVERFLOW && p_->run_may_refuse;
    if (!why) fail("octet_gemm_run, %s, refused what is valid: %s", kernel_, error.message);
    ++tally.refusals;
    return compare("a refused run", p_->before);
  }
  if (p_->run_must_refuse)
    fail("octet_gemm_run accepted outputs that overlap, or accumulators that leave int32");
  compare("a run", p_->after);
  ++tally.runs;
  tally.outputs += p_->outputs();
  if (c_->one_in(2)) run_wrongly(gemm, args);
  if (c_->one_in(8) && bytes) run_with_less(gemm, args);
}

void Life::run_wrongly(const octet_gemm* gemm, octet_gemm_args args) {
  Scratch scratch;
  const char* const why = spoil(c_, &scratch, *p_, desc_, &args);
  if (!why) return;
  must_refuse("octet_gemm_run", why,
              [&](octet_error* e) { return octet_gemm_run(gemm, &args, e); });
  compare(why, p_->after);
}

// A smaller workspace may be enough if the query was for the most rows.
void Life::run_with_less(const octet_gemm* gemm, octet_gemm_args args) {
  const Block workspace(c_, args.workspace_bytes - 1 - c_->below(args.workspace_bytes),
                        OCTET_ALIGNMENT);
  args.workspace = workspace.data();
  args.workspace_bytes = workspace.bytes();
  p_->before.restore();
  const octet_status status =
      checked("octet_gemm_run", [&](octet_error* e) { return octet_gemm_run(gemm, &args, e); });
  compare("a run with less workspace", status == OCTET_OK ? p_->after : p_->before);
}

void any_multiplier(Choices* c) {
  double factor;
  const uint64_t bits =
      c->one_in(2) ? c->bits(8) : (980 + c->below(80)) << 52 | (c->bits(7) & 0xfffffffffffffu);
  std::memcpy(&factor, &bits, sizeof factor);
  int32_t multiplier = 7, shift = 7, expected_multiplier, expected_shift;
  const auto call = [&](octet_error* e) {
    return octet_quantize_multiplier(factor, &multiplier, &shift, e);
  };
  if (!(factor >= 0 && factor < 0x1p30))
    return must_refuse("octet_quantize_multiplier", "a wrong factor", call);
  if (factor > 0x1.fffffffcp29) return;  // rounds up to 2^30
  must_accept("octet_quantize_multiplier", call);
  octet_test::quantize_multiplier(factor, &expected_multiplier, &expected_shift);
  if (multiplier != expected_multiplier || (shift != expected_shift && multiplier))
    fail("octet_quantize_multiplier(%a): %d, %d", factor, multiplier, shift);
}

// For sizes beyond all memory no size may wrap, and accepted objects must be usable.
void any_sizes(Choices* c) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = c->any({OCTET_S8, OCTET_U8, OCTET_S4, OCTET_U4});
  rhs.order = c->any({OCTET_KN, OCTET_NK});
  for (size_t* size : {&rhs.n, &rhs.k, &rhs.batch, &rhs.stride, &rhs.batch_stride})
    *size = c->odd();
  size_t bytes = 0;
  const octet_isa isa = tiers()[c->below(tiers().size())];
  const octet_status status = checked(
      "octet_pack_size", [&](octet_error* e) { return octet_pack_size(&rhs, isa, &bytes, e); });
  if (status == OCTET_OK &&
      (bytes % OCTET_ALIGNMENT || bytes / rhs.n < rhs.k / (is_4bit(rhs.type) ? 2 : 1)))
    fail("octet_pack_size says %zu for %zux%zu", bytes, rhs.n, rhs.k);

  BlockAllocator allocator(c);
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.lhs_type = type_8bit(c);
  d.rhs_type = type_8bit(c);
  d.dst_type = OCTET_S32;
  d.lhs_quant = c->any({OCTET_LHS_STATIC, OCTET_LHS_PER_ROW});
  for (size_t* size : {&d.m_max, &d.n, &d.k, &d.batch_max}) *size = c->odd();
  if (d.n <= size_t{1} << 31) d.n %= size_t{1} << 16;  // create looks at each column
  d.allocator = {BlockAllocator::allocate, BlockAllocator::release, &allocator};
  octet_gemm* gemm = nullptr;
  if (checked("octet_gemm_create",
              [&](octet_error* e) { return octet_gemm_create(&d, &gemm, e); }) != OCTET_OK)
    return;
  const Gemm owner(gemm);
  const size_t m = c->odd(), concurrency = c->below(3000);
  if (checked("octet_gemm_workspace", [&](octet_error* e) {
        return octet_gemm_workspace(gemm, m, concurrency, &bytes, e);
      }) != OCTET_OK)
    return;
  if (m > d.m_max || bytes % OCTET_ALIGNMENT || bytes < d.k)
    fail("octet_gemm_workspace says %zu", bytes);
}

}  // namespace

void fuzz_one(Choices* c) {
  if (c->one_in(32)) {
    any_multiplier(c);
    return any_sizes(c);
  }
  Product product(c);
  for (const Way& way : ways(c)) Life(c, &product, way).live();
}

}  // namespace octet_fuzz
