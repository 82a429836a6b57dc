/* cores.c - how many cores a process may use: affinity and control groups. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/cores.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/descriptor.h"

uint32_t kiln__core_count(void)
{
    cpu_set_t set;
    long count = 0;

    /* Machines of more than CPU_SETSIZE cores refuse the fixed set. */
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    if (count < 1)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

int kiln__core_current(void)
{
    return sched_getcpu();
}

/* ---- control groups ---- */

/*
 * A process is in a group for each hierarchy, which /proc/self/cgroup lists as
 * "number:controllers:path". Version 2 has one hierarchy, without controllers;
 * its limit is in cpu.max, "quota period" or "max period". In version 1 the two
 * numbers are in files of their own. The limits of all groups above hold, too.
 * In a container the path may not be there, but the root is the container's.
 */

/* Reads the beginning of a small file as text; false if there is none. */
static int read_text(char *text, size_t capacity, const char *path)
{
    const int file =
        kiln__descriptor_open(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t size;

    if (file < 0)
        return 0;
    size = read(file, text, capacity - 1);
    (void)close(file);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

static uint32_t quotient(long long quota, long long period)
{
    if (quota <= 0 || period <= 0 || quota / period >= INT32_MAX)
        return UINT32_MAX;
    return (uint32_t)((quota + period - 1) / period);
}

/* The limit of one group, whose folder is `path`. */
static uint32_t quota_of(const char *path)
{
    char name[PATH_MAX + 32], text[64];
    char *end;
    long long quota;

    (void)snprintf(name, sizeof name, "%s/cpu.max", path);
    if (read_text(text, sizeof text, name)) {
        quota = strtoll(text, &end, 10);
        return end == text ? UINT32_MAX
                           : quotient(quota, strtoll(end, NULL, 10));
    }
    (void)snprintf(name, sizeof name, "%s/cpu.cfs_quota_us", path);
    if (!read_text(text, sizeof text, name))
        return UINT32_MAX;
    quota = strtoll(text, NULL, 10);
    (void)snprintf(name, sizeof name, "%s/cpu.cfs_period_us", path);
    return read_text(text, sizeof text, name)
               ? quotient(quota, strtoll(text, NULL, 10))
               : UINT32_MAX;
}

/* The least limit of the group `path` below `root` and of those above it. */
static uint32_t quota_along(const char *root, const char *path)
{
    char folder[PATH_MAX];
    const size_t top = strlen(root);
    uint32_t least = UINT32_MAX;

    if (strcmp(path, "/") == 0)
        path = "";
    if (snprintf(folder, sizeof folder, "%s%s", root, path) >=
        (int)sizeof folder)
        return UINT32_MAX;
    for (;;) {
        const uint32_t quota = quota_of(folder);
        char *slash;

        if (quota < least)
            least = quota;
        if (strlen(folder) <= top)
            return least;
        slash = strrchr(folder + top, '/');
        *(slash != NULL ? slash : folder + top) = '\0';
    }
}

/* Whether the names between commas have "cpu". */
static int has_cpu(const char *names, size_t length)
{
    for (size_t i = 0; i + 3 <= length; i++)
        if (memcmp(names + i, "cpu", 3) == 0 &&
            (i == 0 || names[i - 1] == ',') &&
            (i + 3 == length || names[i + 3] == ','))
            return 1;
    return 0;
}

/* The limit that a line "number:controllers:path" is about. */
static uint32_t quota_by(const char *line, const char *root)
{
    char hierarchy[PATH_MAX];
    const char *names = strchr(line, ':');
    const char *path = names != NULL ? strchr(++names, ':') : NULL;

    if (path == NULL)
        return UINT32_MAX;
    if (path == names)
        return quota_along(root, path + 1);
    if (!has_cpu(names, (size_t)(path - names)))
        return UINT32_MAX;
    (void)snprintf(hierarchy, sizeof hierarchy, "%s/cpu", root);
    return quota_along(hierarchy, path + 1);
}

uint32_t kiln__core_quota_in(const char *list, const char *root)
{
    char text[4096];
    uint32_t least = UINT32_MAX;
    char *rest = NULL;

    if (!read_text(text, sizeof text, list))
        return UINT32_MAX;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const uint32_t quota = quota_by(line, root);

        if (quota < least)
            least = quota;
    }
    return least;
}

uint32_t kiln__core_quota(void)
{
    return kiln__core_quota_in("/proc/self/cgroup", "/sys/fs/cgroup");
}
