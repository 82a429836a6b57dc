/* test_relocation.c - addresses that hide in the modules of others. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include <llvm-c/IRReader.h>

#include "support/codegen/request.h"

#define ADDRESS "139637976793088" /* 0x7f0000001000 */

#define KERNEL(body) \
    "define i32 @k(" ITEM ", ptr %y, i64 %n) {\n" body "  ret i32 0\n}\n"

static int32_t class_at(const char *module, uint8_t level)
{
    int32_t relocation;
    outcome o;

    prepare(&o, module, KILN_EMIT_BINARY, one_array, 1);
    o.settings.opt_level = level;
    assert_built(&o);
    relocation = o.relocation;
    free(o.bytes);
    return relocation;
}

/* Whatever the optimiser sees through, and whatever it does not. */
static void assert_session(const char *module)
{
    for (uint8_t level = 0; level <= 3; level++)
        if (class_at(module, level) != KILN_RELOCATION_SESSION)
            fail_msg("level %d: not of the session:\n%s", level, module);
}

static void assert_portable(const char *module)
{
    for (uint8_t level = 1; level <= 3; level++)
        if (class_at(module, level) != KILN_RELOCATION_PORTABLE)
            fail_msg("level %d: not portable:\n%s", level, module);
}

static void a_baked_address_is_found(void **state)
{
    (void)state;
    assert_session(
        KERNEL("  store i32 1, ptr inttoptr (i64 " ADDRESS " to ptr)\n"));
    assert_session(
        KERNEL("  store ptr inttoptr (i64 " ADDRESS " to ptr), ptr %y\n"));
    assert_session("@p = constant ptr inttoptr (i64 " ADDRESS
                   " to ptr)\n" KERNEL(
                       "  %p = load ptr, ptr @p\n  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  %p = getelementptr i8, ptr null, i64 " ADDRESS "\n"
                          "  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  %b = inttoptr i64 16 to ptr\n"
                          "  %p = getelementptr i8, ptr %b, i64 " ADDRESS "\n"
                          "  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  %f = inttoptr i64 " ADDRESS " to ptr\n"
                          "  call void %f()\n"));
}

static void an_address_in_a_constant_expression_is_found(void **state)
{
    (void)state;
    assert_session("@z = internal constant i32 0\n" KERNEL(
        "  store i32 1, ptr inttoptr (i64 xor (i64 ptrtoint (ptr @z to i64),"
        " i64 " ADDRESS ") to ptr)\n"));
    assert_session(
        "@z = internal constant i32 0\n"
        "@p = constant ptr inttoptr (i64 add (i64 ptrtoint (ptr @z to i64),"
        " i64 " ADDRESS ") to ptr)\n" KERNEL(
            "  %p = load ptr, ptr @p\n  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  store i32 1, ptr inttoptr (i64 add (i64 " ADDRESS
                          ", i64 64) to ptr)\n"));
}

static void an_address_in_a_table_is_found(void **state)
{
    (void)state;
    assert_session("@n = constant i64 " ADDRESS "\n" KERNEL(
        "  %p = load ptr, ptr @n\n  store i32 1, ptr %p\n"));
    assert_session(
        "@b = constant [8 x i8] c\"\\00\\10\\00\\00\\00\\7f\\00\\00\""
        "\n" KERNEL("  %p = load ptr, ptr @b\n"
                    "  store i32 1, ptr %p\n"));
    assert_session(
        "@t = internal constant [2 x i64] [i64 " ADDRESS ", i64 " ADDRESS
        "]\n" KERNEL("  %e = getelementptr i64, ptr @t, i64 %n\n"
                     "  %p = load ptr, ptr %e\n  store i32 1, ptr %p\n"));
}

