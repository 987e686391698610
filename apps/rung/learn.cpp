// rung learn: exercises that the virtual GPU checks.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "arguments.hpp"
#include "choices.hpp"
#include "command_line.hpp"
#include "emu/process.hpp"
#include "emu/toolchain.hpp"
#include "learn/check.hpp"
#include "learn/glossary.hpp"
#include "learn/kernel_form.hpp"
#include "learn/metrics.hpp"
#include "learn/picture.hpp"
#include "report/maps/access_map.hpp"
#include "report/maps/tile_picture.hpp"
#include "report/table.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

struct LearnArguments {
  std::string exercise, file, word;
  std::string hints = "1";
  bool check = false, force = false, metal = false;
};

constexpr std::int64_t most_hints = 10;

ExitCode list_exercises(learn::Language language) {
  for (const learn::Exercise& exercise : learn::exercises(language)) {
    fmt::print("{}  {:<48}  {}\n", exercise.number, exercise.title, exercise.rung);
  }
  if (language == learn::Language::metal) {
    fmt::print(
        "\nrung learn 04 --metal           write exercise 04 to 04.metal\n"
        "rung learn 04 --metal --check   check 04.metal on the virtual GPU\n");
    return exit_right;
  }
  fmt::print(
      "\nrung learn 04           write exercise 04 to 04.cu\n"
      "rung learn 04 --check   check 04.cu on the virtual GPU\n"
      "rung learn --metal      list those in Metal\n");
  return exit_right;
}

ExitCode explain_word(const std::string& word) {
  const learn::Entry* entry = learn::find_word(word);
  if (entry == nullptr) {
    std::vector<std::string_view> known;
    for (const learn::Entry& of : learn::glossary()) known.push_back(of.word);
    throw UsageError(not_one_of("--word", word, known));
  }
  fmt::print("{}", wrap(entry->text, 0));
  return exit_right;
}

const learn::Exercise& read_exercise(const std::string& name, learn::Language language) {
  if (const auto* exercise = learn::find_exercise(name, language)) return *exercise;
  const std::vector<learn::Exercise>& known = learn::exercises(language);
  throw UsageError(fmt::format("EXERCISE: '{}' is not one of {} to {}{}; 'rung learn{}' lists them",
                               name, known.front().number, known.back().number,
                               language == learn::Language::metal ? " in Metal" : "",
                               language == learn::Language::metal ? " --metal" : ""));
}

void write_whole(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw UsageError(fmt::format("FILE: '{}' cannot be written", file.string()));
}

Figure draw(const learn::Picture& picture) {
  if (const auto* tile = std::get_if<TileMap>(&picture)) return draw_tile_map("picture", *tile);
  const auto& drawn = std::get<DrawnAccess>(picture);
  return access_map("picture", drawn.access, drawn.what + " at " + drawn.where);
}

/// Beside the exercise's file; an older one is kept.
void write_picture(const learn::Exercise& exercise, const fs::path& file, bool force) {
  if (fs::exists(file) && !force) return;
  try {
    const Figure figure = draw(learn::picture_of(exercise));
    write_whole(file, figure.picture.file());
    fmt::print("{}", wrap(fmt::format("{}: a picture of the solution at work: {}", file.string(),
                                      figure.title),
                          0));
  } catch (const emu::MissingTool& error) {
    fmt::print("{}: not drawn: {}\n", file.string(), error.what());
  }
}

ExitCode write_start(const learn::Exercise& exercise, const fs::path& file, bool force) {
  if (fs::exists(file) && !force) {
    throw UsageError(fmt::format("FILE: '{}' exists; --force overwrites it", file.string()));
  }
  write_whole(file, learn::start_text(exercise));
  const std::string as_is = exercise.number + exercise.suffix();
  fmt::print("{}: exercise {}, {}\nread and complete it, then: rung learn {}{}{} --check\n",
             file.string(), exercise.number, exercise.title, exercise.number,
             exercise.language == learn::Language::metal && file == as_is ? " --metal" : "",
             file == as_is ? "" : " " + file.string());
  write_picture(exercise, fs::path(file).replace_extension(".svg"), force);
  return exit_right;
}

void print_goals(const learn::CheckResult& result) {
  for (const learn::GoalResult& counted : result.goals) {
    fmt::print("{}  {:<54} {:>8.4g}  {} {:.4g}\n", counted.is_met() ? " " : "x",
               learn::metric(counted.goal.metric).description, counted.value,
               counted.goal.at_most ? "<=" : ">=", counted.goal.bound);
  }
}

