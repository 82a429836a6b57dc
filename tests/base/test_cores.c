/* test_cores.c - how many cores the limits of control groups amount to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system/cores.h"
#include "support/harness.h"

#define NO_LIMIT UINT32_MAX

/* Writes a file below the temporary folder, and the folders on its path. */
static void put(void **state, const char *name, const char *text)
{
    char folder[512], path[512];

    (void)snprintf(folder, sizeof folder, "%s/%s", (char *)*state, name);
    for (char *slash = strchr(folder + strlen(*state) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(folder, 0700);
        *slash = '/';
    }
    *strrchr(folder, '/') = '\0';
    harness_write_file(path, sizeof path, folder, strrchr(name, '/') + 1, text,
                       strlen(text));
}

/* The quota of a process whose groups are these. */
static uint32_t quota(void **state, const char *groups)
{
    char list[512], root[512];

    harness_write_file(list, sizeof list, *state, "list", groups,
                       strlen(groups));
    (void)snprintf(root, sizeof root, "%s/root", (char *)*state);
    return kiln__core_quota_in(list, root);
}

static void without_files_there_is_no_limit(void **state)
{
    assert_int_equal(kiln__core_quota_in("/nowhere/list", *state), NO_LIMIT);
    assert_int_equal(quota(state, ""), NO_LIMIT);
    assert_int_equal(quota(state, "no line of a list\n"), NO_LIMIT);
    assert_int_equal(quota(state, "0::/\n4:cpu:/a\n"), NO_LIMIT);
}

static void a_limit_is_rounded_up(void **state)
{
    put(state, "root/a/cpu.max", "150000 100000\n");
    assert_int_equal(quota(state, "0::/a\n"), 2);
    put(state, "root/a/cpu.max", "10000 100000\n");
    assert_int_equal(quota(state, "0::/a\n"), 1);
    put(state, "root/a/cpu.max", "800000 100000\n");
    assert_int_equal(quota(state, "0::/a\n"), 8);
}

static void numbers_that_say_nothing_are_no_limit(void **state)
{
    static const char *const texts[] = {"max 100000\n",
                                        "",
                                        "0 100000\n",
                                        "100000\n",
                                        "100000 0\n",
                                        "-1 100000\n",
                                        "x",
                                        "9223372036854775807 1\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(state, "root/a/cpu.max", texts[i]);
        assert_int_equal(quota(state, "0::/a\n"), NO_LIMIT);
    }
}

static void limits_of_the_groups_above_hold_too(void **state)
{
    put(state, "root/a/b/c/cpu.max", "400000 100000\n");
    put(state, "root/a/b/cpu.max", "max 100000\n");
    put(state, "root/a/cpu.max", "300000 100000\n");
    assert_int_equal(quota(state, "0::/a/b/c\n"), 3);
    assert_int_equal(quota(state, "0::/\n"), NO_LIMIT);
    put(state, "root/cpu.max", "200000 100000\n");
    assert_int_equal(quota(state, "0::/a/b/c\n"), 2);
    assert_int_equal(quota(state, "0::/\n"), 2);
    assert_int_equal(quota(state, "0::/of/another/container\n"), 2);
}

static void the_first_version_has_two_files(void **state)
{
    put(state, "root/cpu/a/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(quota(state, "4:cpu,cpuacct:/a\n"), NO_LIMIT);
    put(state, "root/cpu/a/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota(state, "5:pids:/x\n4:cpu,cpuacct:/a\n"), 3);
    assert_int_equal(quota(state, "4:cpuset:/a\n"), NO_LIMIT);
    put(state, "root/cpu/cpu.cfs_quota_us", "-1\n");
    put(state, "root/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota(state, "4:cpuacct,cpu:/a\n"), 3);
    assert_int_equal(quota(state, "4:cpuacct,cpu:/\n"), NO_LIMIT);
}

static void this_process_has_a_core(void **state)
{
    (void)state;
    assert_true(kiln__core_quota() >= 1);
    assert_in_range(kiln__core_count(), 1, 1 << 20);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(without_files_there_is_no_limit),
        IN_FOLDER(a_limit_is_rounded_up),
        IN_FOLDER(numbers_that_say_nothing_are_no_limit),
        IN_FOLDER(limits_of_the_groups_above_hold_too),
        IN_FOLDER(the_first_version_has_two_files),
        cmocka_unit_test(this_process_has_a_core),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
