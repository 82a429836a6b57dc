/* test_generate.c - requests through the border of libkiln-codegen. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "codegen/generate.h"
#include "support/codegen/request.h"

static const char bounds[] =
    QUERIES "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n"
            "@method = constant [7 x i8] c\"toy.k1\\00\"\n"
            "@message = constant [4 x i8] c\"out\\00\"\n"
            "define i32 @k(" ITEM ", ptr %y, i64 %ny) {\n"
            "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n"
            "  %in = icmp ult i64 %i, %ny\n"
            "  br i1 %in, label %do, label %out\n"
            "do:\n"
            "  %py = getelementptr i32, ptr %y, i64 %i\n"
            "  store i32 7, ptr %py\n"
            "  ret i32 0\n"
            "out:\n"
            "  call void @kiln_raise(ptr %item, i32 1, ptr @method, i32 12,\n"
            "                        ptr @message, i64 %i, i64 %ny)\n"
            "  ret i32 1\n"
            "}\n";

/* LLVM rounds to no integers of 16 bits, and gives up. */
static const char unselectable[] =
    "declare i16 @llvm.lrint.i16.f32(float)\n"
    "define i32 @k(" ITEM ", ptr %y, i64 %ny) {\n"
    "  %v = load float, ptr %y\n"
    "  %t = call i16 @llvm.lrint.i16.f32(float %v)\n"
    "  store i16 %t, ptr %y\n"
    "  ret i32 0\n"
    "}\n";

/* ---- the border ---- */

static void another_build_or_interface_is_a_mismatch(void **state)
{
    kiln__codegen_host host = {
        .size = sizeof host,
        .abi = KILN__CODEGEN_ABI,
        .build_id = "another",
    };
    const kiln__codegen *table = NULL;

    (void)state;

    assert_int_equal(kiln_codegen_exchange(&host, &table), KILN_EMISMATCH);
    host.build_id = kiln__codegen_build_id;
    host.abi++;
    assert_int_equal(kiln_codegen_exchange(&host, &table), KILN_EMISMATCH);
    assert_null(table);
}

static void the_table_names_llvm_and_the_backends(void **state)
{
    (void)state;

    assert_int_equal(strncmp(codegen()->llvm_version, "22.", 3), 0);
    assert_true(codegen()->supports("host"));
    assert_false(codegen()->supports("abacus"));
}

/* ---- kernels ---- */

static void saxpy_runs_and_is_portable(void **state)
{
    enum { N = 1000 };
    static float x[N], y[N];
    const struct {
        float *y;
        int64_t ny;
        float a;
        float *x;
        int64_t nx;
    } arguments = {y, N, 2.0f, x, N};
    launch l = make_launch(1024, 1, 1, 256, 1, 1);
    outcome o;

    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }

    prepare(&o, saxpy, KILN_EMIT_BINARY, saxpy_types, 3);
    assert_built(&o);

    assert_string_equal(o.format, "elf");
    assert_int_equal(o.relocation, KILN_RELOCATION_PORTABLE);
    assert_false(o.can_fail);
    assert_int_equal(o.stage_count, 4);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == 2.0f * (float)i + 1.0f);
    free(o.bytes);
}

static void every_level_of_optimisation_gives_the_same_result(void **state)
{
    (void)state;

    for (uint8_t level = 0; level <= 3; level++) {
        float x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
        const struct {
            float *y;
            int64_t ny;
            float a;
            float *x;
            int64_t nx;
        } arguments = {y, 3, 0.5f, x, 3};
        launch l = make_launch(8, 1, 1, 3, 1, 1);
        outcome o;

        prepare(&o, saxpy, KILN_EMIT_BINARY, saxpy_types, 3);
        o.settings.opt_level = level;
        assert_built(&o);
        assert_int_equal(run_image(&o, &l, &arguments), 0);
        assert_true(y[0] == 10.5f && y[1] == 21.0f && y[2] == 31.5f);
        free(o.bytes);
    }
}

static void equal_requests_give_equal_bytes(void **state)
{
    outcome a;
    outcome b;

    (void)state;
    prepare(&a, saxpy, KILN_EMIT_BINARY, saxpy_types, 3);
    prepare(&b, saxpy, KILN_EMIT_BINARY, saxpy_types, 3);

    assert_built(&a);
    assert_built(&b);

    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    free(a.bytes);
    free(b.bytes);
}

