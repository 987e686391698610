#pragma once
// Command lines of Apple's tools.

#include <string>
#include <vector>

namespace rung::emu {

using Words = std::vector<std::string>;

/// A file that Apple's linker puts into the program: -sectcreate SEGMENT SECTION FILE.
struct EmbeddedSection {
  std::string segment, name, file;
};

/// Options of Apple's compilers and linker that mean nothing here are left out: frameworks, architectures,
/// SDKs, and versions of macOS. Files of -sectcreate are added to `sections`.
Words without_platform_options(const Words& words, std::vector<EmbeddedSection>& sections);

/// The tool and its arguments, which follow xcrun's own options. `finds`: xcrun --find TOOL.
struct XcrunRequest {
  Words command;
  bool finds = false, shows_sdk = false;
};
XcrunRequest parse_xcrun(const Words& words);

/// The command line of `metal`, Apple's compiler of Metal files, and of `metallib`.
struct MetalRequest {
  Words sources;    // .metal files
  Words libraries;  // .air and .metallib files
  Words compiler;   // -I -D -U -std=…
  std::string output, dependencies;
  bool compiles_only = false;  // -c
};
/// Throws std::invalid_argument if a value is missing.
MetalRequest parse_metal(const Words& words);

}  // namespace rung::emu
