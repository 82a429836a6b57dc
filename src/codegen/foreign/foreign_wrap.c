/* foreign_wrap.c - makes the entry around a kernel or function that knows
   nothing of Kiln's arguments. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_values.h"
#include "kiln/error.h"

/*
 * A module may have a head, which is text, in front of it:
 *
 *     kiln entry 1, or kiln function 1
 *     <name of the kernel or function>
 *     array <rank> | memory <rank> | value | local <alignment>
 *                                        one line per argument
 *     result                             if the function gives a value
 *     call | apply <number> <symbol>     see foreign_call.c
 *     <empty line>
 *
 * Then the module is neutral, and lacks the entry: that is made here and calls
 * the kernel. Of an array the kernel takes the pointer and one size; of memory
 * a function takes the pointer alone. A value is passed on. A local argument is
 * a number of bytes, of which the kernel takes where they begin in the group's
 * dynamic memory: they lie one behind the other. If the launch gives less
 * memory than they need, all items raise. The entry of a function with a value
 * takes behind the arguments where to store it.
 */

static const char *const first_lines[] = {"kiln entry 1\n",
                                          "kiln function 1\n"};

/* Returns what follows the first line; NULL: there is no head. */
static const char *after_first_line(const char *text, size_t size)
{
    for (size_t i = 0; i < sizeof first_lines / sizeof *first_lines; i++) {
        const size_t length = strlen(first_lines[i]);

        if (size >= length && memcmp(text, first_lines[i], length) == 0)
            return text + length;
    }
    return NULL;
}

size_t kiln__foreign_head(const void *module, size_t size)
{
    const char *text = module;
    const char *end;

    if (after_first_line(text, size) == NULL)
        return 0;
    end = memmem(text, size, "\n\n", 2);
    return end != NULL ? (size_t)(end - text) + 2 : 0;
}

typedef struct wrapping {
    kiln__codegen_job *job;
    const char *name;     /* of the kernel, as the source has it */
    const char *own_name; /* what it is called beside the entry */
    const char *lines;
    LLVMValueRef kernel;
    LLVMValueRef entry;
    LLVMBuilderRef builder;
    LLVMTypeRef *types; /* of the entry's parameters */
    unsigned type_count;
    LLVMValueRef *values; /* of the kernel's parameters */
    unsigned value_count;
    unsigned at;        /* the entry's parameter that is passed next */
    LLVMValueRef total; /* bytes of local arguments so far, or NULL */
} wrapping;

/* ---- the head ---- */

/* Moves after the word at the beginning of a line, if it is that one. */
static int is_word(const char **line, const char *word)
{
    const size_t size = strlen(word);

    if (strncmp(*line, word, size) != 0)
        return 0;
    *line += size;
    return 1;
}

static const char *next_line(const char *line)
{
    return line + strcspn(line, "\n") + 1;
}

/* True for the line of an argument: these come first. */
static int is_argument(const char *line)
{
    return *line != '\n' && strncmp(line, "call ", 5) != 0 &&
           strncmp(line, "apply ", 6) != 0;
}

static int is_result(const char *line)
{
    return strncmp(line, "result\n", 7) == 0;
}

static uint64_t number_of(const char *line)
{
    return strtoull(line, NULL, 10);
}

static kiln_status malformed(kiln__codegen_job *job)
{
    return kiln__job_fail(job, KILN_ECODEGEN,
                          "the head of the module does not fit its kernel");
}

/* ---- types ---- */

static int has_type(const wrapping *w, unsigned at, LLVMTypeRef type)
{
    return at < LLVMCountParams(w->kernel) &&
           LLVMTypeOf(LLVMGetParam(w->kernel, at)) == type;
}

static int is_pointer(const wrapping *w, unsigned at)
{
    return at < LLVMCountParams(w->kernel) &&
           LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(w->kernel, at))) ==
               LLVMPointerTypeKind;
}

static int is_alignment(uint64_t number)
{
    return number > 0 && number <= 4096 && (number & (number - 1)) == 0;
}

/* True for the line of an array; moves after its first word. `*words` is how
   many parameters the kernel has for it. */
