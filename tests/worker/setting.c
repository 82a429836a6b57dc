/* setting.c - a context with a program, whose code a worker generates. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "setting.h"

#include <dirent.h>
#include <unistd.h>

static const char program[] = "fn factor(a) = a + 1\n"
                              "kernel scale(y: f32[:], a: f32)\n"
                              "    i = global_id(0)\n"
                              "    y[i] = factor(a) * y[i]\n"
                              "end\n"
                              "kernel powers(y: f32[:], a: f32)\n"
                              "    i = global_id(0)\n"
                              "    if i < length(y)\n"
                              "        y[i] = y[i] ** 7 + sin(a)\n"
                              "    end\n"
                              "end\n"
                              "kernel tells(y: f32[:], a: f32)\n"
                              "    assert(y[0] > a, \"y is small\")\n"
                              "    print(y[0], \"\\n\")\n"
                              "end\n";

const char *setting_folder;
static setting current;

int setting_setup(void **state)
{
    const int result = temporary_folder_setup(state);

    setting_folder = *state;
    setting_behave("pass");
    setenv("FAKE_WORKER_REAL", REAL_WORKER, 1);
    return result;
}

int setting_teardown(void **state)
{
    setting_close(&current);
    return temporary_folder_teardown(state);
}

void setting_behave(const char *behaviour)
{
    setenv("FAKE_WORKER", behaviour, 1);
}

kiln_context_options setting_options(uint32_t codegen)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    options.codegen = codegen;
    options.codegen_path = CODEGEN_LIBRARY;
    options.codegen_worker = REAL_WORKER;
    return options;
}

static void take_log(void *env, int32_t level, const char *message)
{
    setting *s = env;
    const size_t size = strlen(s->log);

    (void)level;
    snprintf(s->log + size, sizeof s->log - size, "%s\n", message);
}

setting *setting_open(const kiln_context_options *given, int caches)
{
    static const kiln_host_ops host = {.size = sizeof host, .log = take_log};
    kiln_context_options options =
        given ? *given : setting_options(KILN_CODEGEN_WORKER);
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    setting *s = &current;

    memset(s, 0, sizeof *s);
    cache.mode = caches ? KILN_CACHE_MODE_READ_WRITE : KILN_CACHE_MODE_OFF;
    cache.directory = setting_folder;
    options.cache = &cache;
    if (!options.host) {
        options.host = &host;
        options.host_env = s;
    }
    assert_ok(kiln_context_new(&s->context, &options, &test_error));
    assert_ok(kiln_config_new(&s->config, s->context, NULL, &test_error));
    assert_ok(
        kiln_package_new(&s->package, s->context, "setting", &test_error));
    assert_ok(kiln_package_define(s->package, "setting.kiln", program,
                                  sizeof program - 1, NULL, &test_error));
    assert_ok(toy_open(&s->toy, s->context, &test_error));
    return s;
}

void setting_close(setting *s)
{
    kiln_context_free(s->context);
    s->context = NULL;
}

kiln_signature setting_signature(setting *s, const char *name)
{
    static const kiln_type *types[2];
    kiln_signature signature = {NULL, types, 2};

    types[1] = kiln_type_scalar(s->context, KILN_TYPE_F32);
    assert_ok(
        kiln_type_parse(&types[0], s->context, NULL, "f32[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, s->package, name,
                                    &test_error));
    return signature;
}

kiln_status setting_compile(const kiln_kernel **out, setting *s,
                            const char *name, kiln_error **error)
{
    const kiln_signature signature = setting_signature(s, name);

    return kiln_compile(out, s->context, &signature, s->config, NULL, error);
}

kiln_status setting_compile_toy(const kiln_kernel **out, setting *s,
                                kiln_error **error)
{
    const kiln_signature signature = toy_signature(&s->toy, 0);

    return kiln_compile(out, s->context, &signature, s->config, NULL, error);
}

/* The parent of each process is the fourth word of its stat, behind a name in
   brackets. */
static int parent_of(const char *pid)
{
    char path[64], text[512];
    const char *at;
    FILE *file;
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "r");
    if (!file)
        return 0;
    at = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    if (at)
        (void)sscanf(at, ") %*c %d", &parent);
    (void)fclose(file);
    return parent;
}

int setting_list_children(int *out, int most)
{
    DIR *list = opendir("/proc");
    const struct dirent *entry;
    int count = 0;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL)
        if (parent_of(entry->d_name) == (int)getpid()) {
            if (count < most)
                out[count] = atoi(entry->d_name);
            count++;
        }
    (void)closedir(list);
    return count;
}

int setting_children(void)
{
    return setting_list_children(NULL, 0);
}