static void an_address_in_memory_of_its_own_is_found(void **state)
{
    (void)state;
    assert_session(KERNEL("  %m = alloca [4 x i64]\n"
                          "  %e = getelementptr i64, ptr %m, i64 %n\n"
                          "  store i64 " ADDRESS ", ptr %e\n"
                          "  %p = load ptr, ptr %m\n"
                          "  store i32 1, ptr %p\n"));
    assert_session(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
        "@s = constant { i64, i64 } { i64 1, i64 " ADDRESS " }\n" KERNEL(
            "  %m = alloca [4 x i64]\n"
            "  call void @llvm.memcpy.p0.p0.i64(ptr %m, ptr @s, i64 16, i1 0)\n"
            "  %e = getelementptr i64, ptr %m, i64 %n\n"
            "  %p = load ptr, ptr %e\n"
            "  store i32 1, ptr %p\n"));
    /* A pointer in the bits of a double that is no number. */
    assert_session(KERNEL("  %m = alloca [4 x double]\n"
                          "  %e = getelementptr double, ptr %m, i64 %n\n"
                          "  store double 0x7FFC7F0000001000, ptr %e\n"
                          "  %v = load i64, ptr %m\n"
                          "  %s = shl i64 %v, 16\n"
                          "  %a = lshr i64 %s, 16\n"
                          "  %p = inttoptr i64 %a to ptr\n"
                          "  store i32 1, ptr %p\n"));
}

static void an_address_that_functions_pass_on_is_found(void **state)
{
    (void)state;
    assert_session("define internal i64 @f() noinline optnone {\n"
                   "  ret i64 " ADDRESS
                   "\n}\n" KERNEL("  %a = call i64 @f()\n"
                                  "  %p = inttoptr i64 %a to ptr\n"
                                  "  store i32 1, ptr %p\n"));
    assert_session("define internal void @f(i64 %a) noinline optnone {\n"
                   "  %p = inttoptr i64 %a to ptr\n"
                   "  store i32 1, ptr %p\n  ret void\n}\n" KERNEL(
                       "  call void @f(i64 " ADDRESS ")\n"));
    assert_session("define internal void @f(ptr %m) noinline optnone {\n"
                   "  %p = load ptr, ptr %m\n"
                   "  store i32 1, ptr %p\n  ret void\n}\n" KERNEL(
                       "  %m = alloca i64\n"
                       "  store i64 " ADDRESS ", ptr %m\n"
                       "  call void @f(ptr %m)\n"));
}

/* Numbers that are no addresses, and pointers that come from outside. */
static void numbers_and_given_pointers_are_portable(void **state)
{
    (void)state;
    assert_portable(KERNEL("  store i64 1000000007, ptr %y\n"));
    assert_portable(KERNEL("  store i64 1000000007, ptr %y\n"
                           "  %e = getelementptr ptr, ptr %y, i64 1\n"
                           "  %p = load ptr, ptr %e\n"
                           "  store double 0x3FF8000000000000, ptr %p\n"));
    assert_portable("@t = internal constant [2 x i64] [i64 6364136223846793005,"
                    " i64 1442695040888963407]\n" KERNEL(
                        "  %e = getelementptr i64, ptr @t, i64 %n\n"
                        "  %v = load i64, ptr %e\n"
                        "  store i64 %v, ptr %y\n"));
    assert_portable(
        "define internal void @f(ptr %q) noinline {\n"
        "  store i32 1, ptr %q\n  ret void\n}\n"
        "define internal void @g(ptr %q) noinline {\n"
        "  store i32 2, ptr %q\n  ret void\n}\n"
        "@t = internal constant [2 x ptr] [ptr @f, ptr @g]\n" KERNEL(
            "  %e = getelementptr ptr, ptr @t, i64 %n\n"
            "  %f = load ptr, ptr %e\n"
            "  call void %f(ptr %y)\n"));
}

/* The item's launch is read from memory that the backend filled. */
static void failures_off_the_way_are_portable(void **state)
{
    (void)state;
    assert_portable(
        "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n"
        "@m = internal constant [2 x i8] c\"m\\00\"\n"
        "define internal void @fail(ptr %item, i64 %v) noinline {\n"
        "  call void @kiln_raise(ptr %item, i32 1, ptr @m, i32 1, ptr @m,"
        " i64 %v, i64 1000000007)\n"
        "  ret void\n}\n"
        "define i32 @k(" ITEM ", ptr %y, i64 %n) {\n"
        "  store i64 1000000007, ptr %y\n"
        "  %c = icmp eq i64 %n, 0\n"
        "  br i1 %c, label %bad, label %good\n"
        "bad:\n"
        "  call void @fail(ptr %item, i64 1000000009)\n"
        "  ret i32 1\n"
        "good:\n  ret i32 0\n}\n");
}

