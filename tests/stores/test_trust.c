/* test_trust.c - what somebody else may have written is not used. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault tiers */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "kiln/sys/cache_tools.h"
#include "stores/pack/pack.h"
#include "support/harness.h"
#include "support/stores/packs.h"
#include "support/stores/stores_fixture.h"

#define SOMEBODY 12345u /* another user */
#define ANOTHER 12346u

/* Only root can give files to others. */
static int is_root(void)
{
    if (geteuid() == 0)
        return 1;
    print_message("NOT RUN: only root can make files of other users\n");
    return 0;
}

/* ---- ways to spoil a file or folder ---- */

enum { OF_SOMEBODY, GROUP_WRITES, OTHERS_WRITE, IS_LINK, WAY_COUNT };

static const char *const reasons[WAY_COUNT] = {
    "it is another user's", "others may write to it", "others may write to it",
    "it is a link"};

static void aside(char out[900], const char *path)
{
    (void)snprintf(out, 900, "%s.aside", path);
}

static void spoil(const char *path, int way)
{
    char other[900];
    struct stat facts;

    aside(other, path);
    assert_int_equal(lstat(path, &facts), 0);
    switch (way) {
    case OF_SOMEBODY:
        assert_int_equal(lchown(path, SOMEBODY, SOMEBODY), 0);
        break;
    case IS_LINK:
        assert_int_equal(rename(path, other), 0);
        assert_int_equal(symlink(other, path), 0);
        break;
    default:
        assert_int_equal(chmod(path, (facts.st_mode & 0777) |
                                         (way == GROUP_WRITES ? 020 : 002)),
                         0);
    }
}

static void mend(const char *path, int way)
{
    char other[900];
    struct stat facts;

    aside(other, path);
    assert_int_equal(lstat(path, &facts), 0);
    switch (way) {
    case OF_SOMEBODY:
        assert_int_equal(lchown(path, geteuid(), getegid()), 0);
        break;
    case IS_LINK:
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rename(other, path), 0);
        break;
    default:
        assert_int_equal(chmod(path, facts.st_mode & 0755), 0);
    }
}

/* Files and folders below a path, which may be a link. */
static size_t count_below(const char *path)
{
    DIR *opened = opendir(path);
    const struct dirent *found;
    size_t count = 0;

    assert_non_null(opened);
    while ((found = readdir(opened)) != NULL)
        count += found->d_name[0] != '.' || strlen(found->d_name) > 2;
    closedir(opened);
    return count;
}

static void assert_one_line(const char *lines, const char *path,
                            const char *reason)
{
    assert_contains(lines, path);
    assert_contains(lines, reason);
    assert_ptr_equal(strchr(lines, '\n'), lines + strlen(lines) - 1);
}

/* ---- the user's own folder ---- */

/* Path of the disk's folder, v2, the shard and the file of `a`. */
enum { TOP, FORMAT, SHARD, ENTRY, LEVEL_COUNT };

static void level_path(char path[800], const char *folder, const loose_entry *e,
                       int level)
{
    loose_path(path, 800, folder, e);
    for (int i = ENTRY; i > level; i--)
        *strrchr(path, '/') = '\0';
}

typedef struct refusal {
    size_t count;
    char path[800];
    char reason[80];
} refusal;

static void note_refused(void *env, const char *path, const char *reason)
{
    refusal *t = env;

    t->count++;
    (void)snprintf(t->path, sizeof t->path, "%s", path);
    (void)snprintf(t->reason, sizeof t->reason, "%s", reason);
}

static void assert_refused(kiln_context *context, const char *path,
                           const char *reason)
{
    refusal t = {0};

    assert_ok(kiln_cache_refused(context, note_refused, &t));
    assert_int_equal(t.count, 1);
    assert_string_equal(t.path, path);
    assert_string_equal(t.reason, reason);
}

