/* test_spirv_codegen.c - every construct of the language as SPIR-V. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen spirv thread */
#include "support/harness.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln.h"
#include "support/devices/signatures.h"

/* Each line of tests/language/signatures.txt becomes a module, which spirv-val
   looks at where it is installed. */

#define FEATURES "+fp16+fp64+int64_atomics+subgroups"
#define FLOAT_ADD "SPV_EXT_shader_atomic_float_add"

/* ---- one kernel ---- */

typedef struct wanted {
    const char *target;
    const char *kernel;
    const char *types; /* with " | " between them */
    int32_t form;
    uint8_t opt_level;
} wanted;

static kiln_status emit(kiln_blob *out, kiln_context *context,
                        kiln_package *package, const wanted *w,
                        kiln_error **error)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;
    const kiln_type *list[16];
    kiln_signature sought = {.types = list};
    char rest[256], *type = rest;
    kiln_status status;

    options.target = w->target;
    options.opt_level = w->opt_level;
    status = kiln_config_new(&config, context, &options, error);
    snprintf(rest, sizeof rest, "%s", w->types);
    for (; status == KILN_OK && type && *type;) {
        char *end = strstr(type, " | ");

        if (end)
            *end = '\0';
        status = kiln_type_parse(&list[sought.count++], context, package, type,
                                 error);
        type = end ? end + 3 : NULL;
    }
    if (status == KILN_OK)
        status =
            kiln_package_function(&sought.function, package, w->kernel, error);
    return status == KILN_OK
               ? kiln_emit(out, context, &sought, config, 0, w->form, error)
               : status;
}

static kiln_context *open_context(void)
{
    kiln_context *context = NULL;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    return context;
}

static kiln_status emit_text(kiln_blob *out, const char *text, const wanted *w,
                             kiln_error **error)
{
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    kiln_status status = kiln_context_new(&context, NULL, error);

    if (status == KILN_OK)
        status = kiln_package_new(&package, context, "main", error);
    if (status == KILN_OK)
        status = kiln_package_define(package, "main.kiln", text, strlen(text),
                                     NULL, error);
    if (status == KILN_OK)
        status = emit(out, context, package, w, error);
    kiln_context_free(context);
    return status;
}

/* ---- all of them ---- */

/* What SPIR-V cannot do, in the words that say so. */
static int may_be_refused(const signature *s, const char *version,
                          const char *message)
{
    if (strcmp(version, "1.2") == 0 && strstr(message, "from SPIR-V 1.3 on"))
        return 1;
    if (strcmp(s->file, "bf16") == 0 && strcmp(s->kernel, "atomics") == 0)
        return strstr(message, "no atomic operations of 16 bits") != NULL;
    return strcmp(s->kernel, "recursion") == 0 && strstr(message, "recursion");
}

typedef struct visit {
    kiln_context *context;
    const char *folder; /* for files */
    int validates;
    size_t modules;
} visit;

/* Of spirv-val, which says what is wrong by itself; -1: it is not here. */
static int run_validator(const char *first, const char *second,
                         const char *third)
{
    char *arguments[] = {strdup("spirv-val"), strdup(first), strdup(second),
                         strdup(third), NULL};
    int status = -1;
    pid_t child;

    if (posix_spawnp(&child, "spirv-val", NULL, NULL, arguments, environ) == 0)
        assert_int_equal(waitpid(child, &status, 0), child);
    for (size_t i = 0; i < 4; i++)
        free(arguments[i]);
    return status;
}

static void validate(const visit *v, const signature *s, const char *version,
                     const kiln_blob *module)
{
    char path[4096], environment[32];

    harness_write_file(path, sizeof path, v->folder, "module.spv", module->data,
                       module->size);
    snprintf(environment, sizeof environment, "spv%s", version);
    if (run_validator("--target-env", environment, path) != 0)
        fail_msg("%s.%s(%s) for %s is not valid", s->file, s->kernel, s->types,
                 version);
}

static void visit_one(visit *v, const signature *s, const char *version,
                      uint8_t level)
{
    char target[64];
    const wanted w = {target, s->kernel, s->types, KILN_EMIT_BINARY, level};
    kiln_package *package = NULL;
    kiln_error *error = NULL;
    kiln_blob module = {0};
    kiln_status status;

    snprintf(target, sizeof target, "spirv:%s" FEATURES, version);
    assert_ok(kiln_package_load(&package, v->context, signature_path(s), NULL,
                                &test_error));
    status = emit(&module, v->context, package, &w, &error);
    if (status != KILN_OK) {
        if (!may_be_refused(s, version, kiln_error_message(error)))
            fail_msg("%s.%s(%s) for %s: %s", s->file, s->kernel, s->types,
                     version, kiln_error_message(error));
        kiln_error_free(error);
        return;
    }
    assert_true(module.size > 20);
    assert_int_equal(((const uint32_t *)module.data)[0], 0x07230203);
    assert_int_equal(((const uint32_t *)module.data)[1],
                     0x10000 | (uint32_t)(version[2] - '0') << 8);
    if (v->validates)
        validate(v, s, version, &module);
    v->modules++;
    kiln_blob_release(&module);
}

