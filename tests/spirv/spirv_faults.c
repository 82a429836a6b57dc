/* spirv_faults.c - a driver fails, at every call in turn. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "context/log.h"
#include "faulty.h"
#include "spirv_kernels.h"

/*
 * The backend's own table over a table of a driver's functions that count and
 * fail; KILN_SPIRV_DRIVER says whose. What was made is given back whatever
 * happened.
 */

static int is_zero; /* Level Zero, else OpenCL */

typedef struct parts {
    kiln_context *context;
    void *self;
    void *device, *module, *again, *queue, *adopted;
    void *address;
    void *function;
    spirv_kernel kernel;
    kiln_blob native;
} parts;

static const kiln_backend_ops *const ops = &kiln__spirv_ops;

/* The first failure; `status` keeps it. */
#define STEP(call) \
    do { \
        if (status == KILN_OK) \
            status = (call); \
    } while (0)

static kiln_status prepare(parts *p, const kiln_alloc *alloc)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    size_t size;
    void *bytes = spirv_kernels_read(&size);
    kiln_status status;

    options.alloc = alloc;
    options.spirv_driver = is_zero ? "level-zero" : "opencl";
    status = kiln_context_new(&p->context, &options, NULL);
    if (status == KILN_OK)
        p->kernel.artifact =
            spirv_artifact(&p->kernel, p->context, &spirv_raise,
                           "spirv:1.4+fp64+int64_atomics", bytes, size);
    free(bytes);
    STEP(kiln__spirv_backend_new_on(&p->self, p->context, &faulty_opencl,
                                    &faulty_zero, NULL));
    return status;
}

/* The driver's own binary, saved once: tests that are not about building are
   faster with it. */
static kiln_blob saved;

static kiln_status open_all(parts *p, kiln_error **error)
{
    const char *name = NULL;
    kiln_status status = ops->open(p->self, 0, NULL, &p->device, &name, error);

    STEP(ops->load_native(p->self, p->device, p->kernel.artifact, saved.data,
                          saved.size, &p->again, error));
    STEP(ops->symbol(p->self, p->again, "raise", &p->function, error));
    STEP(ops->queue_new(p->self, p->device, NULL, &p->queue, error));
    return status;
}

static kiln_status launch(parts *p, kiln_error **error)
{
    struct {
        void *data;
        int64_t size;
        uint64_t hidden[2];
    } block = {p->address, 0, {0, 0}};
    const kiln_launch_request request = {
        .size = sizeof request,
        .function = p->function,
        .kernel = &p->kernel.kernel,
        .grid = {4, 1, 1},
        .arguments = &block,
        .argument_bytes = 16,
    };
    kiln_exception exception = {.size = sizeof exception};

    p->kernel.kernel.info = kiln_artifact_kernel(p->kernel.artifact, 0);
    return ops->launch(p->self, p->queue, &request, &exception, error);
}

/* An exception is what must come. */
static kiln_status look(parts *p, int32_t block, kiln_error **error)
{
    kiln_exception exception = {.size = sizeof exception};
    kiln_status status;

    do
        status = ops->wait(p->self, p->queue, block, &exception, error);
    while (status == KILN_EAGAIN);
    if (status == KILN_OK)
        return kiln_error_set(error, KILN_EMISMATCH, "nothing was raised");
    return status == KILN_EEXCEPTION ? KILN_OK : status;
}

static kiln_status run_all(parts *p, kiln_error **error)
{
    int32_t seen[4] = {1, 2, 3, 4};
    kiln_status status =
        ops->buffer_new(p->self, p->device, sizeof seen, &p->address, error);

    STEP(ops->copy(p->self, p->device, p->address, seen, sizeof seen, error));
    STEP(launch(p, error));
    STEP(look(p, 1, error));
    STEP(launch(p, error));
    STEP(look(p, 0, error));
    STEP(ops->copy(p->self, p->device, seen, p->address, sizeof seen, error));
    if (status == KILN_OK)
        assert_int_equal(seen[3], 4);
    return status;
}