static int is_array(const char **line, unsigned *words)
{
    *words = 2;
    if (is_word(line, "array "))
        return 1;
    *words = 1;
    return is_word(line, "memory ");
}

static int add_array(wrapping *w, uint64_t rank, unsigned words, unsigned *at)
{
    const LLVMTypeRef i64 = kiln__job_i64(w->job);

    if (!is_pointer(w, *at) || (words == 2 && !has_type(w, *at + 1, i64)) ||
        rank < 1 || rank > KILN_RANK_MAX)
        return 0;
    w->types[w->type_count++] = LLVMTypeOf(LLVMGetParam(w->kernel, *at));
    for (uint64_t i = 0; i < rank; i++)
        w->types[w->type_count++] = i64;
    *at += words;
    return 1;
}

/* A truth value has a byte outside of functions. */
static LLVMTypeRef outer_type(const wrapping *w, LLVMTypeRef type)
{
    return type == LLVMInt1TypeInContext(w->job->context)
               ? LLVMInt8TypeInContext(w->job->context)
               : type;
}

static LLVMTypeRef result_of(const wrapping *w)
{
    return LLVMGetReturnType(LLVMGlobalGetValueType(w->kernel));
}

/* Adds the entry's parameters for one argument. False: the kernel's do not fit
   the line. */
static int add_types(wrapping *w, const char *line, unsigned *at)
{
    unsigned words;

    if (is_array(&line, &words))
        return add_array(w, number_of(line), words, at);
    if (is_result(line)) {
        w->types[w->type_count++] =
            LLVMPointerTypeInContext(w->job->context, 0);
        return LLVMGetTypeKind(result_of(w)) != LLVMVoidTypeKind;
    }
    if (is_word(&line, "local ")) {
        if (!has_type(w, *at, kiln__job_i64(w->job)) ||
            !is_alignment(number_of(line)))
            return 0;
    } else if (!is_word(&line, "value\n")) {
        return 0;
    }
    if (*at >= LLVMCountParams(w->kernel))
        return 0;
    w->types[w->type_count++] =
        outer_type(w, LLVMTypeOf(LLVMGetParam(w->kernel, (*at)++)));
    return 1;
}

