/* test_opencl_files.c - which edits of a program's files make it new. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
/* WRAPS: kiln__source_compile kiln__source_compiler */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/frontend/cl_fake.h"

#define FILE_TEXT \
    "#include \"used.h\"\n" \
    "kernel first f32*\n  ; one\n"

/* A folder with a program, and folders for headers. */
typedef struct files {
    const char *folder;
    char file[300];
    char options[700]; /* -I early -I late */
} files;

static void write_in(const files *f, const char *part, const char *name,
                     const char *text)
{
    char folder[300], path[400];

    (void)snprintf(folder, sizeof folder, "%s%s", f->folder, part);
    (void)mkdir(folder, 0700);
    harness_write_file(path, sizeof path, folder, name, text, strlen(text));
}

static void prepare(files *f, const char *folder)
{
    f->folder = folder;
    write_in(f, "/program", "main.cl", FILE_TEXT);
    write_in(f, "/early", "unrelated.h", "// nobody includes it\n");
    write_in(f, "/late", "used.h", "kernel second\n  ; two\n");
    (void)snprintf(f->file, sizeof f->file, "%s/program/main.cl", folder);
    (void)snprintf(f->options, sizeof f->options, "-I%s/early -I%s/late",
                   folder, folder);
}

static void load(cl_process *p, const files *f, kiln_change_report *report)
{
    kiln_opencl_program *program;

    assert_ok(kiln_opencl_load(&program, p->context, f->file, f->options,
                               report, &test_error));
}

/* Infers both kernels in a process of its own, and returns how many of them
   were built. */
static uint64_t run(const files *f)
{
    uint64_t count;
    cl_process p;

    cl_start(&p, f->folder);
    load(&p, f, NULL);
    (void)cl_digest(&p, "first", "f32[:]");
    (void)cl_digest(&p, "second", "");
    count = cl_built(&p);
    cl_end(&p);
    return count;
}

static uint64_t run_second(const files *f)
{
    uint64_t count;
    cl_process p;

    cl_start(&p, f->folder);
    load(&p, f, NULL);
    (void)cl_digest(&p, "second", "");
    count = cl_built(&p);
    cl_end(&p);
    return count;
}

static void test_nothing_is_edited(void **state)
{
    files f;

    prepare(&f, *state);
    assert_int_equal(run(&f), 2);
    assert_counted(0, 1);
    assert_int_equal(run(&f), 0);
    assert_counted(0, 0);
}

static void test_an_unrelated_header(void **state)
{
    files f;

    prepare(&f, *state);
    (void)run(&f);
    write_in(&f, "/early", "unrelated.h", "kernel third\n");
    assert_int_equal(run(&f), 0);
    assert_counted(0, 0);
}

static void test_a_comment_in_a_header(void **state)
{
    files f;

    prepare(&f, *state);
    (void)run(&f);
    write_in(&f, "/late", "used.h", "// a note\nkernel second\n  ; two\n");
    assert_int_equal(run(&f), 0);
    assert_counted(1, 0);
    assert_int_equal(run(&f), 0);
    assert_counted(0, 0);
}

static void test_an_edited_header(void **state)
{
    files f;

    prepare(&f, *state);
    (void)run(&f);
    write_in(&f, "/late", "used.h", "kernel second\n  ; edited\n");
    assert_int_equal(run(&f), 1); /* the kernel that it defines */
    assert_counted(1, 1);
    write_in(&f, "/late", "used.h", "kernel second\n  ; two\n");
    assert_int_equal(run(&f), 0); /* the first form is still known */
    assert_counted(0, 0);
}

