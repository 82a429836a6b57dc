/* spirv_validate.c - modules go through SPIRV-Tools before anybody has them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/spirv/codegen/spirv_codegen.h"
#include "backends/spirv/codegen/spirv_validate.h"
#include "kiln.h"
#include "spirv_kernels.h"

#if defined(__has_include)
#if __has_include(<spirv-tools/libspirv.h>)
#include <spirv-tools/libspirv.h>
#define HAS_HEADER 1
#endif
#endif

/* ---- the library's own declarations ---- */

#ifdef HAS_HEADER

/* Ours are enumerations as ints, and handles as pointers. */
_Static_assert(sizeof(spv_target_env) == sizeof(int), "environment");
_Static_assert(sizeof(spv_result_t) == sizeof(int), "result");
_Static_assert(sizeof(spv_diagnostic_t) == sizeof(kiln__spv_diagnostic),
               "diagnostic");
_Static_assert(offsetof(spv_diagnostic_t, error) ==
                   offsetof(kiln__spv_diagnostic, error),
               "error");
_Static_assert(SPV_SUCCESS == KILN__SPV_SUCCESS, "success");
_Static_assert(SPV_ERROR_OUT_OF_MEMORY == KILN__SPV_OUT_OF_MEMORY, "memory");
_Static_assert(SPV_ERROR_INVALID_BINARY == KILN__SPV_INVALID_BINARY, "binary");
_Static_assert(SPV_ERROR_WRONG_VERSION == KILN__SPV_WRONG_VERSION, "version");

