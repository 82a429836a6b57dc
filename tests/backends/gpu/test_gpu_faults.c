/* test_gpu_faults.c - drivers that fail, lack something or are not there. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends cuda rocm */
/* NEEDS: kiln-fake-gpu */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/gpu/gpu.h"
#include "support/devices/gpu.h"
#include "support/harness.h"

#define UNKNOWN_ERROR 999
#define OUT_OF_MEMORY 2
#define ILLEGAL_ADDRESS 700
#define HEAP 4096

static const gpu_vendor *const vendors[] = {&gpu_cuda, &gpu_rocm, &gpu_cuda_old,
                                            &gpu_rocm_old};

static void print_one(void *env, const fake_launch *launch)
{
    (void)env;
    gpu_print(launch->arguments, 1, 2);
}

/* ---- all that a program does ---- */

static kiln_status use_buffer(const gpu_fixture *f, kiln_error **error)
{
    kiln_buffer *buffer;
    int64_t value = 5;
    kiln_status status =
        kiln_buffer_new(&buffer, f->device, sizeof value, error);

    if (status != KILN_OK)
        return status;
    status = kiln_buffer_write(buffer, 0, &value, sizeof value, error);
    if (status == KILN_OK)
        status = kiln_buffer_read(buffer, 0, &value, sizeof value, error);
    kiln_buffer_free(buffer);
    return status;
}

static kiln_status use_adopted(gpu_fixture *f, void *native, kiln_error **error)
{
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;
    int64_t data[1];
    kiln_status status =
        kiln_device_adopt(&device, f->context, f->of->backend, native, error);

    if (status == KILN_OK)
        status = kiln_queue_new(&queue, device, error);
    if (status == KILN_OK)
        status = kiln_queue_set_heap(queue, HEAP, error);
    if (status == KILN_OK)
        status = gpu_launch(f, queue, 1, data, 0, error);
    if (status == KILN_OK)
        status = kiln_queue_wait(queue, error);
    kiln_queue_free(queue);
    kiln_device_close(device);
    return status;
}

static kiln_status use_all(gpu_fixture *f, void *native, kiln_error **error)
{
    int64_t data[1];
    kiln_status status;

    f->allocates = 1;
    status = gpu_open(f, error);
    if (status == KILN_OK)
        status = kiln_queue_set_heap(f->queue, HEAP, error);
    if (status == KILN_OK)
        status = use_buffer(f, error);
    if (status == KILN_OK)
        status = gpu_launch(f, f->queue, 1, data, 0, error);
    if (status == KILN_OK)
        status = kiln_queue_poll(f->queue, error);
    if (status == KILN_OK)
        status = kiln_queue_wait(f->queue, error);
    if (status == KILN_OK)
        status = use_adopted(f, native, error);
    if (status != KILN_EUNSUPPORTED)
        return status;
    /* Old HIP has no contexts to ask. */
    if (error != NULL)
        kiln_error_free(*error);
    if (error != NULL)
        *error = NULL;
    return KILN_OK;
}

/* ---- every call in turn ---- */

typedef struct fault {
    int32_t result;
    int is_lasting;
} fault;

/* True when a call failed. */
static int fail_call(const gpu_vendor *of, const fault *with, uint64_t number)
{
    gpu_fixture f;
    kiln_error *error = NULL;
    void *native;
    kiln_status status;
    int failed;

    assert_ok(gpu_begin(&f, of, NULL));
    native = f.context_new(0);
    f.fake->run = print_one;
    f.fake->fail_at = number;
    f.fake->fail_with = with->result;
    f.fake->is_lasting = with->is_lasting;
    status = use_all(&f, native, &error);
    /* Who failed says why. */
    assert_int_equal(status != KILN_OK, error != NULL);
    if (status != KILN_OK)
        assert_true(strlen(kiln_error_message(error)) > 0);
    kiln_error_free(error);
    gpu_end(&f);
    gpu_assert_balanced(f.fake);
    failed = f.fake->failed[0] != '\0';
    if (!failed)
        assert_int_equal(status, KILN_OK);
    f.context_end(native);
    return failed;
}

static void whatever_call_fails_nothing_is_left(void **state)
{
    static const fault faults[] = {{UNKNOWN_ERROR, 0},   {OUT_OF_MEMORY, 0},
                                   {ILLEGAL_ADDRESS, 0}, {UNKNOWN_ERROR, 1},
                                   {OUT_OF_MEMORY, 1},   {ILLEGAL_ADDRESS, 1}};

    (void)state;
    for (size_t v = 0; v < sizeof vendors / sizeof *vendors; v++)
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
            uint64_t number = 1;

            while (fail_call(vendors[v], &faults[i], number))
                number++;
            assert_true(number > 30);
        }
}

