#pragma once
// Host-side descriptor of a CUDA rung of gemm: the names of its entries, its tiles and its
// launches.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/dtype_traits.hpp"
#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// Computes grid, block and memory of a launch for a problem with device pointers.
template <class In, class Out>
using GemmLaunch = Launch (*)(const Gemm<In, Out>& problem, const GemmConfig& config);

/// True if the rung's fastest loads support the operands' layouts and alignment.
template <class In, class Out>
using FastCopies = bool (*)(const Gemm<In, Out>& problem);

/// A rung's own choice of configuration for a problem on a device.
template <class In, class Out>
using ConfigChoice = GemmConfig (*)(const Gemm<In, Out>& problem, int multiprocessors);

/// One value per dtype, as a member with its name: values.bf16.
template <template <class In, class Out> class Value>
struct OfDtypes {
#define RUNG_MEMBER(suffix, In, Out) Value<In, Out> suffix = {};
  RUNG_DTYPES(RUNG_MEMBER)
#undef RUNG_MEMBER

  /// The value for two types; Out as in dtype_of().
  template <class In, class Out = void>
  auto of() const {
    constexpr Dtype dtype = dtype_of<In, Out>();
#define RUNG_RETURN(suffix, I, O) \
  if constexpr (dtype == Dtype::suffix) return suffix;
    RUNG_DTYPES(RUNG_RETURN)
#undef RUNG_RETURN
  }
};

template <class In, class Out>
using TileShapes = std::span<const TileShape>;

/// The maximum number of tiles of a type, for which tables of kernels have room.
inline constexpr std::size_t max_tiles = 16;

/// A gemm rung. The entry of a type is `<entry>_<dtype>`, that of tile i is `<entry>_<dtype>_<i>`.
struct GemmRung {
  std::string_view entry;
  OfDtypes<GemmLaunch> launches;          // null for unsupported types
  OfDtypes<TileShapes> tiles;             // empty for a rung with a single size
  OfDtypes<FastCopies> fast_copies = {};  // null if loads have the same speed for all operands
  OfDtypes<ConfigChoice> choices = {};    // null if tuned data choose
  bool splits = false;                    // its kernel supports split-K
  bool maps = false;                      // its kernel takes tensor maps
  bool batches = false;                   // it computes a batch in one launch
  bool groups = false;                    // it computes grouped products
  Tiling tiling = {};                     // of a rung with a single size
};

/// The tiling of a class, from the names of its constants.
template <class Class>
constexpr Tiling tiling_of() {
  Tiling tiling;
  if constexpr (requires { Class::BM; }) tiling.BM = Class::BM, tiling.BN = Class::BN;
  if constexpr (requires { Class::BK; }) tiling.BK = Class::BK;
  if constexpr (requires { Class::WM; }) tiling.WM = Class::WM, tiling.WN = Class::WN;
  if constexpr (requires { Class::TM; }) tiling.TM = Class::TM;
  if constexpr (requires { Class::TN; }) tiling.TN = Class::TN;
  return tiling;
}

/// Calls f.operator()<In, Out>(member) with the member of `values` for each of `dtypes`.
template <Dtype... dtypes, template <class, class> class Value, class F>
constexpr void for_dtypes(OfDtypes<Value>& values, const F& f) {
#define RUNG_CALL_FOR(suffix, In, Out) \
  if constexpr (((dtypes == Dtype::suffix) || ...)) f.template operator()<In, Out>(values.suffix);
  RUNG_DTYPES(RUNG_CALL_FOR)
#undef RUNG_CALL_FOR
}

/// A rung with one tile size for some types.
template <class Class, Dtype... dtypes>
constexpr GemmRung gemm_rung(std::string_view entry) {
  GemmRung rung = {.entry = entry, .launches = {}, .tiles = {}, .tiling = tiling_of<Class>()};
  for_dtypes<dtypes...>(rung.launches, [&]<class In, class Out>(GemmLaunch<In, Out>& launch) {
    launch = [](const Gemm<In, Out>& g, const GemmConfig&) { return Class::launch(g); };
    rung.splits = takes_split_k<Class, In, Out>;
    rung.maps = takes_maps<Class, In, Out>;
    rung.batches = takes_products<Class, In, Out>;
  });
  return rung;
}

