/* test_secure.c - a process with more rights than its user trusts no variable.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers host cuda */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln.h"
#include "support/harness.h"

/*
 * Root makes a copy of this program that runs as root whoever starts it, and
 * starts it as another user, with every variable naming files of that user's:
 * the code generator, a worker, drivers, tools, packages, the cache, packs. Not
 * one of these files may be opened. Started with no more rights than its user
 * the same program opens them: else the test would show nothing.
 */
#define NOBODY 65534
#define PROBE "probe"
#define SECURE 79 /* how a secure one ends */

static char root_folder[256]; /* of root's: the copy */
static char evil[300];        /* of the other user's */

/* ---- the program ---- */

static void ignore(kiln_status status)
{
    (void)status;
}

/* False: code could not be generated. */
static int compile_for(kiln_context *context, kiln_package *package,
                       const char *target)
{
    kiln_config_options wanted = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;
    const kiln_kernel *kernel = NULL;
    const kiln_type *type = NULL;
    kiln_signature signature = {NULL, &type, 1};
    kiln_device *device = NULL, *offline = NULL;
    kiln_status status;

    wanted.target = target;
    if (kiln_config_new(&config, context, &wanted, NULL) != KILN_OK ||
        kiln_type_parse(&type, context, NULL, "f64[:]", NULL) != KILN_OK ||
        kiln_package_function(&signature.function, package, "k", NULL) !=
            KILN_OK)
        return 0;
    ignore(kiln_device_open(&device, context, kiln_config_backend(config), 0,
                            NULL));
    ignore(kiln_device_open_offline(&offline, context, config, NULL));
    status = kiln_compile(&kernel, context, &signature, config, NULL, NULL);
    kiln_device_close(device);
    kiln_device_close(offline);
    return status == KILN_OK;
}

/* Looks at what variables could name; most of it fails. But OpenCL's drivers,
   which read variables themselves. */
static int probe(const char *codegen)
{
    static const char import[] = "import evil\n";
    static const char text[] = "kernel k(y: f64[:])\n"
                               "    y[0] = sin(y[0])\n"
                               "end\n";
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    int on_host;

    options.codegen_path = *codegen ? codegen : NULL;
    if (kiln_context_new(&context, &options, NULL) != KILN_OK ||
        kiln_package_new(&package, context, "main", NULL) != KILN_OK)
        return 2;
    ignore(
        kiln_package_define(package, "a", import, strlen(import), NULL, NULL));
    ignore(kiln_package_define(package, "b", text, strlen(text), NULL, NULL));
    on_host = compile_for(context, package, "host");
    (void)compile_for(context, package, "cuda:sm_90");
    (void)compile_for(context, package, "rocm:gfx90a");
    kiln_context_free(context);
    if (getauxval(AT_SECURE) == 0)
        return 0;
    return on_host || !*codegen ? SECURE : 3;
}

/* ---- what the other user prepares ---- */

static const char *const variables[][2] = {
    {"KILN_CODEGEN_PATH", "codegen.so"},
    {"KILN_CODEGEN_WORKER", "worker"},
    {"KILN_CUDA_DRIVER", "cuda.so"},
    {"KILN_ROCM_DRIVER", "hip.so"},
    {"KILN_NVJITLINK", "nvjitlink.so"},
    {"KILN_PTXAS", "ptxas"},
    {"KILN_LLD", "lld"},
    {"KILN_LLVM_SPIRV", "spirv"},
    {"KILN_SPIRV_TOOLS", "tools.so"},
    {"KILN_TRACE", "trace"},
    {"KILN_CACHE_PATH", "a.kilnpack"},
};

static const char *const folders[][2] = {
    {"KILN_CACHE_DIR", "cache"},
    {"KILN_CACHE_LOCAL_DIR", "local"},
    {"KILN_PATH", "packages"},
    {"KILN_LIBCLC", "clc"},
    {"KILN_LIBDEVICE", "libdevice"},
    {"KILN_ROCM_DEVICE_LIBS", "ocml"},
    {"CUDA_PATH", "cuda"},
    {"CUDA_HOME", "cuda"},
    {"ROCM_PATH", "rocm"},
    {"HIP_PATH", "rocm"},
    {"PATH", "bin"},
    {"HOME", "home"},
    {"XDG_CACHE_HOME", "xdg"},
    {"XDG_RUNTIME_DIR", "run"},
    {"TMPDIR", "tmp"},
};

/* Where tools are looked for in them. */
static const char *const files[] = {
    "packages/evil.kiln",
    "clc/nvptx64--.bc",
    "clc/amdgcn-amd-amdhsa.bc",
    "libdevice/libdevice.10.bc",
    "ocml/ocml.bc",
    "cuda/bin/ptxas",
    "cuda/lib64/libnvJitLink.so.13",
    "cuda/nvvm/libdevice/libdevice.10.bc",
    "rocm/amdgcn/bitcode/ocml.bc",
    "bin/ptxas",
    "bin/ld.lld-22",
    "bin/ld.lld",
    "bin/llvm-spirv-15",
    "bin/llvm-spirv",
};

