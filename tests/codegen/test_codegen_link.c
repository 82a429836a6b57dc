/* test_codegen_link.c - objects, damaged ones too, and the host's linker. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host fault */
/* LINKS: codegen */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/TargetMachine.h>

#include "backends/host/codegen/host_codegen.h"
#include "backends/host/host_backend.h"
#include "codegen/elf/elf.h"
#include "codegen/module/codegen_stages.h"
#include "support/harness.h"

/* An object of one function with a constant, an import and relocations. */
static const char source[] =
    "target triple = \"x86_64-unknown-linux-gnu\"\n"
    "declare double @sin(double)\n"
    "@c = private constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]\n"
    "define i32 @k(ptr %l, ptr %a, i64 %f, i64 %g) nounwind {\n"
    "  %d = load double, ptr %a\n"
    "  %s = call double @sin(double %d)\n"
    "  store double %s, ptr %a\n"
    "  %p = getelementptr i32, ptr @c, i64 %f\n"
    "  %r = load i32, ptr %p\n"
    "  ret i32 %r\n"
    "}\n";

static struct {
    unsigned char *bytes;
    size_t size;
} object;

static kiln_status link_one(const void *bytes, size_t size, kiln_blob *out,
                            char message[256])
{
    const kiln__object one = {bytes, size};

    return kiln__elf_link(
        &(kiln__elf_link_input){kiln__host_link_options, &one, 1}, out, message,
        256);
}

static kiln_status link_one_by_process(const void *bytes, size_t size,
                                       kiln_blob *out, char message[256])
{
    const kiln__object one = {bytes, size};
    char path[PATH_MAX];

    assert_int_equal(kiln__tool_find(path, KILN__TOOL_LLD), KILN__TOOL_FOUND);
    return kiln__elf_link_process(
        path, &(kiln__elf_link_input){kiln__host_link_options, &one, 1}, out,
        message, 256);
}

static LLVMMemoryBufferRef emit(LLVMContextRef context)
{
    const char *triple = "x86_64-unknown-linux-gnu";
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRange(
        source, strlen(source), "source", 1);
    LLVMMemoryBufferRef out = NULL;
    LLVMTargetMachineRef machine;
    LLVMTargetRef target = NULL;
    LLVMModuleRef module = NULL;
    char *message = NULL;

    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    assert_false(LLVMParseIRInContext2(context, text, &module, &message));
    assert_false(LLVMGetTargetFromTriple(triple, &target, &message));
    machine = LLVMCreateTargetMachine(target, triple, "x86-64", "",
                                      LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                      LLVMCodeModelSmall);
    assert_false(LLVMTargetMachineEmitToMemoryBuffer(
        machine, module, LLVMObjectFile, &message, &out));
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeModule(module);
    LLVMDisposeMemoryBuffer(text);
    return out;
}

static int make_object(void **state)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = emit(context);

    (void)state;
    object.size = LLVMGetBufferSize(buffer);
    object.bytes = malloc(object.size);
    assert_non_null(object.bytes);
    memcpy(object.bytes, LLVMGetBufferStart(buffer), object.size);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
    return 0;
}

static int free_object(void **state)
{
    (void)state;
    free(object.bytes);
    return 0;
}

static unsigned char *copy_object(void)
{
    unsigned char *copy = malloc(object.size);

    assert_non_null(copy);
    memcpy(copy, object.bytes, object.size);
    return copy;
}

static kiln_status check(const void *bytes, size_t size, char message[256])
{
    const kiln__object one = {bytes, size};

    return kiln__host_object_check(&one, NULL, message, 256);
}

static void assert_image_loads(const kiln_blob *image)
{
    kiln__host_image *loaded = NULL;

    assert_ok(kiln__host_image_load(&loaded, &kiln__malloc, NULL, image->data,
                                    image->size, &test_error));
    assert_non_null(kiln__host_image_symbol(loaded, "k"));
    assert_null(kiln__host_image_symbol(loaded, "c"));
    kiln__host_image_unload(loaded);
}

/* ---- objects ---- */

static void a_good_object_passes_and_links(void **state)
{
    kiln_blob image = {0};
    char message[256] = "";

    (void)state;

    assert_int_equal(check(object.bytes, object.size, message), KILN_OK);
    assert_int_equal(link_one(object.bytes, object.size, &image, message),
                     KILN_OK);

    assert_image_loads(&image);
    kiln_blob_release(&image);
}

static void a_shorter_object_is_damaged(void **state)
{
    (void)state;
    for (size_t size = 0; size < object.size; size++) {
        unsigned char *exact = malloc(size + 1);
        char message[256] = "";

        assert_non_null(exact);
        memcpy(exact, object.bytes, size);
        assert_int_equal(check(exact, size, message), KILN_ECODEGEN);
        assert_contains(message, "damaged object");
        free(exact);
    }
}

static void no_damaged_byte_brings_the_check_down(void **state)
{
    static const unsigned char masks[] = {0x01, 0x80, 0xff};
    unsigned char *copy = copy_object();
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < object.size; i++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            char message[256] = "";

            copy[i] ^= masks[m];
            if (check(copy, object.size, message) != KILN_OK)
                found++;
            copy[i] ^= masks[m];
        }
    }

    assert_true(found > object.size / 4);
    free(copy);
}

static void an_import_that_the_loader_refuses_is_named(void **state)
{
    unsigned char *copy = copy_object();
    unsigned char *name = memmem(copy, object.size, "\0sin", sizeof "\0sin");
    char message[256] = "";

    (void)state;
    assert_non_null(name);
    memcpy(name + 1, "sim", 3);

    assert_int_equal(check(copy, object.size, message), KILN_ECODEGEN);
    assert_string_equal(message, "undefined function 'sim'");
    free(copy);
}

