// rung learn: exercises that the virtual GPU checks.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>

#include "arguments.hpp"
#include "choices.hpp"
#include "command_line.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"
#include "learn_page.hpp"
#include "tools/learn/check.hpp"
#include "tools/learn/glossary.hpp"
#include "tools/learn/hint_memory.hpp"
#include "tools/learn/kernel_form.hpp"
#include "tools/learn/metrics.hpp"
#include "tools/report/output_file.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

struct LearnArguments {
  std::string exercise, file, word;
  std::string hints;  // how many; empty: one more at each check
  std::string html;
  bool check = false, force = false, metal = false, words = false;

  bool checks() const { return check || !hints.empty(); }
};

constexpr std::int64_t most_hints = 10;

/// Prints the exercises in order, with a heading where the dot products or the gemms begin.
void print_exercises(const std::vector<learn::Exercise>& exercises) {
  std::string op;
  for (const learn::Exercise& exercise : exercises) {
    const std::string next = exercise.rung.substr(0, exercise.rung.find('/'));
    if (!op.empty() && next != op) {
      fmt::print("\n{}\n", next == "gemm" ? "Products of matrices, each from the one before:"
                                          : "Dot products, for which 01 is enough:");
    }
    op = next;
    fmt::print("{}  {:<45}  {}\n", exercise.number, exercise.title, exercise.rung);
  }
}

ExitCode list_exercises(learn::Language language) {
  const std::vector<learn::Exercise>& all = learn::exercises(language);
  const bool is_metal = language == learn::Language::metal;
  const char* const option = is_metal ? " --metal" : "";
  print_exercises(all);
  const std::string command = fmt::format("rung learn 01{}", option);
  fmt::print("\n{:<36}  write exercise 01 to 01{}\n", command, all.front().suffix());
  fmt::print("{:<36}  check it on the virtual GPU\n", command + " --check");
  fmt::print("{:<36}  a page: picture, steps, hints\n", command + " --html 01.html");
  if (!is_metal) fmt::print("{:<36}  list those in Metal\n", "rung learn --metal");
  return exit_right;
}

ExitCode list_words() {
  for (const learn::Entry& entry : learn::glossary()) fmt::print("{}\n", entry.word);
  return exit_right;
}

ExitCode explain_word(const std::string& word) {
  const learn::Entry* entry = learn::find_word(word);
  if (entry == nullptr) {
    std::vector<std::string_view> known;
    for (const learn::Entry& of : learn::glossary()) known.push_back(of.word);
    throw UsageError(not_one_of("--word", word, known));
  }
  fmt::print("{}{}", wrap(entry->text, 0), wrap(learn::sources_of_words(), 0));
  return exit_right;
}

/// Finds an exercise by its number, its name or the name of its file, such as "04.cu".
const learn::Exercise& read_exercise(const std::string& name, learn::Language language) {
  const std::string stem = fs::path(name).stem().string();
  for (const std::string& known : {name, stem}) {
    if (const auto* exercise = learn::find_exercise(known, language)) return *exercise;
  }
  const std::vector<learn::Exercise>& known = learn::exercises(language);
  const bool is_metal = language == learn::Language::metal;
  throw UsageError(fmt::format("EXERCISE: '{}' is not one of {} to {}{}; 'rung learn{}' lists them",
                               name, known.front().number, known.back().number,
                               is_metal ? " in Metal" : "", is_metal ? " --metal" : ""));
}

/// The user's file: FILE, or EXERCISE if that is a file name such as 04.cu, or the default name.
fs::path file_of(const LearnArguments& arguments, const learn::Exercise& exercise) {
  if (!arguments.file.empty()) return arguments.file;
  const fs::path named = arguments.exercise;
  if (named.extension() == exercise.suffix()) return named;
  return exercise.number + exercise.suffix();
}

void write_whole(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw UsageError(fmt::format("FILE: '{}' cannot be written", file.string()));
}

/// Draws the solution's picture to `file`. An existing file is kept, unless `force`.
void write_picture(const learn::Exercise& exercise, const fs::path& file, bool force) {
  if (fs::exists(file) && !force) return;
  try {
    const Figure figure = draw_picture(exercise);
    write_whole(file, figure.picture.captioned_file(figure.note));
    fmt::print("{}", wrap(fmt::format("{}: a picture of the solution at work: {}", file.string(),
                                      figure.title),
                          0));
  } catch (const emu::MissingTool& error) {
    fmt::print("{}: not drawn: {}\n", file.string(), error.what());
  }
}

