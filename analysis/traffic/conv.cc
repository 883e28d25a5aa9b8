// octet_traffic_conv2d: walks a convolution with kernels and transforms that trace their memory
// accesses.
#include "analysis/traffic/lines.h"
#include "analysis/traffic/watch.h"
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

template <size_t format>
void transform_input(const WinogradInput& in) {
  MemoryTrace& watch = MemoryTrace::current();
  for (size_t i = 0; i < kPatches[format] * kPatches[format]; ++i) {
    watch.read(in.pixels[i], in.channels);
    watch.write(in.taps + i * in.tap_stride, in.channels * kElements[format]);
  }
}

template <size_t format>
void transform_output(const WinogradOutput& out) {
  MemoryTrace& watch = MemoryTrace::current();
  const size_t bytes = out.cols * sizeof(int32_t);
  for (size_t i = 0; i < kPatches[format] * kPatches[format]; ++i) {
    watch.read(out.products + i * out.tap_stride, bytes);
    if (kElements[format] == 1) watch.read(out.tap_scale + i * out.tap_scale_stride, bytes);
  }
  if (out.scale) watch.read(out.scale, bytes);
  for (size_t y = 0; y < out.height; ++y)
    for (size_t x = 0; x < out.width; ++x)
      watch.write((uint8_t*)out.dst + y * out.dst_line + x * out.dst_pixel,
                  out.scale ? out.cols : bytes);
}

// ---- depthwise and grouped ----------------------------------------------------------------------

// Traces the accesses of a convolution that its kernels cannot see.
class ConvMemoryTrace : public MemoryTrace {
 public:
  ConvMemoryTrace(octet_traffic* traffic, const ConvPlan& plan)
      : MemoryTrace(traffic, plan.kernel),
        grouped(plan.depthwise && !is_depthwise(plan.shape)),
        element(plan.depthwise ? element_size(plan.depthwise->layout.element_type) : 1),
        input(plan.depthwise ? input_bytes(*plan.depthwise) : 1) {}
  static ConvMemoryTrace& of(MemoryTrace& watch) { return (ConvMemoryTrace&)watch; }

  const bool grouped;    // false: depthwise
  const size_t element;  // bytes of a weight
  const size_t input;    // bytes of one channel of a pixel in a copied line
  size_t prepared_bytes = 0;
};

void prepare(const DepthwiseBlock& b, void* prepared) {
  MemoryTrace& watch = MemoryTrace::current();
  ConvMemoryTrace& conv = ConvMemoryTrace::of(watch);
  watch.read(b.init, b.channels * sizeof(int32_t));
  if (b.scale) watch.read(b.scale, b.channels * sizeof(float));
  if (conv.grouped)
    watch.read(b.weights, round_up(b.channels, kGroupedBlock) * b.groups * 4 * b.quads);
  // A group covers a whole panel, in four pieces
  for (size_t piece = 0; !conv.grouped && piece < 4 * b.groups; ++piece)
    watch.read(b.weights + conv.element * piece * kDepthwiseGroup / 4, conv.element * b.channels);
  conv.prepared_bytes = depthwise_prepared_bytes(b.channels, b.sets * b.set_groups * b.quads);
  watch.write(prepared, conv.prepared_bytes);
}

// Traces a block of channels of one output pixel in each of the tile's lines.
void write_outputs(MemoryTrace& watch, const DepthwiseTile& t, size_t x) {
  for (size_t row = 0; row < t.rows; ++row)
    watch.write(t.dst + row * t.dst_line + x * t.dst_pixel,
                t.requantization ? t.channels : t.channels * sizeof(int32_t));
}

void multiply(const DepthwiseTile& t) {
  MemoryTrace& watch = MemoryTrace::current();
  const ConvMemoryTrace& conv = ConvMemoryTrace::of(watch);
  watch.read(t.prepared, conv.prepared_bytes);
  if (t.format == DepthwiseLoop::kTaps) {
    const size_t slots = (conv.grouped ? 1 : 4) * t.groups;
    for (size_t x = 0; x < t.columns; ++x) {
      for (size_t slot = 0; slot < slots; ++slot)
        watch.read(t.pixels[slot] + x * t.steps[slot], t.channels * conv.input);
      write_outputs(watch, t, x);
    }
    return;
  }
  const size_t stride = t.format == DepthwiseLoop::kWalkBy2 ? 2 : 1;
  size_t column = t.first_column, inside = 0;
  for (size_t i = 0; i < (t.columns - 1) * stride + 3; ++i, ++column) {
    if (column < t.in_w) {
      for (size_t line = 0; line < t.rows + 2; ++line)
        watch.read(t.pixels[line] + inside * t.steps[line], t.channels);
      ++inside;
    }
    if (i >= 2 && (i - 2) % stride == 0) write_outputs(watch, t, (i - 2) / stride);
  }
}

