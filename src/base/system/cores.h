/* cores.h - how many cores a process may use, and on which one it is. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CORES_H
#define KILN_CORES_H

#include <stdint.h>

/* Cores this thread may run on, at least 1. */
uint32_t kiln__core_count(void);
/* The core that this thread is on; -1 if the system does not tell. */
int kiln__core_current(void);
/* How many cores the limits of this process's control groups amount to, rounded
   up; UINT32_MAX if there are none. It reads files. */
uint32_t kiln__core_quota(void);
/* For tests: with other files than /proc/self/cgroup and /sys/fs/cgroup. */
uint32_t kiln__core_quota_in(const char *list, const char *root);

#endif /* KILN_CORES_H */
