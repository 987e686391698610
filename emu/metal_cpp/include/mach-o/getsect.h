#pragma once
// Files that the linker's option -sectcreate put into the program. rung-metal gives their start and end the
// names section$start$SEGMENT$SECTION and section$end$SEGMENT$SECTION, as Apple's linker does.

#include <cstdint>

#include "mach-o/loader.h"

#pragma GCC visibility push(default)
extern "C" {

/// The bytes of a section of the program, and their number. Null without such a section.
char* getsectdata(const char* segment, const char* section, unsigned long* size);
/// The same; the header is ignored.
std::uint8_t* getsectiondata(const mach_header_64* header, const char* segment, const char* section,
                             unsigned long* size);
/// The same, as an address that needs no slide.
const section_64* getsectbyname(const char* segment, const char* section);

}  // extern "C"
#pragma GCC visibility pop