static kiln_status run_with(const kiln_alloc *alloc, void *env)
{
    gpu_fixture f;
    void *native = NULL;
    kiln_status status = gpu_begin(&f, env, alloc);

    if (status == KILN_OK) {
        native = f.context_new(0);
        status = use_all(&f, native, NULL);
    }
    gpu_end(&f);
    if (status == KILN_OK)
        assert_int_equal(f.fake->launches, f.of == &gpu_rocm_old ? 1 : 2);
    gpu_assert_balanced(f.fake);
    f.context_end(native);
    /* No driver where there is no memory to open it is no device. */
    return status == KILN_ENODEVICE ? KILN_ENOMEM : status;
}

static void any_allocation_may_fail(void **state)
{
    gpu_vendor cuda = gpu_cuda, rocm = gpu_rocm;

    (void)state;
    assert_survives_failing_alloc(run_with, &cuda);
    assert_survives_failing_alloc(run_with, &rocm);
}

/* ---- what a failure means ---- */

static void a_lost_device_takes_no_more_work(void **state)
{
    gpu_fixture *f = *state;
    kiln_buffer *buffer;
    kiln_queue *queue;
    int64_t data[1];

    f->fake->run = print_one;
    assert_ok(gpu_launch(f, f->queue, 1, data, 0, &test_error));
    f->fake->fail_name = f->of->wait;
    f->fake->fail_at = 1;
    f->fake->fail_with = ILLEGAL_ADDRESS;
    assert_fails(KILN_EDEVICE, "FAKE_ERROR_ILLEGAL_ADDRESS",
                 kiln_queue_wait(f->queue, &test_error));
    /* What it printed before is heard. */
    assert_string_equal(f->heard.text, "value 1, other 2\n");
    assert_fails(KILN_EDEVICE, "failed before",
                 gpu_launch(f, f->queue, 1, data, 0, &test_error));
    assert_fails(KILN_EDEVICE, "failed before",
                 kiln_queue_wait(f->queue, &test_error));
    assert_fails(KILN_EDEVICE, "takes no more work",
                 kiln_buffer_new(&buffer, f->device, 8, &test_error));
    assert_fails(KILN_EDEVICE, "takes no more work",
                 kiln_queue_new(&queue, f->device, &test_error));
    assert_int_equal(f->fake->launches, 1);
}

static void what_was_printed_before_a_launch_found_the_loss_is_heard(
    void **state)
{
    gpu_fixture *f = *state;
    int64_t data[1];

    f->fake->run = print_one;
    assert_ok(gpu_launch(f, f->queue, 1, data, 0, &test_error));
    f->fake->fail_name = f->of->launch;
    f->fake->fail_at = 1;
    f->fake->fail_with = ILLEGAL_ADDRESS;
    assert_fails(KILN_EDEVICE, "no more work",
                 gpu_launch(f, f->queue, 1, data, 0, &test_error));
    assert_fails(KILN_EDEVICE, "failed before",
                 kiln_queue_wait(f->queue, &test_error));
    assert_string_equal(f->heard.text, "value 1, other 2\n");
}

static void a_launch_that_is_refused_is_told(void **state)
{
    gpu_fixture *f = *state;
    int64_t data[1];

    f->fake->fail_name = f->of->launch;
    f->fake->fail_at = 1;
    f->fake->fail_with = 701;
    assert_fails(KILN_EDEVICE, "launch of main.entry",
                 gpu_launch(f, f->queue, 1, data, 0, &test_error));
    assert_ok(gpu_launch(f, f->queue, 1, data, 0, &test_error));
}

static void memory_that_is_not_there_is_no_memory(void **state)
{
    gpu_fixture *f = *state;
    kiln_buffer *buffer;

    assert_fails(
        KILN_ENOMEM, "FAKE_ERROR_OUT_OF_MEMORY",
        kiln_buffer_new(&buffer, f->device, (uint64_t)1 << 50, &test_error));
}

static void loading_is_tried_again_when_memory_was_short(void **state)
{
    gpu_fixture *f = *state;
    kiln_kernel late;

    f->fake->fail_name = f->of->load;
    f->fake->fail_at = 1;
    f->fake->fail_with = OUT_OF_MEMORY;
    assert_ok(gpu_load(f, &late, 0, &test_error));
    assert_int_equal(f->fake->syncs, 1);
    kiln__kernel_unload(&late);
    f->fake->fail_at = 1;
    f->fake->is_lasting = 1;
    assert_fails(KILN_ENOMEM, "loading main.entry",
                 gpu_load(f, &late, 0, &test_error));
    f->fake->fail_at = 0;
}

