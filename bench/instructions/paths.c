/* paths.c - paths whose instructions are counted, each in a function alone. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln.h>

/*
 * usage: kiln-instructions PATH ITERATIONS MANY.KILN
 *
 * gate.py starts this program under callgrind, which counts while measure()
 * runs. Compiled code is found in a folder that an earlier process has filled.
 * It is for the plainest processor, so that callgrind can run it.
 */

#define TARGET "host:x86-64"

static const char saxpy[] = "kernel saxpy(y, a, x)\n"
                            "    i = global_id(0)\n"
                            "    if i < length(y)\n"
                            "        y[i] = a * x[i] + y[i]\n"
                            "    end\n"
                            "end\n";

struct state {
    const char *path; /* path of many.kiln */
    char *text;       /* its text */
    size_t size;
    kiln_context *context;
    const kiln_config *config;
    kiln_package *package;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_type *types[3];
    kiln_signature signature;
    const kiln_kernel *kernel;
};

static void check(kiln_status status, kiln_error *const *error)
{
    if (status == KILN_OK)
        return;
    (void)fprintf(stderr, "kiln-instructions: %s\n",
                  error && *error ? kiln_error_message(*error)
                                  : kiln_status_text(status));
    exit(1);
}

/* ---- a context with a saxpy ---- */

static void open_context(struct state *s)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;

    settings.target = TARGET;
    check(kiln_context_new(&s->context, NULL, &error), &error);
    check(kiln_config_new(&s->config, s->context, &settings, &error), &error);
}

static void close_context(struct state *s)
{
    kiln_queue_free(s->queue);
    kiln_device_close(s->device);
    kiln_context_free(s->context);
    s->queue = NULL;
    s->device = NULL;
}

static void open_saxpy(struct state *s)
{
    kiln_error *error = NULL;

    open_context(s);
    check(kiln_package_new(&s->package, s->context, "saxpy", &error), &error);
    check(kiln_package_define(s->package, "saxpy.kiln", saxpy, sizeof saxpy - 1,
                              NULL, &error),
          &error);
    check(kiln_package_function(&s->signature.function, s->package, "saxpy",
                                &error),
          &error);
    check(kiln_type_parse(&s->types[0], s->context, NULL, "f32[:]", &error),
          &error);
    s->types[1] = kiln_type_scalar(s->context, KILN_TYPE_F32);
    s->types[2] = s->types[0];
    s->signature.types = s->types;
    s->signature.count = 3;
}

static void get_kernel(struct state *s)
{
    kiln_error *error = NULL;

    check(kiln_compile(&s->kernel, s->context, &s->signature, s->config, NULL,
                       &error),
          &error);
}

static void open_all(struct state *s)
{
    kiln_error *error = NULL;

    open_saxpy(s);
    get_kernel(s);
    check(kiln_device_open(&s->device, s->context, "host", 0, &error), &error);
    check(kiln_queue_new(&s->queue, s->device, &error), &error);
}

/* ---- the paths ---- */

static void hit_signature(struct state *s)
{
    get_kernel(s);
}

static void hit_code(struct state *s)
{
    const kiln_code *code = NULL;

    check(kiln_infer(&code, s->context, &s->signature, s->config, 0, NULL),
          NULL);
}

/* What is recalled from the disk for a kernel is a record, not typed IR. */
static void open_code(struct state *s)
{
    open_all(s);
    hit_code(s);
}

static void hit_launch(struct state *s)
{
    static float x[1], y[1];
    static const float a = 2;
    const kiln_array xs = {.data = x, .sizes = {1}};
    const kiln_array ys = {.data = y, .sizes = {1}};
    const void *arguments[] = {&ys, &a, &xs};
    const kiln_launch launch = {.grid = {1}};

    check(kiln_queue_launch(s->queue, s->kernel, &launch, arguments, 3, NULL),
          NULL);
}

