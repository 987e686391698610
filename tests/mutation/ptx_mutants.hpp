#pragma once
// Mutants of a kernel's PTX: each line that synchronises is removed, or exchanged with the
// following one, and each release in global memory is relaxed. The test of a kernel counts the
// mutants that the virtual GPU reports.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sample.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/schedule.hpp"

namespace rung {

using Lines = std::vector<std::string>;

inline bool has_any(const std::string& line, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return line.find(part) != line.npos; });
}

inline bool synchronises(const std::string& line) {
  return has_any(
      line, {"mbarrier.", "wgmma.fence", "wgmma.commit", "wgmma.wait", "bar.sync", "barrier.",
             "fence.", "bulk.commit", "bulk.wait", "griddepcontrol.wait", "cp.async.wait_group",
             "tcgen05.commit", "tcgen05.wait", "tcgen05.dealloc"});
}

/// Replaces a register of that line by `changed`, which `instruction` computes from it.
inline Lines changed(Lines lines, std::size_t at, const std::string& reg, const std::string& type,
                     const std::string& instruction) {
  std::string& line = lines[at];
  line.replace(line.rfind(reg), reg.size(), "changed");
  line =
      "{ .reg ." + type + " changed; " + instruction + " changed, " + reg + ", 1; " + line + " }";
  return lines;
}

/// Waits for the other phase.
inline Lines flipped(const Lines& lines, std::size_t at) {
  const std::string& line = lines[at];
  const std::size_t begin = line.rfind(", ") + 2;
  return changed(lines, at, line.substr(begin, line.find(';', begin) - begin), "b32", "xor.b32");
}

/// Moves the descriptor of A by 16 bytes.
inline Lines off_by_one(const Lines& lines, std::size_t at) {
  const std::string& line = lines[at];
  const std::size_t begin = line.find("], ") + 3;
  return changed(lines, at, line.substr(begin, line.find(',', begin) - begin), "b64", "add.u64");
}

inline bool is_asynchronous(const std::string& line) {
  return has_any(line, {"cp.async.bulk.tensor", "wgmma.mma", "st.shared", "ld.shared",
                        "tcgen05.mma", "tcgen05.ld", "clusterlaunchcontrol.try_cancel"});
}

/// The text before the first entry, and one entry.
inline Lines entry_of(std::string_view text, const std::string& name) {
  const std::string_view word = ".visible .entry ";
  const std::size_t begin = text.find(std::string(word) + name + "(");
  const std::size_t end = text.find(word, begin + 1);
  std::istringstream whole(std::string(text.substr(0, text.find(word))) +
                           std::string(text.substr(begin, end == text.npos ? end : end - begin)));
  Lines lines;
  for (std::string line; std::getline(whole, line);) lines.push_back(line);
  return lines;
}

struct Outcome {
  std::vector<vgpu::Hazard> hazards;
  std::set<int> lines;  // that were executed, from 1
  int cluster = 1;      // blocks
};

/// The outcome of a launch.
inline Outcome outcome_of(const vgpu::Kernel& kernel, const vgpu::LaunchReport& report,
                          int cluster) {
  Outcome outcome{report.hazards, {}, cluster};
  for (std::size_t site = 0; site < report.per_site.size(); ++site) {
    if (report.per_site[site].executions != 0) {
      outcome.lines.insert(vgpu::sites(kernel)[site].ptx_line);
    }
  }
  return outcome;
}

/// Removes the line at `at`. A wait becomes a test without waiting.
inline Lines without(Lines lines, std::size_t at) {
  std::string& line = lines[at];
  if (!has_any(line, {"try_wait"})) {
    line.clear();
    return lines;
  }
  const std::size_t begin = line.find(".b64 ") + 5;
  line = "setp.eq.u32 " + line.substr(begin, line.find(',', begin) - begin) + ", 0, 0;";
  return lines;
}

/// True for a release in global memory. (The last of several blocks that share a tile exits first
/// here, and blocks that exit later acquire by that count. So the loads that waited need not
/// acquire in this order of events. grid_order_test.cpp tests those that must.)
inline bool releases(const std::string& line) {
  return has_any(line, {"atom.acq_rel", "st.release"});
}

/// Replaces the access in that line by a relaxed one, which orders nothing.
inline Lines relaxed(Lines lines, std::size_t at) {
  std::string& line = lines[at];
  const std::size_t order = line.find('.') + 1;
  line.replace(order, line.find('.', order) - order, "relaxed");
  return lines;
}

