// SPDX-License-Identifier: Apache-2.0
// Fuzzes the environment. Valid values choose tiers, kernels and algorithms, and change no byte;
// others are refused by each function that reads them. The strings end at a guard page.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "dispatch/tables/tiers.h"
#include "fuzz/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/memory.h"

namespace octet_fuzz {
namespace {

constexpr const char* kNames[] = {"OCTET_MAX_ISA", "OCTET_KERNEL", "OCTET_CONV", "OCTET_VERBOSE"};
enum Name { kMaxTier, kKernel, kConv, kVerbose, kCount };

const std::vector<std::string>& valid_values(size_t name) {
  static const std::vector<std::vector<std::string>> all = [] {
    std::vector<std::vector<std::string>> values(kCount);
    for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i)
      if (has(octet::tiers_of_this_architecture(), *tier)) values[kMaxTier].push_back(tier->name);
    values[kKernel].assign(kernel_names().begin(), kernel_names().end());
    for (int a = OCTET_CONV_AUTO; a <= OCTET_CONV_GROUPED; ++a)
      values[kConv].push_back(octet_conv_algorithm_name((octet_conv_algorithm)a));
    values[kVerbose] = {"0", "1", "2"};
    return values;
  }();
  return all[name];
}

std::string draw_value(Choices* c, size_t name) {
  const auto valid = [&](size_t of) { return valid_values(of)[c->below(valid_values(of).size())]; };
  std::string value = valid(name);
  switch (c->below(8)) {
    case 4:
      return "";
    case 5:
      return valid(c->below(kCount));
    case 6: {  // nearly right
      const size_t at = c->below(value.size());
      const char byte = (char)(1 + c->below(255));
      if (c->one_in(3)) return value.substr(0, at);
      if (c->one_in(2)) return value.insert(at, 1, byte);
      value[at] = byte;
      return value;
    }
    case 7: {  // long, and poison for printf
      std::string text = c->any({"%s%n%d", "a", "\xff", " ", ","});
      while (text.size() < c->below(600)) text += text;
      return text;
    }
    default:
      return value;
  }
}

// A variable whose string touches a guard page.
class Variable {
 public:
  Variable(Choices* c, size_t name, const std::string& value) : name_(kNames[name]) {
    const std::string text = std::string(name_) + "=" + value;
    string_ = Block(c, text.size() + 1);
    std::memcpy(string_.data(), text.c_str(), string_.bytes());
    putenv(string_.data<char>());
    const std::vector<std::string>& list = valid_values(name);
    valid_ = value.empty() || std::find(list.begin(), list.end(), value) != list.end();
    set_ = !value.empty();
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  bool valid() const { return valid_; }
  bool set() const { return set_; }

 private:
  const char* name_;
  Block string_;
  bool valid_, set_;
};

// Traces go nowhere for the scope.
class Quiet {
 public:
  Quiet() : saved_(dup(STDERR_FILENO)) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    close(null);
  }
  ~Quiet() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  Quiet(const Quiet&) = delete;

