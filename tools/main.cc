// The octet command: its command line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.h"
#include "conv_suite.h"
#include "octet/octet.h"

namespace {

constexpr const char* kIsaHelp =
    "Limit to this tier: SCALAR, AVX2, AVXVNNI, AVX512VNNI, NEON, DOTPROD, I8MM";

void add_measuring_options(CLI::App* command, tool::BenchArguments* a) {
  command->add_option("--isa", a->isa, kIsaHelp);
  command->add_option("--threads", a->threads, "Threads; one is pinned to its CPU")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--repetitions", a->repetitions, "Repetitions; the median counts")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--operands", a->operands,
                   "What they are like: uniform, or real: ReLU-like activations, Gaussian "
                   "weights scaled per channel")
      ->capture_default_str();
  command->add_option("--json", a->json, "Also write this file");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("INT8 GEMM and convolution with the same bytes on every CPU", "octet");
  app.set_version_flag("--version", octet_version());
  app.require_subcommand(1);
  app.footer("Exit code: 0 success, 1 a wrong result, 2 an error.");
  int exit_code = tool::kSuccess;

  bool json = false;
  CLI::App* info = app.add_subcommand(
      "info", "Show the CPU, the tiers, the kernels, and which kernel is chosen");
  info->add_flag("--json", json, "As JSON");
  info->callback([&] { exit_code = tool::info(json); });

  std::string kernel;
  CLI::App* verify = app.add_subcommand(
      "verify",
      "Check every usable kernel and algorithm against a reference, with random and extreme data");
  verify->add_option("--kernel", kernel, "This kernel only; octet info lists them");
  verify->callback([&] { exit_code = tool::verify(kernel); });

  tool::ExplainArguments e;
  CLI::App* explain = app.add_subcommand(
      "explain", "Show what could compute a case, what each would cost, and why");
  CLI::App* conv = explain->add_subcommand("conv", "A convolution");
  explain->require_subcommand(1);
  conv->add_option("--shape", e.shape, "Such as mb1_ic64oc64_ih56oh56kh3sh1ph1")->required();
  conv->add_option("--isa", e.isa, kIsaHelp);
  conv->add_option("--types", e.types, "Types of input, weights and output")->capture_default_str();
  CLI::Option* const l2 =
      conv->add_option("--l2", e.l2_bytes, "For a machine with so many bytes of L2, not this one");
  conv->add_option("--l3", e.l3_bytes, "... of L3; none by default")->needs(l2);
  conv->add_flag("--in-order", e.in_order, "... whose cores execute in order")->needs(l2);
  conv->add_option("--packed-bytes-max", e.packed_bytes_max,
                   "The most bytes that packed weights may take");
  conv->add_option("--sparse", e.sparse, "2:4 sparse weights, packed so: 2:4, or auto");
  conv->add_flag("--json", e.json, "As JSON");
  conv->callback([&] { exit_code = tool::explain_conv(e); });
  CLI::App* gemm = explain->add_subcommand("gemm", "A product with packed weights");
  gemm->add_option("--shape", e.shape, "MxNxK, such as 128x768x3072")->required();
  gemm->add_option("--isa", e.isa, kIsaHelp);
  gemm->add_option("--types", e.types, "Types of lhs, rhs and dst")->capture_default_str();
  gemm->add_option("--threads", e.threads, "Tasks at most")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  gemm->add_option("--sparse", e.sparse, "2:4 sparse weights, packed so: 2:4, or auto");
  gemm->add_flag("--json", e.json, "As JSON");
  gemm->callback([&] { exit_code = tool::explain_gemm(e); });

