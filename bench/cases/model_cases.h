// Makes cases of a described model's layers, with the model's own operands: weights, biases,
// scales, zero points, activations. Only their inputs are drawn.
#pragma once

#include "bench/cases/cases.h"
#include "bench/problems/conv_data.h"

namespace tool {

// As read_network, but each layer is a case of its own. Needs the description's data
// (tools/models/describe.py --data); throws what is wrong. Layers that are left out are told on
// stderr.
std::vector<CaseGroup> read_model(const std::string& path);

// A model's own, or drawn.
ConvData data_of(const ConvCase& conv, const OperandTypes& types, const Operands& operands);
GemmData data_of(const GemmCase& gemm, const OperandTypes& types, const Operands& operands);

}  // namespace tool
