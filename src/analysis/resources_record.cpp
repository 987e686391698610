// Separate from its reader, because every change of a CUDA rung recompiles it.

#include "analysis/resources.hpp"
#include "core/embed.hpp"

#ifdef RUNG_RESOURCES
RUNG_EMBED(rung_cuda_resources, RUNG_RESOURCES)
#endif

namespace rung::analysis {

std::string_view resources_record() {
#ifdef RUNG_RESOURCES
  return RUNG_EMBEDDED(rung_cuda_resources);
#else
  return "[]";
#endif
}

}  // namespace rung::analysis
