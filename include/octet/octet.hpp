// SPDX-License-Identifier: Apache-2.0
// Ownership over octet.h for C++17: nothing is computed here. Works with -fno-exceptions and
// -fno-rtti; failure is a value.
//
//     auto weights = octet::PackedWeights::pack(rhs);  // rhs: octet_rhs_desc
//     if (!weights) return fail(weights.error().message);
//     auto desc = octet::make<octet_gemm_desc>();
//     weights->attach(desc);
//     ...
//     auto gemm = octet::Gemm::create(desc);  // the packed weights must outlive it
//     auto workspace = gemm->workspace(m);    // one for each thread that runs at the same time
//     auto args = octet::make<octet_gemm_args>();
//     workspace->attach(args);
//     ...
//     if (octet_status s = gemm->run(args, &error)) ...
//
// Conv2d is the same with octet_filter_desc, octet_conv2d_desc and octet_conv2d_args; Network owns
// neither the objects of its ops nor the tensors that are kept. octet/functions.hpp has functions.
#ifndef OCTET_OCTET_HPP_
#define OCTET_OCTET_HPP_

#include <octet/network.h>
#include <octet/octet.h>
#include <octet/tune.h>

#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace octet {

namespace detail {
template <class Struct>
auto set_shape(Struct& s, int) -> decltype(void(s.shape)) {
  s.shape = OCTET_CONV2D_SHAPE_INIT;
}
template <class Struct>
void set_shape(Struct&, ...) {}

struct Destroy {
  void operator()(octet_gemm* gemm) const { octet_gemm_destroy(gemm); }
  void operator()(octet_conv2d* conv) const { octet_conv2d_destroy(conv); }
  void operator()(octet_network* network) const { octet_network_destroy(network); }
};

[[nodiscard]] inline octet_status pack_size(const octet_rhs_desc& rhs, octet_isa isa, size_t* bytes,
                                            octet_error* error) {
  return octet_pack_size(&rhs, isa, bytes, error);
}
[[nodiscard]] inline octet_status pack_size(const octet_filter_desc& filter, octet_isa isa,
                                            size_t* bytes, octet_error* error) {
  return octet_conv2d_pack_size(&filter, isa, bytes, error);
}
[[nodiscard]] inline octet_status pack(const octet_rhs_desc& rhs, octet_isa isa, void* memory,
                                       size_t bytes, octet_error* error) {
  return octet_pack(&rhs, isa, memory, bytes, error);
}
[[nodiscard]] inline octet_status pack(const octet_filter_desc& filter, octet_isa isa, void* memory,
                                       size_t bytes, octet_error* error) {
  return octet_conv2d_pack(&filter, isa, memory, bytes, error);
}
}  // namespace detail

// A descriptor, argument or information struct as its _INIT macro makes it: struct_size set, all
// else zero, and ones in a convolution's shape.
template <class Struct>
[[nodiscard]] Struct make() {
  Struct s = {};
  s.struct_size = sizeof s;
  detail::set_shape(s, 0);
  return s;
}

// A value, or the error that kept it from being made. Test it before using *result.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(const octet_error& error) : error_(error) {}

  explicit operator bool() const { return error_.status == OCTET_OK; }
  [[nodiscard]] octet_status status() const { return error_.status; }
  [[nodiscard]] const octet_error& error() const { return error_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_ = {};
  octet_error error_ = {};
};

// Bytes at OCTET_ALIGNMENT. Move-only; empty unless allocate succeeded.
class [[nodiscard]] AlignedBuffer {
 public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedBuffer() { ::operator delete (data_, std::align_val_t{OCTET_ALIGNMENT}); }

  static Result<AlignedBuffer> allocate(size_t bytes) {
    AlignedBuffer buffer;
    if (bytes == 0) return buffer;
    buffer.data_ = ::operator new (bytes, std::align_val_t{OCTET_ALIGNMENT}, std::nothrow);
    if (!buffer.data_)
      return octet_error{OCTET_OUT_OF_MEMORY, "an aligned buffer could not be allocated"};
    buffer.size_ = bytes;
    return buffer;
  }

