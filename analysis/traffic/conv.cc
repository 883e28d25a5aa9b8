// SPDX-License-Identifier: Apache-2.0
// octet_traffic_conv2d: walks a convolution with kernels and transforms that trace their memory
// accesses.
#include "analysis/traffic/lines.h"
#include "analysis/traffic/trace.h"
#include "dispatch/api/struct_size.h"
#include "octet/traffic.h"
#include "operators/conv/algorithms/channelwise.h"
#include "operators/conv/call.h"

namespace octet {
namespace {

// ---- Winograd's transforms ----------------------------------------------------------------------

// Inputs of a tile along one axis, and bytes of each transformed value
constexpr size_t kPatches[] = {4, 6, 5, 4}, kElements[] = {2, 2, 2, 1};
static_assert(sizeof kPatches / sizeof *kPatches == kWinogradVariants, "one for each");

template <size_t variant>
void transform_input(const WinogradInput& in) {
  MemoryTrace& trace = MemoryTrace::current();
  for (size_t i = 0; i < kPatches[variant] * kPatches[variant]; ++i) {
    trace.read(in.pixels[i], in.channels);
    uint8_t* const to = in.taps + i * in.tap_stride;
    const size_t most = in.eights_step ? 8 : in.channels;  // channels side by side
    for (size_t c = 0; c < in.channels; c += most)
      trace.write(to + c / 8 * in.eights_step, smaller(most, in.channels - c) * kElements[variant]);
  }
}

template <size_t variant>
void transform_output(const WinogradOutput& out) {
  MemoryTrace& trace = MemoryTrace::current();
  const size_t bytes = out.cols * sizeof(int32_t);
  for (size_t i = 0; i < kPatches[variant] * kPatches[variant]; ++i) {
    trace.read(out.products + i * out.tap_stride, bytes);
    if (kElements[variant] == 1) trace.read(out.tap_scale + i * out.tap_scale_stride, bytes);
  }
  if (out.scale) trace.read(out.scale, bytes);
  for (size_t y = 0; y < out.height; ++y)
    for (size_t x = 0; x < out.width; ++x)
      trace.write((uint8_t*)out.dst + y * out.dst_line + x * out.dst_pixel,
                  out.scale && !out.requantization->to_floats ? out.cols : bytes);
}

// ---- depthwise and grouped ----------------------------------------------------------------------

// Traces the accesses of a convolution that its kernels cannot see.
class ConvMemoryTrace : public MemoryTrace {
 public:
  ConvMemoryTrace(octet_traffic* traffic, const ConvPlan& plan)
      : MemoryTrace(traffic, plan.kernel),
        grouped(plan.depthwise && !is_depthwise(plan.shape)),
        input(plan.depthwise ? input_bytes(*plan.depthwise) : 1),
        widened(plan.depthwise && plan.depthwise->widen_5x5) {}
  static ConvMemoryTrace& of(MemoryTrace& trace) { return (ConvMemoryTrace&)trace; }

