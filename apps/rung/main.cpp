// Finds the command, runs it, and turns what went wrong into one line and an exit code.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <new>
#include <system_error>

#include "command_line.hpp"
#include "standard_output.hpp"

namespace rung {
namespace {

constexpr std::array commands = {
    Command{"list", "The rungs: what they need, what is available here and why not", add_list},
    Command{"verify", "Check every selected rung; exit 0 only if all that can run are right",
            add_verify},
    Command{"bench", "Verify, then time the selected rungs against libraries and ceilings",
            add_bench},
    Command{"tune", "Search the tiles of a CUDA rung, and the parts of k, for the fastest",
            add_tune},
    Command{"trace", "One launch on the virtual GPU: its counters, line by line, and its hazards",
            add_trace},
    Command{"explain", "Why a rung, or a kernel of yours, is as fast as it is, and what to do next",
            add_explain},
    Command{"diff", "What changes from one rung to another, as a unified diff", add_diff},
    Command{"emu", "A CUDA program on the virtual GPU, with counters and hazards", add_emu},
    Command{"report", "Results as one page with tables, plots and sources", add_report},
    Command{"doctor", "What was found on this machine, and what is missing", add_doctor},
};

constexpr const char* description =
    "GEMM and dot as ladders of kernels: from the naive one to one that beats the vendor.";

constexpr const char* footer = R"(Examples:
  rung list gemm                    the gemm ladder
  rung verify gemm/cpu dot/cpu      is every rung right?
  rung bench gemm/cpu --sizes 1024  how fast, against what is installed?
  rung trace gemm/cuda/02           what a CUDA rung would do on a GPU
  rung explain gemm/cuda/02         why it is as fast as it is, and what to do next
  rung emu program.cu               a CUDA program without a GPU

Exit codes: 0 right, 1 something was wrong, 2 bad usage, 3 not available here.
'rung COMMAND --help' tells more.)";

/// Messages quote what a user or a file gave, which may hold anything; a message is one line.
std::string one_line(std::string message) {
  std::replace_if(
      message.begin(), message.end(),
      [](char character) { return std::iscntrl(static_cast<unsigned char>(character)) != 0; }, '?');
  return message;
}

int complain(const std::string& message, ExitCode code) {
  std::fputs(one_line("rung: " + message).append("\n").c_str(), stderr);  // fmt::print would throw
  return code;
}

}  // namespace
}  // namespace rung

int main(int argc, char** argv) {
  using namespace rung;
  reserve_standard_streams();
  try {
    const ExitCode code = parse({description, footer, commands}, argc, argv)();
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
