#pragma once
// The tables of README.md and docs/*.md, in Markdown, from results of `rung bench`.

#include <array>
#include <string>
#include <string_view>

#include "tools/report/bench_results.hpp"

namespace rung {

/// The kinds of tables:
/// - machine: a paragraph about the machine and its peers;
/// - ladder: every rung, at the largest square size at which each of them was timed;
/// - library: the library's choice at every size, against each peer;
/// - reading: the library on matrix times vector, beside the rate of reading from DRAM;
/// - summary: for each file, the geometric mean over its sizes against each peer;
/// - products: every product of the library against each peer and, where it has an epilogue, scales or
///   packed weights, against the plain product of the rung that was timed beside it; for packed
///   weights, its rate of reading as a share of that of reading alone;
/// - headline: for each of five types, the library at 4096³ and 8192³, newest measurement first, beside
///   its random shapes in all layouts, against the fastest peer of each;
/// - random: draws of `rung bench --random`, by type, number of threads and largest size, or on a GPU by
///   type and layout.
inline constexpr std::array<std::string_view, 8> markdown_kinds = {
    "machine", "ladder", "library", "reading", "summary", "products", "headline", "random"};

/// True if a table of this kind is made from several files.
bool takes_several_files(std::string_view kind);

/// Throws std::runtime_error if the results lack what the table shows.
std::string markdown_table(std::string_view kind, const Results& results);

}  // namespace rung
