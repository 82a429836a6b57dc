/* test_outside.c - the kernel language calls functions of another frontend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend fault host */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "kiln/sys/frontend.h"
#include "support/harness.h"

/*
 * The frontend has one package, `own`. A function is a row: the type of its
 * result, a callee, and its module in LLVM IR, where @entry stands for the
 * entry. A test may replace the module.
 */

typedef struct row {
    const char *name; /* with the package */
    const char *result;
    const char *callee; /* or NULL; it takes an f32 */
    const char *module;
} row;

#define TWICE \
    "define void @entry(float %x, ptr %r) {\n" \
    "  %y = fmul float %x, 2.0\n" \
    "  store float %y, ptr %r\n" \
    "  ret void\n" \
    "}\n"

static row rows[] = {
    {"own.twice", "f32", NULL, TWICE},
    {"own.fill", NULL, NULL,
     "declare i64 @kiln_global_id(i32)\n"
     "define void @entry(ptr %data, i64 %n, i8 %flag, float %x) {\n"
     "  %i = call i64 @kiln_global_id(i32 0)\n"
     "  %p = getelementptr float, ptr %data, i64 %i\n"
     "  %f = icmp ne i8 %flag, 0\n"
     "  %m = uitofp i64 %n to float\n"
     "  %v = select i1 %f, float %m, float %x\n"
     "  store float %v, ptr %p\n"
     "  ret void\n"
     "}\n"},
    {"own.split", "(i64, f32)", NULL,
     "define void @entry(ptr byval({i64, float}) %x, ptr %r) {\n"
     "  %a = load i64, ptr %x\n"
     "  %b = getelementptr i8, ptr %x, i64 8\n"
     "  %c = load float, ptr %b\n"
     "  %d = add i64 %a, 1\n"
     "  store i64 0, ptr %x\n"
     "  store i64 %d, ptr %r\n"
     "  %q = getelementptr i8, ptr %r, i64 8\n"
     "  store float %c, ptr %q\n"
     "  ret void\n"
     "}\n"},
    /* Its module has the code of what it calls. */
    {"own.outer", "f32", "own.twice",
     "define internal float @twice(float %x) {\n"
     "  %y = fmul float %x, 2.0\n"
     "  ret float %y\n"
     "}\n"
     "define void @entry(float %x, ptr %r) {\n"
     "  %y = call float @twice(float %x)\n"
     "  %z = fadd float %y, 1.0\n"
     "  store float %z, ptr %r\n"
     "  ret void\n"
     "}\n"},
    {"own.back", "f32", "main.third",
     "declare void @kiln_call.0(float, ptr)\n"
     "define void @entry(float %x, ptr %r) {\n"
     "  call void @kiln_call.0(float %x, ptr %r)\n"
     "  ret void\n"
     "}\n"},
    {"own.raise", "f32", NULL,
     "@m = constant [6 x i8] c\"wrong\\00\"\n"
     "declare void @kiln_raise(i32, ptr, i32, ptr, i64, i64) noreturn\n"
     "define void @entry(float %x, ptr %r) {\n"
     "  %bad = fcmp ogt float %x, 2.0\n"
     "  br i1 %bad, label %raise, label %fine\n"
     "raise:\n"
     "  call void @kiln_raise(i32 1, ptr null, i32 0, ptr @m, i64 0, i64 0)\n"
     "  unreachable\n"
     "fine:\n"
     "  store float %x, ptr %r\n"
     "  ret void\n"
     "}\n"},
    {"own.array", "f32[:]", NULL, TWICE},
    {"own.secret", "own.Secret", NULL, TWICE},
    {"own.any", "f32", NULL, NULL}, /* what a test puts there */
};

typedef struct frontend {
    kiln_frontend *self;
    kiln_context *context;
    _Atomic uint64_t world;
} frontend;

