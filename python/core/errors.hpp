#pragma once
// The library's errors as Python exceptions, with its own one-line messages.

#include <stdexcept>
#include <string>

#include "rung/rung.h"

namespace rung::python {

/// rung.UnavailableError
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// rung.DeviceError
struct DeviceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throw ValueError and TypeError, "rung: MESSAGE".
[[noreturn]] void fail_value(const std::string& message);
[[noreturn]] void fail_type(const std::string& message);

/// Throws unless status is RUNG_OK. `message` is rung_last_error() of the thread that called.
void check(rung_status status, const char* message);

}  // namespace rung::python