/* ---- kernels as frontends make them ---- */

#define LARGE "6364136223846793005" /* a generator's factor */
#define HASH "-7046029254386353131" /* another's, of 64 bits */
#define NOINLINE "noinline nounwind"

static void frames_of_pointers_and_numbers_are_portable(void **state)
{
    (void)state;
    /* A struct on the stack, whose address goes to a function. */
    assert_portable("define internal void @f(ptr %s) " NOINLINE " {\n"
                    "  %p = load ptr, ptr %s\n"
                    "  %e = getelementptr i8, ptr %s, i64 8\n"
                    "  %v = load i64, ptr %e\n"
                    "  store i64 %v, ptr %p\n  ret void\n}\n" KERNEL(
                        "  %s = alloca { ptr, i64 }\n"
                        "  store ptr %y, ptr %s\n"
                        "  %e = getelementptr i8, ptr %s, i64 8\n"
                        "  store i64 " LARGE ", ptr %e\n"
                        "  call void @f(ptr %s)\n"));
    /* An array of such frames, at an index that is known at the launch. */
    assert_portable(KERNEL("  %s = alloca [4 x { ptr, i64 }]\n"
                           "  %m = and i64 %n, 3\n"
                           "  %a = getelementptr { ptr, i64 }, ptr %s, i64 %m\n"
                           "  store ptr %y, ptr %a\n"
                           "  %e = getelementptr i8, ptr %a, i64 8\n"
                           "  store i64 1000000007, ptr %e\n"
                           "  %p = load volatile ptr, ptr %s\n"
                           "  store i64 1, ptr %p\n"));
    /* The copy of a frame. */
    assert_portable(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
        "define internal void @f(ptr %s) " NOINLINE " {\n"
        "  %p = load ptr, ptr %s\n  store i32 1, ptr %p\n  ret "
        "void\n}\n" KERNEL(
            "  %s = alloca { ptr, i64 }\n"
            "  %t = alloca { ptr, i64 }\n"
            "  store ptr %y, ptr %s\n"
            "  %e = getelementptr i8, ptr %s, i64 8\n"
            "  store i64 " HASH ", ptr %e\n"
            "  call void @llvm.memcpy.p0.p0.i64(ptr %t, ptr %s, i64 16, i1 0)\n"
            "  call void @f(ptr %t)\n"));
    /* A union. */
    assert_portable(KERNEL("  %u = alloca i64\n"
                           "  %z = icmp eq i64 %n, 0\n"
                           "  br i1 %z, label %a, label %b\n"
                           "a:\n  store volatile i64 1000000007, ptr %u\n"
                           "  br label %c\n"
                           "b:\n  store volatile ptr %y, ptr %u\n"
                           "  %p = load volatile ptr, ptr %u\n"
                           "  store i32 1, ptr %p\n  br label %c\nc:\n"));
    /* A list in an array. */
    assert_portable(KERNEL(
        "  %s = alloca [4 x { ptr, i64 }]\n"
        "  %a = getelementptr i8, ptr %s, i64 16\n"
        "  store volatile ptr %a, ptr %s\n"
        "  %v = getelementptr i8, ptr %s, i64 8\n"
        "  store volatile i64 1000000007, ptr %v\n"
        "  store volatile ptr null, ptr %a\n  br label %l\n"
        "l:\n  %p = phi ptr [%s, %0], [%q, %l]\n"
        "  %q = load volatile ptr, ptr %p\n"
        "  %e = icmp eq ptr %q, null\n  br i1 %e, label %d, label %l\nd:\n"));
}

