// Programs that are wrong: each ends with a report that says where, and never takes the tool along.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "emu_program.hpp"

namespace rung {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

EmuOutput run(const std::string& program, const std::string& options = "",
              const std::string& arguments = "") {
  return run_emu("faulty/" + program, options, arguments);
}

AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return AssertionSuccess();
  return AssertionFailure() << "no '" << part << "' in: " << text;
}

// One of its hazards is of this kind, and the running thread was here; exit code 1.
void expect_hazard(const EmuOutput& output, const std::string& kind, const std::string& source) {
  EXPECT_EQ(output.exit_code, 1);
  ASSERT_FALSE(output.json.is_null()) << output.err;
  auto hazards = output.json.at("hazards");
  for (const auto& kernel : output.json.at("kernels")) {
    for (const auto& hazard : kernel.at("hazards")) hazards.push_back(hazard);
  }
  bool is_found = false;
  for (const auto& hazard : hazards) {
    is_found = is_found || (hazard.at("kind") == kind && hazard.at("first").at("source") == source);
  }
  EXPECT_TRUE(is_found) << output.err;
  EXPECT_TRUE(contains(output.err, "\n" + kind + ": "));
  EXPECT_TRUE(contains(output.err, " found\n"));
}

TEST(Faulty, OutOfBounds) {
  const EmuOutput output = run("out_of_bounds.cu");
  expect_hazard(output, "out of bounds", "out_of_bounds.cu:4");
  EXPECT_EQ(output.out,
            "launch: cudaSuccess\nthen: cudaErrorIllegalAddress\ncopy: cudaErrorIllegalAddress\n");
}

// The hazard is in Rung's headers, and its line is that of the call.
TEST(Faulty, FunctionsOfCudasHeaders) {
  const EmuOutput barrier = run("in_headers.cu");
  expect_hazard(barrier, "trap", "in_headers.cu:11");
  EXPECT_TRUE(contains(barrier.err, "to do: launch the kernel with cudaLaunchCooperativeKernel"));
  EXPECT_EQ(barrier.out, "valid: 0\ncudaErrorAssert\n");
  // The host may read what a kernel that failed wrote.
  EXPECT_TRUE(contains(barrier.err, "rung emu: 1 hazard found"));
  const EmuOutput texture = run("in_headers.cu", "", "texture");
  expect_hazard(texture, "use after free", "in_headers.cu:15");
  EXPECT_TRUE(contains(texture.err, "from cudaCreateTextureObject at in_headers.cu:33, freed at "));
}

// A library's header names its line, and the program's lines that led there.
TEST(Faulty, CallersOfLibraries) {
  const EmuOutput output = run("in_headers.cu", "", "library");
  expect_hazard(output, "out of bounds", "copy.hpp:89");
  const std::string callers = " at copy.hpp:89, from in_headers.cu:19, in_headers.cu:22, ";
  EXPECT_TRUE(contains(output.err, callers));
  EXPECT_TRUE(contains(run("in_headers.cu", "-rdc=true", "library").err, callers));
}

// The lane that has the lock waits for those that try, and the launch ends.
TEST(Faulty, LanesThatTakeALockInTurn) {
  const std::array<std::array<const char*, 2>, 4> cases = {
      {{"spin", "13"}, {"bucket", "24"}, {"ticket", "30"}, {"turn", "36"}}};
  for (const auto& [name, line] : cases) {
    const EmuOutput output = run("lanes_in_turn.cu", "", name);
    expect_hazard(output, "deadlock", std::string("lanes_in_turn.cu:") + line);
    EXPECT_TRUE(contains(output.err, "lanes of the warp wait for each other")) << name;
  }
}

