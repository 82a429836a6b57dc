/* kernels.c - compiles and runs kernels on the host, through kiln.h only. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/devices/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

#define ARGUMENTS_MAX 16

static void take_print(void *env, const char *text, size_t size)
{
    kernels *k = env;
    const size_t room = sizeof k->printed - 1 - k->printed_size;
    const size_t taken = size < room ? size : room;

    memcpy(k->printed + k->printed_size, text, taken);
    k->printed_size += taken;
    k->printed[k->printed_size] = '\0';
}

const char *kernels_backend(void)
{
    const char *name = getenv("KILN_TEST_BACKEND");

    return name != NULL && *name != '\0' ? name : "host";
}

const kiln_config *kernels_config(kernels *k,
                                  const kiln_config_options *options)
{
    kiln_config_options wanted = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;

    if (options != NULL)
        wanted = *options;
    wanted.target = kernels_backend();
    assert_ok(kiln_config_new(&config, k->context, &wanted, &test_error));
    return config;
}

int kernels_takes(const kiln_launch *launch)
{
    uint64_t items = 1;

    if (strcmp(kernels_backend(), "host") == 0 || launch->block[0] == 0)
        return 1;
    for (int d = 0; d < 3; d++) {
        const uint64_t block = launch->block[d] == 0 ? 1 : launch->block[d];
        const uint64_t grid = launch->grid[d] == 0 ? 1 : launch->grid[d];

        if (grid % block != 0)
            return 0;
        items *= block;
    }
    return items <= 1024 && launch->block[2] <= 64;
}

int kernels_has(const kernels *k, const char *feature)
{
    const char *at = kiln_config_target(k->config);

    if (strncmp(at, "spirv", 5) != 0)
        return 1;
    while ((at = strchr(at, '+')) != NULL) {
        const size_t length = strcspn(++at, "+");

        if (length == strlen(feature) && strncmp(at, feature, length) == 0)
            return 1;
    }
    return 0;
}

int kernels_orders_lanes(const kiln_launch *launch)
{
    return strncmp(kernels_backend(), "spirv", 5) != 0 ||
           (launch->block[1] <= 1 && launch->block[2] <= 1);
}

uint64_t kernels_lanes(kernels *k)
{
    static const char text[] =
        "kernel lanes(out)\n    out[0] = sub_group_size()\nend\n";
    int64_t lanes = 0;
    const kiln_array out = kernels_array(&lanes, 1);
    const kernels_argument argument = {"i64[:]", &out};

    if (k->lanes == 0)
        assert_ok(kernels_run(k, kernels_define(k, "lanes", text), "lanes", 1,
                              &argument, 1, &test_error));
    if (lanes != 0)
        k->lanes = (uint64_t)lanes;
    return k->lanes;
}

void kernels_open(kernels *k)
{
    k->config = kernels_config(k, NULL);
    assert_ok(kiln_device_open(&k->device, k->context, kernels_backend(), 0,
                               &test_error));
    assert_ok(kiln_queue_new(&k->queue, k->device, &test_error));
}

const kiln_config *kernels_rounding(kernels *k, uint8_t level,
                                    uint8_t bounds_checks)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.opt_level = level;
    options.bounds_checks = bounds_checks;
    options.contract = KILN_SWITCH_OFF;
    return kernels_config(k, &options);
}

static kiln_status run_trial(const kernels_trial *trial,
                             const kiln_config *config)
{
    const kiln_status status = trial->run(trial->env, config);

    /* What does not compile would fail alike with all configs. */
    if (status != KILN_EEXCEPTION)
        assert_ok(status);
    kiln_error_free(test_error);
    test_error = NULL;
    return status;
}

const char *kernels_disagree(kernels *k, const kernels_trial *trial)
{
    static const uint8_t checks[] = {KILN_SWITCH_ON, KILN_SWITCH_OFF};
    static const char *const names[] = {"with checks", "without checks"};
    const kiln_status expected =
        run_trial(trial, kernels_rounding(k, KILN_OPT_0, KILN_SWITCH_ON));
    void *memory = test_malloc(trial->size);
    const char *found = NULL;

    memcpy(memory, trial->memory, trial->size);
    for (int i = 0; found == NULL && i < (expected == KILN_OK ? 2 : 1); i++)
        if (run_trial(trial, kernels_rounding(k, KILN_OPT_3, checks[i])) !=
                expected ||
            (expected == KILN_OK &&
             memcmp(trial->memory, memory, trial->size) != 0))
            found = names[i];
    test_free(memory);
    return found;
}

void kernels_assert_agree(kernels *k, const kernels_trial *trial, int which,
                          const char *kernel)
{
    const char *differs = kernels_disagree(k, trial);

    if (differs != NULL)
        fail_msg("trial %d, %s\n%s", which, differs, kernel);
}

