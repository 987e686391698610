#pragma once
// The program's call that led into this library.

#include <functional>
#include <string>
#include <vector>

#include "emu/compile/source/discarded_calls.hpp"

namespace rung::emu {

/// Where a call comes from. Cheap to take; what it says is found later.
class CallSite {
 public:
  /// Takes the return addresses of the calls that led here.
  static CallSite here();
  /// Takes them for a call whose line the headers have reported.
  static CallSite here(std::string file, int line);
  /// Takes them for a call from a line that is known already.
  static CallSite here_at(const CallSite& known);
  /// A line that is known already.
  static CallSite at(std::string file, int line);

  /// The program's line outside this library's headers.
  struct Line {
    std::string file;  // as the compiler was given it; empty if unknown
    int line = 0;
    /// The functions that the program may have called there: this library's, and those of its headers.
    std::vector<std::string> functions;

    std::string short_name() const;  // "tile.cu:31"; empty if unknown
  };
  Line line() const;
  /// The lines of the program's calls that led to line(), innermost first.
  std::vector<Line> callers() const;
  /// True if the other call comes from the same line by other callers. `caller`: caller().
  bool shares_line(const CallSite& other, const void* caller) const;
  /// The return address in the program; null if unknown. Differs for two calls in one line.
  const void* caller() const;
  /// "tile.cu:31" if the line was known from the start; otherwise empty.
  std::string known_line() const { return Line{file_, line_, {}}.short_name(); }
  /// Its path, or empty.
  const std::string& known_file() const { return file_; }

  friend auto operator<=>(const CallSite&, const CallSite&) = default;

 private:
  struct Found {
    Line line;
    const void* caller = nullptr;
  };
  /// Remembers what it has found.
  const Found& found() const;
  Found find() const;

  std::vector<const void*> return_addresses_;
  std::string file_;
  int line_ = 0;
};

/// True for a header of this library that programs include.
bool is_own_header(const std::string& file);

/// The text of a file; empty if it cannot be read.
std::string source_text(const std::string& file);

/// The variable whose address this call of `function` takes first: "x" for cudaMalloc(&x, n). `calls` are
/// all calls of the function so far: of several in a line, their order says which is which. Empty if unknown.
std::string variable_of(const CallSite& call, const std::string& function,
                        const std::function<std::vector<CallSite>()>& calls);

}  // namespace rung::emu
