// Copies lines of the input for a block of output channels of a depthwise or grouped convolution.
#pragma once

#include <string.h>

#include "kernels/core/compiler.h"
#include "kernels/core/depthwise_kernel.h"

namespace octet {

// Writes a byte (or, by `widen`, an int16) per output channel of the block for each pixel.
class ChannelCopy {
 public:
  // channels: of words, which have no multiplier and no flip, their bytes.
  // multiplier: output channels that read one input channel; n0: the block's first output channel;
  // staged: bytes between copied pixels; flip: changes the bytes' sign, of grouped kernels.
  ChannelCopy(const DepthwiseKernel& kernel, size_t n0, size_t channels, size_t multiplier,
              size_t staged, uint8_t flip)
      : widen_(kernel.widen),
        channels_(channels),
        multiplier_(multiplier),
        turn_(n0 % multiplier),
        staged_(staged),
        flip_(flip) {}

  // Pixels are `step` bytes apart; `from` is the block's first channel of the first one.
  void copy(const uint8_t* from, size_t step, size_t pixels, uint8_t* to) const {
    if (widen_) return widen_(from, step, pixels, channels_, flip_, (uint16_t*)to);
    if (multiplier_ == 1) {
      if (channels_ == 64) return copy_pixels<64>(from, step, pixels, to);
      if (channels_ == 32) return copy_pixels<32>(from, step, pixels, to);
      return copy_pixels<0>(from, step, pixels, to);
    }
    for (; pixels; --pixels, from += step, to += staged_) spread(from, to);
  }

 private:
  // bytes: channels_, or 0 for any number.
  template <size_t bytes>
  void copy_pixels(const uint8_t* from, size_t step, size_t pixels, uint8_t* to) const {
    typedef uint8_t Piece __attribute__((vector_size(16)));
    // In a register: a load of it could wait for stores to the copy whose addresses look alike
    const Piece flip = Piece{} + flip_;
    const size_t channels = channels_, staged = staged_;
    const auto copy_piece = [&](size_t i) {
      Piece piece;
      memcpy(&piece, from + i, sizeof piece);
      piece ^= flip;
      memcpy(to + i, &piece, sizeof piece);
    };
    for (; pixels; --pixels, from += step, to += staged) {
      if constexpr (bytes) {  // loads do not wait for stores whose addresses look alike
        Piece pieces[bytes / sizeof flip];
        unroll<bytes / sizeof flip>([&](auto i) OCTET_INLINE {
          memcpy(&pieces[i], from + i * sizeof flip, sizeof flip);
          pieces[i] ^= flip;
        });
        unroll<bytes / sizeof flip>(
            [&](auto i) OCTET_INLINE { memcpy(to + i * sizeof flip, &pieces[i], sizeof flip); });
      } else {
        size_t i = 0;
        for (; i + sizeof flip <= channels; i += sizeof flip) copy_piece(i);
        if (i && i < channels) {
          copy_piece(channels - sizeof flip);  // overlaps the piece before
          i = channels;
        }
        for (; i < channels; ++i) to[i] = from[i] ^ flip_;
      }
    }
  }

  // Repeats each channel as often as outputs read it, eight bytes at a time.
  void spread(const uint8_t* from, uint8_t* to) const {
    size_t i = 0, turn = turn_;
    // Blocks begin at multiples of 16, so these begin with a channel's first output
    if (multiplier_ == 2)
      for (; i + 8 <= channels_; i += 8, from += 4) store(two_of_four(from), to + i);
    if (multiplier_ == 4)
      for (; i + 8 <= channels_; i += 8, from += 2)
        store((from[0] | (uint64_t)from[1] << 32) * 0x01010101, to + i);
    for (; i < channels_; turn = 0, ++from) {
      const size_t end = smaller(i + multiplier_ - turn, channels_);
      const uint64_t eight = *from * 0x0101010101010101u;
      // Bytes written too far are overwritten by the next channel, or lie in the staged pixel's
      // padding
      for (; i < end && i + 8 <= staged_; i += 8) store(eight, to + i);
      for (; i < end; ++i) to[i] = *from;
      i = end;
    }
  }
  static void store(uint64_t eight, uint8_t* to) { memcpy(to, &eight, sizeof eight); }
  static uint64_t two_of_four(const uint8_t* from) {
    uint32_t four;
    memcpy(&four, from, sizeof four);
    uint64_t apart = (four | (uint64_t)four << 16) & 0x0000ffff0000ffff;
    apart = (apart | apart << 8) & 0x00ff00ff00ff00ff;
    return apart | apart << 8;
  }

  const WidenPixelsFn widen_;
  const size_t channels_, multiplier_, turn_, staged_;
  const uint8_t flip_;
};

}  // namespace octet
