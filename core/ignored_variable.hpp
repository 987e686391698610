#pragma once
// Reports environment variables with invalid values on standard error. The caller then uses the
// default.

#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace rung {

/// Prints "rung: NAME: 'value' `wrong`" once for each variable.
inline void ignore_variable(const char* name, std::string_view value, const std::string& wrong) {
  static std::mutex& mutex = *new std::mutex;  // never destroyed: usable during program exit
  static std::set<std::string>& said = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!said.insert(name).second) return;
  std::string shown(value);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';  // for example a line break
  }
  std::fprintf(stderr, "rung: %s: '%s' %s\n", name, shown.c_str(), wrong.c_str());
}

}  // namespace rung
