// SPDX-License-Identifier: Apache-2.0
// The two functions that ONNX Runtime looks up, the factory that they make and release, and the
// execution provider that each session has.
#include <cstring>
#include <map>
#include <memory>

#include "engines/onnxruntime/claim.h"
#include "octet/octet.h"

namespace octet::onnxruntime {
namespace {

constexpr char kName[] = "OctetExecutionProvider";
constexpr char kPrefix[] = "ep.octetexecutionprovider.";  // of the session's entries

struct ComputeInfo : OrtNodeComputeInfo {
  explicit ComputeInfo(std::unique_ptr<Group> with) : OrtNodeComputeInfo{}, group(std::move(with)) {
    ort_version_supported = ORT_API_VERSION;
    CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*,
                     void** state) noexcept -> OrtStatus* {
      *state = ((ComputeInfo*)self)->group.get();
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo*, void* state, OrtKernelContext* context) noexcept {
      return reported([&] { ((Group*)state)->run(context); });
    };
    ReleaseState = [](OrtNodeComputeInfo*, void*) noexcept {};
  }
  const std::unique_ptr<Group> group;
};

struct Provider : OrtEp {
  Provider(const Options& options, const OrtLogger* to)
      : OrtEp{}, logger(to), shared(std::make_shared<Shared>(options)) {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEp*) noexcept { return kName; };
    GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) noexcept {
      return reported([&] { ((Provider*)self)->claim_nodes(graph, info); });
    };
    Compile = [](OrtEp* self, const OrtGraph**, const OrtNode** nodes, size_t count,
                 OrtNodeComputeInfo** infos, OrtNode**) noexcept {
      std::fill(infos, infos + count, nullptr);
      return reported([&] {
        for (size_t i = 0; i < count; ++i) infos[i] = ((Provider*)self)->compile(nodes[i]);
      });
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) noexcept {
      for (size_t i = 0; i < count; ++i) delete (ComputeInfo*)infos[i];
    };
  }

  void say(const std::string& sentence) const {
    const OrtLoggingLevel level =
        shared->options.report ? ORT_LOGGING_LEVEL_WARNING : ORT_LOGGING_LEVEL_INFO;
    check(host.api->Logger_LogMessage(logger, level, ("octet: " + sentence).c_str(), ORT_FILE,
                                      __LINE__, "claim"));
  }

  void claim_nodes(const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    HostGraph read = read_graph(graph);
    const Known known = find_known(&read);
    groups.clear();
    OrtNodeFusionOptions options = {};
    options.ort_version_supported = ORT_API_VERSION;
    options.drop_constant_initializers = true;
    for (Claim& made : claim(read, known, shared, [&](const std::string& s) { say(s); })) {
      check(host.ep->EpGraphSupportInfo_AddNodesToFuse(info, made.nodes.data(), made.nodes.size(),
                                                       &options));
      groups.push_back(std::move(made.group));
    }
    if (shared->options.cache.empty()) return;
    const graph::PackedWeights& weights = *shared->weights;
    say(graph::join(weights.mapped(), " packed weights come from ", shared->options.cache, ", ",
                    weights.packed(), " were packed, of which ", weights.unwritten(),
                    " were not written there"));
  }

  OrtNodeComputeInfo* compile(const OrtNode* node) {
    const std::vector<std::string> outputs = output_names(node);
    for (std::unique_ptr<Group>& group : groups) {
      if (!group || !group->makes(outputs[0])) continue;
      group->bind(input_names(node), outputs);
      return new ComputeInfo(std::move(group));
    }
    graph::refuse("the host asks for a group of nodes that was not claimed");
  }

  const OrtLogger* const logger;
  const std::shared_ptr<const Shared> shared;
  std::vector<std::unique_ptr<Group>> groups;  // that are to be compiled
};

std::map<std::string, std::string> entries_of(const OrtSessionOptions* options) {
  OrtKeyValuePairs* pairs = nullptr;
  check(host.api->GetSessionOptionsConfigEntries(options, &pairs));
  const std::unique_ptr<OrtKeyValuePairs, void (*)(OrtKeyValuePairs*)> owned(
      pairs, [](OrtKeyValuePairs* p) { host.api->ReleaseKeyValuePairs(p); });
  const char *const *keys = nullptr, *const *values = nullptr;
  size_t count = 0;
  host.api->GetKeyValuePairs(pairs, &keys, &values, &count);
  std::map<std::string, std::string> entries;
  for (size_t i = 0; i < count; ++i)
    if (std::strncmp(keys[i], kPrefix, sizeof kPrefix - 1) == 0)
      entries[keys[i] + sizeof kPrefix - 1] = values[i];
  return entries;
}

struct Factory : OrtEpFactory {
  Factory() : OrtEpFactory{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEpFactory*) noexcept { return kName; };
    GetVendor = [](const OrtEpFactory*) noexcept { return "Octet"; };
    GetVendorId = [](const OrtEpFactory*) noexcept -> uint32_t { return 0; };
    GetVersion = [](const OrtEpFactory*) noexcept { return octet_version(); };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                             size_t count, OrtEpDevice** to, size_t most, size_t* found) noexcept {
      *found = 0;
      return reported([&] {
        for (size_t i = 0; i < count && *found < most; ++i)
          if (host.api->HardwareDevice_Type(devices[i]) == OrtHardwareDeviceType_CPU)
            check(host.ep->CreateEpDevice(self, devices[i], nullptr, nullptr, &to[(*found)++]));
      });
    };
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*,
                  size_t, const OrtSessionOptions* options, const OrtLogger* logger,
                  OrtEp** to) noexcept {
      *to = nullptr;
      return reported([&] { *to = new Provider(read_options(entries_of(options)), logger); });
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* provider) noexcept { delete (Provider*)provider; };
    IsStreamAware = [](const OrtEpFactory*) noexcept { return false; };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
                         OrtAllocator** to) noexcept -> OrtStatus* {
      *to = nullptr;
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) noexcept {};
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** to) noexcept -> OrtStatus* {
      *to = nullptr;
      return nullptr;
    };
  }
};

}  // namespace
}  // namespace octet::onnxruntime

// ONNX Runtime calls these two with its own functions; docs/engines.md has the options.
extern "C" __attribute__((visibility("default"))) OrtStatus* CreateEpFactories(
    const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories, size_t most,
    size_t* count) {
  using namespace octet::onnxruntime;
  *count = 0;
  host.api = base->GetApi(ORT_API_VERSION);
  if (!host.api) {  // it has no status to give either
    std::fprintf(stderr, "octet: ONNX Runtime %s is older than 1.%d\n", base->GetVersionString(),
                 ORT_API_VERSION);
    return nullptr;
  }
  host.ep = host.api->GetEpApi();
  if (most < 1) return failed("there is no room for a factory");
  return reported([&] { factories[0] = new Factory, *count = 1; });
}

extern "C" __attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(
    OrtEpFactory* factory) {
  delete (octet::onnxruntime::Factory*)factory;
  return nullptr;
}