/* Memory goes when the work that uses it has ended. */
static void give_back(parts *p)
{
    kiln_exception exception;

    faulty.fail_at = 0;
    if (p->queue != NULL)
        (void)ops->wait(p->self, p->queue, 1, &exception, NULL);
    if (p->address != NULL)
        ops->buffer_free(p->self, p->device, p->address);
    if (p->queue != NULL)
        ops->queue_free(p->self, p->queue);
    if (p->again != NULL)
        ops->unload(p->self, p->again);
    if (p->module != NULL)
        ops->unload(p->self, p->module);
    kiln_blob_release(&p->native);
    if (p->device != NULL)
        ops->close(p->self, p->device);
    if (p->self != NULL)
        ops->free(p->self);
    kiln_artifact_release(p->kernel.artifact);
    kiln_context_free(p->context);
}

static kiln_status whole(const kiln_alloc *alloc, kiln_error **error)
{
    parts p = {0};
    kiln_status status = prepare(&p, alloc);

    STEP(open_all(&p, error));
    STEP(run_all(&p, error));
    give_back(&p);
    return status;
}

/* How many calls there were before and after loading, and before saving. */
static uint64_t at_load, at_run, at_save;

/* A driver may compile when a kernel is launched, and saves that. */
static kiln_status build(parts *p, kiln_error **error)
{
    kiln_status status =
        ops->load(p->self, p->device, p->kernel.artifact, &p->module, error);

    at_run = faulty.calls;
    STEP(ops->symbol(p->self, p->module, "raise", &p->function, error));
    STEP(ops->queue_new(p->self, p->device, NULL, &p->queue, error));
    STEP(run_all(p, error));
    at_save = faulty.calls;
    STEP(ops->save_native(p->self, p->module, &p->native, error));
    return status;
}

static kiln_status building(const kiln_alloc *alloc, kiln_error **error)
{
    parts p = {0};
    const char *name = NULL;
    kiln_status status = prepare(&p, alloc);

    STEP(ops->open(p.self, 0, NULL, &p.device, &name, error));
    at_load = faulty.calls;
    STEP(build(&p, error));
    if (status == KILN_OK && saved.data == NULL) {
        saved = p.native;
        p.native = (kiln_blob){0};
    }
    give_back(&p);
    return status;
}

/* ---- every call ---- */

/* A driver that does not answer a question is one without that. */
static int is_question(const char *function)
{
    static const char *const optional[] = {
        "zeDevicePciGetPropertiesExt", "zeKernelSuggestGroupSize",
        "zeKernelGetProperties", "zeModuleBuildLogDestroy"};

    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (strcmp(function, optional[i]) == 0)
            return 1;
    return strncmp(function, "clGet", 5) == 0;
}

typedef kiln_status (*body)(const kiln_alloc *alloc, kiln_error **error);

static void check_one(body run, uint64_t fail_at, int lasting)
{
    failing_alloc memory;
    kiln_error *error = NULL;
    kiln_status status;

    failing_alloc_init(&memory, 0);
    faulty.calls = 0;
    faulty.called = NULL;
    faulty.live = 0;
    faulty.fail_at = fail_at;
    faulty.lasting = lasting;
    faulty.failed = NULL;
    status = run(&memory.alloc, &error);
    if (faulty.failed != NULL && (lasting || !is_question(faulty.failed)))
        assert_int_not_equal(status, KILN_OK);
    if (status != KILN_OK) {
        assert_non_null(error);
        assert_true(strlen(kiln_error_message(error)) > 10);
        assert_int_not_equal(status, KILN_EMISMATCH);
    }
    assert_int_equal(faulty.live, 0);
    assert_nothing_leaked(&memory);
    kiln_error_free(error);
}

static int save_once(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    faulty.calls = 0;
    faulty.fail_at = 0;
    if (building(NULL, &error) == KILN_OK)
        return 0;
    print_message("%s\n", kiln_error_message(error));
    return -1;
}

static int forget_saved(void **state)
{
    (void)state;
    kiln_blob_release(&saved);
    return 0;
}

static void every_call_of_a_build_may_fail(void **state)
{
    uint64_t first, loaded, saving, last;

    (void)state;
    check_one(building, 0, 0);
    first = at_load + 1;
    loaded = at_run;
    saving = at_save + 1;
    last = faulty.calls;
    assert_true(loaded > first && last >= saving);
    for (uint64_t i = first; i <= loaded; i++)
        check_one(building, i, 0);
    /* Looks at a queue differ in number: those that are left are tried. */
    for (uint64_t i = saving; i <= last; i++)
        check_one(building, i, 0);
}

static void every_call_may_fail_alone(void **state)
{
    uint64_t calls;

    (void)state;
    check_one(whole, 0, 0);
    calls = faulty.calls;
    assert_true(calls > 40);
    for (uint64_t i = 1; i <= calls; i++)
        check_one(whole, i, 0);
}

