#pragma once
/* The CUDA Driver API, as far as the virtual GPU has it: names, values and layouts of its
 * documentation. A call that is missing here is missing by its name. */

/* As in the header of the vendor: programs ask for it. */
#define __cuda_cuda_h__
#define CUDAAPI
#define CUDA_CB

#include "rung_emu/driver/arrays.h"
#include "rung_emu/driver/calls.h"
#include "rung_emu/driver/flags.h"
#include "rung_emu/driver/libraries.h"
#include "rung_emu/driver/other_calls.h"
#include "rung_emu/driver/virtual_memory.h"
#include "rung_emu/version.h"

#ifndef RUNG_EMU_WITHOUT_VERSIONS /* in the runtime library, whose table of calls has such names */
#include "rung_emu/driver/versions.h"
#endif
