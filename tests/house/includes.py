# SPDX-License-Identifier: Apache-2.0
"""What check.py holds the includes of C++ files to: a standard header that is used is included.

Standard libraries differ in which of their headers include others, so that a file which lacks one
compiles with some of them only. std::move, std::pair and iterators come with every container.
"""

import re

NAMES = {
    "algorithm": "all_of any_of none_of find find_if count count_if sort stable_sort fill fill_n copy copy_n "
                 "copy_if transform generate equal search lower_bound upper_bound min_element max_element reverse "
                 "rotate shuffle replace remove_if unique clamp is_sorted nth_element for_each",
    "atomic": "atomic", "array": "array", "cmath": "floor ceil lround nearbyint ldexp sqrt isnan exp log",
    "cstring": "memcpy memset memcmp strlen strcmp", "fstream": "ifstream ofstream", "functional": "function ref",
    "limits": "numeric_limits", "map": "map", "memory": "unique_ptr make_unique shared_ptr",
    "mutex": "mutex lock_guard unique_lock", "numeric": "accumulate iota gcd inner_product",
    "optional": "optional nullopt", "random": "mt19937", "set": "set", "sstream": "ostringstream istringstream",
    "string": "string to_string", "thread": "thread", "utility": "exchange", "vector": "vector"}
USED = {header: re.compile(rf"std::({names.replace(' ', '|')})\b(?!::)") for header, names in NAMES.items()}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)
FOLDERS = ("", "include/", "tests/", "tests/support/", "tools/", "bench/", "engines/")


class Includes:
    """texts: of all C++ files, by their names."""

    def __init__(self, texts):
        self._texts = texts
        self._included = {name: INCLUDE.findall(text) for name, text in texts.items()}

    def _file_of(self, includer, path):
        beside = includer.rpartition("/")[0]
        return next((name for folder in (f"{beside}/", *FOLDERS) if (name := folder + path) in self._texts), None)

    def _reached(self, name):
        """The headers that are not files of this tree, directly or by those that are."""
        seen, ahead, reached = set(), [name], set()
        while ahead:
            each = ahead.pop()
            for path in self._included[each]:
                file = self._file_of(each, path)
                if not file:
                    reached.add(path)
                elif file not in seen:
                    seen.add(file)
                    ahead.append(file)
        return reached

    def complaints(self):
        for name, text in sorted(self._texts.items()):
            reached, code = self._reached(name), re.sub(r"//.*", "", text)
            for header, used in USED.items():
                found = header not in reached and used.search(code)
                if found:
                    yield f"{name} uses {found[0]} without <{header}>"
