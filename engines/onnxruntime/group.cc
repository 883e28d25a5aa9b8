// SPDX-License-Identifier: Apache-2.0
// Numbers a group's tensors, and gives those between its works a place in the memory of a run.
#include "engines/onnxruntime/group.h"

#include <algorithm>
#include <map>

#include "engines/graph/check.h"
#include "engines/graph/objects.h"

namespace octet::onnxruntime {
namespace {

size_t element_bytes(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: return 1;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: return 4;
    default: return 0;
  }
}

int find(const std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : (int)(at - names.begin());
}

}  // namespace

Group::Group(const HostGraph& host, std::vector<std::unique_ptr<Work>> works)
    : works_(std::move(works)), from_(works_.size()), to_(works_.size()) {
  std::map<std::string, size_t> known;
  std::map<std::string, size_t> bytes;
  for (const Value& value : host.values) bytes[value.name] = element_bytes(value.type);
  const auto number = [&](const std::string& name, size_t work) {
    const auto [at, is_new] = known.emplace(name, tensors_.size());
    if (is_new) {
      names_.push_back(name), tensors_.emplace_back();
      tensors_.back().bytes = bytes[name], tensors_.back().first = work;
    }
    tensors_[at->second].last = work;
    return at->second;
  };
  for (size_t w = 0; w < works_.size(); ++w) {
    for (const std::string& name : works_[w]->inputs) from_[w].push_back(number(name, w));
    for (const std::string& name : works_[w]->outputs) to_[w].push_back(number(name, w));
  }
}

bool Group::makes(const std::string& name) const {
  return std::any_of(works_.begin(), works_.end(),
                     [&](const auto& work) { return find(work->outputs, name) >= 0; });
}

void Group::bind(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  std::vector<char> made(tensors_.size());
  for (size_t w = 0; w < works_.size(); ++w) {
    for (const size_t t : from_[w]) {
      if (made[t]) continue;
      tensors_[t].input = find(inputs, names_[t]);
      if (tensors_[t].input < 0)
        graph::refuse("'", names_[t], "' is no input of the node that was made of it");
    }
    for (const size_t t : to_[w]) made[t] = 1, tensors_[t].output = find(outputs, names_[t]);
  }
  const auto is_output = [](const Tensor& t) { return t.output >= 0; };
  if ((size_t)std::count_if(tensors_.begin(), tensors_.end(), is_output) != outputs.size())
    graph::refuse("the node has outputs that nothing makes");
}

// ---- for some shapes

std::shared_ptr<const Group::Planned> Group::plan(const std::vector<Shape>& inputs) const {
  auto made = std::make_shared<Planned>();
  made->shapes.resize(tensors_.size());
  size_t next = 0;
  for (size_t t = 0; t < tensors_.size(); ++t)
    if (tensors_[t].input >= 0) made->shapes[t] = inputs[next++];
  for (size_t w = 0; w < works_.size(); ++w) {
    std::vector<Shape> given;
    for (const size_t t : from_[w]) given.push_back(made->shapes[t]);
    std::vector<Shape> results = works_[w]->shapes(given);
    for (size_t i = 0; i < to_[w].size(); ++i) made->shapes[to_[w][i]] = std::move(results[i]);
  }
  place(made.get());
  return made;
}

// Each tensor lies at the lowest place where it overlaps with none that is needed meanwhile.
void Group::place(Planned* planned) const {
  struct Placed {
    size_t begin, end, tensor;
  };
  std::vector<Placed> all;  // by their places
  planned->places.resize(tensors_.size());
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const Tensor& tensor = tensors_[t];
    if (tensor.input >= 0 || tensor.output >= 0) continue;
    const size_t bytes = graph::aligned(count_of(planned->shapes[t]) * tensor.bytes);
    size_t at = 0;
    for (const Placed& other : all) {
      const Tensor& o = tensors_[other.tensor];
      if (o.last < tensor.first || tensor.last < o.first) continue;
      if (other.begin >= at + bytes) break;
      at = std::max(at, other.end);
    }
    planned->places[t] = at, planned->bytes = std::max(planned->bytes, at + bytes);
    const Placed made = {at, at + bytes, t};
    const auto behind = [](const Placed& a, const Placed& b) { return a.begin < b.begin; };
    all.insert(std::upper_bound(all.begin(), all.end(), made, behind), made);
  }
}

// ---- runs

void Group::run(OrtKernelContext* context) {
  std::vector<void*> data(tensors_.size());
  std::vector<Shape> inputs;
  for (size_t t = 0; t < tensors_.size(); ++t) {
    if (tensors_[t].input < 0) continue;
    const OrtValue* value = nullptr;
    const void* from = nullptr;
    check(host.api->KernelContext_GetInput(context, (size_t)tensors_[t].input, &value));
    if (!value) graph::refuse("'", names_[t], "' is left out");
    check(host.api->GetTensorData(value, &from));
    data[t] = const_cast<void*>(from), inputs.push_back(shape_of(value));
  }
  const std::shared_ptr<const Planned> planned =
      planned_.find(inputs, [&] { return plan(inputs); });
  for (size_t t = 0; t < tensors_.size(); ++t) {
    if (tensors_[t].output < 0) continue;
    OrtValue* value = nullptr;
    const Shape& shape = planned->shapes[t];
    check(host.api->KernelContext_GetOutput(context, (size_t)tensors_[t].output, shape.data(),
                                            shape.size(), &value));
    check(host.api->GetTensorMutableData(value, &data[t]));
  }
  memory_.use(planned->bytes, [&](void* all) {
    for (size_t t = 0; t < tensors_.size(); ++t)
      if (tensors_[t].input < 0 && tensors_[t].output < 0)
        data[t] = (uint8_t*)all + planned->places[t];
    for (size_t w = 0; w < works_.size(); ++w) {
      std::vector<Given> from;
      std::vector<void*> to;
      for (const size_t t : from_[w]) from.push_back({data[t], planned->shapes[t]});
      for (const size_t t : to_[w]) to.push_back(data[t]);
      works_[w]->run(context, from, to);
    }
  });
}

}  // namespace octet::onnxruntime
