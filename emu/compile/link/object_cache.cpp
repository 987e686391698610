#include "emu/compile/link/object_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

constexpr const char* format_name = "rung object 1";

/// FNV-1a with 128 bits (Fowler, Noll, Vo: http://www.isthe.com/chongo/tech/comp/fnv).
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * prime;
  }
  /// Where one ends counts, too.
  void add_word(std::string_view word) {
    add(word);
    add(std::string_view("\0", 1));
  }
  std::string text() const {
    return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(value_ >> 64),
                       static_cast<std::uint64_t>(value_));
  }

 private:
  __extension__ using Word = unsigned __int128;
  static constexpr Word prime = (Word{1} << 88) + 0x13B;
  Word value_ = (Word{0x6c62272e07bb0142u} << 64) + 0x62b821756295c58du;
};

std::optional<std::string> contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) return std::nullopt;
  return text;
}

std::string hash_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.text();
}

/// A file that is known by its place and time: a program.
void add_identity(Hash& hash, const fs::path& path) {
  struct stat status{};
  hash.add_word(path.string());
  if (stat(path.c_str(), &status) != 0) return;
  hash.add_word(
      fmt::format("{} {} {}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
}

/// The names of headers in a folder that is searched: a new one may come before an old one.
void add_names(Hash& hash, const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    static const std::set<std::string> headers = {".h",   ".hh",  ".hpp", ".hxx", ".cuh",
                                                  ".inl", ".inc", ".ipp", ".tpp", ".def"};
    const std::string extension = at->path().extension().string();
    if (headers.contains(extension)) names.insert(at->path().filename().string());
  }
  hash.add_word(folder.string());
  for (const std::string& name : names) hash.add_word(name);
}

std::vector<fs::path> searched_folders(const CompileOptions& options, const fs::path& source) {
  std::vector<fs::path> folders = {fs::absolute(source).parent_path()};
  for (std::size_t i = 0; i < options.passed.size(); ++i) {
    for (const std::string_view option : {"-I", "-iquote", "-isystem", "-idirafter"}) {
      const std::string& word = options.passed[i];
      if (!word.starts_with(option)) continue;
      if (word.size() > option.size()) {
        folders.emplace_back(word.substr(option.size()));
      } else if (i + 1 < options.passed.size()) {
        folders.emplace_back(options.passed[i + 1]);
      }
      break;
    }
  }
  return folders;
}

/// True if the compiler's result depends on more than the text.
bool is_volatile(std::string_view text) {
  for (const std::string_view word : {"__DATE__", "__TIME__", "__TIMESTAMP__", ".incbin"}) {
    if (text.find(word) != text.npos) return true;
  }
  return false;
}

/// Reads an entry: lines, then bytes.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string_view line() {
    const std::size_t stop = std::min(rest_.find('\n'), rest_.size());
    return bytes(stop + 1).substr(0, stop);
  }
  std::uint64_t number() { return std::strtoull(std::string(line()).c_str(), nullptr, 10); }
  std::string_view bytes(std::uint64_t count) {
    const std::size_t taken = std::min<std::uint64_t>(count, rest_.size());
    const std::string_view found = rest_.substr(0, taken);
    rest_.remove_prefix(taken);
    return found;
  }

 private:
  std::string_view rest_;
};

bool is_current(std::string_view hash, std::string_view path) {
  const auto text = contents(path);
  return text && hash_of(*text) == hash;
}

bool write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return !file.fail();
}

}  // namespace

std::vector<std::string> read_dependencies(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  bool after_colon = false;
  const auto end_word = [&] {
    if (after_colon && !word.empty()) files.push_back(word);
    if (word.ends_with(':')) after_colon = true;
    word.clear();
  };
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (rule[i] == '\\' && (next == ' ' || next == '#')) {
      word += rule[++i];
    } else if (rule[i] == '\\' && next == '\n') {
      end_word();
      ++i;
    } else if (rule[i] == '$' && next == '$') {
      word += rule[++i];
    } else if (rule[i] == ' ' || rule[i] == '\n' || rule[i] == '\t') {
      end_word();
    } else {
      word += rule[i];
    }
  }
  end_word();
  return files;
}