static kiln_status make_types(wrapping *w)
{
    kiln__codegen_job *job = w->job;
    const size_t arguments = job->request->argument_count;
    size_t count = 0;
    unsigned at = 0;
    int has_result = 0; /* it is the last one */

    w->types = kiln__arena_allocate_array(
        &job->arena, arguments * (1 + KILN_RANK_MAX) + 1, sizeof *w->types);
    w->values = kiln__arena_allocate_array(
        &job->arena, LLVMCountParams(w->kernel) + 1, sizeof *w->values);
    if (w->types == NULL || w->values == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    for (const char *line = w->lines; is_argument(line);
         line = next_line(line)) {
        if (has_result || count++ == arguments || !add_types(w, line, &at))
            return malformed(job);
        has_result = is_result(line);
    }
    return count == arguments && at == LLVMCountParams(w->kernel)
               ? KILN_OK
               : malformed(job);
}

/* ---- arguments ---- */

static LLVMValueRef add_saturated(const wrapping *w, LLVMValueRef a,
                                  LLVMValueRef b)
{
    LLVMValueRef values[] = {a, b};

    return kiln__call_intrinsic(w->builder, "llvm.uadd.sat",
                                kiln__job_i64(w->job), values, 2);
}

/* Returns where the memory of a local argument begins. */
static LLVMValueRef place(wrapping *w, LLVMValueRef size, uint64_t alignment)
{
    LLVMValueRef begin = w->total;

    if (begin == NULL)
        begin = kiln__job_number64(w->job, 0);
    if (alignment > 1) {
        begin =
            add_saturated(w, begin, kiln__job_number64(w->job, alignment - 1));
        begin = LLVMBuildAnd(w->builder, begin,
                             kiln__job_number64(w->job, -alignment), "");
    }
    w->total = add_saturated(w, begin, size);
    return begin;
}

/* Returns the value in the type that the kernel has for it. */
static LLVMValueRef inner_value(const wrapping *w, LLVMValueRef value)
{
    const LLVMTypeRef type =
        LLVMTypeOf(LLVMGetParam(w->kernel, w->value_count));

    return type == LLVMTypeOf(value)
               ? value
               : LLVMBuildICmp(w->builder, LLVMIntNE, value,
                               LLVMConstNull(LLVMTypeOf(value)), "");
}

static void pass(wrapping *w, const char *line)
{
    LLVMValueRef first = LLVMGetParam(w->entry, w->at);
    unsigned words;

    if (is_array(&line, &words)) {
        w->values[w->value_count++] = first;
        if (words == 2)
            w->values[w->value_count++] = LLVMGetParam(w->entry, w->at + 1);
        w->at += 1 + (unsigned)number_of(line);
        return;
    }
    if (is_result(line))
        return;
    if (is_word(&line, "local "))
        first = place(w, first, number_of(line));
    first = inner_value(w, first);
    w->values[w->value_count++] = first;
    w->at++;
}

/* Stores what the function gives where the last parameter says. */
static void store_result(const wrapping *w, LLVMValueRef value)
{
    const unsigned count = LLVMCountParams(w->entry);
    const LLVMTypeRef type = LLVMTypeOf(value);

    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        return;
    if (outer_type(w, type) != type)
        value = LLVMBuildZExt(w->builder, value, outer_type(w, type), "");
    LLVMBuildStore(w->builder, value, LLVMGetParam(w->entry, count - 1));
}

/* A parameter that is a copy of bytes stays one, with its alignment. */
static void copy_attribute(const wrapping *w, LLVMValueRef call,
                           unsigned kernel_at, unsigned entry_at,
                           const char *name)
{
    LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(
        w->kernel, kernel_at + 1, kiln__attribute_kind(name));

    if (attribute == NULL)
        return;
    LLVMAddCallSiteAttribute(call, kernel_at + 1, attribute);
    LLVMAddAttributeAtIndex(w->entry, entry_at + 1, attribute);
}

static void copy_attributes(const wrapping *w, LLVMValueRef call)
{
    unsigned kernel_at = 0, entry_at = 0;

    for (const char *line = w->lines; is_argument(line);
         line = next_line(line)) {
        const char *rest = line;
        unsigned words;

        if (is_result(rest))
            return;
        if (is_array(&rest, &words)) {
            kernel_at += words;
            entry_at += 1 + (unsigned)number_of(rest);
            continue;
        }
        copy_attribute(w, call, kernel_at, entry_at, "byval");
        copy_attribute(w, call, kernel_at++, entry_at++, "align");
    }
}

/* ---- too little memory ---- */

static LLVMValueRef device_function(const wrapping *w, const char *name,
                                    LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetNamedFunction(w->job->module, name);

    return function != NULL ? function
                            : LLVMAddFunction(w->job->module, name, type);
}

static LLVMValueRef call(const wrapping *w, LLVMValueRef function,
                         LLVMValueRef *values, unsigned count)
{
    return LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(function),
                          function, values, count, "");
}

static LLVMValueRef build_raise(const wrapping *w, LLVMValueRef needed,
                                LLVMValueRef given)
{
    const LLVMValueRef function =
        device_function(w, "kiln_raise", kiln__neutral_raise_type(w->job));
    LLVMValueRef values[] = {
        kiln__job_number32(w->job, KILN_EXCEPTION_USER),
        LLVMBuildGlobalStringPtr(w->builder, w->name, ""),
        kiln__job_number32(w->job, 0),
        LLVMBuildGlobalStringPtr(
            w->builder,
            "local arguments need more group memory than the launch has", ""),
        needed,
        given,
    };
    const LLVMValueRef raise =
        call(w, function, values, sizeof values / sizeof *values);

    LLVMSetMetadata(
        raise,
        LLVMGetMDKindIDInContext(w->job->context, KILN__TOGETHER,
                                 sizeof KILN__TOGETHER - 1),
        LLVMMetadataAsValue(w->job->context,
                            LLVMMDNodeInContext2(w->job->context, NULL, 0)));
    return raise;
}

