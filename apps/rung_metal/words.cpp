#include "apps/rung_metal/words.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace rung::emu {
namespace {

constexpr std::array with_value = {"-framework", "-weak_framework", "-arch",     "-isysroot",
                                   "-target",    "-install_name",   "--sysroot", "-undefined"};
constexpr std::array without_value = {
    "-fobjc-arc",       "-fno-objc-arc", "-ObjC++",       "-ObjC",
    "-stdlib=libc++",   "-fmodules",     "-fcxx-modules", "-lobjc",
    "-lMetal",          "-lFoundation",  "-lQuartzCore",  "-lc++",
    "-Wl,-dead_strip",  "-dead_strip",   "-fobjc-weak",   "-lMetalKit",
    "-lCoreFoundation", "-fopenmp",      "-lomp",         "-Wl,-no_warn_duplicate_libraries"};
constexpr std::array starts = {"-mmacosx-version-min",
                               "-mmacos-version-min",
                               "--target=",
                               "-F/",
                               "-F.",
                               "-Wl,-framework",
                               "-Wl,-headerpad",
                               "-Wl,-syslibroot",
                               "-Wl,-rpath,@",
                               "-mcpu=apple-",
                               "-mtune=apple-",
                               "-Wl,-undefined"};

template <std::size_t N>
bool is_one_of(const std::string& word, const std::array<const char*, N>& all) {
  return std::ranges::find(all, word) != all.end();
}

bool has_suffix(const std::string& word, std::string_view suffix) {
  return word.size() > suffix.size() && word.ends_with(suffix);
}

const std::string& value_at(const Words& words, std::size_t at) {
  if (at + 1 < words.size()) return words[at + 1];
  throw std::invalid_argument(words[at] + ": expected a value");
}

/// Reads "-sectcreate SEGMENT SECTION FILE" or "-Wl,-sectcreate,SEGMENT,SECTION,FILE" at `at`, and moves `at` to its last word.
bool read_section(const Words& words, std::size_t& at, std::vector<EmbeddedSection>& sections) {
  constexpr std::string_view linker = "-Wl,-sectcreate,";
  if (words[at] == "-sectcreate" && at + 3 < words.size()) {
    sections.push_back({words[at + 1], words[at + 2], words[at + 3]});
    at += 3;
    return true;
  }
  if (!words[at].starts_with(linker)) return false;
  const std::string value = words[at].substr(linker.size());
  const std::size_t first = value.find(','), second = value.find(',', first + 1);
  if (first == value.npos || second == value.npos) {
    throw std::invalid_argument(words[at] + ": expected -Wl,-sectcreate,SEGMENT,SECTION,FILE");
  }
  sections.push_back({value.substr(0, first), value.substr(first + 1, second - first - 1),
                      value.substr(second + 1)});
  return true;
}

}  // namespace

Words without_platform_options(const Words& words, std::vector<EmbeddedSection>& sections) {
  Words kept;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (read_section(words, at, sections)) continue;
    if (is_one_of(word, with_value)) {
      ++at;
    } else if ((word == "-Xpreprocessor" || word == "-Xclang") && at + 1 < words.size() &&
               words[at + 1] == "-fopenmp") {
      ++at;  // OpenMP's pragmas are ignored: emu/include/rung_emu/serial_openmp
    } else if (word == "-x" && at + 1 < words.size() && words[at + 1].starts_with("objective-c")) {
      kept.insert(kept.end(), {"-x", words[++at].ends_with("++") ? "c++" : "c"});
    } else if (!is_one_of(word, without_value) &&
               std::ranges::none_of(starts,
                                    [&](const char* start) { return word.starts_with(start); })) {
      kept.push_back(word);
    }
  }
  return kept;
}

XcrunRequest parse_xcrun(const Words& words) {
  XcrunRequest request;
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const std::string& word = words[at];
    const auto is = [&](std::string_view name) {
      return word.substr(word.find_first_not_of('-')) == name;
    };
    if (is("sdk") || is("toolchain")) ++at;
    request.finds = request.finds || is("find") || is("f");
    request.shows_sdk = request.shows_sdk || word.find("show-sdk") != word.npos;
  }
  if (at < words.size())
    request.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return request;
}

MetalRequest parse_metal(const Words& words) {
  MetalRequest request;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "-o") {
      request.output = value_at(words, at++);
    } else if (word == "-MF") {
      request.dependencies = value_at(words, at++);
    } else if (word == "-c") {
      request.compiles_only = true;
    } else if (word == "-I" || word == "-D" || word == "-U") {
      request.compiler.push_back(word + value_at(words, at++));
    } else if (word == "-x" || word == "-target" || word == "-arch" || word == "-isysroot" ||
               word == "-MT" || word == "-include" || word == "-isystem") {
      if (word == "-isystem") request.compiler.push_back("-I" + value_at(words, at));
      ++at;
    } else if (word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-U") ||
               word == "-Wall" || word == "-Wextra" || word == "-Werror") {
      request.compiler.push_back(word);
    } else if (has_suffix(word, ".air") || has_suffix(word, ".metallib") ||
               has_suffix(word, ".ir") || has_suffix(word, ".o") || has_suffix(word, ".metalar")) {
      request.libraries.push_back(word);
    } else if (!word.starts_with('-')) {
      request.sources.push_back(word);
    }
  }
  return request;
}

}  // namespace rung::emu