fs::path ObjectCache::default_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string chosen = variable("RUNG_EMU_CACHE"); !chosen.empty()) {
    if (chosen == "off") return {};
    std::error_code error;
    fs::create_directories(chosen, error);
    if (!error) return chosen;
    fmt::print(stderr, "rung emu: RUNG_EMU_CACHE: '{}' cannot be a folder: {}; nothing is cached\n",
               chosen, error.message());
    return {};
  }
  std::string cache = variable("XDG_CACHE_HOME");
  if (cache.empty() && !variable("HOME").empty()) cache = variable("HOME") + "/.cache";
  return cache.empty() ? fs::path() : fs::path(cache) / "rung/emu";
}

ObjectCache::ObjectCache(fs::path folder, std::uintmax_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

fs::path ObjectCache::path_of(const std::string& key) const { return folder_ / (key + ".entry"); }

std::string ObjectCache::key(std::string_view identity) { return hash_of(identity); }

std::string ObjectCache::key(const CompileOptions& options, const fs::path& source,
                             const Installation& installation, const std::string& clang) {
  Hash hash;
  hash.add_word(format_name);
  std::error_code ignored;
  add_identity(hash, fs::read_symlink("/proc/self/exe", ignored));
  add_identity(hash, clang);
  hash.add_word(installation.include.string());
  hash.add_word(installation.cccl.string());
  hash.add_word(fs::absolute(source).string());
  hash.add_word(source.string());
  hash.add_word(fs::current_path().string());
  hash.add_word(options.architecture);
  hash.add_word(fmt::format("{}{}", options.relocatable, options.all_cuda));
  for (const std::string& word : options.passed) hash.add_word(word);
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS",
                           "SOURCE_DATE_EPOCH"}) {
    const char* const value = std::getenv(name);
    hash.add_word(value == nullptr ? "" : value);
  }
  for (const fs::path& folder : searched_folders(options, source)) add_names(hash, folder);
  return hash.text();
}

bool ObjectCache::fetch(const std::string& key, const std::vector<fs::path>& files) const {
  if (folder_.empty()) return false;
  const fs::path path = path_of(key);
  const auto text = contents(path);
  if (!text || text->size() < hash_of("").size()) return false;
  Reader reader(*text);
  const std::string_view checksum = reader.line();
  if (hash_of(std::string_view(*text).substr(checksum.size() + 1)) != checksum) return false;
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    const std::string_view hash = reader.line();
    if (!is_current(hash, reader.line())) return false;
  }
  if (reader.number() != files.size()) return false;
  for (const fs::path& file : files) {
    const std::uint64_t bytes = reader.number();
    if (!write_file(file, reader.bytes(bytes))) return false;
  }
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return true;
}

void ObjectCache::store(const std::string& key, const std::vector<fs::path>& files,
                        const std::vector<fs::path>& dependency_files) const {
  if (folder_.empty()) return;
  std::set<std::string> sources;
  for (const fs::path& file : dependency_files) {
    const auto rule = contents(file);
    if (!rule) return;
    for (const std::string& name : read_dependencies(*rule)) {
      sources.insert(fs::absolute(name).string());
    }
  }
  std::string entry = fmt::format("{}\n", sources.size());
  for (const std::string& source : sources) {
    const auto text = contents(source);
    if (!text || is_volatile(*text) || source.find('\n') != source.npos) return;
    entry += fmt::format("{}\n{}\n", hash_of(*text), source);
  }
  entry += fmt::format("{}\n", files.size());
  for (const fs::path& file : files) {
    const auto bytes = contents(file);
    if (!bytes) return;
    entry += fmt::format("{}\n", bytes->size()) + *bytes;
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path draft = folder_ / fmt::format("{}.{}.draft", key, getpid());
  if (error || !write_file(draft, hash_of(entry) + "\n" + entry)) return;
  fs::rename(draft, path_of(key), error);
  make_room();
}

void ObjectCache::make_room() const {
  struct Entry {
    fs::file_time_type time;
    fs::path path;
    std::uintmax_t bytes;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may have removed it
    const Entry entry{fs::last_write_time(at->path(), gone), at->path(),
                      fs::file_size(at->path(), gone)};
    if (gone) continue;
    entries.push_back(entry);
    total += entry.bytes;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes_) return;
    total -= entry.bytes;
    fs::remove(entry.path, error);
  }
}

}  // namespace rung::emu
