/* trust.h - checks owners and permissions of files and the path to them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_TRUST_H
#define KILN_STORES_TRUST_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Code that is read from the cache is executed. So a folder, a file of an entry
 * or a pack is used only if nobody can have written it except users that may
 * run code as this user anyway: it must belong to this user, and neither its
 * group nor others may write to it. Each is checked through the descriptor that
 * is then used, and opened relative to the folder above it, whatever the name
 * of that folder is by then.
 *
 * Even a group with a single member counts as others, because somebody else
 * decides about its members, who may change. Access control lists are covered:
 * if one lets another user write, the group's permission bit is set.
 *
 * Hard links are as good as files: owner and mode belong to the file, not to
 * the name.
 */
typedef struct kiln__trust {
    int is_shared;      /* files of root, or of `users`, are accepted as well */
    const uid_t *users; /* must live as long as this struct */
    size_t count;
} kiln__trust;

/* Returns NULL, or why it must not be used; a static string. */
const char *kiln__trust_why_not(const kiln__trust *trust,
                                const struct stat *facts);

/*
 * Opens `name` in `folder` without following a link and without blocking.
 * Returns a descriptor and its facts, or -1. With -1, *why_not is the reason
 * why it must not be used; or it is NULL and errno says why there is none. With
 * O_DIRECTORY in `flags` it must be a folder, else a file.
 */
int kiln__trust_open(const char **why_not, struct stat *facts,
                     const kiln__trust *trust, int folder, const char *name,
                     int flags);

/* Opens a file in a folder that is used, and makes it if it is missing. A thing
   of that name that must not be used is removed: only users without permission
   can have put it there. Returns a descriptor, or -1 with errno. */
int kiln__trust_make(const kiln__trust *trust, int folder, const char *name,
                     int flags);

/*
 * Opens what the path leads to, which is not checked yet. The path consists of
 * what the caller named and of other users' folders, which their owners may
 * change as they like. But a link is followed only if it belongs to root or to
 * a user whose files would be used: another link could lead to a folder that
 * this user has for something else. With `makes`, missing folders are made,
 * with access for this user only. The result is as above.
 */
int kiln__trust_open_path(const char **why_not, const kiln__trust *trust,
                          const char *path, int flags, int makes);

#endif /* KILN_STORES_TRUST_H */
