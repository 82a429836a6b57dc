/* bench_foreign.c - a saxpy as a module of another frontend, and in the kernel
   language. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln/sys/frontend.h>

#include "bench_program.h"

/*
 * `compile` is one kernel more in a context: from what is defined to the loaded
 * binary, on a thread, without caches and bounds checks. `launch` is 2^20 items
 * of it on one thread. The size says which of both it is.
 */
enum { LANGUAGE, MODULE, ITEMS = 1 << 20 };

struct foreign {
    struct program program;
    const kiln_config *config;
    kiln_frontend *frontend;
    int64_t form;
    int number; /* of kernels so far */
    char *text; /* the module */
    const kiln_kernel *kernel;
    kiln_device *device;
    kiln_queue *queue;
    float *x, *y;
};

/* ---- a frontend whose functions are texts of LLVM IR ---- */

static uint64_t world(void *self)
{
    (void)self;
    return 1;
}

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t at,
                         kiln_inference *out, kiln_error **error)
{
    const char *text = kiln_function_data(signature->function);

    (void)self;
    (void)config;
    (void)at;
    (void)error;
    return kiln_inference_set_ir(out, text, strlen(text) + 1);
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t at,
                          kiln_digest *out)
{
    (void)self;
    (void)query;
    (void)size;
    (void)config;
    (void)at;
    memset(out, 0, sizeof *out);
    return KILN_OK;
}

static void release(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
}

/* In the text, @ENTRY stands where the name of the entry belongs. */
static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    size_t size, head;
    const char *text = kiln_code_ir(request->root, &size),
               *mark = strstr(text, "@ENTRY");
    char *made = malloc(size + strlen(request->entry));

    (void)self;
    (void)error;
    if (made == NULL || mark == NULL) {
        free(made);
        return KILN_ENOMEM;
    }
    head = (size_t)(mark - text);
    *out = (kiln_blob){.data = made, .release = release};
    out->size = (size_t)sprintf(made, "%.*s@%s%s", (int)head, text,
                                request->entry, mark + strlen("@ENTRY"));
    return KILN_OK;
}

static void free_nothing(void *self)
{
    (void)self;
}

static const kiln_frontend_ops modules = {
    .size = sizeof modules,
    .name = "bench 1",
    .world = world,
    .infer = infer,
    .answer = answer,
    .free = free_nothing,
    .lower = lower,
};

/* ---- the kernel ---- */

static void define_module(struct foreign *f)
{
    static const char text[] =
        "declare i64 @kiln_global_id(i32)\n"
        "define void @ENTRY(ptr noalias %%y, i64 %%n, float %%a, ptr noalias "
        "%%x, i64 %%m) {\n"
        "  %%i = call i64 @kiln_global_id(i32 0)\n"
        "  %%inside = icmp ult i64 %%i, %%n\n"
        "  br i1 %%inside, label %%go, label %%end\n"
        "go:\n"
        "  %%px = getelementptr float, ptr %%x, i64 %%i\n"
        "  %%py = getelementptr float, ptr %%y, i64 %%i\n"
        "  %%vx = load float, ptr %%px\n"
        "  %%vy = load float, ptr %%py\n"
        "  %%s = fmul float %%vy, %d.0\n"
        "  %%p = fmul float %%a, %%vx\n"
        "  %%r = fadd float %%p, %%s\n"
        "  store float %%r, ptr %%py\n"
        "  br label %%end\n"
        "end:\n"
        "  ret void\n"
        "}\n";
    kiln_error *error = NULL;
    char name[32];

    free(f->text);
    f->text = malloc(sizeof text + 16);
    if (f->text == NULL)
        bench_check(KILN_ENOMEM, NULL);
    snprintf(f->text, sizeof text + 16, text, f->number + 2);
    snprintf(name, sizeof name, "saxpy%d", f->number);
    bench_check(kiln_function_new(&f->program.signature.function, f->frontend,
                                  name, f->text, &error),
                &error);
}

