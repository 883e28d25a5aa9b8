// SPDX-License-Identifier: Apache-2.0
// Runs a peer that is a process of its own: a program in any language, or a library that this one
// is linked with. The process runs only during a request, and is stopped (SIGSTOP) otherwise:
// spinning threads of its pool would take Octet's cores. It reads requests from its standard input
// and answers on its standard output, each a line of JSON; tensors travel behind their line as
// plain bytes, dense, in the order and of the sizes that the line tells.
//
//   {"hello": {"threads": 1}}    the first: {"name": "ONNX Runtime 1.31.1", "call_us": 7.5,
//                                "lhs_zero_point": true,
//                                "modes": ["tflite", "double", "residual", "table"]}; all but
//                                the name may be missing
//   {"gemm": {"m", "n", "k", "run_time": "", or "kn", "nk" for weights that come unpacked with each
//             run, "lhs", "rhs", "dst", "lhs_zero_point",
//             "tensors": {"lhs": 16384, "rhs", "bias", "scales"}}} + tensors
//   {"conv": {"in": [b, h, w, c], "out": [b, h, w, c], "filter": [o, h, w, i],
//             "groups", "stride": [h, w], "dilation": [h, w],
//             "padding": [top, left, bottom, right],
//             "transposed", "relu", "lhs", "rhs", "dst", "lhs_zero_point",
//             "tensors": {"lhs", "filter", "bias", "scales"}}} + tensors
//                                {"dst": bytes}, or {} if it has no such thing; "lhs", "rhs", "dst"
//                                are "u8", "s8", ...
//   {"run": 17}                  {"seconds": 0.02} for so many calls: CPU time if it was told one
//                                thread, else the wall's
//   {"get": "dst"}               {} + the output
//
// Only a peer that says "lhs_zero_point": true is asked for problems with another one than 0.
// A peer that tells modes is told those of a problem: "requant": "tflite" (tensors "multipliers",
// "shifts") or "double" ("factors"), "residual": {"scale", "zero_point", "intermediate_zero_point",
// "product": [multiplier, shift], "residual", "dst"} ("residual"), and the tensor "table"; a mode
// that it lacks ends the bench. Any other peer computes float mode, without residual or table.
//
// {"error": "..."} in place of any answer ends the bench with that sentence.
#include <fmt/format.h>
#include <signal.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/peers/peer.h"

namespace tool {
namespace {

using nlohmann::ordered_json;

struct Tensor {
  const char* name;
  const void* data;
  size_t bytes;
};
using Tensors = std::vector<Tensor>;

template <typename T>
Tensor tensor(const char* name, const std::vector<T>& values) {
  return {name, values.data(), values.size() * sizeof(T)};
}

// Reads a line without its end; false if there is none.
bool read_line(std::FILE* file, std::string* line) {
  line->clear();
  for (int c; (c = getc(file)) != EOF; *line += (char)c)
    if (c == '\n') return true;
  return false;
}

// Answers the requests of the other end of a socket, until that is closed.
class Server {
 public:
  Server(int socket, MakePeer make)
      : requests_(fdopen(socket, "r")), answers_(fdopen(dup(socket), "w")), make_(make) {}
  void serve() {
    for (std::string line; read_line(requests_, &line);) {
      ordered_json answer = ordered_json::object();
      const bool output = line.rfind("{\"get\"", 0) == 0;
      try {
        const ordered_json request = ordered_json::parse(line);
        answer = this->answer(request.begin().key(), request.begin().value());
      } catch (const std::exception& problem) {
        answer = {{"error", problem.what()}};
      }
      std::fputs((answer.dump() + '\n').c_str(), answers_);
      if (output) std::fwrite(contestant_->dst(), 1, dst_bytes_, answers_);
      std::fflush(answers_);
    }
  }

 private:
  ordered_json answer(const std::string& verb, const ordered_json& problem) {
    if (verb == "run")
      return {{"seconds", contestant_->time(problem.get<size_t>(), Clock(single_thread_))}};
    if (verb == "get") return ordered_json::object();
    if (verb == "hello") {
      single_thread_ = problem.at("threads") == 1;
      peer_ = make_(problem.at("threads"));
      return {{"name", peer_->name()}, {"lhs_zero_point", true}};
    }
    contestant_ = nullptr;
    size_t elements;
    if (verb == "gemm") {
      gemm_ = std::make_unique<GemmData>(gemm(problem));
      elements = gemm_->shape.m * gemm_->shape.n;
      contestant_ = peer_->gemm(*gemm_);
    } else {
      conv_ = std::make_unique<ConvData>(conv(problem));
      elements = conv_->dst_elements();
      contestant_ = peer_->conv(*conv_);
    }
    if (!contestant_) return ordered_json::object();
    dst_bytes_ = elements * type_bytes(types_of(problem).dst);
    return {{"dst", dst_bytes_}};
  }