/* Each item writes its ids and the sizes into its own row. */
static const char all_queries[] = QUERIES
    "define i64 @q(" ITEM ", i32 %w, i32 %d) {\n"
    "  switch i32 %w, label %e [i32 0, label %a\n i32 1, label %b\n"
    "    i32 2, label %c\n i32 3, label %f\n i32 4, label %g]\n"
    "a:\n %va = call i64 @kiln_global_id(ptr %item, i32 %d)\n ret i64 %va\n"
    "b:\n %vb = call i64 @kiln_local_id(ptr %item, i32 %d)\n ret i64 %vb\n"
    "c:\n %vc = call i64 @kiln_group_id(ptr %item, i32 %d)\n ret i64 %vc\n"
    "f:\n %vf = call i64 @kiln_global_size(ptr %item, i32 %d)\n ret i64 %vf\n"
    "g:\n %vg = call i64 @kiln_local_size(ptr %item, i32 %d)\n ret i64 %vg\n"
    "e:\n %ve = call i64 @kiln_group_count(ptr %item, i32 %d)\n ret i64 %ve\n"
    "}\n"
    "define i32 @k(" ITEM ", ptr %y, i64 %n0, i64 %n1, i64 %s0, i64 %s1) {\n"
    "entry:\n"
    "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n"
    "  %yy = call i64 @kiln_global_id(ptr %item, i32 1)\n"
    "  %z = call i64 @kiln_global_id(ptr %item, i32 2)\n"
    "  %w = call i64 @kiln_global_size(ptr %item, i32 0)\n"
    "  %h = call i64 @kiln_global_size(ptr %item, i32 1)\n"
    "  %zh = mul i64 %z, %h\n %r = add i64 %zh, %yy\n"
    "  %rw = mul i64 %r, %w\n %l = add i64 %rw, %x\n"
    "  %row = mul i64 %l, %s1\n"
    "  br label %loop\n"
    "loop:\n"
    "  %i = phi i64 [0, %entry], [%i1, %loop]\n"
    "  %t = trunc i64 %i to i32\n"
    "  %q = udiv i32 %t, 3\n %d = urem i32 %t, 3\n"
    "  %v = call i64 @q(ptr %item, i32 %q, i32 %d)\n"
    "  %at = add i64 %row, %i\n"
    "  %p = getelementptr i64, ptr %y, i64 %at\n"
    "  store i64 %v, ptr %p\n"
    "  %i1 = add i64 %i, 1\n"
    "  %m = icmp ult i64 %i1, %n0\n"
    "  br i1 %m, label %loop, label %end\n"
    "end:\n"
    "  ret i32 0\n"
    "}\n";

static void ids_and_sizes_are_those_of_the_grid(void **state)
{
    static const char *const types[] = {"i64[strided :, :]"};
    static int64_t y[5 * 3 * 2][18];
    const struct {
        void *y;
        int64_t sizes[2];
        int64_t strides[2];
    } arguments = {y, {18, 30}, {1, 18}};
    launch l = make_launch(5, 3, 2, 2, 2, 1);
    outcome o;

    (void)state;
    prepare(&o, all_queries, KILN_EMIT_BINARY, types, 1);
    assert_built(&o);
    assert_int_equal(run_image(&o, &l, &arguments), 0);

    for (int64_t n = 0; n < 30; n++) {
        const int64_t x = n % 5, yy = n / 5 % 3, z = n / 15;
        const int64_t expected[18] = {x,     yy,     z, x % 2, yy % 2, 0,
                                      x / 2, yy / 2, z, 5,     3,      2,
                                      2,     2,      1, 3,     2,      2};

        assert_memory_equal(y[n], expected, sizeof expected);
    }
    free(o.bytes);
}

static void arguments_stand_at_their_natural_alignment(void **state)
{
    static const char module[] =
        "define i32 @k(" ITEM ", i8 %a, double %b, i16 %c, ptr %s, i8 %t,\n"
        "              ptr %y, i64 %n) {\n"
        "  %a1 = sitofp i8 %a to double\n"
        "  %c1 = sitofp i16 %c to double\n"
        "  %s1 = load i32, ptr %s\n"
        "  %s2 = sitofp i32 %s1 to double\n"
        "  %t1 = uitofp i8 %t to double\n"
        "  store double %a1, ptr %y\n"
        "  %p1 = getelementptr double, ptr %y, i64 1\n"
        "  store double %b, ptr %p1\n"
        "  %p2 = getelementptr double, ptr %y, i64 2\n"
        "  store double %c1, ptr %p2\n"
        "  %p3 = getelementptr double, ptr %y, i64 3\n"
        "  store double %s2, ptr %p3\n"
        "  %p4 = getelementptr double, ptr %y, i64 4\n"
        "  store double %t1, ptr %p4\n"
        "  ret i32 0\n"
        "}\n";
    static const char *const types[] = {"i8",    "f64",  "Static{3}", "i16",
                                        "toy.S", "bool", "f64[:]"};
    static const uint64_t sizes[] = {1, 8, 0, 2, 12, 1, 16};
    static const uint64_t alignments[] = {1, 8, 1, 2, 4, 1, 8};
    double y[5] = {0};
    const struct {
        int8_t a;
        double b;
        int16_t c;
        int32_t s[3];
        uint8_t t;
        double *y;
        int64_t n;
    } arguments = {-3, 2.5, -300, {77, 0, 0}, 1, y, 5};
    const double expected[] = {-3, 2.5, -300, 77, 1};
    launch l = make_launch(1, 1, 1, 1, 1, 1);
    outcome o;

    (void)state;
    prepare(&o, module, KILN_EMIT_BINARY, types, 7);
    o.request.argument_sizes = sizes;
    o.request.argument_alignments = alignments;
    assert_built(&o);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    assert_memory_equal(y, expected, sizeof y);
    free(o.bytes);
}

