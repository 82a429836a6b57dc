/* request.h - makes requests to libkiln-codegen, and runs the results. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_REQUEST_H
#define KILN_TESTS_REQUEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/host_abi.h"
#include "backends/host/host_backend.h"
#include "codegen/generate.h"
#include "codegen/module/codegen_stages.h"
#include "kiln/compile.h"
#include "kiln/kernel.h"
#include "support/harness.h"

/* For programs that link code generation. Not every program uses all of
   this. */
#define REQUEST_UNUSED __attribute__((unused))

/* ---- a request and its result ---- */

typedef struct outcome {
    kiln__codegen_settings settings;
    kiln__codegen_request request;
    kiln_status status; /* what generate() returned */
    int finished;
    int failed;
    void *bytes;
    size_t size;
    char format[16];
    int32_t relocation;
    struct {
        char name[64];
        uint64_t offset;
        uint32_t size;
        uint32_t strategy;
    } sites[8];
    size_t site_count;
    int32_t can_fail;
    uint32_t stack_bytes;
    uint32_t static_local_bytes;
    uint32_t private_bytes;
    char message[1024];
    uint64_t stages[KILN_STAGE_COUNT];
    unsigned stage_count;
} outcome;

REQUEST_UNUSED static kiln_status take_result(
    void *env, const kiln__codegen_result *result)
{
    outcome *o = env;

    o->finished++;
    o->bytes = malloc(result->size + 1);
    assert_non_null(o->bytes);
    memcpy(o->bytes, result->bytes, result->size);
    ((char *)o->bytes)[result->size] = '\0';
    o->size = result->size;
    snprintf(o->format, sizeof o->format, "%s", result->format);
    o->relocation = result->relocation;
    o->can_fail = result->can_fail;
    o->stack_bytes = result->stack_bytes;
    o->static_local_bytes = result->static_local_bytes;
    o->private_bytes = result->private_bytes;
    o->site_count = result->site_count;
    assert_true(result->site_count <= sizeof o->sites / sizeof o->sites[0]);
    for (size_t i = 0; i < result->site_count; i++) {
        snprintf(o->sites[i].name, sizeof o->sites[i].name, "%s",
                 result->sites[i].name);
        o->sites[i].offset = result->sites[i].offset;
        o->sites[i].size = result->sites[i].size;
        o->sites[i].strategy = result->sites[i].strategy;
    }
    return KILN_OK;
}

REQUEST_UNUSED static void take_failure(void *env, kiln_status status,
                                        const char *message)
{
    outcome *o = env;

    o->failed++;
    o->status = status;
    snprintf(o->message, sizeof o->message, "%s", message);
}

REQUEST_UNUSED static void take_stage(void *env, int32_t stage,
                                      uint64_t nanoseconds)
{
    outcome *o = env;

    o->stages[stage] += nanoseconds;
    o->stage_count++;
}

REQUEST_UNUSED static const kiln__codegen *codegen(void)
{
    static const kiln__codegen *table;
    const kiln__codegen_host host = {
        .size = sizeof host,
        .abi = KILN__CODEGEN_ABI,
        .build_id = kiln__codegen_build_id,
    };

    if (table == NULL)
        assert_int_equal(kiln_codegen_exchange(&host, &table), KILN_OK);
    return table;
}

/* Makes a request for `module`, whose entry is "k". */
REQUEST_UNUSED static void prepare(outcome *o, const char *module, int32_t form,
                                   const char *const *types, size_t count)
{
    *o = (outcome){
        .settings =
            {
                .backend = "host",
                .triple = "x86_64-unknown-linux-gnu",
                .processor = "x86-64",
                .features = "",
                .opt_level = 3,
                .bounds_checks = 1,
                .contract = 1,
            },
        .request =
            {
                .entry = "k",
                .form = form,
                .module = module,
                .module_size = strlen(module),
                .argument_types = types,
                .argument_count = count,
                .finish = take_result,
                .fail = take_failure,
                .stage = take_stage,
            },
    };
    o->request.settings = &o->settings;
    o->request.env = o;
}

REQUEST_UNUSED static void run(outcome *o)
{
    o->status = codegen()->generate(&o->request);
}

REQUEST_UNUSED static void assert_built(outcome *o)
{
    run(o);
    if (o->status != KILN_OK)
        fail_msg("%s", o->message);
    assert_int_equal(o->finished, 1);
    assert_int_equal(o->failed, 0);
}

/* ---- running what was built ---- */

