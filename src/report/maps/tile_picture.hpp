#pragma once
// A block's tile of C as a picture: which warp and which thread computes which element.

#include <string>

#include "analysis/rung_trace/tile_map.hpp"
#include "report/figure.hpp"

namespace rung {

Figure draw_tile_map(std::string id, const TileMap& tile);

}  // namespace rung
