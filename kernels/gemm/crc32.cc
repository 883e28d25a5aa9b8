#include "kernels/gemm/crc32.h"

namespace octet {
namespace {

constexpr uint32_t kPolynomial = 0xEDB88320u;

// table[i][b]: the CRC of byte b followed by i zero bytes, so that eight bytes are looked up at once ("slicing by 8", Kounavis and Berry).
struct Tables {
  uint32_t table[8][256];
  constexpr Tables() : table() {
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t crc = b;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
      table[0][b] = crc;
    }
    for (int i = 1; i < 8; ++i)
      for (uint32_t b = 0; b < 256; ++b) table[i][b] = (table[i - 1][b] >> 8) ^ table[0][table[i - 1][b] & 255];
  }
};
constexpr Tables kTables;

inline uint32_t eight_bytes(uint32_t crc, const uint8_t* p) {
  const auto& table = kTables.table;
  uint32_t low, high;
  __builtin_memcpy(&low, p, 4);
  __builtin_memcpy(&high, p + 4, 4);
  low ^= crc;
  return table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^ table[3][high & 255] ^
         table[2][high >> 8 & 255] ^ table[1][high >> 16 & 255] ^ table[0][high >> 24];
}

// Product of two polynomials modulo the CRC's; bit 31 is x^0.
uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b >> 1) ^ (b & 1 ? kPolynomial : 0);
  }
  return product;
}

// x^(8 * bytes): what appending that many zero bytes multiplies a CRC by.
uint32_t power(size_t bytes) {
  uint32_t result = 1u << 31, square = 1u << 23;  // x^0, x^8
  for (; bytes; bytes >>= 1) {
    if (bytes & 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

constexpr size_t kStreams = 3, kWorthSplitting = 16 * 1024;

}  // namespace

uint32_t crc32(const void* data, size_t bytes) {
  const uint8_t* p = (const uint8_t*)data;
  uint32_t crc = ~0u;
  if (bytes >= kWorthSplitting) {  // each look-up waits for the one before: three parts at once hide that
    const size_t part = bytes / kStreams / 8 * 8;
    uint32_t second = 0, third = 0;
    for (size_t i = 0; i < part; i += 8) {
      crc = eight_bytes(crc, p + i);
      second = eight_bytes(second, p + part + i);
      third = eight_bytes(third, p + 2 * part + i);
    }
    const uint32_t shift = power(part);
    crc = multiply(multiply(crc, shift) ^ second, shift) ^ third;
    p += kStreams * part;
    bytes -= kStreams * part;
  }
  for (; bytes >= 8; bytes -= 8, p += 8) crc = eight_bytes(crc, p);
  for (; bytes; --bytes) crc = (crc >> 8) ^ kTables.table[0][(crc ^ *p++) & 255];
  return ~crc;
}

}  // namespace octet
