#pragma once
// Bytes of a page of this machine.

#include <unistd.h>

inline const unsigned long vm_page_size = static_cast<unsigned long>(::sysconf(_SC_PAGESIZE));