static void an_exception_is_recorded_and_ends_the_launch(void **state)
{
    int32_t y[70] = {0};
    const struct {
        int32_t *y;
        int64_t n;
    } arguments = {y, 70};
    launch l = make_launch(100, 1, 1, 16, 1, 1);
    outcome o;

    (void)state;
    prepare(&o, bounds, KILN_EMIT_BINARY, one_array, 1);
    assert_built(&o);

    assert_true(o.can_fail);
    assert_int_equal(run_image(&o, &l, &arguments), 1);
    assert_int_equal(l.raised, 1);
    assert_int_equal(l.kind, 1);
    assert_int_equal(l.ordinal, 12);
    assert_string_equal(l.method, "toy.k1");
    assert_string_equal(l.message, "out");
    assert_int_equal(l.values[0], 70);
    assert_int_equal(l.values[1], 70);
    assert_int_equal(l.item.global_id[0], 70);
    assert_int_equal(l.item.local_id[0], 6);
    assert_int_equal(l.item.group_id[0], 4);
    assert_ptr_equal(l.item.launch, &l.head);
    for (int i = 0; i < 70; i++)
        assert_int_equal(y[i], 7);

    /* A launch that has failed elsewhere runs nothing. */
    memset(y, 0, sizeof y);
    assert_int_equal(run_image(&o, &l, &arguments), 1);
    assert_int_equal(l.raised, 1);
    assert_int_equal(y[0], 0);
    free(o.bytes);
}

/* An item's private memory that stays in memory: found in no loop that is
   vectorised as if iterations did not share it. */
static void private_memory_belongs_to_one_item(void **state)
{
    static const char module[] =
        QUERIES "define i32 @k(" ITEM ", ptr %y, i64 %n) {\n"
                "  %t = alloca [4 x i32]\n"
                "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n"
                "  %v = trunc i64 %i to i32\n"
                "  %m = and i64 %i, 3\n"
                "  %p = getelementptr [4 x i32], ptr %t, i64 0, i64 %m\n"
                "  store i32 %v, ptr %t\n"
                "  store i32 %v, ptr %p\n"
                "  %l = load i32, ptr %t\n"
                "  %q = getelementptr i32, ptr %y, i64 %i\n"
                "  store i32 %l, ptr %q\n"
                "  ret i32 0\n"
                "}\n";
    int32_t y[64] = {0};
    const struct {
        int32_t *y;
        int64_t n;
    } arguments = {y, 64};
    launch l = make_launch(64, 1, 1, 64, 1, 1);
    outcome o;

    (void)state;
    prepare(&o, module, KILN_EMIT_BINARY, one_array, 1);
    assert_built(&o);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    for (int i = 0; i < 64; i++)
        assert_int_equal(y[i], i);
    free(o.bytes);
}

/* ---- text forms ---- */

static void text_forms_show_the_stages(void **state)
{
    outcome o;

    (void)state;

    prepare(&o, saxpy, KILN_EMIT_LLVM, saxpy_types, 3);
    assert_built(&o);
    assert_contains(o.bytes, "@k.item(");
    assert_contains(o.bytes, "llvm.loop.parallel_accesses");
    assert_null(strstr(o.bytes, "x float>"));
    free(o.bytes);

    prepare(&o, saxpy, KILN_EMIT_LLVM_OPT, saxpy_types, 3);
    o.settings.features = "+avx2";
    assert_built(&o);
    assert_contains(o.bytes, "<8 x float>");
    assert_null(strstr(o.bytes, "@k.item("));
    free(o.bytes);

    prepare(&o, saxpy, KILN_EMIT_ASM, saxpy_types, 3);
    assert_built(&o);
    assert_contains(o.bytes, "mulss");
    assert_string_equal(o.format, "asm");
    free(o.bytes);
}

static void the_target_chooses_the_instructions(void **state)
{
    outcome o;

    (void)state;
    prepare(&o, saxpy, KILN_EMIT_ASM, saxpy_types, 3);
    o.settings.features = "+avx2,+fma";
    assert_built(&o);
    assert_contains(o.bytes, "ymm");
    free(o.bytes);

    prepare(&o, saxpy, KILN_EMIT_ASM, saxpy_types, 3);
    o.settings.features = "+avx2,+sliderule";
    run(&o);
    assert_int_equal(o.status, KILN_EUNSUPPORTED);
    assert_contains(o.message, "+sliderule");
}