static const row *row_of(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static uint64_t own_world(void *self)
{
    return atomic_load(&((frontend *)self)->world);
}

static kiln_status ask(frontend *own, const row *r, kiln_inference *inference,
                       kiln_error **error)
{
    kiln_frontend *language = kiln_context_language(own->context);
    const kiln_type *type = kiln_type_scalar(own->context, KILN_TYPE_F32);
    kiln_signature call = {NULL, &type, 1};
    kiln_inference *head;
    const kiln_code *code;

    if (strncmp(r->callee, "own.", 4) == 0)
        assert_ok(kiln_function_new(&call.function, own->self, r->callee, NULL,
                                    error));
    else {
        kiln_package *package;

        assert_ok(kiln_package_find(&package, own->context, "main"));
        assert_ok(kiln_package_function(&call.function, package,
                                        strchr(r->callee, '.') + 1, error));
        assert_ptr_equal(kiln_function_frontend(call.function), language);
    }
    return kiln_inference_callee(inference, &call, &code, NULL, &head, error);
}

static kiln_status own_infer(void *self, const kiln_signature *signature,
                             const kiln_config *config, uint64_t world,
                             kiln_inference *inference, kiln_error **error)
{
    frontend *own = self;
    const char *name = kiln_function_name(signature->function);
    const row *r = row_of(name);
    const kiln_type *result;
    kiln_query query = {.subject = 1, .data = name, .size = strlen(name) + 1};

    (void)config;
    (void)world;
    if (r == NULL)
        return kiln_error_set(error, KILN_ENOTFOUND, "own has no %s", name);
    query.answer = kiln_digest_bytes(r->module, strlen(r->module));
    kiln_inference_set_root(inference, query.answer);
    assert_ok(kiln_inference_add_query(inference, &query));
    if (r->result != NULL) {
        assert_ok(
            kiln_type_parse(&result, own->context, NULL, r->result, error));
        kiln_inference_set_result(inference, result);
    }
    if (r->callee != NULL) {
        const kiln_status status = ask(own, r, inference, error);

        if (status != KILN_OK)
            return status;
    }
    return kiln_inference_set_ir(inference, r->module, strlen(r->module));
}

static kiln_status own_answer(void *self, const void *query, size_t size,
                              const kiln_config *config, uint64_t world,
                              kiln_digest *out)
{
    const row *r = row_of(query);

    if (r == NULL)
        return KILN_ENOTFOUND;
    (void)self;
    (void)size;
    (void)config;
    (void)world;
    *out = kiln_digest_bytes(r->module, strlen(r->module));
    return KILN_OK;
}

static void release(kiln_blob *blob)
{
    free(blob->private_data);
}

/* Replaces @entry by the name that is asked for. */
static kiln_status own_lower(void *self, const kiln_lower_request *request,
                             kiln_blob *out, kiln_error **error)
{
    size_t size;
    const char *text = kiln_code_ir(request->root, &size);
    const char *at = strstr(text, "@entry");
    const size_t most = size + strlen(request->entry) + 16;
    char *made = malloc(most);

    (void)self;
    (void)error;
    assert_int_equal(request->is_function, 1);
    assert_non_null(made);
    (void)snprintf(made, most, "%.*s@%s%.*s", (int)(at - text), text,
                   request->entry, (int)(size - (size_t)(at - text) - 6),
                   at + 6);
    *out = (kiln_blob){.data = made,
                       .size = strlen(made),
                       .release = release,
                       .private_data = made};
    return KILN_OK;
}

static kiln_status own_function(void *self, const char *name,
                                const kiln_function **out)
{
    frontend *own = self;

    return row_of(name) != NULL
               ? kiln_function_new(out, own->self, name, NULL, NULL)
               : KILN_ENOTFOUND;
}

static kiln_status own_package(void *self, const char *name)
{
    (void)self;
    return strcmp(name, "own") == 0 ? KILN_OK : KILN_ENOTFOUND;
}

static void own_free(void *self)
{
    (void)self;
}

static const kiln_frontend_ops own_ops = {.size = sizeof own_ops,
                                          .name = "own 1",
                                          .world = own_world,
                                          .infer = own_infer,
                                          .answer = own_answer,
                                          .free = own_free,
                                          .lower = own_lower,
                                          .function = own_function,
                                          .package = own_package};

/* ---- the program ---- */

static struct {
    frontend own;
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    kiln_package *package;
} f;

static void open_program(const kiln_context_options *options)
{
    assert_ok(kiln_context_new(&f.context, options, &test_error));
    assert_ok(kiln_config_new(&f.config, f.context, NULL, &test_error));
    assert_ok(kiln_device_open(&f.device, f.context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&f.queue, f.device, &test_error));
    assert_ok(kiln_package_new(&f.package, f.context, "main", &test_error));
    f.own.context = f.context;
    atomic_store(&f.own.world, 1);
    assert_ok(kiln_frontend_add(&f.own.self, f.context, &own_ops, &f.own,
                                &test_error));
}

static void close_program(void)
{
    kiln_queue_free(f.queue);
    kiln_device_close(f.device);
    kiln_context_free(f.context);
}

static int set_up(void **state)
{
    (void)state;
    open_program(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_program();
    return 0;
}

/* Runs what the kernel does for each of four numbers. */
static kiln_status run(float numbers[4], const char *body, kiln_error **error)
{
    const kiln_launch launch = {.grid = {4, 1, 1}, .block = {4, 1, 1}};
    kiln_array array = {.data = numbers, .sizes = {4}};
    const void *arguments[] = {&array};
    const kiln_kernel *kernel;
    const kiln_type *type;
    kiln_signature call = {NULL, &type, 1};
    kiln_status status;
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "import own\n"
                   "fn third(x) = x / 4\n"
                   "kernel k(x)\n"
                   "    i = global_id(0)\n"
                   "    %s\n"
                   "end\n",
                   body);
    assert_ok(kiln_package_define(f.package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
    assert_ok(
        kiln_package_function(&call.function, f.package, "k", &test_error));
    assert_ok(kiln_type_parse(&type, f.context, NULL, "f32[:]", &test_error));
    status = kiln_compile(&kernel, f.context, &call, f.config, NULL, error);
    if (status == KILN_OK)
        status =
            kiln_queue_launch(f.queue, kernel, &launch, arguments, 1, error);
    return status == KILN_OK ? kiln_queue_wait(f.queue, error) : status;
}

static void expect(const char *body, float a, float b, float c, float d)
{
    float numbers[4] = {0, 1, 2, 3};

    assert_ok(run(numbers, body, &test_error));
    if (numbers[0] != a || numbers[1] != b || numbers[2] != c ||
        numbers[3] != d)
        fail_msg("%s: %f %f %f %f", body, (double)numbers[0],
                 (double)numbers[1], (double)numbers[2], (double)numbers[3]);
}

static void expect_error(const char *body, kiln_status status,
                         const char *words)
{
    float numbers[4] = {0, 1, 2, 3};
    kiln_error *error = NULL;

    assert_int_equal(run(numbers, body, &error), status);
    if (strstr(kiln_error_message(error), words) == NULL)
        fail_msg("not \"%s\" but %s", words, kiln_error_message(error));
    kiln_error_free(error);
}

/* ---- the tests ---- */

static void functions_of_a_module_are_called(void **state)
{
    (void)state;
    expect("x[i] = own.twice(x[i])", 0, 2, 4, 6);
    expect("own.fill(x, i == 2, x[i] + f32(1))", 1, 2, 4, 4);
    expect("t = own.split((i, x[i])); x[i] = t[1] + f32(t[0])", 1, 3, 5, 7);
    expect("x[i] = own.back(x[i])", 0, 0.25f, 0.5f, 0.75f);
    expect("if i < 2; x[i] = own.raise(x[i]) + f32(5); end", 5, 6, 2, 3);
    expect_error("x[i] = own.raise(x[i])", KILN_EEXCEPTION, "wrong");
}

/* A function may be a part of another one's module and have one itself. */
static void a_module_has_the_frontends_own_functions(void **state)
{
    (void)state;
    expect("x[i] = own.outer(x[i])", 1, 3, 5, 7);
    expect("x[i] = own.outer(x[i]) + own.twice(x[i])", 1, 5, 9, 13);
}

static void changed_code_is_noticed(void **state)
{
    const char *before = rows[0].module;
    const uint64_t subject = 1;

    (void)state;
    expect("x[i] = own.twice(x[i])", 0, 2, 4, 6);
    rows[0].module = "define void @entry(float %x, ptr %r) {\n"
                     "  %y = fmul float %x, 3.0\n"
                     "  store float %y, ptr %r\n"
                     "  ret void\n"
                     "}\n";
    atomic_store(&f.own.world, 2);
    assert_ok(kiln_world_changed(f.own.self, 2, &subject, 1, NULL));
    expect("x[i] = own.twice(x[i])", 0, 3, 6, 9);
    rows[0].module = before;
}

/* Modules of own.any, a call of it, the status and words of the error. */
static const struct {
    const char *module;
    kiln_status status;
    const char *words;
} wrong[] = {
    {"declare void @kiln_barrier(i32, i32)\n"
     "define void @entry(float %x, ptr %r) {\n"
     "  call void @kiln_barrier(i32 2, i32 1)\n"
     "  ret void\n"
     "}\n",
     KILN_EUNSUPPORTED, "own.any(f32): items of a group execute it together"},
    {"@tile = internal addrspace(3) global [4 x float] poison\n"
     "define void @entry(float %x, ptr %r) {\n"
     "  store float %x, ptr addrspace(3) @tile\n"
     "  ret void\n"
     "}\n",
     KILN_EUNSUPPORTED, "items of a group execute it together"},
    {"define i32 @entry(ptr %item, float %x, ptr %r) {\n"
     "  ret i32 0\n"
     "}\n",
     KILN_EUNSUPPORTED, "in the neutral form"},
    {"define void @entry(float %x) {\n"
     "  ret void\n"
     "}\n",
     KILN_ECODEGEN, "parameter 2"},
    {"declare float @missing(float)\n"
     "define void @entry(float %x, ptr %r) {\n"
     "  %y = call float @missing(float %x)\n"
     "  store float %y, ptr %r\n"
     "  ret void\n"
     "}\n",
     KILN_ECODEGEN, "undefined function 'missing'"},
    {"declare void @kiln_call.3(float, ptr)\n"
     "define void @entry(float %x, ptr %r) {\n"
     "  call void @kiln_call.3(float %x, ptr %r)\n"
     "  ret void\n"
     "}\n",
     KILN_ECODEGEN, "callee 3 of 0"},
    {"define void @entry(float %x, ptr %r) {\n"
     "  store float %x, ptr %nothing\n"
     "  ret void\n"
     "}\n",
     KILN_ECODEGEN, "own.any(f32): LLVM IR"},
};

/* Its text can be read from then on. */
static void add_secret_type(void)
{
    const kiln_foreign_type secret = {.size = sizeof secret,
                                      .package = "own",
                                      .name = "Secret",
                                      .value_size = 4,
                                      .value_alignment = 4};
    const kiln_type *type;

    assert_ok(kiln_type_foreign(&type, f.context, &secret, &test_error));
}

static void what_a_module_may_not_do(void **state)
{
    row *any = &rows[sizeof rows / sizeof *rows - 1];
    uint64_t world = 1;
    const uint64_t subject = 1;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        any->module = wrong[i].module;
        atomic_store(&f.own.world, ++world);
        assert_ok(kiln_world_changed(f.own.self, world, &subject, 1, NULL));
        expect_error("x[i] = own.any(x[i])", wrong[i].status, wrong[i].words);
    }
    expect_error("y = own.array(x[i])", KILN_ECOMPILE, "array");
    add_secret_type();
    expect_error("y = own.secret(x[i])", KILN_ECOMPILE,
                 "`own.secret` gives own.Secret, which another language "
                 "cannot take");
    expect_error("y = own.nothing(x[i])", KILN_ECOMPILE, "own.nothing");
}

static void assert_quarter(const kiln_kernel *kernel)
{
    const kiln_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    float number = 2;
    kiln_array array = {.data = &number, .sizes = {1}};
    const void *arguments[] = {&array};

    assert_ok(
        kiln_queue_launch(f.queue, kernel, &launch, arguments, 1, &test_error));
    assert_ok(kiln_queue_wait(f.queue, &test_error));
    assert_true(number == 0.5F);
}

/* Compiles a kernel whose module calls what is below it, once it was
   inferred. */
static kiln_status compile_without_memory(const kiln_alloc *alloc, void *env)
{
    static const char text[] = "import own\n"
                               "fn third(x) = x / 4\n"
                               "kernel k(x)\n"
                               "    x[0] = own.back(x[0])\n"
                               "end\n";
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_code *code;
    const kiln_kernel *kernel;
    const kiln_type *type;
    kiln_signature call = {NULL, &type, 1};
    kiln_error *error = NULL;
    kiln_status status;

    (void)env;
    failing_alloc_hold(alloc, 1);
    options.alloc = alloc;
    options.codegen = KILN_CODEGEN_THREAD;
    open_program(&options);
    assert_ok(kiln_package_define(f.package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
    assert_ok(
        kiln_package_function(&call.function, f.package, "k", &test_error));
    assert_ok(kiln_type_parse(&type, f.context, NULL, "f32[:]", &test_error));
    assert_ok(kiln_infer(&code, f.context, &call, f.config, 0, &test_error));
    failing_alloc_hold(alloc, 0);
    status = kiln_compile(&kernel, f.context, &call, f.config, NULL, &error);
    failing_alloc_hold(alloc, 1);
    if (status != KILN_OK && status != KILN_ENOMEM)
        fail_msg("%s", kiln_error_message(error));
    kiln_error_free(error);
    if (status == KILN_OK)
        assert_quarter(kernel);
    close_program();
    return status;
}

static void modules_are_built_whole_or_not_at_all(void **state)
{
    (void)state;
    assert_survives_failing_alloc(compile_without_memory, NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(functions_of_a_module_are_called),
        TEST(a_module_has_the_frontends_own_functions),
        TEST(changed_code_is_noticed),
        TEST(what_a_module_may_not_do),
        cmocka_unit_test(modules_are_built_whole_or_not_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