static const char *const of_arguments[] = {
    /* A number of the launch, as it is, and with an offset. */
    "  %p = inttoptr i64 %n to ptr\n  store i32 1, ptr %p\n",
    "  %a = add i64 %n, 64\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    "  %a = add i64 %n, 1048576\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    "  %a = add i64 %n, -1048576\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    /* Tags below and above it. */
    "  %a = and i64 %n, -8\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    "  %a = and i64 %n, 281474976710655\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    "  %a = xor i64 %n, -1125899906842624\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    "  %s = shl i64 %n, 16\n  %a = ashr i64 %s, 16\n"
    "  %p = inttoptr i64 %a to ptr\n  store i32 1, ptr %p\n",
    /* Compressed. */
    "  %t = trunc i64 %n to i32\n  %w = zext i32 %t to i64\n"
    "  %a = shl i64 %w, 3\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    /* A place that a hash chooses. */
    "  %h = mul i64 %n, " HASH "\n  %i = lshr i64 %h, 60\n"
    "  %o = shl i64 %i, 3\n  %b = load i64, ptr %y\n"
    "  %a = add i64 %b, %o\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    /* A table of pointers. */
    "  %e = getelementptr ptr, ptr %y, i64 %n\n  %p = load ptr, ptr %e\n"
    "  store i64 " LARGE ", ptr %p\n",
    /* Loops over addresses that are numbers. */
    "  %e = add i64 %n, 64\n  br label %l\n"
    "l:\n  %a = phi i64 [%n, %0], [%b, %l]\n  %p = inttoptr i64 %a to ptr\n"
    "  store volatile i32 1, ptr %p\n  %b = add i64 %a, 8\n"
    "  %d = icmp eq i64 %b, %e\n  br i1 %d, label %x, label %l\nx:\n",
    /* The least of two, and one that is aligned. */
    "  %v = load i64, ptr %y\n  %l = icmp ult i64 %n, %v\n"
    "  %a = select i1 %l, i64 %n, i64 %v\n  %u = add i64 %a, 63\n"
    "  %r = and i64 %u, -64\n  %p = inttoptr i64 %r to ptr\n"
    "  store i32 1, ptr %p\n",
    /* Of two halves that are given. */
    "  %l = load i32, ptr %y\n  %q = getelementptr i32, ptr %y, i64 1\n"
    "  %h = load i32, ptr %q\n  %b = zext i32 %h to i64\n"
    "  %s = shl i64 %b, 32\n  %c = zext i32 %l to i64\n"
    "  %a = or i64 %s, %c\n  %p = inttoptr i64 %a to ptr\n"
    "  store i32 1, ptr %p\n",
    /* A sentinel. */
    "  %z = icmp eq i64 %n, 0\n  %a = select i1 %z, i64 1, i64 %n\n"
    "  %p = inttoptr i64 %a to ptr\n  store ptr %p, ptr %y\n",
};

static void arguments_may_be_addresses(void **state)
{
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof of_arguments / sizeof of_arguments[0]; i++) {
        snprintf(
            text, sizeof text,
            "define i32 @k(ptr %%item, ptr %%y, i64 %%n) {\n%s  ret i32 0\n"
            "}\n",
            of_arguments[i]);
        assert_portable(text);
        snprintf(text, sizeof text,
                 "define internal void @f(ptr %%y, i64 %%n) " NOINLINE
                 " {\n%s  ret void\n}\n"
                 "define i32 @k(ptr %%item, ptr %%y, i64 %%n) {\n"
                 "  call void @f(ptr %%y, i64 %%n)\n  ret i32 0\n}\n",
                 of_arguments[i]);
        assert_portable(text);
    }
}

/* ---- addresses that are kept as numbers ---- */

