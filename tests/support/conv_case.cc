// SPDX-License-Identifier: Apache-2.0
// Draws, computes and runs a ConvCase.
#include "support/conv_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

#include "operators/conv/object.h"
#include "support/gemm_case.h"
#include "support/nibbles.h"
#include "support/reference.h"
#include "support/sparse.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

std::vector<int32_t> draw_filled(Random* random, size_t count, octet_type type, Fill fill) {
  const int32_t lo = least(type) + (fill == Fill::kNeverLeast), hi = most(type);
  std::vector<int32_t> values =
      draw_integers(random, count, fill == Fill::kMost ? hi : lo, fill == Fill::kLeast ? lo : hi);
  for (size_t i = 0; i < count; ++i) {
    int32_t& value = values[i];
    if (fill == Fill::kEnds) value = value & 1 ? hi : lo;
    if (fill == Fill::kMostThenOne) value = i < count / 2 ? hi : 1;
    if (fill == Fill::kSeldomLarge && value % 64 && value > lo + 127) value -= 128;
    if (fill == Fill::kSeldomFar && i % 67) value = centre(type) + (value - centre(type)) / 4;
  }
  return values;
}

template <typename T, typename Value>
void scatter(const TensorAt& at, const Guarded& memory, const std::vector<Value>& values) {
  T* const out = memory.data<T>();
  size_t next = 0;
  for (size_t b = 0; b < at.batch; ++b)
    for (size_t y = 0; y < at.h; ++y)
      for (size_t x = 0; x < at.w; ++x)
        for (size_t c = 0; c < at.channels; ++c) out[at.at(b, y, x, c)] = (T)values[next++];
}

const char* const kFill[] = {"random",          "least",          "most",         "ends",
                             "never the least", "most, then one", "seldom large", "seldom far"};

}  // namespace

std::ostream& operator<<(std::ostream& out, const ConvCase& c) {
  const octet_conv2d_shape& s = c.shape;
  out << (s.transposed ? "transposed " : "") << c.run_batch() << 'x' << c.run_h() << 'x'
      << c.run_w() << 'x' << s.in_channels;
  if (c.batch | c.in_h | c.in_w)
    out << " of " << s.batch_max << 'x' << s.in_h_max << 'x' << s.in_w_max;
  out << " to " << s.out_channels << " channels, kernel " << s.kernel_h << 'x' << s.kernel_w;
  if (s.groups > 1) out << ", groups " << s.groups;
  if (s.stride_h * s.stride_w > 1) out << ", stride " << s.stride_h << 'x' << s.stride_w;
  if (s.dilation_h * s.dilation_w > 1) out << ", dilation " << s.dilation_h << 'x' << s.dilation_w;
  if (s.pad_top | s.pad_bottom | s.pad_left | s.pad_right)
    out << ", pads " << s.pad_top << ' ' << s.pad_bottom << ' ' << s.pad_left << ' ' << s.pad_right;
  if (s.output_padding_h | s.output_padding_w)
    out << ", output padding " << s.output_padding_h << 'x' << s.output_padding_w;
  out << ", " << name_of(c.lhs) << '*' << name_of(c.rhs) << (const EpilogueCase&)c << ", data "
      << kFill[(int)c.lhs_fill] << '*' << kFill[(int)c.filter_fill] << ", seed " << c.seed
      << ", filter order " << c.order;
  if (c.floats) out << ", lhs f32";
  if (c.runtime_quant) out << ", run-time quantization";
  if (c.lhs_zero_point) out << ", lhs zp " << c.lhs_zero_point;
  if (c.filter_zero_points != FilterZeroPoints::kNone)
    out << ", filter zp kind " << (int)c.filter_zero_points;
  if (c.lhs_layout) out << ", lhs NCHW";
  if (c.dst_layout) out << ", dst NCHW";
  if (c.lhs_extra | c.dst_extra | c.residual_extra)
    out << ", between pixels " << c.lhs_extra << ' ' << c.dst_extra << ' ' << c.residual_extra;
  return out;
}

