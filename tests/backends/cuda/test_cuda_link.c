/* test_cuda_link.c - what becomes of PTX, with the vendor's tools and without.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen cuda */
/* LINKS: codegen */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "base/toolchain/ptxas.h"
#include "support/harness.h"

/* Tools of the tests are scripts in the test's own folder. */

static const char ptx[] = ".version 8.0\n"
                          ".target sm_75\n"
                          ".address_size 64\n"
                          ".visible .entry k(.param .u64 p)\n"
                          "{\n"
                          "  .reg .b64 %r<3>;\n"
                          "  ld.param.u64 %r1, [p];\n"
                          "  cvta.to.global.u64 %r2, %r1;\n"
                          "  st.global.u64 [%r2], %r1;\n"
                          "  ret;\n"
                          "}\n";

/* A function that is called, 528 bytes of stack, 2048 that a group shares. */
static const char needs[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".func (.param .b32 r) f(.param .b32 a)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %p<4>; .local .align 4 .b8 own[400];\n"
    "  ld.param.u32 %r1, [a]; mov.u64 %p1, own; cvt.u64.u32 %p2, %r1;\n"
    "  add.u64 %p3, %p1, %p2; st.local.u32 [%p3], %r1;\n"
    "  ld.local.u32 %r2, [own+8]; st.param.b32 [r], %r2; ret;\n"
    "}\n"
    ".visible .entry k(.param .u64 p)\n"
    "{\n"
    "  .reg .b64 %r<4>; .reg .b32 %x<5>;\n"
    "  .shared .align 4 .b8 all[2048]; .local .align 8 .b8 own[128];\n"
    "  ld.param.u64 %r1, [p]; cvta.to.global.u64 %r2, %r1;\n"
    "  ld.global.u32 %x1, [%r2]; st.shared.u32 [all+4], %x1; bar.sync 0;\n"
    "  ld.shared.u32 %x2, [all+64];\n"
    "  { .param .b32 a; .param .b32 r; st.param.b32 [a], %x2;\n"
    "    call (r), f, (a); ld.param.b32 %x3, [r]; }\n"
    "  st.global.u32 [%r2], %x3; ret;\n"
    "}\n";

/* ---- a job ---- */

typedef struct linking {
    kiln__codegen_settings settings;
    kiln__codegen_request request;
    kiln__codegen_job job;
    kiln_blob out;
    char kept[256];
    size_t kept_size;
    char suffix[16];
    char log[8192];
} linking;

static void keep(void *env, const char *suffix, const void *bytes, size_t size)
{
    linking *l = env;

    assert_int_equal(l->kept_size, 0);
    l->kept_size = size;
    memcpy(l->kept, bytes, size < sizeof l->kept ? size : sizeof l->kept);
    (void)snprintf(l->suffix, sizeof l->suffix, "%s", suffix);
}

static void take_line(void *env, int32_t level, const char *line)
{
    linking *l = env;
    const size_t used = strlen(l->log);

    assert_int_equal(level, KILN_LOG_DEBUG);
    assert_null(strchr(line, '\n'));
    (void)snprintf(l->log + used, sizeof l->log - used, "%s\n", line);
}

static void linking_init(linking *l, const char *processor,
                         const char *features)
{
    *l = (linking){
        .settings = {.backend = "cuda",
                     .processor = processor,
                     .features = features,
                     .options = "",
                     .opt_level = 3},
        .request = {.entry = "k", .keep = keep, .log = take_line},
    };
    l->request.settings = &l->settings;
    l->request.env = l;
    l->job.request = &l->request;
    l->job.settings = &l->settings;
    kiln__arena_init(&l->job.arena, &kiln__malloc);
}

static void linking_dispose(linking *l)
{
    if (l->out.release != NULL)
        l->out.release(&l->out);
    kiln__arena_dispose(&l->job.arena);
}

static kiln_status run(linking *l, const char *text)
{
    const kiln__object object = {text, strlen(text)};

    return kiln__cuda_link(&l->job, &object, &l->out);
}

/* What the text becomes, or the test fails. */
static void assert_linked(linking *l, const char *text, const char *format)
{
    const kiln_status status = run(l, text);

    if (status != KILN_OK)
        fail_msg("%s", l->job.message);
    assert_string_equal(l->job.format, format);
    assert_int_equal(l->kept_size, 0);
}

static void assert_is_ptx(const linking *l, const char *text)
{
    assert_string_equal(l->job.format, "ptx");
    assert_int_equal(l->job.tool_count, 0);
    assert_blob_equal(l->out, text, strlen(text));
}

static void assert_used(const linking *l, const char *name, const char *path)
{
    assert_int_equal(l->job.tool_count, 1);
    assert_string_equal(l->job.tools[0].name, name);
    if (path != NULL)
        assert_string_equal(l->job.tools[0].path, path);
}

/* ---- a folder, and tools in it ---- */

static char folder[64];

static int setup(void **state)
{
    const int made = temporary_folder_setup(state);

    (void)snprintf(folder, sizeof folder, "%s", (char *)*state);
    setenv("KILN_NVJITLINK", "off", 1);
    setenv("KILN_PTXAS", "off", 1);
    setenv("TMPDIR", folder, 1);
    return made;
}

static int teardown(void **state)
{
    unsetenv("KILN_NVJITLINK");
    unsetenv("KILN_PTXAS");
    unsetenv("TMPDIR");
    return temporary_folder_teardown(state);
}

/* Arguments of the script, read as ptxas reads them. */
#define READ_ARGUMENTS \
    "while [ $# -gt 0 ]; do\n" \
    "  case $1 in -o) out=$2; shift;; -*) ;; *) in=$1;; esac; shift\n" \
    "done\n"
#define COPY READ_ARGUMENTS "cat \"$in\" > \"$out\"\n"

static char tool_path[128];

static void make_tool(const char *script)
{
    harness_write_file(tool_path, sizeof tool_path, folder, "ptxas", script,
                       strlen(script));
    assert_int_equal(chmod(tool_path, 0755), 0);
    setenv("KILN_PTXAS", tool_path, 1);
}

/* The script is the only tool, for one target. */
static void with_tool(linking *l, const char *script)
{
    make_tool(script);
    linking_init(l, "sm_90", "+ptx80");
}

static size_t count_files(const char *path)
{
    DIR *list = opendir(path);
    size_t count = 0;

    assert_non_null(list);
    while (readdir(list) != NULL)
        count++;
    closedir(list);
    return count - 2;
}

/* ---- tools that are not there, or old ---- */

static void without_a_tool_the_ptx_is_the_drivers(void **state)
{
    linking l;

    (void)state;
    linking_init(&l, "sm_90", "+ptx80");

    assert_linked(&l, ptx, "ptx");

    assert_is_ptx(&l, ptx);
    assert_contains(l.log, "no tool makes a cubin for sm_90");
    linking_dispose(&l);
}

static void a_tool_at_no_place_is_none(void **state)
{
    linking l;

    (void)state;
    setenv("KILN_NVJITLINK", "/nowhere/libnvJitLink.so", 1);
    setenv("KILN_PTXAS", "/nowhere/ptxas", 1);
    linking_init(&l, "sm_90", "+ptx80");

    assert_linked(&l, ptx, "ptx");

    assert_is_ptx(&l, ptx);
    linking_dispose(&l);
}

static void what_is_no_library_is_passed_over(void **state)
{
    linking l;

    (void)state;
    make_tool("#!/bin/sh\n" COPY);
    setenv("KILN_NVJITLINK", tool_path, 1);
    linking_init(&l, "sm_90", "+ptx80");

    assert_linked(&l, ptx, "cubin");

    assert_contains(l.log, "nvJitLink is passed over");
    assert_contains(l.log, "cannot be used");
    assert_used(&l, "ptxas", tool_path);
    linking_dispose(&l);
}

static void what_is_no_program_is_passed_over(void **state)
{
    linking l;

    (void)state;
    with_tool(&l, "neither a script nor a program");

    assert_linked(&l, ptx, "ptx");

    assert_contains(l.log, "is passed over: cannot be started");
    linking_dispose(&l);
}

static void an_older_tool_is_passed_over(void **state)
{
    static const char *const texts[] = {
        "ptxas ptx, line 1; fatal   : Unsupported .version 9.9; current "
        "version is '8.8'",
        "ptxas fatal   : Value 'sm_130' is not defined for option 'gpu-name'",
        "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char script[256];
        linking l;

        (void)snprintf(script, sizeof script,
                       "#!/bin/sh\necho \"%s\" >&2\nexit 255\n", texts[i]);
        make_tool(script);
        linking_init(&l, "sm_130", "+ptx99");

        assert_linked(&l, ptx, "ptx");
        assert_contains(l.log, "ptxas is passed over");
        assert_contains(l.log, texts[i]);
        linking_dispose(&l);
    }
}

/* ---- tools that run ---- */

static void a_tool_reads_the_ptx_and_its_output_is_taken(void **state)
{
    linking l;

    (void)state;
    with_tool(&l, "#!/bin/sh\necho printed\n" COPY "echo said >&2\n");

    assert_linked(&l, ptx, "cubin");
    assert_blob_equal(l.out, ptx, sizeof ptx - 1);
    assert_used(&l, "ptxas", tool_path);
    linking_dispose(&l);
}

static void options_say_target_level_and_debug_level(void **state)
{
    static const char *const expected[] = {"-v -arch=sm_90a -O1 -o",
                                           "-v -arch=sm_90a -O1 -lineinfo -o",
                                           "-v -arch=sm_90a -O0 -g -o"};

    (void)state;
    make_tool("#!/bin/sh\nall=\"$*\"\n" READ_ARGUMENTS
              "echo \"$all\" > \"$out\"\n");
    for (int level = 0; level < 3; level++) {
        linking l;

        linking_init(&l, "sm_90a", "+ptx80");
        l.settings.opt_level = 1;
        l.settings.debug_level = (uint8_t)level;
        assert_linked(&l, ptx, "cubin");
        assert_contains(l.out.data, expected[level]);
        linking_dispose(&l);
    }
}

static void a_tool_that_the_target_chose_is_the_only_one(void **state)
{
    linking l;

    (void)state;
    with_tool(&l, "#!/bin/sh\n" COPY);
    l.settings.options = "tool=ptxas";
    assert_linked(&l, ptx, "cubin");
    linking_dispose(&l);

    linking_init(&l, "sm_90", "+ptx80");
    l.settings.options = "tool=nvjitlink";
    assert_linked(&l, ptx, "ptx");
    linking_dispose(&l);
}

static void a_tool_that_was_begun_gets_its_input_once(void **state)
{
    linking l;

    (void)state;
    with_tool(&l, "#!/bin/sh\n" COPY);
    l.request.begun = kiln__ptxas_begin(&l.settings);
    assert_non_null(l.request.begun);
    assert_linked(&l, ptx, "cubin");
    assert_blob_equal(l.out, ptx, strlen(ptx));
    kiln__ptxas_drop(l.request.begun);
    l.settings.options = "tool=nvjitlink";
    assert_null(kiln__ptxas_begin(&l.settings));
    linking_dispose(&l);
}

static void a_begun_tool_that_refuses_names_no_file(void **state)
{
    linking l;

    (void)state;
    make_tool("#!/bin/sh\n" READ_ARGUMENTS
              "cat \"$in\" >/dev/null\necho \"ptxas $in, line 3; error\"\n"
              "exit 1\n");
    linking_init(&l, "sm_90", "+ptx80");
    l.request.begun = kiln__ptxas_begin(&l.settings);
    assert_non_null(l.request.begun);
    assert_int_equal(run(&l, ptx), KILN_ECODEGEN);
    assert_string_equal(l.job.message, "ptxas: ptxas ptx, line 3; error");
    kiln__ptxas_drop(l.request.begun);
    linking_dispose(&l);
}

static void a_tool_that_reads_its_input_stream_finds_its_end(void **state)
{
    linking l;

    (void)state;
    with_tool(&l, "#!/bin/sh\ncat > /dev/null\n" COPY);

    assert_linked(&l, ptx, "cubin");
    linking_dispose(&l);
}

static void a_tool_that_prints_a_lot_is_read_to_its_end(void **state)
{
    linking l;

    (void)state;
    with_tool(&l, "#!/bin/sh\nhead -c 3000000 /dev/zero\n" COPY);

    assert_linked(&l, ptx, "cubin");
    linking_dispose(&l);
}

static void a_tool_gets_the_environment_and_no_open_files(void **state)
{
    const int null = open("/dev/null", O_RDONLY);
    const int open_file = fcntl(null, F_DUPFD, 20);
    linking l;

    (void)state;
    assert_int_equal(open_file, 20);
    setenv("KILN_TEST_WORD", "untouched", 1);
    make_tool("#!/bin/sh\n" READ_ARGUMENTS
              "{ echo $KILN_TEST_WORD; readlink /proc/$$/fd/20; pwd; }"
              " > \"$out\"\n");
    linking_init(&l, "sm_90", "+ptx80");

    assert_linked(&l, ptx, "cubin");

    assert_contains(l.out.data, "untouched\n");
    assert_null(strstr(l.out.data, "/dev/null"));
    linking_dispose(&l);
    close(open_file);
    close(null);
    unsetenv("KILN_TEST_WORD");
}

static void a_tool_in_the_search_path_is_found(void **state)
{
    char old[4096], new[8192], linker[128], found[PATH_MAX];

    (void)state;
    (void)snprintf(old, sizeof old, "%s", getenv("PATH"));
    harness_write_file(linker, sizeof linker, folder, "ld.lld", "", 0);
    (void)snprintf(new, sizeof new, "relative::%s", folder);
    setenv("PATH", new, 1);

    assert_int_not_equal(kiln__tool_find(found, KILN__TOOL_LLD),
                         KILN__TOOL_FOUND);
    assert_int_equal(chmod(linker, 0755), 0);
    assert_int_equal(kiln__tool_find(found, KILN__TOOL_LLD), KILN__TOOL_FOUND);

    assert_string_equal(found, linker);
    setenv("PATH", old, 1);
}

static void a_toolkit_that_a_variable_names_comes_first(void **state)
{
    char bin[96], moved[128];
    const char *set = getenv("CUDA_PATH");
    char *before = strdup(set != NULL ? set : "");
    linking l;

    (void)state;
    make_tool("#!/bin/sh\n" COPY);
    (void)snprintf(bin, sizeof bin, "%s/bin", folder);
    (void)snprintf(moved, sizeof moved, "%s/ptxas", bin);
    assert_int_equal(mkdir(bin, 0755), 0);
    assert_int_equal(rename(tool_path, moved), 0);
    unsetenv("KILN_PTXAS");
    setenv("CUDA_PATH", folder, 1);
    linking_init(&l, "sm_90", "+ptx80");
    assert_linked(&l, ptx, "cubin");
    setenv("CUDA_PATH", before, 1); /* an empty one is none */
    free(before);
    assert_used(&l, "ptxas", moved);
    linking_dispose(&l);
}

/* ---- tools that fail ---- */

static void assert_refused(const char *script, const char *message)
{
    linking l;

    with_tool(&l, script);

    assert_int_equal(run(&l, ptx), KILN_ECODEGEN);

    assert_contains(l.job.message, message);
    assert_null(strchr(l.job.message, '\n'));
    assert_string_equal(l.suffix, ".ptx");
    assert_int_equal(l.kept_size, sizeof ptx - 1);
    assert_memory_equal(l.kept, ptx,
                        sizeof l.kept < sizeof ptx - 1 ? sizeof l.kept
                                                       : sizeof ptx - 1);
    assert_null(l.out.data);
    linking_dispose(&l);
}

static void a_tool_that_refuses_the_ptx_says_why_and_it_is_kept(void **state)
{
    (void)state;
    assert_refused("#!/bin/sh\n" READ_ARGUMENTS
                   "echo \"ptxas $in, line 4; error : nonsense\" >&2\n"
                   "echo 'ptxas fatal : aborted' >&2\nexit 255\n",
                   "ptxas: ptxas ptx, line 4; error : nonsense ptxas fatal : "
                   "aborted");
}

static void a_tool_that_fails_in_any_way_is_told(void **state)
{
    (void)state;
    assert_refused("#!/bin/sh\nexit 3\n", "ptxas: ended with status 3");
    assert_refused("#!/bin/sh\necho first\nkill -ABRT $$\n",
                   "ptxas: first  ended by signal 6");
    assert_refused("#!/bin/sh\nexit 0\n", "ptxas: no output");
    assert_refused("#!/bin/sh\n" READ_ARGUMENTS ": > \"$out\"\n",
                   "ptxas: no output");
}

/* For want of memory, say: it may go well another time. */
static void a_tool_that_somebody_kills_is_no_verdict(void **state)
{
    linking l;

    (void)state;
    with_tool(&l, "#!/bin/sh\nkill -KILL $$\n");
    assert_int_equal(run(&l, ptx), KILN_EIO);
    assert_contains(l.job.message, "signal 9");
    assert_string_equal(l.suffix, "");
    linking_dispose(&l);
}

static void nothing_is_left_behind(void **state)
{
    linking l;

    (void)state;
    assert_refused("#!/bin/sh\nkill -TERM $$\n", "signal 15");
    with_tool(&l, "#!/bin/sh\n" COPY);
    assert_linked(&l, ptx, "cubin");
    linking_dispose(&l);

    assert_int_equal(count_files(folder), 1); /* the tool */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void a_host_that_reaps_every_child_gets_its_cubin(void **state)
{
    linking l;

    (void)state;
    make_tool("#!/bin/sh\n" COPY);
    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    linking_init(&l, "sm_90", "+ptx80");
    assert_linked(&l, ptx, "cubin");
    assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
    linking_dispose(&l);
}

static void without_a_folder_for_it_the_output_goes_to_tmp(void **state)
{
    linking l;

    (void)state;
    make_tool("#!/bin/sh\n" READ_ARGUMENTS "echo \"$out\" > \"$out\"\n");
    setenv("TMPDIR", "/nowhere/at/all", 1);
    linking_init(&l, "sm_90", "+ptx80");
    assert_linked(&l, ptx, "cubin");
    assert_memory_equal(l.out.data, "/tmp/kiln-run-", 14);
    linking_dispose(&l);

    setenv("TMPDIR", folder, 1);
    linking_init(&l, "sm_90", "+ptx80");
    assert_linked(&l, ptx, "cubin");
    assert_memory_equal(l.out.data, folder, strlen(folder));
    linking_dispose(&l);
}

/* ---- the vendor's own ---- */

static void use_own(const char *which)
{
    const int tool = strcmp(which, "KILN_PTXAS") == 0 ? KILN__TOOL_PTXAS
                                                      : KILN__TOOL_NVJITLINK;
    char path[PATH_MAX];

    unsetenv(which);
    if (kiln__tool_find(path, tool) == KILN__TOOL_FOUND)
        return;
    test_skip(SKIP_PACKAGE, which);
}

static const char *const own[] = {"KILN_PTXAS", "KILN_NVJITLINK"};
static const char *const own_names[] = {"ptxas", "nvjitlink"};

static void assert_is_cubin(const linking *l)
{
    assert_true(l->out.size > 64);
    assert_memory_equal(l->out.data, "\177ELF", 4);
}

/* nvJitLink knows no level between the lowest and the highest. */
static void each_of_the_vendors_makes_a_cubin_at_every_level(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        for (uint8_t level = 0; level < 4; level++) {
            linking l;

            setenv("KILN_NVJITLINK", "off", 1);
            setenv("KILN_PTXAS", "off", 1);
            use_own(own[i]);
            linking_init(&l, "sm_90", "+ptx80");
            l.settings.opt_level = level;
            assert_linked(&l, ptx, "cubin");
            assert_string_equal(l.log, "");
            linking_dispose(&l);
        }
}

static void each_of_the_vendors_makes_a_cubin(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        linking first, second;

        setenv(own[1 - i], "off", 1);
        use_own(own[i]);
        linking_init(&first, "sm_90", "+ptx80");
        linking_init(&second, "sm_90", "+ptx80");
        assert_linked(&first, ptx, "cubin");
        assert_linked(&second, ptx, "cubin");
        assert_is_cubin(&first);
        assert_used(&first, own_names[i], NULL);
        assert_blob_equal(second.out, first.out.data, first.out.size);
        linking_dispose(&first);
        linking_dispose(&second);
    }
}

static void what_a_cubin_needs_is_read_from_it(void **state)
{
    static const char *const processors[] = {"sm_75", "sm_80", "sm_90",
                                             "sm_100", "sm_120"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        setenv(own[1 - i], "off", 1);
        use_own(own[i]);
        for (size_t p = 0; p < 5; p++) {
            linking l;

            linking_init(&l, processors[p], "+ptx80");
            assert_linked(&l, needs, "cubin");
            assert_int_equal(l.job.static_local_bytes, 2048);
            assert_int_equal(l.job.private_bytes, 528);
            assert_in_range(l.job.registers, 4, 64);
            assert_int_equal(l.job.spill_bytes, 0);
            linking_dispose(&l);
        }
    }
}

/* Sixty-four values at once, in a kernel that may have 24 registers. */
static char *make_crowd(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    fprintf(out, ".version 8.0\n.target sm_75\n.address_size 64\n"
                 ".visible .entry k(.param .u64 p) .maxnreg 24\n{\n"
                 "  .reg .b64 %%r<3>; .reg .f64 %%d<66>;\n"
                 "  ld.param.u64 %%r1, [p]; cvta.to.global.u64 %%r2, %%r1;\n");
    for (int i = 0; i < 64; i++)
        fprintf(out, "  ld.volatile.global.f64 %%d%d, [%%r2+%d];\n", i, 8 * i);
    for (int i = 63; i >= 0; i--)
        fprintf(out, "  st.volatile.global.f64 [%%r2+%d], %%d%d;\n", 8 * i, i);
    fprintf(out, "  ret;\n}\n");
    assert_int_equal(fclose(out), 0);
    return text;
}

static void spilled_bytes_are_told(void **state)
{
    char *crowd = make_crowd();

    (void)state;
    for (int i = 0; i < 2; i++) {
        linking l;

        setenv(own[1 - i], "off", 1);
        use_own(own[i]);
        linking_init(&l, "sm_80", "+ptx80");
        assert_linked(&l, crowd, "cubin");
        assert_in_range(l.job.registers, 16, 24);
        assert_in_range(l.job.spill_bytes, 64, 1024);
        assert_in_range(l.job.private_bytes, 64, 1024);
        linking_dispose(&l);
    }
    free(crowd);
}

static void a_damaged_cubin_tells_nothing_wrong(void **state)
{
    linking made, l;
    unsigned char *copy;

    (void)state;
    use_own(own[0]);
    linking_init(&made, "sm_80", "+ptx80");
    assert_linked(&made, needs, "cubin");
    copy = malloc(made.out.size);
    assert_non_null(copy);
    for (size_t i = 0; i < made.out.size; i++) {
        kiln_blob damaged = {.data = copy, .size = made.out.size};

        memcpy(copy, made.out.data, made.out.size);
        copy[i] ^= 0xff;
        linking_init(&l, "sm_80", "+ptx80");
        kiln__cubin_read(&l.job, &damaged, "");
        damaged.size = i;
        kiln__cubin_read(&l.job, &damaged, "");
        linking_dispose(&l);
    }
    free(copy);
    linking_dispose(&made);
}

static void the_vendors_refuse_nonsense_with_its_line(void **state)
{
    static const char bad[] = ".version 8.0\n.target sm_75\n"
                              ".address_size 64\n.visible .entry k()\n"
                              "{ st.globl.u64 [%r2], %r1; ret; }\n";

    (void)state;
    for (int i = 0; i < 2; i++) {
        linking l;

        setenv(own[1 - i], "off", 1);
        use_own(own[i]);
        linking_init(&l, "sm_80", "+ptx80");
        assert_int_equal(run(&l, bad), KILN_ECODEGEN);
        assert_contains(l.job.message, "line 5");
        assert_contains(l.job.message, ".globl");
        assert_string_equal(l.suffix, ".ptx");
        linking_dispose(&l);
    }
}

static void the_vendors_are_passed_over_when_they_are_older(void **state)
{
    static const char newer[] = ".version 99.0\n.target sm_80\n";

    (void)state;
    for (int i = 0; i < 2; i++) {
        linking l;

        setenv(own[1 - i], "off", 1);
        use_own(own[i]);
        linking_init(&l, "sm_80", "+ptx990");
        assert_linked(&l, newer, "ptx");
        assert_contains(l.log, "is passed over");
        linking_dispose(&l);
        linking_init(&l, "sm_999", "+ptx80");
        assert_linked(&l, ptx, "ptx");
        assert_contains(l.log, "is passed over");
        linking_dispose(&l);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_tool_the_ptx_is_the_drivers),
        TEST(a_tool_at_no_place_is_none),
        TEST(what_is_no_library_is_passed_over),
        TEST(what_is_no_program_is_passed_over),
        TEST(an_older_tool_is_passed_over),
        TEST(a_tool_reads_the_ptx_and_its_output_is_taken),
        TEST(options_say_target_level_and_debug_level),
        TEST(a_tool_that_the_target_chose_is_the_only_one),
        TEST(a_tool_that_was_begun_gets_its_input_once),
        TEST(a_begun_tool_that_refuses_names_no_file),
        TEST(a_tool_that_reads_its_input_stream_finds_its_end),
        TEST(a_tool_that_prints_a_lot_is_read_to_its_end),
        TEST(a_tool_gets_the_environment_and_no_open_files),
        TEST(a_tool_in_the_search_path_is_found),
        TEST(a_toolkit_that_a_variable_names_comes_first),
        TEST(a_tool_that_refuses_the_ptx_says_why_and_it_is_kept),
        TEST(a_tool_that_fails_in_any_way_is_told),
        TEST(a_tool_that_somebody_kills_is_no_verdict),
        TEST(nothing_is_left_behind),
        TEST(a_host_that_reaps_every_child_gets_its_cubin),
        TEST(without_a_folder_for_it_the_output_goes_to_tmp),
        TEST(each_of_the_vendors_makes_a_cubin),
        TEST(each_of_the_vendors_makes_a_cubin_at_every_level),
        TEST(what_a_cubin_needs_is_read_from_it),
        TEST(spilled_bytes_are_told),
        TEST(a_damaged_cubin_tells_nothing_wrong),
        TEST(the_vendors_refuse_nonsense_with_its_line),
        TEST(the_vendors_are_passed_over_when_they_are_older),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