typedef struct launch {
    struct kiln__host_launch_state
        head; /* the first member: callbacks get its address */
    struct kiln__host_item item;
    int64_t values[2];
    uint32_t kind;
    uint32_t ordinal;
    char method[64];
    char message[64];
    unsigned raised;
} launch;

REQUEST_UNUSED static const kiln__host_word goes_on = 0, stops = 1;

REQUEST_UNUSED static void on_raise(struct kiln__host_launch_state *head,
                                    const struct kiln__host_item *item,
                                    const void *site, int64_t value0,
                                    int64_t value1)
{
    launch *l = (launch *)(void *)head;
    const char *text = (const char *)site + 8;

    l->raised++;
    l->item = *item;
    l->values[0] = value0;
    l->values[1] = value1;
    memcpy(&l->kind, site, 4);
    memcpy(&l->ordinal, (const char *)site + 4, 4);
    snprintf(l->method, sizeof l->method, "%s", text);
    snprintf(l->message, sizeof l->message, "%s", text + strlen(text) + 1);
    head->failed = 1;
    head->stop = &stops;
}

REQUEST_UNUSED static launch make_launch(uint64_t x, uint64_t y, uint64_t z,
                                         uint64_t bx, uint64_t by, uint64_t bz)
{
    return (launch){
        .head =
            {
                .grid = {x, y, z},
                .block = {bx, by, bz},
                .groups = {(x + bx - 1) / bx, (y + by - 1) / by,
                           (z + bz - 1) / bz},
                .raise = on_raise,
                .stop = &goes_on,
            },
    };
}

REQUEST_UNUSED static int32_t run_image(const outcome *o, launch *l,
                                        const void *arguments)
{
    const uint64_t groups =
        l->head.groups[0] * l->head.groups[1] * l->head.groups[2];
    kiln__host_image *image = NULL;
    const uint64_t items =
        (l->head.block[0] * l->head.block[1] * l->head.block[2] + 63) &
        ~UINT64_C(63);
    kiln__host_entry entry;
    void *address, *memory;
    int32_t result;

    /* not zero: kernels may count on nothing there */
    memory = aligned_alloc(KILN__HOST_MEMORY_ALIGNMENT,
                           (o->static_local_bytes + items * o->private_bytes +
                            2 * KILN__HOST_MEMORY_ALIGNMENT - 1) &
                               ~(uint64_t)(KILN__HOST_MEMORY_ALIGNMENT - 1));
    assert_non_null(memory);
    memset(memory, 0xa5, o->static_local_bytes + items * o->private_bytes);
    assert_ok(kiln__host_image_load(&image, &kiln__malloc, NULL, o->bytes,
                                    o->size, &test_error));
    address = kiln__host_image_symbol(image, "k");
    assert_non_null(address);
    memcpy(&entry, &address, sizeof entry);
    result = entry(&l->head, arguments, 0, groups, memory);
    kiln__host_image_unload(image);
    free(memory);
    return result;
}

/* ---- modules ---- */

#define ITEM "ptr %item"
#define QUERIES \
    "declare i64 @kiln_global_id(ptr, i32)\n" \
    "declare i64 @kiln_global_size(ptr, i32)\n" \
    "declare i64 @kiln_local_id(ptr, i32)\n" \
    "declare i64 @kiln_group_id(ptr, i32)\n" \
    "declare i64 @kiln_local_size(ptr, i32)\n" \
    "declare i64 @kiln_group_count(ptr, i32)\n"

REQUEST_UNUSED static const char saxpy[] = QUERIES
    "define i32 @k(" ITEM ", ptr %y, i64 %ny, float %a, ptr %x, i64 %nx) {\n"
    "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n"
    "  %in = icmp slt i64 %i, %ny\n"
    "  br i1 %in, label %do, label %end\n"
    "do:\n"
    "  %px = getelementptr float, ptr %x, i64 %i\n"
    "  %py = getelementptr float, ptr %y, i64 %i\n"
    "  %vx = load float, ptr %px\n"
    "  %vy = load float, ptr %py\n"
    "  %m = fmul float %a, %vx\n"
    "  %s = fadd float %m, %vy\n"
    "  store float %s, ptr %py\n"
    "  br label %end\n"
    "end:\n"
    "  ret i32 0\n"
    "}\n";

REQUEST_UNUSED static const char *const saxpy_types[] = {"f32[:]", "f32",
                                                         "f32[:]"};

REQUEST_UNUSED static const char *const one_array[] = {"i32[:]"};

#endif /* KILN_TESTS_REQUEST_H */
