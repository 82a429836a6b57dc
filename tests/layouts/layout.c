/* layout.c - one kernel over host objects, in a process of this layout. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln.h>
#include <kiln/sys/frontend.h>

#include "objects.h"

/*
 * layout SOURCE FILE: compiles the kernel, which must come from SOURCE (built
 * or store), runs it, and writes the artifact's bytes and slots to FILE. Where
 * its objects are is printed.
 */

#ifdef SHIFTED
/* Other things in front, and a large block in each thread's own storage. */
extern char ballast[];
extern _Thread_local char thread_ballast[];
char ballast[123456] = {1};
_Thread_local char thread_ballast[1 << 16] = {1};
#define FRONTEND "shifted"
#else
#define FRONTEND "plain"
#endif

#define CHECK(good) \
    do { \
        if (!(good)) { \
            fprintf(stderr, "%s: line %d: %s\n", FRONTEND, __LINE__, #good); \
            return 1; \
        } \
    } while (0)

/* ---- a frontend with one function ---- */

static uint64_t world(void *self)
{
    (void)self;
    return 1;
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    (void)self, (void)query, (void)size, (void)config, (void)world;
    *out = (kiln_digest){{1}};
    return KILN_OK;
}

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *out, kiln_error **error)
{
    const kiln_query query = {1, "count", 6, {{1}}};
    kiln_status status = kiln_inference_add_query(out, &query);

    (void)self, (void)signature, (void)config, (void)world;
    kiln_inference_set_root(out, query.answer);
    if (status == KILN_OK)
        status = kiln_inference_set_ir(out, "count", 6);
    if (status == KILN_OK)
        status = kiln_inference_use_site(out, "counter", KILN_SITE_DATA, error);
    if (status == KILN_OK)
        status = kiln_inference_use_site(out, "table", KILN_SITE_DATA, error);
    if (status == KILN_OK)
        status =
            kiln_inference_use_site(out, "weigh", KILN_SITE_FUNCTION, error);
    return status;
}

static const char module[] =
    "@kiln_site_counter = external global i32\n"
    "@kiln_site_table = external global [4 x i32]\n"
    "declare i32 @kiln_site_weigh(i32)\n"
    "declare i64 @kiln_global_id(ptr, i32)\n"
    "define i32 @%s(ptr %%item) {\n"
    "  %%i = call i64 @kiln_global_id(ptr %%item, i32 0)\n"
    "  %%p = getelementptr i32, ptr @kiln_site_table, i64 %%i\n"
    "  %%x = load i32, ptr %%p\n"
    "  %%w = call i32 @kiln_site_weigh(i32 %%x)\n"
    "  %%e = icmp eq ptr @kiln_site_counter, @kiln_site_table\n"
    "  %%z = select i1 %%e, i32 1000, i32 %%w\n"
    "  %%o = atomicrmw add ptr @kiln_site_counter, i32 %%z monotonic\n"
    "  ret i32 0\n"
    "}\n";

static void release(kiln_blob *blob)
{
    free(blob->private_data);
}

static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    char *text = malloc(sizeof module + strlen(request->entry));

    (void)self, (void)error;
    if (!text)
        return KILN_ENOMEM;
    sprintf(text, module, request->entry);
    *out = (kiln_blob){text, strlen(text), release, text};
    return KILN_OK;
}

static void end(void *self)
{
    (void)self;
}

/* Its name is in the keys, so it is one in both programs. */
static const kiln_frontend_ops frontend = {
    .size = sizeof frontend,
    .name = "layouts 1",
    .world = world,
    .infer = infer,
    .answer = answer,
    .free = end,
    .lower = lower,
};

/* ---- the host ---- */

static kiln_status resolve(void *env, const char *name, void **address)
{
    int (*function)(int) = weigh;

    (void)env;
    if (strcmp(name, "counter") == 0)
        *address = &counter;
    else if (strcmp(name, "table") == 0)
        *address = table;
    else if (strcmp(name, "weigh") == 0)
        memcpy(address, &function, sizeof *address);
    else
        return KILN_ENOTFOUND;
    return KILN_OK;
}

static int write_artifact(const kiln_artifact *artifact, const char *path)
{
    FILE *file = fopen(path, "wb");
    size_t size;
    const void *bytes = kiln_artifact_bytes(artifact, &size);

    CHECK(file && fwrite(bytes, 1, size, file) == size);
    for (size_t i = 0; i < kiln_artifact_site_count(artifact); i++) {
        const kiln_site_info *site = kiln_artifact_site(artifact, i);

        fprintf(file, "%s %lu %u %u\n", site->name, (unsigned long)site->offset,
                site->size, site->strategy);
    }
    CHECK(fclose(file) == 0);
    return 0;
}

static int count(kiln_context *context, int32_t wanted, const char *path)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    int32_t source = KILN_SOURCE_NONE;
    const kiln_compile_options options = {.size = sizeof options,
                                          .source = &source};
    const kiln_launch grid = {.grid = {4}};
    kiln_signature signature = {0};
    kiln_error *error = NULL;
    const kiln_config *config;
    const kiln_kernel *kernel;
    kiln_frontend *own;
    kiln_device *device;
    kiln_queue *queue;

    settings.sites = KILN_SITES_PATCH;
    CHECK(kiln_frontend_add(&own, context, &frontend, NULL, NULL) == KILN_OK);
    CHECK(kiln_config_new(&config, context, &settings, NULL) == KILN_OK);
    CHECK(kiln_function_new(&signature.function, own, "count", NULL, NULL) ==
          KILN_OK);
    if (kiln_compile(&kernel, context, &signature, config, &options, &error))
        fprintf(stderr, "%s\n", kiln_error_message(error));
    CHECK(!error && source == wanted);
    CHECK(kiln_artifact_relocation(kiln_kernel_artifact(kernel)) ==
          KILN_RELOCATION_RELOCATABLE);
    CHECK(kiln_device_open(&device, context, "host", 0, NULL) == KILN_OK);
    CHECK(kiln_queue_new(&queue, device, NULL) == KILN_OK);
    CHECK(kiln_queue_launch(queue, kernel, &grid, NULL, 0, NULL) == KILN_OK);
    CHECK(counter == 2 * (3 + 5 + 7 + 9));
    kiln_queue_free(queue);
    kiln_device_close(device);
    return write_artifact(kiln_kernel_artifact(kernel), path);
}

int main(int argc, char **argv)
{
    const kiln_host_ops host = {.size = sizeof host, .resolve = resolve};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context;
    int result;

    CHECK(argc == 3);
    options.host = &host;
    CHECK(kiln_context_new(&context, &options, NULL) == KILN_OK);
    result = count(context,
                   strcmp(argv[1], "store") == 0 ? KILN_SOURCE_STORE
                                                 : KILN_SOURCE_BUILT,
                   argv[2]);
    kiln_context_free(context);
    printf("%p %p\n", (void *)&counter, (void *)table);
    return result;
}