TEST(Faulty, CopiesOfMemoryThatNothingHasWritten) {
  const std::array<std::array<const char*, 2>, 4> cases = {
      {{"condition", "reads its condition, which has no default and which no kernel has set since"},
       {"wrong_buffer", "takes 4000 bytes of result that no kernel, copy or fill has written"},
       {"too_few_blocks", "4000 bytes of b, and no kernel, copy or fill has written the last 928"},
       {"no_thread_writes", "takes 4000 bytes of b that no kernel, copy or fill has written"}}};
  for (const auto& [name, text] : cases) {
    const EmuOutput output = run("unwritten_copies.cu", "", name);
    EXPECT_EQ(output.exit_code, 1) << name;
    std::string words = output.err;
    std::replace(words.begin(), words.end(), '\n', ' ');
    EXPECT_TRUE(contains(words, text)) << name;
  }
  for (const char* name : {"compacted", "border", "padding", "bandwidth", "condition_set"}) {
    EXPECT_EQ(run("unwritten_copies.cu", "", name).exit_code, 0) << name;
  }
}

// Each mutant breaks one rule of tcgen05 or TMA.
TEST(Faulty, MutantsOfTensorMemory) {
  expect_output("tensor_memory.cu", "0 wrong\n", "-arch=sm_100a");
  const std::array<std::string, 8> kinds = {"shared-memory race",       "shared-memory race",
                                            "access to data in flight", "access to data in flight",
                                            "wrong descriptor",         "wrong descriptor",
                                            "wrong descriptor",         "misuse of tensor memory"};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const EmuOutput output =
        run_emu("programs/tensor_memory.cu", "-arch=sm_100a", std::to_string(i + 1));
    EXPECT_EQ(output.exit_code, 1) << i + 1;
    EXPECT_TRUE(contains(output.err, "\n" + kinds[i] + ": ")) << i + 1;
  }
}

TEST(Faulty, SharedMemoryRace) { expect_hazard(run("race.cu"), "shared-memory race", "race.cu:5"); }

TEST(Faulty, RaceOfARemovedBarrier) {
  const EmuOutput output = run_emu("programs/tiled_matmul.cu", "-DWITHOUT_SECOND_BARRIER");
  EXPECT_TRUE(contains(output.err, "shared-memory race: "));
  EXPECT_EQ(output.exit_code, 1);
}

TEST(Faulty, InfiniteLoopEndsAtTheLimit) {
  const EmuOutput output = run("infinite_loop.cu", "--limit 100000");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.out, "cudaErrorLaunchTimeout\n");
  EXPECT_EQ(output.json.at("kernels").at(0).at("fault"), "instruction limit");
}

TEST(Faulty, DivergentBarrier) {
  expect_hazard(run("divergent_barrier.cu"), "barrier in divergent code", "divergent_barrier.cu:5");
}

TEST(Faulty, Leak) {
  const EmuOutput output = run("leak.cu", "--leak-check");
  expect_hazard(output, "leak", "leak.cu:5");
  EXPECT_TRUE(contains(output.err, "leak: 4096 bytes from cudaMalloc at leak.cu:5"));
  const EmuOutput tolerant = run("leak.cu");
  EXPECT_EQ(tolerant.exit_code, 0);
  EXPECT_TRUE(contains(tolerant.err, "leak: 4096 bytes from cudaMalloc at leak.cu:5"));
  EXPECT_TRUE(contains(tolerant.err, "1 leak (--leak-check) does not fail the program\n"));
}

constexpr const char* unordered_programs[] = {"unordered.cu", "unordered_pipelines.cu",
                                              "unordered_libraries.cu", "unordered_threads.cu",
                                              "dependent_launches.cu"};

// The lines of the program with the comment "unordered".
std::multiset<std::string> unordered_lines(const std::string& program) {
  std::ifstream file(RUNG_EMU_PROGRAMS "/faulty/" + program);
  std::multiset<std::string> lines;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with("// unordered")) lines.insert(fmt::format("{}:{}", program, number));
  }
  return lines;
}

TEST(Faulty, UnorderedOperations) {
  for (const std::string program : unordered_programs) {
    const EmuOutput output = run(program, "", "wrong");
    EXPECT_EQ(output.exit_code, 1);
    std::multiset<std::string> found;
    for (const auto& hazard : output.json.at("hazards")) {
      if (hazard.at("kind") == "unordered operations") found.insert(hazard["first"]["source"]);
    }
    EXPECT_EQ(found, unordered_lines(program)) << output.err;
  }
}

