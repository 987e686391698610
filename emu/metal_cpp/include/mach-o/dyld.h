#pragma once
// The running program.

#include <cstdint>

#include "mach-o/loader.h"

#pragma GCC visibility push(default)
extern "C" {

/// Copies the program's path to `path`, which has `*size` bytes. Returns -1 if it needs more, and sets
/// `*size` to their number.
int _NSGetExecutablePath(char* path, std::uint32_t* size);
/// 0: section_64::addr is an address of the running program.
std::intptr_t _dyld_get_image_vmaddr_slide(std::uint32_t image);

}  // extern "C"
#pragma GCC visibility pop
