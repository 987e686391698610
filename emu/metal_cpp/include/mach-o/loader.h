#pragma once
// Parts of a program that mach-o/getsect.h names.

#include <cstdint>

struct mach_header_64 {
  std::uint32_t magic;
};
struct section_64 {
  char sectname[16], segname[16];
  std::uint64_t addr, size;
};
