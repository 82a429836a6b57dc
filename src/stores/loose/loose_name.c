/* loose_name.c - names of loose entries, and giving a file its name. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/temp_dir.h"
#include "stores/loose/loose.h"

void kiln__loose_name(char name[KILN__LOOSE_NAME_SIZE], kiln_digest digest)
{
    char text[KILN_DIGEST_TEXT_SIZE];

    kiln_digest_text(digest, text);
    memcpy(name, text, 2);
    name[2] = '/';
    memcpy(name + 3, text + 2, 62);
    memcpy(name + 65, ".e", 3);
}

/* Hosts that share a file system may have equal process ids: 128 random bits
   distinguish their writers. */
int kiln__loose_temporary(char out[KILN__LOOSE_NAME_SIZE])
{
    char random[KILN__RANDOM_NAME_SIZE];

    if (!kiln__random_name(random))
        return 0;
    (void)snprintf(out, KILN__LOOSE_NAME_SIZE, KILN__LOOSE_TEMPORARY "%s-%lx",
                   random, (unsigned long)getpid());
    return 1;
}

/* ---- from a temporary name to a name ---- */

static int exists(int shard, const char *name)
{
    return faccessat(shard, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Renames, but not over another file, with whatever call the file system
   supports. */
static int publish_new(int shard, const char *temporary, const char *name)
{
    if (renameat2(shard, temporary, shard, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return errno;
    if (linkat(shard, temporary, shard, name, 0) == 0) {
        (void)unlinkat(shard, temporary, 0);
        return 0;
    }
    if (errno == EEXIST || exists(shard, name))
        return EEXIST;
    return renameat(shard, temporary, shard, name) == 0 ? 0 : errno;
}

/* A server's answer may get lost, so this checks whether the name exists. */
int kiln__loose_publish(int shard, const char *temporary, const char *name,
                        int replace)
{
    int reason;

    if (replace)
        return renameat(shard, temporary, shard, name) == 0 ? 0 : errno;
    reason = publish_new(shard, temporary, name);
    return reason != 0 && exists(shard, name) ? EEXIST : reason;
}