static void another_machines_object_is_damaged(void **state)
{
    unsigned char *copy = copy_object();
    Elf64_Ehdr header;
    char message[256] = "";

    (void)state;
    memcpy(&header, copy, sizeof header);
    header.e_machine = EM_AARCH64;
    memcpy(copy, &header, sizeof header);

    assert_int_equal(check(copy, object.size, message), KILN_ECODEGEN);
    free(copy);
}

/* ---- the linker ---- */

static void the_process_gives_the_same_image(void **state)
{
    kiln_blob inside = {0};
    kiln_blob outside = {0};
    char message[256] = "";

    (void)state;
    assert_int_equal(link_one(object.bytes, object.size, &inside, message),
                     KILN_OK);
    assert_int_equal(
        link_one_by_process(object.bytes, object.size, &outside, message),
        KILN_OK);

    assert_blob_equal(outside, inside.data, inside.size);
    kiln_blob_release(&inside);
    kiln_blob_release(&outside);
}

static void the_process_says_what_is_wrong(void **state)
{
    kiln_blob image = {0};
    char message[256] = "";

    (void)state;

    assert_int_equal(link_one_by_process("no object", 9, &image, message),
                     KILN_ECODEGEN);
    assert_contains(message, "error");
    assert_null(image.data);
}

static void an_error_of_the_linker_is_a_message(void **state)
{
    unsigned char *copy = copy_object();
    kiln_blob image = {0};
    char message[256] = "";

    (void)state;
    copy[0] = 'x'; /* no ELF file: lld takes it for a script */

    assert_int_equal(link_one(copy, object.size, &image, message),
                     KILN_ECODEGEN);
    assert_contains(message, "linker: ");
    assert_null(image.data);
    free(copy);

    /* The next one links. */
    assert_int_equal(link_one(object.bytes, object.size, &image, message),
                     KILN_OK);
    kiln_blob_release(&image);
}

/* ---- an error that lld cannot return from ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t told;
    int fatal;
    int returned;
    char message[256];
    kiln__codegen_request request;
    unsigned char *damaged;
} parked = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .told = PTHREAD_COND_INITIALIZER,
};

static void take_fatal(void *env, const char *message)
{
    (void)env;
    pthread_mutex_lock(&parked.lock);
    snprintf(parked.message, sizeof parked.message, "%s", message);
    parked.fatal = 1;
    pthread_cond_signal(&parked.told);
    pthread_mutex_unlock(&parked.lock);
}

static void *link_damaged(void *argument)
{
    kiln_blob image = {0};
    char message[256];

    (void)argument;
    kiln__codegen_enter(&parked.request);
    (void)link_one(parked.damaged, object.size, &image, message);
    pthread_mutex_lock(&parked.lock);
    parked.returned = 1;
    pthread_cond_signal(&parked.told);
    pthread_mutex_unlock(&parked.lock);
    return NULL;
}

static kiln__codegen_job job; /* of the linker alone */

static kiln_status link_job(kiln_blob *out)
{
    const kiln__object one = {object.bytes, object.size};

    kiln__arena_init(&job.arena, &kiln__malloc);
    job.tool_count = 0;
    return kiln__elf_link_job(
        &job, &(kiln__elf_link_input){kiln__host_link_options, &one, 1}, out);
}

static void who_links_in_the_process_is_no_tool(void **state)
{
    kiln_blob image = {0};

    (void)state;
    assert_int_equal(link_job(&image), KILN_OK);
    assert_int_equal(job.tool_count, 0);
    kiln_blob_release(&image);
    kiln__arena_dispose(&job.arena);
}

/* Runs last: lld in this process is given up for good. */
static void a_fatal_error_of_the_linker_costs_one_thread(void **state)
{
    kiln_blob image = {0};
    char message[256] = "";
    pthread_t thread;
    Elf64_Ehdr header;

    (void)state;
    parked.damaged = copy_object(); /* the thread keeps it */
    memcpy(&header, parked.damaged, sizeof header);
    header.e_shoff = object.size * 2;
    memcpy(parked.damaged, &header, sizeof header);
    parked.request.fatal = take_fatal;

    assert_int_equal(pthread_create(&thread, NULL, link_damaged, NULL), 0);
    pthread_detach(thread);
    pthread_mutex_lock(&parked.lock);
    while (!parked.fatal && !parked.returned)
        pthread_cond_wait(&parked.told, &parked.lock);
    pthread_mutex_unlock(&parked.lock);

    assert_true(parked.fatal);
    assert_contains(parked.message, "lld");
    assert_int_equal(link_one(object.bytes, object.size, &image, message),
                     KILN_ENOTFOUND);
    assert_int_equal(link_job(&image), KILN_OK);
    assert_image_loads(&image);
    assert_int_equal(job.tool_count, 1);
    assert_string_equal(job.tools[0].name, "lld");
    assert_false(kiln__file_stamp_is_none(&job.tools[0].file));
    kiln_blob_release(&image);
    kiln__arena_dispose(&job.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_object_passes_and_links),
        cmocka_unit_test(a_shorter_object_is_damaged),
        cmocka_unit_test(no_damaged_byte_brings_the_check_down),
        cmocka_unit_test(an_import_that_the_loader_refuses_is_named),
        cmocka_unit_test(another_machines_object_is_damaged),
        cmocka_unit_test(the_process_gives_the_same_image),
        cmocka_unit_test(the_process_says_what_is_wrong),
        cmocka_unit_test(an_error_of_the_linker_is_a_message),
        cmocka_unit_test(who_links_in_the_process_is_no_tool),
        cmocka_unit_test(a_fatal_error_of_the_linker_costs_one_thread),
    };

    return cmocka_run_group_tests(tests, make_object, free_object);
}
