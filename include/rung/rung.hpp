#pragma once
// The whole C++ interface.

#include "rung/batch.hpp"
#include "rung/block_scaled.hpp"
#include "rung/cuda.hpp"
#include "rung/dot.hpp"
#include "rung/epilogue.hpp"
#include "rung/epilogue_kinds.hpp"
#include "rung/error.hpp"
#include "rung/gemm.hpp"
#include "rung/grouped.hpp"
#include "rung/matrix.hpp"
#include "rung/mixed.hpp"
#include "rung/options.hpp"
#include "rung/threads.hpp"
#include "rung/types.hpp"
#include "rung/version.hpp"
#include "rung/weight_only.hpp"
