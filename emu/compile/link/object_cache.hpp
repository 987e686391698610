#pragma once
// Compiled objects, kept by content: a program that is run again is not compiled again.
//
// An entry belongs to a source, its options, the compiler and this tool, and lists the files that
// the compiler read. It is used only if all of them still have the same contents ("direct mode" of
// ccache, https://ccache.dev/manual/4.10.html). Sources whose result depends on more than that
// (__DATE__, __TIME__, .incbin) are not kept. A header that is added to a folder that is searched
// makes the entry useless, even if nothing includes it; one that is added deeper in such a folder
// goes unnoticed.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "emu/compile/toolchain.hpp"

namespace rung::emu {

class ObjectCache {
 public:
  /// The folder that RUNG_EMU_CACHE names, by default rung/emu in the user's cache folder. Empty if the
  /// variable is "off" or the user has no cache folder.
  static std::filesystem::path default_folder();

  /// Does nothing if `folder` is empty. The oldest entries go when all of them together are larger
  /// than `max_bytes`.
  explicit ObjectCache(std::filesystem::path folder,
                       std::uintmax_t max_bytes = std::uintmax_t{512} << 20);

  /// The name of an entry: a hash of everything that identifies a compilation.
  static std::string key(const CompileOptions& options, const std::filesystem::path& source,
                         const Installation& installation, const std::string& clang);
  /// For a compilation that this text alone identifies.
  static std::string key(std::string_view identity);

  /// Writes the files of the entry to these paths, in the order in which they were stored. Returns
  /// false if there is no entry, if it is out of date, or if it is damaged.
  bool fetch(const std::string& key, const std::vector<std::filesystem::path>& files) const;
  /// Keeps these files, made from those that the dependency files (of -MD) list. A failure to write is
  /// ignored.
  void store(const std::string& key, const std::vector<std::filesystem::path>& files,
             const std::vector<std::filesystem::path>& dependency_files) const;

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void make_room() const;

  std::filesystem::path folder_;
  std::uintmax_t max_bytes_;
};

/// The files that a rule of make names after its colon.
std::vector<std::string> read_dependencies(const std::string& rule);

}  // namespace rung::emu