  void* data() { return data_; }
  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// Weights packed for one tier, in memory of their own or borrowed.
class [[nodiscard]] PackedWeights {
 public:
  // Of weights as an octet_rhs_desc or an octet_filter_desc has them: what packing takes at most.
  template <class Weights>
  static Result<size_t> packed_bytes(const Weights& weights, octet_isa isa = OCTET_ISA_AUTO) {
    octet_error error;
    size_t bytes;
    if (detail::pack_size(weights, isa, &bytes, &error)) return error;
    return bytes;
  }

  // Packs them into memory of its own.
  template <class Weights>
  static Result<PackedWeights> pack(const Weights& weights, octet_isa isa = OCTET_ISA_AUTO) {
    octet_error error;
    const Result<size_t> bytes = packed_bytes(weights, isa);
    if (!bytes) return bytes.error();
    Result<AlignedBuffer> blob = AlignedBuffer::allocate(*bytes);
    if (!blob) return blob.error();
    if (detail::pack(weights, isa, blob->data(), *bytes, &error)) return error;
    return owner_of(std::move(*blob));
  }

  // Packs them into memory of the caller's, at OCTET_ALIGNMENT, and borrows it, as borrow does.
  template <class Weights>
  static Result<PackedWeights> pack_into(void* memory, size_t bytes, const Weights& weights,
                                         octet_isa isa = OCTET_ISA_AUTO) {
    octet_error error;
    if (detail::pack(weights, isa, memory, bytes, &error)) return error;
    return borrow(memory, bytes);
  }

  // Of weights that were packed before and kept anywhere, aligned or not. All of them are checked.
  static Result<PackedWeights> copy_of(const void* packed, size_t bytes) {
    octet_error error;
    if (!packed) return octet_error{OCTET_NULL_POINTER, "packed is null"};
    Result<AlignedBuffer> blob = AlignedBuffer::allocate(bytes);
    if (!blob) return blob.error();
    if (bytes) std::memcpy(blob->data(), packed, bytes);
    if (octet_blob_verify(blob->data(), bytes, &error)) return error;
    return owner_of(std::move(*blob));
  }

  // Of weights that stay where they are, at OCTET_ALIGNMENT, such as in a mapped file; the memory
  // must outlive this and every object that is created of it. Only their head is checked:
  // octet_blob_verify what you do not trust.
  static Result<PackedWeights> borrow(const void* packed, size_t bytes) {
    octet_error error;
    auto info = make<octet_blob_info>();
    if (octet_blob_get_info(packed, bytes, &info, &error)) return error;
    PackedWeights weights;
    weights.borrowed_ = packed;
    weights.size_ = info.bytes;
    return weights;
  }

  const void* data() const { return borrowed_ ? borrowed_ : blob_.data(); }
  // The bytes that the weights take: packed sparse, less than was allocated.
  size_t size() const { return data() ? size_ : 0; }
  template <class Desc>  // octet_gemm_desc, octet_conv2d_desc
  void attach(Desc& desc) const {
    desc.packed = data();
    desc.packed_bytes = size();
  }

 private:
  static Result<PackedWeights> owner_of(AlignedBuffer blob) {
    octet_error error;
    auto info = make<octet_blob_info>();
    if (octet_blob_get_info(blob.data(), blob.size(), &info, &error)) return error;
    PackedWeights weights;
    weights.blob_ = std::move(blob);
    weights.size_ = info.bytes;
    return weights;
  }

  AlignedBuffer blob_;
  const void* borrowed_ = nullptr;
  size_t size_ = 0;
};

// The height and width of a convolution's output, of an input of in_h x in_w pixels.
struct OutputSize {
  size_t h = 0, w = 0;
};
inline Result<OutputSize> output_size(const octet_conv2d_shape& shape, size_t in_h, size_t in_w) {
  octet_error error;
  OutputSize out;
  if (octet_conv2d_output_size(&shape, in_h, in_w, &out.h, &out.w, &error)) return error;
  return out;
}

// Limits the packed bytes of all filters of a network, before they are packed; bytes_max 0 takes
// the default limit of octet_conv2d_limit_packed. Returns the bytes of all blobs.
inline Result<size_t> limit_packed(octet_filter_desc* const* filters, size_t count,
                                   size_t bytes_max = 0, octet_isa isa = OCTET_ISA_AUTO) {
  octet_error error;
  size_t bytes = 0;
  if (octet_conv2d_limit_packed(filters, count, isa, bytes_max, &bytes, &error)) return error;
  return bytes;
}

// Owns an octet_tuning: measured choices. It must outlive the last pack and create that get its
// machine.
class [[nodiscard]] Tuning {
 public:
  Tuning() = default;
  Tuning(Tuning&& other) noexcept : tuning_(std::exchange(other.tuning_, nullptr)) {}
  Tuning& operator=(Tuning&& other) noexcept {
    std::swap(tuning_, other.tuning_);
    return *this;
  }
  ~Tuning() { octet_tuning_destroy(tuning_); }

