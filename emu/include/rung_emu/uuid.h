#pragma once
/* What identifies a device, in both interfaces. */

typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;
