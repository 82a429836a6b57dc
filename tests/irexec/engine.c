/* engine.c - a module from its text to addresses of its kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>

#include "engine.h"

/*
 * LLVM's MCJIT compiles for the machine that it runs on. Each module has a
 * context and an execution engine of its own; LLVM runs under one lock, since
 * what is found in the process is not everybody's at once.
 */

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

typedef struct loading {
    irexec_module *module;
    engine *engine;
    shared_name *shared;
    char *message;
} loading;

__attribute__((format(printf, 2, 3))) static int fail(const loading *l,
                                                      const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(l->message, IREXEC_MESSAGE, format, arguments);
    va_end(arguments);
    return -1;
}

static int fail_with(const loading *l, const char *what, char *text)
{
    (void)fail(l, "%s: %s", what, text != NULL ? text : "");
    LLVMDisposeMessage(text);
    return -1;
}

/* ---- the host ---- */

void *address_of(any_function function)
{
    void *address;

    memcpy(&address, &function, sizeof address);
    return address;
}

static void start_llvm(void)
{
    add_half_functions();
    LLVMLinkInMCJIT();
    (void)LLVMInitializeNativeTarget();
    (void)LLVMInitializeNativeAsmPrinter();
}

static int describe_host(const loading *l)
{
    char *triple = LLVMGetDefaultTargetTriple(), *text = NULL;
    LLVMTargetMachineRef machine = NULL;
    LLVMTargetDataRef layout;
    LLVMTargetRef target;

    if (LLVMGetTargetFromTriple(triple, &target, &text)) {
        LLVMDisposeMessage(triple);
        return fail_with(l, "no target", text);
    }
    machine = LLVMCreateTargetMachine(target, triple, "x86-64", "",
                                      LLVMCodeGenLevelLess, LLVMRelocDefault,
                                      LLVMCodeModelJITDefault);
    layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(l->engine->module, triple);
    LLVMSetModuleDataLayout(l->engine->module, layout);
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeMessage(triple);
    return 0;
}

/* ---- parsing ---- */

static void take_name(void *env, const char *name)
{
    loading *l = env;
    shared_name *fresh = malloc(sizeof *fresh);

    if (fresh == NULL)
        return;
    fresh->text = strdup(name);
    fresh->next = l->shared;
    l->shared = fresh;
}

static int read_head(const loading *l, const char *text)
{
    if (sscanf(text, IREXEC_HEAD "%u %u", &l->module->lanes,
               &l->module->hidden) != 2 ||
        l->module->lanes == 0 || l->module->lanes > 64)
        return fail(l, "the text does not begin with \"" IREXEC_HEAD "\" and "
                       "its numbers");
    return 0;
}

static int parse(loading *l, const char *text)
{
    char *rewritten = rewrite(text, take_name, l), *message = NULL;
    LLVMMemoryBufferRef buffer;

    if (rewritten == NULL)
        return fail(l, "out of memory");
    buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        rewritten, strlen(rewritten), "module");
    l->engine->context = LLVMContextCreate();
    if (LLVMParseIRInContext(l->engine->context, buffer, &l->engine->module,
                             &message)) {
        if (getenv("IREXEC_KEEP") != NULL) {
            FILE *file = fopen(getenv("IREXEC_KEEP"), "w");

            if (file != NULL) {
                fputs(rewritten, file);
                fclose(file);
            }
        }
        free(rewritten);
        return fail_with(l, "the rewritten module cannot be read", message);
    }
    free(rewritten);
    return 0;
}

/* ---- names ---- */

/* Each function that is not defined is LLVM's, ours, or the C library's. */
static int map_function(const loading *l, LLVMValueRef f)
{
    const named_function *found = find_function(f);
    size_t size;
    const char *name = LLVMGetValueName2(f, &size);

    if (found != NULL) {
        LLVMAddGlobalMapping(l->engine->execution, f,
                             address_of(found->address));
        l->module->is_together |= found->is_together;
        return 0;
    }
    if (dlsym(RTLD_DEFAULT, name) == NULL)
        return fail(l, "the function %s is not known here", name);
    return 0;
}