/// A tile size of a rung: its class and the types that it supports.
template <int INDEX, class Class, Dtype... dtypes>
struct TileRow {
  static constexpr bool has(Dtype dtype) { return ((dtype == dtypes) || ...); }

  /// Appends the tile to the tables of a type, if it supports the type.
  template <class In, class Out>
  static constexpr void append(auto& tables, int& count) {
    if constexpr (has(dtype_of<In, Out>())) {
      if (count != INDEX) throw "a type's tiles are numbered from 0 on, in their order";
      tables.shapes[INDEX] = Class::template shape<In, Out>();
      tables.launches[INDEX] = [](const Gemm<In, Out>& g, const GemmConfig& config) {
        return Class::launch(g, config);
      };
      if constexpr (requires(const Gemm<In, Out> g) { Class::has_fast_copies(g); }) {
        tables.fast_copies = [](const Gemm<In, Out>& g) { return Class::has_fast_copies(g); };
      }
      if constexpr (requires(const Gemm<In, Out> g) { Class::choose(g, 1); }) {
        tables.choice = [](const Gemm<In, Out>& g, int multiprocessors) {
          return Class::choose(g, multiprocessors);
        };
      }
      ++count;
    }
  }
  template <class In, class Out>
  static constexpr bool splits = has(dtype_of<In, Out>()) && takes_split_k<Class, In, Out>;
  template <class In, class Out>
  static constexpr bool maps = has(dtype_of<In, Out>()) && takes_maps<Class, In, Out>;
  template <class In, class Out>
  static constexpr bool batches = has(dtype_of<In, Out>()) && takes_products<Class, In, Out>;
  template <class In, class Out>
  static constexpr bool groups = has(dtype_of<In, Out>()) && takes_groups<Class, In, Out>;
};

/// All tiles of one type.
template <class In, class Out, class... Rows>
struct TilesOfType {
  static constexpr auto count = (std::size_t{Rows::has(dtype_of<In, Out>())} + ...);
  static_assert(count <= max_tiles);
  struct Tables {
    std::array<TileShape, count> shapes = {};
    std::array<GemmLaunch<In, Out>, count> launches = {};
    FastCopies<In, Out> fast_copies = nullptr;
    ConfigChoice<In, Out> choice = nullptr;
  };
  static constexpr Tables tables = [] {
    Tables made;
    int appended = 0;
    (Rows::template append<In, Out>(made, appended), ...);
    return made;
  }();

  static Launch launch(const Gemm<In, Out>& g, const GemmConfig& config) {
    return tables.launches[static_cast<std::size_t>(config.tile)](g, config);
  }
};

/// A rung with several tile sizes.
template <class... Rows>
constexpr GemmRung tiled_gemm_rung(std::string_view entry, Rows...) {
  GemmRung rung = {.entry = entry, .launches = {}, .tiles = {}};
#define RUNG_ADD_TILES(suffix, In, Out)                      \
  if constexpr ((Rows::has(Dtype::suffix) || ...)) {         \
    using Tiles = TilesOfType<In, Out, Rows...>;             \
    rung.launches.suffix = Tiles::launch;                    \
    rung.tiles.suffix = Tiles::tables.shapes;                \
    rung.fast_copies.suffix = Tiles::tables.fast_copies;     \
    rung.choices.suffix = Tiles::tables.choice;              \
    rung.splits = (Rows::template splits<In, Out> || ...);   \
    rung.maps = (Rows::template maps<In, Out> || ...);       \
    rung.batches = (Rows::template batches<In, Out> || ...); \
    rung.groups = (Rows::template groups<In, Out> || ...);   \
  }
  RUNG_DTYPES(RUNG_ADD_TILES)
#undef RUNG_ADD_TILES
  return rung;
}

}  // namespace rung::cuda
