#pragma once
// The plots of a report. Each includes a table of its data, and is empty if there are no data.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/rung_trace/rung_trace.hpp"
#include "tools/report/figure.hpp"
#include "tools/report/study.hpp"

namespace rung {

/// Traces by id of the rung.
using Traces = std::map<std::string, RungTrace>;

/// The rate of every rung of the ladder for one problem, the rates of peers, and the ceiling.
std::optional<Figure> ladder_bars(const std::string& id, const Study& study);

/// The same rates over FLOP per byte of memory traffic. The traffic is that counted by the virtual
/// GPU if it has traced the rung; otherwise each operand counts once. After Williams, Waterman and
/// Patterson, "Roofline: An Insightful Visual Performance Model for Multicore Architectures", CACM
/// 52(4), 2009.
std::optional<Figure> roofline(const std::string& id, const Study& study, const Results& results,
                               const Traces& traces);

/// Rates over the size of square problems: of the library, its peers, and every rung.
std::optional<Figure> speed_by_size(const std::string& id, const Study& study);

/// The library compared with each peer at every shape, for several studies on one device.
std::optional<Figure> ratio_map(const std::string& id, const std::vector<const Study*>& studies);

/// The errors of the library in each compute mode and of its peers, over their rates, for one
/// problem. Empty unless the results have several modes or families.
std::optional<Figure> error_by_rate(const std::string& id,
                                    const std::vector<const Result*>& results);

/// The library compared with the fastest peer on random shapes, over FLOP per byte of their
/// operands.
std::optional<Figure> random_ratios(const std::string& id, const std::vector<RandomDraw>& draws);

}  // namespace rung
