// SPDX-License-Identifier: Apache-2.0
// Parses the command line of the octet command.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "bench/cases/conv_suite.h"
#include "bench/cases/graph.h"
#include "bench/cases/network.h"
#include "octet/octet.h"
#include "tools/octet/commands.h"

namespace {

// The help of an option whose value is a tier: this text and all tiers' names.
std::string and_tiers(const std::string& text) {
  std::string names;
  for (const octet_isa isa : tool::tiers_of(UINT32_MAX))
    names += (names.empty() ? "" : ", ") + std::string(octet_isa_name(isa));
  return text + names;
}

constexpr const char* kNetworkHelp =
    "Also this description of a network (tools/models/describe.py makes it)";

void add_isa(CLI::App* command, std::string* isa) {
  command->add_option("--isa", *isa, and_tiers("Limit to this tier, weights without pairs: "));
}
template <typename Number>
void add_count(CLI::App* command, const char* name, Number* number, int most, const char* help) {
  command->add_option(name, *number, help)->check(CLI::Range(1, most))->capture_default_str();
}
template <typename Number>
void add_threads(CLI::App* command, Number* threads) {
  add_count(command, "--threads", threads, 1024, "Threads; one is pinned to its CPU");
}
template <typename Number>
void add_repetitions(CLI::App* command, Number* repetitions) {
  add_count(command, "--repetitions", repetitions, 10000, "Repetitions; the median counts");
}

void add_measuring_options(CLI::App* command, tool::BenchArguments* a) {
  add_isa(command, &a->isa);
  add_threads(command, &a->threads);
  add_repetitions(command, &a->repetitions);
  command
      ->add_option(
          "--operands", a->operands,
          "Values of lhs and weights: uniform; real: ReLU-like activations, Gaussian weights "
          "scaled per channel; model: the weights and scales of network.json's data")
      ->capture_default_str();
  command->add_option("--json", a->json, "Also write this file");
}

// Also refuses NaN, which CLI11's ranges accept.
std::string seconds_problem(const std::string& text) {
  const double seconds = std::strtod(text.c_str(), nullptr);
  return seconds >= 0.001 && seconds <= 1e6 ? "" : "'" + text + "' is not 0.001 to 1000000 seconds";
}

// CLI::Range accepts text that is no number.
std::string fps_problem(const std::string& text) {
  char* end = nullptr;
  const double images = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' && images >= 0.001 && images <= 1e9
             ? ""
             : fmt::format("'{}' is not 0.001 to 10^9 images per second", text);
}

// Help of at most 100 columns: further lines of a description begin below its first.
class Formatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    constexpr size_t kColumns = 100;
    std::istringstream lines(CLI::Formatter::make_help(app, name, mode));
    std::string help;
    for (std::string line; std::getline(lines, line); help += line + '\n') {
      const size_t indent =
          line.rfind("  ", 0) == 0 ? std::min(line.size(), get_column_width()) : 0;
      for (size_t at; line.size() > kColumns;
           line = std::string(indent, ' ') + line.substr(at + 1)) {
        at = line.rfind(' ', kColumns);
        if (at == std::string::npos || at <= indent) break;
        help += line.substr(0, at) + '\n';
      }
    }
    return help;
  }
};

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::string layers() {
  return fmt::format("{}, mb1_ic64oc64_ih56oh56kh3sh1ph1, network.json (tools/models makes it)",
                     fmt::join(tool::conv_suite_names(), ", "));
}

void add_quantization(CLI::App* command, tool::BenchArguments* a) {
  command
      ->add_option("--requant", a->requant, "How accumulators become 8 bits: float, tflite, double")
      ->capture_default_str();
  command->add_option("--lhs-zero-point", a->lhs_zero_point, "Input's zero point; 0 by default");
  command->add_option("--rhs-zero-point", a->rhs_zero_point,
                      "The weights' zero point; none by default (u8: 0)");
}

