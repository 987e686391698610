#pragma once
// Helpers for tests of passes.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "emu/compile/source/passes.hpp"

namespace rung::emu {

/// The text after one pass.
inline std::string after(const std::function<Edits(const SourceText&)>& pass,
                         const std::string& text) {
  SourceText source(text);
  source.apply(pass(source));
  return source.text();
}

/// True if this program has the test Suite.Name.
inline bool is_test(const std::string& name) {
  const auto* const all = testing::UnitTest::GetInstance();
  for (int i = 0; i < all->total_test_suite_count(); ++i) {
    const auto* const suite = all->GetTestSuite(i);
    for (int j = 0; j < suite->total_test_count(); ++j) {
      const auto* const test = suite->GetTestInfo(j);
      if (std::string(test->test_suite_name()) + "." + test->name() == name) return true;
    }
  }
  return false;
}

}  // namespace rung::emu
