#pragma once
// The arguments that name a kernel in a file of the user's, and the errors of using one.

#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "emu/toolchain.hpp"
#include "kernel_file/kernel_file.hpp"

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

/// Runs what compiles and loads a kernel: its errors are those of a command. A file that does not
/// compile is wrong; the compiler has said why.
template <class Body>
ExitCode with_kernel_file(const Body& body) {
  try {
    return body();
  } catch (const KernelFileError& error) {
    throw UsageError(error.what());
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  } catch (const emu::CompileError& error) {
    throw std::runtime_error(*error.what() == '\0' ? "the file does not compile" : error.what());
  }
}

}  // namespace rung