/* ---- artifacts that are not good ---- */

/* Loads other bytes than the fixture's. */
static kiln_status load_other(gpu_fixture *f, const report_artifact *from,
                              kiln_error **error)
{
    const kiln_artifact *artifact = report_artifact_new(from);
    const kiln_artifact *kept = f->artifact;
    kiln_kernel kernel;
    kiln_status status;

    f->artifact = artifact;
    status = gpu_load(f, &kernel, 0, error);
    if (status == KILN_OK)
        kiln__kernel_unload(&kernel);
    f->artifact = kept;
    kiln_artifact_release(artifact);
    return status;
}

static void the_drivers_own_words_are_in_the_error(void **state)
{
    gpu_fixture *f = *state;

    assert_fails(KILN_ECORRUPT, "fake: line 1: nonsense",
                 load_other(f,
                            &(report_artifact){.format = "ptx",
                                               .bytes = "this is no PTX",
                                               .size = 14},
                            &test_error));
    assert_ok(load_other(f,
                         &(report_artifact){.format = "ptx",
                                            .bytes = ".version 7.8",
                                            .size = 12},
                         &test_error));
}

static void a_text_with_a_nul_is_refused(void **state)
{
    gpu_fixture *f = *state;

    assert_fails(KILN_ECORRUPT, "it holds a NUL",
                 load_other(f,
                            &(report_artifact){.format = "ptx",
                                               .bytes = ".version\0 7.8",
                                               .size = 13},
                            &test_error));
}

/* Any byte of the head may lie: no image is passed on that says it has more
   bytes than it has. */
static void an_image_that_goes_beyond_its_end_is_refused(void **state)
{
    gpu_fixture *f = *state;
    size_t size;
    const unsigned char *sound = kiln_artifact_bytes(f->artifact, &size);
    unsigned char bytes[64];
    int refused = 0;

    assert_int_equal(size, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++)
        assert_fails(KILN_ECORRUPT, "damaged",
                     load_other(f,
                                &(report_artifact){.bytes = (const char *)sound,
                                                   .size = cut},
                                &test_error));
    for (size_t i = 0; i < size; i++) {
        memcpy(bytes, sound, size);
        bytes[i] = 0x7e;
        refused += load_other(f,
                              &(report_artifact){.bytes = (const char *)bytes,
                                                 .size = size},
                              NULL) == KILN_ECORRUPT;
    }
    /* Magic, class, order; offset and count of sections; count of segments. */
    assert_int_equal(refused, 4 + 2 + 8 + 2 + 2);
}

static void a_kernel_that_is_not_in_the_image_is_told(void **state)
{
    gpu_fixture *f = *state;
    const char *bytes = kiln_artifact_bytes(f->artifact, NULL);

    assert_fails(
        KILN_ECORRUPT, "no function \"missing\"",
        load_other(
            f,
            &(report_artifact){.bytes = bytes, .size = 64, .kernel = "missing"},
            &test_error));
}

static void another_number_of_hidden_arguments_is_refused(void **state)
{
    gpu_fixture *f = *state;
    const char *bytes = kiln_artifact_bytes(f->artifact, NULL);

    assert_fails(KILN_EMISMATCH, "hidden arguments",
                 load_other(f,
                            &(report_artifact){.bytes = bytes,
                                               .size = 64,
                                               .hidden_arguments = 1},
                            &test_error));
}

static void code_for_another_device_is_no_device(void **state)
{
    gpu_fixture *f = *state;
    const char *bytes = kiln_artifact_bytes(f->artifact, NULL);

    assert_fails(KILN_ENODEVICE, "does not run on device Fake GPU",
                 load_other(f,
                            &(report_artifact){.bytes = bytes,
                                               .size = 64,
                                               .target = "cuda:sm_90:ptx78"},
                            &test_error));
    assert_fails(KILN_EMISMATCH, "format \"spirv\"",
                 load_other(f,
                            &(report_artifact){
                                .bytes = bytes, .size = 64, .format = "spirv"},
                            &test_error));
    assert_fails(KILN_EMISMATCH, "for \"rocm:gfx90a\"",
                 load_other(f,
                            &(report_artifact){.bytes = bytes,
                                               .size = 64,
                                               .target = "rocm:gfx90a"},
                            &test_error));
}

/* ---- drivers that are not there ---- */

/* The entry of `kiln targets`. */
static kiln_backend_info info_of(kiln_context *context, const char *name)
{
    kiln_backend_info info = {.size = sizeof info};

    for (size_t i = 0; i < kiln_backend_count(context); i++) {
        assert_ok(kiln_backend_get_info(&info, context, i));
        if (strcmp(info.name, name) == 0)
            break;
    }
    assert_string_equal(info.name, name);
    return info;
}

