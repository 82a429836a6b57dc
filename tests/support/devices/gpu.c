/* gpu.c - a backend over a fake driver, and a kernel for it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/devices/gpu.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "support/harness.h"

#define CUDA(where) \
    { \
        .backend = "cuda", .variable = "KILN_CUDA_DRIVER", .folder = where, \
        .library = "libcuda.so.1", .target = "sm_80", .format = "cubin", \
        .load = "cuModuleLoadDataEx", .launch = "cuLaunchKernelEx", \
        .wait = "cuStreamSynchronize", .query = "cuStreamQuery", \
        .allocate = "cuMemAlloc_v2" \
    }
#define ROCM(where) \
    { \
        .backend = "rocm", .variable = "KILN_ROCM_DRIVER", .folder = where, \
        .library = "libamdhip64.so", .target = "gfx90a", .format = "elf", \
        .load = "hipModuleLoadDataEx", .launch = "hipModuleLaunchKernel", \
        .wait = "hipStreamSynchronize", .query = "hipStreamQuery", \
        .allocate = "hipMalloc" \
    }

const gpu_vendor gpu_cuda = CUDA("fake_gpu");
const gpu_vendor gpu_cuda_old = CUDA("fake_gpu_old");
const gpu_vendor gpu_cuda_broken = CUDA("fake_gpu_broken");
const gpu_vendor gpu_rocm = ROCM("fake_gpu");
const gpu_vendor gpu_rocm_old = ROCM("fake_gpu_old");

/* ---- the driver ---- */

/* C has no conversion from an object pointer to a function pointer. */
static void take_symbol(void *to, void *library, const char *name)
{
    void *address = dlsym(library, name);

    assert_non_null(address);
    memcpy(to, &address, sizeof address);
}

static void open_fake(gpu_fixture *f)
{
    fake_gpu_reset_fn *reset;
    char path[512];

    (void)snprintf(path, sizeof path, "%s/tests/%s/%s", KILN_BUILD_FOLDER,
                   f->of->folder, f->of->library);
    assert_int_equal(setenv(f->of->variable, path, 1), 0);
    f->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (f->library == NULL)
        fail_msg("%s", dlerror());
    take_symbol(&reset, f->library, "fake_gpu_reset");
    take_symbol(&f->context_new, f->library, "fake_gpu_context");
    take_symbol(&f->stream_new, f->library, "fake_gpu_stream");
    take_symbol(&f->context_end, f->library, "fake_gpu_end_context");
    take_symbol(&f->stream_end, f->library, "fake_gpu_end_stream");
    take_symbol(&f->capture, f->library, "fake_gpu_capture");
    take_symbol(&f->current, f->library, "fake_gpu_current");
    take_symbol(&f->set_current, f->library, "fake_gpu_set_current");
    f->fake = reset();
}

void gpu_assert_balanced(const fake_gpu *fake)
{
    assert_int_equal(fake->modules, 0);
    assert_int_equal(fake->streams, 0);
    assert_int_equal(fake->buffers, 0);
    assert_int_equal(fake->host_blocks, 0);
    assert_int_equal(fake->retained, 0);
}

/* ---- the context ---- */

static void take_print(void *env, const char *text, size_t size)
{
    gpu_heard *heard = &((gpu_fixture *)env)->heard;

    (void)strncat(heard->text, text, size);
}

static void take_log(void *env, int32_t level, const char *line)
{
    gpu_heard *heard = &((gpu_fixture *)env)->heard;

    (void)level;
    (void)snprintf(heard->log, sizeof heard->log, "%s", line);
}

kiln_status gpu_begin(gpu_fixture *f, const gpu_vendor *of,
                      const kiln_alloc *alloc)
{
    const kiln_host_ops host = {
        .size = sizeof host, .log = take_log, .print = take_print};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    memset(f, 0, sizeof *f);
    f->of = of;
    open_fake(f);
    options.alloc = alloc;
    options.host = &host;
    options.host_env = f;
    return kiln_context_new(&f->context, &options, NULL);
}

/* ---- the kernel ---- */

static const kiln_artifact *make_artifact(const gpu_fixture *f)
{
    static const kiln_argument_info arguments[] = {
        {.type = "i64[:]", .offset = 0, .size = 16},
        {.type = "i64", .offset = 16, .size = 8}};
    const Elf64_Ehdr image = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB}};
    char target[64];
    report_table table;

    report_table_begin(&table, 3);
    report_table_exception(&table, KILN_EXCEPTION_BOUNDS, 7, "main.f", "");
    report_table_print(&table, "value %i, other %d\n");
    report_table_exception(&table, KILN_EXCEPTION_ASSERTION, 8, "main.g",
                           "x > 0");
    (void)snprintf(target, sizeof target, "%s:%s", f->of->backend,
                   f->of->target);
    return report_artifact_new(&(report_artifact){
        .format = f->of->format,
        .target = target,
        .bytes = (const char *)&image,
        .size = sizeof image,
        .arguments = arguments,
        .argument_count = 2,
        .argument_bytes = offsetof(gpu_block, state),
        .facts = f->facts,
        .fact_size = f->fact_size,
        .hidden_arguments =
            f->allocates ? KILN__HIDDEN_HEAP : KILN__HIDDEN_COUNT,
        .allocates = f->allocates,
        .reports = &table,
    });
}