int kernels_are_possible(void)
{
    kiln_context *context = NULL;
    kiln_device *device = NULL;
    int found;

    if (kiln_context_new(&context, NULL, NULL) != KILN_OK)
        return 1; /* the tests say why */
    found = kiln_device_open(&device, context, kernels_backend(), 0, NULL) !=
            KILN_ENODEVICE;
    kiln_device_close(device);
    kiln_context_free(context);
    return found;
}

/* Comes on the thread of the launch. */
static void take_event(void *env, const kiln_event *event)
{
    kernels *k = env;

    if (event->kind != KILN_EVENT_CHECKED)
        return;
    k->checked++;
    (void)snprintf(k->why_checked, sizeof k->why_checked, "%s", event->reason);
}

int kernels_setup(void **state)
{
    const kiln_host_ops host = {
        .size = sizeof host, .print = take_print, .event = take_event};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kernels *k = calloc(1, sizeof *k);

    assert_non_null(k);
    options.host = &host;
    options.host_env = k;
    assert_ok(kiln_context_new(&k->context, &options, &test_error));
    kernels_open(k);
    *state = k;
    return 0;
}

int kernels_teardown(void **state)
{
    kernels *k = *state;

    kiln_queue_free(k->queue);
    kiln_device_close(k->device);
    kiln_context_free(k->context);
    free(k);
    return 0;
}

kiln_package *kernels_load(kernels *k, const char *path)
{
    kiln_package *package = NULL;

    assert_ok(kiln_package_load(&package, k->context, path, NULL, &test_error));
    return package;
}

kiln_package *kernels_define(kernels *k, const char *package, const char *text)
{
    kiln_package *out = NULL;

    assert_ok(kiln_package_new(&out, k->context, package, &test_error));
    assert_ok(kiln_package_define(out, package, text, strlen(text), NULL,
                                  &test_error));
    return out;
}

#define TYPES_MOST 8

kiln_blob kernels_optimised(kernels *k, const kiln_config *config,
                            kiln_package *package, const char *const *types,
                            size_t count)
{
    const kiln_type *found[TYPES_MOST];
    kiln_signature signature = {.types = found, .count = count};
    kiln_blob out;

    assert_true(count <= TYPES_MOST);
    assert_ok(
        kiln_package_function(&signature.function, package, "k", &test_error));
    for (size_t i = 0; i < count; i++)
        assert_ok(kiln_type_parse(&found[i], k->context, NULL, types[i],
                                  &test_error));
    assert_ok(kiln_emit(&out, k->context, &signature, config, 0,
                        KILN_EMIT_LLVM_OPT, &test_error));
    return out;
}

void kernels_assert_emits(kernels *k, const char *package, const char *text,
                          const char *const *types, size_t count,
                          const char *part)
{
    kiln_blob out =
        kernels_optimised(k, kernels_rounding(k, KILN_OPT_3, KILN_SWITCH_OFF),
                          kernels_define(k, package, text), types, count);

    if (strstr(out.data, part) == NULL)
        fail_msg("there is no %s in the code of\n%s", part, text);
    kiln_blob_release(&out);
}

kiln_array kernels_array(void *data, int64_t size)
{
    return (kiln_array){.data = data, .sizes = {size}, .strides = {1}};
}

kiln_array kernels_array2(void *data, int64_t size0, int64_t size1)
{
    return (kiln_array){
        .data = data,
        .sizes = {size0, size1},
        .strides = {1, size0},
    };
}

kiln_status kernels_launch(kernels *k, kiln_package *package,
                           const char *function, const kiln_config *config,
                           const kiln_launch *launch,
                           const kernels_argument *arguments, size_t count,
                           kiln_error **error)
{
    const kiln_type *types[ARGUMENTS_MAX];
    const void *values[ARGUMENTS_MAX];
    kiln_signature signature = {.types = types, .count = count};
    const kiln_kernel *kernel = NULL;
    kiln_status status;

    assert_true(count <= ARGUMENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        assert_ok(kiln_type_parse(&types[i], k->context, package,
                                  arguments[i].type, &test_error));
        values[i] = arguments[i].value;
    }
    assert_ok(kiln_package_function(&signature.function, package, function,
                                    &test_error));
    status = kiln_compile(&kernel, k->context, &signature, config, NULL, error);
    if (status != KILN_OK)
        return status;
    k->printed_size = 0;
    k->printed[0] = '\0';
    status = kiln_queue_launch(k->queue, kernel, launch, values, count, error);
    return status == KILN_OK ? kiln_queue_wait(k->queue, error) : status;
}

kiln_status kernels_run(kernels *k, kiln_package *package, const char *function,
                        uint64_t items, const kernels_argument *arguments,
                        size_t count, kiln_error **error)
{
    const kiln_launch launch = {.grid = {items, 1, 1}};

    return kernels_launch(k, package, function, k->config, &launch, arguments,
                          count, error);
}