void add_modes(CLI::App* command, tool::BenchArguments* a) {
  add_quantization(command, a);
  command->add_flag("--residual", a->residual, "Add a residual to the outputs");
  command->add_flag("--table", a->table, "Look the outputs up in a table");
}

// The commands, their options and where these go.
class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", octet_version());
    app_.formatter(std::make_shared<Formatter>());
    app_.require_subcommand(1);
    app_.footer(
        "Examples:\n  octet bench 128x768x3072                      a product, M x N x K\n"
        "  octet bench mb1_ic64oc64_ih56oh56kh3sh1ph1    a convolution of 3x3, as benchdnn has it\n"
        "  octet bench resnet50 --threads 2 --peer onednn\n"
        "  octet explain conv --shape mb1_ic64oc64_ih56oh56kh3sh1ph1\n"
        "  octet report --to my-board                    my-board.json and my-board.md, to send\n\n"
        "Exit code: 0 success, 1 a wrong result, 2 an error.");
    add_info();
    add_verify();
    add_explain();
    add_bench();
    add_tune();
    add_run();
    add_traffic();
    add_report();
  }

  int run(int argc, char** argv) {
    try {
      const std::string first = argc > 1 ? argv[1] : "";
      const std::vector<std::string> names = command_names(app_);
      if (first.rfind('-', 0) != 0 && std::find(names.begin(), names.end(), first) == names.end())
        throw tool::Error(fmt::format("{}: {}; octet --help lists the commands",
                                      first.empty()
                                          ? "a command is required"
                                          : fmt::format("there is no command '{}'", first),
                                      fmt::join(names, ", ")));
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? tool::kSuccess : tool::kFailure;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "octet: %s\n", error.what());
      return tool::kFailure;
    }
    return exit_code_;
  }

 private:
  void check_file() const {
    if (!file_.empty() && !tool::is_network_file(file_))
      throw tool::Error(fmt::format("--network: '{}' is no file with a name of .json", file_));
  }
  // Adds --network's file. False if there is no case.
  bool with_file(std::vector<std::string>* cases) const {
    check_file();
    if (!file_.empty()) cases->push_back(file_);
    return !cases->empty();
  }

  void add_info() {
    CLI::App* info = app_.add_subcommand(
        "info", "Show the CPU, the tiers, the kernels, and which kernel is chosen");
    info->add_flag("--json", json_, "As JSON");
    info->callback([this] { exit_code_ = tool::info(json_); });
  }

  void add_verify() {
    CLI::App* verify = app_.add_subcommand("verify",
                                           "Check every usable kernel and algorithm against a "
                                           "reference, with random and extreme data");
    verify->add_option("--kernel", kernel_, "This kernel only; octet info lists them");
    verify->callback([this] { exit_code_ = tool::verify(kernel_); });
  }

  void add_explain() {
    tool::ExplainArguments& e = explain_;
    CLI::App* explain = app_.add_subcommand(
        "explain", "Show the kernels and algorithms for a case, their costs and the choice");
    CLI::App* conv = explain->add_subcommand("conv", "A convolution");
    explain->require_subcommand(1);
    conv->add_option("--shape", e.shape, "Such as mb1_ic64oc64_ih56oh56kh3sh1ph1")->required();
    conv->add_option("--isa", e.isa,
                     and_tiers("Explain this tier, also one that this CPU or library lacks: "));
    conv->add_option("--types", e.types, "Types of input, weights and output")
        ->capture_default_str();
    CLI::Option* const l2 = conv->add_option(
        "--l2", e.l2_bytes,
        "For a machine with so many bytes of L2 and of unknown design, not this one");
    conv->add_option("--l3", e.l3_bytes, "... of L3; none by default")->needs(l2);
    conv->add_flag("--in-order", e.in_order, "... whose cores execute in order")->needs(l2);
    conv->add_option("--packed-bytes-max", e.packed_bytes_max, "Most bytes of packed weights");
    conv->add_option("--sparse", e.sparse, "2:4 sparse weights, packed so: 2:4, or auto");
    conv->add_flag("--json", e.json, "As JSON");
    conv->callback([this] { exit_code_ = tool::explain_conv(explain_); });
    CLI::App* gemm = explain->add_subcommand("gemm", "A product with packed weights");
    gemm->add_option("--shape", e.shape, "MxNxK, such as 128x768x3072")->required();
    add_isa(gemm, &e.isa);
    gemm->add_option("--types", e.types, "Types of lhs, rhs and dst")->capture_default_str();
    add_count(gemm, "--threads", &e.threads, 1024, "Tasks at most");
    gemm->add_option("--sparse", e.sparse, "2:4 sparse weights, packed so: 2:4, or auto");
    gemm->add_option("--scale-block", e.scale_block, "As of bench");
    gemm->add_flag("--json", e.json, "As JSON");
    gemm->callback([this] { exit_code_ = tool::explain_gemm(explain_); });
  }

  void add_bench() {
    tool::BenchArguments& a = bench_;
    CLI::App* bench = app_.add_subcommand("bench", "Verify and time products and convolutions");
    bench->add_option("cases", a.cases, "Several: gemm, MxNxK, " + layers());
    bench->add_option("--network", file_, kNetworkHelp);
    bench->add_option("--kernel", a.kernel, "Force this kernel; octet info lists them");
    bench->add_option(
        "--algorithm", a.algorithm,
        "Force this algorithm of convolution: direct, im2col, depthwise, winograd2x2, ...");
    add_modes(bench, &a);
    bench->add_option(
        "--sparse", a.sparse,
        "Weights of which two of four are not zero, packed so: 2:4, or auto, where that "
        "gains; beside the same ones packed dense");
    bench->add_option("--run-time", a.run_time,
                      "Products: weights come with each run, in this order, unpacked: kn, nk");
    bench->add_option("--scale-block", a.scale_block,
                      "Products with f32 outputs: a scale in f16 for so many "
                      "consecutive weights of a column; beside peer int8, which has none");
    bench->add_flag("--list", a.list,
                    "Only print the cases: name, how often it appears, first layer");
    bench->add_option("--peer", a.peer,
                      "Compare, in alternation, with onednn, with a program such as "
                      "bench/peers/onnxruntime_peer.py, or with octet itself: float, in float "
                      "mode; symmetric, weights of zero point 0 (u8: 128); plain, with neither "
                      "residual nor table; int8, with 8 bits in place of 4 or 16");
    bench
        ->add_option("--types", a.types,
                     "Types of lhs, rhs and dst, several, comma-separated; u8s8s32,u8s8u8 for "
                     "products, u8s8u8 for convolutions, a network's own for it")
        ->delimiter(',');
    add_measuring_options(bench, &a);
    add_bench_parts(bench);
    bench->callback([this, bench] {
      if (!bench->get_subcommands().empty()) return;
      if (!with_file(&bench_.cases)) throw CLI::RequiredError("cases");
      exit_code_ = tool::bench(bench_);
    });
  }

  void add_bench_parts(CLI::App* bench) {
    tool::BenchArguments& a = bench_;
    CLI::App* plan = bench->add_subcommand(
        "plan",
        "Time every algorithm that could compute a convolution, and rate the plan's choice");
    CLI::App* pack =
        bench->add_subcommand("pack", "Time packing the weights and creating the convolution");
    for (CLI::App* command : {plan, pack}) {
      command->add_option("cases", a.cases, "Several: " + layers());
      command->add_option("--network", file_, kNetworkHelp);
      command
          ->add_option("--types", a.types, "Types of input, weights and output; u8s8u8 by default")
          ->expected(1);
      add_modes(command, &a);
      add_measuring_options(command, &a);
    }
    plan->add_option("--check", a.check_percent,
                     "Exit with 1 if the plan's choices take more than so many percent longer than "
                     "the best ones; layers that seem to lose are timed up to twice again first")
        ->check(CLI::Range(0.0, 1000.0));
    pack->add_option("--algorithm", a.algorithm, "Force this algorithm");
    plan->callback([this] {
      if (!with_file(&bench_.cases)) throw CLI::RequiredError("cases");
      exit_code_ = tool::bench_plan(bench_);
    });
    pack->callback([this] {
      if (!with_file(&bench_.cases)) throw CLI::RequiredError("cases");
      exit_code_ = tool::bench_pack(bench_);
    });
  }

  void add_report() {
    tool::ReportArguments& r = report_;
    CLI::App* report = app_.add_subcommand(
        "report",
        "Verify, time a fixed list of products and networks beside the peers that are there, and "
        "write a file and a page to send, in under five minutes");
    report->add_option("--to", r.to, "Write the files of this name with .json and .md")
        ->capture_default_str();
    report->add_option("--peer", r.peers,
                       "Also beside this program; onednn is taken where it is built in");
    report->add_option("--seconds", r.seconds, "Begin no other case after so many")
        ->check(seconds_problem)
        ->capture_default_str();
    add_threads(report, &r.threads);
    report->add_option("--from", r.from, "Run nothing: make the page of these reports' .json");
    report->callback([this] { exit_code_ = tool::report(report_); });
  }

  void add_tune() {
    tool::TuneArguments& t = tune_;
    CLI::App* tune = app_.add_subcommand(
        "tune", "Measure how each case is best computed on this machine, and keep it in a file");
    tune->add_option("cases", t.bench.cases, "Several: gemm, MxNxK, " + layers());
    tune->add_option("--network", file_, kNetworkHelp);
    tune->add_flag("--calibrate", t.calibrate,
                   "Measure this machine's costs instead, for the plans of shapes never measured");
    tune->add_option("--profile", t.profile,
                     "Take costs from this file instead, as assumed: lines of TIER NAME=VALUE ...");
    tune->add_option("--seconds", t.seconds, "For all cases together; 2 for each by default")
        ->check(seconds_problem);
    tune->add_option("--cache", t.cache,
                     "The file that keeps the results; by default the one that OCTET_TUNING names");
    tune->add_flag("--only-missing", t.only_missing, "Leave out shapes that the file has already");
    tune->add_option("--types", t.bench.types,
                     "Types of lhs, rhs and dst, several; u8s8u8 by default")
        ->delimiter(',');
    add_quantization(tune, &t.bench);
    add_isa(tune, &t.bench.isa);
    add_threads(tune, &t.bench.threads);
    tune->add_option("--json", t.bench.json, "Also write this file");
    tune->callback([this] {
      if (!with_file(&tune_.bench.cases) && !tune_.calibrate && tune_.profile.empty())
        throw CLI::RequiredError("cases");
      exit_code_ = tool::tune(tune_);
    });
  }

  void add_run() {
    tool::RunArguments& r = run_;
    CLI::App* run = app_.add_subcommand(
        "run", "Run networks layer by layer and as planned: equal bytes, time of both, memory");
    run->add_option(
        "networks", r.bench.cases,
        fmt::format("Several: {}; with the size of the input as in espcn:1080x1920; a suite or a "
                    "case; or a network.json with its data (tools/models/describe.py --data)",
                    fmt::join(tool::graph_names(), ", ")));
    run->add_option("--network", file_, kNetworkHelp);
    run->add_option("--input", r.input,
                    "Read the bytes of all inputs, one after the other, from this file; random "
                    "bytes by default");
    run->add_option("--output", r.output, "Also write the bytes of all outputs to this file");
    run->add_option(
        "--as", r.as,
        "The engine whose bytes a model has: litert-1.2 (the default of .tflite), "
        "litert (1.3 and later), xnnpack; onnxruntime (the default of .onnx), standard");
    run->add_option("--goal", r.goal,
                    "The plan's goal, to be kept small: time, traffic, memory, layers")
        ->capture_default_str();
    run->add_option("--cache", chain_cache_,
                    "The cache that chains are to stay in, such as 512K; L2 by default");
    run->add_option("--memory", r.memory_bytes, "With the goal memory: bytes for maps, at most")
        ->check(CLI::PositiveNumber);
    add_count(run, "--batch", &r.batch, 1024, "Images at a time");
    run->add_option(
        "--weights-max", r.weights_max,
        "Bytes of all packed filters of convolutions, at most, such as 24M (K = 1024, M = 1048576 "
        "bytes); none: no limit; by default 2.5 times the weights, as far as that costs no more "
        "than 5 % of the predicted time. Products are not counted");
    add_isa(run, &r.bench.isa);
    add_threads(run, &r.bench.threads);
    add_repetitions(run, &r.bench.repetitions);
    run->add_option("--json", r.bench.json, "Also write this file");
    run->callback([this] {
      if (!chain_cache_.empty()) run_.cache_bytes = tool::parse_bytes(chain_cache_);
      if (!with_file(&run_.bench.cases)) throw tool::Error("run: a network is required");
      if (run_.memory_bytes && run_.goal != "memory")
        throw tool::Error("--memory needs --goal memory");
      exit_code_ = tool::run(run_);
    });
  }

  void add_traffic() {
    tool::TrafficArguments& m = traffic_;
    CLI::App* traffic = app_.add_subcommand(
        "traffic",
        "Show the bytes that a network's layers read and write in memory, by a model of caches");
    traffic->add_option(
        "name", m.network,  // not "network": CLI11 of Debian 13 refuses it beside --network
        fmt::format("{}, each with a size or without (espcn:540x960), a network.json "
                    "(tools/models makes it), a suite, or a case",
                    fmt::join(tool::graph_names(), ", ")));
    traffic->add_option("--network", file_, "A description of a network, instead");
    traffic
        ->add_option(
            "--cache", caches_,
            "The last cache before memory, several: 512K by default; CSV and SVG are of the "
            "first")
        ->delimiter(',');
    traffic->add_option("--bandwidth", bandwidth_, "Of the memory; 5GB/s by default");
    traffic->add_option("--fps", m.fps, "Images per second")
        ->check(fps_problem)
        ->capture_default_str();
    add_count(traffic, "--batch", &m.batch, 1024,
              "Images at a time; the report shows the bytes that this saves");
    add_isa(traffic, &m.isa);
    traffic->add_option("--algorithm", m.algorithm, "Force this algorithm of convolution");
    traffic->add_option("--types", m.types, "Types of input, weights and output")
        ->capture_default_str();
    traffic->add_option("--csv", m.csv, "Also write this table, a line for each layer");
    traffic->add_option("--svg", m.svg, "Also draw this picture");
    traffic->add_option("--json", m.json, "Also write this file");
    traffic->add_flag("--execute", m.execute,
                      "Run the layers instead, once, for tools that count accesses");
    traffic->add_flag("--chains", m.chains, "With --execute: in chains")->needs("--execute");
    traffic->callback([this] {
      tool::TrafficArguments& m = traffic_;
      if (m.network.empty() == file_.empty())
        throw tool::Error(m.network.empty() ? "traffic: a network is required"
                                            : "traffic: a network or --network, not both");
      check_file();
      if (m.network.empty()) m.network = file_;
      if (!caches_.empty()) m.cache_bytes.clear();
      for (const std::string& cache : caches_) m.cache_bytes.push_back(tool::parse_bytes(cache));
      if (!bandwidth_.empty()) m.bandwidth = tool::parse_bandwidth(bandwidth_);
      exit_code_ = tool::traffic(m);
    });
  }

  CLI::App app_{"INT8 GEMM and convolution with the same bytes on every CPU", "octet"};
  int exit_code_ = tool::kSuccess;
  bool json_ = false;
  std::string kernel_, file_, chain_cache_, bandwidth_;  // file_: --network, another case
  std::vector<std::string> caches_;
  tool::ExplainArguments explain_;
  tool::BenchArguments bench_;
  tool::ReportArguments report_;
  tool::TuneArguments tune_;
  tool::RunArguments run_;
  tool::TrafficArguments traffic_;
};

}  // namespace

int main(int argc, char** argv) { return CommandLine().run(argc, argv); }
