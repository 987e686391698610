#pragma once
#pragma clang system_header
// Metal's standard library for clang: the second half of the front end in emu/compile/metal. Names
// and semantics follow the Metal Shading Language Specification, version 3.2. Vectors are clang's
// ext_vector_type; the front end rewrites their constructors to rung_detail::make().

// clang-format off: in the order in which they use each other
#include "types.h"
#include "traits.h"
#include "vectors.h"
#include "limits.h"
#include "packed.h"
#include "math.h"
#include "common.h"
#include "integer.h"
#include "relational.h"
#include "geometric.h"
#include "matrix.h"
#include "pack.h"
#include "barriers.h"
#include "atomic.h"
#include "positions.h"
#include "simd.h"
#include "simdgroup_matrix.h"
#include "texture.h"
#include "declared_only.h"
#include "names.h"
#include "builtins.h"
#include "entry.h"
// clang-format on
