/* test_opencl_second.c - a process that finds all its kernels in the store. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers frontend host */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen_client/source_compile.h"
#include "kiln.h"
#include "kiln/opencl.h"
#include "support/harness.h"

/*
 * The program starts itself with one argument, the folder of the text, and then
 * compiles and runs all kernels of it.
 */
#define KERNELS 40
#define ITEMS 8

/* ---- the process that is started ---- */

static kiln_context *context;
static kiln_device *device;
static kiln_queue *queue;

/* What must not happen a second time. */
static void tell_work(void)
{
    kiln_statistics s = {.size = sizeof s};
    char line[512];
    int opened = 0;
    FILE *maps = fopen("/proc/self/maps", "r");

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL)
        opened |= strstr(line, "libkiln-codegen") != NULL ||
                  strstr(line, "libkiln-clang") != NULL ||
                  strstr(line, "libLLVM") != NULL;
    (void)fclose(maps);
    kiln_statistics_get(&s, context);
    printf("translated %llu lowered %llu emitted %llu built %llu opened %d "
           "children %d\n",
           (unsigned long long)s.stage_count[KILN_STAGE_PARSE],
           (unsigned long long)s.stage_count[KILN_STAGE_LOWER],
           (unsigned long long)s.stage_count[KILN_STAGE_EMIT],
           (unsigned long long)s.tiers[KILN_TIER_BINARY].built, opened,
           waitpid(-1, NULL, WNOHANG) == 0 || errno != ECHILD);
}

static void run_kernel(const kiln_kernel *kernel, int number)
{
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}, .block = {ITEMS, 1, 1}};
    float data[ITEMS];
    kiln_buffer *buffer;
    kiln_array array = {.sizes = {ITEMS}};
    const void *arguments[] = {&array};

    for (int i = 0; i < ITEMS; i++)
        data[i] = (float)i;
    assert_ok(kiln_buffer_new(&buffer, device, sizeof data, &test_error));
    array.data = kiln_buffer_address(buffer);
    assert_ok(kiln_buffer_write(buffer, 0, data, sizeof data, &test_error));
    assert_ok(
        kiln_queue_launch(queue, kernel, &launch, arguments, 1, &test_error));
    assert_ok(kiln_queue_wait(queue, &test_error));
    assert_ok(kiln_buffer_read(buffer, 0, data, sizeof data, &test_error));
    kiln_buffer_free(buffer);
    for (int i = 0; i < ITEMS; i++)
        assert_true(data[i] == (float)(3 * i + number));
}

static int be_process(const char *folder)
{
    const kiln_type *type;
    kiln_signature call = {.types = &type, .count = 1};
    kiln_opencl_program *program;
    const kiln_config *config;
    char path[512];

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
    assert_ok(kiln_device_open(&device, context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_ok(kiln_type_parse(&type, context, NULL, "f32[:]", &test_error));
    snprintf(path, sizeof path, "%s/many.cl", folder);
    assert_ok(
        kiln_opencl_load(&program, context, path, "-w", NULL, &test_error));
    for (int i = 0; i < KERNELS; i++) {
        const kiln_kernel *kernel;
        char name[16];

        snprintf(name, sizeof name, "k%d", i);
        assert_ok(
            kiln_opencl_function(&call.function, program, name, &test_error));
        assert_ok(
            kiln_compile(&kernel, context, &call, config, NULL, &test_error));
        run_kernel(kernel, i);
    }
    tell_work();
    kiln_queue_free(queue);
    kiln_device_close(device);
    kiln_context_free(context);
    return 0;
}

/* ---- the test ---- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void write_program(const char *folder)
{
    static char text[KERNELS * 128 + 64];
    size_t size;

    size = (size_t)snprintf(text, sizeof text, "#include \"factor.h\"\n");
    for (int i = 0; i < KERNELS; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "kernel void k%d(global float *x)\n{\n"
                                 "    x[get_global_id(0)] *= FACTOR;\n"
                                 "    x[get_global_id(0)] += %d;\n}\n",
                                 i, i);
    assert_true(size < sizeof text);
    write_file(folder, "factor.h", "#define FACTOR 3\n");
    write_file(folder, "many.cl", text);
}

/* Starts a process and returns what it said. */
static const char *start(char *folder)
{
    static char said[256];
    static char own[] = "/proc/self/exe";
    char *words[] = {own, folder, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], status;
    pid_t child;
    FILE *output;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], 1), 0);
    assert_int_equal(posix_spawn(&child, own, &actions, NULL, words, environ),
                     0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    output = fdopen(ends[0], "r");
    assert_non_null(output);
    if (fgets(said, sizeof said, output) == NULL)
        said[0] = '\0';
    (void)fclose(output);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return said;
}

static void a_second_process_does_nothing_again(void **state)
{
    char cache[512];

    snprintf(cache, sizeof cache, "%s/cache", (const char *)*state);
    assert_int_equal(setenv("KILN_CACHE", "rw", 1), 0);
    assert_int_equal(setenv("KILN_CACHE_DIR", cache, 1), 0);
    write_program(*state);
    assert_string_equal(start(*state),
                        "translated 1 lowered 40 emitted 40 built 40 "
                        "opened 0 children 1\n");
    assert_string_equal(start(*state),
                        "translated 0 lowered 0 emitted 0 built 0 "
                        "opened 0 children 0\n");
}

static int has_clang(void)
{
    kiln_context *own;
    char id[KILN__BUILD_ID_TEXT_SIZE];

    assert_ok(kiln_context_new(&own, NULL, &test_error));
    kiln__source_compiler(id, own);
    kiln_context_free(own);
    return id[0] != '\0';
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_process_does_nothing_again,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
    };

    if (count == 2)
        return be_process(words[1]);
    if (!has_clang())
        return program_skip(SKIP_PACKAGE, "clang's headers, for OpenCL C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