static void an_address_that_stays_a_number_is_found(void **state)
{
    static const char *const kernels[] = {
        "  store i64 " ADDRESS ", ptr %y\n",
        "  store i64 -" ADDRESS ", ptr %y\n",
        "  store <2 x i64> <i64 1, i64 " ADDRESS ">, ptr %y\n",
        "  store { i32, i64 } { i32 1, i64 " ADDRESS " }, ptr %y\n",
        "  store double 0x00007F0000001000, ptr %y\n",
        "  store double 0x7FFC7F0000001000, ptr %y\n",
        "  %v = load i64, ptr %y\n  %e = icmp eq i64 %v, " ADDRESS "\n"
        "  %w = zext i1 %e to i32\n  store i32 %w, ptr %y\n",
        "  %v = xor i64 %n, " ADDRESS "\n  store i64 %v, ptr %y\n",
        "  %z = icmp eq i64 %n, 0\n  %v = select i1 %z, i64 " ADDRESS
        ", i64 5\n  store i64 %v, ptr %y\n",
        "  %v = atomicrmw xchg ptr %y, i64 " ADDRESS " seq_cst\n",
        "  %v = cmpxchg ptr %y, i64 0, i64 " ADDRESS " seq_cst seq_cst\n",
        "  call void @f(ptr %y, i64 " ADDRESS ")\n",
        "  call void @g(ptr %y, ptr inttoptr (i64 " ADDRESS " to ptr))\n",
        "  %v = call i64 @h()\n  store i64 %v, ptr %y\n",
        "  %m = and i64 %n, 1\n  %e = getelementptr i64, ptr @t, i64 %m\n"
        "  %v = load i64, ptr %e\n  store i64 %v, ptr %y\n",
        "  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr @b, i64 11, i1 0)\n",
    };
    static const char head[] =
        "define internal void @f(ptr %p, i64 %v) " NOINLINE " {\n"
        "  store i64 %v, ptr %p\n  ret void\n}\n"
        "define internal void @g(ptr %p, ptr %v) " NOINLINE " {\n"
        "  store ptr %v, ptr %p\n  ret void\n}\n"
        "define internal i64 @h() " NOINLINE " optnone {\n"
        "  ret i64 " ADDRESS "\n}\n"
        "@t = internal constant [2 x i64] [i64 7, i64 " ADDRESS "]\n"
        "@b = internal constant [11 x i8]"
        " c\"abc\\00\\10\\00\\00\\00\\7f\\00\\00\"\n"
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n";
    char text[4096];

    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        snprintf(text, sizeof text,
                 "%sdefine i32 @k(ptr %%item, ptr %%y, i64 %%n) {\n%s  ret i32 "
                 "0\n}\n",
                 head, kernels[i]);
        assert_session(text);
    }
}

/* Eight bytes of it are in the range of addresses. */
static void one_narrow_number_again_and_again_is_no_address(void **state)
{
    (void)state;
    assert_portable(KERNEL("  %x = load <8 x i32>, ptr %y\n"
                           "  %v = and <8 x i32> %x, splat (i32 32767)\n"
                           "  store <8 x i32> %v, ptr %y\n"));
    assert_session(KERNEL("  %x = load <4 x i32>, ptr %y\n"
                          "  %v = xor <4 x i32> %x, "
                          "<i32 4096, i32 32512, i32 4096, i32 32512>\n"
                          "  store <4 x i32> %v, ptr %y\n"));
}

static void an_address_of_pieces_is_found_where_it_is_a_pointer(void **state)
{
    (void)state;
    /* Two halves, which no pass puts together. */
    assert_session("define internal void @f(i64 %h, i64 %l) " NOINLINE
                   " optnone {\n"
                   "  %s = shl i64 %h, 32\n  %a = or i64 %s, %l\n"
                   "  %p = inttoptr i64 %a to ptr\n"
                   "  store i32 1, ptr %p\n  ret void\n}\n" KERNEL(
                       "  call void @f(i64 32512, i64 4096)\n"));
    assert_session("define internal i64 @h() " NOINLINE " optnone {\n"
                   "  ret i64 81985529216486895\n}\n" KERNEL(
                       "  %v = call i64 @h()\n"
                       "  %a = xor i64 %v, 81862870063861231\n"
                       "  %p = inttoptr i64 %a to ptr\n"
                       "  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  %z = icmp eq i64 %n, 0\n"
                          "  %a = select i1 %z, i64 1048576, i64 2097152\n"
                          "  %p = inttoptr i64 %a to ptr\n"
                          "  store i32 1, ptr %p\n"));
    /* Where a table begins, beside an index. */
    assert_session(KERNEL("  %s = shl i64 %n, 3\n  %a = add i64 %s, 6295552\n"
                          "  %p = inttoptr i64 %a to ptr\n"
                          "  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  %a = add i64 %n, 549755813888\n"
                          "  %p = inttoptr i64 %a to ptr\n"
                          "  store i32 1, ptr %p\n"));
}

