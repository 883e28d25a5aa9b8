// In which forms weights can be packed: all, whatever is compiled in, so that a machine packs for
// any other.
#pragma once

#include "packing/format.h"

namespace octet {

const Form* nth_form(size_t index);                 // null past the last
const Form* find_form(uint16_t id);                 // null if there is none
const Form* find_form_of(const RhsLayout& layout);  // likewise
const Form& form_of(FormId id);

}  // namespace octet