static void every_call_may_be_the_last_that_works(void **state)
{
    uint64_t calls;

    (void)state;
    check_one(whole, 0, 0);
    calls = faulty.calls;
    for (uint64_t i = 1; i <= calls; i += 3)
        check_one(whole, i, 1);
}

static void memory_of_the_host_may_end_anywhere(void **state)
{
    failing_alloc memory;
    uint64_t fail_at = 0;
    kiln_status status = KILN_ENOMEM;

    (void)state;
    faulty.fail_at = 0;
    for (fail_at = 1; status != KILN_OK; fail_at += 1 + fail_at / 16) {
        parts p = {0};
        kiln_error *error = NULL;

        faulty.live = 0;
        failing_alloc_init(&memory, 0);
        status = prepare(&p, &memory.alloc);
        assert_int_equal(status, KILN_OK);
        memory.calls = 0;
        memory.fail_at = fail_at;
        STEP(open_all(&p, &error));
        STEP(run_all(&p, &error));
        if (memory.calls < fail_at)
            assert_int_equal(status, KILN_OK);
        memory.fail_at = 0;
        give_back(&p);
        kiln_error_free(error);
        assert_int_equal(faulty.live, 0);
        assert_nothing_leaked(&memory);
    }
}

/* ---- memory of other kinds ---- */

static void memory_that_one_side_sees_at_a_time_is_enough(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    faulty.fail_at = 0;
    faulty.without = CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    assert_int_equal(whole(NULL, &error), KILN_OK);
    faulty.without = 0;
}

static void a_device_that_takes_fewer_arguments_says_so(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    faulty.fail_at = 0;
    faulty.argument_bytes = 8;
    assert_int_equal(whole(NULL, &error), KILN_ENODEVICE);
    faulty.argument_bytes = 0;
    assert_contains(kiln_error_message(error), "bytes; a kernel on ");
    assert_contains(kiln_error_message(error), " takes at most 8");
    kiln_error_free(error);
}

static void a_device_without_addresses_is_not_listed(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    void *self = NULL;
    const char *reason = NULL;

    (void)state;
    faulty.fail_at = 0;
    faulty.without = ~(cl_device_svm_capabilities)0;
    options.spirv_driver = "opencl";
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln__spirv_backend_new_on(&self, context, &faulty_opencl, NULL,
                                         &test_error));
    if (ops->count(self, &reason) == 0)
        assert_contains(reason, "SVM");
    ops->free(self);
    kiln_context_free(context);
    faulty.without = 0;
}

/* ---- what the driver is told, and tells ---- */

typedef struct arguments {
    void *data;
    int64_t size;
    uint64_t hidden[KILN__HIDDEN_MOST];
} arguments;

/* Loads the program on a new device, with memory for `items` numbers. */
static void open_program(parts *p, const spirv_program *program, size_t items)
{
    size_t size;
    void *bytes = spirv_kernels_read(&size);
    const char *name;

    faulty.fail_at = 0;
    assert_ok(prepare(p, NULL));
    kiln_artifact_release(p->kernel.artifact);
    p->kernel.artifact =
        spirv_artifact(&p->kernel, p->context, program,
                       "spirv:1.4+fp64+int64_atomics", bytes, size);
    p->kernel.kernel.info = kiln_artifact_kernel(p->kernel.artifact, 0);
    free(bytes);
    assert_ok(ops->open(p->self, 0, NULL, &p->device, &name, &test_error));
    assert_ok(ops->load_native(p->self, p->device, p->kernel.artifact,
                               saved.data, saved.size, &p->again, &test_error));
    assert_ok(ops->symbol(p->self, p->again, program->name, &p->function,
                          &test_error));
    assert_ok(ops->queue_new(p->self, p->device, NULL, &p->queue, &test_error));
    assert_ok(ops->buffer_new(p->self, p->device, 8 * items, &p->address,
                              &test_error));
}

static void launch_program(parts *p, uint64_t items, void *heap)
{
    arguments block = {p->address, (int64_t)items, {0}};
    const kiln_launch_request request = {.size = sizeof request,
                                         .function = p->function,
                                         .kernel = &p->kernel.kernel,
                                         .grid = {items, 1, 1},
                                         .arguments = &block,
                                         .argument_bytes = 16,
                                         .heap = heap};
    kiln_exception exception = {.size = sizeof exception};

    assert_ok(
        ops->launch(p->self, p->queue, &request, &exception, &test_error));
    assert_ok(ops->wait(p->self, p->queue, 1, &exception, &test_error));
}

