#pragma once
// A picture of a block's tile of C: the warp and thread that compute each element.

#include <string>

#include "tools/analysis/rung_trace/tile_map.hpp"
#include "tools/report/figure.hpp"

namespace rung {

Figure draw_tile_map(std::string id, const TileMap& tile);

}  // namespace rung