  const bool grouped;  // false: depthwise
  const size_t input;  // bytes of one channel of a pixel in a copied line
  const bool widened;  // kCopied5x5 by int16 weights reads int16
  size_t prepared_bytes = 0;
  size_t weight = 1;  // bytes of one of the block
};

// element: bytes of a weight.
template <size_t element>
void prepare(const DepthwiseBlock& b, void* prepared) {
  MemoryTrace& trace = MemoryTrace::current();
  ConvMemoryTrace& conv = ConvMemoryTrace::of(trace);
  conv.weight = element;
  trace.read(b.init, b.channels * sizeof(int32_t));
  if (b.scale) trace.read(b.scale, b.channels * sizeof(float));
  if (conv.grouped)
    trace.read(b.weights, round_up(b.channels, kGroupedBlock) * b.groups * 4 * b.quads);
  // A group covers a whole panel, in four pieces
  for (size_t piece = 0; !conv.grouped && piece < 4 * b.groups; ++piece)
    trace.read(b.weights + element * piece * kDepthwiseGroup / 4, element * b.channels);
  conv.prepared_bytes = depthwise_prepared_bytes(
      b.channels, conv.grouped ? b.groups * b.quads : b.sets * b.set_groups);
  trace.write(prepared, conv.prepared_bytes);
}

size_t output_size(const Requantization* r) {
  return !r || r->to_floats ? sizeof(int32_t) : element_size(r->dst_type);
}

// Traces a block of channels of one output pixel in each of the tile's lines.
void write_outputs(MemoryTrace& trace, const DepthwiseTile& t, size_t x) {
  for (size_t row = 0; row < t.rows; ++row) {
    const uint8_t* const at = t.dst + row * t.dst_line + x * t.dst_pixel;
    if (t.adds) trace.read(at + t.residual, t.channels);
    trace.write(at, t.channels * output_size(t.requantization));
  }
}

void multiply(const DepthwiseTile& t) {
  MemoryTrace& trace = MemoryTrace::current();
  const ConvMemoryTrace& conv = ConvMemoryTrace::of(trace);
  trace.read(t.prepared, conv.prepared_bytes);
  if (t.loop == DepthwiseLoop::kTaps) {
    const size_t slots = (conv.grouped ? 1 : 4) * t.groups;
    for (size_t x = 0; x < t.columns; ++x) {
      for (size_t slot = 0; slot < slots; ++slot)
        trace.read(t.pixels[slot] + x * t.steps[slot], t.channels * conv.input);
      write_outputs(trace, t, x);
    }
    return;
  }
  const bool copied = t.loop == DepthwiseLoop::kCopied5x5;
  if (t.tiles > 1) {
    DepthwiseTile one = t;
    one.tiles = 1;
    const size_t apart = copied ? t.steps[1] : t.rows * stride_of(t.loop);
    for (size_t tile = 0; tile < t.tiles; ++tile) {
      multiply(one);
      one.pixels += apart, one.dst += t.rows * t.dst_line;
      if (!copied) one.steps += apart;
    }
    return;
  }
  if (copied) {
    const size_t pixel = t.channels * (conv.widened ? conv.weight : 1);
    for (size_t x = 0; x < t.columns; ++x) {
      for (size_t tap = 0; tap < 25; ++tap)
        trace.read(t.pixels[tap / 5] + x * t.steps[0] + tap % 5 * pixel, pixel);
      write_outputs(trace, t, x);
    }
    return;
  }
  const size_t stride = stride_of(t.loop), last = is_5x5(t.loop) ? 4 : 2;  // the window's
  size_t column = t.first_column, inside = 0;
  for (size_t i = 0; i <= (t.columns - 1) * stride + last; ++i, ++column) {
    if (column < t.in_w) {
      for (size_t line = 0; line < t.rows + last; ++line)
        trace.read(t.pixels[line] + inside * t.steps[line], t.channels);
      ++inside;
    }
    if (i >= last && (i - last) % stride == 0) write_outputs(trace, t, (i - last) / stride);
  }
}

void requantize(const DepthwiseRaw& raw) {
  MemoryTrace& trace = MemoryTrace::current();
  for (size_t i = 0; i < raw.pixels; ++i) {
    trace.read(raw.acc + i * raw.acc_pixel, raw.channels * sizeof(int32_t));
    if (raw.adds) trace.read(raw.residual + i * raw.residual_pixel, raw.channels);
    trace.write(raw.dst + i * raw.dst_pixel, raw.channels);
  }
}

// ---- the run ------------------------------------------------------------------------------------

DepthwiseKernel traced(const DepthwiseKernel& kernel) {
  DepthwiseKernel traced = kernel;
  traced.prepare = element_size(kernel.layout.element_type) == 1 ? prepare<1> : prepare<2>;
  traced.multiply = multiply;
  if (kernel.requantize) traced.requantize = requantize;
  return traced;
}

// given: null where the library has no transforms
WinogradOps traced_transforms(const WinogradOps* given) {
  if (!given) return {};
  return {{transform_input<0>, transform_input<1>, transform_input<2>, transform_input<3>},
          {transform_output<0>, transform_output<1>, transform_output<2>, transform_output<3>},
          given->columns,
          given->stores_floats};
}

octet_status add_operands(MemoryTrace* trace, const octet_conv2d& conv, const octet_conv2d_args& a,
                          octet_error* error) {
  ConvSizes sizes;
  OCTET_TRY(check_sizes(conv, a, "args.", &sizes, error));
  ConvCall call = {a, sizes, {}, {}, {}, 0, 0, 0};
  OCTET_TRY(check_call(conv, &call, error));
  const auto add = [&](const Extent& extent, octet_operand operand) {
    trace->add((const void*)extent.begin, extent.end - extent.begin, operand);
  };
  add(call.lhs, OCTET_OPERAND_INPUT);
  add(call.dst, OCTET_OPERAND_OUTPUT);
  if (conv.residual_type) add(call.residual, OCTET_OPERAND_INPUT);
  trace->add(conv.packed, conv.packed_bytes, OCTET_OPERAND_WEIGHTS);
  trace->add(&conv, conv.bytes, OCTET_OPERAND_WEIGHTS);
  trace->add(a.workspace, a.workspace_bytes, OCTET_OPERAND_WORKSPACE);
  return OCTET_OK;
}

// A copy of a convolution whose kernels trace in place of computing.
struct TracedConv {
  octet_conv2d conv;
  MicroKernel kernel;
  // The kernel of depthwise or grouped weights, and the one of Int8Panels, with their tails
  DepthwiseKernel depthwise, tail, int8, int8_tail;
  const TierOps ops;
  const WinogradOps transforms;