TEST(Faulty, OrderedOperations) {
  for (const std::string program : unordered_programs) {
    const EmuOutput output = run(program, "", "right");
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_EQ(output.out, "");
  }
}

TEST(Faulty, UnorderedOperationsAreNamedWithTheirStreams) {
  const EmuOutput output = run("unordered.cu", "", "wrong kernel_to_kernel");
  EXPECT_TRUE(contains(output.err, ", stream a) writes x; kernel add (unordered.cu:"));
  EXPECT_TRUE(contains(output.err, ", stream b) reads it; nothing orders them\n"));
  EXPECT_TRUE(contains(output.err, "let stream b wait for an event that stream a records after "));
  EXPECT_EQ(run("unordered.cu", "--no-order", "wrong kernel_to_kernel").exit_code, 0);
}

TEST(Faulty, DefaultStreamsOfThreads) {
  const std::string program = "unordered_threads.cu", option = "--default-stream per-thread";
  const EmuOutput wrong = run(program, option, "wrong null_streams");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong.err, ", the default stream of another thread) writes it;"));
  EXPECT_EQ(run(program, option, "right null_streams").exit_code, 0);
  EXPECT_EQ(run(program, "--default-stream legacy", "wrong null_streams").exit_code, 0);
}

TEST(Faulty, UnorderedOperationsOfOneLineAreNamedWithTheirCallers) {
  const EmuOutput output = run("unordered_threads.cu", "", "wrong helper");
  const std::string program = RUNG_EMU_PROGRAMS "/faulty/unordered_threads.cu";
  std::vector<int> calls;
  std::ifstream file(program);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("  launch_fill(")) calls.push_back(number);
  }
  ASSERT_EQ(calls.size(), 2u);
  for (const int call : calls) {
    EXPECT_TRUE(contains(output.err, fmt::format(", called at unordered_threads.cu:{}, ", call)));
  }
  EXPECT_TRUE(contains(output.err, "let another stream own wait for an event that stream own "));
}

// Programs with results that depend on the order.
EmuOutput schedules(const std::string& which, const std::string& options = "--schedule 8") {
  return run("schedules.cu", options, which);
}

TEST(Faulty, ResultsDependOnTheOrder) {
  for (const char* which : {"lost_update", "missing_barrier", "streams", "graph"}) {
    SCOPED_TRACE(which);
    const EmuOutput wrong = schedules(std::string("wrong ") + which);
    EXPECT_EQ(wrong.exit_code, 1) << wrong.err;
    EXPECT_TRUE(contains(wrong.err, "9 orders: the results differ\n  memory "));
    EXPECT_TRUE(contains(wrong.err, "\n  output in order"));
    EXPECT_EQ(wrong.json.at("schedule").at("same"), false);
    EXPECT_FALSE(contains(wrong.err, ", in order")) << "every order has the hazards";
    const EmuOutput right = schedules(std::string("right ") + which);
    EXPECT_EQ(right.exit_code, 0) << right.err;
    EXPECT_TRUE(contains(right.err, "9 orders: the results are the same\n"));
  }
}

TEST(Faulty, AnOrderIsRunAgainByItsSeed) {
  const EmuOutput all = schedules("wrong lost_update");
  int order = 0;
  std::string expected;
  for (const auto& difference : all.json.at("schedule").at("differences")) {
    if (difference.at("what") != "output") continue;
    order = difference.at("orders").at(0);
    expected = difference.at("detail");
  }
  ASSERT_GT(order, 0) << all.err;
  const EmuOutput once = schedules("wrong lost_update", fmt::format("--replay {}", order));
  EXPECT_EQ(once.exit_code, 1);
  EXPECT_EQ(expected,
            fmt::format("line 1: '{}' in place of '{}'", once.out.substr(0, once.out.find('\n')),
                        all.out.substr(0, all.out.find('\n'))));
}

