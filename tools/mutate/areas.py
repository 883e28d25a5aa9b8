"""What is mutated, and which tests are the first to notice. The others follow but for those which
run nothing of the area, so a survivor has passed everything that could tell."""

from collections import namedtuple

# share: of the mutants of a sample. files: patterns. tests: most likely first. apart: those which
# cannot tell.
Area = namedtuple("Area", "name share files tests apart", defaults=[[]])

PRODUCTS = ["batch", "dynamic", "epilogue", "float_modes", "gemm", "kernel", "overlap", "pack",
            "random", "threads", "tflite", "word_kernel"]  # no convolution in them
DIRECT = ["depthwise", "kernel", "winograd", "winograd_int8", "word_kernel"]  # past the front door

NATIVE = [
    Area("checks", 4,
         ["dispatch/arena.*", "dispatch/blob.*", "dispatch/conv_absent.cc", "dispatch/conv_blob.*", "dispatch/check.*", "dispatch/conv.h", "dispatch/conv_create.cc",
          "dispatch/conv_call.h", "dispatch/conv_check.cc", "dispatch/conv_filter.*", "dispatch/conv_limit.cc", "dispatch/conv_pack.cc",
          "dispatch/conv_lines.*", "dispatch/conv_run.cc", "dispatch/conv_schedule.*",
          "dispatch/conv_padding.cc", "dispatch/quantize.cc", "dispatch/tflite_scales.cc",
          "dispatch/conv_shape.*", "dispatch/environment.*", "dispatch/error.*", "dispatch/gemm.h",
          "dispatch/gemm_bias.cc", "dispatch/gemm_build.cc", "dispatch/gemm_call.h", "dispatch/gemm_check.cc",
          "dispatch/gemm_create.cc", "dispatch/gemm_explain.cc",
          "dispatch/gemm_draft.h", "dispatch/gemm_finish.cc",
          "dispatch/gemm_overlap.cc", "dispatch/gemm_run.cc", "dispatch/info.cc",
          "dispatch/conv_trace.*", "dispatch/pack.cc", "dispatch/rhs_weights.*", "dispatch/sparse_*", "dispatch/struct_size.*", "dispatch/trace.*"],
         ["bad_input", "conv_bad_input", "conv_limit", "large_sizes", "large_counts", "struct_size", "helpers", "overlap", "workspace",
          "environment", "blob", "residual_exits", "tflite", "dead_channels", "sparse_pattern", "sparse_stream", "sparse_indexed", "sparse_prune"],
         DIRECT),
    Area("selection", 2,
         ["dispatch/choice.*", "dispatch/conv_choice.*", "dispatch/conv_kernels.*",
          "dispatch/conv_methods.*", "dispatch/conv_cost.*", "dispatch/conv_plan.*", "dispatch/gemm_choice.*",
          "dispatch/cpu_features.*", "dispatch/cpu_files.*", "dispatch/exact_float.h",
          "dispatch/given_machine.*", "dispatch/gemm_choose.cc",
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
         ["traffic/*", "kernels/core/touch.h"],
         ["traffic", "traffic_network", "large_counts_network"]),
    Area("packing", 2,
         ["kernels/pack/*", "kernels/sparse/*", "kernels/conv/filter_*",
          "kernels/conv/panels.*", "kernels/core/layout.h", "kernels/core/pairs.h", "kernels/core/sparse.h"],
         ["blob", "pack", "paired", "sparse_weights", "sparse_blob", "sparse_stream", "sparse_indexed", "sparse_prune", "conv_bad_input", "vectors", "conformance"]),
    Area("gemm", 2,
         ["kernels/gemm/gemm.*", "kernels/nest/*", "kernels/core/output.h",
          "kernels/core/sections.h", "kernels/core/micro_kernel.h", "kernels/core/isa.h"],
         ["vectors", "gemm", "workspace", "batch", "threads", "dynamic"],
         ["winograd", "winograd_int8"]),
    Area("conv", 3,
         ["kernels/conv/block.*", "kernels/conv/start.h", "kernels/conv/direct.cc", "kernels/conv/im2col.cc",
          "kernels/conv/transposed.*", "kernels/conv/window.h", "kernels/conv/taps.h",
          "kernels/conv/conv.h", "kernels/conv/lines.*", "kernels/conv/pipeline.*",
          "kernels/conv/stage.*"],
         ["conformance", "conv_layout", "conv_threads", "conv_sides", "conv_shapes"],
         PRODUCTS),
    Area("depthwise", 2,
         ["kernels/conv/channelwise.*", "kernels/conv/depthwise.cc", "kernels/conv/grouped.cc",
          "kernels/simd/depthwise.h", "kernels/simd/grouped.h", "kernels/core/depthwise_kernel.h"],
         ["conformance", "depthwise", "conv_shapes"],
         PRODUCTS),
    Area("winograd", 2,
         ["kernels/conv/winograd*", "kernels/simd/*winograd*", "kernels/core/winograd.h"],
         ["conv_winograd_edges", "winograd", "winograd_int8"],
         PRODUCTS),
    Area("epilogue", 3,
         ["kernels/simd/finish.h", "kernels/simd/init.h", "kernels/core/init.h", "kernels/simd/lhs_rows.h", "kernels/simd/round.h", "kernels/x86/row_sums.h", "kernels/simd/gather.h",
          "kernels/simd/portable.*", "kernels/core/finish.h", "kernels/core/lhs_rows.h", "kernels/core/narrow.h",
          "kernels/core/tier_ops.h",
          "kernels/core/byte_sum.h", "kernels/simd/byte_sum.h", "kernels/core/tflite*.h", "kernels/x86/byte_sum.h", "kernels/x86/exit_rows.h",
          "kernels/x86/finish.h", "kernels/x86/float_exit.h", "kernels/x86/look_up.h", "kernels/x86/narrow.h",
          "kernels/x86/*_ymm.h", "kernels/x86/tile_zmm.h", "kernels/x86/tflite*.h", "kernels/x86/widths.h"],
         ["vectors", "residual_exits", "kernel", "epilogue", "depthwise", "dynamic"]),
    Area("kernels", 3,
         ["kernels/core/assert.h", "kernels/core/limits.h", "kernels/core/strict_float.h", "kernels/core/unroll.h", "kernels/ref/*",
          "kernels/x86/*.cc", "kernels/xsimd/*",
          "kernels/x86/accumulate.h", "kernels/x86/grouped_order.h", "kernels/x86/kernels.h", "kernels/x86/quads.h", "kernels/x86/sparse_vnni*.h", "kernels/x86/tail.h", "kernels/x86/word_weights.h"],
         ["self_test", "word_kernel", "kernel", "depthwise", "winograd"]),
]

# Under qemu, with a build of their own.
ARM = [
    Area("arm", 1, ["kernels/arm/*"],
         ["self_test", "word_kernel", "kernel", "depthwise", "winograd"]),
]
