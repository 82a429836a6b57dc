/* test_warm.c - what one context made, another one finds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers fault host */
#include <stdio.h>
#include <string.h>

#include <kiln.h>

#include "support/harness.h"

static const char saxpy[] = "fn scaled(a, x) = a * x\n"
                            "kernel saxpy(y, a, x)\n"
                            "    i = global_id(0)\n"
                            "    if i < length(y)\n"
                            "        y[i] = scaled(a, x[i]) + y[i]\n"
                            "    end\n"
                            "end\n";

/* A context over a folder, with a program. */
typedef struct process {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
} process;

static char folder[600];

/* The cache's folder from now on, in that of the test; empty at first. */
static void use_folder(void **state, const char *name)
{
    (void)snprintf(folder, sizeof folder, "%s/%s", (const char *)*state, name);
}

static void insert(const process *p, const kiln_blob *bytes)
{
    kiln_pack *pack = NULL;

    assert_ok(
        kiln_pack_open_memory(&pack, bytes->data, bytes->size, &test_error));
    assert_ok(kiln_insert(p->context, pack, &test_error));
}

static void define(const process *p, const char *text)
{
    assert_ok(kiln_package_define(p->package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
}

static void start_with(process *p, const char *text, const kiln_blob *pack)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    assert_ok(kiln_context_new(&p->context, &options, &test_error));
    if (pack)
        insert(p, pack);
    assert_ok(kiln_config_new(&p->config, p->context, NULL, &test_error));
    assert_ok(kiln_package_new(&p->package, p->context, "main", &test_error));
    define(p, text);
}

static void start(process *p, const char *text)
{
    start_with(p, text, NULL);
}

static const kiln_kernel *compile(process *p, const char *name, int32_t *source)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_type *f32 = kiln_type_scalar(p->context, KILN_TYPE_F32);
    const kiln_type *types[3] = {NULL, f32, NULL};
    kiln_signature signature = {.types = types, .count = 3};
    const kiln_kernel *kernel = NULL;

    assert_ok(kiln_type_array(&types[0], p->context, f32, 1, 0, &test_error));
    types[2] = types[0];
    assert_ok(kiln_package_function(&signature.function, p->package, name,
                                    &test_error));
    options.source = source;
    assert_ok(kiln_compile(&kernel, p->context, &signature, p->config, &options,
                           &test_error));
    return kernel;
}

static kiln_statistics statistics(const process *p)
{
    kiln_statistics s = {.size = sizeof s};

    kiln_statistics_get(&s, p->context);
    return s;
}

static void the_second_context_builds_nothing(void **state)
{
    int32_t source = -1;
    kiln_statistics s;
    process p;

    use_folder(state, "one");
    start(&p, saxpy);
    compile(&p, "saxpy", &source);
    assert_int_equal(source, KILN_SOURCE_BUILT);
    kiln_context_free(p.context);
    start(&p, saxpy);
    compile(&p, "saxpy", &source);
    assert_int_equal(source, KILN_SOURCE_STORE);
    s = statistics(&p);
    assert_int_equal(s.tiers[KILN_TIER_BINARY].built, 0);
    assert_int_equal(s.tiers[KILN_TIER_BINARY].store_hits, 1);
    assert_int_equal(s.tiers[KILN_TIER_TYPED].built, 0);
    assert_int_equal(s.stage_count[KILN_STAGE_INFER], 0);
    kiln_context_free(p.context);
}

/* Numbers that lie where systems put programs and stacks, as vectors of them
   do: what a text says is no address of the process. */
static void numbers_of_a_text_are_no_addresses(void **state)
{
    static const char text[] =
        "kernel numbers(y, a, x)\n"
        "    i = global_id(0)\n"
        "    if i < length(y)\n"
        "        bits = (i32(i) & 0x7fff) ^ 0x5555\n"
        "        wide = u64(i) * 0x7fff12345679\n"
        "        y[i] = f32(bf16(a * x[i])) + f32(bits) + f32(wide)\n"
        "    end\n"
        "end\n";
    int32_t source = -1;
    process p;

    use_folder(state, "numbers");
    start(&p, text);
    compile(&p, "numbers", &source);
    assert_int_equal(source, KILN_SOURCE_BUILT);
    kiln_context_free(p.context);
    start(&p, text);
    compile(&p, "numbers", &source);
    assert_int_equal(source, KILN_SOURCE_STORE);
    kiln_context_free(p.context);
}

static void a_comment_changes_nothing(void **state)
{
    char text[512];
    int32_t source = -1;
    kiln_statistics s;
    process p;

    use_folder(state, "one");
    start(&p, saxpy);
    compile(&p, "saxpy", &source);
    kiln_context_free(p.context);
    (void)snprintf(text, sizeof text, "# a comment\n%s", saxpy);
    start(&p, text);
    compile(&p, "saxpy", &source);
    assert_int_equal(source, KILN_SOURCE_STORE);
    s = statistics(&p);
    assert_int_equal(s.stage_count[KILN_STAGE_INFER], 0);
    assert_int_equal(s.tiers[KILN_TIER_TYPED].store_hits, 2);
    kiln_context_free(p.context);
}