static const char *const versions[] = {"1.2", "1.3", "1.4", "1.5", "1.6"};

#define VERSION_COUNT (sizeof versions / sizeof versions[0])

static void visit_all(const char *folder, int validates)
{
    visit v = {open_context(), folder, validates, 0};

    for (size_t i = 0; i < signature_count; i++) {
        visit_one(&v, &signatures[i], versions[i % VERSION_COUNT],
                  KILN_OPT_DEFAULT);
        for (size_t k = 0; signature_is_first(i) && k < VERSION_COUNT; k++)
            if (k != i % VERSION_COUNT)
                visit_one(&v, &signatures[i], versions[k], KILN_OPT_1);
    }
    assert_true(v.modules > signature_count);
    kiln_context_free(v.context);
}

static void every_kernel_is_a_valid_module_of_every_version(void **state)
{
    const int is_here = run_validator("--version", "", "") != -1;

    visit_all(*state, is_here);
    if (!is_here)
        test_skip(SKIP_PACKAGE, "no spirv-val");
}

/* ---- refusals ---- */

static void assert_refused(const char *text, const char *kernel,
                           const char *types, const char *target,
                           const char *what, const char *where)
{
    const wanted w = {target, kernel, types, KILN_EMIT_BINARY,
                      KILN_OPT_DEFAULT};
    kiln_error *error = NULL;
    kiln_blob module = {0}, said = {0};

    assert_int_not_equal(emit_text(&module, text, &w, &error), KILN_OK);
    assert_ok(kiln_error_render(&said, error, KILN_RENDER_PLAIN));
    assert_contains(said.data, what);
    if (where)
        assert_contains(said.data, where);
    kiln_blob_release(&said);
    kiln_error_free(error);
}

static void what_a_target_lacks_is_named_with_its_place(void **state)
{
    static const char scale[] = "kernel k(y, a)\n    y[0] = a * y[0]\nend\n";
    static const char count[] = "kernel k(y)\n\n    atomic_add(y, 0, y[1])\n"
                                "end\n";
    static const char deep[] = "fn f(n)\n    if n <= 0\n        return 0\n"
                               "    end\n    return 1 + f(n - 1)\nend\n"
                               "kernel k(y)\n    y[0] = f(y[1])\nend\n";

    (void)state;
    assert_refused(scale, "k", "f16[:] | f16", "spirv:1.4", "fp16",
                   "main.kiln:2:");
    assert_refused(scale, "k", "f64[:] | f64", "spirv:1.4", "fp64",
                   "main.kiln:2:");
    assert_refused(count, "k", "i64[:]", "spirv:1.4", "int64_atomics",
                   "main.kiln:3:");
    assert_refused(count, "k", "i8[:]", "spirv:1.4" FEATURES, "8 bits",
                   "main.kiln:3:");
    assert_refused(count, "k", "i16[:]", "spirv:1.4" FEATURES, "16 bits",
                   "main.kiln:3:");
    assert_refused(deep, "k", "i64[:]", "spirv:1.4", "recursion",
                   "main.kiln:5:");
}

/* 1024 bytes of its own, and two hidden arguments where it may fail. */
static void hidden_arguments_count(void **state)
{
    static const char text[] =
        "kernel k(y, a)\n    inbounds\n        y[0] = a[0]\n"
        "    end\nend\n"
        "kernel f(y, a)\n    y[0] = a[0]\n"
        "    assert(y[0] > 0, \"no\")\nend\n";
    static const char types[] = "f64[:] | Vec{f64,126}";
    const wanted w = {"spirv:1.4+fp64", "k", types, KILN_EMIT_BINARY,
                      KILN_OPT_DEFAULT};
    const wanted large = {"spirv:1.4+fp64+large_arguments", "f", types,
                          KILN_EMIT_BINARY, KILN_OPT_DEFAULT};
    kiln_blob module = {0};

    (void)state;
    assert_ok(emit_text(&module, text, &w, &test_error));
    kiln_blob_release(&module);
    assert_refused(text, "f", types, "spirv:1.4+fp64",
                   "arguments take 1040 bytes; a kernel of SPIR-V without the "
                   "target's option large_arguments takes at most 1024",
                   NULL);
    assert_ok(emit_text(&module, text, &large, &test_error));
    kiln_blob_release(&module);
}

static void an_extension_that_nobody_knows_is_named(void **state)
{
    static const char text[] = "kernel k(y)\n    y[0] = y[1]\nend\n";

    (void)state;
    assert_refused(text, "k", "i32[:]", "spirv:1.4+SPV_KILN_nonsense",
                   "SPV_KILN_nonsense", NULL);
}

/* ---- large kernels ---- */

#define LOOPS 2000

/* Passes that would take too long are left out for it, and with them those that
   bring its state from memory into registers: what is at a state's beginning
   has an address that SPIR-V must have a form for. */
