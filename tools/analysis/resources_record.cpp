// Separate from its reader, because every change of a CUDA rung recompiles this file.

#include "core/embed.hpp"
#include "tools/analysis/resources.hpp"

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