std::ostream& operator<<(std::ostream& out, const ConvHow& how) {
  out << octet_conv_algorithm_name(how.algorithm) << " on " << octet_isa_name(how.isa);
  if (how.sparsity) out << " sparsity " << how.sparsity;
  if (how.kernel) out << ' ' << how.kernel;
  if (how.concurrency > 1) out << ", concurrency " << how.concurrency;
  if (const octet_conv2d_pads* pads = how.declared_pads)
    out << ", declared pads " << pads->top << ' ' << pads->bottom << ' ' << pads->left << ' '
        << pads->right;
  if (how.cache_bytes) out << ", cache of " << how.cache_bytes;
  if (how.machine)
    out << ", L2 of " << how.machine->l2_bytes << ", L3 of " << how.machine->l3_bytes;
  if (how.packed_bytes_max) out << ", packed into " << how.packed_bytes_max;
  return out;
}

octet_conv2d_shape square(size_t in, size_t in_channels, size_t out_channels, size_t kernel,
                          size_t stride, size_t pad, size_t groups) {
  octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
  s.in_h_max = s.in_w_max = in;
  s.in_channels = in_channels, s.out_channels = out_channels, s.groups = groups;
  s.kernel_h = s.kernel_w = kernel;
  s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = pad;
  return s;
}

ConvCase turned(const octet_conv2d_shape& shape, uint32_t turn) {
  ConvCase c;
  c.shape = shape;
  c.seed = turn + 1;
  c.lhs = turn % 3 ? OCTET_U8 : OCTET_S8;
  c.rhs = turn % 5 ? OCTET_S8 : OCTET_U8;
  if (turn % 13 > 10) c.rhs = turn % 2 ? OCTET_S4 : OCTET_U4;
  c.lhs_zero_point = turn % 4 == 0   ? 0
                     : turn % 4 == 1 ? least(c.lhs)
                     : turn % 4 == 2 ? most(c.lhs)
                                     : 17;
  c.filter_zero_points = turn % 7 == 2   ? FilterZeroPoints::kTensor
                         : turn % 7 == 5 ? FilterZeroPoints::kChannel
                                         : FilterZeroPoints::kCentre;
  c.runtime_quant = turn % 11 == 3;
  if (c.runtime_quant) c.lhs_zero_point = 0;
  c.order = (octet_filter_order)(turn % 4);
  c.dst = turn % 2 ? OCTET_S32 : turn % 6 ? OCTET_S8 : OCTET_U8;
  c.bias = turn % 9 != 4;
  const Fill fills[] = {Fill::kRandom, Fill::kRandom, Fill::kEnds, Fill::kLeast, Fill::kMost};
  c.lhs_fill = fills[turn % 5], c.filter_fill = fills[turn / 5 % 5];
  return c;
}

octet_isa tier_of(const char* kernel) {
  for (const octet::KernelList& list : {octet::int8_kernels(), octet::int16_kernels()})
    for (const octet::MicroKernel* k : list)
      if (!std::strcmp(k->name, kernel)) return (octet_isa)k->tier_id;
  for (const octet::DepthwiseKernel* k : octet::depthwise_kernels())
    if (!std::strcmp(k->name, kernel)) return (octet_isa)k->tier_id;
  ADD_FAILURE() << "no table knows kernel " << kernel;
  return OCTET_ISA_AUTO;
}

octet_isa best_tier(octet_conv_algorithm algorithm, octet_isa limit, Types types,
                    bool weight_zero_points, bool sparse) {
  octet_isa best = OCTET_ISA_AUTO;
  const auto offer = [&](octet::TierId of_kernel) {
    const octet_isa isa = (octet_isa)of_kernel;
    const bool usable = octet::this_machine().cpu.tiers >> isa & 1;
    if (usable && is_allowed(isa, limit) && is_better(isa, best)) best = isa;
  };
  switch (algorithm) {
    case OCTET_CONV_DEPTHWISE:
      for (const octet::DepthwiseKernel* k : octet::depthwise_kernels())
        if (!(k->layout == octet::kGroupedLayout) &&
            (k->layout.element_type == octet::ElementType::kS16) == weight_zero_points)
          offer(k->tier_id);
      break;
    case OCTET_CONV_GROUPED:
      for (const octet::DepthwiseKernel* k : octet::depthwise_kernels())
        if (k->layout == octet::kGroupedLayout) offer(k->tier_id);
      break;
    case OCTET_CONV_WINOGRAD_2X2:
    case OCTET_CONV_WINOGRAD_4X4:
    case OCTET_CONV_WINOGRAD_2X2_S2:
      for (const MicroKernel* k : octet::int16_kernels()) offer(k->tier_id);
      break;
    default:
      for (const MicroKernel* k : octet::int8_kernels())
        if (!k->is(octet::kTestsOnly) && !k->is(octet::kNoInt8Min) && serves(*k, types) &&
            k->rhs_layout.sparse() == sparse)
          offer(k->tier_id);
  }
  return best;
}

