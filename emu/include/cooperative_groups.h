#pragma once
// Groups of threads that work together (CUDA C++ Programming Guide, "Cooperative Groups"): the
// block, tiles of it, the threads of a warp that are together, the grid.

/* As in the header of the vendor: programs ask for it. */
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

// In the order in which they use each other. Reports name the line that calls one of these.
// clang-format off
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
#include "rung_emu/groups/shuffles.h"
#include "rung_emu/groups/block.h"
#include "rung_emu/groups/coalesced.h"
#include "rung_emu/groups/tile.h"
#include "rung_emu/groups/any_group.h"
#include "rung_emu/groups/partition.h"
#include "rung_emu/groups/grid.h"
#pragma clang attribute pop
// clang-format on