static void define_language(struct foreign *f)
{
    kiln_error *error = NULL;
    char text[512];

    snprintf(text, sizeof text,
             "kernel saxpy(y, a, x)\n"
             "    i = global_id(0)\n"
             "    if i < length(y)\n"
             "        y[i] = a * x[i] + y[i] * f32(%d)\n"
             "    end\n"
             "end\n",
             f->number + 2);
    bench_check(kiln_package_define(f->program.package, "bench.kiln", text,
                                    strlen(text), NULL, &error),
                &error);
}

static void compile_next(struct foreign *f)
{
    kiln_error *error = NULL;

    f->number++;
    if (f->form == MODULE)
        define_module(f);
    else
        define_language(f);
    bench_check(kiln_compile(&f->kernel, f->program.context,
                             &f->program.signature, f->config, NULL, &error),
                &error);
}

/* ---- benchmarks ---- */

static void *foreign_setup(const struct bench *bench, const char **reason)
{
    struct foreign *f = calloc(1, sizeof *f);
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;

    (void)reason;
    if (f == NULL)
        bench_check(KILN_ENOMEM, NULL);
    f->form = bench->size;
    setenv("KILN_CODEGEN", "thread", 1);
    setenv("KILN_CACHE", "off", 1);
    program_open(&f->program, BENCH_SAXPY, 1);
    unsetenv("KILN_CODEGEN");
    unsetenv("KILN_CACHE");
    options.bounds_checks = KILN_SWITCH_OFF;
    bench_check(
        kiln_config_new(&f->config, f->program.context, &options, &error),
        &error);
    bench_check(kiln_frontend_add(&f->frontend, f->program.context, &modules, f,
                                  &error),
                &error);
    compile_next(f);
    return f;
}

static void foreign_teardown(void *state)
{
    struct foreign *f = state;

    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    kiln_context_free(f->program.context);
    free(f->x);
    free(f->y);
    free(f->text);
    free(f);
}

static void compile_run(void *state, uint64_t iterations)
{
    struct foreign *f = state;
    const uint64_t start = bench_now_ns();

    (void)iterations;
    compile_next(f);
    bench_set_time(bench_now_ns() - start);
}

static void *launch_setup(const struct bench *bench, const char **reason)
{
    struct foreign *f = foreign_setup(bench, reason);
    kiln_error *error = NULL;

    bench_check(
        kiln_device_open(&f->device, f->program.context, "host", 0, &error),
        &error);
    bench_check(kiln_queue_new(&f->queue, f->device, &error), &error);
    f->x = calloc(ITEMS, sizeof *f->x);
    f->y = calloc(ITEMS, sizeof *f->y);
    if (f->x == NULL || f->y == NULL)
        bench_check(KILN_ENOMEM, NULL);
    return f;
}

static void launch_run(void *state, uint64_t iterations)
{
    struct foreign *f = state;
    const kiln_array x = {.data = f->x, .sizes = {ITEMS}},
                     y = {.data = f->y, .sizes = {ITEMS}};
    const float a = 2;
    const void *const arguments[] = {&y, &a, &x};
    const kiln_launch shape = {.grid = {ITEMS}};
    kiln_error *error = NULL;

    for (uint64_t i = 0; i < iterations; i++)
        bench_check(kiln_queue_launch(f->queue, f->kernel, &shape, arguments, 3,
                                      &error),
                    &error);
}

#define COMPILE(title, which) \
    { \
        .name = "foreign/" title "/compile", .setup = foreign_setup, \
        .run = compile_run, .teardown = foreign_teardown, .whole = 1, \
        .size = (which), .samples = 31 \
    }
#define LAUNCH(title, which) \
    { \
        .name = "foreign/" title "/launch", .setup = launch_setup, \
        .run = launch_run, .teardown = foreign_teardown, .size = (which) \
    }

const struct bench bench_foreign[] = {
    COMPILE("language", LANGUAGE),
    COMPILE("module", MODULE),
    LAUNCH("language", LANGUAGE),
    LAUNCH("module", MODULE),
    {.name = NULL},
};
