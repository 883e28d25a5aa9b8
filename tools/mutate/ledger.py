# SPDX-License-Identifier: Apache-2.0
"""The results of mutants: a file of JSON lines, so that a run can be resumed, and the list of survivors that compute the same."""

import json
from collections import Counter


class Ledger:
    def __init__(self, path):
        self.path, self.entries = path, {}
        if path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                self.entries[identity(entry)] = entry

    def status(self, mutant):
        entry = self.entries.get(mutant.identity)
        return entry and entry["status"]

    def add(self, mutant, status, by):
        entry = {"path": mutant.path, "before": mutant.before, "after": mutant.after,
                 "line": mutant.line, "operator": mutant.change.operator, "area": mutant.area,
                 "status": status, "by": by}
        self.entries[mutant.identity] = entry
        with open(self.path, "a") as file:
            file.write(json.dumps(entry) + "\n")

    def with_status(self, status):
        return [entry for entry in self.entries.values() if entry["status"] == status]


def identity(entry):
    return entry["path"], entry["before"], entry["after"]


def read_equivalent(path):
    """{identity: sentence}, from blocks of a path, a line with -, one with + and a sentence."""
    found = {}
    for block in path.read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        name, before, after, *sentence = lines
        if before[:2] != "- " or after[:2] != "+ " or not sentence:
            raise ValueError(f"{path}: not a path, a -, a + and a sentence:\n{block}")
        found[name, before[2:], after[2:]] = " ".join(s.strip() for s in sentence)
    return found


def stray(equivalent, lines):
    """(entry, number of lines) for entries of the list that match no line, because the source changed, or several, which need not be alike. `lines`
    has the sources' mutants by identity."""
    counts = ((entry, len(lines.get(entry, ()))) for entry in equivalent)
    return [(entry, count) for entry, count in counts if count != 1]


def summary(entries, equivalent):
    """Rows of a table: area, killed, survived, equivalent, percentage killed of the others."""
    counts = {}
    for entry in entries:
        status = entry["status"]
        if status == "survived" and identity(entry) in equivalent:
            status = "equivalent"
        counts.setdefault(entry["area"], Counter())[status] += 1
    total = sum(counts.values(), Counter())
    rows = [("area", "killed", "survived", "equivalent", "killed of the others")]
    for area, count in [*sorted(counts.items()), ("all", total)]:
        others = count["killed"] + count["survived"]
        share = f"{100 * count['killed'] / others:.1f} %" if others else "-"
        rows.append((area, count["killed"], count["survived"], count["equivalent"], share))
    return rows