static void test_a_header_appears_earlier(void **state)
{
    char path[400];
    files f;

    prepare(&f, *state);
    (void)run(&f);
    write_in(&f, "/early", "used.h", "kernel second\n  ; earlier\n");
    assert_int_equal(run(&f), 1);
    assert_counted(1, 1);
    write_in(&f, "/program", "used.h", "kernel second\n  ; earliest\n");
    assert_int_equal(run(&f), 1);
    (void)snprintf(path, sizeof path, "%s/program/used.h", f.folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(run(&f), 0);
    assert_counted(0, 0);
}

/* A folder that is not there is not searched. */
static void test_a_folder_appears(void **state)
{
    char path[400];
    files f;

    prepare(&f, *state);
    (void)snprintf(path, sizeof path, "%s/early/unrelated.h", f.folder);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/early", f.folder);
    assert_int_equal(rmdir(path), 0);
    (void)run(&f);
    write_in(&f, "/early", "used.h", "kernel second\n  ; earlier\n");
    assert_int_equal(run(&f), 1);
}

/* A compiler knows a file by its inode, and may include it once. */
static void test_one_file_has_two_names(void **state)
{
    char one[400], other[400];
    files f;

    prepare(&f, *state);
    write_in(&f, "/program", "main.cl",
             "kernel second\n#include \"a.h\"\n#include \"b.h\"\n");
    write_in(&f, "/late", "a.h", "  ; two\n");
    (void)snprintf(one, sizeof one, "%s/late/a.h", f.folder);
    (void)snprintf(other, sizeof other, "%s/late/b.h", f.folder);
    assert_int_equal(link(one, other), 0);
    assert_int_equal(run_second(&f), 1);
    assert_int_equal(run_second(&f), 0);
    assert_counted(0, 0);
    assert_int_equal(unlink(other), 0);
    write_in(&f, "/late", "b.h", "  ; two\n"); /* a copy */
    assert_int_equal(run_second(&f), 1);
    assert_counted(1, 1);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(symlink("a.h", other), 0);
    assert_int_equal(run_second(&f), 0);
    assert_counted(0, 0);
}

/* The compiler's own header is no file. */
static void test_a_folder_is_called_as_a_compilers(void **state)
{
    files f;

    prepare(&f, *state);
    write_in(&f, "/late/lib", "used.h", "");
    write_in(&f, "/late/lib/clang", "used.h", "kernel second\n  ; two\n");
    (void)snprintf(f.options, sizeof f.options, "-I%s/late/lib/clang",
                   f.folder);
    assert_int_equal(run_second(&f), 1);
    write_in(&f, "/late/lib/clang", "used.h", "kernel second\n  ; edited\n");
    assert_int_equal(run_second(&f), 1);
}

static void test_a_missing_header(void **state)
{
    const kiln_code *code;
    cl_process p;
    files f;

    prepare(&f, *state);
    write_in(&f, "/program", "main.cl", "#include \"none.h\"\nkernel k\n");
    cl_start(&p, f.folder);
    load(&p, &f, NULL);
    assert_fails(KILN_ECOMPILE, "'none.h' file not found",
                 cl_infer(&code, &p, "k", "", &test_error));
    write_in(&f, "/late", "none.h", "");
    load(&p, &f, NULL); /* the same text, but now there is the file */
    (void)cl_digest(&p, "k", "");
    cl_end(&p);
}

/* Paths in the stores are relative to the program and its options. */
static void test_everything_moves(void **state)
{
    char from[400], to[400];
    files f;

    prepare(&f, *state);
    (void)run(&f);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(from, sizeof from, "%s/%s", f.folder,
                       i ? "program" : "late");
        (void)snprintf(to, sizeof to, "%s/moved-%d", f.folder, i);
        assert_int_equal(rename(from, to), 0);
    }
    (void)snprintf(f.file, sizeof f.file, "%s/moved-1/main.cl", f.folder);
    (void)snprintf(f.options, sizeof f.options, "-I%s/early -I %s/moved-0/",
                   f.folder, f.folder);
    assert_int_equal(run(&f), 0);
    assert_counted(0, 0);
}

/* A folder in another one is found by both their names. */
static void test_folders_lie_otherwise(void **state)
{
    files f;

    prepare(&f, *state);
    write_in(&f, "/program", "main.cl", "#include \"in/used.h\"\n");
    write_in(&f, "/late/in", "used.h", "kernel second\n  ; two\n");
    write_in(&f, "/other", "nothing.h", "");
    write_in(&f, "/other/in", "used.h", "kernel second\n  ; other\n");
    write_in(&f, "/apart", "used.h", "kernel second\n  ; two\n");
    (void)snprintf(f.options, sizeof f.options, "-I%s/late -I%s/late/in",
                   f.folder, f.folder);
    assert_int_equal(run_second(&f), 1);
    (void)snprintf(f.options, sizeof f.options, "-I%s/other -I%s/apart",
                   f.folder, f.folder);
    assert_int_equal(run_second(&f), 1);
    assert_counted(0, 1);
    (void)snprintf(f.options, sizeof f.options, "-I %s/late -I%s/late/in",
                   f.folder, f.folder);
    assert_int_equal(run_second(&f), 0);
    assert_counted(0, 0);
}