static int map_functions(const loading *l)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(l->engine->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && LLVMGetIntrinsicID(f) == 0 &&
            map_function(l, f) != 0)
            return -1;
    return 0;
}

#define ENTER "irexec.enter."

static int is_kernel(LLVMValueRef f)
{
    return !LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage;
}

static int add_function(const loading *l, LLVMTargetDataRef layout,
                        LLVMValueRef kernel)
{
    irexec_function *fresh = calloc(1, sizeof *fresh);
    size_t size;
    char name[512];

    if (fresh == NULL)
        return fail(l, "out of memory");
    fresh->next = l->module->functions;
    l->module->functions = fresh;
    fresh->module = l->module;
    fresh->name = strdup(LLVMGetValueName2(kernel, &size));
    if (fresh->name == NULL)
        return fail(l, "out of memory");
    snprintf(name, sizeof name, ENTER "%s", fresh->name);
    fresh->block_size =
        (size_t)add_enter(l->engine->module, layout, kernel, name);
    return 0;
}

/* Kernels are what the module shows. The list grows behind its end. */
static int add_functions(const loading *l)
{
    const LLVMTargetDataRef layout = LLVMGetModuleDataLayout(l->engine->module);
    const LLVMValueRef last = LLVMGetLastFunction(l->engine->module);
    LLVMValueRef f = LLVMGetFirstFunction(l->engine->module);

    for (; f != NULL; f = LLVMGetNextFunction(f)) {
        if (is_kernel(f) && add_function(l, layout, f) != 0)
            return -1;
        if (f == last)
            return 0;
    }
    return 0;
}

/* ---- machine code ---- */

/* A variable that is only declared is the dynamic memory. It gets all that a
   launch may ask for. */
static LLVMValueRef define_dynamic(const loading *l, LLVMValueRef global,
                                   const char *name)
{
    const LLVMTypeRef type = LLVMArrayType2(
        LLVMInt8TypeInContext(l->engine->context), IREXEC_DYNAMIC_MAX);
    LLVMValueRef made = LLVMAddGlobal(l->engine->module, type, "");

    LLVMSetInitializer(made, LLVMConstNull(type));
    LLVMSetAlignment(made, LLVMGetAlignment(global));
    LLVMReplaceAllUsesWith(global, made);
    LLVMDeleteGlobal(global);
    LLVMSetValueName2(made, name, strlen(name));
    return made;
}

static int show_shared(const loading *l)
{
    for (shared_name *at = l->shared; at != NULL; at = at->next) {
        LLVMValueRef global =
            at->text != NULL ? LLVMGetNamedGlobal(l->engine->module, at->text)
                             : NULL;

        if (global == NULL)
            return fail(l, "a variable of the group's is not there");
        at->is_dynamic = LLVMIsDeclaration(global) != 0;
        if (at->is_dynamic)
            global = define_dynamic(l, global, at->text);
        LLVMSetLinkage(global, LLVMExternalLinkage);
        LLVMSetGlobalConstant(global, 0);
        l->module->shared_count++;
    }
    return 0;
}

static int compile(const loading *l)
{
    char *message = NULL;
    struct LLVMMCJITCompilerOptions options;

    if (LLVMVerifyModule(l->engine->module, LLVMReturnStatusAction, &message))
        return fail_with(l, "the module is not valid here", message);
    LLVMDisposeMessage(message);
    LLVMInitializeMCJITCompilerOptions(&options, sizeof options);
    options.OptLevel = LLVMCodeGenLevelLess;
    if (LLVMCreateMCJITCompilerForModule(&l->engine->execution,
                                         l->engine->module, &options,
                                         sizeof options, &message))
        return fail_with(l, "no compiler for the host", message);
    return 0;
}

