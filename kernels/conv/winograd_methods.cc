// The schemes, and each as a method.
#include "kernels/conv/winograd.h"

namespace octet {
namespace {

constexpr WinogradScheme k2x2 = {
    Winograd::k2x2, 4, 2, 1, {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}}, 1 << 22};
constexpr WinogradScheme k4x4 = {
    Winograd::k4x4,
    6,
    4,
    1,
    {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 6}},
    1 << 18};
constexpr WinogradScheme k2x2Stride2 = {Winograd::k2x2Stride2,
                                        5,
                                        2,
                                        2,
                                        {{1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}},
                                        INT32_MAX};
constexpr WinogradScheme k2x2Int8 = {
    Winograd::k2x2Int8, 4, 2, 1, {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}}, 0};

// Each output is the sum of 9 taps' products. Rounding to bytes at most doubles a tap of the input,
// of at most 512, and makes none of the weights larger than their tap's largest, which all weights
// of an output together bound; and the exact accumulator reaches 127 times those.
double int8_stretch(const ConvShape& shape) {
  return 1 + 9.0 * 1024 / 127 * (double)shape.group_in();
}

template <const WinogradScheme& s>
constexpr ConvMethod method(const char* name) {
  return {name,
          [](const ConvShape& shape, bool weight_zero_points) {
            return winograd_refuse(s, shape, weight_zero_points);
          },
          [](const RhsLayout& layout, const ConvShape& shape) {
            return winograd_payload_bytes(s, layout, shape);
          },
          [](const RhsLayout& layout, const ConvShape& shape, const FilterView& filter,
             const float* tap_ranges, const ColumnSums& sums, uint8_t* payload) {
            return winograd_pack(s, layout, shape, filter, tap_ranges, sums, payload);
          },
          [](const ConvPlan& plan, size_t out_h, size_t out_w) {
            // Groups are not cut: their channels need not be a multiple of anything.
            const size_t strip = larger(plan.kernel->nr, plan.kernel->rhs_layout.width);
            return ConvGrain{winograd_tiles(s, out_h, out_w),
                             plan.shape.groups == 1 ? strip : plan.shape.group_out(), s.out};
          },
          [](const ConvPlan& plan, size_t, size_t, size_t out_h, size_t out_w) {
            return winograd_task_workspace(s, plan, out_h, out_w);
          },
          [](const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace) {
            winograd_run(s, plan, run, task, workspace);
          },
          nullptr,
          nullptr,
          s.int8() ? int8_stretch : nullptr};
}

}  // namespace

const ConvMethod winograd_2x2_method = method<k2x2>("winograd2x2");
const ConvMethod winograd_4x4_method = method<k4x4>("winograd4x4");
const ConvMethod winograd_2x2_s2_method = method<k2x2Stride2>("winograd2x2_s2");
const ConvMethod winograd_2x2_int8_method = method<k2x2Int8>("winograd2x2_int8");

}  // namespace octet
