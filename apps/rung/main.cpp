// Finds the command, runs it, and turns errors into one line and an exit code.

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
    Command{"list", "List the rungs, their requirements and where they can run", add_list},
    Command{"verify", "Verify the selected rungs; exit 0 only if all that can run are right",
            add_verify},
    Command{"bench", "Verify, then time the selected rungs against libraries and ceilings",
            add_bench},
    Command{"new", "Write a CUDA or Metal file to start your own kernel from", add_new},
    Command{"check", "Verify a kernel in your own file by the rules of a rung", add_check},
    Command{"tune", "Autotune the tile sizes and split-K of CUDA rungs", add_tune},
    Command{"trace", "Run a rung on the virtual GPU: counters by source line, hazards", add_trace},
    Command{"explain",
            "Explain the performance of a rung or of your own kernel, and what to do next",
            add_explain},
    Command{"diff", "Show the changes from one rung to another as a unified diff", add_diff},
    Command{"emu", "Run a CUDA program on the virtual GPU, with counters and hazards", add_emu},
    Command{"learn", "Exercises from the first kernel on, checked on the virtual GPU", add_learn},
    Command{"report", "Render results as an HTML page with tables, plots and sources", add_report},
    Command{"dist", "Plan a product over MPI ranks: layout, bytes, expected time, lower bound",
            add_dist},
    Command{"doctor", "Show the devices, compilers and libraries found, and what is missing",
            add_doctor},
};

constexpr const char* description =
    "GEMM and dot as ladders of kernels, from the naive loop to one on a par with the vendor's "
    "library.";

constexpr const char* footer = R"(Examples:
  rung list gemm                    list the gemm ladder
  rung verify gemm/cpu dot/cpu      verify every CPU rung
  rung bench gemm/cpu --sizes 1024  time them against the installed libraries
  rung trace gemm/cuda/02           run a CUDA kernel without a GPU, with counters
  rung explain gemm/cuda/02         what bounds it, and which rung removes that
  rung emu program.cu               run a CUDA program without a GPU

Exit codes: 0 right, 1 something was wrong, 2 bad usage, 3 not available here.
Run 'rung COMMAND --help' for the options of a command.)";

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