static int take_shared(const loading *l)
{
    const LLVMTargetDataRef layout = LLVMGetModuleDataLayout(l->engine->module);
    shared_variable *to;

    if (l->module->shared_count == 0)
        return 0;
    to = calloc(l->module->shared_count, sizeof *to);
    l->module->shared = to;
    if (to == NULL)
        return fail(l, "out of memory");
    for (const shared_name *at = l->shared; at != NULL; at = at->next, to++) {
        const LLVMValueRef global =
            LLVMGetNamedGlobal(l->engine->module, at->text);
        const uint64_t address =
            LLVMGetGlobalValueAddress(l->engine->execution, at->text);

        to->is_dynamic = at->is_dynamic;
        to->size = LLVMABISizeOfType(layout, LLVMGlobalGetValueType(global));
        memcpy(&to->address, &address, sizeof to->address);
    }
    return 0;
}

static int take_functions(const loading *l)
{
    for (irexec_function *f = l->module->functions; f != NULL; f = f->next) {
        char name[512];
        uint64_t address;

        snprintf(name, sizeof name, ENTER "%s", f->name);
        address = LLVMGetFunctionAddress(l->engine->execution, name);
        if (address == 0)
            return fail(l, "%s has no address", f->name);
        memcpy(&f->enter, &address, sizeof f->enter);
    }
    return 0;
}

/* ---- a module's life ---- */

static int load(loading *l, const char *text)
{
    if (read_head(l, text) != 0 || parse(l, text) != 0 ||
        describe_host(l) != 0 || show_shared(l) != 0)
        return -1;
    retarget(l->engine->module);
    if (add_functions(l) != 0 || compile(l) != 0 || map_functions(l) != 0 ||
        take_functions(l) != 0)
        return -1;
    return take_shared(l);
}

static void free_names(shared_name *at)
{
    while (at != NULL) {
        shared_name *next = at->next;

        free(at->text);
        free(at);
        at = next;
    }
}

irexec_module *irexec_module_new(const char *text, char *message)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    loading l = {.message = message};
    int failed;

    pthread_once(&once, start_llvm);
    message[0] = '\0';
    l.module = calloc(1, sizeof *l.module);
    l.engine = calloc(1, sizeof *l.engine);
    if (l.module == NULL || l.engine == NULL) {
        free(l.module);
        free(l.engine);
        (void)fail(&l, "out of memory");
        return NULL;
    }
    l.module->engine = l.engine;
    pthread_mutex_lock(&one_at_a_time);
    failed = load(&l, text);
    pthread_mutex_unlock(&one_at_a_time);
    free_names(l.shared);
    if (!failed)
        return l.module;
    irexec_module_free(l.module);
    return NULL;
}

static void free_engine(engine *e)
{
    pthread_mutex_lock(&one_at_a_time);
    if (e->execution != NULL)
        LLVMDisposeExecutionEngine(e->execution);
    else if (e->module != NULL)
        LLVMDisposeModule(e->module);
    if (e->context != NULL)
        LLVMContextDispose(e->context);
    pthread_mutex_unlock(&one_at_a_time);
    free(e);
}

void irexec_module_free(irexec_module *module)
{
    if (module == NULL)
        return;
    while (module->functions != NULL) {
        irexec_function *next = module->functions->next;

        free(module->functions->name);
        free(module->functions);
        module->functions = next;
    }
    free_engine(module->engine);
    free(module->shared);
    free(module);
}

irexec_function *irexec_module_function(irexec_module *module, const char *name)
{
    irexec_function *f = module->functions;

    while (f != NULL && strcmp(f->name, name) != 0)
        f = f->next;
    return f;
}

uint64_t irexec_module_shared_bytes(const irexec_module *module)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < module->shared_count; i++)
        bytes += module->shared[i].size;
    return bytes;
}
