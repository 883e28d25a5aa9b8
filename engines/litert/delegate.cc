// SPDX-License-Identifier: Apache-2.0
// The two functions that LiteRT looks up in an external delegate, and the delegate: it claims the
// operators that a graph takes, a partition with a product at a time.
#include <tensorflow/lite/builtin_ops.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "engines/graph/would.h"
#include "engines/litert/partition.h"
#include "engines/litert/rounds_twice.h"
#include "engines/litert/translate.h"
#include "engines/threads/threads.h"

namespace octet::litert {
namespace {

struct Delegate : TfLiteDelegate {
  Delegate() : TfLiteDelegate{} {}
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  // Partitions that prepare made and that no kernel has taken over yet.
  std::vector<std::unique_ptr<Partition>> prepared;

  void say(const std::string& sentence) const {
    if (shared->options.report) std::fprintf(stderr, "octet: %s\n", sentence.c_str());
  }
};

// A vector of int as LiteRT has it: the number of values, then the values.
class IntArray {
 public:
  explicit IntArray(const std::vector<int>& values) {
    words_.push_back((int)values.size());
    words_.insert(words_.end(), values.begin(), values.end());
  }
  TfLiteIntArray* get() { return (TfLiteIntArray*)words_.data(); }

 private:
  std::vector<int> words_;
};

bool is_product(const graph::Op& op) {
  return op.kind == graph::Kind::kConvolution || op.kind == graph::Kind::kProduct ||
         graph::has_state(op.kind);
}

// Lists the tensors that no operator makes as inputs, and those without a reader as outputs.
void find_ends(graph::Graph* g) {
  std::vector<char> made(g->tensors.size()), read(g->tensors.size());
  for (const graph::Op& op : g->ops) {
    for (const int t : op.outputs) made[(size_t)t] = 1;
    for (const int t : op.inputs)
      if (t >= 0) read[(size_t)t] = 1;
  }
  for (size_t t = 0; t < g->tensors.size(); ++t) {
    if (read[t] && !made[t] && !g->tensors[t].constant) g->inputs.push_back((int)t);
    if (made[t] && !read[t]) g->outputs.push_back((int)t);
  }
}

// The nodes that a graph takes, and those of them that are products.
struct Claims {
  std::vector<int> nodes, products;
};
Claims claim(TfLiteContext* context, const std::vector<int>& plan, const Delegate& delegate) {
  graph::Graph g = translate(context, plan, delegate.shared->rounding());
  find_ends(&g);
  const std::vector<std::string> reasons = graph::would(g);
  Claims claims;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (!reasons[i].empty()) {
      delegate.say("left to LiteRT: " + reasons[i]);
      continue;
    }
    claims.nodes.push_back(plan[i]);
    if (is_product(g.ops[i])) claims.products.push_back(plan[i]);
  }
  return claims;
}

// ---- the kernel of a partition

void* init(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *(const TfLiteDelegateParams*)buffer;
  auto& delegate = *(Delegate*)params.delegate;
  try {
    auto partition = std::make_unique<Partition>(context, params, delegate.shared);
    for (auto& made : delegate.prepared)
      if (made && made->nodes() == partition->nodes()) return made.release();
    // Here, for the interpreter shows no other nodes to a kernel's prepare. run reports a failure
    octet_error error = {};
    partition->prepare(context, &error);
    return partition.release();
  } catch (...) {  // for want of memory; prepare_kernel reports it
    return nullptr;
  }
}

// Calls function(&error) and tells the interpreter of a failure.
template <typename Function>
TfLiteStatus reported(TfLiteContext* context, const Function& function) {
  octet_error error = {};
  try {
    if (function(&error) == OCTET_OK) return kTfLiteOk;
    context->ReportError(context, "octet: %s", error.message);
  } catch (const std::exception& exception) {
    context->ReportError(context, "octet: %s", exception.what());
  } catch (...) {
    context->ReportError(context, "octet: an unknown exception");
  }
  return kTfLiteError;
}

TfLiteStatus prepare_kernel(TfLiteContext* context, TfLiteNode* node) {
  auto* const partition = (Partition*)node->user_data;
  return reported(context, [&](octet_error* error) {
    if (!partition) throw std::bad_alloc();
    return partition->prepare(context, error);
  });
}

TfLiteStatus invoke_kernel(TfLiteContext* context, TfLiteNode* node) {
  auto* const partition = (Partition*)node->user_data;
  return reported(context, [&](octet_error* error) {
    if (!partition) throw std::bad_alloc();
    return partition->run(context, error);
  });
}

TfLiteRegistration kernel() {
  TfLiteRegistration r = {};
  r.custom_name = "OctetDelegate";
  r.builtin_code = kTfLiteBuiltinDelegate;
  r.version = 1;
  r.init = init;
  r.free = [](TfLiteContext*, void* partition) { delete (Partition*)partition; };
  r.prepare = prepare_kernel;
  r.invoke = invoke_kernel;
  return r;
}

// ---- the delegate

// Prepares the partitions of the claimed nodes that have a product; returns their nodes. Where a
// program cannot be made, for example because of the weights' values, the nodes stay LiteRT's.
std::vector<int> prepare_partitions(TfLiteContext* context, const Claims& claims,
                                    const TfLiteDelegateParams* parts, int count,
                                    Delegate* delegate) {
  std::vector<int> nodes;
  delegate->prepared.clear();
  for (int i = 0; i < count; ++i) {
    const TfLiteIntArray& part = *parts[i].nodes_to_replace;
    if (std::none_of(part.data, part.data + part.size, [&](int node) {
          return std::binary_search(claims.products.begin(), claims.products.end(), node);
        })) {
      delegate->say("left to LiteRT: " + std::to_string(part.size) +
                    " operators without a product among them");
      continue;
    }
    auto partition = std::make_unique<Partition>(context, parts[i], delegate->shared);
    octet_error error = {};
    if (partition->prepare(context, &error) != OCTET_OK) {
      delegate->say("left to LiteRT: " + std::to_string(part.size) +
                    " operators: " + error.message);
      continue;
    }
    delegate->say(partition->report());
    nodes.insert(nodes.end(), part.data, part.data + part.size);
    delegate->prepared.push_back(std::move(partition));
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

TfLiteStatus prepare(TfLiteContext* context, TfLiteDelegate* self) {
  auto* const delegate = (Delegate*)self;
  TfLiteStatus status = kTfLiteError;
  const TfLiteStatus called = reported(context, [&](octet_error*) {
    TfLiteIntArray* order = nullptr;
    if (context->GetExecutionPlan(context, &order) != kTfLiteOk)
      throw std::runtime_error("the interpreter has no execution plan");
    const std::vector<int> plan(order->data, order->data + order->size);
    if (delegate->shared->options.arithmetic == graph::Arithmetic::kTflite)
      delegate->shared->in_double = !rounds_twice(context, plan);
    Claims claims = claim(context, plan, *delegate);
    std::sort(claims.products.begin(), claims.products.end());
    TfLiteDelegateParams* parts = nullptr;
    int count = 0;
    IntArray claimed(claims.nodes);
    if (context->PreviewDelegatePartitioning(context, claimed.get(), &parts, &count) != kTfLiteOk)
      throw std::runtime_error("the interpreter does not partition its operators");
    IntArray taken(prepare_partitions(context, claims, parts, count, delegate));
    status = context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel(), taken.get(), self);
    return OCTET_OK;
  });
  return called == kTfLiteOk ? status : called;
}

}  // namespace
}  // namespace octet::litert

// Options: "as", "threads", "goal" and "report"; docs/engines.md has their values. Returns null,
// after a sentence to report_error, where an option is none.
OCTET_ENGINES_OFFER_POOL

extern "C" __attribute__((visibility("default"))) TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* keys, const char* const* values, size_t count,
    void (*report_error)(const char* sentence)) {
  using namespace octet::litert;
  try {
    auto delegate = std::make_unique<Delegate>();
    Options& options = delegate->shared->options;
    const std::string wrong = read_options(keys, values, count, &options);
    if (!wrong.empty()) {
      if (report_error) report_error(("octet: " + wrong).c_str());
      return nullptr;
    }
    delegate->shared->threads = octet::engines::Threads(options.threads);
    delegate->Prepare = prepare;
    return delegate.release();
  } catch (...) {
    if (report_error) report_error("octet: there is not enough memory or there are no threads");
    return nullptr;
  }
}

extern "C" __attribute__((visibility("default"))) void tflite_plugin_destroy_delegate(
    TfLiteDelegate* delegate) {
  delete (octet::litert::Delegate*)delegate;
}
