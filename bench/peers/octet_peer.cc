// SPDX-License-Identifier: Apache-2.0
// Serves any version of Octet as a peer in the language of peer_program.cc. It is compiled against
// the header and the archive of the measured version, so it uses only functions that all versions
// have.
#include <octet/octet.h>
#include <sys/mman.h>
#include <time.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) {
  std::printf("%s\n", json({{"error", "octet_peer: " + what}}).dump().c_str());
  std::exit(2);
}

void check(octet_status status, const octet_error& error) {
  if (status != OCTET_OK) fail(error.message);
}

// Memory as the bench's own contestant has it: on whole pages, if large on huge ones. Else the same
// library loses up to 8 % here.
struct Memory {
  size_t bytes = 0;
  void* data = nullptr;
  explicit Memory(size_t size) : bytes(size) {
    constexpr size_t kPage = 4096, kHugePage = 2 << 20;
    const size_t page = size < kHugePage ? kPage : kHugePage;
    const size_t whole = (size / page + 1) * page;
    if (posix_memalign(&data, page, whole)) fail("out of memory");
#if defined(MADV_HUGEPAGE)
    if (page == kHugePage) madvise(data, size, MADV_HUGEPAGE);
#endif
    __builtin_memset(data, 0, whole);
  }
  Memory(Memory&& other) noexcept : bytes(other.bytes), data(other.data) { other.data = nullptr; }
  Memory(const Memory&) = delete;
  ~Memory() { std::free(data); }
};

octet_type type_of(const std::string& name) {
  if (name == "u8") return OCTET_U8;
  if (name == "s8") return OCTET_S8;
  if (name == "s32") return OCTET_S32;
  if (name == "f32") return OCTET_F32;
  fail("a type '" + name + "' is none of u8, s8, s32, f32");
}
size_t element_bytes(octet_type type) { return type == OCTET_S32 || type == OCTET_F32 ? 4 : 1; }

std::vector<Memory> read_tensors(const json& problem) {
  std::vector<Memory> tensors;
  for (const char* name : {"lhs", problem.contains("filter") ? "filter" : "rhs", "bias", "scales",
                           "multipliers", "shifts", "factors", "residual", "table"}) {
    tensors.emplace_back(problem["tensors"].value(name, size_t{0}));
    Memory& t = tensors.back();
    if (std::fread(t.data, 1, t.bytes, stdin) != t.bytes) fail("a tensor ends early");
  }
  return tensors;
}

// Before 0.2 the fields of the epilogue stood in the descriptor itself.
template <typename Desc>
auto epilogue_of(Desc* desc, int) -> decltype(&desc->epilogue) {
  return &desc->epilogue;
}
template <typename Desc>
Desc* epilogue_of(Desc* desc, ...) {
  return desc;
}

// Before filters told the type of the output, plans did not count it.
template <typename Filter>
auto set_dst(octet_type dst, Filter* filter, int) -> decltype((void)filter->dst_type) {
  filter->dst_type = dst;
}
template <typename Filter>
void set_dst(octet_type, Filter*, ...) {}

// The steps of TFLite and double mode, of residuals and of tables, where the version has them all.
template <typename Epilogue>
auto set_steps(const json& problem, const std::vector<Memory>& tensors, Epilogue* epilogue, int)
    -> decltype((void)epilogue->factors) {
  const std::string requant = problem.value("requant", "float");
  if (requant == "tflite") {
    epilogue->requant = OCTET_REQUANT_TFLITE;
    epilogue->multipliers = (const int32_t*)tensors[4].data;
    epilogue->shifts = (const int32_t*)tensors[5].data;
    epilogue->multiplier_count = tensors[4].bytes / sizeof(int32_t);
  } else if (requant == "double") {
    epilogue->requant = OCTET_REQUANT_DOUBLE;
    epilogue->factors = (const double*)tensors[6].data;
    epilogue->factor_count = tensors[6].bytes / sizeof(double);
  }
  if (requant != "float") epilogue->scales = nullptr, epilogue->scale_count = 0;
  if (tensors[8].bytes) epilogue->lut = (const uint8_t*)tensors[8].data;
  if (!tensors[7].bytes) return;
  const json& by = problem["residual"];
  auto& r = epilogue->residual;
  r.type = type_of(problem["dst"]), r.scale = by["scale"], r.zero_point = by["zero_point"];
  r.intermediate_zero_point = by["intermediate_zero_point"];
  r.product_multiplier = by["product"][0], r.product_shift = by["product"][1];
  r.residual_multiplier = by["residual"][0], r.residual_shift = by["residual"][1];
  r.dst_multiplier = by["dst"][0], r.dst_shift = by["dst"][1];
}
template <typename Epilogue>
void set_steps(const json&, const std::vector<Memory>&, Epilogue*, ...) {}
template <typename Epilogue>
auto modes_of(const Epilogue* epilogue, int) -> decltype((void)epilogue->factors, json()) {
  return {"tflite", "double", "residual", "table"};
}
template <typename Epilogue>
json modes_of(const Epilogue*, ...) {
  return json::array();
}

