#pragma once
/* Part of mma.h; the name is kept for programs that include it. */

#include "../mma.h"
