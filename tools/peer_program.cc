// A peer that is a program of its own, in any language. It reads requests from its standard input
// and answers on its standard output, each a line of JSON; tensors travel behind their line as
// plain bytes, dense, in the order and of the sizes that the line tells.
//
//   {"hello": {"threads": 1}}    the first: {"name": "ONNX Runtime 1.31.1", "call_us": 7.5};
//                                call_us may be missing
//   {"gemm": {"m", "n", "k", "lhs", "rhs", "dst",
//             "tensors": {"lhs": 16384, "rhs", "bias", "scales"}}} + tensors
//   {"conv": {"in": [b, h, w, c], "out": [b, h, w, c], "filter": [o, h, w, i],
//             "groups", "stride": [h, w], "dilation": [h, w],
//             "padding": [top, left, bottom, right],
//             "transposed", "relu", "lhs", "rhs", "dst",
//             "tensors": {"lhs", "filter", "bias", "scales"}}} + tensors
//                                {"dst": bytes}, or {} if it has no such thing; "lhs", "rhs", "dst"
//                                are "u8", "s8", ...
//   {"run": 17}                  {"seconds": 0.02} for so many calls: CPU time if it was told one
//                                thread, else the wall's
//   {"get": "dst"}               {} + the output
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "peer.h"

extern char** environ;

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

// The process and the one socket that is both its input and its output.
class Program {
 public:
  explicit Program(const std::string& command) : command_(command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("cannot be reached");
    socket_ = ends[0];
    answers_ = fdopen(ends[0], "r");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    for (const int end : ends) posix_spawn_file_actions_addclose(&actions, end);
    const char* arguments[] = {"sh", "-c", command.c_str(), nullptr};
    const int problem = posix_spawn(&process_, "/bin/sh", &actions, nullptr,
                                    const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (problem) fail("cannot be started");
  }
  ~Program() {
    if (answers_) fclose(answers_);  // the end of its input
    if (process_ > 0) waitpid(process_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  ordered_json ask(const ordered_json& request, const Tensors& tensors = {}) {
    const std::string line = request.dump() + '\n';
    send(line.data(), line.size());
    for (const Tensor& t : tensors) send(t.data, t.bytes);
    std::string answer;
    int c;
    while ((c = getc(answers_)) != '\n') {
      if (c == EOF) fail("has ended");
      answer += static_cast<char>(c);
    }
    ordered_json json = ordered_json::parse(answer, nullptr, false);
    if (!json.is_object()) fail(fmt::format("says '{}', which is no answer", answer));
    return json;
  }
  void receive(void* to, size_t bytes) {
    if (fread(to, 1, bytes, answers_) != bytes) fail("has ended");
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
    throw Error(fmt::format("the peer '{}' {}", command_, how));
  }
  void send(const void* data, size_t bytes) {
    for (const char* from = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t sent = ::send(socket_, from, bytes, MSG_NOSIGNAL);
      if (sent < 0) fail("has ended");
      from += sent, bytes -= static_cast<size_t>(sent);
    }
  }

  std::string command_;
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
    program_->ask({{"get", "dst"}});
    program_->receive(dst_.as(), dst_.size());
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
  ProgramPeer(const std::string& command, size_t threads) : program_(command) {
    const ordered_json answer = program_.ask({{"hello", {{"threads", threads}}}});
    name_ = program_.member<std::string>(answer, "name");
    if (answer.contains("call_us")) call_us_ = program_.member<double>(answer, "call_us");
  }
  std::string name() const override { return name_; }
  std::optional<double> call_us() const override { return call_us_; }

  std::unique_ptr<Contestant> gemm(const GemmData& d) override {
    const GemmShape& s = d.shape;
    return contestant("gemm", {{"m", s.m}, {"n", s.n}, {"k", s.k}}, d.types,
                      {{"lhs", d.lhs.as(), d.lhs.size()},
                       {"rhs", d.rhs.as(), d.rhs.size()},
                       tensor("bias", d.bias),
                       tensor("scales", d.scales)},
                      s.m * s.n);
  }
  std::unique_ptr<Contestant> conv(const ConvData& d) override {
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
                       {"relu", d.relu}},
                      d.types,
                      {{"lhs", d.lhs.as(), d.lhs.size()},
                       {"filter", d.filter.as(), d.filter.size()},
                       tensor("bias", d.bias),
                       tensor("scales", d.scales)},
                      d.dst_elements());
  }

 private:
  std::unique_ptr<Contestant> contestant(const char* what, ordered_json problem,
                                         const OperandTypes& types, const Tensors& tensors,
                                         size_t dst_elements) {
    const std::string name = types.name();  // "u8s8s32"
    problem["lhs"] = name.substr(0, 2), problem["rhs"] = name.substr(2, 2),
    problem["dst"] = name.substr(4);
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
};

}  // namespace

std::unique_ptr<Peer> make_peer_program(const std::string& command, size_t threads) {
  return std::make_unique<ProgramPeer>(command, threads);
}

}  // namespace tool