// ---- the problem

bool ConvProblem::has_filter_zero_points() const {
  const int32_t none = centre(c.rhs);
  if (filter_zero_points.empty()) return none != 0;
  return std::any_of(filter_zero_points.begin(), filter_zero_points.end(),
                     [&](int32_t zero_point) { return zero_point != none; });
}

ConvProblem::ConvProblem(const ConvCase& described) : c(described) {
  const octet_conv2d_shape& s = c.shape;
  const ConvSizes sizes(s, c.run_batch(), c.run_h(), c.run_w());
  out_h = (size_t)sizes.out_h, out_w = (size_t)sizes.out_w;
  const size_t batch = c.run_batch(), depth = s.kernel_h * s.kernel_w * group_in();

  // Weights and epilogue do not depend on the sizes of the run, so that one object may run several
  // problems.
  Random random(c.seed * 2654435761u),
      input(c.seed + (uint32_t)(c.run_h() * 131 + c.run_w() * 17 + batch));
  filter = draw_filled(&random, s.out_channels * depth, c.rhs, c.filter_fill);
  const int32_t lo = least(c.rhs), hi = most(c.rhs), middle = centre(c.rhs);
  const FilterZeroPoints kind = c.filter_zero_points;
  if (kind == FilterZeroPoints::kCentre || kind == FilterZeroPoints::kLeast)
    filter_zero_points = {kind == FilterZeroPoints::kLeast ? lo : middle};
  else if (kind == FilterZeroPoints::kLeastSometimes)
    for (size_t o = 0; o < s.out_channels; ++o) filter_zero_points.push_back(o % 2 ? lo : 5);
  else if (kind >= FilterZeroPoints::kFar)
    for (int o = 0; o < (int)s.out_channels; ++o)
      filter_zero_points.push_back(std::clamp(
          middle + (kind == FilterZeroPoints::kNear ? o % 5 - 2 : o % 2 * 199 - 100), lo, hi));
  else if (kind != FilterZeroPoints::kNone)
    filter_zero_points =
        draw_integers(&random, kind == FilterZeroPoints::kTensor ? 1 : s.out_channels, lo, hi);
  for (size_t o = 0; c.channels && o < s.out_channels; ++o) {
    const std::vector<int32_t> weights =
        weights_of((*c.channels)[o % c.channels->size()], depth, o);
    std::copy(weights.begin(), weights.end(), &filter[o * depth]);
  }
  const double k = (double)depth, s16 = c.lhs == OCTET_S16 ? 256 : 1,
               magnitude = s16 * (c.lhs_fill == Fill::kRandom ? 5000 * std::sqrt(k) : 16000 * k);
  epilogue = Epilogue(c, s.out_channels, (c.dst == OCTET_S16 ? 25000 : 100) / magnitude, &random);

  lhs = draw_filled(&input, batch * c.run_h() * c.run_w() * s.in_channels, c.lhs, c.lhs_fill);
  if (c.floats) {
    quantize(&input);
  } else if (c.runtime_quant) {
    lhs_zero_points = draw_integers(&input, batch, least(c.lhs), most(c.lhs));
    for (size_t b = 0; b < batch && c.dst != OCTET_S32; ++b)
      lhs_scales.push_back(0.25f + (float)(b % 7) * 0.3f);
  }
  if (c.residual)
    residual = draw_integers(&input, batch * out_h * out_w * s.out_channels, least(c.residual),
                             most(c.residual));
  for (size_t o = 0; c.sparse && o < s.out_channels; ++o)
    for (size_t tap = 0; tap < s.kernel_h * s.kernel_w; ++tap) {
      const std::vector<int32_t>& zeros = filter_zero_points;
      make_sparse(&filter[o * depth + tap * group_in()], group_in(), 1,
                  zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : o], c.seed + o + tap);
    }
  stored_ = stored_filter();

  acc.resize(batch * out_h * out_w * s.out_channels);
  for (size_t i = 0; i < acc.size(); ++i) acc[i] = epilogue.bias(i % s.out_channels);
  std::vector<int32_t> plain_lhs = lhs, plain_filter = filter;
  for (size_t i = 0; i < lhs.size(); ++i)
    plain_lhs[i] -= c.runtime_quant ? lhs_zero_points[i / (lhs.size() / batch)] : c.lhs_zero_point;
  for (size_t i = 0; i < filter.size() && !filter_zero_points.empty(); ++i)
    plain_filter[i] -= filter_zero_points[filter_zero_points.size() == 1 ? 0 : i / depth];
  convolve(s, sizes, plain_lhs.data(), plain_filter.data(), acc.data());
  for (size_t i = 0; i < acc.size(); ++i) {
    const size_t image = i / (out_h * out_w * s.out_channels), channel = i % s.out_channels;
    expected.push_back(epilogue.expected_output(channel,
                                                lhs_scales.empty() ? nullptr : &lhs_scales[image],
                                                acc[i], residual.empty() ? 0 : residual[i]));
  }
}

