# SPDX-License-Identifier: Apache-2.0
"""The mutated areas, and the tests that are tried first for each. All other tests follow but for those that run nothing of the area, so a survivor
has passed every test that could fail."""

from collections import namedtuple

# share: of the mutants of a sample. files: patterns. tests: most likely first. apart: tests that cannot fail. A file belongs to the first area that
# has a pattern for it.
Area = namedtuple("Area", "name share files tests apart", defaults=[[]])

PRODUCTS = ["batch", "double_mode", "dynamic", "epilogue", "float_modes", "gemm", "kernel", "overlap", "pack",
            "random", "threads", "tflite", "int16_kernel"]  # these contain no convolution
DIRECT = ["depthwise", "kernel", "winograd", "winograd_int8", "int16_kernel"]  # these do not use the public API

NATIVE = [
    Area("tuning", 1,
         ["analysis/tune/*", "dispatch/tuning/*", "dispatch/os/*", "dispatch/api/file_error.*",
          "operators/tuning_not_built.cc", "operators/conv/tuning*", "operators/gemm/tuning.*"],
         ["tune", "tuning_cache", "os", "race", "calibrate"]),
    Area("network", 1,
         ["operators/network/*"],
         ["network_plan", "network_run", "bad_network", "large_counts_network"]),
    Area("functions", 1,
         ["operators/functions/*", "kernels/generic/functions/*", "kernels/x86/functions/*"],
         ["binary", "images", "image_definitions", "image_network"],
         PRODUCTS + DIRECT),
    Area("traffic", 1,
         ["analysis/traffic/*", "kernels/core/memory_trace.h"],
         ["traffic", "traffic_network", "large_counts_network"]),
    Area("depthwise", 2,
         ["operators/conv/algorithms/channelwise*",
          "operators/conv/algorithms/depthwise.cc", "operators/conv/algorithms/grouped.cc",
          "kernels/generic/depthwise*",
          "kernels/generic/grouped.h", "kernels/core/depthwise_kernel.h"],
         ["conformance", "depthwise", "conv_shapes"],
         PRODUCTS),
    Area("winograd", 2,
         ["operators/conv/algorithms/winograd/winograd*", "kernels/generic/*winograd*",
          "kernels/core/winograd_ops.h"],
         ["conv_winograd_edges", "winograd", "winograd_int8"],
         PRODUCTS),
    Area("selection", 2,
         ["dispatch/select/*", "dispatch/cpu/[dfp]*", "dispatch/self_test/*", "dispatch/tables/*",
          "operators/gemm/choose_kernels.cc", "operators/gemm/choice.*", "operators/conv/choice.*",
          "operators/conv/kernels.*", "operators/conv/layouts.*", "operators/conv/cost.*",
          "operators/conv/plan.*", "operators/conv/machine.*", "operators/common/task_size.*",
          "operators/conv/algorithms/estimate.*", "operators/conv/algorithms/table.*",
          "kernels/core/kernel_kind.h", "kernels/core/feature.h", "kernels/core/tier_costs.h"],
         ["plan", "selection", "siblings", "choice", "cpu", "machine", "self_test", "self_test_rounding",
          "self_test_s16", "demotion", "conv_explain", "gemm_explain", "environment", "paired", "permission", "task_size"]),
    Area("packing", 2,
         ["packing/*", "operators/sparse/[gs]*", "operators/sparse/indexed.*",
          "operators/sparse/prune.*", "operators/conv/algorithms/filter_*",
          "operators/conv/algorithms/panels.*", "kernels/core/packed_layout.h",
          "kernels/core/paired_weights.h", "kernels/core/sparse.h"],
         ["blob", "pack", "paired", "sparse_weights", "sparse_blob", "sparse_stream",
          "sparse_indexed", "sparse_prune", "conv_bad_input", "int4_filter", "vectors", "conformance"]),
    Area("conv", 3,
         ["operators/conv/algorithms/*", "operators/conv/algorithms/direct/*"],
         ["conformance", "conv_layout", "conv_line_windows", "conv_threads", "conv_sides", "conv_s16", "conv_shapes"],
         PRODUCTS),
    Area("gemm", 2,
         ["operators/gemm/loops.*", "operators/gemm/runtime_weights.*", "operators/gemm/schedule.*",
          "operators/gemm/plan.h", "kernels/macro/*", "kernels/core/output.h",
          "kernels/core/sections.h", "kernels/core/micro_kernel.h", "kernels/core/tier_id.h",
          "kernels/core/runtime_weights.h", "kernels/x86/runtime/*", "kernels/generic/int4.*",
          "kernels/x86/int4/*", "kernels/x86/amx/*", "operators/gemm/scale_blocks.*", "packing/scale_blocks.*",
          "kernels/core/scale_blocks.h", "kernels/generic/scale_blocks.h",
          "kernels/scalar/scalar_s8u4_blocks*", "kernels/x86/scale_blocks/*",
          "operators/gemm/s16.*", "kernels/core/s16.h", "kernels/generic/s16.h"],
         ["vectors", "gemm", "int4", "scale_blocks", "gemm_s16", "workspace", "batch", "threads", "dynamic", "runtime_weights"],
         ["winograd", "winograd_int8"]),
    Area("epilogue", 3,
         ["kernels/generic/*", "kernels/core/accumulator_init.h", "kernels/core/epilogue.h",
          "kernels/core/lhs_rows.h", "kernels/core/requantize.h", "kernels/core/tier_ops.h",
          "kernels/core/tflite*.h", "kernels/core/double_scale.h", "kernels/x86/shared/*"],
         ["vectors", "residual_epilogue", "kernel", "epilogue", "depthwise", "dynamic"]),
    Area("kernels", 3,
         ["kernels/core/*", "kernels/scalar/*", "kernels/x86/*", "kernels/x86/avx512bw/*", "kernels/x86/byte_rows/*", "kernels/x86/sparse/*",
          "kernels/x86/s16/*", "kernels/x86/taps/*", "kernels/xsimd/*"],
         ["self_test", "int16_kernel", "kernel", "depthwise", "winograd"]),
    Area("checks", 4,
         ["operators/*/*", "dispatch/api/*", "dispatch/cpu/environment.*"],
         ["bad_input", "conv_bad_input", "double_mode", "conv_limit", "large_sizes", "large_counts", "struct_size",
          "helpers", "overlap", "workspace", "environment", "blob", "residual_epilogue", "tflite", "bad_scale_blocks",
          "dead_channels", "gemm_s16", "import_weights", "quantize_weights", "sparse_pattern", "sparse_stream", "sparse_indexed", "sparse_prune"],
         DIRECT),
]

# These areas run under qemu, with a build of their own.
ARM = [
    Area("arm", 1, ["kernels/arm/*", "kernels/arm/shared/*"],
         ["self_test", "int16_kernel", "kernel", "depthwise", "winograd"]),
]
