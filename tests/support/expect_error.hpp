// Expects a weft::Error whose message contains a text.
#pragma once

#include "support/says.hpp"
#include "weft/error.hpp"

namespace weft::test {

template <class F>
void expect_error(const F& f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "no error, expected one that says: " << text;
  } catch (const Error& e) {
    EXPECT_TRUE(says(e.what(), text));
  }
}

}  // namespace weft::test
