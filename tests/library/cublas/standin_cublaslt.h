/* A cuBLASLt whose descriptors are tables of attributes, and that counts the products it is asked for. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t value[48];
  size_t bytes[48]; /* 0: the attribute is not known */
} standin_descriptor;

typedef int standin_count(void);