// Sets the fields of a descriptor and of a run that GEMM and convolution share.
template <typename Desc>
void describe(const json& problem, const std::vector<Memory>& tensors, const Memory& blob,
              Desc* desc) {
  desc->lhs_type = type_of(problem["lhs"]);
  desc->rhs_type = type_of(problem["rhs"]);
  desc->dst_type = type_of(problem["dst"]);
  desc->lhs_zero_point = problem["lhs_zero_point"];
  desc->packed = blob.data, desc->packed_bytes = blob.bytes;
  auto* epilogue = epilogue_of(desc, 0);
  if (tensors[2].bytes) epilogue->bias = (const int32_t*)tensors[2].data;
  if (desc->dst_type == OCTET_S32) return;
  epilogue->scales = (const float*)tensors[3].data;
  epilogue->scale_count = tensors[3].bytes / sizeof(float);
  if (problem.value("relu", false)) epilogue->activation = OCTET_ACTIVATION_RELU;
  set_steps(problem, tensors, epilogue, 0);
}

// Threads that wait for the next job.
class Pool {
 public:
  explicit Pool(size_t threads) {
    for (size_t i = 1; i < threads; ++i) std::thread([this] { serve(); }).detach();
  }
  static void parallel_for(void* pool, size_t count, void (*fn)(void*, size_t), void* arg) {
    ((Pool*)pool)->run(count, fn, arg);
  }

 private:
  void run(size_t count, void (*fn)(void*, size_t), void* arg) {
    std::unique_lock<std::mutex> lock(mutex_);
    fn_ = fn, arg_ = arg, next_ = 0, count_ = unfinished_ = count;
    start_.notify_all();
    work(&lock);
    end_.wait(lock, [this] { return unfinished_ == 0; });
  }
  void work(std::unique_lock<std::mutex>* lock) {
    while (next_ < count_) {
      const size_t index = next_++;
      lock->unlock();
      fn_(arg_, index);
      lock->lock();
      if (--unfinished_ == 0) end_.notify_one();
    }
  }
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      start_.wait(lock, [this] { return next_ < count_; });
      work(&lock);
    }
  }

  std::mutex mutex_;
  std::condition_variable start_, end_;
  void (*fn_)(void*, size_t) = nullptr;
  void* arg_ = nullptr;
  size_t next_ = 0, count_ = 0, unfinished_ = 0;
};

struct Layer {
  std::function<void()> run;
  std::vector<Memory> memory;  // all memory that the run reads and writes
  const Memory* dst = nullptr;
};

class Peer {
 public:
  explicit Peer(size_t threads) : threads_(threads), pool_(threads) {}

