// SPDX-License-Identifier: Apache-2.0
// Makes cases of a described model's layers, with the model's own operands: weights, biases,
// scales, zero points, activations. Only the inputs are drawn.
#pragma once

#include "bench/cases/cases.h"
#include "bench/problems/conv_data.h"

namespace tool {

// Like read_network, but each layer is a case of its own. It needs the description's data
// (tools/models/describe.py --data), throws Error, and prints left-out layers on stderr.
std::vector<CaseGroup> read_model(const std::string& path);

// parse_cases, but with Likeness::kModel each name is a description with its data.
std::vector<CaseGroup> parse_cases(const std::vector<std::string>& names, Likeness likeness);

// The model's own operands, or drawn ones.
ConvData data_of(const ConvCase& conv, const OperandTypes& types, const Operands& operands);
GemmData data_of(const GemmCase& gemm, const OperandTypes& types, const Operands& operands);

}  // namespace tool