void leave(const DepthwiseRaw& raw) {
  MemoryTrace& watch = MemoryTrace::current();
  for (size_t i = 0; i < raw.pixels; ++i) {
    watch.read(raw.acc + i * raw.acc_pixel, raw.channels * sizeof(int32_t));
    watch.write(raw.dst + i * raw.dst_pixel, raw.channels);
  }
}

// ---- the run ------------------------------------------------------------------------------------

DepthwiseKernel traced(const DepthwiseKernel& kernel) {
  DepthwiseKernel traced = kernel;
  traced.prepare = prepare;
  traced.multiply = multiply;
  if (kernel.leave) traced.leave = leave;
  return traced;
}

constexpr WinogradOps traced_transforms(uint8_t columns) {
  return {{transform_input<0>, transform_input<1>, transform_input<2>, transform_input<3>},
          {transform_output<0>, transform_output<1>, transform_output<2>, transform_output<3>},
          columns};
}

octet_status add_operands(MemoryTrace* watch, const octet_conv2d& conv, const octet_conv2d_args& a,
                          octet_error* error) {
  ConvSizes sizes;
  OCTET_TRY(check_sizes(conv, a, "args.", &sizes, error));
  ConvCall call = {a, sizes, {}, {}, {}, 0, 0, 0};
  OCTET_TRY(check_call(conv, &call, error));
  const auto add = [&](const Extent& extent, octet_operand operand) {
    watch->add((const void*)extent.begin, extent.end - extent.begin, operand);
  };
  add(call.lhs, OCTET_OPERAND_INPUT);
  add(call.dst, OCTET_OPERAND_OUTPUT);
  if (conv.residual_type) add(call.residual, OCTET_OPERAND_INPUT);
  watch->add(conv.packed, conv.packed_bytes, OCTET_OPERAND_WEIGHTS);
  watch->add(&conv, conv.bytes, OCTET_OPERAND_WEIGHTS);
  watch->add(a.workspace, a.workspace_bytes, OCTET_OPERAND_WORKSPACE);
  return OCTET_OK;
}

// A copy of a convolution whose kernels trace in place of computing.
struct TracedConv {
  octet_conv2d conv;
  MicroKernel kernel;
  DepthwiseKernel depthwise, tail;
  const TierOps ops;
  const WinogradOps transforms;

  explicit TracedConv(const octet_conv2d& given)
      : conv(given),
        ops(octet::traced(*given.plan.ops)),
        transforms(traced_transforms(given.plan.transforms ? given.plan.transforms->columns : 0)) {
    ConvPlan& plan = conv.plan;
    if (plan.kernel) kernel = octet::traced(*plan.kernel), plan.kernel = &kernel;
    if (plan.depthwise) {
      if (plan.depthwise->tail) tail = traced(*plan.depthwise->tail);
      depthwise = traced(*plan.depthwise);
      if (depthwise.tail) depthwise.tail = &tail;
      plan.depthwise = &depthwise;
    }
    plan.ops = &ops;
    if (plan.transforms) plan.transforms = &transforms;
    plan.touch = trace_touch;
    conv.verbose = 0;
  }
  TracedConv(const TracedConv&) = delete;
  TracedConv& operator=(const TracedConv&) = delete;
};

octet_status walk(octet_traffic* traffic, const octet_conv2d& conv, octet_conv2d_args a,
                  octet_error* error) {
  a.parallel_for = nullptr;
  const TracedConv traced(conv);
  ConvMemoryTrace watch(traffic, conv.plan);
  OCTET_TRY(add_operands(&watch, conv, a, error));
  return octet_conv2d_run(&traced.conv, &a, error);
}

void add_lines(MemoryTrace* watch, const LineTensor& t, size_t channels, octet_type type,
               octet_operand operand) {
  watch->add(t.data, (t.ring ? t.ring : t.h) * t.line - t.pixel + channels * element_bytes(type),
             operand);
}

}  // namespace

void walk_lines(octet_traffic* traffic, const octet_conv2d& conv, const LineTensor& lhs,
                const LineTensor* residual, const LineTensor& dst, LineRange out, size_t most,
                uint8_t* workspace) {
  const TracedConv traced(conv);
  const ConvShape& s = conv.plan.shape;
  ConvMemoryTrace watch(traffic, conv.plan);
  add_lines(&watch, lhs, s.in_channels, conv.lhs_type, OCTET_OPERAND_INPUT);
  add_lines(&watch, dst, s.out_channels, conv.dst_type, OCTET_OPERAND_OUTPUT);
  if (residual)
    add_lines(&watch, *residual, s.out_channels, conv.residual_type, OCTET_OPERAND_INPUT);
  watch.add(conv.packed, conv.packed_bytes, OCTET_OPERAND_WEIGHTS);
  watch.add(&conv, conv.bytes, OCTET_OPERAND_WEIGHTS);
  watch.add(workspace, lines_workspace(conv, lhs.h, lhs.w, most), OCTET_OPERAND_WORKSPACE);
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
