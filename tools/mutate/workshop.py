# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree with a build of its own, where mutants are tried."""

import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

MEMORY = 16 << 30  # a mutant may ask for any amount


class Workshop:
    def __init__(self, source, directory, flags, configuration, jobs):
        self.name, self.source = directory.name, source
        self.tree, self.build = directory / "tree", directory / "build"
        self.log, self.jobs = directory / "log.txt", jobs
        self.memory = resource.RLIM_INFINITY if "sanitize" in flags else MEMORY
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("OCTET_")}
        self.environment.update(GTEST_FAIL_FAST="1", GTEST_BRIEF="1")
        self._copy()
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        parts = [f"-DOCTET_BUILD_{part}=OFF" for part in ("TOOLS", "BENCHMARKS", "EXAMPLES")]
        self._run(["cmake", "-S", self.tree, "-B", self.build, *generator, *parts,
                   "-DOCTET_INSTALL=OFF", "-DOCTET_WITH_ADAPTERS=OFF", "-DCMAKE_BUILD_TYPE=Mutate",
                   f"-DCMAKE_CXX_FLAGS={flags}", f"-DCMAKE_C_FLAGS={flags}", *configuration],
                  check=True)
        if not self.make([]):
            sys.exit(f"The tree itself does not build, see {self.log}")
        self.tests = self._tests()
        self.library = self._library()
        self._time_tests()

    def make(self, targets):
        selected = ["--target", *targets] if targets else []
        command = ["cmake", "--build", self.build, "-j", str(self.jobs), *selected]
        return self._run(command).returncode == 0

    def try_mutant(self, path, text, area):
        """(result, the test that decided it)"""
        file = self.tree / path
        good = file.read_bytes()
        file.write_text(text)
        try:
            if not self.make(["octet"]):
                return "does not compile", None
            if self._library() == self.library:
                return "identical", None  # the compiler makes the same code of it
            for name in self._in_order(area):
                if not self.make([self.tests[name]["target"]]):
                    return "killed", f"{name} does not compile"
                failure = self._failure(name)
                if failure:
                    return "killed", f"{name} {failure}"
            return "survived", None
        finally:
            file.write_bytes(good)

    def _in_order(self, area):
        def of(names):  # the tests that ctest makes of these, under qemu one per CPU model
            return [test for n in names for test in self.tests if test.split("@")[0] == n]

        left_out = of(area.apart)
        quickest = sorted(self.tests, key=lambda t: self.tests[t]["seconds"])
        order = of(area.tests) + quickest
        return [test for test in dict.fromkeys(order) if test not in left_out]

    def _copy(self):
        """The tracked and the new files; unchanged ones keep their time, so little is built."""
        listed = subprocess.run(["git", "-C", self.source, "ls-files", "-co", "--exclude-standard"],
                                check=True, capture_output=True, text=True).stdout.splitlines()
        wanted = {name for name in listed if (self.source / name).is_file()}
        for name in wanted:
            source, target = self.source / name, self.tree / name
            if not target.is_file() or source.read_bytes() != target.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for target in list(self.tree.rglob("*")):
            if target.is_file() and str(target.relative_to(self.tree)) not in wanted:
                target.unlink()

    def _tests(self):
        """The tests that run a program of the build."""
        shown = self._run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], check=True)
        tests = {}
        for test in json.loads(shown.stdout)["tests"]:
            command, properties = test.get("command", []), test.get("properties", [])
            programs = [word for word in command if word.startswith(str(self.build / "tests"))]
            if not programs or any(p["name"] == "SKIP_RETURN_CODE" for p in properties):
                continue
            variables = {}
            for p in properties:
                if p["name"] == "ENVIRONMENT":
                    variables.update(v.split("=", 1) for v in p["value"])
            tests[test["name"]] = {"command": command, "variables": variables, "seconds": 0.0,
                                   "target": pathlib.Path(programs[0]).name}
        return tests

    def _time_tests(self):
        for name, test in self.tests.items():
            start = time.monotonic()
            failure = self._failure(name)
            if failure:
                sys.exit(f"The tree itself does not pass {name}: {failure}")
            test["seconds"] = time.monotonic() - start

    def _failure(self, name):
        """A test's failure in a word, or None. A test hangs if it takes ten times its CPU time without a mutant, because other programs may run,
        too."""
        test = self.tests[name]
        seconds = int(20 + 10 * test["seconds"]) if test["seconds"] else 3600

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(self.log, "w") as log:
            try:
                code = subprocess.run(test["command"], cwd=self.build, stdout=log, stderr=log,
                                      stdin=subprocess.DEVNULL, timeout=10 * seconds,
                                      env={**self.environment, **test["variables"]},
                                      preexec_fn=limit).returncode
            except subprocess.TimeoutExpired:
                return "hangs"
        if code < 0:
            return "hangs" if -code in (signal.SIGXCPU, signal.SIGKILL) else "crashes"
        return "fails" if code else ""

    def _library(self):
        archives = sorted(self.build.glob("liboctet*.a"))
        return [hashlib.sha256(archive.read_bytes()).hexdigest() for archive in archives]

    def _run(self, command, check=False):
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        self.log.write_text(done.stdout + done.stderr)
        if check and done.returncode:
            sys.exit(f"{' '.join(map(str, command))} failed, see {self.log}")
        return done
