#pragma once
// The sections of a report's page, as HTML.

#include <cstdint>
#include <string>
#include <vector>

#include "core/rung.hpp"
#include "tools/report/bench_results.hpp"
#include "tools/report/plots/plots.hpp"
#include "tools/report/study.hpp"
#include "vgpu/lines.hpp"

namespace rung {

/// One paragraph per study: the speedup over the ladder, and the library compared with its peers.
std::string summary_section(const std::vector<Study>& studies, const Results& results);

/// Tables and plots of one study. `number` makes the ids of its figures unique.
std::string study_section(const Study& study, std::size_t number, const Results& results,
                          const Traces& traces);
std::vector<Figure> study_figures(const Study& study, const std::string& prefix,
                                  const Results& results, const Traces& traces);

/// The studies of one device and operation, whose libraries are compared in one picture.
std::vector<std::vector<const Study*>> by_device(const std::vector<Study>& studies);

/// Errors and rates of compute modes for each problem with measured errors; empty if there is no
/// such problem.
std::string error_section(const Results& results);
/// One figure per problem; ids begin with `prefix`.
std::vector<Figure> error_figures(const Results& results, const std::string& prefix);

/// The random shapes of each device; empty if no shape was compared with a peer.
std::string random_section(const Results& results);
/// One figure per device.
std::vector<Figure> random_figures(const Results& results, const std::string& prefix);

/// The targets of links to other rungs: sections of the same page, or separate pages.
enum class RungLinks : std::uint8_t { sections, pages };

/// The header comment, the measurements, the virtual GPU's results, and the source with counters
/// per line. `known`: the rungs that have a section or page.
std::string rung_section(const RungInfo& rung, const std::vector<const RungInfo*>& known,
                         const std::vector<Study>& studies, const Traces& traces, RungLinks links);
/// Lines with only line numbers.
std::string source_section(const std::string& name, std::string_view source);
/// With the counters of each line of `file`, as the source of a rung has them; without counters if
/// `lines` is empty.
std::string source_section(const std::string& name, std::string_view source,
                           const std::string& file, const std::vector<vgpu::LineCounters>& lines);
/// "rung-gemm-cuda-00_naive"
std::string rung_anchor(std::string_view id);
/// "gemm-cuda-00_naive.html"
std::string rung_page(std::string_view id);

/// The rungs of the catalog that were measured, in ladder order.
std::vector<const RungInfo*> measured_rungs(const Results& results);
/// "Rung: NVIDIA H200", with all devices of the results.
std::string report_title(const std::vector<Study>& studies, const Results& results);
/// The library compared with each peer at every shape; empty if there is nothing to compare.
std::string shapes_section(const std::vector<Study>& studies);

/// A complete page. `header` is placed between the heading and the contents.
std::string whole_page(const std::string& title, const std::string& header,
                       const std::string& contents);

std::string machine_section(const Results& results);
std::string method_section();

}  // namespace rung
