#pragma once
/* Types of the CUDA Runtime API: names, values and fields of its documentation. Layouts are this
 * library's own, since both sides of every call are compiled with this header. */

/* As in the header of the vendor: programs ask for it. */
#define __DRIVER_TYPES_H__

#include <stddef.h>

#include "rung_emu/runtime/copies.h"
#include "rung_emu/runtime/device_attributes.h"
#include "rung_emu/runtime/flags.h"
#include "rung_emu/runtime/graphs.h"
#include "rung_emu/runtime/handles.h"
#include "rung_emu/runtime/launches.h"
#include "rung_emu/runtime/options.h"
#include "rung_emu/runtime/peers.h"
#include "rung_emu/runtime/pools.h"
#include "rung_emu/runtime/properties.h"
#include "rung_emu/runtime/resources.h"
#include "vector_types.h"