/// The command for this exercise. It includes the file unless that has the default name.
std::string command_for(const learn::Exercise& exercise, const fs::path& file) {
  if (file == exercise.number + exercise.suffix()) return learn_command(exercise);
  return fmt::format("rung learn {} {}", exercise.number, file.string());
}

ExitCode write_start(const learn::Exercise& exercise, const fs::path& file, bool force) {
  if (fs::exists(file) && !force) {
    throw UsageError(
        fmt::format("FILE: '{0}' exists; to check it: {1} --check; --force begins "
                    "again, and keeps it as '{0}.old'",
                    file.string(), command_for(exercise, file)));
  }
  if (fs::exists(file)) fs::rename(file, file.string() + ".old");
  write_whole(file, learn::start_text(exercise));
  learn::HintMemory(file).forget();
  fmt::print("{}: exercise {}, {}\nread and complete it, then: {} --check\n", file.string(),
             exercise.number, exercise.title, command_for(exercise, file));
  write_picture(exercise, fs::path(file).replace_extension(".svg"), force);
  return exit_right;
}

ExitCode write_page(const learn::Exercise& exercise, const std::string& name,
                    const OutputFile& page) {
  page.write(learn_page(exercise, nullptr));
  if (!page.is_stdout()) {
    fmt::print("{}: exercise {}, {}; open it in a browser\n", name, exercise.number,
               exercise.title);
  }
  return exit_right;
}

void print_goals(std::FILE* out, const learn::CheckResult& result) {
  for (const learn::GoalResult& counted : result.goals) {
    fmt::print(out, "{}  {:<54} {:>8.4g}  {} {:.4g}\n", counted.is_met() ? " " : "x",
               learn::metric(counted.goal.metric).description, counted.value,
               counted.goal.at_most ? "<=" : ">=", counted.goal.bound);
  }
}

/// `asked`: the number of hints, or 0 for one more than the last check gave for the same finding.
void print_hints(std::FILE* out, const learn::Exercise& exercise, const learn::Finding& finding,
                 const learn::HintMemory& memory, std::size_t asked) {
  const std::vector<std::string> hints = exercise.hints_for(finding.key);
  const std::size_t shown =
      std::min(hints.size(), asked > 0 ? asked : memory.told(finding.key) + 1);
  for (std::size_t i = 0; i < shown; ++i) {
    fmt::print(out, "{}", wrap(fmt::format("hint {} of {}: {}", i + 1, hints.size(), hints[i]), 0));
  }
  if (shown < hints.size()) fmt::print(out, "check again for one more\n");
  memory.remember(finding.key, shown);
}

std::string sizes_text(const learn::Exercise& exercise) {
  const bool is_vector = learn::kernel_form(exercise.kernel).is_vector;
  std::string text;
  for (const learn::Size& size : exercise.sizes) {
    text += (text.empty() ? "" : ", ") + learn::to_string(size, is_vector);
  }
  return text;
}

/// The command for the next exercise; empty after the last one.
std::string next_text(const learn::Exercise& exercise) {
  const std::vector<learn::Exercise>& all = learn::exercises(exercise.language);
  const auto at = std::ranges::find(all, exercise.number, &learn::Exercise::number);
  if (std::next(at) == all.end()) return "";
  return fmt::format("; next: rung learn {}{}", std::next(at)->number,
                     exercise.language == learn::Language::metal ? " --metal" : "");
}

learn::CheckResult checked(const learn::Exercise& exercise, const fs::path& file) {
  if (!fs::is_regular_file(file)) {
    throw UsageError(fmt::format("FILE: '{}' is not a readable file; '{}' writes one",
                                 file.string(), learn_command(exercise)));
  }
  try {
    return learn::check(exercise, file);
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  }
}