static kiln_status find_types(gpu_fixture *f, kiln_error **error)
{
    kiln_status status =
        kiln_type_parse(&f->types[0], f->context, NULL, "i64[:]", error);

    if (status == KILN_OK)
        status = kiln_type_parse(&f->types[1], f->context, NULL, "i64", error);
    return status;
}

kiln_status gpu_load(gpu_fixture *f, kiln_kernel *kernel, int32_t device,
                     kiln_error **error)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    char target[64];
    kiln_status status;

    (void)snprintf(target, sizeof target, "%s:%s", f->of->backend,
                   f->of->target);
    memset(kernel, 0, sizeof *kernel);
    options.target = target;
    options.device = (uint32_t)device;
    status = kiln_config_new(&kernel->config, f->context, &options, error);
    if (status == KILN_OK)
        status = find_types(f, error);
    if (status != KILN_OK)
        return status;
    kernel->types = f->types;
    kernel->context = f->context;
    kernel->artifact = f->artifact;
    kernel->info = kiln_artifact_kernel(f->artifact, 0);
    return kiln__kernel_load(kernel, error);
}

kiln_status gpu_open(gpu_fixture *f, kiln_error **error)
{
    kiln_status status;

    f->artifact = make_artifact(f);
    status = kiln_device_open(&f->device, f->context, f->of->backend, 0, error);
    if (status == KILN_OK)
        status = gpu_load(f, &f->kernel, 0, error);
    if (status == KILN_OK)
        status = kiln_queue_new(&f->queue, f->device, error);
    return status;
}

kiln_status gpu_launch(gpu_fixture *f, kiln_queue *queue, uint64_t items,
                       int64_t *data, int64_t value, kiln_error **error)
{
    const kiln_array array = {.data = data, .sizes = {(int64_t)items}};
    const void *const arguments[] = {&array, &value};

    return kiln_queue_launch(queue, &f->kernel, &(kiln_launch){.grid = {items}},
                             arguments, 2, error);
}

void gpu_end(gpu_fixture *f)
{
    kiln_queue_free(f->queue);
    kiln__kernel_unload(&f->kernel);
    kiln_device_close(f->device);
    kiln_context_free(f->context);
    kiln_artifact_release(f->artifact);
}

/* ---- what kernels do when launched ---- */

void gpu_raise(const gpu_block *block, uint32_t report, int64_t value0,
               int64_t value1)
{
    struct kiln__device_state *state = (void *)(uintptr_t)block->state;
    uint32_t none = KILN__PHASE_NONE;

    if (!__atomic_compare_exchange_n(&state->phase, &none, KILN__PHASE_WRITING,
                                     0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    state->report = report;
    state->launch = block->launch;
    state->local_id[0] = (uint32_t)block->value;
    state->values[0] = value0;
    state->values[1] = value1;
    __atomic_store_n(&state->phase, KILN__PHASE_READY, __ATOMIC_RELEASE);
}

void gpu_print(const gpu_block *block, int64_t value, double other)
{
    struct kiln__device_state *state = (void *)(uintptr_t)block->state;
    struct {
        struct kiln__print_record head;
        int64_t value;
        double other;
    } record = {{KILN__PRINT_MARK, GPU_PRINT, block->launch}, value, other};
    const uint64_t at =
        __atomic_fetch_add(&state->printed, sizeof record, __ATOMIC_RELAXED);

    if (at + sizeof record <= state->print_room)
        memcpy((char *)state + KILN__STATE_SIZE + at, &record, sizeof record);
}

/* ---- fixtures ---- */

static int setup(void **state, const gpu_vendor *of)
{
    gpu_fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_ok(gpu_begin(f, of, NULL));
    assert_ok(gpu_open(f, &test_error));
    *state = f;
    return 0;
}

int gpu_setup_cuda(void **state)
{
    return setup(state, &gpu_cuda);
}

int gpu_setup_rocm(void **state)
{
    return setup(state, &gpu_rocm);
}

int gpu_teardown(void **state)
{
    gpu_fixture *f = *state;

    gpu_end(f);
    gpu_assert_balanced(f->fake);
    assert_false(f->fake->capture_broken);
    free(f);
    return 0;
}
