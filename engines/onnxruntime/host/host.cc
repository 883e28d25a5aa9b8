// SPDX-License-Identifier: Apache-2.0
// Calls ONNX Runtime's C functions for graphs, nodes, attributes and constants.
#include "engines/onnxruntime/host/host.h"

#include <map>

namespace octet::onnxruntime {

Host host;

size_t count_of(const Shape& shape) {
  size_t count = 1;
  for (const int64_t size : shape) count *= (size_t)size;
  return count;
}

void check(OrtStatus* status) {
  if (!status) return;
  const std::string why = host.api->GetErrorMessage(status);
  host.api->ReleaseStatus(status);
  throw graph::Refused(OCTET_UNSUPPORTED, why);
}

OrtStatus* failed(const char* why) noexcept {
  char text[1024];
  std::snprintf(text, sizeof text, "octet: %s", why);
  return host.api->CreateStatus(ORT_EP_FAIL, text);
}

namespace {

template <typename From, typename To>
std::vector<To> all_of(const Value& v) {
  const From* const from = (const From*)v.data;
  return std::vector<To>(from, from + v.count);
}

void read_shape(const OrtTensorTypeAndShapeInfo* info, Value* to) {
  size_t rank = 0;
  check(host.api->GetTensorElementType(info, &to->type));
  check(host.api->GetDimensionsCount(info, &rank));
  to->shape.resize(rank);
  check(host.api->GetDimensions(info, to->shape.data(), rank));
  std::vector<const char*> names(rank);
  check(host.api->GetSymbolicDimensions(info, names.data(), rank));
  for (const char* const name : names) to->dim.push_back(name ? name : "");
  to->shape_known = rank > 0;
}

void read_constant(const OrtValueInfo* info, Value* to) {
  bool is_constant = false;
  check(host.api->ValueInfo_IsConstantInitializer(info, &is_constant));
  if (!is_constant) return;
  const OrtValue* value = nullptr;
  check(host.api->ValueInfo_GetInitializerValue(info, &value));
  if (!value || to->type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED ||
      to->type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
    return;
  to->shape = shape_of(value), to->shape_known = true;
  check(host.api->GetTensorData(value, &to->data));
  check(host.api->GetTensorSizeInBytes(value, &to->bytes));
  to->constant = true, to->count = count_of(to->shape);
}

Value value_of(const OrtValueInfo* info, const char* name) {
  Value to;
  to.name = name;
  const OrtTypeInfo* type = nullptr;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  check(host.api->GetValueInfoTypeInfo(info, &type));
  if (type) check(host.api->CastTypeInfoToTensorInfo(type, &tensor));
  if (tensor) read_shape(tensor, &to);
  read_constant(info, &to);
  return to;
}

using Counter = OrtStatus*(ORT_API_CALL*)(const OrtNode*, size_t*);
using Getter = OrtStatus*(ORT_API_CALL*)(const OrtNode*, const OrtValueInfo**, size_t);
std::vector<const OrtValueInfo*> ends_of(const OrtNode* node, Counter count, Getter get) {
  size_t n = 0;
  check(count(node, &n));
  std::vector<const OrtValueInfo*> ends(n);
  check(get(node, ends.data(), n));
  return ends;
}

std::vector<std::string> names_of(const std::vector<const OrtValueInfo*>& infos) {
  std::vector<std::string> names;
  for (const OrtValueInfo* const info : infos) {
    const char* name = "";
    if (info) check(host.api->GetValueInfoName(info, &name));
    names.push_back(name);
  }
  return names;
}

const OrtOpAttr* attribute_of(const OrtNode* node, const char* name) {
  const OrtOpAttr* attribute = nullptr;
  OrtStatus* const status = host.api->Node_GetAttributeByName(node, name, &attribute);
  if (status) host.api->ReleaseStatus(status);  // there is no such attribute
  return status ? nullptr : attribute;
}

std::string text_of(const OrtNode* node,
                    OrtStatus*(ORT_API_CALL* get)(const OrtNode*, const char**)) {
  const char* text = nullptr;
  check(get(node, &text));
  return text ? text : "";
}

}  // namespace

std::vector<int64_t> Value::integers() const {
  if (!constant) return {};
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8: return all_of<int8_t, int64_t>(*this);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: return all_of<uint8_t, int64_t>(*this);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32: return all_of<int32_t, int64_t>(*this);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64: return all_of<int64_t, int64_t>(*this);
    default: return {};
  }
}

std::vector<float> Value::floats() const {
  if (!constant || type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) return {};
  return all_of<float, float>(*this);
}

std::vector<int64_t> Node::integers(const char* attribute) const {
  const OrtOpAttr* const a = attribute_of(node, attribute);
  if (!a) return {};
  size_t bytes = 0;
  OrtStatus* const status = host.api->ReadOpAttr(a, ORT_OP_ATTR_INTS, nullptr, 0, &bytes);
  if (status) host.api->ReleaseStatus(status);  // it tells the size
  std::vector<int64_t> values(bytes / sizeof(int64_t));
  if (!values.empty())
    check(host.api->ReadOpAttr(a, ORT_OP_ATTR_INTS, values.data(), bytes, &bytes));
  return values;
}

int64_t Node::integer(const char* attribute, int64_t otherwise) const {
  const OrtOpAttr* const a = attribute_of(node, attribute);
  size_t bytes = 0;
  if (a) check(host.api->ReadOpAttr(a, ORT_OP_ATTR_INT, &otherwise, sizeof otherwise, &bytes));
  return otherwise;
}

float Node::number(const char* attribute, float otherwise) const {
  const OrtOpAttr* const a = attribute_of(node, attribute);
  size_t bytes = 0;
  if (a) check(host.api->ReadOpAttr(a, ORT_OP_ATTR_FLOAT, &otherwise, sizeof otherwise, &bytes));
  return otherwise;
}

std::string Node::text(const char* attribute) const {
  const OrtOpAttr* const a = attribute_of(node, attribute);
  if (!a) return "";
  char text[256] = {};
  size_t bytes = 0;
  check(host.api->ReadOpAttr(a, ORT_OP_ATTR_STRING, text, sizeof text - 1, &bytes));
  return text;
}

bool Node::has(const char* attribute) const { return attribute_of(node, attribute) != nullptr; }

HostGraph read_graph(const OrtGraph* graph) {
  HostGraph to_graph;
  std::vector<Value>& values = to_graph.values;
  std::map<std::string, int> known;
  const auto find = [&](const std::vector<const OrtValueInfo*>& infos) {
    const std::vector<std::string> names = names_of(infos);
    std::vector<int> found;
    for (size_t i = 0; i < infos.size(); ++i) {
      if (names[i].empty()) {
        found.push_back(-1);
        continue;
      }
      const auto [at, is_new] = known.emplace(names[i], (int)values.size());
      if (is_new) values.push_back(value_of(infos[i], names[i].c_str()));
      found.push_back(at->second);
    }
    return found;
  };
  const OrtApi& api = *host.api;
  size_t count = 0;
  check(api.Graph_GetNumNodes(graph, &count));
  std::vector<const OrtNode*> all(count);
  check(api.Graph_GetNodes(graph, all.data(), count));
  for (const OrtNode* const node : all) {
    Node to;
    to.node = node;
    to.op = text_of(node, api.Node_GetOperatorType);
    to.domain = text_of(node, api.Node_GetDomain), to.name = text_of(node, api.Node_GetName);
    if (to.domain == "ai.onnx") to.domain.clear();
    check(api.Node_GetSinceVersion(node, &to.version));
    to.inputs = find(ends_of(node, api.Node_GetNumInputs, api.Node_GetInputs));
    to.outputs = find(ends_of(node, api.Node_GetNumOutputs, api.Node_GetOutputs));
    to.captured = find(ends_of(node, api.Node_GetNumImplicitInputs, api.Node_GetImplicitInputs));
    const char* provider = nullptr;
    check(api.Node_GetEpName(node, &provider));
    to.taken = provider && *provider;
    to_graph.nodes.push_back(std::move(to));
  }
  check(api.Graph_GetNumOutputs(graph, &count));
  std::vector<const OrtValueInfo*> ends(count);
  check(api.Graph_GetOutputs(graph, ends.data(), count));
  to_graph.outputs = find(ends);
  return to_graph;
}

std::vector<std::string> input_names(const OrtNode* node) {
  return names_of(ends_of(node, host.api->Node_GetNumInputs, host.api->Node_GetInputs));
}

std::vector<std::string> output_names(const OrtNode* node) {
  return names_of(ends_of(node, host.api->Node_GetNumOutputs, host.api->Node_GetOutputs));
}

std::vector<int64_t> shape_of(const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  check(host.api->GetTensorTypeAndShape(value, &info));
  size_t rank = 0;
  std::vector<int64_t> shape;
  OrtStatus* status = host.api->GetDimensionsCount(info, &rank);
  if (!status) {
    shape.resize(rank);
    status = host.api->GetDimensions(info, shape.data(), rank);
  }
  host.api->ReleaseTensorTypeAndShapeInfo(info);
  check(status);
  return shape;
}

}  // namespace octet::onnxruntime