TEST(Faulty, ResultsMayDependOnTheOrderWithoutAHazard) {
  const EmuOutput output = schedules("wrong last_writer");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_TRUE(contains(output.err, "9 orders: the results differ\n"));
}

TEST(Faulty, OrdersOfAProgramAreNumbers) {
  EXPECT_EQ(schedules("right", "--schedule 0").exit_code, 2);
  EXPECT_EQ(schedules("right", "--replay x").exit_code, 2);
  EXPECT_EQ(schedules("right", "--schedule 2 --replay 1").exit_code, 2);
}

TEST(Faulty, UninitialisedRead) {
  expect_hazard(run("uninitialised.cu"), "uninitialised read", "uninitialised.cu:2");
}

TEST(Faulty, UninitialisedVariable) {
  const EmuOutput output = run("uninitialised_variable.cu");
  expect_hazard(output, "uninitialised read", "uninitialised_variable.cu:7");
  EXPECT_TRUE(contains(output.err, "which is read at uninitialised_variable.cu:5 "));
}

EmuOutput access_by_host(const std::string& memory, const std::string& how = "read",
                         const std::string& handler = "none") {
  return run("host_access.cu", "-w", memory + " " + how + " " + handler);
}

TEST(Faulty, HostCodeAccessesNoDeviceMemory) {
  for (const char* memory : {"cudaMalloc", "cudaMallocAsync", "cudaMallocPitch", "cudaMalloc3D",
                             "cuMemAlloc", "variable"}) {
    const EmuOutput output = access_by_host(memory);
    SCOPED_TRACE(memory);
    expect_hazard(output, "host access", "host_access.cu:43");
    EXPECT_EQ(output.out, "");
    EXPECT_TRUE(contains(output.err, "ended by signal 11"));
    EXPECT_EQ(output.json.at("kernels").size(), 1u) << "what was launched before is reported";
  }
}

TEST(Faulty, WritesAndLibraryCallsOfHostCodeAreReportedWithTheProgramsLine) {
  expect_hazard(access_by_host("cudaMalloc", "write"), "host access", "host_access.cu:44");
  expect_hazard(access_by_host("cudaMalloc", "memcpy"), "host access", "host_access.cu:46");
  expect_hazard(access_by_host("cudaMalloc", "accumulate"), "host access", "host_access.cu:49");
  expect_hazard(access_by_host("cudaMalloc", "thread"), "host access", "host_access.cu:50");
  const EmuOutput written = access_by_host("cudaMalloc", "write");
  EXPECT_TRUE(contains(written.err,
                       "host access: write by the host at host_access.cu:44, allocation 1 of 256 "
                       "bytes + 12: the host cannot access device memory; copy it with cudaMemcpy, "
                       "or allocate it with cudaMallocManaged"));
}

TEST(Faulty, HostAccessesReachTheProgramsOwnHandlerAfterTheReport) {
  for (const char* when : {"early", "late"}) {
    const EmuOutput output = access_by_host("cudaMalloc", "read", when);
    EXPECT_EQ(output.exit_code, 7) << when;
    EXPECT_EQ(output.out, "the program's handler\n") << when;
    EXPECT_TRUE(contains(output.err, "host access: read by the host at host_access.cu:43")) << when;
  }
}

TEST(Faulty, ManagedAndPageLockedMemoryIsTheHostsToo) {
  for (const char* memory : {"cudaMallocManaged", "cudaMallocHost", "cudaHostRegister"}) {
    const EmuOutput output = access_by_host(memory);
    EXPECT_EQ(output.exit_code, 0) << memory << output.err;
    EXPECT_EQ(output.out, "3\n") << memory;
  }
}

EmuOutput call_that_fails(const std::string& which, const std::string& options = "") {
  return run("unchecked_calls.cu", options, which);
}

