// SPDX-License-Identifier: Apache-2.0
// Formats reports as Markdown: everything on the page is in the reports.
#include "tools/octet/report_page.h"

#include <fmt/format.h>

namespace tool {
namespace {

using nlohmann::ordered_json;

constexpr const char* kIntroduction =
    "# Benchmarks\n"
    "\n"
    "Each section is one machine, from the file that `octet report` wrote there; `octet report\n"
    "--from FILE...` makes this page of such files and of nothing else. Send yours: the .json.\n"
    "\n"
    "All outputs are u8, of u8 activations and s8 weights. \"us\" is microseconds a call,\n"
    "\"GOPS\" 10^9 multiplications and additions a second, \"by\" the kernel; a network's time is\n"
    "the sum of its layers'. \"Peak\" is what the CPU's dot-product instruction reached beside\n"
    "each measurement: Winograd needs fewer products than the definition counts, so it may pass\n"
    "100 %. The column x is the peer's time divided by Octet's: above 1, Octet is faster.\n";

std::string size_text(size_t bytes) {
  return !bytes                     ? "unknown or none"
         : bytes < (size_t)10 << 20 ? fmt::format("{} KiB", bytes >> 10)
                                    : fmt::format("{} MiB", bytes >> 20);
}

// Ten blocks are 100 %.
std::string bar(double percent) {
  std::string blocks;
  for (int i = 0; i < 10; ++i) blocks += percent >= 10 * i + 5 ? "█" : "░";
  return blocks;
}

std::string percent_cell(const ordered_json& percent) {
  return percent.is_number()
             ? fmt::format("{} {:.0f} %", bar(percent.get<double>()), percent.get<double>())
             : "-";
}

// Characters that Markdown would take for its own.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '`' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string machine_rows(const ordered_json& r) {
  const ordered_json& m = r.at("machine");
  const ordered_json& caches = m.at("caches");
  const ordered_json& v = r.at("verified");
  const auto checked = [&](const char* what) {
    const size_t wrong = v.at(what).at("wrong");
    return fmt::format("{} {} right, {}{} wrong", v.at(what).at("right").get<size_t>(), what,
                       wrong ? "**" : "", wrong ? fmt::format("{}**", wrong) : "0");
  };
  const std::string commit = r.at("commit");
  std::string rows = "| | |\n|---|---|\n";
  const auto row = [&](const char* name, const std::string& value) {
    rows += fmt::format("| {} | {} |\n", name, value);
  };
  row("machine", fmt::format("design {}; {} CPUs; {:.1f} GiB; L1d {}, L2 {}, L3 {}",
                             m.at("design").get<std::string>(), m.at("cpus").get<size_t>(),
                             m.at("memory_gib").get<double>(), size_text(caches.at("l1d_bytes")),
                             size_text(caches.at("l2_bytes")), size_text(caches.at("l3_bytes"))));
  row("library", fmt::format("Octet {}, {}, {}", r.at("octet").get<std::string>(),
                             commit.empty() ? "commit unknown" : "commit " + commit,
                             r.at("compiler").get<std::string>()));
  row("tier", fmt::format("{}; demoted by the self-test: {}", m.at("isa").get<std::string>(),
                          m.at("demoted").get<std::string>()));
  const size_t left = v.at("left_out");
  row("verified", checked("products") + "; " + checked("convolutions") +
                      (left ? fmt::format("; {} parts left out: the time was up", left) : ""));
  row("timed", fmt::format("{} thread{}, median of {} repetitions, {} time; {:.0f} s in all",
                           m.at("threads").get<size_t>(), m.at("threads") == 1 ? "" : "s",
                           m.at("repetitions").get<int>(), m.at("clock").get<std::string>(),
                           r.at("seconds").get<double>()));
  return rows;
}

std::string peer_cells(const ordered_json& c) {
  if (!c.contains("ratio")) return " - | - |";
  const bool wrong = c.at("peer_verified") == false;
  return fmt::format(" {:.1f}{} | **{:.2f}** |", c.at("peer_us").get<double>(),
                     wrong ? " (wrong)" : "", c.at("ratio").get<double>());
}

// A row a case; of networks, the slowest beside the peer or the peak only.
std::string cases_table(const ordered_json& part) {
  const bool peer = part.at("peer").is_string();
  std::string text =
      fmt::format("| {} | us | GOPS | of the peak |{} by |\n|---|---|---|---|{}---|\n",
                  part.at("suite") == "products" ? "product" : "layer",
                  peer ? " peer us | x |" : "", peer ? "---|---|" : "");
  for (const ordered_json& c : part.at("cases")) {
    const int count = c.at("count");
    const std::string name =
        c.at("name").get<std::string>() +
        (part.at("suite") != "products" && count > 1 ? fmt::format(" ({} times)", count) : "");
    if (!c.at("verified").get<bool>()) {
      text += fmt::format("| {} | **wrong**: {} |\n", name,
                          plain(c.at("first_error").get<std::string>()));
      continue;
    }
    text +=
        fmt::format("| {} | {:.1f} | {:.0f} | {} |{} {} |\n", name, c.at("octet_us").get<double>(),
                    c.at("gops").get<double>(), percent_cell(c.at("percent_of_concurrent_peak")),
                    peer ? peer_cells(c) : "", c.at("kernel").get<std::string>());
  }
  return text;
}

std::string left_out(const ordered_json& part) {
  const size_t count = part.at("left_out").size();
  return count ? fmt::format("{} cases were left out: the time was up.\n\n", count) : "";
}

std::string part_text(const ordered_json& part) {
  const ordered_json& s = part.at("summary");
  const std::string suite = part.at("suite"),
                    peer = part.at("peer").is_string() ? part.at("peer").get<std::string>() : "";
  std::string text = fmt::format("### {}{}\n\n{}", suite,
                                 peer.empty() ? "" : " beside " + plain(peer), left_out(part));
  if (s.at("cases") == 0) return text;
  if (suite == "products") return text + cases_table(part) + "\n";
  text += fmt::format("{:.2f} ms, {:.0f} GOPS", s.at("octet_us").get<double>() / 1e3,
                      s.at("gops").get<double>());
  if (s.contains("ratio"))
    text += fmt::format("; {}: {:.2f} ms, x **{:.2f}**", plain(peer),
                        s.at("peer_us").get<double>() / 1e3, s.at("ratio").get<double>());
  return text + ".\n\n<details><summary>layers</summary>\n\n" + cases_table(part) +
         "\n</details>\n\n";
}

}  // namespace

std::string report_page(const std::vector<ordered_json>& reports) {
  std::string text = kIntroduction;
  for (const ordered_json& r : reports) {
    text += fmt::format("\n## {}, {}\n\n{}\n", plain(r.at("machine").at("cpu").get<std::string>()),
                        r.at("date").get<std::string>(), machine_rows(r));
    for (const ordered_json& part : r.at("results")) text += part_text(part);
  }
  while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  return text;
}

}  // namespace tool
