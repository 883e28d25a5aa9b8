"""What is mutated, and which tests are the first to notice. The others follow but for those which
run nothing of the area, so a survivor has passed everything that could tell."""

from collections import namedtuple

# share: of the mutants of a sample. files: patterns. tests: most likely first. apart: those which
# cannot tell.
Area = namedtuple("Area", "name share files tests apart", defaults=[[]])

PRODUCTS = ["batch", "dynamic", "epilogue", "float_modes", "gemm", "kernel", "overlap", "pack",
            "random", "threads", "tflite", "int16_kernel"]  # no convolution in them
DIRECT = ["depthwise", "kernel", "winograd", "winograd_int8", "int16_kernel"]  # past the front door

NATIVE = [
    Area("checks", 4,
         ["dispatch/arena.*", "dispatch/blob.*", "operators/conv/not_built.cc", "dispatch/conv_blob.*", "dispatch/check.*", "operators/conv/object.h", "operators/conv/create.cc",
          "operators/conv/call.h", "operators/conv/check.cc", "dispatch/conv_filter.*", "operators/conv/limit.cc", "operators/conv/pack.cc",
          "dispatch/conv_lines.*", "operators/conv/run.cc", "dispatch/conv_schedule.*",
          "operators/helpers/conv_padding.cc", "operators/helpers/quantize.cc", "operators/helpers/tflite_scales.cc",
          "dispatch/conv_shape.*", "dispatch/environment.*", "dispatch/error.*", "operators/gemm/object.h",
          "operators/gemm/bias.cc", "operators/gemm/build.cc", "operators/gemm/call.h", "operators/gemm/check.cc",
          "operators/gemm/create.cc", "operators/gemm/explain.cc",
          "operators/gemm/builder.h", "operators/gemm/epilogue.cc",
          "operators/gemm/overlap.cc", "operators/gemm/run.cc", "operators/common/info.cc",
          "dispatch/conv_trace.*", "operators/gemm/pack.cc", "dispatch/rhs_weights.*", "dispatch/sparse_*", "dispatch/struct_size.*", "dispatch/trace.*"],
         ["bad_input", "conv_bad_input", "conv_limit", "large_sizes", "large_counts", "struct_size", "helpers", "overlap", "workspace",
          "environment", "blob", "residual_exits", "tflite", "dead_channels", "sparse_pattern", "sparse_stream", "sparse_indexed", "sparse_prune"],
         DIRECT),
    Area("selection", 2,
         ["dispatch/choice.*", "dispatch/conv_choice.*", "dispatch/conv_kernels.*",
          "dispatch/conv_methods.*", "dispatch/conv_cost.*", "dispatch/conv_plan.*", "dispatch/gemm_choice.*",
          "dispatch/cpu_features.*", "dispatch/cpu_files.*", "dispatch/self_test/exact_float.h",
          "dispatch/given_machine.*", "operators/gemm/choose.cc",
          "dispatch/conv_machine.*", "dispatch/conv_names.*", "dispatch/machine.*", "dispatch/paired.*",
          "dispatch/select.*", "dispatch/sparsity.*", "dispatch/self_test*", "dispatch/task_size.*", "dispatch/tables/*", "kernels/conv/estimate.*",
          "kernels/core/kernel_kind.h",
          "kernels/core/tier_costs.h"],
         ["selection", "choice", "machine", "self_test", "self_test_exits", "demotion", "conv_explain",
          "gemm_explain", "environment", "paired", "task_size"]),
    Area("tuning", 1,
         ["tune/*", "dispatch/costs.*", "dispatch/file_error.*", "dispatch/tuning*", "dispatch/conv_tuning*", "dispatch/gemm_tuning.*"],
         ["tune", "tuning_cache", "race", "calibrate"]),
    Area("network", 1,
         ["network/*"],
         ["network_plan", "network_run", "bad_network", "large_counts_network"]),
    Area("traffic", 1,
         ["traffic/*", "kernels/core/memory_trace.h"],
         ["traffic", "traffic_network", "large_counts_network"]),
    Area("packing", 2,
         ["kernels/pack/*", "kernels/sparse/*", "kernels/conv/filter_*",
          "kernels/conv/panels.*", "kernels/core/packed_layout.h", "kernels/core/paired_weights.h", "kernels/core/sparse.h"],
         ["blob", "pack", "paired", "sparse_weights", "sparse_blob", "sparse_stream", "sparse_indexed", "sparse_prune", "conv_bad_input", "vectors", "conformance"]),
    Area("gemm", 2,
         ["kernels/gemm/gemm.*", "kernels/nest/*", "kernels/core/output.h",
          "kernels/core/sections.h", "kernels/core/micro_kernel.h", "kernels/core/isa.h"],
         ["vectors", "gemm", "workspace", "batch", "threads", "dynamic"],
         ["winograd", "winograd_int8"]),
    Area("conv", 3,
         ["kernels/conv/block.*", "operators/conv/algorithms/accumulator_init.h", "operators/conv/algorithms/direct.cc", "operators/conv/algorithms/im2col.cc",
          "kernels/conv/transposed.*", "operators/conv/algorithms/window.h", "operators/conv/algorithms/taps.h",
          "operators/conv/algorithms/algorithm.h", "kernels/conv/lines.*", "kernels/conv/pipeline.*",
          "kernels/conv/stage.*"],
         ["conformance", "conv_layout", "conv_threads", "conv_sides", "conv_shapes"],
         PRODUCTS),
    Area("depthwise", 2,
         ["kernels/conv/channelwise.*", "operators/conv/algorithms/depthwise.cc", "operators/conv/algorithms/grouped.cc",
          "kernels/generic/depthwise.h", "kernels/generic/grouped.h", "kernels/core/depthwise_kernel.h"],
         ["conformance", "depthwise", "conv_shapes"],
         PRODUCTS),
    Area("winograd", 2,
         ["kernels/conv/winograd*", "kernels/simd/*winograd*", "kernels/core/winograd_ops.h"],
         ["conv_winograd_edges", "winograd", "winograd_int8"],
         PRODUCTS),
    Area("epilogue", 3,
         ["kernels/generic/epilogue.h", "kernels/generic/accumulator_init.h", "kernels/core/accumulator_init.h", "kernels/generic/lhs_rows.h", "kernels/generic/round.h", "kernels/x86/shared/row_sums.h", "kernels/generic/gather.h",
          "kernels/simd/portable.*", "kernels/core/epilogue.h", "kernels/core/lhs_rows.h", "kernels/core/requantize.h",
          "kernels/core/tier_ops.h",
          "kernels/core/tflite_add.h", "kernels/generic/tflite_add.h", "kernels/core/tflite*.h", "kernels/x86/shared/tflite_add.h", "kernels/x86/shared/epilogue_rows.h",
          "kernels/x86/shared/epilogue.h", "kernels/x86/shared/epilogue_float.h", "kernels/x86/shared/look_up.h", "kernels/x86/shared/requantize.h",
          "kernels/x86/*_ymm.h", "kernels/x86/shared/store_tile_zmm.h", "kernels/x86/tflite*.h", "kernels/x86/shared/widths.h"],
         ["vectors", "residual_exits", "kernel", "epilogue", "depthwise", "dynamic"]),
    Area("kernels", 3,
         ["kernels/core/assert.h", "kernels/core/limits.h", "kernels/core/strict_float.h", "kernels/core/unroll.h", "kernels/ref/*",
          "kernels/x86/*.cc", "kernels/xsimd/*",
          "kernels/x86/shared/accumulate.h", "kernels/x86/shared/grouped_order.h", "kernels/x86/kernels.h", "kernels/x86/shared/quads.h", "kernels/x86/sparse_vnni*.h", "kernels/x86/shared/tail.h", "kernels/x86/shared/int16_weights.h"],
         ["self_test", "int16_kernel", "kernel", "depthwise", "winograd"]),
]

# Under qemu, with a build of their own.
ARM = [
    Area("arm", 1, ["kernels/arm/*"],
         ["self_test", "int16_kernel", "kernel", "depthwise", "winograd"]),
]