static uint64_t read_number(const parts *p)
{
    uint64_t number = 0;

    assert_ok(ops->copy(p->self, p->device, &number, p->address, sizeof number,
                        &test_error));
    return number;
}

/* Neither of the two addresses is an argument of the driver's knowledge. */
static void the_driver_is_told_of_state_and_heap(void **state)
{
    parts p = {0};
    void *heaps[2];
    kiln_native_launch native = {.size = sizeof native};

    (void)state;
    open_program(&p, &spirv_keep, 1);
    for (int i = 0; i < 2; i++) {
        assert_ok(
            ops->buffer_new(p.self, p.device, 64, &heaps[i], &test_error));
        launch_program(&p, 1, heaps[i]);
        assert_int_equal(read_number(&p), (uintptr_t)heaps[i]);
        assert_int_equal(faulty.reached, 2);
        assert_ptr_equal(faulty.reach[1], heaps[i]);
    }
    native.hidden[2] = (uint64_t)(uintptr_t)heaps[0];
    assert_ok(ops->native(p.self, p.queue, p.function, &native, &test_error));
    assert_int_equal(faulty.reached, 2);
    assert_int_equal((uintptr_t)faulty.reach[0], native.hidden[0]);
    assert_ptr_equal(faulty.reach[1], heaps[0]);
    for (int i = 0; i < 2; i++)
        ops->buffer_free(p.self, p.device, heaps[i]);
    give_back(&p);
}

static void the_group_that_the_driver_suggests_is_taken(void **state)
{
    parts p = {0};

    (void)state;
    open_program(&p, &spirv_raise, 6);
    faulty.suggestions = 0;
    faulty.suggested = 3;
    launch_program(&p, 6, NULL);
    assert_int_equal(faulty.group[0], 3);
    launch_program(&p, 6, NULL);
    assert_int_equal(faulty.suggestions, 1); /* the shape is known */
    faulty.suggested = 4;                    /* does not divide the grid */
    launch_program(&p, 3, NULL);
    assert_int_equal(faulty.group[0], 3);
    assert_int_equal(faulty.suggestions, 2);
    faulty.suggested = 0;
    give_back(&p);
}

/* ---- adopting ---- */

static void contexts_and_queues_are_adopted(void **state)
{
    kiln_spirv_native native = {sizeof native, "opencl", NULL, NULL};
    parts p = {0};
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    const char *name;
    cl_int code;

    (void)state;
    faulty.fail_at = 0;
    assert_ok(prepare(&p, NULL));
    assert_int_equal(faulty_opencl_real.clGetPlatformIDs(1, &platform, NULL),
                     0);
    assert_int_equal(faulty_opencl_real.clGetDeviceIDs(
                         platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL),
                     0);
    context =
        faulty_opencl_real.clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    assert_non_null(context);
    queue = faulty_opencl_real.clCreateCommandQueue(context, id, 0, &code);
    assert_non_null(queue);

    assert_fails(KILN_EINVAL, "kiln_spirv_native",
                 ops->open(p.self, 0, &native, &p.device, &name, &test_error));
    native.context = context;
    assert_ok(ops->open(p.self, 0, &native, &p.device, &name, &test_error));
    assert_ok(
        ops->load(p.self, p.device, p.kernel.artifact, &p.again, &test_error));
    assert_ok(ops->symbol(p.self, p.again, "raise", &p.function, &test_error));
    assert_ok(ops->queue_new(p.self, p.device, queue, &p.queue, &test_error));
    assert_ok(run_all(&p, &test_error));

    give_back(&p);
    assert_int_equal(faulty_opencl_real.clReleaseCommandQueue(queue), 0);
    assert_int_equal(faulty_opencl_real.clReleaseContext(context), 0);
}

