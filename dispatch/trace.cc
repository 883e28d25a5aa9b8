#include "dispatch/trace.h"

#include <stdio.h>
#include <time.h>

#include "dispatch/kernel_table.h"

namespace octet {

double now_microseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

void trace_demotions(IsaMask demoted) {
  for (int isa = (int)Isa::kScalar; isa <= (int)Isa::kI8mm; ++isa)
    if (demoted & mask_of((Isa)isa)) fprintf(stderr, "octet,demoted,%s\n", isa_name((Isa)isa));
}

void trace(const char* event, const octet_gemm& gemm, size_t m, size_t n, size_t k, size_t batch,
           double microseconds) {
  fprintf(stderr, "octet,%s,gemm,%zux%zux%zu,%zu,%s:%s:%s,%s,gemm,%.3f\n", event, m, n, k, batch,
          octet_type_name(gemm.lhs_type), octet_type_name(gemm.rhs_type),
          octet_type_name(gemm.dst_type), kernel_for(gemm.plan, m).name, microseconds);
}

void trace(const char* event, const octet_conv2d& conv, size_t batch, size_t in_h, size_t in_w,
           double microseconds) {
  const ConvShape& s = conv.plan.shape;
  char groups[24] = "";
  if (conv.groups > 1) snprintf(groups, sizeof groups, "g%zu", conv.groups);
  fprintf(stderr,
          "octet,%s,conv,%s%smb%zu_ic%zuoc%zu_ih%zuiw%zuoh%zuow%zukh%zukw%zush%zusw%zudh%zudw%zuph%"
          "zupw%zu,%zu,%s:%s:%s,%s,%s,%.3f\n",
          event, s.transposed ? "t" : "", groups, batch, s.in_channels, s.out_channels, in_h, in_w,
          conv_out_h(s, in_h), conv_out_w(s, in_w), s.kernel_h, s.kernel_w, s.stride_h, s.stride_w,
          s.dilation_h, s.dilation_w, s.pad_top, s.pad_left, batch, octet_type_name(conv.lhs_type),
          octet_type_name(conv.rhs_type), octet_type_name(conv.dst_type),
          octet_conv2d_kernel(&conv), octet_conv_algorithm_name(conv.algorithm), microseconds);
}

}  // namespace octet