  static OperandTypes types_of(const ordered_json& problem) {
    const auto name = [&](const char* operand) { return problem.at(operand).get<std::string>(); };
    return parse_types(name("lhs") + name("rhs") + name("dst"));
  }
  size_t bytes_of(const ordered_json& problem, const char* tensor) const {
    return problem.at("tensors").at(tensor);
  }
  void read(void* to, size_t bytes) {
    if (fread(to, 1, bytes, requests_) != bytes) throw Error("a tensor ends early");
  }
  template <typename T>
  std::vector<T> read_vector(const ordered_json& problem, const char* tensor) {
    std::vector<T> values(bytes_of(problem, tensor) / sizeof(T));
    read(values.data(), values.size() * sizeof(T));
    return values;
  }
  Buffer read_buffer(const ordered_json& problem, const char* tensor) {
    Buffer buffer(bytes_of(problem, tensor));
    read(buffer.as(), buffer.size());
    return buffer;
  }

  // Reads the tensors in their order
  GemmData gemm(const ordered_json& problem) {
    GemmData d = {{problem.at("m"), problem.at("n"), problem.at("k")},
                  types_of(problem),
                  read_buffer(problem, "lhs"),
                  read_buffer(problem, "rhs"),
                  problem.at("lhs_zero_point")};
    d.bias = read_vector<int32_t>(problem, "bias");
    d.scales = read_vector<float>(problem, "scales");
    d.bring_weights(parse_order(problem.at("run_time")));
    return d;
  }
  ConvData conv(const ordered_json& problem) {
    ConvShape shape = {OCTET_CONV2D_SHAPE_INIT, 0, 0};
    const auto at = [&](const char* name, size_t i) -> size_t { return problem.at(name).at(i); };
    octet_conv2d_shape& s = shape.geometry;
    s.batch_max = at("in", 0), s.in_h_max = at("in", 1), s.in_w_max = at("in", 2);
    s.in_channels = at("in", 3), s.out_channels = at("out", 3), s.groups = problem.at("groups");
    shape.out_h = at("out", 1), shape.out_w = at("out", 2);
    s.kernel_h = at("filter", 1), s.kernel_w = at("filter", 2);
    s.stride_h = at("stride", 0), s.stride_w = at("stride", 1);
    s.dilation_h = at("dilation", 0), s.dilation_w = at("dilation", 1);
    s.pad_top = at("padding", 0), s.pad_left = at("padding", 1);
    s.pad_bottom = at("padding", 2), s.pad_right = at("padding", 3);
    s.transposed = problem.at("transposed").get<bool>();
    ConvData d = {shape, types_of(problem), read_buffer(problem, "lhs"),
                  read_buffer(problem, "filter"), problem.at("lhs_zero_point")};
    if (problem.at("relu")) d.activation.kind = OCTET_ACTIVATION_RELU;
    d.bias = read_vector<int32_t>(problem, "bias");
    d.scales = read_vector<float>(problem, "scales");
    return d;
  }