/* ---- threads ---- */

typedef struct parked {
    outcome o;
    pthread_mutex_t lock;
    pthread_cond_t told;
    int fatal;
    int done;
} parked;

static void take_fatal(void *env, const char *message)
{
    parked *p = (parked *)env;

    pthread_mutex_lock(&p->lock);
    snprintf(p->o.message, sizeof p->o.message, "%s", message);
    p->fatal = 1;
    pthread_cond_signal(&p->told);
    pthread_mutex_unlock(&p->lock);
}

static void *generate_to_the_end(void *argument)
{
    parked *p = argument;

    p->o.status = codegen()->generate(&p->o.request);
    pthread_mutex_lock(&p->lock);
    p->done = 1;
    pthread_cond_signal(&p->told);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void a_fatal_error_in_llvm_ends_the_request_only(void **state)
{
    static parked p; /* the thread stays, and so does what it holds */
    pthread_t thread;
    outcome later;

    (void)state;
    (void)codegen();
    prepare(&p.o, unselectable, KILN_EMIT_BINARY, one_array, 1);
    p.o.request.env = &p;
    p.o.request.fatal = take_fatal;
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.told, NULL);

    assert_int_equal(pthread_create(&thread, NULL, generate_to_the_end, &p), 0);
    pthread_mutex_lock(&p.lock);
    while (!p.fatal && !p.done)
        pthread_cond_wait(&p.told, &p.lock);
    pthread_mutex_unlock(&p.lock);

    assert_true(p.fatal);
    assert_false(p.done);
    assert_contains(p.o.message, "LLVM cannot go on");
    prepare(&later, saxpy, KILN_EMIT_BINARY, saxpy_types, 3);
    assert_built(&later);
    free(later.bytes);
    pthread_detach(thread);
}

static void a_frame_that_no_stack_holds_is_refused(void **state)
{
    static const char module[] =
        "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n"
        "define i32 @k(" ITEM ", ptr %y, i64 %n) {\n"
        "  %a = alloca [1048576 x i8]\n"
        "  store volatile i8 1, ptr %a\n"
        "  %p = getelementptr i8, ptr %a, i64 %n\n"
        "  %v = load volatile i8, ptr %p\n"
        "  %w = zext i8 %v to i32\n"
        "  store i32 %w, ptr %y\n"
        "  ret i32 0\n"
        "}\n";
    outcome o;

    (void)state;
    prepare(&o, module, KILN_EMIT_BINARY, one_array, 1);
    run(&o);

    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_int_equal(o.failed, 1);
    assert_contains(o.message, "stack frame size");
}

static thread_report threads = THREAD_REPORT_INIT;
static outcome reference;

static void *generate_repeatedly(void *argument)
{
    (void)argument;
    for (int i = 0; i < 5; i++) {
        outcome o;

        prepare(&o, saxpy, KILN_EMIT_BINARY, saxpy_types, 3);
        run(&o);
        thread_assert(&threads, o.status == KILN_OK);
        thread_assert(&threads, o.size == reference.size);
        thread_assert(&threads,
                      o.bytes != NULL && memcmp(o.bytes, reference.bytes,
                                                reference.size) == 0);
        free(o.bytes);
    }
    return NULL;
}

static void threads_generate_at_the_same_time(void **state)
{
    (void)state;
    prepare(&reference, saxpy, KILN_EMIT_BINARY, saxpy_types, 3);
    assert_built(&reference);
    harness_run_threads(2, generate_repeatedly, NULL);
    assert_threads_ok(&threads);
    free(reference.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_build_or_interface_is_a_mismatch),
        cmocka_unit_test(the_table_names_llvm_and_the_backends),
        cmocka_unit_test(saxpy_runs_and_is_portable),
        cmocka_unit_test(every_level_of_optimisation_gives_the_same_result),
        cmocka_unit_test(equal_requests_give_equal_bytes),
        cmocka_unit_test(ids_and_sizes_are_those_of_the_grid),
        cmocka_unit_test(arguments_stand_at_their_natural_alignment),
        cmocka_unit_test(an_exception_is_recorded_and_ends_the_launch),
        cmocka_unit_test(private_memory_belongs_to_one_item),
        cmocka_unit_test(text_forms_show_the_stages),
        cmocka_unit_test(the_target_chooses_the_instructions),
        cmocka_unit_test(a_frame_that_no_stack_holds_is_refused),
        cmocka_unit_test(a_fatal_error_in_llvm_ends_the_request_only),
        cmocka_unit_test(threads_generate_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
