/* A cuBLASLt whose descriptors are tables of attributes. It counts calls of its product. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t value[48];
  size_t bytes[48]; /* 0: unknown attribute */
} standin_descriptor;

typedef int standin_count(void);