#define SAME(minor, environment) \
    _Static_assert((int)SPV_ENV_UNIVERSAL_1_##minor == (environment), #minor);
KILN__SPV_ENVIRONMENT_MAP(SAME)

#define HAS_TYPE(function, ...) \
    _Static_assert( \
        __builtin_types_compatible_p(__typeof__(function), __VA_ARGS__), \
        #function)

HAS_TYPE(spvContextCreate, spv_context(spv_target_env));
HAS_TYPE(spvContextDestroy, void(spv_context));
HAS_TYPE(spvValidateBinary, spv_result_t(spv_const_context, const uint32_t *,
                                         size_t, spv_diagnostic *));
HAS_TYPE(spvDiagnosticDestroy, void(spv_diagnostic));

#endif

/* ---- a job ---- */

typedef struct fixture {
    kiln__codegen_settings settings;
    kiln__codegen_request request;
    kiln__codegen_job job;
    uint32_t *words;
    size_t size; /* in bytes */
    int kept;
    char suffix[16];
    char log[1024];
} fixture;

static void keep(void *env, const char *suffix, const void *bytes, size_t size)
{
    fixture *f = env;

    assert_int_equal(size, f->size);
    assert_memory_equal(bytes, f->words, size);
    (void)snprintf(f->suffix, sizeof f->suffix, "%s", suffix);
    f->kept++;
}

static void take_line(void *env, int32_t level, const char *line)
{
    fixture *f = env;

    assert_int_equal(level, KILN_LOG_DEBUG);
    (void)snprintf(f->log, sizeof f->log, "%s", line);
}

static const char *const variables[] = {"KILN_SPIRV_TOOLS", "FAKE_SPIRV_RESULT",
                                        "FAKE_SPIRV_SAYS", "FAKE_SPIRV_KNOWS"};

static void forget_variables(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    forget_variables();
    f->settings =
        (kiln__codegen_settings){.backend = "spirv",
                                 .processor = "",
                                 .triple = "spirv64v1.4-unknown-unknown",
                                 .features = "",
                                 .options = "fp64,int64_atomics"};
    f->request = (kiln__codegen_request){.settings = &f->settings,
                                         .entry = "k",
                                         .env = f,
                                         .keep = keep,
                                         .log = take_line};
    f->job.request = &f->request;
    f->job.settings = &f->settings;
    kiln__arena_init(&f->job.arena, &kiln__malloc);
    f->words = spirv_kernels_read(&f->size);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    forget_variables();
    kiln__arena_dispose(&f->job.arena);
    free(f->words);
    free(f);
    return 0;
}

static kiln_status validate(fixture *f)
{
    const kiln__object module = {f->words, f->size};

    f->job.status = KILN_OK;
    return kiln__spirv_validate(&f->job, &module);
}

static void assert_unchecked(fixture *f, const char *log)
{
    assert_int_equal(validate(f), KILN_OK);
    assert_contains(f->log, log);
    assert_int_equal(f->kept, 0);
}

static void assert_finding(fixture *f, kiln_status status, const char *message)
{
    assert_int_equal(validate(f), status);
    assert_string_equal(f->job.message, message);
}

/* A library that says these. */
static void with_fake(const char *result, const char *says)
{
    setenv("KILN_SPIRV_TOOLS", KILN_FAKE_SPIRV_TOOLS, 1);
    setenv("FAKE_SPIRV_RESULT", result, 1);
    if (says != NULL)
        setenv("FAKE_SPIRV_SAYS", says, 1);
}

/* ---- what Kiln was built with ---- */

#ifdef HAS_INSIDE
#define NEED_INSIDE() ((void)0)
#else
#define NEED_INSIDE() test_skip(SKIP_PACKAGE, "SPIRV-Tools are not built in")
#endif

/* The first OpTypeFloat has one bit more. */
static void damage(const fixture *f)
{
    const uint32_t head = 3u << 16 | 22u;

    for (size_t i = 5; i + 2 < f->size / 4; i += f->words[i] >> 16)
        if (f->words[i] == head) {
            f->words[i + 2]++;
            return;
        }
    fail_msg("the module has no type of floats");
}

static void what_llvm_made_is_valid(void **state)
{
    fixture *f = *state;

    NEED_INSIDE();
    assert_int_equal(validate(f), KILN_OK);
    assert_int_equal(f->kept, 0);
    assert_string_equal(f->log, "");
}

static void a_finding_has_the_validators_words_and_keeps_the_module(
    void **state)
{
    fixture *f = *state;

    NEED_INSIDE();
    damage(f);
    assert_int_equal(validate(f), KILN_ECODEGEN);
    assert_contains(f->job.message, "spirv-val: ");
    assert_contains(f->job.message, "OpTypeFloat");
    assert_null(strchr(f->job.message, '\n'));
    assert_int_equal(f->kept, 1);
    assert_string_equal(f->suffix, ".spv");
}

static void no_damaged_word_ends_the_process(void **state)
{
    fixture *f = *state;
    size_t found = 0;

    NEED_INSIDE();
    for (size_t i = 5; i < f->size / 4; i += 11) {
        f->words[i] ^= 0x00010002u;
        found += validate(f) != KILN_OK;
        f->words[i] ^= 0x00010002u;
    }
    assert_true(found > 50);
    assert_int_equal(f->kept, found);
}

/* ---- libraries that are opened ---- */

static void a_library_that_the_variable_names_is_asked(void **state)
{
    fixture *f = *state;

    with_fake("0", NULL);
    assert_int_equal(validate(f), KILN_OK);
    with_fake("-10", "ID 7 is\nnot nice\n");
    assert_finding(f, KILN_ECODEGEN, "spirv-val: ID 7 is not nice");
    assert_int_equal(f->kept, 1);
}

static void what_has_no_words_is_a_finding_all_the_same(void **state)
{
    fixture *f = *state;

    with_fake("-13", NULL);
    assert_finding(f, KILN_ECODEGEN, "spirv-val: no reason given");
}

static void lack_of_memory_is_no_finding(void **state)
{
    fixture *f = *state;

    with_fake("-2", NULL);
    assert_finding(f, KILN_ENOMEM, "out of memory");
    assert_int_equal(f->kept, 0);
}

static void a_warning_is_no_finding(void **state)
{
    fixture *f = *state;

    with_fake("0", "unusual, but valid");
    assert_int_equal(validate(f), KILN_OK);
    assert_int_equal(f->kept, 0);
}

static void off_and_no_place_leave_a_module_unchecked(void **state)
{
    fixture *f = *state;

    damage(f);
    setenv("KILN_SPIRV_TOOLS", "off", 1);
    assert_unchecked(f, "");
    setenv("KILN_SPIRV_TOOLS", "/nowhere/libSPIRV-Tools-shared.so", 1);
    assert_unchecked(f, "");
}

static void what_is_no_validator_is_passed_over(void **state)
{
    fixture *f = *state;

    damage(f);
    setenv("KILN_SPIRV_TOOLS", KILN_SPIRV_KERNELS, 1);
    assert_unchecked(f, "spirv-val is passed over: " KILN_SPIRV_KERNELS
                        " cannot be used");
    setenv("KILN_SPIRV_TOOLS", KILN_FAKE_SPIRV_TOOLS_BROKEN, 1);
    assert_unchecked(f, "cannot be used");
}

static void an_older_validator_is_passed_over(void **state)
{
    fixture *f = *state;

    with_fake("0", NULL);
    setenv("FAKE_SPIRV_KNOWS", "17", 1); /* 1.3 */
    assert_unchecked(f, "does not know SPIR-V 1.4");
    unsetenv("FAKE_SPIRV_KNOWS");
    with_fake("-16", "wrong version");
    assert_unchecked(f, "passed over: wrong version");
    with_fake("-4", "Invalid opcode: 9999");
    f->settings.options = "fp64,SPV_INTEL_arbitrary_precision_integers";
    assert_unchecked(f, "passed over: Invalid opcode: 9999");
    f->settings.options = "fp64";
    assert_finding(f, KILN_ECODEGEN, "spirv-val: Invalid opcode: 9999");
}

/* ---- from the text on ---- */

static kiln_status compile(const char *folder, kiln_error **error)
{
    static const char text[] = "kernel k(y)\n    y[0] = y[1]\nend\n";
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options wanted = KILN_CONFIG_OPTIONS_INIT;
    const kiln_type *types[1];
    kiln_signature signature = {.types = types, .count = 1};
    const kiln_config *config = NULL;
    const kiln_kernel *kernel;
    kiln_package *package = NULL;
    kiln_device *device = NULL;
    kiln_context *context = NULL;
    kiln_status status;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    options.offline_only = 1;
    wanted.target = "spirv:1.4";
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln_config_new(&config, context, &wanted, &test_error));
    assert_ok(kiln_device_open_offline(&device, context, config, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "main.kiln", text, sizeof text - 1,
                                  NULL, &test_error));
    assert_ok(
        kiln_package_function(&signature.function, package, "k", &test_error));
    assert_ok(kiln_type_parse(&types[0], context, NULL, "i32[:]", &test_error));
    status = kiln_compile(&kernel, context, &signature, config, NULL, error);
    kiln_device_close(device);
    kiln_context_free(context);
    return status;
}

static void a_finding_fails_the_compile_and_tells_where_the_module_is(
    void **state)
{
    kiln_error *error = NULL;
    char path[PATH_MAX], *folder = NULL;
    const char *at;
    void *temporary = NULL;

    (void)state;
    assert_int_equal(temporary_folder_setup(&temporary), 0);
    folder = temporary;
    with_fake("-10", "ID 7 is not nice");
    if (compile(folder, &error) != KILN_ECODEGEN)
        fail_msg("%s", kiln_error_message(error));
    assert_contains(kiln_error_message(error), "spirv-val: ID 7 is not nice");
    at = strstr(kiln_error_message(error), "is kept in ");
    assert_non_null(at);
    (void)snprintf(path, sizeof path, "%s", at + strlen("is kept in "));
    assert_contains(path, ".spv");
    assert_int_equal(access(path, R_OK), 0);
    kiln_error_free(error);

    with_fake("0", NULL);
    assert_ok(compile(folder, &test_error));
    assert_int_equal(temporary_folder_teardown(&temporary), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_llvm_made_is_valid),
        TEST(a_finding_has_the_validators_words_and_keeps_the_module),
        TEST(no_damaged_word_ends_the_process),
        TEST(a_library_that_the_variable_names_is_asked),
        TEST(what_has_no_words_is_a_finding_all_the_same),
        TEST(lack_of_memory_is_no_finding),
        TEST(a_warning_is_no_finding),
        TEST(off_and_no_place_leave_a_module_unchecked),
        TEST(what_is_no_validator_is_passed_over),
        TEST(an_older_validator_is_passed_over),
        TEST(a_finding_fails_the_compile_and_tells_where_the_module_is),
    };

    return cmocka_run_group_tests_name("spirv_validate", tests, NULL, NULL);
}
