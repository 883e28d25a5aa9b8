################################################################################
#
# octet
#
################################################################################

# Read, not built by Buildroot so far. There is no release yet: the site stands for one.
OCTET_VERSION = 0.2.0
OCTET_SITE = https://octet.example.org/releases
OCTET_LICENSE = Apache-2.0
OCTET_LICENSE_FILES = LICENSE
OCTET_INSTALL_STAGING = YES
OCTET_PARTS = CONVOLUTION WINOGRAD DEPTHWISE SPARSE INT4 INT16 RUNTIME_WEIGHTS TUNING NETWORK TRAFFIC
# Buildroot sets BUILD_SHARED_LIBS. Nothing is taken because it happens to be there.
OCTET_CONF_OPTS = \
	-DOCTET_BUILD_TESTS=OFF -DOCTET_BUILD_BENCHMARKS=OFF -DOCTET_BUILD_TOOLS=OFF \
	-DOCTET_BUILD_EXAMPLES=OFF -DOCTET_BUILD_ENGINES=OFF -DOCTET_WITH_ADAPTERS=OFF \
	-DOCTET_WITH_CPUINFO=OFF -DOCTET_WITH_XSIMD=OFF \
	$(foreach part,$(OCTET_PARTS),-DOCTET_WITH_$(part)=$(if $(BR2_PACKAGE_OCTET_$(part)),ON,OFF)) \
	-DOCTET_TIERS=$(BR2_PACKAGE_OCTET_TIERS)

$(eval $(cmake-package))
