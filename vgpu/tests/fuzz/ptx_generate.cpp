// Runs generated PTX: ptx_generate [--cases N] [--seed S] [--print] [--tell] FILE...
// PTX modules among the files feed the generator. Each case runs in this process, under its
// sanitizers. --print prints the cases instead of running them, --tell prints each case's error.
// Standard output counts the outcomes of the cases; the text of a failed case goes to standard
// error.

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "vgpu/tests/fuzz/ptx_case.hpp"
#include "vgpu/tests/fuzz/ptx_generator.hpp"

namespace {

using namespace rung::vgpu;

constexpr unsigned seconds_for_a_case = 20;
std::string text_at_work;  // with the number of the case in a comment

void show_text() {
  if (write(STDERR_FILENO, text_at_work.data(), text_at_work.size()) < 0) return;
}

extern "C" void show_text_and_exit(int) {
  show_text();
  _exit(1);
}

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// Defined by the sanitizers' runtime, where the program is linked with it.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

int main(int count, char** arguments) {
  std::uint64_t cases = 1000, seed = 1;
  bool print = false, tell = false;
  std::vector<std::string> texts;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--cases" && i + 1 < count) {
      cases = std::strtoull(arguments[++i], nullptr, 10);
    } else if (argument == "--seed" && i + 1 < count) {
      seed = std::strtoull(arguments[++i], nullptr, 10);
    } else if (argument == "--print") {
      print = true;
    } else if (argument == "--tell") {
      tell = true;
    } else {
      texts.push_back(read_file(arguments[i]));
    }
  }
  for (const int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGALRM})
    std::signal(signal, show_text_and_exit);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(show_text);
  PtxGenerator generator(texts);
  std::array<std::uint64_t, 5> outcomes{};
  for (std::uint64_t i = 0; i < cases; ++i) {
    text_at_work = "// case " + std::to_string(seed + i) + "\n" + generator.make(seed + i);
    if (print) {
      std::fputs(text_at_work.c_str(), stdout);
      continue;
    }
    alarm(seconds_for_a_case);
    const PtxCase result = run_ptx_case(text_at_work);
    if (tell)
      std::printf("case %llu: %s\n", static_cast<unsigned long long>(seed + i),
                  result.message.c_str());
    ++outcomes[static_cast<std::size_t>(result.outcome)];
    if (result.violation.empty()) continue;
    std::fprintf(stderr, "%s\n", result.violation.c_str());
    show_text_and_exit(0);
  }
  if (print) return 0;
  std::printf(
      "%llu not parsed, %llu not loaded, %llu not launched, %llu faulted, %llu finished\n",
      static_cast<unsigned long long>(outcomes[0]), static_cast<unsigned long long>(outcomes[1]),
      static_cast<unsigned long long>(outcomes[2]), static_cast<unsigned long long>(outcomes[3]),
      static_cast<unsigned long long>(outcomes[4]));
}