TEST(Faulty, CallsThatFailUncheckedAreHazards) {
  const auto expect_call = [](const std::string& which, const std::string& line,
                              const std::string& message) {
    SCOPED_TRACE(which);
    const EmuOutput output = call_that_fails(which);
    expect_hazard(output, "failed call", "unchecked_calls.cu:" + line);
    EXPECT_TRUE(contains(output.err, message));
    EXPECT_FALSE(contains(output.err, "calls that failed"));
  };
  expect_call(
      "launch", "26",
      "failed call: cudaErrorInvalidConfiguration: launch of fill at unchecked_calls.cu:26: "
      "blocks of 2048x1x1 = 2048 threads: 1 to 1024x1024x64 are allowed, and 1024 in all; no "
      "thread "
      "of fill<<<2, 2048>>>(x) runs, and the program does not call cudaGetLastError");
  expect_call("copy", "28",
              "failed call: cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice) at "
              "unchecked_calls.cu:28 returned cudaErrorInvalidValue, which the program ignores: "
              "8192 bytes at allocation 1 of 4096 bytes are not all in one allocation; allocation "
              "1 is x, from cudaMalloc at unchecked_calls.cu:25");
  expect_call("twice", "32",
              "double free: freed allocation 1 of 4096 bytes is not the beginning of an allocation "
              "of that kind; allocation 1 is x, from cudaMalloc at unchecked_calls.cu:25, freed at "
              "unchecked_calls.cu:31");
  expect_call("template", "18", "failed call: cudaFree(pointer) at");
  expect_call("macro", "40", "failed call: RELEASE(x) at");
  expect_call("driver", "42", "failed call: cuMemFree(1) at unchecked_calls.cu:42 returned CUDA_");
  expect_call("large", "43", "returned cudaErrorMemoryAllocation");
}

TEST(Faulty, MemoryIsNamedByItsVariable) {
  const auto expect_in_report = [](const std::string& which,
                                   std::initializer_list<const char*> parts) {
    const EmuOutput output = run("named_memory.cu", "", which);
    EXPECT_EQ(output.exit_code, 1) << which;
    for (const char* part : parts) EXPECT_TRUE(contains(output.err, part)) << which;
  };
  expect_in_report("second", {"out of bounds: ", " is y, from cudaMalloc at named_memory.cu:18"});
  expect_in_report("third", {"out of bounds: ", " is z, from cudaMalloc at named_memory.cu:18"});
  expect_in_report("null", {"null pointer: ", "parameter 1 of the kernel, from, is null",
                            "pass a pointer that cudaMalloc has set"});
  expect_in_report("host", {"host pointer: ", "parameter 2 of the kernel, to, is 0x"});
  expect_in_report("symbol", {"the copy of 100 bytes at offset 0 exceeds weights, which has 36"});
  expect_in_report("pitch", {"rows of 128 bytes do not fit into the destination's pitch of 64"});
}

TEST(Faulty, RemediesFitTheCause) {
  const auto expect_remedy = [](const EmuOutput& output, const char* message, const char* remedy) {
    EXPECT_EQ(output.exit_code, 1);
    EXPECT_TRUE(contains(output.err, message));
    EXPECT_TRUE(contains(output.err, remedy));
  };
  expect_remedy(call_that_fails("launch"), "2048x1x1 = 2048 threads",
                "to do: launch smaller blocks");
  expect_remedy(call_that_fails("copy"), "failed call", "to do: copy no more bytes than both");
  expect_remedy(call_that_fails("twice"), "double free", "to do: free the memory once");
  expect_remedy(run("wrong_indices.cu", "", "overflow"), "bytes past the end of the allocation",
                "to do: compute the index in 64 bits");
  for (const char* const kernel : {"return", "largest"}) {
    expect_remedy(run("wrong_indices.cu", "", kernel), "of them have exited",
                  "to do: let threads beyond the end store a neutral value");
  }
  expect_remedy(run("wrong_indices.cu", "", "recursion"),
                "at wrong_indices.cu:26: the thread's stack is full", "to do: end the recursion");
  expect_remedy(run("wrong_indices.cu", "", "counter"), "global-memory race: atomic",
                "to do: make the plain access an atomic");
  expect_remedy(run("wrong_indices.cu", "", "texture"), "at wrong_indices.cu:32, ",
                " is texture, from cudaCreateTextureObject at wrong_indices.cu:43, freed at "
                "wrong_indices.cu:44");
}

