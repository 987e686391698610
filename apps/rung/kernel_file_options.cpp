// The options for a kernel in a file, which rung bench has, too.

#include "command_line.hpp"
#include "kernel_file_arguments.hpp"

namespace rung {

void KernelFileArguments::add_kernel_file(Options& app) {
  app.add_option("--as", as,
                 "What the function in the file computes: gemm, dot or sum (default: what its name "
                 "says)")
      ->type_name("OP");
  app.add_option("--order", order,
                 "How the file's gemm stores its matrices: row or column major (default: row)")
      ->type_name("row|column");
  app.add_option("-I", include_folders, "Look for the file's headers in DIR")
      ->type_name("DIR")
      ->one_at_a_time();
  app.add_option("-D", definitions, "Define a macro for the file")
      ->type_name("NAME[=VALUE]")
      ->one_at_a_time();
}

void add_layout_of_file(Options& app, std::string& layout) {
  app.add_option("--layout", layout,
                 "Layouts of A and B that the file's gemm takes: nn, nt, tn or tt, where t is "
                 "transposed (default: nn)")
      ->type_name("LAYOUT");
}

}  // namespace rung