/* Makes a context that finds the kernel on the disk. */
static void hit_disk(struct state *s)
{
    open_saxpy(s);
    get_kernel(s);
    close_context(s);
}

static void stage_parse(struct state *s)
{
    kiln_error *error = NULL;

    open_context(s);
    check(kiln_package_new(&s->package, s->context, "many", &error), &error);
    check(kiln_package_define(s->package, "many.kiln", s->text, s->size, NULL,
                              &error),
          &error);
}

static void infer(struct state *s, const char *kernel, const char *operation,
                  const char *array, int64_t size)
{
    const kiln_type *types[5];
    const kiln_function *function = NULL;
    kiln_signature signature = {.types = types, .count = 4};
    const kiln_code *code = NULL;
    kiln_error *error = NULL;

    check(
        kiln_package_function(&signature.function, s->package, kernel, &error),
        &error);
    check(kiln_package_function(&function, s->package, operation, &error),
          &error);
    check(kiln_type_parse(&types[0], s->context, NULL, array, &error), &error);
    check(kiln_type_function(&types[1], s->context, function, &error), &error);
    types[2] = types[0];
    check(kiln_type_static(&types[3], s->context, size, &error), &error);
    check(kiln_infer(&code, s->context, &signature, s->config, 0, &error),
          &error);
}

static void stage_infer(struct state *s)
{
    static const char *const arrays[] = {"f32[:]", "f64[:]", "i32[:]"};

    for (int i = 0; i < 3; i++)
        for (int64_t size = 2; size <= 8; size += 2) {
            infer(s, "each", "square", arrays[i], size);
            infer(s, "fold", "greatest", arrays[i], size);
        }
}

/* ---- choosing ---- */

static const struct path {
    const char *name;
    void (*open)(struct state *s); /* called once, or NULL */
    /* Called before each iteration, not counted. */
    void (*begin)(struct state *s);
    void (*run)(struct state *s);
    void (*end)(struct state *s);
} paths[] = {
    {"hit/signature", open_all, NULL, hit_signature, NULL},
    {"hit/code", open_code, NULL, hit_code, NULL},
    {"hit/launch", open_all, NULL, hit_launch, NULL},
    {"hit/disk", NULL, NULL, hit_disk, NULL},
    {"stage/parse", NULL, NULL, stage_parse, close_context},
    {"stage/infer", NULL, stage_parse, stage_infer, close_context},
};

/* gate.py gives this name to callgrind. */
__attribute__((noinline)) void measure(struct state *s,
                                       const struct path *path);

void measure(struct state *s, const struct path *path)
{
    path->run(s);
}

static void read_text(struct state *s)
{
    FILE *file = fopen(s->path, "rb");
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0)
        s->text = malloc((size_t)size + 1);
    if (!s->text || fseek(file, 0, SEEK_SET) != 0 ||
        fread(s->text, 1, (size_t)size, file) != (size_t)size) {
        (void)fprintf(stderr, "kiln-instructions: %s cannot be read\n",
                      s->path);
        exit(1);
    }
    s->size = (size_t)size;
    (void)fclose(file);
}

int main(int argc, char **argv)
{
    const struct path *path = NULL;
    struct state s = {.path = argc == 4 ? argv[3] : NULL};

    for (size_t i = 0; argc == 4 && i < sizeof paths / sizeof *paths; i++)
        if (strcmp(argv[1], paths[i].name) == 0)
            path = &paths[i];
    if (!path) {
        (void)fputs("usage: kiln-instructions PATH ITERATIONS MANY.KILN\n",
                    stderr);
        return 2;
    }
    read_text(&s);
    if (path->open)
        path->open(&s);
    for (long i = strtol(argv[2], NULL, 10); i > 0; i--) {
        if (path->begin)
            path->begin(&s);
        measure(&s, path);
        if (path->end)
            path->end(&s);
    }
    if (path->open)
        close_context(&s);
    free(s.text);
    return 0;
}
