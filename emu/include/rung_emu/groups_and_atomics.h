#pragma once
/* cooperative_groups.h with what CUDA's own includes of libcu++. */

#include <cooperative_groups.h>

#if __has_include(<cuda/atomic>)
#include <cuda/atomic>
#endif
