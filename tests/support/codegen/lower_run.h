/* lower_run.h - runs lowered functions in this process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_LOWER_RUN_H
#define KILN_TESTS_LOWER_RUN_H

#include <inttypes.h>
#include <math.h>

#include <llvm-c/Error.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "support/codegen/lower_fake.h"
#include "support/harness.h"

/*
 * Each text is lowered and run twice: as it is, and after LLVM's optimiser,
 * which would expose undefined behaviour. The item functions get their flat
 * arguments from C.
 */

/* What the hooks of lower_fake.h have recorded. */
typedef struct test_item {
    int64_t ids[3];
    uint32_t kind; /* of the exception; 0: there was none */
    uint32_t ordinal;
    char method[32];
    char message[32];
    int64_t values[2];
    char printed[128];
} test_item;

static inline int64_t on_query(const test_item *item, uint32_t query,
                               uint32_t dimension)
{
    return query == KILN__QUERY_GLOBAL_ID ? item->ids[dimension]
                                          : 100 * (int64_t)query + dimension;
}

static inline void on_raise(test_item *item, uint32_t kind, uint32_t ordinal,
                            const char *method, const char *message,
                            int64_t value0, int64_t value1)
{
    item->kind = kind;
    item->ordinal = ordinal;
    snprintf(item->method, sizeof item->method, "%s", method);
    snprintf(item->message, sizeof item->message, "%s", message);
    item->values[0] = value0;
    item->values[1] = value1;
}

static inline void on_print(test_item *item, const char *text, int64_t bits,
                            int32_t kind)
{
    const size_t size = strlen(item->printed);
    double value;

    memcpy(&value, &bits, sizeof value);
    if (kind == KILN_TYPE_NONE)
        snprintf(item->printed + size, sizeof item->printed - size, "%s", text);
    else if (kiln__kind_is_float(kind))
        snprintf(item->printed + size, sizeof item->printed - size, "%g",
                 value);
    else
        snprintf(item->printed + size, sizeof item->printed - size, "%" PRId64,
                 bits);
}

/* ---- engines ---- */

typedef struct program {
    lower_fake fake;
    LLVMExecutionEngineRef engine;
    uint64_t address; /* address of the item function */
} program;

static inline void optimise(LLVMModuleRef module)
{
    char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
    const LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMTargetRef target;
    LLVMTargetMachineRef machine;

    assert_false(LLVMGetTargetFromTriple(triple, &target, &message));
    machine = LLVMCreateTargetMachine(
        target, triple, "generic", "", LLVMCodeGenLevelAggressive,
        LLVMRelocDefault, LLVMCodeModelJITDefault);
    assert_null(LLVMRunPasses(module, "default<O3>", machine, options));
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeMessage(triple);
}

static inline void map(program *p, const char *name, void *address)
{
    LLVMValueRef function = LLVMGetNamedFunction(p->fake.job.module, name);

    if (function != NULL)
        LLVMAddGlobalMapping(p->engine, function, address);
}

static inline void *address_of(void (*function)(void))
{
    void *address;

    memcpy(&address, &function, sizeof address);
    return address;
}

static inline void program_init(program *p, const char *text, int optimised)
{
    char *message = NULL;

    lower_fake_init(&p->fake);
    assert_ok(lower_fake_parse(&p->fake, "x", text, &test_error));
    assert_int_equal(lower_fake_lower(&p->fake), KILN_OK);
    if (LLVMVerifyModule(p->fake.job.module, LLVMReturnStatusAction, &message))
        fail_msg("%s", message);
    LLVMDisposeMessage(message);
    LLVMSetLinkage(p->fake.job.item_function, LLVMExternalLinkage);
    if (optimised)
        optimise(p->fake.job.module);
    if (LLVMCreateMCJITCompilerForModule(&p->engine, p->fake.job.module, NULL,
                                         0, &message))
        fail_msg("%s", message);
    map(p, "test_query", address_of((void (*)(void))on_query));
    map(p, "test_raise", address_of((void (*)(void))on_raise));
    map(p, "test_print", address_of((void (*)(void))on_print));
    p->address = LLVMGetFunctionAddress(p->engine, "entry.item");
    p->fake.job.module = NULL; /* the engine owns it now */
    assert_true(p->address != 0);
}

static inline void program_dispose(program *p)
{
    LLVMDisposeExecutionEngine(p->engine);
    lower_fake_dispose(&p->fake);
}

/* Kernels here take (in T[:], out U[:]). */
typedef int32_t (*item_function)(test_item *item, const void *in,
                                 int64_t in_size, void *out, int64_t out_size);

static inline int32_t run(const program *p, test_item *item, const void *in,
                          int64_t in_size, void *out, int64_t out_size)
{
    item_function function;

    memcpy(&function, &p->address, sizeof function);
    return function(item, in, in_size, out, out_size);
}

#define MORE 24 /* more elements than any of these kernels takes */

/* Runs a kernel both ways on copies of `in`. It must not raise, and must write
   `expected` to `out`. */
static inline void gives(const char *text, const void *in, size_t in_size,
                         const void *expected, size_t out_size)
{
    for (int optimised = 0; optimised < 2; optimised++) {
        char out[MORE * 8] = {0};
        test_item item = {{0, 0, 0}, 0, 0, "", "", {0, 0}, ""};
        program p;

        assert_true(out_size <= sizeof out);
        program_init(&p, text, optimised);
        assert_int_equal(run(&p, &item, in, (int64_t)in_size, out, MORE), 0);
        assert_int_equal(item.kind, 0);
        assert_memory_equal(out, expected, out_size);
        program_dispose(&p);
    }
}

static inline test_item raises(const char *text, const void *in,
                               int64_t in_size)
{
    test_item items[2];

    for (int optimised = 0; optimised < 2; optimised++) {
        char out[MORE * 8] = {0};
        program p;

        memset(&items[optimised], 0, sizeof *items);
        program_init(&p, text, optimised);
        assert_int_equal(run(&p, &items[optimised], in, in_size, out, MORE), 1);
        program_dispose(&p);
    }
    assert_memory_equal(&items[0], &items[1], sizeof *items);
    return items[0];
}

/* ---- texts ---- */

/* Returns a kernel with arrays in[T] and out[U] and the given body. */
static inline const char *kernel(const char *in, const char *out,
                                 const char *locals, const char *body)
{
    static char text_buffer[8192];

    snprintf(text_buffer, sizeof text_buffer,
             "(function \"main.k\" \"main.k#1\" kernel"
             " (param %%in.0 %s[:]) (param %%out.1 %s[:]) %s (block %s))",
             in, out, locals, body);
    return text_buffer;
}

#define N0 "(const i64 0)"
#define N1 "(const i64 1)"

/* out[0] = OP(in[0]) */
static inline const char *unary(const char *in, const char *out, const char *op)
{
    char body[512];

    snprintf(body, sizeof body,
             "(store %%out.1 " N0 " (%s (load %s %%in.0 " N0 ")))", op, in);
    return kernel(in, out, "", body);
}

/* out[0] = OP(in[0], in[1]) */
static inline const char *binary(const char *type, const char *out,
                                 const char *op)
{
    char body[512];

    snprintf(body, sizeof body,
             "(store %%out.1 " N0 " (%s (load %s %%in.0 " N0
             ") (load %s %%in.0 " N1 ")))",
             op, type, type);
    return kernel(type, out, "", body);
}

static inline int start_llvm(void **state)
{
    (void)state;
    LLVMLinkInMCJIT();
    return LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter();
}

#endif /* KILN_TESTS_LOWER_RUN_H */
