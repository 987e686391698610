#pragma once
// An exercise of `rung learn` as an HTML page: its task, its picture, a stepper of its solution,
// and hints that open one by one.

#include <string>
#include <utility>
#include <vector>

#include "tools/report/figure.hpp"
#include "tools/report/page/stepper.hpp"

namespace rung {

struct ExercisePage {
  struct Part {
    std::string text;
    bool is_drawn = false;  // preserves lines and blanks
  };
  struct Goal {
    std::string what, bound, value;  // value: of a checked file; may be empty
    bool is_met = false;
  };
  struct Hints {
    std::string when;  // "if results are wrong"
    std::vector<std::string> texts;
  };
  struct Source {
    std::string name, text;
  };

  std::string title;
  std::string commands;  // instructions for writing, checking, …; one per line
  std::vector<Part> task;
  std::vector<Goal> goals;
  std::vector<Figure> pictures;
  std::vector<Stepped> steps;  // of the solution, or of a learner's kernel and the solution
  std::vector<Hints> hints;
  std::vector<std::pair<std::string, std::string>> words;  // with their meanings
  Source start, solution;
  std::string found;  // result of checking a file; empty if none was checked
};

std::string exercise_page(const ExercisePage& page);

}  // namespace rung
