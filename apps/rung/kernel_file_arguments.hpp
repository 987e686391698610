#pragma once
// The arguments that name a kernel in the user's file, and the errors of loading and running it.

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

/// `path`: FILE or FILE:FUNCTION. `dtype`, `code`, `layout`: the values of these options. Throws
/// UsageError.
KernelFile read_kernel_file(const KernelFileArguments& arguments, const std::string& path,
                            const std::string& dtype, const std::string& code,
                            const std::string& layout);
/// Adds --layout to a command that does not have it for rungs.
void add_layout_of_file(Options& app, std::string& layout);
/// The --layout of the equivalent product with a row-major C, as rungs take it.
std::string row_major_layout(const KernelFile& file);

/// Runs `body`, which compiles a kernel, and converts its errors to those of a command. A file that
/// does not compile is exit_wrong; the compiler has printed the reason.
ExitCode with_kernel_file(const Action& body);
/// Like with_kernel_file(), in a separate process (own_process.hpp), for a `body` that also loads
/// the file and calls its function.
ExitCode with_loaded_file(const KernelFile& file, const Action& body);

}  // namespace rung
