/* test_lower_key.c - what lower() may read tells binaries apart. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "kiln/sys/frontend.h"
#include "support/harness.h"

/*
 * A frontend whose functions all have the same typed IR. Its lower() looks at
 * one fact that the interface lets it see, and makes a kernel that writes a
 * number for it. So every two jobs that differ in the fact must have two
 * binaries, in one process and over a folder that two share. A context stands
 * for a process.
 */
typedef uint64_t (*fact)(const kiln_lower_request *request);

static const char *folder;
static kiln_context *context;
static kiln_frontend *frontend, *other;
static const kiln_config *config;
static fact look;
static uint64_t version;            /* of all definitions */
static const char *printed;         /* name that infer() sets, or NULL */
static const kiln_type *result;     /* that infer() sets, or NULL */
static const kiln_function *callee; /* of `caller`, or NULL */
static int32_t source;              /* of the last kernel */

/* FNV-1a. */
static uint64_t hash_on(uint64_t h, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return h;
}

static uint64_t hash(const char *text)
{
    return hash_on(0xcbf29ce484222325u, text, strlen(text));
}

/* ---- the frontend ---- */

static uint64_t only_world(void *self)
{
    (void)self;
    return 1;
}

static kiln_status root(void *self, const kiln_signature *signature,
                        const kiln_config *under, uint64_t world,
                        kiln_digest *out)
{
    (void)self, (void)signature, (void)under, (void)world;
    *out = harness_digest(version + 1, 1);
    return KILN_OK;
}

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *under, uint64_t world,
                         kiln_inference *out, kiln_error **error)
{
    const kiln_signature called = {callee, signature->types, signature->count};
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;

    (void)self, (void)under, (void)world;
    kiln_inference_set_root(out, harness_digest(version + 1, 1));
    if (printed)
        assert_ok(kiln_inference_set_name(out, printed));
    kiln_inference_set_result(out, result);
    if (callee &&
        strcmp(kiln_function_name(signature->function), "a.caller") == 0)
        assert_ok(
            kiln_inference_callee(out, &called, &code, NULL, &head, error));
    return kiln_inference_set_ir(out, "same", 4);
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *under, uint64_t world,
                          kiln_digest *out)
{
    (void)self, (void)query, (void)size, (void)under, (void)world, (void)out;
    return KILN_ENOTFOUND;
}

static void end_frontend(void *self)
{
    (void)self;
}

static void free_text(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

/* Writes the number of the fact over the first array. */
static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    const size_t capacity = 1024;
    char *text = malloc(capacity);
    size_t count = kiln_code_signature(request->root).count;
    int size;

    (void)self, (void)error;
    assert_non_null(text);
    size = snprintf(text, capacity,
                    "define i32 @%s(ptr %%item, ptr %%y, i64 %%n%s) {\n"
                    "  store i64 %llu, ptr %%y\n  ret i32 0\n}\n",
                    request->entry, count > 1 ? ", ptr %p" : "",
                    (unsigned long long)look(request));
    *out = (kiln_blob){text, (size_t)size, free_text, NULL};
    return KILN_OK;
}

static const kiln_frontend_ops ops = {.size = sizeof ops,
                                      .name = "facts 1",
                                      .world = only_world,
                                      .infer = infer,
                                      .answer = answer,
                                      .free = end_frontend,
                                      .lower = lower,
                                      .root = root};

/* ---- a process ---- */

static void begin(fact of)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_frontend_ops second = ops;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    look = of;
    printed = NULL;
    result = NULL;
    callee = NULL;
    second.name = "facts 2";
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln_frontend_add(&frontend, context, &ops, NULL, &test_error));
    assert_ok(kiln_frontend_add(&other, context, &second, NULL, &test_error));
    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
}

static void end(void)
{
    kiln_context_free(context);
}

static const kiln_type *type_of(const char *text)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_parse(&type, context, NULL, text, &test_error));
    return type;
}

static const kiln_type *foreign_type(const char *name, uint64_t definition)
{
    const kiln_foreign_type own = {
        sizeof own, "facts", name, harness_digest(definition, 1), 8, 8};
    const kiln_type *type = NULL;

    assert_ok(kiln_type_foreign(&type, context, &own, &test_error));
    return type;
}

static const kiln_function *function_of(kiln_frontend *of, const char *name)
{
    const kiln_function *function = NULL;

    assert_ok(kiln_function_new(&function, of, name, NULL, &test_error));
    return function;
}

