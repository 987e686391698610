#include "emu/compile/link/device_code.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "core/c_literal.hpp"
#include "emu/compile/ir/device_compiler.hpp"
#include "emu/compile/process.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

constexpr const char* section_name = ".rung_device";
constexpr const char* linked_section_name = ".rung_linked";  // marks what link_device_code() made

template <class T>
bool read_at(std::string_view file, std::size_t offset, T& value) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return true;
}

std::string_view part(std::string_view file, std::size_t offset, std::size_t bytes) {
  if (offset > file.size() || bytes > file.size() - offset) return {};
  return file.substr(offset, bytes);
}

/// The section's contents; empty for a file that is no ELF object or has no such section.
std::string_view find_section(std::string_view file, std::string_view wanted) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto section = [&](std::size_t index, Elf64_Shdr& found) {
    return read_at(file, header.e_shoff + index * sizeof(Elf64_Shdr), found);
  };
  Elf64_Shdr names;
  if (!section(header.e_shstrndx, names)) return {};
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr found;
    if (!section(i, found)) return {};
    const std::string_view rest = part(file, names.sh_offset, names.sh_size);
    if (found.sh_name >= rest.size()) continue;
    const std::string_view name = rest.substr(found.sh_name);
    if (name.substr(0, name.find('\0')) == wanted) {
      return part(file, found.sh_offset, found.sh_size);
    }
  }
  return {};
}

/// The bitcodes of a section. One that a linker has merged holds several, each after its size, as
/// embedding_assembly() writes them.
std::vector<std::string_view> split_bitcodes(std::string_view section) {
  constexpr std::size_t alignment = 16;
  std::vector<std::string_view> found;
  std::uint64_t bytes = 0;
  for (std::size_t at = 0; read_at(section, at, bytes) && bytes != 0;) {
    found.push_back(part(section, at + alignment, bytes));
    at += alignment + (bytes + alignment - 1) / alignment * alignment;
  }
  return found;
}

/// The members of an archive (ar(5)), or the file itself if it is not an archive.
std::vector<std::string_view> members(std::string_view file) {
  constexpr std::string_view magic = "!<arch>\n";
  constexpr std::size_t header_bytes = 60, size_offset = 48, size_digits = 10;
  if (!file.starts_with(magic)) return {file};
  std::vector<std::string_view> found;
  for (std::size_t at = magic.size(); at + header_bytes <= file.size();) {
    const std::string digits(file.substr(at + size_offset, size_digits));
    const std::size_t bytes = std::strtoull(digits.c_str(), nullptr, 10);
    found.push_back(part(file, at + header_bytes, bytes));
    at += header_bytes + bytes + bytes % 2;
  }
  return found;
}

// Registers the entries that clang emits for the kernels and variables of every object, which the
// linker concatenates (clang/docs/OffloadingDesign.rst, "Generating Offloading Entries").
constexpr const char* registration_text = R"(
extern "C" {{
struct Entry {{ void* address; char* name; unsigned long bytes; int flags; int reserved; }};
extern Entry __start_cuda_offloading_entries[] __attribute__((weak, visibility("hidden")));
extern Entry __stop_cuda_offloading_entries[] __attribute__((weak, visibility("hidden")));
void** __cudaRegisterFatBinary(void*);
int __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, unsigned long, int, int);
void __cudaRegisterFatBinaryEnd(void**);
extern const char rung_linked_ptx[] __attribute__((visibility("hidden")));
__asm__(".pushsection .rodata\nrung_linked_ptx:\n"
        ".incbin " {} "\n.byte 0\n.popsection\n"
        ".pushsection .rung_linked,\"\",@progbits\n.byte 1\n.popsection");
struct Wrapper {{ int magic, version; const void* data; void* unused; }};
static Wrapper wrapper = {{0x466243b1, 1, rung_linked_ptx, nullptr}};
__attribute__((constructor)) static void rung_register() {{
  void** image = __cudaRegisterFatBinary(&wrapper);
  for (Entry* it = __start_cuda_offloading_entries; it < __stop_cuda_offloading_entries; ++it) {{
    if (it->bytes == 0) {{
      __cudaRegisterFunction(image, (const char*)it->address, it->name, it->name, -1, nullptr, nullptr,
                             nullptr, nullptr, nullptr);
    }} else {{
      __cudaRegisterVar(image, (char*)it->address, it->name, it->name, 0, it->bytes, 0, 0);
    }}
  }}
  __cudaRegisterFatBinaryEnd(image);
}}
}}
)";

/// The symbol that an object with device code refers to and its device link defines, as nvcc's
/// __cudaRegisterLinkedBinary_…: without it, a linker would leave the device link in its archive.
std::string link_symbol(std::string_view bitcode) {
  return fmt::format("rung_device_link_of_{:016x}", std::hash<std::string_view>()(bitcode));
}

}  // namespace

std::string embedding_assembly(const fs::path& bitcode) {
  const std::string assembly = fmt::format(
      ".pushsection {0},\"\",@progbits\n.balign 16\n.quad 2f - 1f, 0\n"
      "1: .incbin {1}\n2: .balign 16\n.popsection\n"
      ".pushsection .rung_needs,\"\",@progbits\n.hidden {2}\n.quad {2}\n.popsection",
      section_name, c_literal(bitcode.string()), link_symbol(read_file(bitcode)));
  return fmt::format("__asm__({});\n", c_literal(assembly));
}

