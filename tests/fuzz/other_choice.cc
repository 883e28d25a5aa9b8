// SPDX-License-Identifier: Apache-2.0
// Draws choices of products and convolutions.
#include "fuzz/other_choice.h"

#include "dispatch/api/algorithm_names.h"
#include "dispatch/tables/formats.h"
#include "fuzz/memory.h"

namespace octet_fuzz {
namespace {

using octet::Choice;

template <typename Row>
const Row* any_row(Choices* c, const Row* (*nth)(size_t)) {
  size_t count = 0;
  while (nth(count)) ++count;
  return nth(c->below(count));
}
const octet::KernelName* any_kernel(Choices* c) { return any_row(c, octet::kernel_name); }
octet_conv_algorithm any_algorithm(Choices* c) {
  return (octet_conv_algorithm)c->below(octet::kAlgorithms);
}

}  // namespace

Choice any_choice(Choices* c) {
  Choice choice = {};
  choice.algorithm = any_algorithm(c);
  choice.layout = any_row(c, octet::nth_format)->layout;
  choice.kernel = any_kernel(c);
  if (c->one_in(2)) choice.small_kernel = any_kernel(c);
  choice.block = std::max<size_t>(1, (size_t)c->odd());
  choice.pass = (size_t)c->odd();
  choice.cache_bytes = (size_t)c->odd();
  choice.tasks = {(size_t)c->odd(), (size_t)c->odd()};
  return choice;
}

Choice other_choice(Choices* c, Choice choice) {
  if (c->one_in(3)) {
    choice.kernel = any_kernel(c);
    if (choice.small_kernel) choice.small_kernel = c->one_in(2) ? choice.kernel : any_kernel(c);
  }
  // A multiple of every kernel's rows
  constexpr size_t kTiles = 2 * 2 * 2 * 2 * 3 * 5 * 7;
  if (c->one_in(2))
    choice.block = c->any<size_t>({kTiles, SIZE_MAX / kTiles * kTiles, 1 + c->below(20),
                                   choice.block / 2 + (choice.block < 2)});
  if (c->one_in(2)) choice.pass = c->any<size_t>({0, 16, 64, 128, SIZE_MAX / 64 * 64});
  if (choice.cache_bytes)
    choice.cache_bytes = c->any<size_t>({1, 3000, 1 << 16, 1 << 22, SIZE_MAX});
  if (c->one_in(16)) choice.cache_bytes = choice.cache_bytes ? 0 : 1;
  if (c->one_in(16)) choice.algorithm = any_algorithm(c);
  if (c->one_in(16)) choice.layout = any_row(c, octet::nth_format)->layout;
  if (c->one_in(16)) choice.small_kernel = choice.small_kernel ? nullptr : choice.kernel;
  if (c->one_in(16)) choice.kernel = nullptr;
  choice.tasks = {c->below(6), c->below(6)};
  return choice;
}

bool only_cut_differs(Choice choice, const Choice& best) {
  choice.tasks = best.tasks;
  if (choice.cache_bytes && best.cache_bytes) choice.cache_bytes = best.cache_bytes;
  return choice == best;
}

std::string text_of(const Choice& choice) {
  char text[octet::kChoiceBytes];
  octet::to_text(choice, text);
  return text;
}

void check_text(Choices* c, const Choice& choice) {
  const std::string text = text_of(choice);
  if (text.size() + 1 == octet::kChoiceBytes) fail("a choice's text has no room: %s", text.c_str());
  const Block block(c, std::vector<char>(text.c_str(), text.c_str() + text.size() + 1));
  Choice read = {};
  must_accept("from_text",
              [&](octet_error* e) { return octet::from_text(block.data<char>(), &read, e); });
  if (!(read == choice)) fail("%s is read back as %s", text.c_str(), text_of(read).c_str());
}

void check_text(Choices* c, const std::string& text) {
  const Block block(c, std::vector<char>(text.c_str(), text.c_str() + text.size() + 1));
  Choice read = {};
  octet_error error;
  if (checked("from_text", &error, [&](octet_error* e) {
        return octet::from_text(block.data<char>(), &read, e);
      }) == OCTET_OK) {
    ++tally.runs;
    if (text_of(read) != text) fail("'%s' is read as '%s'", text.c_str(), text_of(read).c_str());
    return;
  }
  ++tally.refusals;
  if (!std::strstr(error.message, "the choice's text")) fail("from_text: %s", error.message);
  if (!(read == Choice{})) fail("from_text refused '%s' and wrote to the choice", text.c_str());
}

}  // namespace octet_fuzz