// Every other value is a tie, some are beyond the integers' range.
void ConvProblem::quantize(Random* random) {
  const size_t batch = c.run_batch(), image = lhs.size() / batch;
  for (const int32_t steps : draw_integers(random, lhs.size(), -400, 400))
    lhs_floats.push_back((float)steps * 0.5f * kLhsScale);
  for (size_t b = 0; b < batch; ++b) {
    float* const x = &lhs_floats[b * image];
    if (!c.runtime_quant) {
      x[0] = std::numeric_limits<float>::quiet_NaN();
      x[image - 1] = b % 2 ? std::numeric_limits<float>::infinity() : -3e38f;
      for (size_t i = 0; i < image; ++i)
        lhs[b * image + i] = quantize_static(x[i], kLhsScale, c.lhs_zero_point, c.lhs);
      continue;
    }
    for (size_t i = 0; i < image; ++i) x[i] *= (b % 2 ? c.odd_factor : 1) * (b * 3.0f + 1) * 0.37f;
    if (b == 3) x[image / 2] = std::numeric_limits<float>::infinity();
    const QuantizedRow row =
        c.lhs == OCTET_U8 ? quantize_asymmetric(x, image) : quantize_symmetric(x, image);
    std::copy(row.values.begin(), row.values.end(), &lhs[b * image]);
    lhs_zero_points.push_back(row.zero_point);
    lhs_scales.push_back(row.scale);
  }
}

std::vector<uint8_t> ConvProblem::stored_filter() const {
  const octet_conv2d_shape& s = c.shape;
  const size_t O = s.out_channels, H = s.kernel_h, W = s.kernel_w, I = group_in();
  std::vector<uint8_t> out(filter.size());
  size_t next = 0;
  for (size_t o = 0; o < O; ++o)
    for (size_t y = 0; y < H; ++y)
      for (size_t x = 0; x < W; ++x)
        for (size_t i = 0; i < I; ++i) {
          const size_t all_i = o / group_out() * I + i, group_o = o % group_out();
          const size_t at = c.order == OCTET_OHWI   ? ((o * H + y) * W + x) * I + i
                            : c.order == OCTET_OIHW ? ((o * I + i) * H + y) * W + x
                            : c.order == OCTET_HWIO
                                ? ((y * W + x) * I + i) * O + o
                                : ((all_i * group_out() + group_o) * H + y) * W + x;
          out[at] = (uint8_t)filter[next++];
        }
  return is_4bit(c.rhs) ? nibbles_of(out) : out;
}

octet_filter_desc ConvProblem::filter_desc() const {
  octet_filter_desc d = OCTET_FILTER_DESC_INIT;
  d.shape = c.shape;
  d.type = c.rhs;
  d.order = c.order;
  d.data = stored_.data();
  d.zero_points = filter_zero_points.empty() ? nullptr : filter_zero_points.data();
  d.zero_point_count = filter_zero_points.size();
  d.accuracy = c.accuracy;
  return d;
}