  Layer gemm(const json& problem, std::vector<Memory> tensors) {
    octet_error error = {};
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    const size_t m = problem["m"], n = problem["n"], k = problem["k"];
    if (!problem.value("run_time", "").empty()) fail("weights come packed, not with each run");
    rhs.type = type_of(problem["rhs"]), rhs.order = OCTET_KN, rhs.n = n, rhs.k = k;
    rhs.data = tensors[1].data;
    size_t bytes = 0;
    check(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error), error);
    Memory blob(bytes);
    check(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data, bytes, &error), error);
    desc.m_max = m, desc.n = n, desc.k = k;
    describe(problem, tensors, blob, &desc);
    octet_gemm* created = nullptr;
    check(octet_gemm_create(&desc, &created, &error), error);
    const std::shared_ptr<octet_gemm> gemm(created, octet_gemm_destroy);
    check(octet_gemm_workspace(created, m, threads_, &bytes, &error), error);
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = m;
    return layer(args, std::move(tensors), std::move(blob), Memory(bytes),
                 Memory(m * n * element_bytes(desc.dst_type)), [gemm](const octet_gemm_args& a) {
                   octet_error e;
                   check(octet_gemm_run(gemm.get(), &a, &e), e);
                 });
  }

  Layer conv(const json& problem, std::vector<Memory> tensors) {
    octet_error error = {};
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    octet_conv2d_shape& s = filter.shape;
    const json &in = problem["in"], &out = problem["out"], &padding = problem["padding"];
    s.batch_max = in[0], s.in_h_max = in[1], s.in_w_max = in[2], s.in_channels = in[3];
    s.out_channels = out[3], s.groups = problem["groups"];
    s.kernel_h = problem["filter"][1], s.kernel_w = problem["filter"][2];
    s.stride_h = problem["stride"][0], s.stride_w = problem["stride"][1];
    s.dilation_h = problem["dilation"][0], s.dilation_w = problem["dilation"][1];
    s.pad_top = padding[0], s.pad_left = padding[1], s.pad_bottom = padding[2],
    s.pad_right = padding[3];
    s.transposed = problem["transposed"].get<bool>();
    filter.type = type_of(problem["rhs"]), filter.order = OCTET_OHWI, filter.data = tensors[1].data;
    set_dst(type_of(problem["dst"]), &filter, 0);
    size_t bytes = 0;
    check(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error), error);
    Memory blob(bytes);
    check(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob.data, bytes, &error), error);
    octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
    desc.shape = s;
    describe(problem, tensors, blob, &desc);
    octet_conv2d* created = nullptr;
    check(octet_conv2d_create(&desc, &created, &error), error);
    const std::shared_ptr<octet_conv2d> conv(created, octet_conv2d_destroy);
    check(octet_conv2d_workspace(created, 0, 0, 0, threads_, &bytes, &error), error);
    size_t outputs = 1;
    for (const json& size : out) outputs *= size.get<size_t>();
    octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
    return layer(args, std::move(tensors), std::move(blob), Memory(bytes),
                 Memory(outputs * element_bytes(desc.dst_type)),
                 [conv](const octet_conv2d_args& a) {
                   octet_error e;
                   check(octet_conv2d_run(conv.get(), &a, &e), e);
                 });
  }

 private:
  template <typename Args, typename Run>
  Layer layer(Args args, std::vector<Memory> tensors, Memory blob, Memory workspace, Memory dst,
              Run run) {
    args.lhs = tensors[0].data, args.dst = dst.data;
    if (tensors[7].bytes) args.residual = tensors[7].data;
    args.workspace = workspace.data, args.workspace_bytes = workspace.bytes;
    if (threads_ > 1) {
      args.parallel_for = Pool::parallel_for;
      args.parallel_context = &pool_;
      args.concurrency = threads_;
    }
    Layer made;
    made.memory = std::move(tensors);
    for (Memory* memory : {&blob, &workspace, &dst}) made.memory.push_back(std::move(*memory));
    made.dst = &made.memory.back();
    made.run = [args, run] { run(args); };
    return made;
  }

  size_t threads_;
  Pool pool_;
};

double now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void say(const json& answer) { std::printf("%s\n", answer.dump().c_str()); }

}  // namespace

int main(int, char** argv) {
  Peer* peer = nullptr;
  Layer layer;
  clockid_t clock = CLOCK_MONOTONIC;
  std::string line;
  for (int c; (c = std::getchar()) != EOF;) {
    if (c != '\n') {
      line += (char)c;
      continue;
    }
    const json request = json::parse(line);
    line.clear();
    const std::string verb = request.begin().key();
    const json& argument = request.begin().value();
    if (verb == "hello") {
      const size_t threads = argument["threads"];
      if (threads == 1) clock = CLOCK_PROCESS_CPUTIME_ID;
      peer = new Peer(threads);
      octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
      say({{"name", std::string("Octet ") + octet_version() + " of " + argv[1]},
           {"lhs_zero_point", true},
           {"modes", modes_of(epilogue_of(&desc, 0), 0)}});
    } else if (verb == "run") {
      const double start = now(clock);
      for (size_t i = argument; i > 0; --i) layer.run();
      say({{"seconds", now(clock) - start}});
    } else if (verb == "get") {
      say(json::object());
      std::fwrite(layer.dst->data, 1, layer.dst->bytes, stdout);
    } else {
      std::vector<Memory> tensors = read_tensors(argument);
      layer = verb == "gemm" ? peer->gemm(argument, std::move(tensors))
                             : peer->conv(argument, std::move(tensors));
      say({{"dst", layer.dst->bytes}});
    }
    std::fflush(stdout);
  }
}