  // An empty one.
  static Result<Tuning> create() {
    octet_error error;
    Tuning tuning;
    if (octet_tuning_create(&tuning.tuning_, &error)) return error;
    return tuning;
  }

  [[nodiscard]] octet_status load(const char* path, octet_tuning_report* report = nullptr,
                                  octet_error* error = nullptr) {
    return octet_tuning_load(tuning_, path, report, error);
  }
  [[nodiscard]] octet_status save(const char* path, octet_error* error = nullptr) const {
    return octet_tuning_save(tuning_, path, error);
  }
  [[nodiscard]] octet_status tune(const octet_gemm_desc& desc,
                                  const octet_tune_options* options = nullptr,
                                  octet_tune_result* result = nullptr,
                                  octet_error* error = nullptr) {
    return octet_tune_gemm(&desc, options, tuning_, result, error);
  }
  [[nodiscard]] octet_status tune(const octet_filter_desc& filter, const octet_conv2d_desc& desc,
                                  const octet_tune_options* options = nullptr,
                                  octet_tune_result* result = nullptr,
                                  octet_error* error = nullptr) {
    return octet_tune_conv2d(&filter, &desc, options, tuning_, result, error);
  }
  // This machine with the choices measured on it, for the `machine` of descriptors.
  [[nodiscard]] octet_machine machine() const {
    auto machine = make<octet_machine>();
    machine.tuning = tuning_;
    return machine;
  }
  octet_tuning* get() const { return tuning_; }

 private:
  octet_tuning* tuning_ = nullptr;
};

// The scratch memory of one run at a time, its own or borrowed.
class [[nodiscard]] Workspace {
 public:
  Workspace() = default;
  Workspace(AlignedBuffer memory, size_t concurrency)
      : memory_(std::move(memory)), concurrency_(concurrency) {}
  static Result<Workspace> allocate(size_t bytes, size_t concurrency) {
    Result<AlignedBuffer> memory = AlignedBuffer::allocate(bytes);
    if (!memory) return memory.error();
    return Workspace(std::move(*memory), concurrency);
  }
  // In memory of the caller's, at OCTET_ALIGNMENT, which must outlive the runs: as many bytes as
  // workspace_bytes says, for the same concurrency.
  static Workspace borrow(void* memory, size_t bytes, size_t concurrency = 1) {
    Workspace workspace(AlignedBuffer(), concurrency);
    workspace.borrowed_ = memory;
    workspace.borrowed_bytes_ = bytes;
    return workspace;
  }
  size_t size() const { return borrowed_ ? borrowed_bytes_ : memory_.size(); }
  template <class Args>  // octet_gemm_args, octet_conv2d_args, octet_network_args
  void attach(Args& args) {
    args.workspace = borrowed_ ? borrowed_ : memory_.data();
    args.workspace_bytes = size();
    args.concurrency = concurrency_;
  }

 private:
  AlignedBuffer memory_;
  void* borrowed_ = nullptr;
  size_t borrowed_bytes_ = 0, concurrency_ = 1;
};

// Owns an octet_gemm. Immutable: any number of threads may run it, each with its own workspace.
class [[nodiscard]] Gemm {
 public:
  static Result<Gemm> create(const octet_gemm_desc& desc) {
    octet_error error;
    octet_gemm* gemm = nullptr;
    if (octet_gemm_create(&desc, &gemm, &error)) return error;
    Gemm owner;
    owner.gemm_.reset(gemm);
    return owner;
  }

