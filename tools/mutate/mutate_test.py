# SPDX-License-Identifier: Apache-2.0
"""The tool's own test: python3 tools/mutate/mutate_test.py"""

import pathlib
import tempfile
import unittest

import areas
from ledger import identity, read_equivalent, stray, summary
from mutants import Mutant, mutants_of, shuffled, sources
from operators import applied, changes
from tokens import partners, tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def results(text):
    return {applied(text, change) for change in changes(text)}


class Tokens(unittest.TestCase):
    def test_skips_what_is_no_code(self):
        text = ('#include <a.h>\n#define M(x) \\\n  (x + 1)\n// a < b\n/* c < \n d */\n'
                'e = "f < \\" g" + \'<\';\nstatic_assert(h < 1, "i");\nalignas(64) int j;\n')
        words = [t.text for t in tokenize(text) if t.kind == "word"]
        self.assertEqual(words, ["e", "static_assert", "alignas", "int", "j"])

    def test_positions(self):
        text = "a <<= 0x1p-3f; // b\nc->d >= 1.5e+2;"
        tokens = tokenize(text)
        self.assertEqual([t.text for t in tokens],
                         ["a", "<<=", "0x1p-3f", ";", "c", "->", "d", ">=", "1.5e+2", ";"])
        for t in tokens:
            self.assertEqual(text[t.start:t.end], t.text)

    def test_partners(self):
        tokens = tokenize("f(a[1], {b});")
        pairs = {tokens[i].start: tokens[j].start for i, j in partners(tokens).items()}
        self.assertEqual(pairs, {1: 11, 11: 1, 3: 5, 5: 3, 8: 10, 10: 8})


class Operators(unittest.TestCase):
    def test_each(self):
        for text, mutant in [
                ("x = a < b;", "x = a <= b;"), ("x = a >= b;", "x = a > b;"),
                ("x = a == b;", "x = a != b;"), ("x = a + b;", "x = a - b;"),
                ("x |= b;", "x = b;"), ("x = a && b;", "x = a || b;"), ("x = 7;", "x = 8;"),
                ("x = 0xffu;", "x = 0xfeu;"), ("x = 1.5f;", "x = (1.5f + 1);"),
                ("x = a ? b : c;", "x = a && false ? b : c;"), ("return true;", "return false;"),
                ("if (a) return b;", "if (false) return b;"), ("if (a) b = c;", "if (a) ;"),
                ("f(!a);", "f(a);"), ("f(-a);", "f(a);"), ("f(a);", ";"),
                ("x = smaller(a, b);", "x = larger(a, b);"), ("x = s.in_h;", "x = s.in_w;"),
                ("x = _mm256_max_epu8(a, b);", "x = _mm256_min_epu8(a, b);"),
                ("x = vqaddq_s16(a, b);", "x = vqsubq_s16(a, b);")]:
            self.assertIn("\n" + mutant, results("\n" + text))

    def test_leaves_declarations_and_templates_alone(self):
        for text in ["\ntemplate <int n, typename T>\nvoid f(T&& x, const T* y);",
                     "\nsize_t rest;", "\nA<B> c(d);", "\nA::B c;", "\nT* x;", "\n// a = b < 1;"]:
            self.assertEqual(results(text), set())

    def test_the_head_of_a_for_is_no_statement(self):
        operators = {c.operator for c in changes("\nfor (i = a; i != b; ++i) c();")}
        self.assertEqual(operators, {"relation", "statement"})
        self.assertIn("\nfor (i = a; i != b; ++i) ;", results("\nfor (i = a; i != b; ++i) c();"))
        self.assertNotIn("\nfor (i = a; ; ++i) c();", results("\nfor (i = a; i != b; ++i) c();"))


class Mutants(unittest.TestCase):
    def test_change_one_place_and_keep_the_lines(self):
        for area in areas.NATIVE + areas.ARM:
            self.assertTrue(sources(ROOT, area), area.name)
            for path in sources(ROOT, area):
                text = path.read_text()
                for change in changes(text):
                    mutant = applied(text, change)
                    self.assertNotEqual(mutant, text)
                    self.assertEqual(mutant.count("\n"), text.count("\n"), f"{path}: {change}")
                    back = (mutant[:change.start] + text[change.start:change.end]
                            + mutant[change.start + len(change.new):])
                    self.assertEqual(back, text)

    def test_each_file_is_in_one_area(self):
        found = []
        for area in areas.NATIVE + areas.ARM:
            for pattern in area.files:
                self.assertTrue(list(ROOT.glob(pattern)), pattern)
            found += sources(ROOT, area)
        there = [p for d in ("analysis", "dispatch", "kernels", "operators", "packing")
                 for p in (ROOT / d).rglob("*.*") if p.suffix in (".cc", ".h", ".def")]
        self.assertEqual(sorted(found), sorted(there))

    def test_the_seed_decides(self):
        area = areas.NATIVE[0]
        first, again, other = ([m.identity for m in shuffled(ROOT, area, seed)]
                               for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertEqual(sorted(first), sorted(m.identity for m in mutants_of(ROOT, area)))

    def test_identity_does_not_know_the_line(self):
        one, other = ("\n  x = a < b;\n", "\n\n// new\n    x = a <  b;\n")
        identities = [[Mutant("", "f.cc", text, c).identity for c in changes(text)]
                      for text in (one, other)]
        self.assertEqual(*identities)
        self.assertIn(("f.cc", "x = a < b;", "x = a <= b;"), identities[0])


class Equivalent(unittest.TestCase):
    def test_the_list_can_be_read(self):
        for name, before, after in read_equivalent(ROOT / "tools/mutate/equivalent.txt"):
            self.assertTrue((ROOT / name).is_file(), name)
            self.assertNotEqual(before, after)

    def test_strays_match_no_line_or_several(self):
        known = {"one": "", "none": "", "several": ""}
        lines = {"one": {3}, "several": {3, 4}, "of nobody": {5}}
        self.assertEqual(stray(known, lines), [("none", 0), ("several", 2)])

    def test_counts(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "list"
            path.write_text("# Why.\n\nf.cc\n- a < b\n+ a <= b\n  It is\n  the same.\n")
            known = read_equivalent(path)
        self.assertEqual(known, {("f.cc", "a < b", "a <= b"): "It is the same."})
        became = {"a <= b": "survived", "a > b": "survived", "1": "killed", "2": "does not compile",
                  "3": "identical"}
        common = {"area": "x", "path": "f.cc", "before": "a < b"}
        entries = [{**common, "after": after, "status": status}
                   for after, status in became.items()]
        self.assertIn(identity(entries[0]), known)
        self.assertEqual(summary(entries, known)[-1], ("all", 1, 1, 1, "50.0 %"))


if __name__ == "__main__":
    unittest.main()
