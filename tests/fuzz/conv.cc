// SPDX-License-Identifier: Apache-2.0
// Fuzzes convolutions, from weights to outputs, by every way and every algorithm, beside the
// reference; and wrong ones, which must be refused before anything is written.
#include <cstring>
#include <memory>
#include <string>

#include "fuzz/convolution.h"
#include "fuzz/create.h"
#include "fuzz/other_choice.h"
#include "operators/conv/choice.h"

namespace octet_fuzz {
namespace {

struct Destroy {
  void operator()(octet_conv2d* conv) const { octet_conv2d_destroy(conv); }
};
using Conv = std::unique_ptr<octet_conv2d, Destroy>;

octet_conv_algorithm draw_algorithm(Choices* c, const Convolution& v) {
  for (int tries = 0; tries < 4; ++tries) {  // most of them are possible for few shapes
    const auto algorithm = (octet_conv_algorithm)c->below(OCTET_CONV_GROUPED + 1);
    if (v.possible(algorithm) || c->one_in(16)) return algorithm;
  }
  return OCTET_CONV_AUTO;
}

// The approximate algorithm's first output, which every way must repeat.
struct Approximate {
  bool known = false;
  Foreseen foreseen;
};

class Life {
 public:
  Life(Choices* c, Convolution* v, const Way& way, octet_conv_algorithm algorithm,
       Approximate* approximate)
      : c_(c), v_(v), way_(way), algorithm_(algorithm), approximate_(approximate), allocator_(c) {}
  void live() {
    if (!pack()) return;
    desc_ = v_->desc;
    desc_.packed = blob_.data();
    desc_.packed_bytes = blob_bytes_;
    desc_.max_isa = way_.run;
    desc_.kernel = way_.kernel;
    const Conv conv(create());
    if (!conv) return;
    const octet_conv_algorithm ran = octet_conv2d_algorithm(conv.get());
    const char* const kernel = octet_conv2d_kernel(conv.get());
    if (!kernel) fail("a convolution without a kernel");
    if (!ran || (algorithm_ && ran != algorithm_))
      fail("%s instead of %s", octet_conv_algorithm_name(ran),
           octet_conv_algorithm_name(algorithm_));
    algorithm_ = ran;
    by_ = std::string(octet_conv_algorithm_name(ran)) + " by " + kernel;
    run(conv.get());
    if (c_->one_in(4)) live_otherwise(octet::choice_of(*conv));
    compare("the weights", packed_);
  }

 private:
  bool pack();
  void limit(octet_filter_desc f, size_t bytes);
  void explain(const octet_filter_desc& f);
  octet_conv2d* create();
  void live_otherwise(const octet::Choice& best);
  void run(const octet_conv2d* conv);
  void run_wrongly(const octet_conv2d* conv, octet_conv2d_args args, const Foreseen& after);
  void run_with_less(const octet_conv2d* conv, octet_conv2d_args args, const Foreseen& after);
  void compare(const char* what, const Foreseen& foreseen) const {
    if (const uint8_t* byte = foreseen.difference()) v_->report(what, by_.c_str(), foreseen, byte);
  }

