// SPDX-License-Identifier: Apache-2.0
// Runs octet bench pack: it times packing and creating convolutions.
#include <fmt/format.h>

#include "bench/described/model_cases.h"
#include "bench/problems/conv_plan.h"
#include "bench/run/report.h"
#include "tools/octet/bench_options.h"

namespace tool {
namespace {

// One step of making a convolution, in the form that the measurement times.
template <typename Step>
class Making : public Contestant {
 public:
  explicit Making(Step step) : step_(step) {}
  void run(size_t calls) override {
    for (size_t i = 0; i < calls; ++i) step_();
  }
  const void* dst() const override { return nullptr; }

 private:
  Step step_;
};

struct MakingTime {
  std::string algorithm, kernel;
  double megabytes;  // size of the caller's weights
  double pack_us, create_us;
};

MakingTime bench_making(const ConvCase& conv, const OperandTypes& types,
                        const BenchOptions& options) {
  const ConvData data = data_of(conv, types, options.operands);
  Buffer blob;
  const auto pack = [&] { pack_filter(data, options.forced, &blob); };
  const auto create = [&] { return create_conv(data, options.forced, blob); };
  pack();
  const Conv made = create();
  Making packing(pack);
  Making creating(create);
  const Clock clock(true);
  const Stopwatch packing_watch(&packing, clock), creating_watch(&creating, clock);
  std::vector<double> pack_seconds, create_seconds;
  for (int i = 0; i < options.repetitions; ++i) {
    pack_seconds.push_back(packing_watch.repetition());
    create_seconds.push_back(creating_watch.repetition());
  }
  return {octet_conv_algorithm_name(octet_conv2d_algorithm(made.get())),
          octet_conv2d_kernel(made.get()), (double)data.filter.size() / 1e6,
          median(pack_seconds) * 1e6, median(create_seconds) * 1e6};
}

}  // namespace

int bench_pack(const BenchArguments& a) {
  const BenchOptions options = to_options(a);
  const std::vector<CaseGroup> groups =
      convolutions_of(parse_cases(a.cases, options.operands.likeness));
  JsonFile file(a.json);
  ordered_json json = {{"machine", machine_json(options)}, {"layers", ordered_json::array()}};
  pin_if_single(options);

  print_machine(options);
  for (const CaseGroup& group : groups) {
    const OperandTypes types = conv_types(group, a.types);
    refuse_modes(options.operands, types);
    fmt::print("{:<9}{:<42}{:>5}  {:<18}{:>10}{:>12}{:>9}{:>12}{:>12}  {}\n", "", "case", "count",
               "algorithm", "MB", "pack us", "GB/s", "create us", "both us", "kernel");
    double total_us = 0, total_megabytes = 0;
    size_t index = 0;
    for (const ConvCase& conv : group.convolutions) {
      const MakingTime t = bench_making(conv, types, options);
      const double both = t.pack_us + t.create_us;
      total_us += both;
      total_megabytes += t.megabytes;
      fmt::print("{:<9}{:<42}{:>5}  {:<18}{:>10.4f}{:>12.3f}{:>9.3f}{:>12.3f}{:>12.3f}  {}\n",
                 fmt::format("[{}/{}]", ++index, group.convolutions.size()), conv.shape.name(),
                 conv.count, t.algorithm, t.megabytes, t.pack_us, t.megabytes * 1e3 / t.pack_us,
                 t.create_us, both, t.kernel);
      std::fflush(stdout);
      json["layers"].push_back({{"suite", group.name},
                                {"name", conv.shape.name()},
                                {"count", conv.count},
                                {"types", types.name()},
                                {"operands", likeness_name(options.operands.likeness)},
                                {"algorithm", t.algorithm},
                                {"kernel", t.kernel},
                                {"weights_mb", t.megabytes},
                                {"pack_us", t.pack_us},
                                {"create_us", t.create_us}});
    }
    fmt::print("{:<9}{} distinct layers, each once: {:.3f} MB of weights in {:.3f} ms\n\n", "",
               group.convolutions.size(), total_megabytes, total_us / 1e3);
    json["summary"][group.name] = {{"layers", group.convolutions.size()},
                                   {"weights_mb", total_megabytes},
                                   {"pack_and_create_us", total_us}};
  }
  file.write(json);
  return kSuccess;
}

}  // namespace tool
