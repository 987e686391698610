#pragma once
// Finds the source line of an instruction in the program's host code.

#include <span>
#include <string>
#include <vector>

namespace rung::vgpu {

struct HostLine {
  std::string function;  // symbol; empty if unknown
  std::string file;      // path as passed to the compiler; empty if unknown
  int line = 0;
};

/// Loads the unwinder, so that find_host_line() can run in a signal handler.
void prepare_host_lines();

/// The source line of the instruction at that address. If the instruction is in a library, the line
/// of the program's call that led to it. Must be called in the handler of the signal that the
/// instruction raised.
HostLine find_host_line(const void* instruction);

/// The return addresses of the calls that led here, innermost first. Cheap: the lines come later.
std::vector<const void*> return_addresses();

/// The calls that have these return addresses, as they were in the library that calls this and in the
/// program.
struct HostCalls {
  std::string entry;  // symbol: the library's outermost function; empty if unknown
  std::vector<HostLine>
      lines;  // of the program, innermost first, each inlined function with its own
  const void* caller = nullptr;  // the return address that the last lines were found from
};
/// Stops at the first function that has a line outside `headers`, a folder of the library's headers, and outside
/// the system's. The system's lines are left out if there is one.
HostCalls host_calls(std::span<const void* const> return_addresses, const std::string& headers);

/// The program's lines of these return addresses, innermost first, with those of inlined functions. Lines of the
/// system and of `headers` are left out.
std::vector<HostLine> host_call_chain(std::span<const void* const> return_addresses,
                                      const std::string& headers);

/// True for a file of the system or of an installed library, such as the CUDA toolkit's headers.
bool is_of_system(const std::string& path);

/// The file of the library or program that has this function or variable.
std::string object_file_of(const void* address);

}  // namespace rung::vgpu
