// Expects a weft::Error whose message contains a text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "weft/error.hpp"

namespace weft::test {

template <class F>
void expect_error(const F& f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "no error, expected one that says: " << text;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos)
        << "says: " << e.what() << "\nnot: " << text;
  }
}

}  // namespace weft::test