static void a_changed_callee_is_seen(void **state)
{
    static const char other[] = "fn scaled(a, x) = a * x + a\n";
    char text[512];
    int32_t source = -1;
    process p;

    use_folder(state, "one");
    start(&p, saxpy);
    compile(&p, "saxpy", &source);
    kiln_context_free(p.context);
    (void)snprintf(text, sizeof text, "%s%s", other, strchr(saxpy, '\n') + 1);
    start(&p, text);
    compile(&p, "saxpy", &source);
    assert_int_equal(source, KILN_SOURCE_BUILT);
    kiln_context_free(p.context);
    start(&p, saxpy);
    compile(&p, "saxpy", &source);
    assert_int_equal(source, KILN_SOURCE_STORE);
    kiln_context_free(p.context);
}

static void a_pack_serves_another_context(void **state)
{
    kiln_blob bytes = {0};
    kiln_mark *mark = NULL;
    int32_t source = -1;
    kiln_statistics s;
    process p;

    use_folder(state, "one");
    start(&p, "");
    assert_ok(kiln_snapshot(&mark, p.context, &test_error));
    define(&p, saxpy);
    compile(&p, "saxpy", &source);
    assert_ok(kiln_delta(&bytes, p.context, mark, NULL, &test_error));
    kiln_mark_free(mark);
    kiln_context_free(p.context);
    use_folder(state, "two");
    start(&p, saxpy);
    insert(&p, &bytes);
    compile(&p, "saxpy", &source);
    assert_int_equal(source, KILN_SOURCE_STORE);
    s = statistics(&p);
    assert_int_equal(s.stage_count[KILN_STAGE_INFER], 0);
    kiln_context_free(p.context);
    /* Inserted before anything is defined, it spares parsing, too. */
    use_folder(state, "three");
    start_with(&p, saxpy, &bytes);
    compile(&p, "saxpy", &source);
    assert_int_equal(source, KILN_SOURCE_STORE);
    s = statistics(&p);
    assert_int_equal(s.stage_count[KILN_STAGE_PARSE], 0);
    kiln_context_free(p.context);
    kiln_blob_release(&bytes);
}

/* ---- memory ---- */

/* A whole process that finds everything, or builds nothing: what it could not
   take for lack of memory is an error or a miss, and a miss is an error, too,
   since there is no code generator. */
static kiln_status find_all(const kiln_alloc *alloc, void *env)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_type *types[3] = {NULL, NULL, NULL};
    kiln_signature signature = {.types = types, .count = 3};
    const char *text = env;
    const kiln_kernel *kernel;
    const kiln_config *config;
    kiln_package *package;
    kiln_context *context;
    kiln_status status;

    cache.mode = KILN_CACHE_MODE_MUST_HIT;
    cache.directory = folder;
    options.cache = &cache;
    options.alloc = alloc;
    options.codegen_path = "/nowhere";
    status = kiln_context_new(&context, &options, NULL);
    if (status != KILN_OK)
        return status;
    types[1] = kiln_type_scalar(context, KILN_TYPE_F32);
    status = kiln_type_array(&types[0], context, types[1], 1, 0, NULL);
    types[2] = types[0];
    if (status == KILN_OK)
        status = kiln_config_new(&config, context, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_new(&package, context, "main", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(package, "main.kiln", text, strlen(text),
                                     NULL, NULL);
    if (status == KILN_OK)
        status =
            kiln_package_function(&signature.function, package, "saxpy", NULL);
    if (status == KILN_OK)
        status = kiln_compile(&kernel, context, &signature, config, NULL, NULL);
    kiln_context_free(context);
    return status == KILN_ENOTFOUND ? KILN_ENOMEM : status;
}

static void a_warm_start_survives_a_failing_allocator(void **state)
{
    static char same[sizeof saxpy], commented[sizeof saxpy + 16];
    int32_t source = -1;
    process p;

    use_folder(state, "one");
    start(&p, saxpy);
    compile(&p, "saxpy", &source);
    kiln_context_free(p.context);
    (void)snprintf(same, sizeof same, "%s", saxpy);
    assert_survives_failing_alloc(find_all, same);
    (void)snprintf(commented, sizeof commented, "# a comment\n%s", saxpy);
    assert_survives_failing_alloc(find_all, commented);
}

#define WITH_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(the_second_context_builds_nothing),
        WITH_FOLDER(numbers_of_a_text_are_no_addresses),
        WITH_FOLDER(a_comment_changes_nothing),
        WITH_FOLDER(a_changed_callee_is_seen),
        WITH_FOLDER(a_pack_serves_another_context),
        WITH_FOLDER(a_warm_start_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