static void dead_code_and_metadata_are_no_reason(void **state)
{
    static const char head[] =
        "@t = internal constant i64 " ADDRESS "\n"
        "define void @f() {\n  store i32 1, ptr inttoptr (i64 " ADDRESS
        " to ptr)\n  ret void\n}\n";
    char text[1024];

    (void)state;
    for (uint8_t level = 0; level <= 3; level++) {
        snprintf(text, sizeof text, "%s%s", head,
                 KERNEL("  store i32 1, ptr %y\n"));
        assert_int_equal(class_at(text, level), KILN_RELOCATION_PORTABLE);
        snprintf(text, sizeof text, "%s%s", head,
                 KERNEL("  br i1 false, label %a, label %b\n"
                        "a:\n  call void @f()\n  br label %b\nb:\n"));
        assert_int_equal(class_at(text, level), KILN_RELOCATION_PORTABLE);
        assert_int_equal(class_at("!0 = !{i64 " ADDRESS "}\n" KERNEL(
                                      "  store i32 1, ptr %y, !mine !0\n"),
                                  level),
                         KILN_RELOCATION_PORTABLE);
    }
}

/* ---- what no job gets as far as ---- */

static int32_t class_of_module(const char *text)
{
    static const kiln__codegen_backend backend = {0};
    kiln__codegen_job job = {.backend = &backend};
    outcome o;
    char *message = NULL;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "");
    int32_t relocation;

    prepare(&o, text, KILN_EMIT_BINARY, NULL, 0);
    job.request = &o.request;
    job.settings = &o.settings;
    kiln__arena_init(&job.arena, &kiln__malloc);
    job.context = LLVMContextCreate();
    if (LLVMParseIRInContext2(job.context, buffer, &job.module, &message))
        fail_msg("%s", message);
    LLVMDisposeMemoryBuffer(buffer);
    relocation = kiln__relocation_class(&job);
    LLVMDisposeModule(job.module);
    LLVMContextDispose(job.context);
    kiln__arena_dispose(&job.arena);
    return relocation;
}

static void thread_local_and_absolute_variables_are_of_the_session(void **state)
{
    (void)state;
    assert_int_equal(class_of_module("@t = thread_local global i32 0\n"),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(class_of_module("@e = external global i32\n"),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(
        class_of_module("@a = alias i32, inttoptr (i64 " ADDRESS " to ptr)\n"),
        KILN_RELOCATION_SESSION);
    assert_int_equal(class_of_module("@z = internal global i32 7\n"),
                     KILN_RELOCATION_PORTABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_baked_address_is_found),
        cmocka_unit_test(an_address_in_a_constant_expression_is_found),
        cmocka_unit_test(an_address_in_a_table_is_found),
        cmocka_unit_test(an_address_in_memory_of_its_own_is_found),
        cmocka_unit_test(an_address_that_functions_pass_on_is_found),
        cmocka_unit_test(numbers_and_given_pointers_are_portable),
        cmocka_unit_test(failures_off_the_way_are_portable),
        cmocka_unit_test(frames_of_pointers_and_numbers_are_portable),
        cmocka_unit_test(arguments_may_be_addresses),
        cmocka_unit_test(an_address_that_stays_a_number_is_found),
        cmocka_unit_test(one_narrow_number_again_and_again_is_no_address),
        cmocka_unit_test(an_address_of_pieces_is_found_where_it_is_a_pointer),
        cmocka_unit_test(dead_code_and_metadata_are_no_reason),
        cmocka_unit_test(
            thread_local_and_absolute_variables_are_of_the_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