/* True where items wait for each other on a target whose drivers need each item
   at each barrier. The check would be a way past them; it is one that all items
   take, but PoCL takes the kernel's other branches for a part of it. */
static int is_way_past_barriers(const kiln__codegen_job *job)
{
    LLVMValueRef f;
    size_t size;

    if (job->backend->device == NULL || job->backend->device->converge == NULL)
        return 0;
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (LLVMGetFirstUse(f) != NULL &&
            kiln__foreign_is_collective(LLVMGetValueName2(f, &size)))
            return 1;
    return 0;
}

/* Goes on where there is enough memory. */
static void check_total(const wrapping *w)
{
    LLVMBasicBlockRef raise, go_on;
    LLVMValueRef size, given;

    if (w->total == NULL || is_way_past_barriers(w->job))
        return;
    raise = LLVMAppendBasicBlockInContext(w->job->context, w->entry, "raise");
    go_on = LLVMAppendBasicBlockInContext(w->job->context, w->entry, "go_on");
    size = device_function(w, "kiln_group_memory_size",
                           LLVMFunctionType(kiln__job_i64(w->job), NULL, 0, 0));
    given = call(w, size, NULL, 0);
    LLVMBuildCondBr(w->builder,
                    LLVMBuildICmp(w->builder, LLVMIntUGT, w->total, given, ""),
                    raise, go_on);
    LLVMPositionBuilderAtEnd(w->builder, raise);
    build_raise(w, w->total, given);
    LLVMBuildUnreachable(w->builder);
    LLVMPositionBuilderAtEnd(w->builder, go_on);
}

/* ---- all of it ---- */

static kiln_status find_kernel(wrapping *w, const char *head)
{
    kiln__codegen_job *job = w->job;
    const char *name = after_first_line(head, SIZE_MAX);
    const size_t size = strcspn(name, "\n");

    w->lines = name + size + 1;
    w->name = kiln__arena_string(&job->arena, name, size);
    w->own_name = kiln__arena_format(&job->arena, "%.*s.own", (int)size, name);
    if (w->name == NULL || w->own_name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    w->kernel = LLVMGetNamedFunction(job->module, w->name);
    if (w->kernel == NULL || LLVMIsDeclaration(w->kernel))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module does not define kernel '%s'",
                              w->name);
    return KILN_OK;
}

/* The entry may have the kernel's name. Messages and exceptions tell that name
   without this ending. */
static void adopt_kernel(const wrapping *w)
{
    LLVMSetValueName2(w->kernel, w->own_name, strlen(w->own_name));
    LLVMSetLinkage(w->kernel, LLVMInternalLinkage);
    if (LLVMGetFirstUse(w->kernel) == NULL)
        kiln__inline_always(w->kernel);
}

static void build_entry(wrapping *w)
{
    kiln__codegen_job *job = w->job;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(job->context),
                                        w->types, w->type_count, 0);
    LLVMValueRef called;

    adopt_kernel(w);
    w->entry = LLVMAddFunction(job->module, job->request->entry, type);
    w->builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderAtEnd(
        w->builder, LLVMAppendBasicBlockInContext(job->context, w->entry, ""));
    for (const char *line = w->lines; is_argument(line); line = next_line(line))
        pass(w, line);
    check_total(w);
    called = call(w, w->kernel, w->values, w->value_count);
    LLVMSetInstructionCallConv(called, LLVMGetFunctionCallConv(w->kernel));
    copy_attributes(w, called);
    store_result(w, called);
    LLVMBuildRetVoid(w->builder);
    LLVMDisposeBuilder(w->builder);
}

kiln_status kiln__foreign_wrap(kiln__codegen_job *job, const char *head)
{
    wrapping w = {.job = job};

    job->is_wrapped = 1;
    KILN_TRY(find_kernel(&w, head));
    KILN_TRY(make_types(&w));
    build_entry(&w);
    return kiln__foreign_define_calls(job, w.lines);
}
