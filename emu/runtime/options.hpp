#pragma once
// Options that the tool passes to the program, as environment variables, so that a program that was
// kept can be run again by hand with the same options. Users set those of rung-nvcc's programs.

namespace rung::emu {

inline constexpr const char* gpu_variable = "RUNG_EMU_GPU";          // as --gpu: "h200"
inline constexpr const char* check_variable = "RUNG_EMU_CHECK";      // "0": no counters, no hazards
inline constexpr const char* threads_variable = "RUNG_EMU_THREADS";  // CPU threads
inline constexpr const char* ci_variable = "RUNG_EMU_CI";        // 1: observe few repeated launches
inline constexpr const char* limit_variable = "RUNG_EMU_LIMIT";  // warp instructions per launch
inline constexpr const char* devices_variable = "RUNG_EMU_DEVICES";    // how many
inline constexpr const char* launches_variable = "RUNG_EMU_LAUNCHES";  // of each kernel that run
inline constexpr const char* lines_variable = "RUNG_EMU_LINES";        // "1": counters by line too
inline constexpr const char* sites_variable = "RUNG_EMU_SITES";        // "1": by instruction too
inline constexpr const char* footprint_variable = "RUNG_EMU_FOOTPRINT";  // "1": of accesses
inline constexpr const char* steps_variable = "RUNG_EMU_STEPS";          // "1": of some warps
inline constexpr const char* report_variable = "RUNG_EMU_REPORT";        // the file for records
// "1": a record in that file for each launch, however often a kernel repeats
inline constexpr const char* each_launch_variable = "RUNG_EMU_EACH_LAUNCH";

// Seed of a random order of blocks, warps and operations; 0: the usual order. With it, digests of
// device memory are reported when it is freed.
inline constexpr const char* schedule_variable = "RUNG_EMU_SCHEDULE";
inline constexpr const char* order_variable = "RUNG_EMU_ORDER";  // "0": operations are not ordered

// Variables of a program without a report file, which prints its hazards at its end. They are options of
// `rung emu` of the same names. In paths, %p is the process id.
inline constexpr const char* leak_check_variable = "RUNG_EMU_LEAK_CHECK";  // "1"
// "1": calls that fail unchecked are no hazards
inline constexpr const char* allow_unchecked_errors_variable = "RUNG_EMU_ALLOW_UNCHECKED_ERRORS";
inline constexpr const char* suppressions_variable = "RUNG_EMU_SUPPRESSIONS";  // files, with colons
inline constexpr const char* gen_suppressions_variable = "RUNG_EMU_GEN_SUPPRESSIONS";  // "1"
inline constexpr const char* error_exit_code_variable = "RUNG_EMU_ERROR_EXITCODE";     // 0 to 255
inline constexpr const char* fail_on_variable = "RUNG_EMU_FAIL_ON";  // error, warning or note
inline constexpr const char* junit_variable = "RUNG_EMU_JUNIT";      // a file
inline constexpr const char* sarif_variable = "RUNG_EMU_SARIF";      // a file

}  // namespace rung::emu