  explicit TracedConv(const octet_conv2d& given)
      : conv(given),
        ops(octet::traced(*given.plan.ops)),
        transforms(traced_transforms(given.plan.transforms)) {
    ConvPlan& plan = conv.plan;
    if (plan.kernel) kernel = octet::traced(*plan.kernel), plan.kernel = &kernel;
    trace(&plan.depthwise, &depthwise, &tail);
    trace(&plan.int8_panels.kernel, &int8, &int8_tail);
    if (plan.epilogue.look_up) plan.epilogue.look_up = trace_look_up;
    plan.ops = &ops;
    if (plan.transforms) plan.transforms = &transforms;
    plan.touch = trace_touch;
    conv.verbose = 0;
  }
  TracedConv(const TracedConv&) = delete;
  TracedConv& operator=(const TracedConv&) = delete;

 private:
  // Points at a copy that traces.
  static void trace(const DepthwiseKernel** at, DepthwiseKernel* copy, DepthwiseKernel* tail) {
    if (!*at) return;
    *copy = traced(**at);
    if (copy->tail) {
      *tail = traced(*copy->tail);
      copy->tail = tail;
    }
    *at = copy;
  }
};

octet_status walk(octet_traffic* traffic, const octet_conv2d& conv, octet_conv2d_args a,
                  octet_error* error) {
  if (conv.lhs_type == OCTET_S16)
    return fail(error, OCTET_UNSUPPORTED, "conv: convolutions of an s16 lhs are not modelled");
  a.parallel_for = nullptr;
  const TracedConv traced(conv);
  ConvMemoryTrace trace(traffic, conv.plan);
  OCTET_TRY(add_operands(&trace, conv, a, error));
  return octet_conv2d_run(&traced.conv, &a, error);
}

void add_lines(MemoryTrace* trace, const LineTensor& t, size_t channels, octet_type type,
               octet_operand operand) {
  trace->add(t.data, (t.ring ? t.ring : t.h) * t.line - t.pixel + channels * element_bytes(type),
             operand);
}

}  // namespace

void walk_lines(octet_traffic* traffic, const octet_conv2d& conv, const LineTensor& lhs,
                const LineTensor* residual, const LineTensor& dst, LineRange out, size_t most,
                uint8_t* workspace) {
  const TracedConv traced(conv);
  const ConvShape& s = conv.plan.shape;
  ConvMemoryTrace trace(traffic, conv.plan);
  add_lines(&trace, lhs, s.in_channels, conv.lhs_type, OCTET_OPERAND_INPUT);
  add_lines(&trace, dst, s.out_channels, conv.dst_type, OCTET_OPERAND_OUTPUT);
  if (residual)
    add_lines(&trace, *residual, s.out_channels, conv.residual_type, OCTET_OPERAND_INPUT);
  trace.add(conv.packed, conv.packed_bytes, OCTET_OPERAND_WEIGHTS);
  trace.add(&conv, conv.bytes, OCTET_OPERAND_WEIGHTS);
  trace.add(workspace, lines_workspace(conv, lhs.h, lhs.w, most), OCTET_OPERAND_WORKSPACE);
  run_lines(traced.conv, lhs, residual, dst, out, most, workspace);
}

}  // namespace octet

using namespace octet;

octet_status octet_traffic_conv2d(octet_traffic* traffic, const octet_conv2d* conv,
                                  const octet_conv2d_args* args, octet_error* error) {
  if (!traffic || !conv)
    return fail(error, OCTET_NULL_POINTER, "%s is null", traffic ? "conv" : "traffic");
  CallerStruct<octet_conv2d_args> given;
  OCTET_TRY(given.read(args, "args", error));
  return walk(traffic, *conv, *given, error);
}
