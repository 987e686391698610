// The tool as a process: termination by signals, temporary files, and files with odd names.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/temporary_folder.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

constexpr const char* spinning = RUNG_EMU_PROGRAMS "/faulty/runs_until_killed.cu";

/// Gives the tool an empty folder for its temporary files.
class EmuProcess : public testing::Test {
 protected:
  EmuProcess() { fs::create_directory(temporary()); }

  fs::path temporary() const { return folder_ / "tmp"; }

  /// Starts `rung emu WORDS` in the folder; its output goes to a pipe.
  void start(std::vector<const char*> words) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    child_ = fork();
    if (child_ == 0) {
      setenv("TMPDIR", temporary().c_str(), 1);
      if (chdir(folder_.c_str()) != 0) _exit(126);
      dup2(ends[1], STDOUT_FILENO);
      std::freopen((folder_ / "err").c_str(), "w", stderr);
      close(ends[0]);
      close(ends[1]);
      const char* const tool[] = {RUNG_PROGRAM, "emu"};
      words.insert(words.begin(), std::begin(tool), std::end(tool));
      words.push_back(nullptr);
      execv(RUNG_PROGRAM, const_cast<char**>(words.data()));
      _exit(127);
    }
    close(ends[1]);
    output_ = ends[0];
  }

  /// Reads a line, or the rest of the output, which ends once no process has the pipe open.
  std::string read_line() const {
    std::string line;
    char c = 0;
    while (read(output_, &c, 1) == 1) {
      line += c;
      if (c == '\n') break;
    }
    return line;
  }

  int wait() {
    std::string rest;
    do rest = read_line();
    while (!rest.empty());
    close(output_);
    int status = 0;
    waitpid(child_, &status, 0);
    return status;
  }

  const TemporaryFolder removed_{"rung_emu_process_"};
  const fs::path folder_ = removed_.path();
  pid_t child_ = 0;
  int output_ = -1;
};

TEST_F(EmuProcess, EndsByTheSignalThatItGetsAndLeavesNothing) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    std::signal(signal, SIG_DFL);  // a background job ignores SIGINT
    start({spinning});
    ASSERT_EQ(read_line(), "running\n");
    EXPECT_FALSE(fs::is_empty(temporary()));
    kill(child_, signal);
    const int status = wait();  // returns once the program has ended, too
    ASSERT_TRUE(WIFSIGNALED(status)) << signal;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_TRUE(fs::is_empty(temporary())) << signal;
  }
}

TEST_F(EmuProcess, NamesTheKernelThatASignalEnds) {
  start({spinning});
  ASSERT_EQ(read_line(), "running\n");
  kill(child_, SIGTERM);
  EXPECT_EQ(WTERMSIG(wait()), SIGTERM);
  std::ifstream file(folder_ / "err");
  const std::string err(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(err.find("the program was ended by signal 15 (Terminated), while spin ran for "),
            err.npos)
      << err;
  EXPECT_EQ(err.find("no kernel was launched"), err.npos) << err;
}

TEST_F(EmuProcess, IgnoresWhatItWasStartedToIgnore) {
  std::signal(SIGHUP, SIG_IGN);
  start({spinning});
  std::signal(SIGHUP, SIG_DFL);
  ASSERT_EQ(read_line(), "running\n");
  kill(child_, SIGHUP);
  kill(child_, SIGTERM);
  const int status = wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST_F(EmuProcess, TheProgramDoesNotOutliveTheTool) {
  start({spinning});
  ASSERT_EQ(read_line(), "running\n");
  kill(child_, SIGKILL);
  const int status = wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
}

TEST_F(EmuProcess, TakesFilesOfAnyName) {
  for (const char* const name : {"-dash.cu", "@at.cu", "a \"quote\" 'too'.cu", "two\nlines.cu",
                                 "latin\xe9.cu", "a,comma;$x.cu"}) {
    fs::copy_file(RUNG_EMU_PROGRAMS "/faulty/leak.cu", folder_ / name);
    start({"--leak-check", "--json", "report.json", "--", name});
    const int status = wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << name << ": " << status;
    std::ifstream file(folder_ / "report.json");
    const std::string json(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(json.find("\"leak\""), std::string::npos) << name << ": " << json;
    fs::remove(folder_ / "report.json");
  }
}

}  // namespace
}  // namespace rung