static void make_folders(char *path)
{
    for (char *at = path + strlen(evil) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        (void)mkdir(path, 0777);
        *at = '/';
    }
}

static void make_file(const char *name)
{
    static const char script[] = "#!/bin/sh\nexit 1\n";
    char path[600];
    int file;

    (void)snprintf(path, sizeof path, "%s/%s", evil, name);
    make_folders(path);
    file = open(path, O_WRONLY | O_CREAT, 0755);
    assert_true(file >= 0);
    assert_int_equal(write(file, script, sizeof script - 1), sizeof script - 1);
    assert_int_equal(close(file), 0);
}

static void prepare(void)
{
    char command[900];

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[600];

        (void)snprintf(path, sizeof path, "%s/%s", evil, folders[i][1]);
        (void)mkdir(path, 0755);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        make_file(variables[i][1]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        make_file(files[i]);
    (void)snprintf(command, sizeof command, "chown -R %d:%d '%s'", NOBODY,
                   NOBODY, evil);
    assert_int_equal(system(command), 0);
}

static void set_variables(void)
{
    char path[600];

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", evil, folders[i][1]);
        (void)setenv(folders[i][0], path, 1);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", evil, variables[i][1]);
        (void)setenv(variables[i][0], path, 1);
    }
    (void)setenv("KILN_CACHE", "rw", 1);
    (void)setenv("KILN_CODEGEN", "worker", 1);
    (void)setenv("KILN_CACHE_TRUST", "65534", 1);
}

/* ---- who opened what ---- */

#define OPENED (IN_OPEN | IN_CREATE | IN_MOVED_TO | IN_MODIFY)

static void watch(int events, const char *folder)
{
    DIR *opened = opendir(folder);
    const struct dirent *at;

    assert_non_null(opened);
    while ((at = readdir(opened)) != NULL) {
        char path[900];

        (void)snprintf(path, sizeof path, "%s/%s", folder, at->d_name);
        if (at->d_type == DT_DIR && at->d_name[0] != '.')
            watch(events, path);
    }
    (void)closedir(opened);
    assert_true(inotify_add_watch(events, folder, OPENED) >= 0);
}

/* How often anything was opened or made; prints what. */
static int count_opened(int events)
{
    _Alignas(struct inotify_event) char bytes[65536];
    struct pollfd poll_for = {.fd = events, .events = POLLIN};
    int count = 0;

    while (poll(&poll_for, 1, 0) > 0) {
        const ssize_t size = read(events, bytes, sizeof bytes);

        for (ssize_t at = 0; at < size;) {
            struct inotify_event event;
            const char *name = bytes + at + sizeof event;

            memcpy(&event, bytes + at, sizeof event);
            at += (ssize_t)(sizeof event + event.len);
            if (event.len && strncmp(name, "tsan.", 5) == 0)
                continue; /* the sanitizer's own */
            print_message("opened: %s\n", event.len ? name : "a folder");
            count++;
        }
    }
    return count;
}

/* ---- running it ---- */

static void run_child(const char *program, const char *codegen)
{
    set_variables();
    if (chdir("/") != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(4);
    (void)execl(program, program, PROBE, codegen, (char *)NULL);
    _exit(5);
}

static int run(const char *program, const char *codegen, int *opened)
{
    const int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    int status = -1;
    pid_t child;

    assert_true(events >= 0);
    watch(events, evil);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_child(program, codegen);
    assert_int_equal(waitpid(child, &status, 0), child);
    *opened = count_opened(events);
    (void)close(events);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void copy_self(char path[300], const char *name, unsigned mode)
{
    char command[900];

    (void)snprintf(path, 300, "%s/%s", root_folder, name);
    (void)snprintf(command, sizeof command, "cp /proc/%d/exe '%s'",
                   (int)getpid(), path);
    assert_int_equal(system(command), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static int setup(void **state)
{
    if (temporary_folder_setup(state) != 0)
        return -1;
    (void)snprintf(root_folder, sizeof root_folder, "%s", (char *)*state);
    (void)snprintf(evil, sizeof evil, "%s/evil", root_folder);
    if (chmod(root_folder, 0755) != 0 || mkdir(evil, 0755) != 0)
        return -1;
    prepare();
    return 0;
}

static void with_more_rights_than_its_user_no_variable_is_believed(void **state)
{
    const char *codegen = getenv("KILN_CODEGEN_PATH");
    char trusting[300], secure[300];
    int opened = 0, status;

    (void)state;
    if (geteuid() != 0)
        test_skip(SKIP_MACHINE, "only root can make such a program");
    copy_self(trusting, "trusting", 0755);
    copy_self(secure, "secure", 04755);
    status = run(trusting, "", &opened);
    assert_int_equal(status, 0);
    assert_true(opened > 0);
    prepare();
    status = run(secure, codegen ? codegen : "", &opened);
    if (status == 0)
        test_skip(SKIP_MACHINE, "the file system gives nobody more rights");
    assert_int_equal(status, SECURE);
    assert_int_equal(opened, 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            with_more_rights_than_its_user_no_variable_is_believed, setup,
            temporary_folder_teardown),
    };

    if (count > 2 && strcmp(arguments[1], PROBE) == 0)
        return probe(arguments[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