std::vector<fs::path> with_static_libraries(std::vector<fs::path> objects,
                                            const std::vector<std::string>& linked) {
  const auto add = [&](const std::string& name) {
    for (const std::string& option : linked) {
      if (!option.starts_with("-L")) continue;
      const fs::path folder = option.substr(2), library = folder / ("lib" + name + ".a");
      // The linker prefers the shared one, which has had its device link.
      if (fs::exists(folder / ("lib" + name + ".so"))) return;
      if (!fs::exists(library)) continue;
      const bool is_there = std::any_of(objects.begin(), objects.end(), [&](const fs::path& each) {
        std::error_code none;
        return fs::equivalent(each, library, none);
      });
      if (!is_there) objects.push_back(library);
      return;
    }
  };
  for (const std::string& option : linked) {
    if (option.starts_with("-l")) add(option.substr(2));
  }
  return objects;
}

std::vector<fs::path> extract_bitcode(const std::vector<fs::path>& objects,
                                      const fs::path& folder) {
  std::vector<fs::path> bitcodes;
  for (const fs::path& object : objects) {
    const std::string file = read_file(object);
    for (const std::string_view member : members(file)) {
      for (const std::string_view bitcode : split_bitcodes(find_section(member, section_name))) {
        bitcodes.push_back(folder / fmt::format("linked.{}.bc", bitcodes.size()));
        std::ofstream(bitcodes.back(), std::ios::binary) << bitcode;
      }
    }
  }
  return bitcodes;
}

namespace {

void link_to_ptx(const std::vector<fs::path>& bitcodes, const std::string& architecture,
                 const std::string& clang, const fs::path& ptx) {
  std::vector<std::string> sources = {bitcodes.front().string()};
  for (std::size_t i = 1; i < bitcodes.size(); ++i) {
    sources.push_back("-mlink-bitcode-file");
    sources.push_back(bitcodes[i].string());
  }
  generate_ptx(clang, {architecture}, sources, ptx);
  set_target(ptx, architecture);
  check_calls("the linked program", read_file(ptx));
}

}  // namespace

void link_device_code(const std::vector<fs::path>& bitcodes, const std::string& architecture,
                      const fs::path& object, const std::string& clang, const fs::path& folder) {
  const fs::path source = folder / (object.filename().string() + ".register.cpp");
  std::ofstream text(source);
  if (!bitcodes.empty()) {
    const fs::path ptx = folder / (object.filename().string() + ".ptx");
    link_to_ptx(bitcodes, architecture, clang, ptx);
    text << fmt::format(registration_text, c_literal(c_literal(ptx.string())));
    std::set<std::string> symbols;
    for (const fs::path& bitcode : bitcodes) symbols.insert(link_symbol(read_file(bitcode)));
    for (const std::string& symbol : symbols) {
      text << fmt::format("__asm__(\".weak {0}\\n.hidden {0}\\n{0} = rung_linked_ptx\");\n",
                          symbol);
    }
  }
  text.close();
  run_compiler({clang, "-c", "-fPIC", "-O1", "-w", "-o", object.string(), source.string()});
}

void check_calls(const std::string& what, const std::string& ptx) {
  const std::vector<std::string> missing = missing_functions(ptx);
  if (missing.empty()) return;
  throw CompileError(fmt::format("{}: device code calls {}, which rung emu does not have", what,
                                 fmt::join(missing, ", ")));
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_status(const std::vector<std::string>& command, const ExitStatus& status) {
  if (status.signal != 0) {
    throw CompileError(fmt::format("{} was ended by signal {}", command[0], status.signal));
  }
  if (status.code != 0) throw CompileError("");  // it has printed the reason
}

void run_compiler(const std::vector<std::string>& command) {
  const ExitStatus status = run(command);
  if (const int signal = HeldSignals::received(); signal != 0) throw Interrupted{signal};
  check_status(command, status);
}

void link_program(const CompileOptions& options, const std::vector<fs::path>& objects,
                  const fs::path& program, const Installation& installation,
                  const std::string& clang, const fs::path& folder) {
  // As nvcc has it: in any order.
  std::vector<std::string> command = {clang, "-Wl,--start-group"};
  for (const fs::path& object : objects) command.push_back(object.string());
  const bool is_linked = std::any_of(objects.begin(), objects.end(), [](const fs::path& object) {
    return !find_section(read_file(object), linked_section_name).empty();
  });
  const auto bitcodes =
      is_linked ? std::vector<fs::path>()
                : extract_bitcode(with_static_libraries(objects, options.linked), folder);
  if (!bitcodes.empty()) {
    const fs::path linked = folder / "device_link.o";
    link_device_code(bitcodes, options.architecture, linked, clang, folder);
    command.push_back(linked.string());
  }
  command.insert(command.end(), options.linked.begin(), options.linked.end());
  const std::string folder_of_library = installation.library.parent_path().string();
  command.insert(command.end(), {"-L" + folder_of_library, installation.library.string(),
                                 "-Wl,--end-group", "-Xlinker", "-rpath", "-Xlinker",
                                 folder_of_library, "-lm", "-pthread", "-o", program.string()});
  run_compiler(command);
}

}  // namespace rung::emu