  tool::BenchArguments a;
  CLI::App* bench = app.add_subcommand("bench", "Verify and time products and convolutions");
  const std::string layers =
      fmt::format("{}, mb1_ic64oc64_ih56oh56kh3sh1ph1, network.json (tools/network makes it)",
                  fmt::join(tool::conv_suite_names(), ", "));
  bench->add_option("cases", a.cases, "Several: gemm, MxNxK, " + layers);
  bench->add_option("--kernel", a.kernel, "Force this kernel; octet info lists them");
  bench->add_option(
      "--algorithm", a.algorithm,
      "Force this algorithm of convolution: direct, im2col, depthwise, winograd2x2, ...");
  bench->add_option("--requant", a.requant, "How accumulators become 8 bits: float, tflite")
      ->capture_default_str();
  bench->add_option("--rhs-zero-point", a.rhs_zero_point,
                    "The weights' zero point; none by default (u8: 0)");
  bench->add_option(
      "--sparse", a.sparse,
      "Weights of which two of four are not zero, packed so: 2:4, or auto, where that "
      "gains; beside the same ones packed dense");
  bench->add_flag("--residual", a.residual, "Add a residual to the outputs");
  bench->add_flag("--table", a.table, "Look the outputs up in a table");
  bench->add_option("--peer", a.peer,
                    "Compare, in alternation, with onednn, with a program such as "
                    "tools/compare/onnxruntime_peer.py, or with octet itself: float, in float "
                    "mode; symmetric, weights of zero point 0 (u8: 128); plain, with neither "
                    "residual nor table");
  bench
      ->add_option("--types", a.types,
                   "Types of lhs, rhs and dst, several, comma-separated; u8s8s32,u8s8u8 for "
                   "products, u8s8u8 for convolutions, a network's own for it")
      ->delimiter(',');
  add_measuring_options(bench, &a);
  CLI::App* plan = bench->add_subcommand(
      "plan", "Time every algorithm that could compute a convolution, and rate the plan's choice");
  CLI::App* pack =
      bench->add_subcommand("pack", "Time packing the weights and creating the convolution");
  for (CLI::App* command : {plan, pack}) {
    command->add_option("cases", a.cases, "Several: " + layers)->required();
    command->add_option("--types", a.types, "Types of input, weights and output; u8s8u8 by default")
        ->expected(1);
    add_measuring_options(command, &a);
  }
  pack->add_option("--algorithm", a.algorithm, "Force this algorithm");
  plan->callback([&] { exit_code = tool::bench_plan(a); });
  pack->callback([&] { exit_code = tool::bench_pack(a); });
  bench->callback([&] {
    if (!bench->get_subcommands().empty()) return;
    if (a.cases.empty()) throw CLI::RequiredError("cases");
    exit_code = tool::bench(a);
  });

  tool::TuneArguments t;
  CLI::App* tune = app.add_subcommand(
      "tune", "Measure how each case is best computed on this machine, and keep it in a file");
  tune->add_option("cases", t.bench.cases, "Several: gemm, MxNxK, " + layers)->required();
  tune->add_option("--seconds", t.seconds, "For all cases together; 2 for each by default")
      ->check(CLI::PositiveNumber);
  tune->add_option(
      "--cache", t.cache,
      "The file that keeps what is found, for OCTET_TUNING; by default what that says");
  tune->add_option("--types", t.bench.types,
                   "Types of lhs, rhs and dst, several; u8s8u8 by default")
      ->delimiter(',');
  tune->add_option("--requant", t.bench.requant, "How accumulators become 8 bits: float, tflite")
      ->capture_default_str();
  tune->add_option("--rhs-zero-point", t.bench.rhs_zero_point,
                   "The weights' zero point; none by default (u8: 0)");
  tune->add_option("--isa", t.bench.isa, kIsaHelp);
  tune->add_option("--threads", t.bench.threads, "Threads; one is pinned to its CPU")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  tune->add_option("--json", t.bench.json, "Also write this file");
  tune->callback([&] { exit_code = tool::tune(t); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? tool::kSuccess : tool::kFailure;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "octet: %s\n", error.what());
    return tool::kFailure;
  }
  return exit_code;
}