/* What the function's kernel writes; `parameter` may be NULL. */
static uint64_t run_under(const kiln_config *under,
                          const kiln_function *function,
                          const kiln_type *parameter)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_type *types[] = {type_of("i64[:]"), parameter};
    const kiln_signature signature = {function, types, parameter ? 2 : 1};
    const kiln_launch launch = {.grid = {1}};
    const kiln_kernel *kernel = NULL;
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;
    uint64_t value = 0, ignored = 0;
    const kiln_array array = {.data = &value, .sizes = {1}};
    const void *arguments[] = {&array, &ignored};

    options.source = &source;
    assert_ok(kiln_compile(&kernel, context, &signature, under, &options,
                           &test_error));
    assert_ok(kiln_device_open(&device, context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_ok(kiln_queue_launch(queue, kernel, &launch, arguments,
                                signature.count, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(device);
    return value;
}

static uint64_t run(const char *name)
{
    return run_under(config, function_of(frontend, name), NULL);
}

static uint64_t run_with(const kiln_type *parameter)
{
    return run_under(config, function_of(frontend, "a.f"), parameter);
}

/* ---- facts ---- */

static uint64_t of_function(const kiln_lower_request *request)
{
    return hash(
        kiln_function_name(kiln_code_signature(request->root).function));
}

static uint64_t of_frontend(const kiln_lower_request *request)
{
    const kiln_signature root = kiln_code_signature(request->root);

    return kiln_function_frontend(root.function) == other;
}

static uint64_t of_name(const kiln_lower_request *request)
{
    return hash(kiln_code_name(request->root));
}

static uint64_t of_parameter(const kiln_lower_request *request)
{
    return hash(kiln_type_text(kiln_code_signature(request->root).types[1]));
}

/* What a frontend knows of a type by its address. */
static const kiln_type *marked;
static uint64_t of_mark(const kiln_lower_request *request)
{
    return kiln_code_signature(request->root).types[1] == marked;
}

static uint64_t of_result(const kiln_lower_request *request)
{
    const kiln_type *type = kiln_code_result(request->root);

    return type ? hash(kiln_type_text(type)) : 0;
}

static uint64_t of_last_function(const kiln_lower_request *request)
{
    const kiln_code *last = request->codes[request->code_count - 1];

    return hash(kiln_function_name(kiln_code_signature(last).function));
}

static uint64_t of_overlays(const kiln_lower_request *request)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    kiln_config_get_options(&options, request->config);
    return hash(options.overlays);
}

static uint64_t of_device(const kiln_lower_request *request)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    kiln_config_get_options(&options, request->config);
    return options.device;
}

static uint64_t of_entry(const kiln_lower_request *request)
{
    return hash(request->entry);
}

/* ---- tests ---- */

static void two_functions_of_equal_typed_ir_have_two_binaries(void **state)
{
    (void)state;
    begin(of_function);
    assert_int_equal(run("a.f"), hash("a.f"));
    assert_int_equal(run("a.g"), hash("a.g"));
    end();
    begin(of_function);
    assert_int_equal(run("a.h"), hash("a.h"));
    assert_int_equal(source, KILN_SOURCE_BUILT);
    assert_int_equal(run("a.g"), hash("a.g"));
    assert_int_equal(source, KILN_SOURCE_STORE);
    end();
}

static void two_frontends_have_two_binaries(void **state)
{
    (void)state;
    begin(of_frontend);
    assert_int_equal(run_under(config, function_of(frontend, "a.f"), NULL), 0);
    assert_int_equal(run_under(config, function_of(other, "a.f"), NULL), 1);
    end();
}

static void the_types_of_a_signature_tell_binaries_apart(void **state)
{
    (void)state;
    begin(of_parameter);
    assert_int_equal(run_with(foreign_type("Wide", 1)), hash("facts.Wide"));
    assert_int_equal(run_with(foreign_type("Long", 1)), hash("facts.Long"));
    end();
    begin(of_parameter);
    assert_int_equal(run_with(foreign_type("Even", 1)), hash("facts.Even"));
    assert_int_equal(run_with(foreign_type("Long", 1)), hash("facts.Long"));
    assert_int_equal(source, KILN_SOURCE_STORE);
    end();
}

static void definitions_of_types_tell_binaries_apart(void **state)
{
    (void)state;
    begin(of_mark);
    marked = foreign_type("Wide", 2);
    assert_int_equal(run_with(foreign_type("Wide", 1)), 0);
    assert_int_equal(run_with(marked), 1);
    end();
}

static void a_name_is_in_the_binary_of_its_function(void **state)
{
    (void)state;
    begin(of_name);
    assert_int_equal(run("a.f"), hash("a.f(i64[:])"));
    end();
    version++;
    begin(of_name);
    printed = "f, for people";
    assert_int_equal(run("a.f"), hash("f, for people"));
    end();
}

static void the_result_tells_binaries_apart(void **state)
{
    (void)state;
    begin(of_result);
    assert_int_equal(run("a.f"), 0);
    end();
    version++;
    begin(of_result);
    result = foreign_type("Wide", 1);
    assert_int_equal(run("a.f"), hash("facts.Wide"));
    end();
    version++;
    begin(of_result);
    result = foreign_type("Long", 1);
    assert_int_equal(run("a.f"), hash("facts.Long"));
    end();
}

static void a_callees_function_tells_binaries_apart(void **state)
{
    (void)state;
    begin(of_last_function);
    callee = function_of(frontend, "a.one");
    assert_int_equal(run("a.caller"), hash("a.one"));
    end();
    version++;
    begin(of_last_function);
    callee = function_of(frontend, "a.two");
    assert_int_equal(run("a.caller"), hash("a.two"));
    end();
}

static void settings_of_inference_tell_binaries_apart(void **state)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *rough = NULL;

    (void)state;
    begin(of_overlays);
    settings.overlays = "rough";
    assert_ok(kiln_config_new(&rough, context, &settings, &test_error));
    assert_int_equal(run("a.f"), hash("host"));
    assert_int_equal(run_under(rough, function_of(frontend, "a.f"), NULL),
                     hash("rough,host"));
    end();
}

