// SPDX-License-Identifier: Apache-2.0
// Draws choices of how to compute (dispatch/select/choice.h): some legal for a problem, all of them
// legal as text.
#pragma once

#include <cstring>
#include <string>

#include "dispatch/select/choice.h"
#include "fuzz/fuzz.h"

namespace octet_fuzz {

// Any combination of the library's algorithms, layouts and kernels.
octet::Choice any_choice(Choices* c);
// Changes tasks, cache, pass and block of the best choice, sometimes kernels, seldom more.
octet::Choice other_choice(Choices* c, octet::Choice best);
// Whether only tasks and cache differ from the best choice, so that create must accept it.
bool only_cut_differs(octet::Choice choice, const octet::Choice& best);

std::string text_of(const octet::Choice& choice);
// Fails unless its text is read back as the same.
void check_text(Choices* c, const octet::Choice& choice);
// Fails unless the text is refused with a message, or is the text of the choice read. It ends at a
// guard page.
void check_text(Choices* c, const std::string& text);

// Creates an object by a choice. Null if it was refused legally.
template <typename Object, typename Create>
Object* create_otherwise(const octet::Choice& choice, const octet::Choice& best, bool must_refuse,
                         const Create& create) {
  Object* object = nullptr;
  octet_error error;
  const octet_status status =
      checked("create by a choice", &error, [&](octet_error* e) { return create(&object, e); });
  const std::string text = text_of(choice);
  if ((status == OCTET_OK) != (object != nullptr))
    fail("create by %s: status %d, object %p", text.c_str(), status, (void*)object);
  if (!object) {
    ++tally.refusals;
    if (status != OCTET_KERNEL_UNUSABLE || !std::strstr(error.message, "the choice cannot be used"))
      fail("create by %s: %s", text.c_str(), error.message);
    if (!must_refuse && only_cut_differs(choice, best))
      fail("create refused %s: %s", text.c_str(), error.message);
    return nullptr;
  }
  if (must_refuse) fail("create accepted %s beside desc.kernel, or of s16 values", text.c_str());
  return object;
}

}  // namespace octet_fuzz
