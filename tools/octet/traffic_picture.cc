// SPDX-License-Identifier: Apache-2.0
// Draws the picture of a traffic report: a bar for each layer, stacked by operand; above layer by
// layer, below in chains.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/octet/traffic_report.h"

namespace tool {
namespace {

constexpr struct {
  octet_operand operand;
  const char *name, *color;
} kParts[] = {{OCTET_OPERAND_INPUT, "input, residual", "#4878a8"},
              {OCTET_OPERAND_WEIGHTS, "weights", "#a8a8a8"},
              {OCTET_OPERAND_OUTPUT, "output", "#d08a3c"},
              {OCTET_OPERAND_WORKSPACE, "workspace", "#b05050"}};

constexpr double kLeft = 80, kTop = 70, kHeight = 230, kNames = 130, kBetween = 34;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// The step of an axis: 1, 2 or 5 times a power of ten, about a fifth of `most`.
double step_of(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 5)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power * 5 >= most) return factor * power;
  return 10 * power;
}

// The places of bars, the same in both halves.
struct Frame {
  double pitch, scale, most, width;
  double left(size_t layer) const { return kLeft + (double)layer * pitch; }
};

std::string axis(const Frame& f, double base) {
  std::string svg;
  const double step = step_of(f.most);
  for (double value = 0; value <= f.most; value += step)
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g} MB</text>"
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
        kLeft - 6, base - value * f.scale + 4, value / 1e6, kLeft - 2, f.width - 15,
        base - value * f.scale, base - value * f.scale);
  return svg + fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"black\"/>\n",
                           kLeft - 2, f.width - 15, base);
}

std::string bar(const Frame& f, double base, size_t layer, const Moved& moved) {
  std::string svg;
  double y = base;
  for (const auto& part : kParts) {
    const double height = (double)moved.of(part.operand) * f.scale;
    y -= height;
    if (height > 0)
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
          f.left(layer) + 1, y, f.pitch - 2, height, part.color);
  }
  return svg;
}

std::string title(double y, const std::string& how, const Moved& total) {
  return fmt::format("<text x=\"{}\" y=\"{:.1f}\" font-size=\"13\">{}: {:.2f} MB</text>\n", kLeft,
                     y, how, (double)total.all() / 1e6);
}

std::string chains_half(const TrafficReport& r, const Frame& f, double base) {
  const ChainsReport& c = r.chains;
  std::string svg = title(base - kHeight - 8, "in chains (shaded)", c.total);
  for (const octet_network_part& part : c.parts)
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"#eef3e6\"/>\n",
        f.left(part.first_op) + 0.5, base - kHeight,
        (double)(part.end_op - part.first_op) * f.pitch - 1, kHeight);
  svg += axis(f, base);
  for (size_t i = 0; i < c.layers.size(); ++i) svg += bar(f, base, i, c.layers[i]);
  return svg;
}

}  // namespace

std::string to_svg(const TrafficReport& r) {
  Frame f = {};
  f.most = 1;
  const auto see = [&](const Moved& moved) { f.most = std::max(f.most, (double)moved.all()); };
  for (const LayerReport& layer : r.layers) see(layer.moved);
  for (const Moved& moved : r.chains.layers) see(moved);
  const double count = (double)r.layers.size();
  f.pitch = std::clamp(1100 / count, 6.0, 28.0);
  f.scale = kHeight / f.most;
  f.width = std::max(kLeft + count * f.pitch + 20, 560.0);
  const double above = kTop + kHeight, below = above + kBetween + kHeight;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"10\" y=\"20\" font-size=\"14\">{}: to and from memory, batch {}, a cache of {} "
      "KB</text>\n",
      f.width, below + kNames, escaped(r.network), r.batch, r.cache_bytes / 1024);
  double x = 10;
  for (const auto& part : kParts) {
    svg += fmt::format(
        "<rect x=\"{0}\" y=\"28\" width=\"10\" height=\"10\" fill=\"{1}\"/>"
        "<text x=\"{2}\" y=\"37\">{3}</text>\n",
        x, part.color, x + 14, part.name);
    x += 110;
  }
  svg += title(kTop - 8, "layer by layer", r.total) + axis(f, above);
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const LayerReport& layer = r.layers[i];
    svg += bar(f, above, i, layer.moved);
    svg += fmt::format(
        "<text transform=\"translate({:.1f},{:.1f}) rotate(90)\" font-size=\"8\">{} {}x{}x{}"
        "</text>\n",
        f.left(i) + f.pitch / 2 - 2, below + 6, escaped(layer.name), layer.out_h, layer.out_w,
        layer.out_channels);
  }
  return svg + chains_half(r, f, below) + "</svg>\n";
}

}  // namespace tool