/* An ordinal is in no key: a binary is good for each device of its kind. */
static void lower_is_not_told_the_device(void **state)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *second = NULL;
    const kiln_type *type;
    kiln_signature signature = {.types = &type, .count = 1};
    kiln_digest here, there;
    kiln_blob text = {0};

    (void)state;
    begin(of_device);
    settings.device = 7;
    assert_ok(kiln_config_new(&second, context, &settings, &test_error));
    type = type_of("i64[:]");
    signature.function = function_of(frontend, "a.f");
    assert_ok(kiln_emit(&text, context, &signature, second, 0, KILN_EMIT_LLVM,
                        &test_error));
    assert_contains(text.data, "store i64 0,");
    kiln_blob_release(&text);
    assert_ok(kiln_job_key(&here, context, &signature, config, 0, &test_error));
    assert_ok(
        kiln_job_key(&there, context, &signature, second, 0, &test_error));
    assert_memory_equal(&here, &there, sizeof here);
    end();
}

static void the_entry_follows_from_what_is_in_the_key(void **state)
{
    uint64_t first;

    (void)state;
    begin(of_entry);
    first = run("a.f");
    assert_int_not_equal(run("a.g"), first);
    end();
    begin(of_entry);
    assert_int_equal(run("a.f"), first);
    assert_int_equal(source, KILN_SOURCE_STORE);
    end();
}

/* ---- attached results: a consumer reads the same facts ---- */

static kiln_status text_save(void *value, kiln_blob *out)
{
    char *copy = strdup(value);

    assert_non_null(copy);
    *out = (kiln_blob){copy, strlen(copy) + 1, free_text, NULL};
    return KILN_OK;
}

static kiln_status text_load(const void *bytes, size_t size, void **value)
{
    (void)size;
    *value = strdup(bytes);
    return KILN_OK;
}

static const char *attached(const char *name)
{
    const kiln_type *type = type_of("i64[:]");
    const kiln_signature signature = {function_of(frontend, name), &type, 1};
    kiln_attachment made = {.size = sizeof made,
                            .destroy = free,
                            .relocation = KILN_RELOCATION_PORTABLE,
                            .save = text_save,
                            .load = text_load};
    const kiln_code *code = NULL;
    void *value = NULL;

    assert_ok(kiln_infer(&code, context, &signature, config, 0, &test_error));
    if (kiln_attachment_get(&value, code, NULL, "names 1") == KILN_OK)
        return value;
    made.value = strdup(kiln_function_name(signature.function));
    assert_ok(kiln_attachment_put(&value, code, NULL, "names 1", &made));
    return value;
}

static void results_attached_to_two_functions_are_kept_apart(void **state)
{
    const kiln_attachment_consumer consumer = {.size = sizeof consumer,
                                               .name = "names 1",
                                               .load = text_load,
                                               .destroy = free,
                                               .save = text_save};

    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(of_function);
        assert_ok(
            kiln_attachment_consumer_add(context, &consumer, &test_error));
        assert_string_equal(attached(i ? "a.g" : "a.f"), i ? "a.g" : "a.f");
        assert_string_equal(attached(i ? "a.f" : "a.g"), i ? "a.f" : "a.g");
        end();
    }
}

/* ---- Kiln's own typed IR is shared, and says whose it is ---- */

static const kiln_code *borrowed; /* whose IR the functions have */

static kiln_status infer_borrowed(void *self, const kiln_signature *signature,
                                  const kiln_config *under, uint64_t world,
                                  kiln_inference *out, kiln_error **error)
{
    size_t size;
    const void *bytes = kiln_code_ir(borrowed, &size);

    (void)self, (void)signature, (void)under, (void)world, (void)error;
    return kiln_inference_set_ir(out, bytes, size);
}

