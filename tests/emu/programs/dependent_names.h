#pragma once

struct Grid {
  struct tile {
    int rows, columns;
  };
  template <class T>
  __host__ __device__ int of() {
    return sizeof(T) / sizeof(int);
  }
};

template <class T>
int size_of_tile() {
  T grid;
  return sizeof(T::tile) * grid.of<T::tile>();
}
