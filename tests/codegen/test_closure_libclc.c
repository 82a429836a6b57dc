/* test_closure_libclc.c - closures of the library that devices use. */
/* LABELS: codegen cuda */
/* LINKS: codegen */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>

#include "base/system/file.h"
#include "support/codegen/request.h"

/* Where Debian and others put it. */
static const char *const places[] = {
    "/usr/lib/clc/nvptx64--.bc",
    "/usr/share/clc/nvptx64--.bc",
    "/usr/lib/llvm-22/share/libclc/nvptx64--.bc",
};

static kiln_blob library;

static int open_library(void)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (kiln__file_read(&library, &kiln__malloc, places[i], (size_t)1 << 28,
                            NULL) == KILN_OK)
            return 1;
    return 0;
}

static void check_closure(const char *name)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    LLVMMemoryBufferRef buffer;
    LLVMValueRef f;
    size_t visible = 0;
    outcome o;

    prepare(&o, library.data, KILN__EMIT_CLOSURE, NULL, 0);
    o.request.module_size = library.size;
    o.request.library = "libclc";
    o.request.wanted = name;
    o.request.entry = "kiln_rt_wanted";
    assert_built(&o);

    assert_true(o.size < library.size / 20);
    buffer =
        LLVMCreateMemoryBufferWithMemoryRange(o.bytes, o.size, "closure", 0);
    assert_false(LLVMParseBitcodeInContext2(context, buffer, &module));
    LLVMDisposeMemoryBuffer(buffer);
    assert_int_equal(LLVMVerifyModule(module, LLVMReturnStatusAction, NULL), 0);
    assert_non_null(LLVMGetNamedFunction(module, "kiln_rt_wanted"));
    for (f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            assert_true(LLVMGetIntrinsicID(f) != 0);
        else
            visible += LLVMGetLinkage(f) != LLVMInternalLinkage;
    }
    assert_int_equal(visible, 1);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(o.bytes);
}

static void mathematics_come_out_alone(void **state)
{
    (void)state;
    check_closure("_Z3powff");
    check_closure("_Z6tgammaf");
    check_closure("_Z3sinf");
    check_closure("_Z3expd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mathematics_come_out_alone),
    };
    int failed;

    if (!open_library())
        return program_skip(SKIP_PACKAGE, "no libclc");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    kiln_blob_release(&library);
    return failed;
}
