#pragma once
// The two forms of what `rung bench --json FILE` writes. A JSON document:
//
//   {"machine": {…}, "command": "…", "results": […]}
//   {"machine": {…}, "results": [], "random": {…, "draws": […], "plans": […]}}     with --random
//
// Or, if the name of FILE ends in .jsonl, JSON Lines: a header, then one measurement per line, with
// eight significant digits.
//
//   {"machine": {…}, "command": "…", "common": {…}}       common: the members that all results share
//   {"rung": "gemm/cpu/03_packed", "m": 512, …}
//
// With --random the header has "random", and the lines are draws; plans have "record": "plan".
// Files of JSON Lines may be concatenated: each header begins another run.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/reader.hpp"

namespace rung {

/// Reads both forms. Places in messages are "x.json: results[3]" or "x.jsonl: line 5".
class BenchFile {
 public:
  static BenchFile of_document(json::Json document, std::string name);
  /// A run of JSON Lines, without its measurements yet. Throws json::ReadError for a wrong "common".
  static BenchFile of_header(json::Json header, std::string name);
  /// Adds a measurement: the members that all share, and those of the line.
  void add_line(int number, json::Json line);

  /// The values below refer to this object. They throw json::ReadError.
  /// The document, or the header of JSON Lines.
  json::Value head() const { return {head_, name_}; }
  std::vector<json::Value> results() const;
  /// The draws of `rung bench --random`.
  std::vector<json::Value> draws() const;

  const std::string& name() const { return name_; }

 private:
  BenchFile(json::Json head, std::string name, bool has_lines);

  struct Line {
    int number;
    json::Json json;
  };

  std::vector<json::Value> values_of_lines() const;

  std::string name_;
  json::Json head_;
  bool has_lines_;
  std::vector<Line> lines_;
};

/// The runs of a file, in order: one, or as many as files were concatenated. `name` is for messages. Throws
/// json::ReadError for text that is not JSON.
std::vector<BenchFile> bench_files(std::string_view text, const std::string& name);

/// True if the bench writes JSON Lines to this path.
bool is_lines_file(std::string_view path);

/// A record as a line, numbers with eight significant digits.
std::string line_of(const json::Json& record);

/// A document of results, in the form for JSON Lines.
std::string lines_of(const json::Json& document);

}  // namespace rung
