#include "tools/report/page/stepper.hpp"

#include <fmt/format.h>

#include "core/embed.hpp"
#include "tools/report/json.hpp"
#include "tools/report/lines.hpp"
#include "tools/report/page/html.hpp"

RUNG_EMBED(rung_stepper_style, RUNG_STEPPER_STYLE)
RUNG_EMBED(rung_stepper_script, RUNG_STEPPER_SCRIPT)

namespace rung {
namespace {

/// Escapes "<", which could end a script element.
std::string in_script(const std::string& json) {
  std::string text;
  for (const char c : json) text += c == '<' ? "\\u003c" : std::string(1, c);
  return text;
}

std::string data_of(const Stepped& kernel) {
  Json source = Json::array();
  for (const std::string_view line : lines_of(kernel.source)) source.push_back(std::string(line));
  return fmt::format("{{\"file\":{},\"source\":{},\"trace\":{}}}", dump(kernel.file), dump(source),
                     kernel.trace);
}

constexpr const char* controls = R"(<div class="controls" role="group" aria-label="Steps">
<label>Warp <select></select></label>
<button type="button" data-go="first" aria-label="First step">|◀</button>
<button type="button" data-go="back" aria-label="Step back">◀</button>
<button type="button" data-go="next" aria-label="Next step">▶</button>
<button type="button" data-go="last" aria-label="Last step">▶|</button>
<input type="range" min="0" value="0" aria-label="Step">
<label><input type="checkbox"> only accesses</label>
</div>
<p class="said" role="status" aria-live="polite"></p>
)";

constexpr const char* panes = R"(<div class="panes">
<div>
<pre class="code" tabindex="0" aria-label="Source around the step"></pre>
<p class="note elsewhere"></p>
<p class="note sample"></p>
</div>
<div>
<h4>Lanes</h4>
<div class="lanes" role="img" aria-label="Lanes"></div>
<h4>Memory</h4>
<p class="note memory-title"></p>
<div class="memory" role="img" aria-label="Memory"></div>
<div class="tiles">
<h4>Tiles in shared memory</h4>
<p class="note"><span class="filled"></span>. A cell has <span class="cell-bytes"></span>:
<span class="term"><span class="key new"></span> written since the last barrier,</span>
<span class="term"><span class="key old"></span> before,</span>
<span class="term"><span class="key read"></span> read by this step.</span></p>
<div class="cells" aria-hidden="true"></div>
<h4>Shared memory in time</h4>
<p class="note">Steps from left to right, byte 0 at the top:
<span class="term"><span class="key new"></span> written by the block,</span>
<span class="term"><span class="key read"></span> read by this warp,</span>
<span class="term"><span class="key wait"></span> barriers,</span>
<span class="term"><span class="key now"></span> now.</span></p>
<svg class="time" preserveAspectRatio="none" aria-hidden="true"></svg>
</div>
</div>
</div>
)";

std::string stepper(const Stepped& kernel, std::size_t number) {
  return fmt::format(
      "<div class=\"stepper\" id=\"stepper{}\" role=\"region\" aria-label=\"Steps of {}\">\n"
      "<h3>{}</h3>\n<p class=\"soft\">{}</p>\n{}{}"
      "<script type=\"application/json\">{}</script>\n</div>\n",
      number, html::escape(kernel.name), html::escape(kernel.name), html::escape(kernel.problem),
      controls, panes, in_script(data_of(kernel)));
}

}  // namespace

std::string steppers(const std::vector<Stepped>& kernels) {
  std::string html = html::paragraph(
      "A block on the virtual GPU, instruction by instruction. Step with the buttons, the arrow "
      "keys, "
      "Home and End. The virtual GPU runs one warp until it waits, and shared memory shows what it "
      "had run of all warps by then.");
  html +=
      "<noscript><p>Stepping needs JavaScript; everything else of this page does not.</p>"
      "</noscript>\n";
  if (kernels.size() > 1) {
    html +=
        "<p class=\"together\"><label><input type=\"checkbox\"> step both together</label></p>\n";
  }
  html += fmt::format("<div class=\"steppers {}\">\n", kernels.size() > 1 ? "two" : "one");
  for (std::size_t i = 0; i < kernels.size(); ++i) html += stepper(kernels[i], i + 1);
  return html + "</div>\n";
}

std::string stepper_script() {
  return fmt::format("<script>\n{}</script>\n", RUNG_EMBEDDED(rung_stepper_script));
}

std::string_view stepper_style() { return RUNG_EMBEDDED(rung_stepper_style); }

}  // namespace rung
