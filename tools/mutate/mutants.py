# SPDX-License-Identifier: Apache-2.0
"""Mutants of a source tree: all of an area in an order that a seed decides, each with an identity
that survives when lines move."""

import random
import re

import areas
import operators


class Mutant:
    def __init__(self, area, path, text, change):
        self.area, self.path, self.change = area, path, change
        first = text.rfind("\n", 0, change.start) + 1
        last = (text + "\n").find("\n", change.end)
        tail = len(text) - last
        mutated = operators.applied(text, change)
        self.line = text.count("\n", 0, first) + 1
        self.before = _plain(text[first:last])
        self.after = _plain(mutated[first:len(mutated) - tail])

    @property
    def identity(self):
        return self.path, self.before, self.after

    def __str__(self):
        return f"{self.path}:{self.line} ({self.change.operator})\n- {self.before}\n+ {self.after}"


def _plain(lines):
    """The source line by itself, without its comments."""
    return " ".join(re.sub(r"//.*", "", lines).split())


def sources(tree, area):
    """The sources of an area: files that match its patterns and no earlier area's."""
    taken = set()
    for other in areas.NATIVE + areas.ARM:
        found = {p for pattern in other.files for p in tree.glob(pattern)
                 if p.suffix in (".cc", ".h", ".def")} - taken
        if other is area:
            return sorted(found)
        taken |= found
    raise ValueError(area.name)


def mutants_of(tree, area):
    for path in sources(tree, area):
        text = path.read_text()
        for change in operators.changes(text):
            yield Mutant(area.name, str(path.relative_to(tree)), text, change)


def shuffled(tree, area, seed):
    """All mutants of the area: each operator in turn, of each operator each file in turn, no line
    twice before every line had its turn."""
    rng = random.Random(f"{area.name} {seed}")
    by_operator = {}
    for mutant in mutants_of(tree, area):
        by_file = by_operator.setdefault(mutant.change.operator, {})
        by_file.setdefault(mutant.path, []).append(mutant)
    queues = []
    for operator in sorted(by_operator):
        files = [rng.sample(m, len(m)) for _, m in sorted(by_operator[operator].items())]
        rng.shuffle(files)
        queues.append(_in_turn(files))
    rng.shuffle(queues)
    later, seen = [], set()
    for mutant in _in_turn(queues):
        place = mutant.path, mutant.line
        if place in seen:
            later.append(mutant)
        else:
            seen.add(place)
            yield mutant
    yield from later


def _in_turn(queues):
    queues = [iter(queue) for queue in queues]
    while queues:
        left = []
        for queue in queues:
            item = next(queue, None)
            if item is not None:
                yield item
                left.append(queue)
        queues = left