// ---- the object

Conv::Conv(const ConvProblem& problem, const ConvHow& how, Side side, octet_allocator allocator)
    : p_(problem), how_(how), side_(side) {
  place();
  status_ = pack();
  if (status_ == OCTET_OK) status_ = create(allocator);
  if (status_ == OCTET_OK) prepare_workspace(how_.concurrency);
}

octet_conv2d_shape Conv::declared() const {
  octet_conv2d_shape s = p_.c.shape;
  if (const octet_conv2d_pads* pads = how_.declared_pads)
    s.pad_top = pads->top, s.pad_bottom = pads->bottom, s.pad_left = pads->left,
    s.pad_right = pads->right;
  return s;
}

octet_status Conv::pack() {
  // Forces the layout, too: kernels for tests only have their own.
  const ScopedEnvironment forced("OCTET_KERNEL", how_.kernel);
  octet_filter_desc d = p_.filter_desc();
  d.shape = declared();
  d.algorithm = how_.algorithm;
  d.machine = how_.machine;
  d.packed_bytes_max = how_.packed_bytes_max;
  d.sparsity = how_.sparsity;
  const Guarded data(p_.stored(), side_);
  const Guarded zero_points(p_.filter_zero_points, side_);
  data.read_only();
  d.data = data.data();
  if (d.zero_points) d.zero_points = zero_points.data<int32_t>();
  size_t bytes;
  if (const octet_status status = octet_conv2d_pack_size(&d, how_.isa, &bytes, &error_))
    return status;
  blob_ = Guarded(bytes, side_, OCTET_ALIGNMENT);
  if (const octet_status status = octet_conv2d_pack(&d, how_.isa, blob_.data(), bytes, &error_))
    return status;
  blob_.read_only();
  return octet_blob_verify(blob_.data(), bytes, &error_);
}

octet_status Conv::create(octet_allocator allocator, const octet::Choice* choice) {
  octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
  d.shape = declared();
  d.lhs_layout = p_.c.lhs_layout;
  d.dst_layout = p_.c.dst_layout;
  d.lhs_type = p_.c.lhs;
  d.rhs_type = p_.c.rhs;
  d.lhs_quant = p_.c.runtime_quant ? OCTET_LHS_PER_TENSOR : OCTET_LHS_STATIC;
  d.lhs_zero_point = p_.c.lhs_zero_point;
  if (p_.c.floats) {
    d.lhs_type = OCTET_F32;
    if (!p_.c.runtime_quant)
      d.lhs_scale = kLhsScale, d.lhs_quantized_type = p_.c.lhs;
    else
      d.lhs_quant = p_.c.lhs == OCTET_U8 ? OCTET_LHS_ASYMMETRIC : OCTET_LHS_SYMMETRIC;
  }
  d.packed = blob_.data();
  d.packed_bytes = blob_.bytes();
  d.max_isa = how_.isa;
  d.kernel = how_.kernel;
  d.allocator = allocator;
  d.machine = how_.machine;
  const EpilogueArrays arrays = p_.epilogue.describe(side_, &d);
  const octet_status status = octet::create_conv(&d, choice, &conv_, &error_);
  if (status == OCTET_OK && how_.cache_bytes) {
    octet::ConvPlan& plan = conv_->plan;
    plan.cache_bytes = how_.cache_bytes;
    plan.block = plan.implementation->block(plan);
    conv_->declared = octet::schedule(*conv_, conv_->declared.sizes, 1);
  }
  return status;
}

octet_status Conv::choose(const octet::Choice& choice) {
  octet_conv2d_destroy(conv_);
  conv_ = nullptr;
  status_ = create({}, &choice);
  if (status_ != OCTET_OK) return status_;
  prepare_workspace(how_.concurrency);
  clear_dst();
  return status_;
}

