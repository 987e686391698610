#pragma once

#include "mach-o/loader.h"

#pragma GCC visibility push(default)
extern "C" const mach_header_64 _mh_execute_header;
#pragma GCC visibility pop
