// SPDX-License-Identifier: Apache-2.0
// Computes where the lines and pixels of a resized image come from, as each engine does.
#include "operators/functions/resize.h"

namespace octet {
namespace {

int32_t floor_of(double x) {
  const int32_t i = (int32_t)x;
  return i - (x < i);
}
int32_t ceil_of(double x) { return -floor_of(-x); }

uint32_t within(int32_t i, size_t in) {
  return i < 0 ? 0 : (size_t)i < in ? (uint32_t)i : (uint32_t)in - 1;
}

// ---- TFLite and XNNPACK

// `part` of `one` for the higher neighbour.
ResizePlace between(uint32_t low, uint32_t high, int32_t part, int32_t one) {
  return {low, high, part, {(float)(one - part) / (float)one, (float)part / (float)one}};
}

float scale_of(const ResizeAxis& a) {
  return a.coordinates == OCTET_COORDINATES_ALIGN_CORNERS && a.out > 1
             ? (float)(a.in - 1) / (float)(a.out - 1)
             : (float)a.in / (float)a.out;
}

ResizePlace nearest_tflite(const ResizeAxis& a, size_t i) {
  const float half = a.coordinates == OCTET_COORDINATES_HALF_PIXEL ? 0.5f : 0.0f;
  const float at = ((float)i + half) * scale_of(a);
  const double rounding = a.coordinates == OCTET_COORDINATES_ALIGN_CORNERS ? 0.5 : 0;
  const uint32_t place = within(floor_of((double)at + rounding), a.in);
  return {place, place, 0, {1, 0}};
}

ResizePlace linear_tflite(const ResizeAxis& a, size_t i) {
  const int32_t in = (int32_t)a.in, out = (int32_t)a.out;
  const int32_t step = a.coordinates == OCTET_COORDINATES_ALIGN_CORNERS && out > 1
                           ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1)
                           : (int32_t)((1024 * (int64_t)in + out / 2) / out);
  int64_t at = (int64_t)i * step;
  if (a.coordinates == OCTET_COORDINATES_HALF_PIXEL) at += step / 2 - 512;
  const uint32_t low = within((int32_t)(at / 1024), a.in),
                 high = within((int32_t)((at + 1023) / 1024), a.in);
  // Beyond the last pixel the position goes on, but weighs one pixel with itself
  return between(low, high, low == high ? 0 : (int32_t)(at - (int64_t)low * 1024), 1024);
}

ResizePlace linear_tflite_float(const ResizeAxis& a, size_t i) {
  const float at = a.coordinates == OCTET_COORDINATES_HALF_PIXEL
                       ? ((float)i + 0.5f) * scale_of(a) - 0.5f
                       : (float)i * scale_of(a);
  const uint32_t low = within(floor_of((double)at), a.in), high = within(ceil_of((double)at), a.in);
  const float part = at - (float)low;
  return {low, high, 0, {1 - part, part}};
}

ResizePlace linear_xnnpack(const ResizeAxis& a, size_t i) {
  const float scale = scale_of(a);
  float at = (float)i * scale;
  if (a.coordinates == OCTET_COORDINATES_HALF_PIXEL) at += 0.5f * scale - 0.5f;
  if (!(at > 0)) at = 0;
  if (at > (float)(a.in - 1)) at = (float)(a.in - 1);
  const uint32_t low = (uint32_t)at;
  const double part = (double)(at - (float)low) * 2048;
  const int32_t floor = floor_of(part), twice = (int32_t)((part - floor) * 2 > 1) +
                                                ((part - floor) * 2 == 1 ? floor & 1 : 0);
  return between(low, within((int32_t)low + 1, a.in), floor + twice, 2048);
}

// ---- ONNX

float onnx_at(const ResizeAxis& a, size_t i) {
  if (a.in == a.out) return (float)i;
  const float scale = (float)a.out / (float)a.in;
  switch (a.coordinates) {
    case OCTET_COORDINATES_ASYMMETRIC: return (float)i / scale;
    case OCTET_COORDINATES_ALIGN_CORNERS:
      return a.out == 1 ? 0 : (float)i * (float)(a.in - 1) / (float)(a.out - 1);
    case OCTET_COORDINATES_PYTORCH_HALF_PIXEL:
      if (a.out == 1) return 0;
      [[fallthrough]];
    default: return ((float)i + 0.5f) / scale - 0.5f;
  }
}

ResizePlace nearest_onnx(const ResizeAxis& a, size_t i) {
  const double at = (double)onnx_at(a, i);
  int32_t place = 0;
  switch (a.nearest) {
    case OCTET_NEAREST_PIXEL_ROUND_PREFER_FLOOR: place = ceil_of(at - 0.5); break;
    case OCTET_NEAREST_PIXEL_ROUND_PREFER_CEIL: place = floor_of(at + 0.5); break;
    case OCTET_NEAREST_PIXEL_FLOOR: place = floor_of(at); break;
    default: place = ceil_of(at);
  }
  const uint32_t low = within(place, a.in);
  return {low, low, 0, {1, 0}};
}

ResizePlace linear_onnx(const ResizeAxis& a, size_t i) {
  float at = onnx_at(a, i);
  if (!(at > 0)) at = 0;
  if (at > (float)(a.in - 1)) at = (float)(a.in - 1);
  const uint32_t low = (uint32_t)at, high = within((int32_t)low + 1, a.in);
  if (low == high) return {low, high, 0, {0.5f, 0.5f}};
  return {low, high, 0, {(float)high - at, at - (float)low}};
}

size_t common_divisor(size_t a, size_t b) {
  while (b) {
    const size_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

}  // namespace

void find_places(const ResizeAxis& axis, ResizePlace* places) {
  using Find = ResizePlace (*)(const ResizeAxis&, size_t);
  const Find nearest = axis.nearest == OCTET_NEAREST_PIXEL_TFLITE ? nearest_tflite : nearest_onnx;
  const Find find = axis.kind == PlaceKind::kNearest       ? nearest
                    : axis.kind == PlaceKind::kTfliteInt   ? linear_tflite
                    : axis.kind == PlaceKind::kTfliteFloat ? linear_tflite_float
                    : axis.kind == PlaceKind::kXnnpack     ? linear_xnnpack
                                                           : linear_onnx;
  for (size_t i = 0; i < axis.out; ++i) places[i] = find(axis, i);
}

octet_network_function lines_of(const ResizePlace* places, size_t in, size_t out) {
  const size_t divisor = common_divisor(in, out), repeat = out / divisor, stride = in / divisor;
  // Of the values t from y * stride - pad on, the first is at most the last one of line low, and
  // the last at least the first one of line high
  size_t pad = 0, after = 0;
  for (size_t y = 0; y < out; ++y) {
    const size_t at = y * stride, first = places[y].low * repeat + repeat - 1,
                 last = places[y].high * repeat;
    if (at > first && at - first > pad) pad = at - first;
    if (last > at && last - at > after) after = last - at;
  }
  const size_t kernel = pad + after + 1;
  if (kernel / repeat >= in) return {nullptr, nullptr, 0, 1, 1, 0};
  return {nullptr, nullptr, kernel, stride, repeat, pad};
}

}  // namespace octet
