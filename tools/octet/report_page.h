// SPDX-License-Identifier: Apache-2.0
// Writes reports of octet report as a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tool {

// Markdown, a section a report.
std::string report_page(const std::vector<nlohmann::ordered_json>& reports);

}  // namespace tool
