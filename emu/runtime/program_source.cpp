#include "emu/runtime/program_source.hpp"

#include <map>
#include <mutex>
#include <vector>

#ifdef __linux__
#include <elf.h>
#include <link.h>
#endif

#include <algorithm>
#include <array>
#include <string_view>

#include "emu/compile/source/discarded_calls.hpp"
#include "vgpu/driver/host_line.hpp"

namespace rung::emu {
namespace {

constexpr std::size_t most_callers = 4;

thread_local const CallSite* launch_site = nullptr;

class Source : public vgpu::ProgramSource {
 public:
  std::uint32_t here() override {
    const CallSite site =
        launch_site == nullptr ? CallSite::here() : CallSite::here_at(*launch_site);
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] =
        numbers_.try_emplace(site, static_cast<std::uint32_t>(sites_.size()));
    if (is_new) sites_.push_back(&found->first);
    return found->second;
  }
  Line line(std::uint32_t site) override {
    const CallSite call = at(site);
    const CallSite::Line line = call.line();
    return {line.file, line.line, line.short_name(), is_shared(call) ? callers_of(call) : ""};
  }
  std::string variable(std::uint32_t site) override {
    const CallSite call = at(site);
    for (const std::string& function : call.line().functions) {
      const std::string name = variable_of(call, function, [&] { return sites_of(function); });
      if (!name.empty()) return name;
    }
    return {};
  }

 private:
  CallSite at(std::uint32_t site) {
    const std::lock_guard lock(mutex_);
    return *sites_.at(site);
  }
  /// True if the line has made other calls by other callers.
  bool is_shared(const CallSite& call) {
    const void* const caller = call.caller();
    const std::lock_guard lock(mutex_);
    return std::any_of(sites_.begin(), sites_.end(),
                       [&](const CallSite* other) { return call.shares_line(*other, caller); });
  }
  static std::string callers_of(const CallSite& call) {
    std::string text;
    std::size_t count = 0;
    for (const CallSite::Line& caller : call.callers()) {
      if (count++ == most_callers) break;
      text += (text.empty() ? "" : ", ") + caller.short_name();
    }
    return text;
  }
  /// The calls of a function so far.
  std::vector<CallSite> sites_of(const std::string& function) {
    std::vector<CallSite> sites;
    const std::lock_guard lock(mutex_);
    for (const CallSite* site : sites_) {
      const std::vector<std::string> functions = site->line().functions;
      if (std::find(functions.begin(), functions.end(), function) != functions.end()) {
        sites.push_back(*site);
      }
    }
    return sites;
  }

  std::mutex mutex_;
  std::map<CallSite, std::uint32_t> numbers_;
  std::vector<const CallSite*> sites_;
};

#ifdef __linux__

constexpr std::array<std::string_view, 14> calls_of_streams = {"cudaStreamCreate",
                                                               "cudaStreamCreateWithFlags",
                                                               "cudaStreamCreateWithPriority",
                                                               "cudaGraphLaunch",
                                                               "cudaMallocAsync",
                                                               "cudaMallocFromPoolAsync",
                                                               "cudaStreamBeginCapture",
                                                               "cuStreamCreate",
                                                               "cuStreamCreateWithPriority",
                                                               "cuGraphLaunch",
                                                               "cuMemAllocAsync",
                                                               "cuMemAllocFromPoolAsync",
                                                               "cuStreamBeginCapture",
                                                               "cuStreamBeginCapture_v2"};

/// The dynamic symbols of a loaded file. Undefined ones precede those in the hash table.
struct Symbols {
  const ElfW(Sym) * first = nullptr;
  const char* names = nullptr;
  std::size_t undefined = 0;
};

Symbols symbols_of(const dl_phdr_info& file) {
  Symbols symbols;
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    if (file.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(file.dlpi_addr + file.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const auto* const at = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_SYMTAB) symbols.first = reinterpret_cast<const ElfW(Sym)*>(at);
      if (entry->d_tag == DT_STRTAB) symbols.names = at;
      if (entry->d_tag == DT_GNU_HASH && entry->d_un.d_ptr > file.dlpi_addr) {
        symbols.undefined = reinterpret_cast<const std::uint32_t*>(at)[1];
      }
    }
  }
  return symbols;
}

int visit(dl_phdr_info* file, std::size_t /*bytes*/, void* found) {
  const std::string_view name = file->dlpi_name;
  // The libraries of `rung emu` call streams on behalf of the program.
  if (name.find("librung") != name.npos || name.starts_with("linux-vdso")) return 0;
  const Symbols symbols = symbols_of(*file);
  if (symbols.first == nullptr || symbols.names == nullptr) return 0;
  for (std::size_t i = 1; i < symbols.undefined; ++i) {
    if (symbols.first[i].st_shndx != SHN_UNDEF) continue;
    const std::string_view symbol = symbols.names + symbols.first[i].st_name;
    if (std::find(calls_of_streams.begin(), calls_of_streams.end(), symbol) ==
        calls_of_streams.end()) {
      continue;
    }
    *static_cast<bool*>(found) = true;
    return 1;
  }
  return 0;
}

#endif

}  // namespace

vgpu::ProgramSource& program_source() {
  static Source& source = *new Source;
  return source;
}

LaunchSite::LaunchSite(const CallSite& site) {
  // A launch in a header of a library is found by its caller in the program.
  const bool is_of_program = !site.known_file().empty() && !vgpu::is_of_system(site.known_file());
  launch_site = is_of_program ? &site : nullptr;
}
LaunchSite::~LaunchSite() { launch_site = nullptr; }

bool imports_streams() {
  bool found = false;
#ifdef __linux__
  dl_iterate_phdr(visit, &found);
#endif
  return found;
}

}  // namespace rung::emu
