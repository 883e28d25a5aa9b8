# SPDX-License-Identifier: Apache-2.0
"""Reads the files of `octet bench --json`, for tables and plots."""

import json


class Run:
    """One file: Octet and at most one peer."""

    def __init__(self, path):
        with open(path) as file:
            content = json.load(file)
        self.machine = content["machine"]
        self.cases = [case for case in content["cases"] if case["verified"]]
        self.peer = self.machine["peer"]
        self.product = (self.peer or "").split(" for ")[0]  # "MKL 2026 for such a processor": only the name and version
        self.call_us = self.machine.get("peer_call_us")

    def of(self, suite, types):
        return {case["name"]: case for case in self.cases if case["suite"] == suite and case["types"] == types}