/* A folder that is spoilt: nothing in it is read, written or dropped. */
static void try_folder(stores_fixture *f, int level, int way)
{
    char path[800], shard[800];
    size_t before;

    stores_reopen(f);
    stores_put(f, &f->a);
    level_path(path, f->disk, &f->a, level);
    level_path(shard, f->disk, &f->a, SHARD);
    before = count_below(shard);
    spoil(path, way);
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    if (level == SHARD)
        assert_int_equal(stores_counts(f).misses[KILN_MISS_UNTRUSTED], 1);
    kiln__stores_put(f->context, &f->a.entry, 1);
    assert_false(stores_has(f, &f->a));
    assert_int_equal(stores_counts(f).put_failures, 1);
    assert_int_equal(count_below(shard), before);
    assert_one_line(f->lines, path, reasons[way]);
    assert_refused(f->context, path, reasons[way]);
    mend(path, way);
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
}

static void a_folder_that_is_not_ours_alone_is_left_as_it_is(void **state)
{
    stores_fixture *f = *state;

    for (int level = TOP; level <= SHARD; level++)
        for (int way = 0; way < WAY_COUNT; way++)
            if ((way != OF_SOMEBODY || is_root()) &&
                (level != TOP || way != IS_LINK))
                try_folder(f, level, way);
}

static void so_is_that_of_a_name_space(void **state)
{
    stores_fixture *f = *state;
    char path[400];

    f->cache.name_space = "site";
    stores_reopen(f);
    stores_put(f, &f->a);
    (void)snprintf(path, sizeof path, "%s/site", f->disk);
    for (int way = 0; way < WAY_COUNT; way++) {
        if (way == OF_SOMEBODY && !is_root())
            continue;
        spoil(path, way);
        stores_reopen(f);
        assert_false(stores_has(f, &f->a));
        assert_one_line(f->lines, path, reasons[way]);
        mend(path, way);
    }
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
}

/* It goes, since it is in a folder of ours, and is made again. */
static void an_entry_that_is_not_ours_alone_is_not_used_and_goes(void **state)
{
    stores_fixture *f = *state;
    struct stat facts;
    char path[800];

    for (int way = 0; way <= OTHERS_WRITE; way++) {
        if (way == OF_SOMEBODY && !is_root())
            continue;
        stores_reopen(f);
        stores_put(f, &f->a);
        level_path(path, f->disk, &f->a, ENTRY);
        spoil(path, way);
        assert_false(stores_has(f, &f->a));
        assert_one_line(f->lines, path, reasons[way]);
        assert_int_equal(stores_counts(f).misses[KILN_MISS_UNTRUSTED], 1);
        assert_int_not_equal(lstat(path, &facts), 0);
        stores_put(f, &f->a);
        assert_true(stores_has(f, &f->a));
    }
}

/* One that no reader met yet. */
static void an_entry_of_somebody_elses_is_replaced_when_one_is_put(void **state)
{
    stores_fixture *f = *state;
    char path[800];

    stores_put(f, &f->a);
    level_path(path, f->disk, &f->a, ENTRY);
    spoil(path, OTHERS_WRITE);
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
    assert_string_equal(f->lines, "");
}

static void an_entry_of_two_names_is_as_good_as_of_one(void **state)
{
    stores_fixture *f = *state;
    char path[800], other[900];

    stores_put(f, &f->a);
    level_path(path, f->disk, &f->a, ENTRY);
    aside(other, path);
    assert_int_equal(link(path, other), 0);
    assert_true(stores_has(f, &f->a));
}

/* A list of access rights that lets SOMEBODY write, as the system keeps it. */
static void a_list_of_rights_counts_as_what_it_lets_others_do(void **state)
{
    static const struct {
        uint32_t version;
        struct {
            uint16_t tag, rights;
            uint32_t user;
        } items[5];
    } list = {2,
              {{1, 6, UINT32_MAX},  /* the owner */
               {2, 6, SOMEBODY},    /* a user */
               {4, 0, UINT32_MAX},  /* the group */
               {16, 6, UINT32_MAX}, /* at most, of users and groups */
               {32, 0, UINT32_MAX}}};
    stores_fixture *f = *state;
    char path[800];

    stores_put(f, &f->a);
    level_path(path, f->disk, &f->a, ENTRY);
    if (setxattr(path, "system.posix_acl_access", &list, sizeof list, 0) != 0) {
        print_message("NOT RUN: no lists of access rights here: %s\n",
                      strerror(errno));
        test_skip(SKIP_MACHINE, "only root gives files to others");
    }
    assert_false(stores_has(f, &f->a));
    assert_one_line(f->lines, path, reasons[GROUP_WRITES]);
}