/* What such a text means depends on where it lies. */
static void test_a_text_that_asks_for_its_name(void **state)
{
    static const char text[] = "kernel first f32*\nfile\nkernel second\n";
    files f;

    prepare(&f, *state);
    write_in(&f, "/program", "main.cl", text);
    assert_int_equal(run(&f), 2);
    assert_counted(0, 1);
    assert_int_equal(run(&f), 0);
    assert_counted(1, 0);
    write_in(&f, "/elsewhere", "main.cl", text);
    (void)snprintf(f.file, sizeof f.file, "%s/elsewhere/main.cl", f.folder);
    assert_int_equal(run(&f), 1);
    assert_counted(0, 1);
}

static void test_redefinition_sees_edited_headers(void **state)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const kiln_code *first, *second;
    cl_process p;
    files f;

    prepare(&f, *state);
    cl_start(&p, f.folder);
    load(&p, &f, NULL);
    assert_ok(cl_infer(&first, &p, "first", "f32[:]", &test_error));
    assert_ok(cl_infer(&second, &p, "second", "", &test_error));
    load(&p, &f, &report);
    assert_int_equal(report.methods_unchanged, 1);
    write_in(&f, "/late", "used.h", "kernel second\n  ; edited\n");
    load(&p, &f, NULL);
    assert_true(kiln_code_is_valid(first));
    assert_false(kiln_code_is_valid(second));
    kiln_change_report_dispose(&report);
    cl_end(&p);
}

/* What was translated stays, whatever becomes of the file. */
static void test_a_version_reads_its_files_once(void **state)
{
    cl_process p;
    files f;

    prepare(&f, *state);
    cl_start(&p, f.folder);
    load(&p, &f, NULL);
    (void)cl_digest(&p, "first", "f32[:]");
    write_in(&f, "/late", "used.h", "kernel other\n");
    (void)cl_digest(&p, "second", "");
    assert_counted(0, 1);
    cl_end(&p);
}

/* ---- options ---- */

static void test_options(void **state)
{
    static const struct {
        const char *one, *other;
        int is_same;
    } pairs[] = {
        {"-DA -DB", "  -DA\t-DB\n", 1}, {"-D'A=1 2'", "-D\"A=1 2\"", 1},
        {"-D'A=1 2'", "-DA=1\\ 2", 1},  {"-DA", "-DB", 0},
        {"-DA -DB", "'-DA -DB'", 0},    {"", "-cl-fast-relaxed-math", 0},
    };
    kiln_opencl_program *program;
    cl_process p;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        kiln_change_report report = KILN_CHANGE_REPORT_INIT;

        cl_start(&p, *state);
        cl_define_with(&p, "main.cl", "kernel k\n", pairs[i].one, NULL);
        cl_define_with(&p, "main.cl", "kernel k\n", pairs[i].other, &report);
        assert_int_equal(report.methods_unchanged, pairs[i].is_same);
        kiln_change_report_dispose(&report);
        cl_end(&p);
    }
    cl_start(&p, *state);
    assert_ok(kiln_opencl_new(&program, p.context, "main", &test_error));
    assert_fails(KILN_EINVAL, "a quote is not closed in the options -D'A",
                 kiln_opencl_define(program, "main.cl", "", 0, "-D'A", NULL,
                                    &test_error));
    cl_end(&p);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_edited),
        TEST(test_an_unrelated_header),
        TEST(test_a_comment_in_a_header),
        TEST(test_an_edited_header),
        TEST(test_a_header_appears_earlier),
        TEST(test_a_folder_appears),
        TEST(test_one_file_has_two_names),
        TEST(test_a_folder_is_called_as_a_compilers),
        TEST(test_a_missing_header),
        TEST(test_everything_moves),
        TEST(test_folders_lie_otherwise),
        TEST(test_a_text_that_asks_for_its_name),
        TEST(test_redefinition_sees_edited_headers),
        TEST(test_a_version_reads_its_files_once),
        TEST(test_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