/// The next line of its basic block that synchronises or is asynchronous, or the line itself if the
/// block has no other.
inline std::size_t neighbour(const Lines& lines, std::size_t at) {
  for (std::size_t i = at + 1; i < lines.size(); ++i) {
    if (lines[i].starts_with("$") || has_any(lines[i], {"bra", "try_wait"})) break;
    if (synchronises(lines[i]) || is_asynchronous(lines[i])) return i;
  }
  return at;
}

/// True if exchanging the two lines is harmless: initialisations have no order, bytes may arrive
/// before they are expected, and barriers need not wait for the previous launch.
inline bool may_change_places(const std::string& first, const std::string& second) {
  const bool both_initialise =
      has_any(first, {"mbarrier.init"}) && has_any(second, {"mbarrier.init"});
  const bool barrier_and_launch =
      has_any(first, {"barrier."}) && has_any(second, {"griddepcontrol.wait"});
  return both_initialise || barrier_and_launch ||
         (has_any(first, {"expect_tx"}) && has_any(second, {"cp.async"}));
}

/// True for the fence between the read of a response of clusterlaunchcontrol and its next write. The virtual
/// GPU does not check fences before writes by the async proxy.
inline bool releases_response(const Lines& lines, std::size_t at) {
  if (!has_any(lines[at], {"fence.proxy.async"})) return false;
  for (std::size_t i = at; i-- > 0 && !has_any(lines[i], {"st.shared"});) {
    if (has_any(lines[i], {"query_cancel"})) return true;
  }
  return false;
}

/// True for the last wait of a cluster with a single block: no other block accesses its memory.
inline bool waits_for_nobody(const Lines& lines, std::size_t at, int cluster) {
  const auto waits = [](const std::string& line) { return has_any(line, {"cluster.wait"}); };
  const auto behind = lines.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  return cluster == 1 && waits(lines[at]) && std::none_of(behind, lines.end(), waits);
}

/// True if the virtual GPU reports a hazard, in the usual order or in one of some others. The usual
/// order may hide a missing release.
template <class Run>
bool is_caught(const Lines& mutant, const Run& run) {
  constexpr std::uint64_t orders = 4;
  bool found = !run(mutant).hazards.empty();
  for (std::uint64_t seed = 1; seed <= orders && !found; ++seed) {
    vgpu::set_schedule(seed);
    found = !run(mutant).hazards.empty();
    vgpu::set_schedule(0);
  }
  return found;
}

struct Score {
  int mutants = 0, caught = 0;
  Sample sample = {};  // of the mutants
};

/// Mutates every line. `run(lines)`: returns the outcome of a mutant. `relaxes`: the accesses to
/// relax as well.
template <class Run>
void mutate(const Lines& lines, std::string_view id, const Run& run, Score& score,
            bool (&relaxes)(const std::string& line) = releases) {
  const Outcome right = run(lines);
  for (const vgpu::Hazard& hazard : right.hazards) {
    ADD_FAILURE() << id << ", as it is: " << hazard.message;
  }
  // The last multiplication of a k-block reads the end of each row. The descriptors of the others, moved,
  // still name k-steps of the same rows: results are wrong, but nothing is a hazard.
  std::size_t last_multiplication = lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (has_any(lines[i], {"tcgen05.mma"})) last_multiplication = i;
  }
  const bool uses_tensor_memory = last_multiplication < lines.size();
  const auto judge = [&](const Lines& mutant, const std::string& what) {
    if (!score.sample.has_next()) return;
    const bool found = is_caught(mutant, run);
    ++score.mutants;
    score.caught += found ? 1 : 0;
    EXPECT_TRUE(found) << id << ": " << what;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!right.lines.contains(static_cast<int>(i) + 1)) continue;
    if (relaxes(lines[i])) judge(relaxed(lines, i), "relaxed: " + lines[i]);
    if (uses_tensor_memory && has_any(lines[i], {"try_wait.parity"})) {
      judge(flipped(lines, i), "other phase: " + lines[i]);
    }
    if (i == last_multiplication) judge(off_by_one(lines, i), "off by one: " + lines[i]);
    if (!synchronises(lines[i])) continue;
    if (waits_for_nobody(lines, i, right.cluster) || releases_response(lines, i)) continue;
    judge(without(lines, i), "without " + lines[i]);
    const std::size_t next = neighbour(lines, i);
    if (has_any(lines[i], {"try_wait"}) || next == i || may_change_places(lines[i], lines[next])) {
      continue;
    }
    Lines moved = lines;
    moved[next] += "\n" + moved[i];
    moved[i].clear();
    judge(moved, lines[i] + " behind " + lines[next]);
  }
}

}  // namespace rung