static const kiln_kernel *borrow(kiln_frontend *by, const char *name)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_type *type = type_of("i64[:]");
    const kiln_signature signature = {function_of(by, name), &type, 1};
    const kiln_kernel *kernel = NULL;

    options.source = &source;
    assert_ok(kiln_compile(&kernel, context, &signature, config, &options,
                           &test_error));
    return kernel;
}

/* Runs the kernel over nothing: its store is out of bounds. */
static void assert_raises_in(const kiln_kernel *kernel, const char *method,
                             const char *name)
{
    const kiln_launch launch = {.grid = {1}};
    const kiln_array array = {.data = NULL, .sizes = {0}};
    const void *arguments[] = {&array};
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;
    kiln_error *error = NULL;

    assert_ok(kiln_device_open(&device, context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    if (kiln_queue_launch(queue, kernel, &launch, arguments, 1, &error) ==
        KILN_OK)
        assert_int_equal(kiln_queue_wait(queue, &error), KILN_EEXCEPTION);
    assert_non_null(error);
    assert_contains(kiln_error_exception(error)->method, method);
    assert_contains(kiln_error_exception(error)->kernel, name);
    kiln_error_free(error);
    kiln_queue_free(queue);
    kiln_device_close(device);
}

static void kernels_that_share_a_binary_have_their_own_names(void **state)
{
    static const char text[] = "kernel k(y)\n    y[0] = 1\nend\n"
                               "kernel l(y)\n    y[0] = 1\nend\n";
    kiln_frontend_ops borrows = ops;
    kiln_frontend *library = NULL;
    kiln_package *package = NULL;
    const kiln_type *type;
    kiln_signature signature = {.types = &type, .count = 1};
    const kiln_kernel *first, *second;

    (void)state;
    begin(of_function);
    borrows.name = "library 1";
    borrows.infer = infer_borrowed;
    borrows.lower = NULL;
    assert_ok(
        kiln_frontend_add(&library, context, &borrows, NULL, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "t.kiln", text, sizeof text - 1,
                                  NULL, &test_error));
    type = type_of("i64[:]");
    assert_ok(
        kiln_package_function(&signature.function, package, "k", &test_error));
    assert_ok(
        kiln_infer(&borrowed, context, &signature, config, 0, &test_error));
    first = borrow(library, "b.first");
    assert_int_equal(source, KILN_SOURCE_BUILT);
    second = borrow(library, "b.second");
    assert_int_equal(source, KILN_SOURCE_MEMORY);
    assert_ptr_equal(kiln_kernel_artifact(first), kiln_kernel_artifact(second));
    assert_string_equal(kiln_kernel_get_info(first)->method, "b.first(i64[:])");
    assert_string_equal(kiln_kernel_get_info(second)->method,
                        "b.second(i64[:])");
    /* The expression stands in the method that it was borrowed of. */
    assert_raises_in(second, "main.k", "b.second(i64[:])");
    end();
}

/* Of the kernel language: equal bodies under two names. */
static void exceptions_name_the_kernel_that_raised_them(void **state)
{
    static const char text[] = "kernel k(y)\n    y[0] = 1\nend\n"
                               "kernel l(y)\n    y[0] = 1\nend\n";
    kiln_package *package = NULL;

    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(of_function);
        assert_ok(kiln_package_new(&package, context, "main", &test_error));
        assert_ok(kiln_package_define(package, "t.kiln", text, sizeof text - 1,
                                      NULL, &test_error));
        for (int k = 0; k < 2; k++) {
            const char *name = k == i ? "main.k" : "main.l";

            assert_raises_in(borrow(kiln_context_language(context), name), name,
                             name);
        }
        end();
    }
}

static int setup(void **state)
{
    const int status = temporary_folder_setup(state);

    folder = *state;
    version = 0;
    return status;
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setup, temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_functions_of_equal_typed_ir_have_two_binaries),
        TEST(two_frontends_have_two_binaries),
        TEST(the_types_of_a_signature_tell_binaries_apart),
        TEST(definitions_of_types_tell_binaries_apart),
        TEST(a_name_is_in_the_binary_of_its_function),
        TEST(the_result_tells_binaries_apart),
        TEST(a_callees_function_tells_binaries_apart),
        TEST(settings_of_inference_tell_binaries_apart),
        TEST(lower_is_not_told_the_device),
        TEST(the_entry_follows_from_what_is_in_the_key),
        TEST(results_attached_to_two_functions_are_kept_apart),
        TEST(kernels_that_share_a_binary_have_their_own_names),
        TEST(exceptions_name_the_kernel_that_raised_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
