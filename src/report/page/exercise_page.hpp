#pragma once
// An exercise of `rung learn` as an HTML page: its task, its picture, steps through its solution, and
// hints that open one by one.

#include <string>
#include <utility>
#include <vector>

#include "report/figure.hpp"
#include "report/page/stepper.hpp"

namespace rung {

struct ExercisePage {
  struct Part {
    std::string text;
    bool is_drawn = false;  // its lines and blanks matter
  };
  struct Goal {
    std::string what, bound, value;  // value: of a file that was checked, or empty
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
  std::string commands;  // how to write, check, …; a line each
  std::vector<Part> task;
  std::vector<Goal> goals;
  std::vector<Figure> pictures;
  std::vector<Stepped> steps;  // of the solution; or of a learner's kernel and the solution
  std::vector<Hints> hints;
  std::vector<std::pair<std::string, std::string>> words;  // and their meaning
  Source start, solution;
  std::string found;  // what checking a file found; empty: none was checked
};

std::string exercise_page(const ExercisePage& page);

}  // namespace rung