static void assert_no_device(const gpu_vendor *of, kiln_context *context,
                             const char *reason)
{
    const kiln_backend_info info = info_of(context, of->backend);
    kiln_device *device;

    assert_int_equal(info.device_count, 0);
    assert_non_null(info.reason);
    assert_contains(info.reason, reason);
    assert_non_null(info.default_target);
    assert_fails(
        KILN_ENODEVICE, reason,
        kiln_device_open(&device, context, of->backend, 0, &test_error));
    assert_fails(
        KILN_ENODEVICE, reason,
        kiln_device_adopt(&device, context, of->backend, &device, &test_error));
}

static void a_driver_that_is_absent_is_no_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        kiln_context *context;

        assert_int_equal(setenv(vendors[i]->variable, "/nowhere/driver.so", 1),
                         0);
        assert_ok(kiln_context_new(&context, NULL, &test_error));
        assert_no_device(vendors[i], context, "/nowhere/driver.so");
        kiln_context_free(context);
    }
}

static void a_driver_without_a_needed_function_is_none(void **state)
{
    gpu_fixture f;

    (void)state;
    assert_ok(gpu_begin(&f, &gpu_cuda_broken, NULL));
    assert_no_device(f.of, f.context, "cuModuleUnload");
    gpu_end(&f);
}

static void a_driver_without_devices_says_so(void **state)
{
    gpu_fixture f;

    (void)state;
    assert_ok(gpu_begin(&f, &gpu_cuda, NULL));
    f.fake->fail_at = 1;
    f.fake->fail_with = 100;
    assert_no_device(f.of, f.context, "cuInit: FAKE_ERROR");
    gpu_end(&f);
    assert_ok(gpu_begin(&f, &gpu_rocm, NULL));
    f.fake->device_count = 0;
    assert_no_device(f.of, f.context, "lists none");
    gpu_end(&f);
}

static void an_old_driver_has_no_names_for_errors(void **state)
{
    gpu_fixture f;
    kiln_buffer *buffer;

    (void)state;
    assert_ok(gpu_begin(&f, &gpu_cuda_old, NULL));
    assert_ok(gpu_open(&f, &test_error));
    assert_fails(
        KILN_ENOMEM, "error 2 (out of memory)",
        kiln_buffer_new(&buffer, f.device, (uint64_t)1 << 50, &test_error));
    gpu_end(&f);
    gpu_assert_balanced(f.fake);
}

/* ---- fork ---- */

static int child_of(gpu_fixture *f)
{
    int64_t data[1];

    if (kiln_queue_wait(f->queue, NULL) != KILN_EDEVICE)
        return 1;
    if (gpu_launch(f, f->queue, 1, data, 0, NULL) != KILN_EDEVICE)
        return 2;
    return 0;
}

static void the_child_of_a_fork_has_no_device(void **state)
{
    gpu_fixture *f = *state;
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(child_of(f));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define with_cuda(test) \
    { \
        "cuda: " #test, test, gpu_setup_cuda, gpu_teardown, NULL \
    }
#define with_rocm(test) \
    { \
        "rocm: " #test, test, gpu_setup_rocm, gpu_teardown, NULL \
    }
#define with_both(test) with_cuda(test), with_rocm(test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_call_fails_nothing_is_left),
        cmocka_unit_test(any_allocation_may_fail),
        with_both(a_lost_device_takes_no_more_work),
        with_both(what_was_printed_before_a_launch_found_the_loss_is_heard),
        with_both(a_launch_that_is_refused_is_told),
        with_both(memory_that_is_not_there_is_no_memory),
        with_both(loading_is_tried_again_when_memory_was_short),
        with_cuda(the_drivers_own_words_are_in_the_error),
        with_cuda(a_text_with_a_nul_is_refused),
        with_cuda(an_image_that_goes_beyond_its_end_is_refused),
        with_cuda(a_kernel_that_is_not_in_the_image_is_told),
        with_cuda(another_number_of_hidden_arguments_is_refused),
        with_cuda(code_for_another_device_is_no_device),
        cmocka_unit_test(a_driver_that_is_absent_is_no_device),
        cmocka_unit_test(a_driver_without_a_needed_function_is_none),
        cmocka_unit_test(a_driver_without_devices_says_so),
        cmocka_unit_test(an_old_driver_has_no_names_for_errors),
        with_both(the_child_of_a_fork_has_no_device),
    };

    return cmocka_run_group_tests_name("gpu_faults", tests, NULL, NULL);
}
