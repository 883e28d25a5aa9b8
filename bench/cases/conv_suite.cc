// SPDX-License-Identifier: Apache-2.0
// Lists the convolutions of each network that has a name.
#include "bench/cases/conv_suite.h"

#include <algorithm>

#include "bench/cases/graph.h"

namespace tool {
namespace {

struct Row {
  const char* shape;
  int count;
  const char* network;
};

struct Suite {
  const char* name;
  std::vector<Row> rows;
};

// These layers are no network of graph.h. Image size 224 x 224 and batch 1, where nothing else is
// said.
const std::vector<Suite> kSuites = {
    // ResNeXt-50 (32x4d): 53 convolutions; a 3x3 has 32 groups. After Xie et al. 2017.
    {"resnext50",
     {
         {"ic3oc64_ih224oh112kh7sh2ph3", 1, "stem"},
         {"ic64oc128_ih56oh56kh1", 1, "reduce"},
         {"g32ic128oc128_ih56oh56kh3ph1", 3, "grouped"},
         {"ic128oc256_ih56oh56kh1", 3, "expand"},
         {"ic64oc256_ih56oh56kh1", 1, "shortcut"},
         {"ic256oc128_ih56oh56kh1", 2, "reduce"},
         {"ic256oc256_ih56oh56kh1", 1, "reduce"},
         {"g32ic256oc256_ih56oh28kh3sh2ph1", 1, "grouped"},
         {"ic256oc512_ih28oh28kh1", 4, "expand"},
         {"ic256oc512_ih56oh28kh1sh2", 1, "shortcut"},
         {"ic512oc256_ih28oh28kh1", 3, "reduce"},
         {"g32ic256oc256_ih28oh28kh3ph1", 3, "grouped"},
         {"ic512oc512_ih28oh28kh1", 1, "reduce"},
         {"g32ic512oc512_ih28oh14kh3sh2ph1", 1, "grouped"},
         {"ic512oc1024_ih14oh14kh1", 6, "expand"},
         {"ic512oc1024_ih28oh14kh1sh2", 1, "shortcut"},
         {"ic1024oc512_ih14oh14kh1", 5, "reduce"},
         {"g32ic512oc512_ih14oh14kh3ph1", 5, "grouped"},
         {"ic1024oc1024_ih14oh14kh1", 1, "reduce"},
         {"g32ic1024oc1024_ih14oh7kh3sh2ph1", 1, "grouped"},
         {"ic1024oc2048_ih7oh7kh1", 3, "expand"},
         {"ic1024oc2048_ih14oh7kh1sh2", 1, "shortcut"},
         {"ic2048oc1024_ih7oh7kh1", 2, "reduce"},
         {"g32ic1024oc1024_ih7oh7kh3ph1", 2, "grouped"},
     }},
    // EfficientNet-Lite0: 49 convolutions. TensorFlow's SAME padding: ph is the smaller half.
    {"efficientnet_lite0",
     {
         {"ic3oc32_ih224oh112kh3sh2ph0", 1, "stem"},
         {"g32ic32oc32_ih112oh112kh3ph1", 1, "depthwise"},
         {"ic32oc16_ih112oh112kh1", 1, "project"},
         {"ic16oc96_ih112oh112kh1", 1, "expand"},
         {"g96ic96oc96_ih112oh56kh3sh2ph0", 1, "depthwise"},
         {"ic96oc24_ih56oh56kh1", 1, "project"},
         {"ic24oc144_ih56oh56kh1", 2, "expand"},
         {"g144ic144oc144_ih56oh56kh3ph1", 1, "depthwise"},
         {"ic144oc24_ih56oh56kh1", 1, "project"},
         {"g144ic144oc144_ih56oh28kh5sh2ph1", 1, "depthwise"},
         {"ic144oc40_ih28oh28kh1", 1, "project"},
         {"ic40oc240_ih28oh28kh1", 2, "expand"},
         {"g240ic240oc240_ih28oh28kh5ph2", 1, "depthwise"},
         {"ic240oc40_ih28oh28kh1", 1, "project"},
         {"g240ic240oc240_ih28oh14kh3sh2ph0", 1, "depthwise"},
         {"ic240oc80_ih14oh14kh1", 1, "project"},
         {"ic80oc480_ih14oh14kh1", 3, "expand"},
         {"g480ic480oc480_ih14oh14kh3ph1", 2, "depthwise"},
         {"ic480oc80_ih14oh14kh1", 2, "project"},
         {"g480ic480oc480_ih14oh14kh5ph2", 1, "depthwise"},
         {"ic480oc112_ih14oh14kh1", 1, "project"},
         {"ic112oc672_ih14oh14kh1", 3, "expand"},
         {"g672ic672oc672_ih14oh14kh5ph2", 2, "depthwise"},
         {"ic672oc112_ih14oh14kh1", 2, "project"},
         {"g672ic672oc672_ih14oh7kh5sh2ph1", 1, "depthwise"},
         {"ic672oc192_ih7oh7kh1", 1, "project"},
         {"ic192oc1152_ih7oh7kh1", 4, "expand"},
         {"g1152ic1152oc1152_ih7oh7kh5ph2", 3, "depthwise"},
         {"ic1152oc192_ih7oh7kh1", 3, "project"},
         {"g1152ic1152oc1152_ih7oh7kh3ph1", 1, "depthwise"},
         {"ic1152oc320_ih7oh7kh1", 1, "project"},
         {"ic320oc1280_ih7oh7kh1", 1, "head"},
     }},
    // SSD with MobileNetV1, 300 x 300, 91 classes: 47 convolutions. TensorFlow's SAME padding: ph
    // is the smaller half.
    {"detection",
     {
         {"ic3oc32_ih300oh150kh3sh2ph0", 1, "stem"},
         {"g32ic32oc32_ih150oh150kh3ph1", 1, "depthwise"},
         {"ic32oc64_ih150oh150kh1", 1, "pointwise"},
         {"g64ic64oc64_ih150oh75kh3sh2ph0", 1, "depthwise"},
         {"ic64oc128_ih75oh75kh1", 1, "pointwise"},
         {"g128ic128oc128_ih75oh75kh3ph1", 1, "depthwise"},
         {"ic128oc128_ih75oh75kh1", 1, "pointwise"},
         {"g128ic128oc128_ih75oh38kh3sh2ph1", 1, "depthwise"},
         {"ic128oc256_ih38oh38kh1", 1, "pointwise"},
         {"g256ic256oc256_ih38oh38kh3ph1", 1, "depthwise"},
         {"ic256oc256_ih38oh38kh1", 1, "pointwise"},
         {"g256ic256oc256_ih38oh19kh3sh2ph0", 1, "depthwise"},
         {"ic256oc512_ih19oh19kh1", 1, "pointwise"},
         {"g512ic512oc512_ih19oh19kh3ph1", 5, "depthwise"},
         {"ic512oc512_ih19oh19kh1", 5, "pointwise"},
         {"g512ic512oc512_ih19oh10kh3sh2ph1", 1, "depthwise"},
         {"ic512oc1024_ih10oh10kh1", 1, "pointwise"},
         {"g1024ic1024oc1024_ih10oh10kh3ph1", 1, "depthwise"},
         {"ic1024oc1024_ih10oh10kh1", 1, "pointwise"},
         {"ic1024oc256_ih10oh10kh1", 1, "extra"},
         {"ic256oc512_ih10oh5kh3sh2ph0", 1, "extra"},
         {"ic512oc128_ih5oh5kh1", 1, "extra"},
         {"ic128oc256_ih5oh3kh3sh2ph1", 1, "extra"},
         {"ic256oc128_ih3oh3kh1", 1, "extra"},
         {"ic128oc256_ih3oh2kh3sh2ph1", 1, "extra"},
         {"ic256oc64_ih2oh2kh1", 1, "extra"},
         {"ic64oc128_ih2oh1kh3sh2ph0", 1, "extra"},
         {"ic512oc12_ih19oh19kh1", 1, "boxes"},
         {"ic512oc273_ih19oh19kh1", 1, "classes"},
         {"ic1024oc24_ih10oh10kh1", 1, "boxes"},
         {"ic1024oc546_ih10oh10kh1", 1, "classes"},
         {"ic512oc24_ih5oh5kh1", 1, "boxes"},
         {"ic512oc546_ih5oh5kh1", 1, "classes"},
         {"ic256oc24_ih3oh3kh1", 1, "boxes"},
         {"ic256oc546_ih3oh3kh1", 1, "classes"},
         {"ic256oc24_ih2oh2kh1", 1, "boxes"},
         {"ic256oc546_ih2oh2kh1", 1, "classes"},
         {"ic128oc24_ih1oh1kh1", 1, "boxes"},
         {"ic128oc546_ih1oh1kh1", 1, "classes"},
     }},
    // Segmentation adds these: dilation, groups, transposed convolutions.
    {"segmentation",
     {
         {"ic512oc512_ih33oh33kh3dh2ph2", 3, "DeepLabv3 conv5"},
         {"ic2048oc256_ih33oh33kh1", 1, "DeepLabv3 ASPP"},
         {"ic2048oc256_ih33oh33kh3dh6ph6", 1, "DeepLabv3 ASPP"},
         {"ic2048oc256_ih33oh33kh3dh12ph12", 1, "DeepLabv3 ASPP"},
         {"ic2048oc256_ih33oh33kh3dh18ph18", 1, "DeepLabv3 ASPP"},
         {"ic1280oc256_ih33oh33kh1", 1, "DeepLabv3 ASPP"},
         {"g32ic128oc128_ih56oh56kh3ph1", 3, "ResNeXt-50 conv2"},
         {"g32ic256oc256_ih56oh28kh3sh2ph1", 1, "ResNeXt-50 conv3"},
         {"g32ic256oc256_ih28oh28kh3ph1", 3, "ResNeXt-50 conv3"},
         {"g32ic512oc512_ih28oh14kh3sh2ph1", 1, "ResNeXt-50 conv4"},
         {"g32ic512oc512_ih14oh14kh3ph1", 5, "ResNeXt-50 conv4"},
         {"g32ic1024oc1024_ih14oh7kh3sh2ph1", 1, "ResNeXt-50 conv5"},
         {"g32ic1024oc1024_ih7oh7kh3ph1", 2, "ResNeXt-50 conv5"},
         {"tic1024oc512_ih28oh56kh2sh2", 1, "U-Net up"},
         {"tic512oc256_ih56oh112kh2sh2", 1, "U-Net up"},
         {"tic256oc128_ih112oh224kh2sh2", 1, "U-Net up"},
         {"tic64oc32_ih112oh224kh3sh2ph1", 1, "U-Net up, 3x3"},
         {"tic21oc21_ih28oh56kh4sh2ph1", 1, "FCN up"},
     }},
    // DenseNet-121: its 120 convolutions, each size once. The bottlenecks' depths grow by 32 from
    // layer to layer; one in the middle of each block stands for all of them.
    {"densenet121",
     {
         {"ic3oc64_ih224oh112kh7sh2ph3", 1, "stem"},
         {"ic160oc128_ih56oh56kh1", 6, "block 1, bottleneck"},
         {"ic128oc32_ih56oh56kh3ph1", 6, "block 1"},
         {"ic256oc128_ih56oh56kh1", 1, "transition"},
         {"ic320oc128_ih28oh28kh1", 12, "block 2, bottleneck"},
         {"ic128oc32_ih28oh28kh3ph1", 12, "block 2"},
         {"ic512oc256_ih28oh28kh1", 1, "transition"},
         {"ic640oc128_ih14oh14kh1", 24, "block 3, bottleneck"},
         {"ic128oc32_ih14oh14kh3ph1", 24, "block 3"},
         {"ic1024oc512_ih14oh14kh1", 1, "transition"},
         {"ic768oc128_ih7oh7kh1", 16, "block 4, bottleneck"},
         {"ic128oc32_ih7oh7kh3ph1", 16, "block 4"},
     }},
    // GoogLeNet: 57 convolutions, of nine inception modules. After Szegedy et al. 2015, table 1.
    {"googlenet",
     {
         {"ic3oc64_ih224oh112kh7sh2ph3", 1, "stem"}, {"ic64oc64_ih56oh56kh1", 1, "stem"},
         {"ic64oc192_ih56oh56kh3ph1", 1, "stem"},    {"ic192oc64_ih28oh28kh1", 1, "3a"},
         {"ic192oc96_ih28oh28kh1", 1, "3a"},         {"ic192oc16_ih28oh28kh1", 1, "3a"},
         {"ic192oc32_ih28oh28kh1", 1, "3a"},         {"ic96oc128_ih28oh28kh3ph1", 1, "3a"},
         {"ic16oc32_ih28oh28kh5ph2", 1, "3a"},       {"ic256oc128_ih28oh28kh1", 2, "3b"},
         {"ic256oc32_ih28oh28kh1", 1, "3b"},         {"ic256oc64_ih28oh28kh1", 1, "3b"},
         {"ic128oc192_ih28oh28kh3ph1", 1, "3b"},     {"ic32oc96_ih28oh28kh5ph2", 1, "3b"},
         {"ic480oc192_ih14oh14kh1", 1, "4a"},        {"ic480oc96_ih14oh14kh1", 1, "4a"},
         {"ic480oc16_ih14oh14kh1", 1, "4a"},         {"ic480oc64_ih14oh14kh1", 1, "4a"},
         {"ic96oc208_ih14oh14kh3ph1", 1, "4a"},      {"ic16oc48_ih14oh14kh5ph2", 1, "4a"},
         {"ic512oc160_ih14oh14kh1", 1, "4b"},        {"ic512oc112_ih14oh14kh1", 2, "4b"},
         {"ic512oc24_ih14oh14kh1", 2, "4b"},         {"ic512oc64_ih14oh14kh1", 3, "4b"},
         {"ic112oc224_ih14oh14kh3ph1", 1, "4b"},     {"ic24oc64_ih14oh14kh5ph2", 2, "4b"},
         {"ic512oc128_ih14oh14kh1", 2, "4c"},        {"ic128oc256_ih14oh14kh3ph1", 1, "4c"},
         {"ic512oc144_ih14oh14kh1", 1, "4d"},        {"ic512oc32_ih14oh14kh1", 1, "4d"},
         {"ic144oc288_ih14oh14kh3ph1", 1, "4d"},     {"ic32oc64_ih14oh14kh5ph2", 1, "4d"},
         {"ic528oc256_ih14oh14kh1", 1, "4e"},        {"ic528oc160_ih14oh14kh1", 1, "4e"},
         {"ic528oc32_ih14oh14kh1", 1, "4e"},         {"ic528oc128_ih14oh14kh1", 1, "4e"},
         {"ic160oc320_ih14oh14kh3ph1", 1, "4e"},     {"ic32oc128_ih14oh14kh5ph2", 1, "4e"},
         {"ic832oc256_ih7oh7kh1", 1, "5a"},          {"ic832oc160_ih7oh7kh1", 1, "5a"},
         {"ic832oc32_ih7oh7kh1", 1, "5a"},           {"ic832oc128_ih7oh7kh1", 2, "5a"},
         {"ic160oc320_ih7oh7kh3ph1", 1, "5a"},       {"ic32oc128_ih7oh7kh5ph2", 1, "5a"},
         {"ic832oc384_ih7oh7kh1", 1, "5b"},          {"ic832oc192_ih7oh7kh1", 1, "5b"},
         {"ic832oc48_ih7oh7kh1", 1, "5b"},           {"ic192oc384_ih7oh7kh3ph1", 1, "5b"},
         {"ic48oc128_ih7oh7kh5ph2", 1, "5b"},
     }},
    // Layers that are unlike each other, of networks that are no suite here: where two algorithms
    // are near each other, or one of them is what nobody would expect. The layers on which octet
    // bench plan --check is run.
    {"unlike",
     {
         {"ic128oc32_ih28oh28kh3ph1", 1, "DenseNet-121"},
         {"ic64oc32_ih80oh80kh3ph1", 1, "YOLOv8n"},
         {"ic32oc32_ih80oh80kh3ph1", 1, "YOLOv5n"},
         {"ic32oc64_ih80oh80kh3ph1", 1, "YOLOv5n"},
         {"ic64oc64_ih56oh56kh3ph1", 1, "ResNet-18"},
         {"ic256oc256_ih14oh14kh3ph1", 1, "ResNet-50"},
         {"ic448oc384_ih8oh8kh3ph1", 1, "Inception-v3"},
         {"ic32oc32_ih149oh147kh3", 1, "Inception-v3, without padding"},
         {"ic128oc128_ih17kh1kw7ph0pw3", 1, "Inception-v3"},
         {"mb8_ic512oc512_ih7oh7kh3ph1", 1, "ResNet-18, batch 8"},
         {"ic128oc128_ih56oh28kh3sh2ph1", 1, "ResNet-50"},
         {"ic64oc64_ih128oh128kh3ph1", 1, "U-Net, super-resolution"},
         {"ic64oc256_ih96oh96kh3ph1", 1, "EDSR's upsampling"},
         {"ic64oc32_ih160oh160kh3ph1", 1, "ESPCN"},
         {"ic16oc16_ih56oh56kh1", 1, "MobileNetV3"},
         {"ic16oc16_ih112oh112kh1", 1, "MobileNetV3"},
         {"ic16oc16_ih32oh32kh3ph1", 1, "ResNet-8"},
         {"ic8oc8_ih96oh96kh3ph1", 1, "few channels"},
         {"ic24oc24_ih56oh56kh3ph1", 1, "few channels"},
         {"g13ic104oc104_ih28oh14kh3sh2ph1", 1, "RegNetY-400MF"},
         {"g5ic120oc120_ih56oh28kh3sh2ph1", 1, "RegNetY-1.6GF"},
         {"g32ic256oc256_ih28oh28kh3ph1", 1, "ResNeXt-50"},
         {"ic3oc16_ih224oh112kh3sh2ph1", 1, "MobileNetV3's first"},
         {"ic3oc64_ih224oh112kh7sh2ph3", 1, "ResNet-50's first"},
         {"ic1oc64_ih224oh224kh3ph1", 1, "one channel: grayscale"},
         {"ic1oc512_ih1iw16000kh1kw10sh1sw5ph0", 1, "one channel: wav2vec 2.0's first"},
         {"ic1oc8_ih49iw10kh10kw4sh2ph4pw1", 1, "one channel: keyword spotting's first"},
         {"ic1oc8_ih56oh56kh1", 1, "one channel, 1x1"},
         {"ic64oc3_ih96oh96kh3ph1", 1, "EDSR's last"},
         {"ic64oc2_ih14oh14kh3ph1", 1, "few outputs: keypoints"},
         {"ic256oc24_ih3oh3kh3ph1", 1, "SSD's heads"},
         {"ic256oc256_ih5oh3kh3sh2ph1", 1, "SSD's last"},
         {"ic24oc144_ih56oh56kh1", 1, "MobileNetV2"},
         {"ic1024oc256_ih14oh14kh1", 1, "ResNet-50"},
         {"ic1024oc2048_ih14oh7kh1sh2", 1, "ResNet-50's shortcut"},
         {"g96ic96oc96_ih56oh56kh7ph3", 1, "ConvNeXt-T"},
         {"g672ic672oc672_ih14oh7kh5sh2ph2", 1, "EfficientNet-B0"},
         {"g32ic32oc64_ih56oh56kh3ph1", 1, "depthwise, two outputs for an input"},
         {"ic512oc512_ih33oh33kh3dh2ph2", 1, "DeepLabv3"},
         {"ic128oc128_ih1iw250kh1kw3ph0pw1", 1, "1-D, audio"},
         {"tic64oc32_ih56oh112kh3sh2ph1", 1, "U-Net up, 3x3"},
         {"tic100oc512_ih1oh4kh4", 1, "DCGAN's first"},
     }},
    // YOLOv3-tiny, 416 x 416, 80 classes: 13 convolutions.
    {"yolo",
     {
         {"ic3oc16_ih416oh416kh3ph1", 1, "backbone"},
         {"ic16oc32_ih208oh208kh3ph1", 1, "backbone"},
         {"ic32oc64_ih104oh104kh3ph1", 1, "backbone"},
         {"ic64oc128_ih52oh52kh3ph1", 1, "backbone"},
         {"ic128oc256_ih26oh26kh3ph1", 1, "backbone"},
         {"ic256oc512_ih13oh13kh3ph1", 2, "backbone, coarse head"},
         {"ic512oc1024_ih13oh13kh3ph1", 1, "backbone"},
         {"ic1024oc256_ih13oh13kh1", 1, "neck"},
         {"ic512oc255_ih13oh13kh1", 1, "coarse detections"},
         {"ic256oc128_ih13oh13kh1", 1, "before the upsampling"},
         {"ic384oc256_ih26oh26kh3ph1", 1, "fine head"},
         {"ic256oc255_ih26oh26kh1", 1, "fine detections"},
     }},
};

const Suite* find(const std::string& name) {
  for (const Suite& suite : kSuites)
    if (name == suite.name) return &suite;
  return nullptr;
}

// Layers that are alike are one case, named after the first.
std::vector<ConvCase> cases_of(const Graph& graph) {
  std::vector<ConvCase> cases;
  for (const GraphOp& op : graph.ops) {
    if (op.kind != OpKind::kConvolution) continue;
    const ConvShape shape = convolution_of(graph, op);
    const auto alike = std::find_if(cases.begin(), cases.end(), [&](const ConvCase& c) {
      return c.shape.name() == shape.name();
    });
    if (alike == cases.end())
      cases.push_back({shape, op.name, 1});
    else
      ++alike->count;
  }
  return cases;
}

}  // namespace

std::vector<std::string> conv_suite_names() {
  std::vector<std::string> names = graph_names();
  for (const Suite& suite : kSuites) names.push_back(suite.name);
  return names;
}

bool is_conv_suite(const std::string& name) { return find(name) || is_graph(name); }

std::vector<ConvCase> conv_suite(const std::string& name) {
  if (is_graph(name)) return cases_of(make_graph(name));
  std::vector<ConvCase> cases;
  for (const Row& row : find(name)->rows)
    cases.push_back({parse_conv(row.shape), row.network, row.count});
  return cases;
}

}  // namespace tool
