#include "core/rung_texts.hpp"

#include "core/embed.hpp"
// cmake/EmbedSources.cmake generates the texts and RUNG_TEXTS, a list of them.
#include "embedded_rungs.inc"

namespace rung {

std::span<const RungText> rung_texts() {
  static const RungText all[] = {RUNG_TEXTS};
  return all;
}

}  // namespace rung