static void contexts_and_lists_are_adopted(void **state)
{
    const ze_context_desc_t wanted = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    kiln_spirv_native native = {sizeof native, "level-zero", NULL, NULL};
    parts p = {0};
    ze_driver_handle_t driver;
    ze_device_handle_t id;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    uint32_t count = 1;
    const char *name;

    (void)state;
    faulty.fail_at = 0;
    assert_ok(prepare(&p, NULL));
    assert_int_equal(faulty_zero_real.zeDriverGet(&count, &driver), 0);
    assert_int_equal(faulty_zero_real.zeDeviceGet(driver, &count, &id), 0);
    assert_int_equal(
        faulty_zero_real.zeContextCreate(driver, &wanted, &context), 0);
    assert_int_equal(faulty_zero_real.zeCommandListCreateImmediate(
                         context, id, &desc, &list),
                     0);

    native.context = context;
    assert_fails(KILN_EINVAL, "with a device",
                 ops->open(p.self, 0, &native, &p.device, &name, &test_error));
    native.device = id;
    assert_ok(ops->open(p.self, 0, &native, &p.device, &name, &test_error));
    assert_ok(ops->load_native(p.self, p.device, p.kernel.artifact, saved.data,
                               saved.size, &p.again, &test_error));
    assert_ok(ops->symbol(p.self, p.again, "raise", &p.function, &test_error));
    assert_ok(ops->queue_new(p.self, p.device, list, &p.queue, &test_error));
    assert_ok(run_all(&p, &test_error));

    give_back(&p);
    assert_int_equal(faulty_zero_real.zeCommandListDestroy(list), 0);
    assert_int_equal(faulty_zero_real.zeContextDestroy(context), 0);
}

static void an_unknown_driver_is_not_adopted_from(void **state)
{
    kiln_spirv_native native = {sizeof native, "vulkan", &native, NULL};
    parts p = {0};
    const char *name;

    (void)state;
    faulty.fail_at = 0;
    assert_ok(prepare(&p, NULL));
    assert_fails(KILN_EINVAL, "opencl, level-zero",
                 ops->open(p.self, 0, &native, &p.device, &name, &test_error));
    native.driver = is_zero ? "opencl" : "level-zero";
    assert_fails(KILN_ENODEVICE, "switched off",
                 ops->open(p.self, 0, &native, &p.device, &name, &test_error));
    give_back(&p);
}

/* ---- builds that fail ---- */

static void what_the_driver_says_of_a_bad_binary_is_in_the_error(void **state)
{
    parts p = {0};
    const char *name;

    (void)state;
    faulty.fail_at = 0;
    assert_ok(prepare(&p, NULL));
    assert_ok(ops->open(p.self, 0, NULL, &p.device, &name, &test_error));
    assert_fails(KILN_EDEVICE, is_zero ? "Level Zero: " : "OpenCL: ",
                 ops->load_native(p.self, p.device, p.kernel.artifact,
                                  "nonsense", 8, &p.module, &test_error));
    give_back(&p);
}

#define CALLS_FAIL \
    cmocka_unit_test(every_call_of_a_build_may_fail), \
        cmocka_unit_test(every_call_may_fail_alone), \
        cmocka_unit_test(every_call_may_be_the_last_that_works), \
        cmocka_unit_test(memory_of_the_host_may_end_anywhere), \
        cmocka_unit_test(an_unknown_driver_is_not_adopted_from), \
        cmocka_unit_test(what_the_driver_says_of_a_bad_binary_is_in_the_error)

int main(void)
{
    const struct CMUnitTest on_opencl[] = {
        CALLS_FAIL,
        cmocka_unit_test(memory_that_one_side_sees_at_a_time_is_enough),
        cmocka_unit_test(a_device_that_takes_fewer_arguments_says_so),
        cmocka_unit_test(a_device_without_addresses_is_not_listed),
        cmocka_unit_test(the_driver_is_told_of_state_and_heap),
        cmocka_unit_test(contexts_and_queues_are_adopted),
    };
    const struct CMUnitTest on_zero[] = {
        CALLS_FAIL,
        cmocka_unit_test(the_group_that_the_driver_suggests_is_taken),
        cmocka_unit_test(contexts_and_lists_are_adopted),
    };
    const char *driver = getenv("KILN_SPIRV_DRIVER");

    is_zero = driver != NULL && strcmp(driver, "level-zero") == 0;
    if (!(is_zero ? faulty_zero_open() : faulty_opencl_open()))
        return program_skip(SKIP_PACKAGE,
                            "no loader of OpenCL or Level Zero, or no driver");
    return is_zero ? cmocka_run_group_tests_name("spirv_faults", on_zero,
                                                 save_once, forget_saved)
                   : cmocka_run_group_tests_name("spirv_faults", on_opencl,
                                                 save_once, forget_saved);
}
