// Whether a text contains another one, for assertions: a failure shows both.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace weft::test {

inline testing::AssertionResult says(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  return (found ? testing::AssertionSuccess() : testing::AssertionFailure())
         << "\"" << part << "\" is " << (found ? "" : "not ") << "in: " << text;
}

}  // namespace weft::test
