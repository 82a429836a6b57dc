/* test_codegen_memory.c - code generation that gets too little memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault codegen host cuda */
/* LINKS: codegen */
/* WRAPS: kiln__arena_allocate kiln__arena_allocate_array kiln__arena_copy */
/* WRAPS: kiln__arena_string kiln__arena_text kiln__arena_format */
#include "base/data/arena.h"
#include "support/codegen/neutral.h"

/*
 * What a job allocates is in its arena. One of its calls fails here, and those
 * after it do not: so whoever goes on without what it asked for would make code
 * that differs, or a message that blames the module.
 */

static int calls, fail_at; /* counted from 1; 0: none fails */

static int fails(kiln__arena *arena)
{
    if (++calls != fail_at)
        return 0;
    arena->failed = 1;
    return 1;
}

void *__real_kiln__arena_allocate(kiln__arena *arena, size_t size);
void *__wrap_kiln__arena_allocate(kiln__arena *arena, size_t size);
void *__real_kiln__arena_allocate_array(kiln__arena *arena, size_t count,
                                        size_t element_size);
void *__wrap_kiln__arena_allocate_array(kiln__arena *arena, size_t count,
                                        size_t element_size);
void *__real_kiln__arena_copy(kiln__arena *arena, const void *bytes,
                              size_t size);
void *__wrap_kiln__arena_copy(kiln__arena *arena, const void *bytes,
                              size_t size);
char *__real_kiln__arena_string(kiln__arena *arena, const char *text,
                                size_t size);
char *__wrap_kiln__arena_string(kiln__arena *arena, const char *text,
                                size_t size);
char *__real_kiln__arena_text(kiln__arena *arena, const char *text);
char *__wrap_kiln__arena_text(kiln__arena *arena, const char *text);
char *__wrap_kiln__arena_format(kiln__arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void *__wrap_kiln__arena_allocate(kiln__arena *arena, size_t size)
{
    return fails(arena) ? NULL : __real_kiln__arena_allocate(arena, size);
}

void *__wrap_kiln__arena_allocate_array(kiln__arena *arena, size_t count,
                                        size_t element_size)
{
    return fails(arena)
               ? NULL
               : __real_kiln__arena_allocate_array(arena, count, element_size);
}

void *__wrap_kiln__arena_copy(kiln__arena *arena, const void *bytes,
                              size_t size)
{
    return fails(arena) ? NULL : __real_kiln__arena_copy(arena, bytes, size);
}

char *__wrap_kiln__arena_string(kiln__arena *arena, const char *text,
                                size_t size)
{
    return fails(arena) ? NULL : __real_kiln__arena_string(arena, text, size);
}

char *__wrap_kiln__arena_text(kiln__arena *arena, const char *text)
{
    return fails(arena) ? NULL : __real_kiln__arena_text(arena, text);
}

char *__wrap_kiln__arena_format(kiln__arena *arena, const char *format, ...)
{
    va_list arguments;
    char *text;

    if (fails(arena))
        return NULL;
    va_start(arguments, format);
    text = kiln__arena_vformat(arena, format, arguments);
    va_end(arguments);
    return text;
}

/* ---- modules ---- */

/* Asserts that no failure is blamed on the module, or changes its code. */
static void assert_survives(int target, const char *module, int32_t form)
{
    outcome first, o;
    int most;

    calls = fail_at = 0;
    neutral_build(&first, foreign_target_of(target), module, form, 2);
    if (first.status != KILN_OK)
        fail_msg("%s", first.message);
    most = calls;
    assert_true(most > 5);
    for (int at = 1; at <= most; at++) {
        calls = 0;
        fail_at = at;
        neutral_build(&o, foreign_target_of(target), module, form, 2);
        fail_at = 0;
        if (o.status == KILN_ENOMEM)
            continue;
        if (o.status != KILN_OK)
            fail_msg("allocation %d of %d: %s", at, most, o.message);
        if (o.size != first.size || memcmp(o.bytes, first.bytes, o.size) != 0)
            fail_msg("allocation %d of %d: other code", at, most);
        free(o.bytes);
    }
    free(first.bytes);
}

static const char raises[] =
    "@m = private constant [2 x i8] c\"m\\00\"\n"
    "declare i64 @kiln_global_id(i32)\n"
    "declare void @kiln_raise(i32, ptr, i32, ptr, i64, i64)\n"
    "declare void @llvm.trap()\n"
    "declare void @gone() noreturn\n"
    "define internal i32 @f(i64 %i) noinline {\n"
    "  %b = icmp sgt i64 %i, 100\n"
    "  br i1 %b, label %t, label %e\n"
    "t:\n"
    "  call void @llvm.trap()\n"
    "  unreachable\n"
    "e:\n"
    "  %c = icmp slt i64 %i, -100\n"
    "  br i1 %c, label %g, label %h\n"
    "g:\n"
    "  call void @gone()\n"
    "  unreachable\n"
    "h:\n"
    "  ret i32 7\n"
    "}\n"
    "define void @k(ptr %y, i64 %n) {\n"
    "  %i = call i64 @kiln_global_id(i32 0)\n"
    "  %v = call i32 @f(i64 %i)\n"
    "  %b = icmp eq i64 %i, 50\n"
    "  br i1 %b, label %t, label %e\n"
    "t:\n"
    "  call void @kiln_raise(i32 6, ptr @m, i32 1, ptr @m, i64 0, i64 0)\n"
    "  unreachable\n"
    "e:\n"
    "  store i32 %v, ptr %y\n"
    "  ret void\n"
    "}\n";

static void exceptions_are_whole_or_not_there(void **state)
{
    (void)state;
    assert_survives(HOST, raises, KILN_EMIT_LLVM_OPT);
    assert_survives(CUDA, raises, KILN_EMIT_LLVM_OPT);
}

static void prints_are_whole_or_not_there(void **state)
{
    static const char module[] =
        "@f = private constant [21 x i8] c\"item %5.1f %-3d %s%%\\00\"\n"
        "@s = private constant [2 x i8] c\"s\\00\"\n"
        "declare i32 @kiln_print(ptr, ...)\n"
        "define void @k(ptr %y, i64 %n) {\n"
        "  %r = call i32 (ptr, ...) @kiln_print(ptr @f, double 1.0, i64 %n,\n"
        "                                       ptr @s)\n"
        "  store i32 %r, ptr %y\n"
        "  ret void\n"
        "}\n";

    (void)state;
    assert_survives(HOST, module, KILN_EMIT_LLVM_OPT);
    assert_survives(CUDA, module, KILN_EMIT_LLVM_OPT);
}

static void groups_are_whole_or_not_there(void **state)
{
    static const char module[] =
        "declare i32 @kiln_reduce.add.i32(i32, i32)\n"
        "declare void @kiln_barrier(i32, i32)\n"
        "define void @k(ptr %y, i64 %n) {\n"
        "  %v = load i32, ptr %y\n"
        "  call void @kiln_barrier(i32 2, i32 2)\n"
        "  %r = call i32 @kiln_reduce.add.i32(i32 2, i32 %v)\n"
        "  store i32 %r, ptr %y\n"
        "  ret void\n"
        "}\n";

    (void)state;
    assert_survives(HOST, module, KILN_EMIT_LLVM_OPT);
    assert_survives(CUDA, module, KILN_EMIT_LLVM_OPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exceptions_are_whole_or_not_there),
        cmocka_unit_test(prints_are_whole_or_not_there),
        cmocka_unit_test(groups_are_whole_or_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
