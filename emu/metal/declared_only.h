#pragma once
// Ray tracing and tables of functions, declared for files whose other kernels use neither. A kernel
// that calls one of these functions is refused.

namespace metal {

/// An address, as in argument buffers; no program can make one.
struct resource_handle {
  ulong address;
};

template <class F>
struct visible_function_table : resource_handle {
  RUNG_METAL uint size() const { return 0; }
  __attribute__((error("tables of functions are not supported on the virtual GPU")))
  F* operator[](uint) const;
};
template <class F>
RUNG_METAL bool is_null_visible_function_table(visible_function_table<F> table) {
  return table.address == 0;
}

namespace raytracing {

#define RUNG_METAL_NO_RAYS __attribute__((error("ray tracing is not supported on the virtual GPU")))

struct instancing {};
struct triangle_data {};
struct curve_data {};
struct world_space_data {};
struct primitive_motion {};
struct instance_motion {};
struct extended_limits {};
struct intersection_function_buffer {};
struct user_data {};
template <uint>
struct max_levels {};

enum class intersection_type { none, triangle, bounding_box, curve };
enum class geometry_type { none = 0, triangle = 1, bounding_box = 2, curve = 4, all = 7 };
enum class triangle_cull_mode { none, front, back };
enum class geometry_cull_mode { none = 0, triangle = 1, bounding_box = 2, curve = 4 };
enum class opacity_cull_mode { none, opaque, non_opaque };
enum class forced_opacity { none, opaque, non_opaque };
enum class winding { clockwise, counterclockwise };
enum class curve_type { round, flat, all };
enum class curve_basis { bspline, catmull_rom, linear, bezier, all };

struct ray {
  float3 origin;
  float min_distance;
  float3 direction;
  float max_distance;
  RUNG_METAL ray(float3 o = 0.0f, float3 d = 0.0f, float least = 0.0f,
                 float most = __builtin_huge_valf())
      : origin(o), min_distance(least), direction(d), max_distance(most) {}
};

template <class... Tags>
struct acceleration_structure : resource_handle {
  RUNG_METAL_NO_RAYS uint get_instance_count() const;
};
using primitive_acceleration_structure = acceleration_structure<>;
using instance_acceleration_structure = acceleration_structure<instancing>;
template <class... Tags>
struct intersection_function_table : resource_handle {
  RUNG_METAL uint size() const { return 0; }
  template <class T>
  RUNG_METAL_NO_RAYS T get_buffer(uint) const;
  template <class T, uint>
  RUNG_METAL_NO_RAYS T get_buffer() const;
};
template <class... Tags>
RUNG_METAL bool is_null_acceleration_structure(acceleration_structure<Tags...> structure) {
  return structure.address == 0;
}
template <class... Tags>
RUNG_METAL bool is_null_primitive_acceleration_structure(
    acceleration_structure<Tags...> structure) {
  return structure.address == 0;
}
template <class... Tags>
RUNG_METAL bool is_null_instance_acceleration_structure(acceleration_structure<Tags...> structure) {
  return structure.address == 0;
}
template <class... Tags>
RUNG_METAL bool is_null_intersection_function_table(intersection_function_table<Tags...> table) {
  return table.address == 0;
}

template <class... Tags>
struct intersection_result {
  intersection_type type;
  float distance;
  uint primitive_id, geometry_id, instance_id, user_instance_id, instance_count;
  const device void* primitive_data;
  float2 triangle_barycentric_coord;
  bool triangle_front_facing;
  float curve_parameter;
  float4x3 world_to_object_transform, object_to_world_transform;
};

struct intersection_params {
#define RUNG_METAL_SETTINGS                                     \
  RUNG_METAL void set_triangle_cull_mode(triangle_cull_mode) {} \
  RUNG_METAL void set_triangle_front_facing_winding(winding) {} \
  RUNG_METAL void set_geometry_cull_mode(geometry_cull_mode) {} \
  RUNG_METAL void set_geometry_cull_mode(int) {}                \
  RUNG_METAL void set_opacity_cull_mode(opacity_cull_mode) {}   \
  RUNG_METAL void force_opacity(forced_opacity) {}              \
  RUNG_METAL void assume_geometry_type(geometry_type) {}        \
  RUNG_METAL void assume_geometry_type(int) {}                  \
  RUNG_METAL void assume_identity_transforms(bool) {}           \
  RUNG_METAL void assume_curve_type(curve_type) {}              \
  RUNG_METAL void assume_curve_basis(curve_basis) {}            \
  RUNG_METAL void assume_curve_control_point_count(uint) {}     \
  RUNG_METAL void set_base_id(uint) {}                          \
  RUNG_METAL void set_index_multiplier(uint) {}                 \
  RUNG_METAL void accept_any_intersection(bool) {}
  RUNG_METAL_SETTINGS
};

template <class... Tags>
struct intersector {
  using result_type = intersection_result<Tags...>;
  RUNG_METAL_SETTINGS
  template <class S, class... A>
  RUNG_METAL_NO_RAYS result_type intersect(ray, S, A...) const;
};

template <class... Tags>
struct intersection_query {
  intersection_query() = default;
  template <class S, class... A>
  RUNG_METAL intersection_query(ray r, S structure, A... rest) {
    reset(r, structure, rest...);
  }
  template <class S, class... A>
  RUNG_METAL_NO_RAYS void reset(ray, S, A...);
  RUNG_METAL_NO_RAYS bool next();
  RUNG_METAL_NO_RAYS void abort();
  RUNG_METAL_NO_RAYS void commit_triangle_intersection();
  RUNG_METAL_NO_RAYS void commit_bounding_box_intersection(float);
  RUNG_METAL_NO_RAYS void commit_curve_intersection();
  RUNG_METAL_NO_RAYS ray get_world_space_ray() const;
#define RUNG_METAL_QUERY(type, name)                    \
  RUNG_METAL_NO_RAYS type get_candidate_##name() const; \
  RUNG_METAL_NO_RAYS type get_committed_##name() const;
  RUNG_METAL_QUERY(intersection_type, intersection_type)
  RUNG_METAL_QUERY(float, triangle_distance)
  RUNG_METAL_QUERY(float, distance)
  RUNG_METAL_QUERY(uint, primitive_id)
  RUNG_METAL_QUERY(uint, geometry_id)
  RUNG_METAL_QUERY(uint, instance_id)
  RUNG_METAL_QUERY(uint, user_instance_id)
  RUNG_METAL_QUERY(float2, triangle_barycentric_coord)
  RUNG_METAL_QUERY(bool, triangle_front_facing)
  RUNG_METAL_QUERY(bool, front_facing)
  RUNG_METAL_QUERY(float3, ray_origin)
  RUNG_METAL_QUERY(float3, ray_direction)
  RUNG_METAL_QUERY(float4x3, object_to_world_transform)
  RUNG_METAL_QUERY(float4x3, world_to_object_transform)
  RUNG_METAL_QUERY(const device void*, primitive_data)
#undef RUNG_METAL_QUERY
};
#undef RUNG_METAL_SETTINGS
#undef RUNG_METAL_NO_RAYS

}  // namespace raytracing
}  // namespace metal
