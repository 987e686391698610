#pragma once
// The plots of a report. Each includes a table of its figures, and is empty if there is nothing to
// show.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/rung_trace/rung_trace.hpp"
#include "report/figure.hpp"
#include "report/study.hpp"

namespace rung {

/// By id of the rung.
using Traces = std::map<std::string, RungTrace>;

/// The rate of every rung of the ladder at one problem, of its peers, and the ceiling.
std::optional<Figure> ladder_bars(const std::string& id, const Study& study);

/// The same rates over the FLOP per byte of memory traffic: as counted by the virtual GPU if it has
/// traced the rung, otherwise each operand once. After Williams, Waterman and Patterson, "Roofline:
/// An Insightful Visual Performance Model for Multicore Architectures", CACM 52(4), 2009.
std::optional<Figure> roofline(const std::string& id, const Study& study, const Results& results,
                               const Traces& traces);

/// Rates over the size of square problems: the library, its peers, and every rung.
std::optional<Figure> speed_by_size(const std::string& id, const Study& study);

/// The library against each peer at every shape, for several studies on one device.
std::optional<Figure> ratio_map(const std::string& id, const std::vector<const Study*>& studies);

/// The errors of the library in each compute mode, and of its peers, over their rates, for one
/// problem. Empty unless its results are of several modes or families.
std::optional<Figure> error_by_rate(const std::string& id,
                                    const std::vector<const Result*>& results);

/// The library against the fastest peer on random shapes, over the FLOP per byte of their operands.
std::optional<Figure> random_ratios(const std::string& id, const std::vector<RandomDraw>& draws);

}  // namespace rung
