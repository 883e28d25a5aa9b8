# SPDX-License-Identifier: Apache-2.0
# Not run by vcpkg so far. The release's URL and SHA512 are set when there is one.
vcpkg_download_distfile(archive
  URLS https://octet.example.org/releases/octet-${VERSION}.tar.gz
  FILENAME octet-${VERSION}.tar.gz SHA512 0)
vcpkg_extract_source_archive(source ARCHIVE ${archive})
vcpkg_cmake_configure(SOURCE_PATH ${source} OPTIONS
  -DOCTET_BUILD_TESTS=OFF -DOCTET_BUILD_BENCHMARKS=OFF -DOCTET_BUILD_TOOLS=OFF
  -DOCTET_BUILD_EXAMPLES=OFF -DOCTET_BUILD_ENGINES=OFF -DOCTET_WITH_CPUINFO=OFF
  -DOCTET_XSIMD_INCLUDE_DIR=${CURRENT_INSTALLED_DIR}/include)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/octet)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share
  ${CURRENT_PACKAGES_DIR}/share/doc)
vcpkg_install_copyright(FILE_LIST ${source}/LICENSE)
