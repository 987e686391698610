// rung_metal_compiler TEXT NAME OUTPUT: compiles a Metal rung in the build. Only this project's build
// uses it.

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "emu/compile/link/device_code.hpp"
#include "emu/compile/metal/metal.hpp"
#include "emu/compile/toolchain.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return EXIT_FAILURE;
  try {
    rung::emu::metal::Options options;
    // As strict as Apple's compiler, which knows C++14.
    options.compiler = {"-std=c++14",
                        "-Wc++17-extensions",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-Wno-unused-const-variable",
                        "-Wno-duplicate-decl-specifier"};
    options.text = rung::emu::read_file(argv[1]);
    std::string ptx = rung::emu::metal::compile_all(argv[2], options);
    // Line tables must not name the folder of the build.
    const auto runtime = rung::emu::find_installation().include.parent_path();
    for (const auto& folder : {std::filesystem::current_path(), runtime}) {
      const std::string prefix = folder.string() + "/";
      for (std::size_t at = 0; (at = ptx.find(prefix, at)) != ptx.npos;)
        ptx.erase(at, prefix.size());
    }
    std::ofstream(argv[3], std::ios::binary) << ptx;
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << argv[2] << ": " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
