/* test_warm_tools.c - artifacts of others' tools in the processes that follow.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers cuda */
#include "workers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM \
    "text", "main", "main.kiln", \
        "kernel k(y)\n" \
        "    y[global_id(0)] = 1.0\n" \
        "end\n" \
        "kernel arcs(y)\n" \
        "    y[global_id(0)] = asin(y[global_id(0)])\n" \
        "end\n" \
        "kernel more(y)\n" \
        "    y[global_id(0)] = acos(y[global_id(0)])\n" \
        "end\n"
#define TARGET "offline", "cuda:sm_80"
#define USE TARGET, PROGRAM, "compile", "main.k", "f32[:]", "counts"
#define ARCS TARGET, PROGRAM, "compile", "main.arcs", "f32[:]", "counts"
#define MORE TARGET, PROGRAM, "compile", "main.more", "f32[:]", "counts"

/* A tool that copies, and notes that it ran. */
#define SCRIPT(note) \
    "#!/bin/sh\n# " note "\necho run >> \"$0.ran\"\n" \
    "while [ $# -gt 0 ]; do\n" \
    "  case $1 in -o) out=$2; shift;; -*) ;; *) in=$1;; esac; shift\n" \
    "done\ncat \"$in\" > \"$out\"\n"

static char ptxas[200], none[] = "KILN_NVJITLINK=off";

static const char *make_tool(const char *name, const char *script)
{
    char path[160];

    harness_write_file(path, sizeof path, workers_folder, name, script,
                       strlen(script));
    assert_int_equal(chmod(path, 0755), 0);
    (void)snprintf(ptxas, sizeof ptxas, "KILN_PTXAS=%s", path);
    return ptxas;
}

static size_t runs(const char *name)
{
    char path[160];
    struct stat info;

    (void)snprintf(path, sizeof path, "%s/%s.ran", workers_folder, name);
    return stat(path, &info) == 0 ? (size_t)info.st_size / 4 : 0;
}

/* ---- tools ---- */

static void a_hit_runs_no_tool(void **state)
{
    const char *tool = make_tool("ptxas", SCRIPT("first"));
    const char *said;

    (void)state;
    assert_contains(WORKER(none, tool, USE), "compile built");
    assert_int_equal(runs("ptxas"), 1);
    said = WORKER(none, tool, USE, "about", "main.k", "f32[:]");
    assert_contains(said, "compile store");
    assert_contains(said, "about cubin");
    assert_int_equal(runs("ptxas"), 1);
}

static void another_build_of_the_tool_makes_a_miss(void **state)
{
    const char *tool = make_tool("ptxas", SCRIPT("first"));
    const char *said;

    (void)state;
    (void)WORKER(none, tool, USE);
    (void)make_tool("ptxas", SCRIPT("other"));
    said = WORKER(none, tool, USE);
    assert_contains(said, "compile built");
    assert_contains(said, "binary_toolchain=1 ");
    assert_contains(WORKER(none, tool, USE), "compile store");
    assert_int_equal(runs("ptxas"), 2);
}

static void the_same_tool_at_another_place_or_time_is_the_same(void **state)
{
    const char *tool = make_tool("ptxas", SCRIPT("first"));

    (void)state;
    (void)WORKER(none, tool, USE);
    (void)make_tool("ptxas", SCRIPT("first"));
    assert_contains(WORKER(none, tool, USE), "compile store");
    tool = make_tool("moved", SCRIPT("first"));
    assert_contains(WORKER(none, tool, USE), "compile store");
    assert_int_equal(runs("moved"), 0);
}

static void without_the_tool_every_entry_serves(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(none, make_tool("ptxas", SCRIPT("first")), USE);
    said = WORKER(none, "KILN_PTXAS=/nowhere", USE);
    assert_contains(said, "compile store");
    assert_contains(said, "binary_toolchain=0 ");
    assert_contains(WORKER(none, "KILN_PTXAS=off", USE), "compile store");
}

/* A tool that is another one as soon as it has run, as if it were upgraded at
   that moment. */
static void the_tool_that_ran_is_named_though_another_is_there_now(void **state)
{
    const char *tool, *said;

    (void)state;
    (void)make_tool("next", SCRIPT("other"));
    tool = make_tool("ptxas", SCRIPT("first") "mv \"${0%/*}/next\" \"$0\"\n");
    (void)WORKER(none, tool, USE);
    said = WORKER(none, tool, USE);
    assert_contains(said, "compile built");
    assert_contains(said, "binary_toolchain=1 ");
    assert_contains(WORKER(none, tool, USE), "compile store");
}

/* nvJitLink would be used now; but it is no other build of ptxas. */
static void another_tool_is_no_other_build(void **state)
{
    const char *tool = make_tool("ptxas", SCRIPT("first"));
    char library[160], chosen[200];

    (void)state;
    (void)WORKER(none, tool, USE);
    harness_write_file(library, sizeof library, workers_folder, "library.so",
                       "x", 1);
    (void)snprintf(chosen, sizeof chosen, "KILN_NVJITLINK=%s", library);
    assert_contains(WORKER(chosen, tool, USE), "compile store");
}

static void what_no_tool_made_serves_when_one_comes(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(none, "KILN_PTXAS=off", USE);
    said = WORKER(none, make_tool("ptxas", SCRIPT("late")), USE, "about",
                  "main.k", "f32[:]");
    assert_contains(said, "compile store");
    assert_contains(said, "about ptx");
}