ExitCode check(const learn::Exercise& exercise, const fs::path& file, std::size_t hints,
               const std::optional<OutputFile>& page) {
  const learn::CheckResult result = checked(exercise, file);
  const CheckedFile found = {file, result};
  if (page) page->write(learn_page(exercise, &found));
  std::FILE* out = page && page->is_stdout() ? stderr : stdout;
  fmt::print(out, "exercise {}, {}: {}\n", exercise.number, exercise.title, file.string());
  if (!result.printed.empty()) fmt::print(out, "{}", result.printed);
  if (!result.goals.empty()) {
    const bool is_vector = learn::kernel_form(exercise.kernel).is_vector;
    fmt::print(out, "   right, without hazards, for {}; counted for {}:\n", sizes_text(exercise),
               learn::to_string(exercise.counted, is_vector));
  }
  print_goals(out, result);
  const learn::HintMemory memory(file);
  if (result.is_solved()) {
    fmt::print(out,
               "solved{}\nthe rung that you wrote: rung explain {}\nour solution, to compare: {} "
               "--html {}.html\n",
               next_text(exercise), exercise.rung, learn_command(exercise), exercise.number);
    memory.forget();
    return exit_right;
  }
  const learn::Finding& first = result.findings.front();
  fmt::print(out, "\n{}", wrap(first.text, 0));
  print_hints(out, exercise, first, memory, hints);
  return exit_wrong;
}

ExitCode run(const LearnArguments& arguments) {
  const std::int64_t hints =
      arguments.hints.empty() ? 0 : read_integer("--hint", arguments.hints, 1, most_hints);
  if (!arguments.word.empty()) return explain_word(arguments.word);
  if (arguments.words) return list_words();
  const bool is_metal = arguments.metal || arguments.file.ends_with(".metal") ||
                        arguments.exercise.ends_with(".metal");
  const learn::Language language = is_metal ? learn::Language::metal : learn::Language::cuda;
  if (arguments.exercise.empty()) {
    if (arguments.check) throw UsageError("EXERCISE: --check needs one: rung learn 01 --check");
    if (!arguments.html.empty())
      throw UsageError("EXERCISE: --html needs one: rung learn 01 --html 01.html");
    return list_exercises(language);
  }
  const learn::Exercise& exercise = read_exercise(arguments.exercise, language);
  const fs::path file = file_of(arguments, exercise);
  const auto page = read_output("--html", arguments.html);
  return emu::with_signals_held([&] {
    if (arguments.checks()) return check(exercise, file, static_cast<std::size_t>(hints), page);
    if (page) return write_page(exercise, arguments.html, *page);
    return write_start(exercise, file, arguments.force);
  });
}

std::vector<std::string> exercise_numbers() {
  std::vector<std::string> numbers;
  for (const learn::Exercise& exercise : learn::exercises()) numbers.push_back(exercise.number);
  return numbers;
}

}  // namespace

Action add_learn(Options& app) {
  auto arguments = std::make_shared<LearnArguments>();
  app.add_option("EXERCISE", arguments->exercise,
                 "Its number, name or file: 04, shared_tile, 04.cu; without one, list them")
      ->type_name("")
      ->offers(exercise_numbers);
  app.add_option("FILE", arguments->file, "Your file (default: the number, as in 04.cu)")
      ->type_name("");
  app.add_flag("--check", arguments->check,
               "Verify your file on the virtual GPU, and hold it to the exercise's goals; gives a "
               "hint,\none more at each check that finds the same");
  app.add_option("--hint", arguments->hints, "Check, and print the first N hints for what is wrong")
      ->type_name("N");
  app.add_option("--html", arguments->html,
                 "Write a page of the exercise: picture, steps of the solution, hints one by one;\n"
                 "with --check also your file's counts and steps; - for standard output")
      ->type_name("FILE");
  app.add_flag("--metal", arguments->metal,
               "Take the exercises in Metal, for Apple GPUs (default for a FILE.metal)");
  app.add_flag("--force", arguments->force,
               "Begin again: replace a file that exists, and keep it as FILE.old");
  app.add_option("--word", arguments->word, "Explain a word, such as sector or bank")
      ->type_name("WORD");
  app.add_flag("--words", arguments->words, "List the words that --word explains");
  app.footer(
      "Without --check, writes the exercise to a file: a task, a picture and what to complete;\n"
      "and beside it, as SVG, what the solution does on the virtual GPU, with its figures.\n"
      "With it, compiles the file with clang, runs it at several sizes and counts on a virtual\n"
      "H200, for Metal on a virtual M1 Pro. It needs no GPU. The exit code is 0 if the exercise "
      "is\n"
      "solved, otherwise 1.\n"
      "The course has a chapter for each exercise: course/, installed "
      "share/doc/rung/course.\n\n"
      "Examples:\n"
      "  rung learn\n"
      "  rung learn 04\n"
      "  rung learn 04 --check\n"
      "  rung learn 04.cu --check\n"
      "  rung learn 04 --html 04.html\n"
      "  rung learn 04 --metal\n"
      "  rung learn --word wavefront");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
