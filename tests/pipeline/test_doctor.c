/* test_doctor.c - what the doctor tells of folders and packs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/sys/cache_tools.h"
#include "stores/pack/pack.h"
#include "support/harness.h"
#include "support/stores/stores_fixture.h"

#define SOMEBODY 12345u /* another user */

typedef struct findings {
    int bad, notes;
    char text[4000];
} findings;

static void note_check(void *env, const char *name, int32_t verdict,
                       const char *text)
{
    findings *n = env;

    if (strcmp(name, "trust") != 0 && strcmp(name, "folder") != 0 &&
        strcmp(name, "search path") != 0)
        return;
    n->bad += verdict == KILN_CHECK_BAD;
    n->notes += verdict == KILN_CHECK_NOTE;
    (void)snprintf(n->text + strlen(n->text), sizeof n->text - strlen(n->text),
                   "%s\n", text);
}

static findings ask_doctor(stores_fixture *f)
{
    findings n = {0};

    stores_reopen(f);
    assert_ok(kiln_cache_check(f->context, note_check, &n));
    return n;
}

#define LEVELS 4 /* the entry, its shard, v2, the folder */

static void the_doctor_names_what_is_not_used(void **state)
{
    stores_fixture *f = *state;
    char path[800];
    findings n;

    stores_put(f, &f->a);
    stores_put(f, &f->b);
    loose_path(path, sizeof path, f->disk, &f->a);
    n = ask_doctor(f);
    assert_int_equal(n.bad, 0);
    assert_contains(n.text, "nobody else may write to what is used");
    for (int level = 0; level < LEVELS; level++) {
        assert_int_equal(chmod(path, level ? 0702 : 0602), 0);
        n = ask_doctor(f);
        assert_int_equal(n.bad, 1);
        assert_contains(n.text, "others may write to it");
        assert_contains(n.text, path);
        assert_int_equal(chmod(path, level ? 0700 : 0600), 0);
        *strrchr(path, '/') = '\0';
    }
    assert_int_equal(chmod(f->folder, 0777), 0);
    n = ask_doctor(f);
    assert_int_equal(n.bad, 0);
    assert_true(n.notes > 0);
    assert_contains(n.text, f->folder);
}

static void the_doctor_tells_a_folder_that_cannot_be_one(void **state)
{
    stores_fixture *f = *state;
    char path[400];
    findings n;

    stores_pack(path, f); /* a file */
    f->cache.directory = path;
    n = ask_doctor(f);
    assert_int_equal(n.bad, 1);
    assert_contains(n.text, "is not used: Not a directory");
    f->cache.directory = "/proc/nowhere/kiln"; /* nobody can make it */
    n = ask_doctor(f);
    assert_int_equal(n.bad, 1);
    assert_contains(n.text, "/proc/nowhere/kiln is not used: No such file");
    f->cache.mode = KILN_CACHE_MODE_READ_ONLY;
    n = ask_doctor(f);
    assert_int_equal(n.bad, 0);
    assert_contains(n.text, "not there yet");

    if (geteuid() != 0)
        test_skip(SKIP_MACHINE, "only root gives files to others");
    (void)snprintf(path, sizeof path, "%s/link", f->folder);
    assert_int_equal(symlink("./disk", path), 0);
    assert_int_equal(lchown(path, SOMEBODY, SOMEBODY), 0);
    f->cache.directory = path;
    n = ask_doctor(f);
    assert_int_equal(n.bad, 1);
    assert_contains(n.text, "a link of another user's leads to it");
}

static void the_doctor_tells_a_search_path_that_leads_nowhere(void **state)
{
    stores_fixture *f = *state;
    char pack[400], list[1200];
    findings n;

    stores_pack(pack, f);
    f->cache.search_path = pack;
    n = ask_doctor(f);
    assert_int_equal(n.bad + n.notes, 0);
    (void)snprintf(list, sizeof list, "/nowhere:%s:%s", f->folder, pack);
    f->cache.search_path = list;
    n = ask_doctor(f);
    assert_int_equal(n.bad, 0);
    assert_int_equal(n.notes, 2);
    assert_contains(n.text, "/nowhere: there is no such file or folder");
    assert_contains(n.text, "there are no entries in it");
    assert_int_equal(truncate(pack, 300), 0);
    n = ask_doctor(f);
    assert_int_equal(n.bad, 1);
    assert_contains(n.text, "site.kilnpack is not used: its end is missing");
}

#define WITH_STORES(test) \
    cmocka_unit_test_setup_teardown(test, stores_setup, stores_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORES(the_doctor_names_what_is_not_used),
        WITH_STORES(the_doctor_tells_a_folder_that_cannot_be_one),
        WITH_STORES(the_doctor_tells_a_search_path_that_leads_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
