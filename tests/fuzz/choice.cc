// SPDX-License-Identifier: Apache-2.0
// Fuzzes the text of a choice. The library reads back its own text, and accepts another only if it
// is the text of some choice.
#include "fuzz/other_choice.h"

namespace octet_fuzz {
namespace {

// A nearly right text: a byte changed, added or left out, a part twice or of another text.
std::string damaged(Choices* c, std::string text) {
  for (size_t times = 1 + c->below(3); times > 0; --times) {
    const size_t at = c->below(text.size() + 1), length = c->below(text.size() + 1 - at + 1);
    const char byte = c->one_in(2) ? c->any({' ', '0', '9', 'x', '-', '=', '\n', '%'})
                                   : (char)(1 + c->below(255));
    switch (c->below(6)) {
      case 0:
        text.replace(at, 1, 1, byte);
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.replace(at, length, std::to_string(c->odd()));
        break;
      default:
        text.replace(at, std::string::npos, text_of(any_choice(c)).substr(at % 60));
        break;
    }
  }
  return text;
}

std::string anything(Choices* c) {
  std::string text(c->below(400), ' ');
  for (char& byte : text) byte = (char)(1 + c->below(255));
  return text;
}

}  // namespace

void fuzz_one(Choices* c) {
  const octet::Choice choice = any_choice(c);
  check_text(c, choice);
  check_text(c, c->one_in(8) ? anything(c) : damaged(c, text_of(choice)));
}

}  // namespace octet_fuzz
