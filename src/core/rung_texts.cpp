#include "core/rung_texts.hpp"

#include "core/embed.hpp"
// By cmake/EmbedSources.cmake: the texts, and RUNG_TEXTS, their list.
#include "embedded_rungs.inc"

namespace rung {

std::span<const RungText> rung_texts() {
  static const RungText all[] = {RUNG_TEXTS};
  return all;
}

}  // namespace rung
