#include "outcome.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <new>
#include <system_error>

#include "standard_output.hpp"

namespace rung {
namespace {

/// Messages quote what a user or a file gave, which may hold anything; a message is one line.
std::string one_line(std::string message) {
  std::replace_if(
      message.begin(), message.end(),
      [](char character) { return std::iscntrl(static_cast<unsigned char>(character)) != 0; }, '?');
  return message;
}

ExitCode complain(const std::string& message, ExitCode code) {
  std::fputs(one_line("rung: " + message).append("\n").c_str(), stderr);  // fmt::print would throw
  return code;
}

}  // namespace

ExitCode outcome_of(const Action& action) {
  try {
    const ExitCode code = action();
    flush_output();
    return code;
  } catch (const UsageError& error) {
    return complain(error.what(), exit_usage);
  } catch (const UnavailableError& error) {
    return complain(error.what(), exit_unavailable);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", exit_unavailable);
  } catch (const std::system_error& error) {  // fmt throws it where a write fails
    const bool is_output = std::ferror(stdout) != 0;
    return complain(is_output ? OutputError(error.code()).what() : error.what(), exit_wrong);
  } catch (const std::exception& error) {
    return complain(error.what(), exit_wrong);
  }
}

}  // namespace rung
