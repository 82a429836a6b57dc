/* trust.h - whose something is, who may write to it, and the way to it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_TRUST_H
#define KILN_STORES_TRUST_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * What is read from the cache is executed. So a folder, a file of an entry, a
 * pack is used only if nobody can have written it but those who may run code
 * as this user anyway: it is this user's, and neither its group nor all others
 * may write to it. Each is looked at by the descriptor through which it is
 * used, and opened below the one above it, whichever name that has by now.
 *
 * A group is somebody else, even one that has a single member: who is in it is
 * for others to say, and may change. Lists of access rights count as well:
 * where one lets somebody else write, the group's bit is set.
 *
 * Hard links are as good as files: owner and mode are the file's, not the
 * name's.
 */
typedef struct kiln__trust {
    int is_shared;      /* what is root's, or one of these users', will do */
    const uid_t *users; /* lives as long */
    size_t count;
} kiln__trust;

/* NULL, or why it may not be used; static. */
const char *kiln__trust_why_not(const kiln__trust *trust,
                                const struct stat *facts);

/*
 * Opens `name` in `folder`, but follows no link and never waits. A descriptor
 * and its facts; or -1, where *why_not says that it is not to be used, or is
 * NULL and errno says why there is none. O_DIRECTORY in `flags`: a folder is
 * meant, else a file.
 */
int kiln__trust_open(const char **why_not, struct stat *facts,
                     const kiln__trust *trust, int folder, const char *name,
                     int flags);

/* Opens a file in a folder that is used, and makes it if it is missing. What
   has its name and is not to be used goes: it cannot be of anybody who was
   allowed to put it there. A descriptor, or -1 and errno. */
int kiln__trust_make(const kiln__trust *trust, int folder, const char *name,
                     int flags);

/*
 * Opens what the path leads to, which is not looked at yet. The way is made of
 * what the caller named and of others' folders, where whoever owns one does as
 * he likes; but a link is followed only if it is root's or of somebody whose
 * files would be used: another one could lead to a folder that this user has
 * for something else. `makes`: folders that are missing are made, for this
 * user alone. As above.
 */
int kiln__trust_open_path(const char **why_not, const kiln__trust *trust,
                          const char *path, int flags, int makes);

#endif /* KILN_STORES_TRUST_H */
