#pragma once
// How the library says that a call cannot be carried out.

#include <stdexcept>
#include <string>

#include "rung/export.hpp"

namespace rung {

/// The values are those of rung_status in rung.h.
enum class Status : int {
  ok = 0,
  invalid_argument = 1,
  out_of_memory = 2,
  internal_error = 3,
  unavailable = 4,   // no GPU, no driver, or no kernel for it
  device_error = 5,  // the GPU's driver refused
};

/// what() is one line: what is wrong, its value, and what is allowed. When it is thrown, no output
/// has been written by the call. A lack of memory is std::bad_alloc instead, as everywhere in C++.
class RUNG_API Error : public std::runtime_error {
 public:
  Error(Status code, const std::string& message) : std::runtime_error(message), code_(code) {}

  Status code() const noexcept { return code_; }

 private:
  Status code_;
};

}  // namespace rung