static void a_large_kernel_is_a_valid_module(void **state)
{
    const wanted w = {"spirv", "k", "i64[:] | i64", KILN_EMIT_BINARY,
                      KILN_OPT_DEFAULT};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    kiln_blob module = {0};

    (void)state;
    assert_non_null(out);
    fputs("kernel k(y, n)\n    x = y[0]\n", out);
    for (int i = 0; i < LOOPS; i++)
        fprintf(out, "    for j in 0..n\n        x = x + j * %d\n    end\n", i);
    fputs("    y[0] = x\nend\n", out);
    assert_int_equal(fclose(out), 0);
    assert_ok(emit_text(&module, text, &w, &test_error));
    kiln_blob_release(&module);
    free(text);
}

/* ---- equal bytes ---- */

static const char sums[] = "kernel sums(y, x)\n"
                           "    local t = f32[64]\n"
                           "    l = local_id(0)\n"
                           "    t[l] = sqrt(x[global_id(0)])\n"
                           "    barrier()\n"
                           "    assert(t[63 - l] >= 0, \"negative\")\n"
                           "    atomic_add(y, 0, t[63 - l])\n"
                           "    print(\"done \", l, \"\\n\")\n"
                           "end\n";

static kiln_status emit_sums(kiln_blob *out, const char *extensions,
                             int32_t form, kiln_error **error)
{
    char target[128];
    const wanted w = {target, "sums", "f32[:] | f32[:]", form,
                      KILN_OPT_DEFAULT};

    snprintf(target, sizeof target, "spirv:1.4+int64_atomics%s", extensions);
    return emit_text(out, sums, &w, error);
}

static void assert_equal_bytes(const char *extensions)
{
    kiln_blob first = {0}, second = {0};

    assert_ok(emit_sums(&first, extensions, KILN_EMIT_BINARY, &test_error));
    assert_ok(emit_sums(&second, extensions, KILN_EMIT_BINARY, &test_error));
    assert_blob_equal(first, second.data, second.size);
    kiln_blob_release(&first);
    kiln_blob_release(&second);
}

static void two_compilations_give_equal_bytes(void **state)
{
    (void)state;
    assert_equal_bytes("");
    assert_equal_bytes("+" FLOAT_ADD);
}

/* ---- extensions ---- */

static void an_extension_of_the_target_is_used(void **state)
{
    kiln_blob plain = {0}, extended = {0};

    (void)state;
    assert_ok(emit_sums(&plain, "", KILN_EMIT_ASM, &test_error));
    assert_ok(emit_sums(&extended, "+" FLOAT_ADD, KILN_EMIT_ASM, &test_error));

    assert_non_null(strstr(plain.data, "OpAtomicCompareExchange"));
    assert_null(strstr(plain.data, "OpExtension"));
    assert_non_null(strstr(extended.data, "OpExtension \"" FLOAT_ADD "\""));
    assert_non_null(strstr(extended.data, "OpAtomicFAddEXT"));
    kiln_blob_release(&plain);
    kiln_blob_release(&extended);
}

typedef struct maker {
    const char *extensions;
    const kiln_blob *expected;
    thread_report *report;
} maker;

static void *make_some(void *env)
{
    const maker *m = env;

    for (int i = 0; i < 4; i++) {
        kiln_error *error = NULL;
        kiln_blob made = {0};

        thread_assert_ok(m->report, emit_sums(&made, m->extensions,
                                              KILN_EMIT_BINARY, &error));
        thread_assert(m->report,
                      made.size == m->expected->size &&
                          memcmp(made.data, m->expected->data, made.size) == 0);
        kiln_blob_release(&made);
        kiln_error_free(error);
    }
    return NULL;
}

static void threads_with_different_extensions_do_not_meet(void **state)
{
    static const char *const lists[2] = {"", "+" FLOAT_ADD};
    thread_report report = THREAD_REPORT_INIT;
    kiln_blob expected[2] = {{0}, {0}};
    pthread_t threads[4];
    maker makers[4];

    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_ok(
            emit_sums(&expected[i], lists[i], KILN_EMIT_BINARY, &test_error));
    for (size_t i = 0; i < 4; i++) {
        makers[i] = (maker){lists[i % 2], &expected[i % 2], &report};
        assert_int_equal(
            pthread_create(&threads[i], NULL, make_some, &makers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);

    assert_threads_ok(&report);
    for (size_t i = 0; i < 2; i++)
        kiln_blob_release(&expected[i]);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_target_lacks_is_named_with_its_place),
        TEST(hidden_arguments_count),
        TEST(an_extension_that_nobody_knows_is_named),
        TEST(a_large_kernel_is_a_valid_module),
        TEST(two_compilations_give_equal_bytes),
        TEST(an_extension_of_the_target_is_used),
        TEST(threads_with_different_extensions_do_not_meet),
        TEST(every_kernel_is_a_valid_module_of_every_version),
    };

    signatures_read();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