void Conv::place() {
  const ConvCase& c = p_.c;
  const octet_conv2d_shape& s = c.shape;
  lhs_at_ = {c.lhs_layout, c.run_batch(), c.run_h(),
             c.run_w(),    s.in_channels, s.in_channels + c.lhs_extra};
  dst_at_ = {c.dst_layout, c.run_batch(),  p_.out_h,
             p_.out_w,     s.out_channels, s.out_channels + c.dst_extra};
  residual_at_ = dst_at_;
  if (!c.residual_is_dst) residual_at_.pixel = s.out_channels + c.residual_extra;

  const size_t element = element_bytes(c.dst), value = c.floats ? 4 : element_bytes(c.lhs);
  lhs_ = Guarded(lhs_at_.elements() * value, side_, value);
  if (c.floats)
    scatter<float>(lhs_at_, lhs_, p_.lhs_floats);
  else
    c.lhs == OCTET_S16 ? scatter<uint16_t>(lhs_at_, lhs_, p_.lhs)
                       : scatter<uint8_t>(lhs_at_, lhs_, p_.lhs);
  lhs_.read_only();
  lhs_zero_points_ = Guarded(p_.lhs_zero_points, side_);
  lhs_scales_ = Guarded(p_.lhs_scales, side_);
  dst_ = Guarded(dst_at_.elements() * element, side_, element);
  if (c.residual) residual_ = Guarded(residual_at_.elements(), side_);
  clear_dst();

  args_.batch = c.batch, args_.in_h = c.in_h, args_.in_w = c.in_w;
  args_.out_h = p_.out_h, args_.out_w = p_.out_w;
  pads_ = {s.pad_top, s.pad_bottom, s.pad_left, s.pad_right};
  if (how_.declared_pads) args_.pads = &pads_;
  args_.lhs = lhs_.data();
  if (c.lhs_extra) args_.lhs_stride = lhs_at_.pixel;
  if (!c.floats && !p_.lhs_zero_points.empty())
    args_.lhs_zero_points = lhs_zero_points_.data<int32_t>();
  if (!c.floats && !p_.lhs_scales.empty()) args_.lhs_scales = lhs_scales_.data<float>();
  args_.dst = dst_.data();
  if (c.dst_extra) args_.dst_stride = dst_at_.pixel;
  if (c.residual) {
    args_.residual = c.residual_is_dst ? dst_.data() : residual_.data();
    if (residual_at_.pixel != s.out_channels) args_.residual_stride = residual_at_.pixel;
  }
  if (how_.concurrency > 1) {
    args_.parallel_for = threaded_for;
    args_.concurrency = how_.concurrency;
  }
}

void Conv::clear_dst() {
  std::memset(dst_.data(), Guarded::kUntouched, dst_.bytes());
  if (p_.c.residual)
    scatter<uint8_t>(residual_at_, p_.c.residual_is_dst ? dst_ : residual_, p_.residual);
}

void Conv::prepare_workspace(size_t concurrency) {
  size_t bytes = 0;
  status_ = octet_conv2d_workspace(conv_, args_.batch, args_.in_h, args_.in_w, concurrency, &bytes,
                                   &error_);
  workspace_ = bytes ? Guarded(bytes, side_, OCTET_ALIGNMENT) : Guarded();
  args_.workspace = workspace_.data();
  args_.workspace_bytes = bytes;
}

testing::AssertionResult Conv::as_planned() const {
  const octet_conv_algorithm algorithm = octet_conv2d_algorithm(conv_);
  const char* const kernel = octet_conv2d_kernel(conv_);
  if (!kernel || algorithm == OCTET_CONV_AUTO)
    return testing::AssertionFailure() << (kernel ? "no algorithm" : "no kernel");
  if ((how_.algorithm && algorithm != how_.algorithm) ||
      (how_.kernel && std::strcmp(kernel, how_.kernel)))
    return testing::AssertionFailure() << octet_conv_algorithm_name(algorithm) << ", " << kernel;
  const MicroKernel* const bytes = octet::find(octet::int8_kernels(), kernel);
  const bool sparse = bytes && bytes->rhs_layout.sparse();
  if (how_.sparsity == OCTET_SPARSE_2_4 && !sparse)
    return testing::AssertionFailure() << "ran " << kernel << ", for dense weights";
  const octet_type rhs = is_4bit(p_.c.rhs) ? OCTET_S8 : p_.c.rhs,  // as they are packed
      lhs = p_.c.lhs == OCTET_S16 ? OCTET_S8 : p_.c.lhs;
  const octet_isa wanted =
      best_tier(algorithm, how_.isa, {lhs, rhs}, p_.has_filter_zero_points(), sparse);
  if (how_.isa && !is_for_few_columns(bytes, p_.c.shape.out_channels / p_.c.shape.groups) &&
      tier_of(kernel) != wanted)
    return testing::AssertionFailure() << "ran " << kernel << ", not " << octet_isa_name(wanted);
  return testing::AssertionSuccess();
}