static void others_may_write_above_the_folder(void **state)
{
    stores_fixture *f = *state;

    stores_put(f, &f->a);
    assert_int_equal(chmod(f->folder, 0777), 0);
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
    assert_string_equal(f->lines, "");
    assert_int_equal(chmod(f->folder, 01777), 0);
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
}

/* ---- the way to the folder ---- */

static void a_link_to_the_folder_is_followed_if_it_is_ours(void **state)
{
    stores_fixture *f = *state;
    char link_path[400], behind[500];

    stores_put(f, &f->a);
    (void)snprintf(link_path, sizeof link_path, "%s/link", f->folder);
    (void)snprintf(behind, sizeof behind, "%s/../link/", link_path);
    assert_int_equal(symlink("./disk", link_path), 0);
    f->cache.directory = link_path;
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
    f->cache.directory = behind;
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));

    if (!is_root())
        test_skip(SKIP_MACHINE, "only root gives files to others");
    assert_int_equal(lchown(link_path, SOMEBODY, SOMEBODY), 0);
    f->cache.directory = link_path;
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    assert_one_line(f->lines, link_path,
                    "a link of another user's leads to it");
    assert_refused(f->context, link_path,
                   "a link of another user's leads to it");
}

static void nor_does_a_link_of_somebody_elses_lead_to_a_new_folder(void **state)
{
    stores_fixture *f = *state;
    char link_path[400], folder[600], made[500];
    struct stat facts;

    if (!is_root())
        test_skip(SKIP_MACHINE, "only root gives files to others");
    (void)snprintf(made, sizeof made, "%s/treasure", f->folder);
    assert_int_equal(mkdir(made, 0700), 0);
    (void)snprintf(link_path, sizeof link_path, "%s/scratch", f->folder);
    assert_int_equal(symlink(made, link_path), 0);
    assert_int_equal(lchown(link_path, SOMEBODY, SOMEBODY), 0);
    (void)snprintf(folder, sizeof folder, "%s/deep/kiln", link_path);
    f->cache.directory = folder;
    stores_reopen(f);
    stores_put(f, &f->a);
    assert_false(stores_has(f, &f->a));
    assert_int_equal(count_below(made), 0);

    assert_int_equal(lchown(link_path, 0, 0), 0);
    stores_reopen(f);
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
    (void)snprintf(folder, sizeof folder, "%s/deep/kiln/v2", made);
    assert_int_equal(stat(folder, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0700);
}

static void links_that_lead_nowhere_end(void **state)
{
    stores_fixture *f = *state;
    char path[400];

    (void)snprintf(path, sizeof path, "%s/round", f->folder);
    assert_int_equal(symlink("round", path), 0);
    f->cache.directory = path;
    stores_reopen(f);
    stores_put(f, &f->a);
    assert_false(stores_has(f, &f->a));
    assert_one_line(f->lines, path, "");
}

/* ---- what else is in the folder ---- */

static void pack_path(char path[800], const stores_fixture *f)
{
    char folder[400];
    const struct dirent *found;
    DIR *opened;

    (void)snprintf(folder, sizeof folder, "%s/v2/packs", f->disk);
    opened = opendir(folder);
    assert_non_null(opened);
    path[0] = '\0';
    while ((found = readdir(opened)) != NULL)
        if (found->d_name[0] != '.')
            (void)snprintf(path, 800, "%s/%s", folder, found->d_name);
    closedir(opened);
    assert_true(path[0] != '\0');
}

static void compact(const stores_fixture *f)
{
    kiln_cache_report report = {.size = sizeof report};

    assert_ok(kiln_cache_compact(&report, f->context, 0, &test_error));
    assert_int_equal(report.entries, 1);
}

static void packs_of_the_folder_are_looked_at_too(void **state)
{
    stores_fixture *f = *state;
    char paths[2][800];

    stores_put(f, &f->a);
    compact(f);
    pack_path(paths[0], f);
    (void)snprintf(paths[1], sizeof paths[1], "%s", paths[0]);
    *strrchr(paths[1], '/') = '\0'; /* the folder of packs */
    for (int i = 0; i < 2; i++)
        for (int way = 0; way < WAY_COUNT; way++) {
            if (way == OF_SOMEBODY && !is_root())
                continue;
            spoil(paths[i], way);
            stores_reopen(f);
            assert_false(stores_has(f, &f->a));
            if (i == 1 || way != IS_LINK)
                assert_one_line(f->lines, paths[i], reasons[way]);
            assert_refused(f->context, paths[i],
                           i == 0 && way == IS_LINK ? "it is no file"
                                                    : reasons[way]);
            mend(paths[i], way);
        }
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
}

static void nothing_is_packed_or_dropped_through_a_link(void **state)
{
    kiln_cache_report report = {.size = sizeof report};
    stores_fixture *f = *state;
    char path[800], folder[800], other[900];

    stores_put(f, &f->a);
    compact(f);
    pack_path(path, f);
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    aside(other, folder);
    stores_put(f, &f->b);
    spoil(folder, IS_LINK);
    stores_reopen(f);
    assert_fails(KILN_EIO, "no packs can be written",
                 kiln_cache_compact(&report, f->context, 0, &test_error));
    assert_int_equal(count_below(other), 1);
    assert_ok(kiln_cache_clear(&report, f->context, &test_error));
    assert_int_equal(count_below(other), 1);
}

static void nor_is_what_failed_kept_there(void **state)
{
    stores_fixture *f = *state;
    char path[400], target[400], kept[800];

    stores_put(f, &f->a);
    (void)snprintf(target, sizeof target, "%s/target", f->folder);
    (void)snprintf(path, sizeof path, "%s/v2/failed", f->disk);
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_status(KILN_EIO,
                  kiln__stores_keep_failed(f->context, kept, sizeof kept,
                                           ".ptx", "text", 4));
    assert_int_equal(count_below(target), 0);
    assert_one_line(f->lines, path, "it is a link");
}

/* ---- the search path ---- */

/* In a user namespace of its own, where no user has a number. */
#define WITHOUT_NUMBER ((uid_t)-1)

static int become(uid_t user)
{
    if (user == WITHOUT_NUMBER)
        return unshare(CLONE_NEWUSER) == 0;
    return geteuid() == user || setuid(user) == 0;
}

static int look(const stores_fixture *f, const char *searched,
                const char *trusted)
{
    kiln_cache_options cache = {.size = sizeof cache,
                                .mode = KILN_CACHE_MODE_READ_ONLY,
                                .directory = "/nowhere",
                                .search_path = searched,
                                .trusted_users = trusted};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln__stored stored;

    options.cache = &cache;
    if (kiln_context_new(&context, &options, NULL) != KILN_OK)
        return 11;
    return kiln__stores_get(&stored, context, f->a.entry.kind,
                            &f->a.entry.key) != KILN_OK;
}

/* Another process, of the user: 0 when it finds `a` on the search path, 1 when
   not, 2 and more for anything else. With `trusted`, or NULL. */
static int look_as(const stores_fixture *f, uid_t user, const char *searched,
                   const char *trusted)
{
    const pid_t child = fork();
    int status = -1;

    assert_true(child >= 0);
    if (child == 0)
        _exit(become(user) ? look(f, searched, trusted) : 10);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void give_all(const stores_fixture *f, uid_t user)
{
    char path[800];

    for (int level = TOP; level < LEVEL_COUNT; level++) {
        level_path(path, f->disk, &f->a, level);
        assert_int_equal(chown(path, user, user), 0);
        assert_int_equal(chmod(path, level == ENTRY ? 0644 : 0755), 0);
    }
}

static void what_is_searched_is_ones_own_or_roots_or_of_who_is_named(
    void **state)
{
    stores_fixture *f = *state;
    char pack[400];

    if (!is_root())
        test_skip(SKIP_MACHINE, "only root gives files to others");
    stores_put(f, &f->a);
    stores_pack(pack, f);
    assert_int_equal(chmod(f->folder, 0755), 0);
    for (int i = 0; i < 2; i++) {
        const char *place = i ? pack : f->disk;

        give_all(f, 0);
        assert_int_equal(chown(pack, 0, 0), 0);
        assert_int_equal(look_as(f, 0, place, NULL), 0);
        assert_int_equal(look_as(f, SOMEBODY, place, NULL), 0);

        give_all(f, SOMEBODY);
        assert_int_equal(chown(pack, SOMEBODY, SOMEBODY), 0);
        assert_int_equal(look_as(f, SOMEBODY, place, NULL), 0);
        assert_int_equal(look_as(f, 0, place, NULL), 1);
        assert_int_equal(look_as(f, ANOTHER, place, NULL), 1);
        assert_int_equal(look_as(f, ANOTHER, place, "7"), 1);
        assert_int_equal(look_as(f, ANOTHER, place, "7,12345"), 0);
    }
    assert_int_equal(look_as(f, ANOTHER, pack, "12345,"), 11);
    assert_int_equal(look_as(f, ANOTHER, pack, "somebody"), 11);
}

#define NOBODY 65534u /* the number of those who have none */

static void nothing_is_used_where_users_cannot_be_told_apart(void **state)
{
    stores_fixture *f = *state;
    char pack[400];

    stores_put(f, &f->a);
    stores_pack(pack, f);
    assert_int_equal(chmod(f->folder, 0755), 0);
    if (look_as(f, WITHOUT_NUMBER, pack, NULL) == 10)
        test_skip(SKIP_MACHINE, "no user namespaces can be made here");
    for (int i = 0; i < 2; i++) {
        const char *place = i ? pack : f->disk;

        assert_int_equal(look_as(f, geteuid(), place, NULL), 0);
        assert_int_equal(look_as(f, WITHOUT_NUMBER, place, NULL), 1);
        if (!is_root())
            continue;
        give_all(f, SOMEBODY);
        assert_int_equal(chown(pack, SOMEBODY, SOMEBODY), 0);
        assert_int_equal(look_as(f, WITHOUT_NUMBER, place, NULL), 1);
        assert_int_equal(look_as(f, WITHOUT_NUMBER, place, "65534"), 1);
        give_all(f, NOBODY);
        assert_int_equal(chown(pack, NOBODY, NOBODY), 0);
        assert_int_equal(look_as(f, NOBODY, place, NULL), 0);
        give_all(f, 0);
        assert_int_equal(chown(pack, 0, 0), 0);
    }
}

static void each_level_of_a_searched_folder_is_looked_at(void **state)
{
    stores_fixture *f = *state;
    char path[800];

    stores_put(f, &f->a);
    f->cache.search_path = f->disk;
    f->cache.directory = "/nowhere";
    f->cache.mode = KILN_CACHE_MODE_READ_ONLY;
    for (int level = TOP; level < LEVEL_COUNT; level++)
        for (int way = 0; way < WAY_COUNT; way++) {
            if ((way == OF_SOMEBODY && !is_root()) ||
                (level == TOP && way == IS_LINK))
                continue;
            level_path(path, f->disk, &f->a, level);
            spoil(path, way);
            stores_reopen(f);
            assert_false(stores_has(f, &f->a));
            if (level != ENTRY) {
                assert_one_line(f->lines, path, reasons[way]);
                assert_refused(f->context, path, reasons[way]);
            }
            mend(path, way);
        }
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
}

static void a_pack_that_others_may_write_is_not_searched(void **state)
{
    stores_fixture *f = *state;
    char path[400];

    stores_pack(path, f);
    f->cache.search_path = path;
    for (int way = 0; way <= OTHERS_WRITE; way++) {
        if (way == OF_SOMEBODY && !is_root())
            continue;
        spoil(path, way);
        stores_reopen(f);
        assert_false(stores_has(f, &f->a));
        assert_one_line(f->lines, path, reasons[way]);
        assert_refused(f->context, path, reasons[way]);
        mend(path, way);
    }
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
}

static void a_link_to_a_pack_is_followed_if_it_is_ours(void **state)
{
    stores_fixture *f = *state;
    char path[400];

    stores_pack(path, f);
    spoil(path, IS_LINK);
    f->cache.search_path = path;
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
    if (!is_root())
        test_skip(SKIP_MACHINE, "only root gives files to others");
    assert_int_equal(lchown(path, SOMEBODY, SOMEBODY), 0);
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    assert_one_line(f->lines, path, "a link of another user's leads to it");
}

/* Whatever the umask: the group need not change what is never changed. */
static void a_pack_is_not_its_groups_to_write(void **state)
{
    const mode_t before = umask(0);
    stores_fixture *f = *state;
    struct stat facts;
    char path[400];

    stores_pack(path, f);
    (void)umask(before);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0644);
}

/* What the program names by path it answers for, as for a library. */
static void a_pack_that_the_program_inserts_is_the_programs(void **state)
{
    stores_fixture *f = *state;
    kiln_pack *pack = NULL;
    char path[400];

    stores_pack(path, f);
    spoil(path, OTHERS_WRITE);
    assert_ok(kiln_pack_open(&pack, path, &test_error));
    assert_ok(kiln_insert(f->context, pack, &test_error));
    assert_true(stores_has(f, &f->a));
}

static void a_pack_that_is_cut_is_told(void **state)
{
    stores_fixture *f = *state;
    char path[800];

    stores_put(f, &f->a);
    compact(f);
    pack_path(path, f);
    assert_int_equal(truncate(path, 300), 0);
    stores_reopen_as(f, KILN_CACHE_MODE_READ_ONLY);
    assert_refused(f->context, path, "its end is missing");
}

#define WITH_STORES(test) \
    cmocka_unit_test_setup_teardown(test, stores_setup, stores_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORES(a_folder_that_is_not_ours_alone_is_left_as_it_is),
        WITH_STORES(so_is_that_of_a_name_space),
        WITH_STORES(an_entry_that_is_not_ours_alone_is_not_used_and_goes),
        WITH_STORES(an_entry_of_somebody_elses_is_replaced_when_one_is_put),
        WITH_STORES(an_entry_of_two_names_is_as_good_as_of_one),
        WITH_STORES(a_list_of_rights_counts_as_what_it_lets_others_do),
        WITH_STORES(others_may_write_above_the_folder),
        WITH_STORES(a_link_to_the_folder_is_followed_if_it_is_ours),
        WITH_STORES(nor_does_a_link_of_somebody_elses_lead_to_a_new_folder),
        WITH_STORES(links_that_lead_nowhere_end),
        WITH_STORES(packs_of_the_folder_are_looked_at_too),
        WITH_STORES(nothing_is_packed_or_dropped_through_a_link),
        WITH_STORES(nor_is_what_failed_kept_there),
        WITH_STORES(what_is_searched_is_ones_own_or_roots_or_of_who_is_named),
        WITH_STORES(nothing_is_used_where_users_cannot_be_told_apart),
        WITH_STORES(each_level_of_a_searched_folder_is_looked_at),
        WITH_STORES(a_pack_that_others_may_write_is_not_searched),
        WITH_STORES(a_link_to_a_pack_is_followed_if_it_is_ours),
        WITH_STORES(a_pack_is_not_its_groups_to_write),
        WITH_STORES(a_pack_that_the_program_inserts_is_the_programs),
        WITH_STORES(a_pack_that_is_cut_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