TEST(Faulty, CallsThatFailCheckedAreNone) {
  const EmuOutput output = call_that_fails("checked");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "cudaErrorInvalidConfiguration\ncudaErrorInvalidValue\n1\n");
  const EmuOutput allowed = call_that_fails("twice", "--allow-unchecked-errors");
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_TRUE(contains(allowed.err, "calls that failed\ncudaErrorInvalidValue: double free: "));
}

TEST(Faulty, ThreadsThatSkipABarrierOrAreNamedAndElsewhere) {
  struct Case {
    int which;
    const char* kind;
    int line;
  };
  for (const Case& wrong :
       {Case{1, "barrier in divergent code", 11}, Case{2, "barrier in divergent code", 16},
        Case{3, "barrier in divergent code", 21}, Case{4, "absent participant", 25},
        Case{5, "absent participant", 30}, Case{6, "absent participant", 32},
        Case{7, "absent participant", 34}, Case{8, "deadlock", 38},
        Case{9, "barrier in divergent code", 42}}) {
    const std::string which = fmt::format(" -DWHICH={}", wrong.which);
    SCOPED_TRACE(wrong.which);
    expect_hazard(run("skipped_sync.cu", "-O3" + which), wrong.kind,
                  fmt::format("skipped_sync.cu:{}", wrong.line));
    // Without optimisation, __shfl_sync and the like are functions, whose lines are not the program's.
    const EmuOutput plain = run("skipped_sync.cu", "-O0" + which);
    EXPECT_EQ(plain.exit_code, 1);
    EXPECT_TRUE(contains(plain.err, fmt::format("\n{}: ", wrong.kind)));
  }
  for (const int which : {10, 11, 12, 13, 14, 15, 16}) {
    const EmuOutput output = run("skipped_sync.cu", fmt::format("-DWHICH={}", which));
    EXPECT_EQ(output.exit_code, 0) << which << output.err;
    EXPECT_EQ(output.out, "cudaSuccess\n") << which;
  }
}

TEST(Faulty, FailedAssertion) {
  const EmuOutput output = run("failed_assertion.cu");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.out, "cudaErrorAssert\n");
}

TEST(Faulty, CompilerSaysWhatIsWrong) {
  const EmuOutput output = run("does_not_compile.cu");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.out, "");
  EXPECT_TRUE(contains(output.err, "does_not_compile.cu:1:47: error: "));
  EXPECT_TRUE(output.json.is_null());
}

TEST(Faulty, ACompilerThatThereIsNot) {
  const EmuOutput output = run("leak.cu", "--compiler gcc");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_TRUE(contains(output.err, "--compiler: 'gcc' is neither clang nor nvcc"));
}

TEST(Faulty, WhatIsNotHereIsMissingByName) {
  const EmuOutput call = run("missing_call.cu");
  EXPECT_EQ(call.exit_code, 1);
  EXPECT_TRUE(contains(call.err, "'cusparseHandle_t'"));
  const EmuOutput function = run("missing_function.cu");
  EXPECT_EQ(function.exit_code, 1);
  EXPECT_TRUE(contains(function.err, "device code calls j0f, which rung emu does not have"));
}

TEST(Faulty, ExitCodesAndSignalsAreTheProgramsOwn) {
  EXPECT_EQ(run("ends_badly.cu", "", "7").exit_code, 7);
  const EmuOutput aborted = run("ends_badly.cu", "", "-1");
  EXPECT_EQ(aborted.exit_code, 1);
  EXPECT_TRUE(contains(aborted.err, "the program was ended by signal 6"));
}

}  // namespace
}  // namespace rung