  // For runs of at most m rows on at most `concurrency` tasks.
  Result<size_t> workspace_bytes(size_t m, size_t concurrency = 1) const {
    octet_error error;
    size_t bytes;
    if (octet_gemm_workspace(gemm_.get(), m, concurrency, &bytes, &error)) return error;
    return bytes;
  }
  Result<Workspace> workspace(size_t m, size_t concurrency = 1) const {
    const Result<size_t> bytes = workspace_bytes(m, concurrency);
    if (!bytes) return bytes.error();
    return Workspace::allocate(*bytes, concurrency);
  }

  [[nodiscard]] octet_status run(const octet_gemm_args& args, octet_error* error = nullptr) const {
    return octet_gemm_run(gemm_.get(), &args, error);
  }
  const char* kernel(size_t m) const { return octet_gemm_kernel(gemm_.get(), m); }
  octet_gemm* get() const { return gemm_.get(); }

 private:
  std::unique_ptr<octet_gemm, detail::Destroy> gemm_;
};

// Owns an octet_conv2d, as Gemm does an octet_gemm.
class [[nodiscard]] Conv2d {
 public:
  static Result<Conv2d> create(const octet_conv2d_desc& desc) {
    octet_error error;
    octet_conv2d* conv = nullptr;
    if (octet_conv2d_create(&desc, &conv, &error)) return error;
    Conv2d owner;
    owner.conv_.reset(conv);
    return owner;
  }

  // For any run on at most `concurrency` tasks.
  Result<Workspace> workspace(size_t concurrency = 1) const {
    return workspace(0, 0, 0, concurrency);
  }

  // For runs of at most these sizes (0 = as declared) on at most `concurrency` tasks.
  Result<size_t> workspace_bytes(size_t batch, size_t in_h, size_t in_w, size_t concurrency) const {
    octet_error error;
    size_t bytes;
    if (octet_conv2d_workspace(conv_.get(), batch, in_h, in_w, concurrency, &bytes, &error))
      return error;
    return bytes;
  }
  Result<Workspace> workspace(size_t batch, size_t in_h, size_t in_w, size_t concurrency) const {
    const Result<size_t> bytes = workspace_bytes(batch, in_h, in_w, concurrency);
    if (!bytes) return bytes.error();
    return Workspace::allocate(*bytes, concurrency);
  }

  [[nodiscard]] octet_status run(const octet_conv2d_args& args,
                                 octet_error* error = nullptr) const {
    return octet_conv2d_run(conv_.get(), &args, error);
  }
  [[nodiscard]] octet_conv_algorithm algorithm() const {
    return octet_conv2d_algorithm(conv_.get());
  }
  const char* kernel() const { return octet_conv2d_kernel(conv_.get()); }
  octet_conv2d* get() const { return conv_.get(); }

 private:
  std::unique_ptr<octet_conv2d, detail::Destroy> conv_;
};

// Owns an octet_network. The objects of its ops and the contexts of its functions must outlive it.
class [[nodiscard]] Network {
 public:
  static Result<Network> create(const octet_network_desc& desc) {
    octet_error error;
    octet_network* network = nullptr;
    if (octet_network_create(&desc, &network, &error)) return error;
    Network owner;
    owner.network_.reset(network);
    return owner;
  }

  // For runs on `concurrency` tasks, at most as many as the descriptor has: all take the same.
  Result<size_t> workspace_bytes() const {
    octet_error error;
    size_t bytes;
    if (octet_network_workspace(network_.get(), &bytes, &error)) return error;
    return bytes;
  }
  Result<Workspace> workspace(size_t concurrency = 1) const {
    const Result<size_t> bytes = workspace_bytes();
    if (!bytes) return bytes.error();
    return Workspace::allocate(*bytes, concurrency);
  }

  [[nodiscard]] octet_status run(const octet_network_args& args,
                                 octet_error* error = nullptr) const {
    return octet_network_run(network_.get(), &args, error);
  }
  // Part `index` of the plan, until OCTET_BAD_SIZE.
  Result<octet_network_explanation> explain(size_t index) const {
    octet_error error;
    auto explanation = make<octet_network_explanation>();
    if (octet_network_explain(network_.get(), index, &explanation, &error)) return error;
    return explanation;
  }
  octet_network* get() const { return network_.get(); }

 private:
  std::unique_ptr<octet_network, detail::Destroy> network_;
};

}  // namespace octet

#endif  // OCTET_OCTET_HPP_