  std::FILE *const requests_, *const answers_;
  const MakePeer make_;
  bool single_thread_ = true;
  std::unique_ptr<Peer> peer_;
  std::unique_ptr<GemmData> gemm_;  // the contestant's
  std::unique_ptr<ConvData> conv_;
  std::unique_ptr<Contestant> contestant_;
  size_t dst_bytes_ = 0;
};

// The process and the one socket that is both its input and its output.
class Program {
 public:
  // name: for messages. serve(socket): the work of the process; if it returns, the process ends.
  template <typename Serve>
  Program(const std::string& name, const Serve& serve) : name_(name) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("cannot be reached");
    socket_ = ends[0];
    answers_ = fdopen(ends[0], "r");
    std::fflush(nullptr);
    process_ = fork();
    if (process_ < 0) fail("cannot be started");
    setpgid(process_, 0);  // also for its children; both processes call it, for either may be first
    if (process_ == 0) {
#if defined(__linux__)
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a bench that is killed leaves no stopped process
#endif
      close(ends[0]);
      serve(ends[1]);
      _exit(127);
    }
    close(ends[1]);
  }
  ~Program() {
    signal(SIGCONT);
    if (answers_) fclose(answers_);  // the end of its input
    if (process_ > 0) waitpid(process_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The process runs meanwhile. bytes of output follow the answer, and go to `output`.
  ordered_json ask(const ordered_json& request, const Tensors& tensors = {}, void* output = nullptr,
                   size_t bytes = 0) {
    signal(SIGCONT);
    const std::string line = request.dump() + '\n';
    send(line.data(), line.size());
    for (const Tensor& t : tensors) send(t.data, t.bytes);
    std::string answer;
    if (!read_line(answers_, &answer)) fail("has ended");
    ordered_json json = ordered_json::parse(answer, nullptr, false);
    if (!json.is_object()) fail(fmt::format("says '{}', which is no answer", answer));
    if (json.contains("error")) throw Error(member<std::string>(json, "error"));
    if (fread(output, 1, bytes, answers_) != bytes) fail("has ended");
    signal(SIGSTOP);
    return json;
  }
  template <typename T>
  T member(const ordered_json& answer, const char* name) const {
    try {
      return answer.at(name).get<T>();
    } catch (const ordered_json::exception& problem) {
      fail(problem.what());
    }
  }

 private:
  [[noreturn]] void fail(const std::string& how) const {
    throw Error(fmt::format("the peer '{}' {}", name_, how));
  }
  void signal(int number) const {
    if (process_ > 0) kill(-process_, number);
  }
  void send(const void* data, size_t bytes) {
    for (const char* from = (const char*)data; bytes > 0;) {
      const ssize_t sent = ::send(socket_, from, bytes, MSG_NOSIGNAL);
      if (sent < 0) fail("has ended");
      from += sent, bytes -= (size_t)sent;
    }
  }

  std::string name_;
  int socket_ = -1;
  std::FILE* answers_ = nullptr;
  pid_t process_ = -1;
};

class ProgramContestant : public Contestant {
 public:
  ProgramContestant(Program* program, size_t dst_bytes) : program_(program), dst_(dst_bytes) {}
  void run(size_t calls) override { seconds(calls); }
  double time(size_t calls, const Clock&) override { return seconds(calls); }
  const void* dst() const override {
    program_->ask({{"get", "dst"}}, {}, dst_.as(), dst_.size());
    return dst_.as();
  }

 private:
  double seconds(size_t calls) {
    return program_->member<double>(program_->ask({{"run", calls}}), "seconds");
  }

  Program* program_;
  Buffer dst_;
};

class ProgramPeer : public Peer {
 public:
  template <typename Serve>
  ProgramPeer(const std::string& name, size_t threads, const Serve& serve) : program_(name, serve) {
    const ordered_json answer = program_.ask({{"hello", {{"threads", threads}}}});
    name_ = program_.member<std::string>(answer, "name");
    if (answer.contains("call_us")) call_us_ = program_.member<double>(answer, "call_us");
    has_lhs_zero_point_ = answer.value("lhs_zero_point", false);
    if (answer.contains("modes"))
      modes_ = program_.member<std::vector<std::string>>(answer, "modes");
  }
  std::string name() const override { return name_; }
  std::optional<double> call_us() const override { return call_us_; }

  // Requests have no zero points of weights.
  std::unique_ptr<Contestant> gemm(const GemmData& d) override {
    if (!d.rhs_zero_points.empty()) return nullptr;
    const GemmShape& s = d.shape;
    const char* const run_time = d.run_time == OCTET_KN ? "kn" : d.run_time == OCTET_NK ? "nk" : "";
    return contestant("gemm", {{"m", s.m}, {"n", s.n}, {"k", s.k}, {"run_time", run_time}}, d,
                      {{"lhs", d.lhs.as(), d.lhs.size()},
                       {"rhs", d.rhs.as(), d.rhs.size()},
                       tensor("bias", d.bias),
                       tensor("scales", d.scales)},
                      s.m * s.n);
  }
  std::unique_ptr<Contestant> conv(const ConvData& d) override {
    if (!d.filter_zero_points.empty()) return nullptr;
    const octet_conv2d_shape& g = d.shape.geometry;
    return contestant("conv",
                      {{"in", {g.batch_max, g.in_h_max, g.in_w_max, g.in_channels}},
                       {"out", {g.batch_max, d.shape.out_h, d.shape.out_w, g.out_channels}},
                       {"filter", {g.out_channels, g.kernel_h, g.kernel_w, d.shape.group_in()}},
                       {"groups", g.groups},
                       {"stride", {g.stride_h, g.stride_w}},
                       {"dilation", {g.dilation_h, g.dilation_w}},
                       {"padding", {g.pad_top, g.pad_left, g.pad_bottom, g.pad_right}},
                       {"transposed", g.transposed != 0},
                       {"relu", d.activation.relu()}},
                      d,
                      {{"lhs", d.lhs.as(), d.lhs.size()},
                       {"filter", d.filter.as(), d.filter.size()},
                       tensor("bias", d.bias),
                       tensor("scales", d.scales)},
                      d.dst_elements());
  }

 private:
  // Tells a mode of a problem to a peer that tells its own; returns whether it does.
  bool tell(const std::string& mode) const {
    if (!modes_) return false;
    if (std::find(modes_->begin(), modes_->end(), mode) == modes_->end())
      throw Error(fmt::format("the peer '{}' has no mode '{}'", name_, mode));
    return true;
  }
  template <typename Data>
  void tell_modes(const Data& d, ordered_json* problem, Tensors* tensors) const {
    const Requant requant = d.tflite.requant();
    if (requant != Requant::kFloat && tell(requant_name(requant))) {
      (*problem)["requant"] = requant_name(requant);
      for (const Tensor& t :
           {tensor("multipliers", d.tflite.multipliers), tensor("shifts", d.tflite.shifts),
            tensor("factors", d.tflite.factors)})
        if (t.bytes) tensors->push_back(t);
    }
    const octet_residual& r = d.after.residual;
    if (r.type && tell("residual")) {
      (*problem)["residual"] = {{"scale", r.scale},
                                {"zero_point", r.zero_point},
                                {"intermediate_zero_point", r.intermediate_zero_point},
                                {"product", {r.product_multiplier, r.product_shift}},
                                {"residual", {r.residual_multiplier, r.residual_shift}},
                                {"dst", {r.dst_multiplier, r.dst_shift}}};
      tensors->push_back({"residual", d.after.bytes.as(), d.after.bytes.size()});
    }
    if (!d.after.table.empty() && tell("table")) tensors->push_back(tensor("table", d.after.table));
  }

  template <typename Data>
  std::unique_ptr<Contestant> contestant(const char* what, ordered_json problem, const Data& data,
                                         Tensors tensors, size_t dst_elements) {
    if (data.lhs_zero_point && !has_lhs_zero_point_) return nullptr;
    const OperandTypes& types = data.types;
    const std::string name = types.name();  // "u8s8s32"
    tell_modes(data, &problem, &tensors);
    problem["lhs"] = name.substr(0, 2), problem["rhs"] = name.substr(2, 2),
    problem["dst"] = name.substr(4), problem["lhs_zero_point"] = data.lhs_zero_point;
    for (const Tensor& t : tensors) problem["tensors"][t.name] = t.bytes;
    const ordered_json answer = program_.ask({{what, problem}}, tensors);
    if (answer.empty()) return nullptr;
    const size_t bytes = dst_elements * type_bytes(types.dst);
    if (program_.member<size_t>(answer, "dst") != bytes)
      throw Error(fmt::format("{} has an output of another size than {}", name_, bytes));
    return std::make_unique<ProgramContestant>(&program_, bytes);
  }

  Program program_;
  std::string name_;
  std::optional<double> call_us_;
  bool has_lhs_zero_point_ = false;
  std::optional<std::vector<std::string>> modes_;
};

}  // namespace

std::unique_ptr<Peer> make_peer_program(const std::string& command, size_t threads) {
  return std::make_unique<ProgramPeer>(command, threads, [&](int socket) {
    dup2(socket, STDIN_FILENO);
    dup2(socket, STDOUT_FILENO);
    close(socket);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  });
}

std::unique_ptr<Peer> make_peer_process(const char* name, size_t threads, MakePeer make) {
  return std::make_unique<ProgramPeer>(name, threads,
                                       [make](int socket) { Server(socket, make).serve(); });
}

}  // namespace tool
