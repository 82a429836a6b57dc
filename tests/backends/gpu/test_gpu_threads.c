/* test_gpu_threads.c - several threads on one fake driver. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread backends cuda rocm */
/* NEEDS: kiln-fake-gpu */
#include <stdatomic.h>
#include <stdlib.h>

#include "support/devices/gpu.h"
#include "support/harness.h"

#define THREADS 4
#define ROUNDS 60

typedef struct crowd {
    gpu_fixture *f;
    thread_report report;
    atomic_int next;
    void *native[THREADS]; /* contexts, one for two threads */
} crowd;

static void raise_own(void *env, const fake_launch *launch)
{
    const gpu_block *block = launch->arguments;

    (void)env;
    block->data[0] += 1;
    if (block->value % 3 == 0)
        gpu_raise(block, GPU_BOUNDS, block->value, 0);
}

/* Each raises in its own queue, and hears of its own alone. */
static void use_queue(crowd *of, kiln_queue *queue)
{
    int64_t data[1] = {0};

    for (int64_t i = 1; i <= ROUNDS; i++) {
        kiln_error *error = NULL;
        kiln_status status;

        thread_assert_ok(&of->report,
                         gpu_launch(of->f, queue, 1, data, i, NULL));
        status = kiln_queue_wait(queue, &error);
        thread_assert(&of->report,
                      status == (i % 3 == 0 ? KILN_EEXCEPTION : KILN_OK));
        if (status == KILN_EEXCEPTION)
            thread_assert(&of->report,
                          kiln_error_exception(error)->values[0] == i);
        kiln_error_free(error);
    }
    thread_assert(&of->report, data[0] == ROUNDS);
}

static void *launch_on_the_device(void *argument)
{
    crowd *of = argument;
    kiln_queue *queue = NULL;

    thread_assert_ok(&of->report, kiln_queue_new(&queue, of->f->device, NULL));
    if (queue != NULL)
        use_queue(of, queue);
    kiln_queue_free(queue);
    return NULL;
}

static void *load_and_launch(void *argument)
{
    crowd *of = argument;
    const int mine = atomic_fetch_add(&of->next, 1);

    for (int i = 0; i < 10; i++) {
        kiln_device *device = NULL;
        kiln_queue *queue = NULL;

        thread_assert_ok(&of->report,
                         kiln_device_adopt(&device, of->f->context,
                                           of->f->of->backend,
                                           of->native[mine / 2], NULL));
        if (device == NULL)
            break;
        thread_assert_ok(&of->report, kiln_queue_new(&queue, device, NULL));
        if (queue != NULL)
            use_queue(of, queue);
        kiln_queue_free(queue);
        kiln_device_close(device);
    }
    return NULL;
}

static void queues_of_one_device_run_at_once(void **state)
{
    crowd of = {.f = *state, .report = THREAD_REPORT_INIT};

    of.f->fake->run = raise_own;
    harness_run_threads(THREADS, launch_on_the_device, &of);
    assert_threads_ok(&of.report);
    assert_int_equal(of.f->fake->loads, 1);
}

static void a_module_is_loaded_once_in_a_context(void **state)
{
    crowd of = {.f = *state, .report = THREAD_REPORT_INIT};

    of.f->fake->run = raise_own;
    for (int i = 0; i < THREADS / 2; i++)
        of.native[i] = of.f->context_new(0);
    harness_run_threads(THREADS, load_and_launch, &of);
    assert_threads_ok(&of.report);
    assert_int_equal(of.f->fake->modules, 1);
    for (int i = 0; i < THREADS / 2; i++)
        of.f->context_end(of.native[i]);
}

static void *open_devices(void *argument)
{
    crowd *of = argument;
    kiln_device *device = NULL;

    thread_assert_ok(
        &of->report,
        kiln_device_open(&device, of->f->context, of->f->of->backend, 0, NULL));
    kiln_device_close(device);
    return NULL;
}

static void a_driver_may_be_opened_by_several_at_once(void **state)
{
    gpu_fixture f;
    crowd of = {.f = &f, .report = THREAD_REPORT_INIT};

    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_ok(gpu_begin(&f, i % 2 != 0 ? &gpu_rocm : &gpu_cuda, NULL));
        harness_run_threads(THREADS, open_devices, &of);
        assert_threads_ok(&of.report);
        gpu_end(&f);
        gpu_assert_balanced(f.fake);
    }
}

#define with_cuda(test) \
    { \
        "cuda: " #test, test, gpu_setup_cuda, gpu_teardown, NULL \
    }
#define with_rocm(test) \
    { \
        "rocm: " #test, test, gpu_setup_rocm, gpu_teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_cuda(queues_of_one_device_run_at_once),
        with_rocm(queues_of_one_device_run_at_once),
        with_cuda(a_module_is_loaded_once_in_a_context),
        with_rocm(a_module_is_loaded_once_in_a_context),
        cmocka_unit_test(a_driver_may_be_opened_by_several_at_once),
    };

    return cmocka_run_group_tests_name("gpu_threads", tests, NULL, NULL);
}
