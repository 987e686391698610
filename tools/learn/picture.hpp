#pragma once
// The picture of an exercise: shows the execution of its solution on the virtual GPU, as selected
// by the statement `picture:`.

#include <string>
#include <variant>

#include "tools/analysis/rung_trace/drawn_access.hpp"
#include "tools/analysis/rung_trace/tile_map.hpp"
#include "tools/learn/exercise.hpp"

namespace rung::learn {

/// `picture: tile`: the elements of a block's tile of C that each warp and thread stores.
/// `picture: TEXT`: of the accesses in the first line of the solution that contains TEXT, the least
/// efficient, by lanes of the first warp.
using Picture = std::variant<TileMap, DrawnAccess>;

/// Compiles and runs the solution. Throws emu::MissingTool if clang is not installed, and
/// std::invalid_argument if there is no such access, which a test rules out.
Picture picture_of(const Exercise& exercise);

}  // namespace rung::learn
