#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the bill of materials of a release, SPDX 2.3 as JSON: sbom.py VERSION TARBALL

The library needs the C library only. xsimd is compiled into it (headers, x86-64); the octet command
links CLI11, fmt and nlohmann-json. Nobody's code is in the tarball but Octet's.
"""

import datetime
import hashlib
import json
import subprocess
import sys
from pathlib import Path

HOME = "https://octet.example.org"
# name, licence, how Octet's package stands to it
OTHERS = [("xsimd", "BSD-3-Clause", "BUILD_DEPENDENCY_OF"), ("CLI11", "BSD-3-Clause", "BUILD_DEPENDENCY_OF"),
          ("fmt", "MIT", "OPTIONAL_DEPENDENCY_OF"), ("nlohmann-json", "MIT", "BUILD_DEPENDENCY_OF"),
          ("cpuinfo", "BSD-2-Clause", "OPTIONAL_DEPENDENCY_OF"),
          ("googletest", "BSD-3-Clause", "TEST_DEPENDENCY_OF")]


def package(name, licence, **more):
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "downloadLocation": "NOASSERTION",
            "licenseConcluded": licence, "licenseDeclared": licence, "filesAnalyzed": False,
            "copyrightText": "NOASSERTION", **more}


def main():
    version, tarball = sys.argv[1:]
    digest = hashlib.sha256(Path(tarball).read_bytes()).hexdigest()
    seconds = subprocess.run(["git", "log", "-1", "--format=%ct"], check=True, capture_output=True,
                             text=True).stdout
    date = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    octet = package("octet", "Apache-2.0", versionInfo=version,
                    packageFileName=Path(tarball).name, supplier="Organization: The Octet Authors",
                    copyrightText="Copyright 2026 The Octet Authors", homepage=HOME,
                    checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-octet")]
    relations += [(f"SPDXRef-{name}", how, "SPDXRef-octet") for name, _, how in OTHERS]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"octet-{version}", "documentNamespace": f"{HOME}/spdx/octet-{version}-{digest[:16]}",
        "creationInfo": {"created": date.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Organization: The Octet Authors"]},
        "packages": [octet, *(package(name, licence) for name, licence, _ in OTHERS)],
        "relationships": [{"spdxElementId": left, "relationshipType": how, "relatedSpdxElement": right}
                          for left, how, right in relations]}
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