testing::AssertionResult Conv::as_expected() const {
  const size_t element = element_bytes(p_.c.dst);
  const auto place_of = [&](size_t i) {
    const size_t n = i % dst_at_.channels, x = i / dst_at_.channels % dst_at_.w,
                 y = i / dst_at_.channels / dst_at_.w % dst_at_.h;
    return dst_at_.at(i / dst_at_.channels / dst_at_.w / dst_at_.h, y, x, n) * element;
  };
  std::vector<uint8_t> want(dst_.bytes(), Guarded::kUntouched);
  for (size_t i = 0; i < p_.expected.size(); ++i)
    std::memcpy(&want[place_of(i)], &p_.expected[i], element);
  if (std::memcmp(want.data(), dst_.data(), want.size()) == 0) return testing::AssertionSuccess();
  for (size_t i = 0; i < p_.expected.size(); ++i) {
    if (std::memcmp(&want[place_of(i)], dst_.data() + place_of(i), element) == 0) continue;
    int32_t want_bits = 0, got_bits = 0;
    std::memcpy(&want_bits, &want[place_of(i)], element);
    std::memcpy(&got_bits, dst_.data() + place_of(i), element);
    const size_t n = i % dst_at_.channels, x = i / dst_at_.channels % dst_at_.w,
                 y = i / dst_at_.channels / dst_at_.w % dst_at_.h;
    return testing::AssertionFailure()
           << "first wrong element: image " << i / dst_at_.channels / dst_at_.w / dst_at_.h << " y "
           << y << " x " << x << " channel " << n << ": want bits " << want_bits << ", got "
           << got_bits << " (acc " << p_.acc[i] << ')';
  }
  return testing::AssertionFailure() << "wrote between or beyond the pixels of dst";
}

// ---- every way

void check(const ConvProblem& problem, const ConvHow& how) {
  for (const Side side : {Side::kBack, Side::kFront}) {
    Conv conv(problem, how, side);
    ASSERT_EQ(conv.status(), OCTET_OK) << how << ": " << problem.c << ": " << conv.error().message;
    ASSERT_TRUE(conv.as_planned()) << how << ": " << problem.c;
    ASSERT_EQ(conv.run(), OCTET_OK) << how << ": " << problem.c << ": " << conv.error().message;
    ASSERT_TRUE(conv.as_expected())
        << how << ": " << problem.c << ", kernel " << octet_conv2d_kernel(conv.get());
  }
}

std::vector<octet_conv_algorithm> possible_algorithms(const ConvProblem& problem, octet_isa isa) {
  const octet_filter_desc d = problem.filter_desc();
  std::vector<octet_conv_algorithm> possible = {OCTET_CONV_AUTO};
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  octet_error error = {};
  octet_status status;
  for (size_t i = 0; (status = octet_conv2d_explain(&d, isa, i, &candidate, &error)) == OCTET_OK;
       ++i)
    if (candidate.possible) possible.push_back(candidate.algorithm);
  EXPECT_EQ(status, OCTET_BAD_SIZE) << problem.c << ": " << error.message;
  return possible;
}

size_t check_every_way(const ConvCase& c) {
  const ConvProblem problem(c);
  size_t ways = 0;
  for (ConvHow how : ways_of(problem))
    for (const octet_sparsity sparsity : {OCTET_SPARSE_NONE, OCTET_SPARSE_2_4, OCTET_SPARSE_AUTO}) {
      how.sparsity = sparsity;
      if (sparsity && !c.sparse) break;
      if (sparsity == OCTET_SPARSE_2_4 && how.algorithm > OCTET_CONV_IM2COL) continue;
      check(problem, how);
      if (testing::Test::HasFatalFailure()) return ways;
      ++ways;
    }
  return ways;
}

}  // namespace octet_test
