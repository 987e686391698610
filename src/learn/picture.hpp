#pragma once
// What the picture of an exercise shows, as its solution does it on the virtual GPU: the statement
// `picture:` of an exercise.

#include <string>
#include <variant>

#include "analysis/rung_trace/drawn_access.hpp"
#include "analysis/rung_trace/tile_map.hpp"
#include "learn/exercise.hpp"

namespace rung::learn {

/// `picture: tile`: which warp and which thread of a block store which elements of its tile of C.
/// `picture: TEXT`: of the accesses in the first line of the solution that contains TEXT, the one with
/// the most waste, as the lanes of the first warp make it.
using Picture = std::variant<TileMap, DrawnAccess>;

/// Compiles and runs the solution. Throws emu::MissingTool without clang, and std::invalid_argument
/// if there is no such access, which a test excludes.
Picture picture_of(const Exercise& exercise);

}  // namespace rung::learn
