# SPDX-License-Identifier: Apache-2.0
"""Conan 2: `conan create packaging/conan`, of this tree."""

from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy

PARTS = ("convolution", "winograd", "depthwise", "sparse", "int4", "int16", "runtime_weights", "tuning",
         "network", "traffic")


class Octet(ConanFile):
    name = "octet"
    version = "0.2.0"
    license = "Apache-2.0"
    homepage = "https://octet.example.org"
    url = homepage
    description = "INT8 GEMM and convolution with the same bytes on every CPU"
    topics = ("gemm", "convolution", "int8", "quantization", "inference")
    settings = "os", "arch", "compiler", "build_type"
    # tiers: those beside SCALAR, separated by commas; empty: all. xsimd: of the tier SSE41.
    options = {"shared": [True, False], "fPIC": [True, False], "tiers": ["", "ANY"],
               "xsimd": [True, False], **{part: [True, False] for part in PARTS}}
    default_options = {"shared": False, "fPIC": True, "tiers": "", "xsimd": False,
                       **{part: True for part in PARTS}}
    implements = ["auto_shared_fpic"]
    package_type = "library"

    def export_sources(self):
        root = Path(self.recipe_folder).parents[1]
        for folder in ("analysis", "cmake", "dispatch", "docs", "engines", "examples", "include",
                       "kernels", "operators", "packaging", "packing"):
            copy(self, f"{folder}/*", root, self.export_sources_folder)
        for file in ("CMakeLists.txt", "LICENSE", "README.md", "DESIGN.md"):
            copy(self, file, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if self.options.xsimd:
            self.requires("xsimd/13.0.0", visible=False)

    def generate(self):
        toolchain = CMakeToolchain(self)
        variables = toolchain.cache_variables
        for kind in ("TESTS", "BENCHMARKS", "TOOLS", "EXAMPLES", "ENGINES"):
            variables[f"OCTET_BUILD_{kind}"] = False
        for part in PARTS:
            variables[f"OCTET_WITH_{part.upper()}"] = bool(self.options.get_safe(part))
        variables["OCTET_WITH_CPUINFO"] = "OFF"
        variables["OCTET_WITH_XSIMD"] = "ON" if self.options.xsimd else "OFF"
        variables["OCTET_TIERS"] = str(self.options.tiers).replace(",", ";")
        if self.options.xsimd:
            variables["OCTET_XSIMD_INCLUDE_DIR"] = self.dependencies["xsimd"].cpp_info.includedirs[0]
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        self.run(f'cmake --install "{self.build_folder}" --component development '
                 f'--prefix "{self.package_folder}"')
        self.run(f'cmake --install "{self.build_folder}" --component runtime '
                 f'--prefix "{self.package_folder}"')

    def package_info(self):
        self.cpp_info.components["octet"].libs = ["octet"]
        self.cpp_info.components["octet"].set_property("pkg_config_name", "octet")
        for name in ("tuning", "traffic"):
            if self.options.get_safe(name):
                short = {"tuning": "tune"}.get(name, name)
                component = self.cpp_info.components[short]
                component.libs = [] if self.options.shared else [f"octet_{short}"]
                component.requires = ["octet"]
                component.set_property("pkg_config_name", f"octet-{short}")
                component.set_property("cmake_target_name", f"octet::{short}")