void print_hints(const learn::Exercise& exercise, const learn::Finding& finding,
                 std::int64_t count) {
  const std::vector<std::string> hints = exercise.hints_for(finding.key);
  const auto shown = std::min(hints.size(), static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < shown; ++i) {
    fmt::print("{}", wrap(fmt::format("hint {} of {}: {}", i + 1, hints.size(), hints[i]), 0));
  }
  if (shown < hints.size()) fmt::print("--hint {} says more\n", shown + 1);
}

std::string sizes_text(const learn::Exercise& exercise) {
  const bool is_vector = learn::kernel_form(exercise.kernel).is_vector;
  std::string text;
  for (const learn::Size& size : exercise.sizes) {
    text += (text.empty() ? "" : ", ") + learn::to_string(size, is_vector);
  }
  return text;
}

/// Empty behind the last one.
std::string next_text(const learn::Exercise& exercise) {
  const std::vector<learn::Exercise>& all = learn::exercises(exercise.language);
  const auto at = std::ranges::find(all, exercise.number, &learn::Exercise::number);
  if (std::next(at) == all.end()) return "";
  return fmt::format("; next: rung learn {}{}", std::next(at)->number,
                     exercise.language == learn::Language::metal ? " --metal" : "");
}

ExitCode check(const learn::Exercise& exercise, const fs::path& file, std::int64_t hints) {
  if (!fs::is_regular_file(file)) {
    throw UsageError(fmt::format("FILE: '{}' is not a readable file; 'rung learn {}{}' writes one",
                                 file.string(), exercise.number,
                                 exercise.language == learn::Language::metal ? " --metal" : ""));
  }
  learn::CheckResult result;
  try {
    result = learn::check(exercise, file);
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  }
  fmt::print("exercise {}, {}: {}\n", exercise.number, exercise.title, file.string());
  if (!result.printed.empty()) fmt::print("{}", result.printed);
  if (!result.goals.empty()) {
    fmt::print("   right, without hazards, for {}\n", sizes_text(exercise));
  }
  print_goals(result);
  if (result.is_solved()) {
    fmt::print("solved; see also rung {}{}\n", exercise.rung, next_text(exercise));
    return exit_right;
  }
  const learn::Finding& first = result.findings.front();
  fmt::print("\n{}", wrap(first.text, 0));
  print_hints(exercise, first, hints);
  return exit_wrong;
}

ExitCode run(const LearnArguments& arguments) {
  const std::int64_t hints = read_integer("--hint", arguments.hints, 1, most_hints);
  if (!arguments.word.empty()) return explain_word(arguments.word);
  const bool is_metal = arguments.metal || arguments.file.ends_with(".metal");
  const learn::Language language = is_metal ? learn::Language::metal : learn::Language::cuda;
  if (arguments.exercise.empty()) {
    if (arguments.check)
      throw UsageError("EXERCISE: --check needs one, as in rung learn 04 --check");
    return list_exercises(language);
  }
  const learn::Exercise& exercise = read_exercise(arguments.exercise, language);
  const fs::path file =
      arguments.file.empty() ? exercise.number + exercise.suffix() : arguments.file;
  if (!arguments.check) {
    return emu::with_signals_held([&] { return write_start(exercise, file, arguments.force); });
  }
  return emu::with_signals_held([&] { return check(exercise, file, hints); });
}

}  // namespace

Action add_learn(Options& app) {
  auto arguments = std::make_shared<LearnArguments>();
  app.add_option("EXERCISE", arguments->exercise, "Its number or name; without one, list them")
      ->type_name("");
  app.add_option("FILE", arguments->file, "Your file (default: the number, as in 04.cu)")
      ->type_name("");
  app.add_flag("--check", arguments->check,
               "Verify your file on the virtual GPU, and hold it to the exercise's goals");
  app.add_option("--hint", arguments->hints, "Print the first N hints for what is wrong")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--metal", arguments->metal,
               "Of the exercises in Metal: kernels for Apple GPUs (default for a FILE.metal)");
  app.add_flag("--force", arguments->force, "Overwrite a file that exists");
  app.add_option("--word", arguments->word, "Explain a word, such as sector or bank")
      ->type_name("WORD");
  app.footer(
      "Without --check, writes the exercise to a file: a task, a picture and what to complete;\n"
      "and beside it, as SVG, what the solution does on the virtual GPU, with its figures.\n"
      "With it, compiles the file with clang, runs it at several sizes and counts on a virtual\n"
      "H200, for Metal on a virtual M1 Pro. It needs no GPU. The exit code is 0 if the exercise "
      "is\n"
      "solved, otherwise 1.\n"
      "The course in docs/course has a chapter for each exercise.\n\n"
      "Examples:\n"
      "  rung learn\n"
      "  rung learn 04\n"
      "  rung learn 04 --check\n"
      "  rung learn 04 --check --hint 2\n"
      "  rung learn 04 --metal\n"
      "  rung learn --word wavefront");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
