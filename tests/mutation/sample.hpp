#pragma once
// A part of the mutants, for a shorter run.

#include <cstdlib>

namespace rung {

/// Selects every RUNG_TEST_EVERY-th case, beginning with the first; without that variable, all.
class Sample {
 public:
  bool has_next() { return count_++ % every() == 0; }

 private:
  static int every() {
    const char* const text = std::getenv("RUNG_TEST_EVERY");
    const int value = text == nullptr ? 1 : std::atoi(text);
    return value < 1 ? 1 : value;
  }
  int count_ = 0;
};

}  // namespace rung