 private:
  const int saved_;
};

// ---- a product and a convolution, with the same operands

constexpr size_t kSide = 5, kChannels = 8, kOutputs = 8, kTaps = 9;
const uint8_t* operands() {
  static const std::vector<uint8_t> bytes = [] {
    std::vector<uint8_t> values(2 * kSide * kSide * kChannels * kTaps);
    Random random(1);
    for (uint8_t& value : values) value = (uint8_t)random();
    return values;
  }();
  return bytes.data();
}

struct Result {
  octet_status status;
  std::vector<int32_t> values;
};

// Packs, creates and runs; a failure ends the steps.
template <typename Calls>
Result compute(Choices* c, const Calls& calls) {
  Result result = {OCTET_OK, std::vector<int32_t>(kSide * kSide * kOutputs)};
  const auto step = [&](const char* what, const auto& call) {
    if (result.status == OCTET_OK) result.status = checked(what, call);
    return result.status == OCTET_OK;
  };
  size_t bytes = 0;
  if (!step("pack_size", [&](octet_error* e) { return calls.pack_size(&bytes, e); })) return result;
  const Block blob(c, bytes, OCTET_ALIGNMENT);
  if (!step("pack", [&](octet_error* e) { return calls.pack(blob, e); })) return result;
  step("create and run",
       [&](octet_error* e) { return calls.run(c, blob, result.values.data(), e); });
  return result;
}

struct Gemm {
  octet_isa isa = OCTET_ISA_AUTO;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  explicit Gemm(octet_isa tier) : isa(tier) {
    rhs.type = OCTET_S8;
    rhs.n = kOutputs;
    rhs.k = kChannels;
    rhs.data = operands();
  }
  octet_status pack_size(size_t* bytes, octet_error* e) const {
    return octet_pack_size(&rhs, isa, bytes, e);
  }
  octet_status pack(const Block& blob, octet_error* e) const {
    return octet_pack(&rhs, isa, blob.data(), blob.bytes(), e);
  }
  octet_status run(Choices* c, const Block& blob, int32_t* dst, octet_error* e) const {
    octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
    d.m_max = kSide * kSide;
    d.n = kOutputs;
    d.k = kChannels;
    d.lhs_type = OCTET_U8;
    d.rhs_type = OCTET_S8;
    d.dst_type = OCTET_S32;
    d.packed = blob.data();
    d.packed_bytes = blob.bytes();
    d.max_isa = isa;
    octet_gemm* gemm = nullptr;
    if (const octet_status status = octet_gemm_create(&d, &gemm, e)) return status;
    const std::unique_ptr<octet_gemm, decltype(&octet_gemm_destroy)> owner(gemm,
                                                                           octet_gemm_destroy);
    size_t bytes = 0;
    if (const octet_status status = octet_gemm_workspace(gemm, d.m_max, 1, &bytes, e))
      return status;
    const Block workspace(c, bytes, OCTET_ALIGNMENT);
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = d.m_max;
    args.lhs = operands();
    args.dst = dst;
    args.workspace = workspace.data();
    args.workspace_bytes = bytes;
    return octet_gemm_run(gemm, &args, e);
  }
};

struct Convolution {
  octet_isa isa = OCTET_ISA_AUTO;
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  explicit Convolution(octet_isa tier) : isa(tier) {
    octet_conv2d_shape& s = filter.shape;
    s.in_h_max = s.in_w_max = kSide;
    s.in_channels = kChannels;
    s.out_channels = kOutputs;
    s.kernel_h = s.kernel_w = 3;
    s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
    filter.type = OCTET_S8;
    filter.data = operands();
  }
  octet_status pack_size(size_t* bytes, octet_error* e) const {
    return octet_conv2d_pack_size(&filter, isa, bytes, e);
  }
  octet_status pack(const Block& blob, octet_error* e) const {
    return octet_conv2d_pack(&filter, isa, blob.data(), blob.bytes(), e);
  }
  octet_status run(Choices* c, const Block& blob, int32_t* dst, octet_error* e) const {
    octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
    d.shape = filter.shape;
    d.lhs_type = OCTET_U8;
    d.rhs_type = OCTET_S8;
    d.dst_type = OCTET_S32;
    d.packed = blob.data();
    d.packed_bytes = blob.bytes();
    d.max_isa = isa;
    octet_conv2d* conv = nullptr;
    if (const octet_status status = octet_conv2d_create(&d, &conv, e)) return status;
    const std::unique_ptr<octet_conv2d, decltype(&octet_conv2d_destroy)> owner(
        conv, octet_conv2d_destroy);
    size_t bytes = 0;
    if (const octet_status status = octet_conv2d_workspace(conv, 0, 0, 0, 1, &bytes, e))
      return status;
    const Block workspace(c, bytes, OCTET_ALIGNMENT);
    octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
    args.lhs = operands();
    args.dst = dst;
    args.workspace = workspace.data();
    args.workspace_bytes = bytes;
    return octet_conv2d_run(conv, &args, e);
  }
};

// The expected output: computed without an environment, by the smallest tier.
template <typename Calls>
const std::vector<int32_t>& expected() {
  static const std::vector<int32_t> values = [] {
    Choices none(nullptr, 0);
    const Result result = compute(&none, Calls(OCTET_ISA_SCALAR));
    if (result.status != OCTET_OK) fail("refused without an environment");
    return result.values;
  }();
  return values;
}

template <typename Calls>
void check(Choices* c, const char* what, bool valid, bool may_refuse) {
  const Result result = compute(c, Calls(OCTET_ISA_AUTO));
  if (!valid) {
    if (result.status != OCTET_BAD_ENVIRONMENT)
      fail("%s: a bad environment gives %s", what, octet_status_name(result.status));
    ++tally.refusals;
    return;
  }
  if (result.status != OCTET_OK) {
    if (!may_refuse || result.status == OCTET_BAD_ENVIRONMENT)
      fail("%s: a good environment gives %s", what, octet_status_name(result.status));
    return;
  }
  if (result.values != expected<Calls>()) fail("%s: the environment changes outputs", what);
  ++tally.runs;
  tally.outputs += result.values.size();
}

}  // namespace

void fuzz_one(Choices* c) {
  expected<Gemm>();
  expected<Convolution>();
  const Quiet quiet;
  std::vector<std::unique_ptr<Variable>> variables(kCount);
  bool valid = true;
  for (size_t i = 0; i < kCount; ++i) {
    if (c->one_in(2)) continue;
    variables[i] = std::make_unique<Variable>(c, i, draw_value(c, i));
    valid = valid && variables[i]->valid();
  }
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  const auto get_info = [&](octet_error* e) { return octet_get_cpu_info(&info, e); };
  if (valid)
    must_accept("octet_get_cpu_info", get_info);
  else
    must_refuse("octet_get_cpu_info", "a bad environment", get_info);
  const auto set = [&](Name name) { return variables[name] && variables[name]->set(); };
  check<Gemm>(c, "octet_gemm", valid, set(kKernel));
  check<Convolution>(c, "octet_conv2d", valid, set(kKernel) || set(kConv));
}

}  // namespace octet_fuzz
