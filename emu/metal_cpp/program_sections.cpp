// Files in the program (mach-o/getsect.h), and the program's path.

#include <dlfcn.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>

#include "mach-o/dyld.h"
#include "mach-o/getsect.h"
#include "mach-o/ldsyms.h"

namespace {

char* symbol(const char* end, const char* segment, const char* section) {
  const std::string name = std::string("section$") + end + "$" + segment + "$" + section;
  return static_cast<char*>(dlsym(RTLD_DEFAULT, name.c_str()));
}

}  // namespace

extern "C" {

const mach_header_64 _mh_execute_header = {0xFEEDFACF};

char* getsectdata(const char* segment, const char* section, unsigned long* size) {
  char* const start = symbol("start", segment, section);
  char* const end = symbol("end", segment, section);
  *size = start == nullptr ? 0 : static_cast<unsigned long>(end - start);
  return start;
}

std::uint8_t* getsectiondata(const mach_header_64* /*header*/, const char* segment,
                             const char* section, unsigned long* size) {
  return reinterpret_cast<std::uint8_t*>(getsectdata(segment, section, size));
}

const section_64* getsectbyname(const char* segment, const char* section) {
  static std::mutex mutex;
  static std::deque<section_64> found;  // results stay where they are
  unsigned long size = 0;
  const char* const start = getsectdata(segment, section, &size);
  if (start == nullptr) return nullptr;
  const std::lock_guard lock(mutex);
  section_64& result = found.emplace_back();
  std::strncpy(result.sectname, section, sizeof result.sectname - 1);
  std::strncpy(result.segname, segment, sizeof result.segname - 1);
  result.addr = reinterpret_cast<std::uint64_t>(start);
  result.size = size;
  return &result;
}

int _NSGetExecutablePath(char* path, std::uint32_t* size) {
  const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
  if (*size <= own.size()) {
    *size = static_cast<std::uint32_t>(own.size() + 1);
    return -1;
  }
  std::memcpy(path, own.c_str(), own.size() + 1);
  return 0;
}

std::intptr_t _dyld_get_image_vmaddr_slide(std::uint32_t /*image*/) { return 0; }

}  // extern "C"