  Choices* c_;
  Convolution* v_;
  const Way way_;
  octet_conv_algorithm algorithm_;
  Approximate* approximate_;
  BlockAllocator allocator_;  // outlives the object
  Block blob_;
  size_t blob_bytes_ = 0;  // of the packed weights
  octet_conv_algorithm packed_for_ = OCTET_CONV_AUTO;
  Foreseen packed_;
  octet_conv2d_desc desc_;
  std::string by_;
};

bool Life::pack() {
  const ForcedKernel forced(way_);
  // pack borrows these for the call only.
  const Block data =
      is_4bit(v_->filter.type) ? nibbles_of(c_, v_->weights) : copy_of(c_, v_->weights, 1);
  const Block zero_points = copy_of(c_, v_->zero_points, sizeof(int32_t));
  const Block ranges = copy_of(c_, v_->tap_ranges, sizeof(float));
  octet_filter_desc f = v_->filter;
  f.algorithm = algorithm_;
  f.data = data.data();
  f.zero_points = zero_points.data<int32_t>();
  f.tap_ranges = ranges.data<float>();
  size_t bytes = 0;
  const auto query = [&](const octet_filter_desc& of) {
    return [&](octet_error* e) { return octet_conv2d_pack_size(&of, way_.pack, &bytes, e); };
  };
  if (c_->one_in(4)) {
    Scratch scratch;
    octet_filter_desc bad = f;
    if (const char* why = spoil(c_, &scratch, &bad))
      must_refuse("octet_conv2d_pack_size", why, query(bad));
  }
  if (!v_->possible(algorithm_)) {
    must_refuse("octet_conv2d_pack_size", octet_conv_algorithm_name(algorithm_), query(f));
    return false;
  }
  must_accept("octet_conv2d_pack_size", query(f));
  if (bytes == 0 || bytes % OCTET_ALIGNMENT) fail("octet_conv2d_pack_size says %zu", bytes);
  limit(f, bytes);
  blob_ = Block(c_, bytes, OCTET_ALIGNMENT);
  const auto pack_into = [&](const octet_filter_desc& from, size_t room) {
    return [&, room](octet_error* e) {
      return octet_conv2d_pack(&from, way_.pack, blob_.data(), room, e);
    };
  };
  // Sparse weights may take fewer bytes than pack_size returned
  if (c_->one_in(8) && !f.sparsity)
    must_refuse("octet_conv2d_pack", "a blob that is too short", pack_into(f, c_->below(bytes)));
  if (c_->one_in(16)) {
    octet_filter_desc bad = f;
    bad.data = blob_.data() + c_->below(bytes);
    must_refuse("octet_conv2d_pack", "a blob over its weights", pack_into(bad, bytes));
  }
  must_accept("octet_conv2d_pack", pack_into(f, bytes));
  must_accept("octet_blob_verify",
              [&](octet_error* e) { return octet_blob_verify(blob_.data(), bytes, e); });
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  must_accept("octet_blob_get_info",
              [&](octet_error* e) { return octet_blob_get_info(blob_.data(), bytes, &info, e); });
  if (info.bytes > bytes) fail("octet_blob_get_info says %zu of %zu bytes", info.bytes, bytes);
  for (size_t i = info.bytes; i < bytes && !f.sparsity; ++i)
    if (blob_.data()[i]) fail("octet_conv2d_pack leaves byte %zu of %zu unwritten", i, bytes);
  blob_bytes_ = info.bytes;
  packed_for_ = info.algorithm;
  if (c_->one_in(8)) explain(f);
  packed_.add(blob_);
  return true;
}

// A limit that the choice meets changes nothing; a smaller limit gives a smaller blob or is
// refused. A named algorithm has at most two formats, the larger one less than twice as large.
void Life::limit(octet_filter_desc f, size_t bytes) {
  if (!c_->one_in(4) || f.sparsity) return;
  size_t limited = 0;
  const auto query = [&](octet_error* e) {
    return octet_conv2d_pack_size(&f, way_.pack, &limited, e);
  };
  f.packed_bytes_max = bytes + c_->below(c_->one_in(2) ? 1 : 5000);
  must_accept("octet_conv2d_pack_size", query);
  if (limited != bytes) fail("a limit of %zu makes %zu of %zu", f.packed_bytes_max, limited, bytes);
  f.packed_bytes_max = 1 + c_->below(bytes - 1);
  if ((algorithm_ != OCTET_CONV_AUTO && f.packed_bytes_max < bytes / 2) ||
      f.packed_bytes_max < 64) {
    must_refuse("octet_conv2d_pack_size", "packed_bytes_max", query);
  } else if (query(nullptr) == OCTET_OK && limited > f.packed_bytes_max) {
    fail("a limit of %zu lets %zu pass", f.packed_bytes_max, limited);
  }
}

void Life::explain(const octet_filter_desc& f) {
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  const size_t index = c_->below(OCTET_CONV_GROUPED);
  must_accept("octet_conv2d_explain", [&](octet_error* e) {
    return octet_conv2d_explain(&f, way_.pack, index, &candidate, e);
  });
  if ((candidate.possible != 0) != v_->possible(candidate.algorithm) && !way_.kernel &&
      f.sparsity != OCTET_SPARSE_AUTO)
    fail("octet_conv2d_explain says %d of %s: %s", candidate.possible,
         octet_conv_algorithm_name(candidate.algorithm), candidate.reason);
}

octet_conv2d* Life::create() {
  const EpilogueArrays arrays = describe(c_, v_->epilogue.desc(), desc_.shape.out_channels, &desc_);
  return octet_fuzz::create(
      c_, "octet_conv2d_create", desc_, &allocator_,
      {v_->refused(packed_for_), way_.may_refuse, v_->epilogue.may_overflow()},
      octet_conv2d_create);
}

// The same convolution by another choice.
void Life::live_otherwise(const octet::Choice& best) {
  const octet::Choice choice = other_choice(c_, best);
  check_text(c_, best);
  octet_conv2d_desc desc = desc_;
  BlockAllocator allocator(c_);
  desc.allocator = {BlockAllocator::allocate, BlockAllocator::release, &allocator};
  const EpilogueArrays arrays = describe(c_, v_->epilogue.desc(), desc.shape.out_channels, &desc);
  const Conv conv(create_otherwise<octet_conv2d>(choice, best, desc.kernel != nullptr,
                                                 [&](octet_conv2d** to, octet_error* e) {
                                                   return octet::create_conv(&desc, &choice, to, e);
                                                 }));
  if (!conv) return;
  by_ = "by " + text_of(choice);
  run(conv.get());
}

void Life::run(const octet_conv2d* conv) {
  octet_conv2d_args args = v_->args;
  const bool this_run = c_->one_in(2);  // the query is for this run, else for the largest run
  size_t bytes = 0;
  const auto query = [&](octet_error* e) {
    return octet_conv2d_workspace(conv, this_run ? args.batch : 0, this_run ? args.in_h : 0,
                                  this_run ? args.in_w : 0, args.concurrency, &bytes, e);
  };
  if (v_->no_output && this_run)
    return must_refuse("octet_conv2d_workspace", "sizes without an output", query);
  must_accept("octet_conv2d_workspace", query);
  if (bytes % OCTET_ALIGNMENT) fail("octet_conv2d_workspace says %zu", bytes);
  const Block workspace(c_, bytes, OCTET_ALIGNMENT);
  args.workspace = workspace.data();
  args.workspace_bytes = bytes;

  v_->before.restore();
  octet_conv2d_args first = args;
  if (args.pads && bytes >= sizeof *args.pads && c_->one_in(4)) {  // the run will overwrite the
                                                                   // pads
    std::memcpy(workspace.data(), args.pads, sizeof *args.pads);
    first.pads = workspace.data<octet_conv2d_pads>();
  }
  const auto call = [&](octet_error* e) { return octet_conv2d_run(conv, &first, e); };
  if (v_->no_output) {
    must_refuse("octet_conv2d_run", "sizes without an output", call);
    return compare("a refused run", v_->before);
  }
  must_accept(by_.c_str(), call);
  ++tally.runs;
  tally.outputs += v_->outputs();
  if (algorithm_ == OCTET_CONV_WINOGRAD_2X2_INT8 && !approximate_->known) {
    approximate_->known = true;
    approximate_->foreseen = v_->before;
    v_->take_outputs(&approximate_->foreseen);
  }
  const bool exact = algorithm_ != OCTET_CONV_WINOGRAD_2X2_INT8;
  const Foreseen& after = exact ? v_->after : approximate_->foreseen;
  compare("a run", after);
  if (c_->one_in(2)) run_wrongly(conv, args, after);
  if (c_->one_in(8) && bytes) run_with_less(conv, args, after);
}

void Life::run_wrongly(const octet_conv2d* conv, octet_conv2d_args args, const Foreseen& after) {
  Scratch scratch;
  const char* const why = spoil(c_, &scratch, *v_, desc_, &args);
  if (!why) return;
  must_refuse("octet_conv2d_run", why,
              [&](octet_error* e) { return octet_conv2d_run(conv, &args, e); });
  compare(why, after);
}

// A smaller workspace may be enough if the query was for the largest run.
void Life::run_with_less(const octet_conv2d* conv, octet_conv2d_args args, const Foreseen& after) {
  const Block workspace(c_, args.workspace_bytes - 1 - c_->below(args.workspace_bytes),
                        OCTET_ALIGNMENT);
  args.workspace = workspace.data();
  args.workspace_bytes = workspace.bytes();
  v_->before.restore();
  const octet_status status =
      checked("octet_conv2d_run", [&](octet_error* e) { return octet_conv2d_run(conv, &args, e); });
  compare("a run with less workspace", status == OCTET_OK ? after : v_->before);
}

// For shapes beyond all memory no size may wrap.
void any_shape(Choices* c) {
  octet_filter_desc f = OCTET_FILTER_DESC_INIT;
  octet_conv2d_shape& s = f.shape;
  size_t* const sizes[] = {&s.batch_max,    &s.in_h_max,   &s.in_w_max,   &s.in_channels,
                           &s.out_channels, &s.groups,     &s.kernel_h,   &s.kernel_w,
                           &s.stride_h,     &s.stride_w,   &s.dilation_h, &s.dilation_w,
                           &s.pad_top,      &s.pad_bottom, &s.pad_left,   &s.pad_right};
  for (size_t* size : sizes) *size = c->below(12);
  for (size_t odd = c->below(6); odd-- > 0;)
    *sizes[c->below(sizeof sizes / sizeof *sizes)] = (size_t)c->odd();
  s.transposed = c->one_in(3);
  if (s.transposed) s.output_padding_h = c->below(4), s.output_padding_w = c->below(4);
  f.type = type_of_weights(c);
  f.algorithm = (octet_conv_algorithm)c->below(OCTET_CONV_GROUPED + 1);
  f.accuracy = OCTET_ACCURACY_APPROXIMATE;
  const octet_isa isa = tiers()[c->below(tiers().size())];
  size_t bytes = 0, h = 0, w = 0;
  const bool packs = checked("octet_conv2d_pack_size", [&](octet_error* e) {
                       return octet_conv2d_pack_size(&f, isa, &bytes, e);
                     }) == OCTET_OK;
  const bool sized = checked("octet_conv2d_output_size", [&](octet_error* e) {
                       return octet_conv2d_output_size(&s, s.in_h_max, s.in_w_max, &h, &w, e);
                     }) == OCTET_OK;
  if (packs &&
      (!sized || bytes % OCTET_ALIGNMENT || bytes / s.out_channels < s.in_channels / s.groups))
    fail("octet_conv2d_pack_size says %zu", bytes);
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  const bool explains = checked("octet_conv2d_explain", [&](octet_error* e) {
                          return octet_conv2d_explain(&f, isa, c->below(7), &candidate, e);
                        }) == OCTET_OK;
  if (explains && candidate.possible && !(candidate.microseconds > 0))
    fail("octet_conv2d_explain predicts no time for %s",
         octet_conv_algorithm_name(candidate.algorithm));
  if (!sized) return;
  const octet_test::ConvSizes expected(s, 1, s.in_h_max, s.in_w_max);
  if ((int64_t)h != expected.out_h || (int64_t)w != expected.out_w)
    fail("octet_conv2d_output_size says %zux%zu", h, w);
}

}  // namespace

void fuzz_one(Choices* c) {
  if (c->one_in(32)) return any_shape(c);
  Convolution convolution(c);
  octet_conv_algorithm algorithm = draw_algorithm(c, convolution);
  Approximate approximate;
  for (const Way& way : ways(c)) {
    Life(c, &convolution, way, algorithm, &approximate).live();
    if (algorithm != OCTET_CONV_WINOGRAD_2X2_INT8 && c->one_in(2))
      algorithm = draw_algorithm(c, convolution);
  }
}

}  // namespace octet_fuzz
