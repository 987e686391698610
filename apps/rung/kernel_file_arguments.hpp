#pragma once
// The arguments that name a kernel in a file of the user's, and the errors of using one.

#include <string>
#include <vector>

#include "command.hpp"
#include "tools/kernel_file/kernel_file.hpp"

namespace rung {

class Options;

struct KernelFileArguments {
  std::string as, order;
  std::vector<std::string> include_folders, definitions;

  void add_kernel_file(Options& app);
};

/// `path` is FILE or FILE:FUNCTION; `code` and `layout` the values of these options. Throws
/// UsageError.
KernelFile read_kernel_file(const KernelFileArguments& arguments, const std::string& path,
                            const std::string& dtype, const std::string& code,
                            const std::string& layout);
/// For commands that have no --layout for rungs.
void add_layout_of_file(Options& app, std::string& layout);
/// --layout as rungs take it, whose C is row-major.
std::string row_major_layout(const KernelFile& file);

/// Runs what compiles a kernel: its errors are those of a command. A file that does not compile is
/// wrong; the compiler has said why.
ExitCode with_kernel_file(const Action& body);
/// Calls `body`, which also loads the file and calls its function, in a process of its own
/// (own_process.hpp).
ExitCode with_loaded_file(const KernelFile& file, const Action& body);

}  // namespace rung
