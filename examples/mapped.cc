// SPDX-License-Identifier: Apache-2.0
// Packed weights in a file, mapped and checked; a convolution whose every byte lies in memory that
// the program has already: nothing is allocated after the start.
//
//     mapped [file]    writes the file (octet-weights.bin), maps it and convolves one image
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <octet/octet.hpp>

#include <cstdint>
#include <cstdio>

namespace {

constexpr size_t kSide = 16, kChannels = 8;

int fail(const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what, why);
  return 1;
}

octet_filter_desc filter_of(const int8_t* weights) {
  auto filter = octet::make<octet_filter_desc>();
  octet_conv2d_shape& shape = filter.shape;
  shape.in_h_max = shape.in_w_max = kSide;
  shape.in_channels = shape.out_channels = kChannels;
  shape.kernel_h = shape.kernel_w = 3;
  shape.pad_top = shape.pad_bottom = shape.pad_left = shape.pad_right = 1;
  filter.type = OCTET_S8;
  filter.data = weights;
  return filter;
}

// Done once, by a converter for instance. A blob that is packed for one tier by name runs on every
// machine that has that tier.
bool write_weights(const char* path) {
  static int8_t weights[kChannels * 3 * 3 * kChannels];
  for (size_t i = 0; i < sizeof weights; ++i) weights[i] = static_cast<int8_t>(i * 37 % 255 - 127);
  const auto packed = octet::PackedWeights::pack(filter_of(weights));
  if (!packed) return fail("pack", packed.error().message), false;
  std::FILE* const file = std::fopen(path, "wb");
  if (!file) return false;
  const bool written = std::fwrite(packed->data(), 1, packed->size(), file) == packed->size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const path = argc > 1 ? argv[1] : "octet-weights.bin";
  if (!write_weights(path)) return fail(path, "cannot be written");

  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(path, "cannot be opened");
  const size_t bytes = static_cast<size_t>(lseek(file, 0, SEEK_END));
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return fail(path, "cannot be mapped");
  octet_error error;
  if (octet_blob_verify(mapped, bytes, &error)) return fail("verify", error.message);
  const auto weights = octet::PackedWeights::borrow(mapped, bytes);
  if (!weights) return fail("borrow", weights.error().message);

  auto desc = octet::make<octet_conv2d_desc>();
  desc.shape = filter_of(nullptr).shape;
  desc.lhs_type = desc.dst_type = OCTET_U8;
  desc.rhs_type = OCTET_S8;
  desc.lhs_zero_point = desc.epilogue.dst_zero_point = 128;
  static const float scale = 1.0f / 512;
  desc.epilogue.scales = &scale;
  desc.epilogue.scale_count = 1;
  weights->attach(desc);
  const auto conv = octet::Conv2d::create(desc);
  if (!conv) return fail("create", conv.error().message);

  // The arena: an input, an output and the workspace, one after the other.
  alignas(OCTET_ALIGNMENT) static uint8_t arena[1 << 20];
  constexpr size_t kImage = kSide * kSide * kChannels;
  static_assert(kImage % OCTET_ALIGNMENT == 0, "the workspace begins at OCTET_ALIGNMENT");
  const auto needed = conv->workspace_bytes(1, kSide, kSide, 1);
  if (!needed) return fail("workspace", needed.error().message);
  if (2 * kImage + *needed > sizeof arena) return fail("workspace", "is larger than the arena");
  auto workspace = octet::Workspace::borrow(arena + 2 * kImage, *needed);
  for (size_t i = 0; i < kImage; ++i) arena[i] = static_cast<uint8_t>(i * 11 % 251);
  auto args = octet::make<octet_conv2d_args>();
  args.lhs = arena;
  args.dst = arena + kImage;
  workspace.attach(args);
  if (conv->run(args, &error)) return fail("run", error.message);

  uint32_t checksum = 0;
  for (size_t i = 0; i < kImage; ++i) checksum = checksum * 31 + arena[kImage + i];
  std::printf("%zu bytes mapped, %zu of workspace, %s: checksum %08x\n", bytes, *needed,
              octet_conv_algorithm_name(conv->algorithm()), checksum);
  munmap(mapped, bytes);
  return checksum != 0x63d824d9u;  // by plain loops, rounding once; the same on every CPU
}