static void what_a_tool_refuses_is_kept_and_its_place_told(void **state)
{
    static worker w;
    const char *tool =
        make_tool("ptxas", "#!/bin/sh\necho 'line 3; nonsense'\nexit 1\n");
    const char *at;
    char path[300];

    (void)state;
    WORKER_START(&w, none, tool, USE);
    assert_int_not_equal(worker_wait(&w), 0);
    assert_contains(w.text, "ptxas: line 3; nonsense; its input is kept in ");
    at = strstr(w.text, "is kept in ") + strlen("is kept in ");
    (void)snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "|\n"), at);
    assert_contains(path, "/v2/failed/");
    assert_contains(path, ".ptx");
    assert_int_equal(access(path, R_OK), 0);

    WORKER_START(&w, none, tool, "KILN_CACHE=off", USE);
    assert_int_not_equal(worker_wait(&w), 0);
    assert_contains(w.text, "ptxas: line 3; nonsense");
    assert_null(strstr(w.text, "is kept in"));
}

/* ---- libraries of mathematics ---- */

static char libclc[160];

static int copy_libclc(void)
{
    char command[400];

    (void)snprintf(libclc, sizeof libclc, "KILN_LIBCLC=%s/clc", workers_folder);
    (void)snprintf(command, sizeof command,
                   "mkdir -p %s/clc && cp -L /usr/lib/clc/nvptx64--.bc %s/clc",
                   workers_folder, workers_folder);
    return access("/usr/lib/clc/nvptx64--.bc", R_OK) == 0 &&
           system(command) == 0;
}

static void touch_libclc(void)
{
    char path[160];

    (void)snprintf(path, sizeof path, "%s/clc/nvptx64--.bc", workers_folder);
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
}

static void change_libclc(void)
{
    char path[160];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/clc/nvptx64--.bc", workers_folder);
    file = fopen(path, "a");
    assert_non_null(file);
    assert_int_equal(fwrite("\0\0\0\0", 1, 4, file), 4);
    assert_int_equal(fclose(file), 0);
}

static size_t bytes_read(const char *said)
{
    const char *at = strstr(said, "bytes_read rchar: ");

    assert_non_null(at);
    return (size_t)strtoull(at + strlen("bytes_read rchar: "), NULL, 10);
}

static void a_hit_does_not_read_the_library(void **state)
{
    const char *said;

    (void)state;
    if (!copy_libclc())
        test_skip(SKIP_PACKAGE, "no libclc");
    said = WORKER(none, "KILN_PTXAS=off", libclc, ARCS, "bytes_read");
    assert_contains(said, "compile built");
    assert_true(bytes_read(said) > ((size_t)4 << 20));
    said = WORKER(none, "KILN_PTXAS=off", libclc, ARCS, "bytes_read");
    assert_contains(said, "compile store");
    assert_true(bytes_read(said) < ((size_t)1 << 20));
}

static void another_library_makes_a_miss_and_a_touched_one_none(void **state)
{
    const char *said;

    (void)state;
    if (!copy_libclc())
        test_skip(SKIP_PACKAGE, "no libclc");
    (void)WORKER(none, "KILN_PTXAS=off", libclc, ARCS);
    touch_libclc();
    assert_contains(WORKER(none, "KILN_PTXAS=off", libclc, ARCS),
                    "compile store");
    assert_contains(
        WORKER(none, "KILN_PTXAS=off", "KILN_LIBCLC=/nowhere", ARCS),
        "compile store");
    change_libclc();
    said = WORKER(none, "KILN_PTXAS=off", libclc, ARCS);
    assert_contains(said, "compile built");
    assert_contains(said, "binary_toolchain=1 ");
    assert_contains(WORKER(none, "KILN_PTXAS=off", libclc, USE), "compile");
}

static void the_library_that_was_read_is_named(void **state)
{
    static worker w;
    const char *said;

    (void)state;
    if (!copy_libclc())
        test_skip(SKIP_PACKAGE, "no libclc");
    WORKER_START(&w, none, "KILN_PTXAS=off", libclc, ARCS, "say", "read",
                 "wait", workers_path("go"), "compile", "main.more", "f32[:]");
    worker_expect(&w, "read");
    change_libclc();
    workers_touch("go");
    worker_end(&w);
    said = WORKER(none, "KILN_PTXAS=off", libclc, MORE);
    assert_contains(said, "compile built");
    assert_contains(said, "binary_toolchain=1 ");
    assert_contains(WORKER(none, "KILN_PTXAS=off", libclc, MORE),
                    "compile store");
}

/* ---- the group ---- */

static int needs_cuda(void **state)
{
    static worker w;
    int ended;

    assert_int_equal(workers_setup(state), 0);
    WORKER_START(&w, TARGET);
    ended = worker_wait(&w);
    assert_int_equal(workers_teardown(state), 0);
    if (ended != 0)
        exit(program_skip(SKIP_PACKAGE, "this build has no backend cuda"));
    return 0;
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, workers_setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_hit_runs_no_tool),
        TEST(another_build_of_the_tool_makes_a_miss),
        TEST(the_same_tool_at_another_place_or_time_is_the_same),
        TEST(without_the_tool_every_entry_serves),
        TEST(the_tool_that_ran_is_named_though_another_is_there_now),
        TEST(another_tool_is_no_other_build),
        TEST(what_no_tool_made_serves_when_one_comes),
        TEST(what_a_tool_refuses_is_kept_and_its_place_told),
        TEST(a_hit_does_not_read_the_library),
        TEST(another_library_makes_a_miss_and_a_touched_one_none),
        TEST(the_library_that_was_read_is_named),
    };

    return cmocka_run_group_tests(tests, needs_cuda, NULL);
}
