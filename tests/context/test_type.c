/* test_type.c - types: made once, laid out as in C, written and read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread fault */
#include <stdio.h>
#include <string.h>

#include "context/context.h"
#include "context/types/types.h"
#include "support/harness.h"

static kiln_context *context;

static int setup(void **state)
{
    (void)state;
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kiln_context_free(context);
    return 0;
}

static const kiln_type *scalar(int32_t kind)
{
    return kiln_type_scalar(context, kind);
}

static const kiln_type *array(const kiln_type *element, uint32_t rank,
                              int32_t strided)
{
    const kiln_type *type = NULL;

    assert_ok(
        kiln_type_array(&type, context, element, rank, strided, &test_error));
    return type;
}

static const kiln_type *tuple(const kiln_type *const *elements, size_t count)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_tuple(&type, context, elements, count, &test_error));
    return type;
}

static const kiln_type *vector(const kiln_type *element, uint32_t length)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_vector(&type, context, element, length, &test_error));
    return type;
}

static const kiln_type *static_of(int64_t value)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_static(&type, context, value, &test_error));
    return type;
}

static const kiln_type *parsed(const char *text)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_parse(&type, context, NULL, text, &test_error));
    return type;
}

/* ---- identity ---- */

static void equal_types_are_one_pointer(void **state)
{
    const kiln_type *const parts[] = {scalar(KILN_TYPE_F32),
                                      scalar(KILN_TYPE_I64)};

    (void)state;

    assert_ptr_equal(array(parts[0], 2, 0), array(parts[0], 2, 0));
    assert_ptr_equal(tuple(parts, 2), tuple(parts, 2));
    assert_ptr_equal(vector(parts[0], 4), vector(parts[0], 4));
    assert_ptr_equal(static_of(3), static_of(3));
}

static void different_types_are_different_pointers(void **state)
{
    const kiln_type *const f32 = scalar(KILN_TYPE_F32);
    const kiln_type *const f64 = scalar(KILN_TYPE_F64);
    const kiln_type *const swapped[2][2] = {{f32, f64}, {f64, f32}};

    (void)state;

    assert_ptr_not_equal(array(f32, 2, 0), array(f32, 3, 0));
    assert_ptr_not_equal(array(f32, 2, 0), array(f32, 2, 1));
    assert_ptr_not_equal(array(f32, 2, 0), array(f64, 2, 0));
    assert_ptr_not_equal(tuple(swapped[0], 2), tuple(swapped[1], 2));
    assert_ptr_not_equal(tuple(swapped[0], 1), tuple(swapped[0], 2));
    assert_ptr_not_equal(tuple(NULL, 0), f32);
    assert_ptr_not_equal(vector(f32, 4), vector(f32, 3));
    assert_ptr_not_equal(static_of(3), static_of(-3));
}

static void ids_do_not_depend_on_the_context(void **state)
{
    static const char text[] = "Type{(f32, Vec{i8,3}, (), Static{-4})}";
    const kiln_type *here = parsed(text);
    kiln_context *second = NULL;
    const kiln_type *there = NULL;

    (void)state;
    assert_ok(kiln_context_new(&second, NULL, &test_error));
    assert_ok(kiln_type_parse(&there, second, NULL, text, &test_error));

    assert_ptr_not_equal(here, there);
    assert_true(kiln__digest_equal(here->id, there->id));
    kiln_context_free(second);
}

static void a_type_of_another_context_is_refused(void **state)
{
    kiln_context *second = NULL;
    const kiln_type *type = NULL;

    (void)state;
    assert_ok(kiln_context_new(&second, NULL, &test_error));

    assert_fails(KILN_EINVAL, "another context",
                 kiln_type_array(&type, second, scalar(KILN_TYPE_F32), 1, 0,
                                 &test_error));
    kiln_context_free(second);
}

static void a_scalar_that_does_not_exist_is_null(void **state)
{
    (void)state;

    assert_null(kiln_type_scalar(context, KILN_TYPE_TUPLE));
    assert_null(kiln_type_scalar(context, -1));
    assert_string_equal(kiln_type_text(scalar(KILN_TYPE_F32)), "f32");
    assert_int_equal(kiln_type_size(scalar(KILN_TYPE_NONE)), 0);
}

/* ---- layout ---- */

struct mixed {
    uint8_t a;
    uint16_t b;
    int64_t c;
    uint8_t flag;
};

struct nested {
    uint8_t a;
    struct mixed inner;
    float v[3];
    uint8_t end;
};

static void a_tuple_is_laid_out_as_a_c_struct(void **state)
{
    const kiln_type *const parts[] = {
        scalar(KILN_TYPE_U8), scalar(KILN_TYPE_F16), scalar(KILN_TYPE_I64),
        scalar(KILN_TYPE_BOOL)};
    const kiln_type *type = tuple(parts, 4);

    (void)state;

    assert_int_equal(kiln_type_size(type), sizeof(struct mixed));
    assert_int_equal(kiln_type_alignment(type), _Alignof(struct mixed));
    assert_int_equal(kiln_type_field_offset(type, 1),
                     offsetof(struct mixed, b));
    assert_int_equal(kiln_type_field_offset(type, 2),
                     offsetof(struct mixed, c));
    assert_int_equal(kiln_type_field_offset(type, 3),
                     offsetof(struct mixed, flag));
    assert_ptr_equal(kiln_type_field(type, 3), scalar(KILN_TYPE_BOOL));
    assert_null(kiln_type_field(type, 4));
    assert_null(kiln_type_field_name(type, 0));
}

static void nested_values_are_laid_out_as_in_c(void **state)
{
    const kiln_type *const inner[] = {
        scalar(KILN_TYPE_U8), scalar(KILN_TYPE_F16), scalar(KILN_TYPE_I64),
        scalar(KILN_TYPE_BOOL)};
    const kiln_type *const outer[] = {scalar(KILN_TYPE_I8), tuple(inner, 4),
                                      vector(scalar(KILN_TYPE_F32), 3),
                                      scalar(KILN_TYPE_U8)};
    const kiln_type *type = tuple(outer, 4);

    (void)state;

    assert_int_equal(kiln_type_size(type), sizeof(struct nested));
    assert_int_equal(kiln_type_alignment(type), _Alignof(struct nested));
    assert_int_equal(kiln_type_field_offset(type, 1),
                     offsetof(struct nested, inner));
    assert_int_equal(kiln_type_field_offset(type, 2),
                     offsetof(struct nested, v));
    assert_int_equal(kiln_type_field_offset(type, 3),
                     offsetof(struct nested, end));
}

static void scalars_have_the_size_and_alignment_of_cs(void **state)
{
    (void)state;
#define SAME(kind, type) \
    assert_int_equal(kiln_type_size(scalar(kind)), sizeof(type)); \
    assert_int_equal(kiln_type_alignment(scalar(kind)), _Alignof(type))
    SAME(KILN_TYPE_BOOL, _Bool);
    SAME(KILN_TYPE_I8, int8_t);
    SAME(KILN_TYPE_I16, int16_t);
    SAME(KILN_TYPE_I32, int32_t);
    SAME(KILN_TYPE_I64, int64_t);
    SAME(KILN_TYPE_U8, uint8_t);
    SAME(KILN_TYPE_U16, uint16_t);
    SAME(KILN_TYPE_U32, uint32_t);
    SAME(KILN_TYPE_U64, uint64_t);
    SAME(KILN_TYPE_F32, float);
    SAME(KILN_TYPE_F64, double);
    assert_int_equal(kiln_type_size(scalar(KILN_TYPE_F16)), 2);
}

static void vectors_are_arrays_of_their_elements(void **state)
{
    const kiln_type *type = vector(scalar(KILN_TYPE_F64), 3);

    (void)state;

    assert_int_equal(kiln_type_size(type), sizeof(double[3]));
    assert_int_equal(kiln_type_alignment(type), _Alignof(double));
    assert_int_equal(kiln_type_field_count(type), 3);
    assert_int_equal(kiln_type_field_offset(type, 2), 16);
    assert_ptr_equal(kiln_type_field(type, 2), scalar(KILN_TYPE_F64));
    assert_ptr_equal(kiln_type_element(type), scalar(KILN_TYPE_F64));
}

static void what_has_no_bytes_takes_no_room(void **state)
{
    const kiln_type *const parts[] = {static_of(7), scalar(KILN_TYPE_I32),
                                      tuple(NULL, 0)};
    const kiln_type *type = tuple(parts, 3);

    (void)state;

    assert_int_equal(kiln_type_size(type), 4);
    assert_int_equal(kiln_type_field_offset(type, 1), 0);
    assert_int_equal(kiln_type_size(tuple(NULL, 0)), 0);
    assert_int_equal(kiln_type_size(static_of(7)), 0);
}

/* ---- structs ---- */

static kiln_status pair(const kiln_type **out, const kiln_type *of,
                        uint64_t definition, const void *origin)
{
    static const char *const names[] = {"re", "im"};
    const kiln_type *const fields[] = {of, of};
    const kiln__struct_type description = {.package = "main",
                                           .name = "Pair",
                                           .definition =
                                               harness_digest(definition, 0),
                                           .parameters = &of,
                                           .parameter_count = 1,
                                           .field_types = fields,
                                           .field_names = names,
                                           .field_count = 2,
                                           .origin = origin};

    return kiln__type_struct(out, context, &description, &test_error);
}

static void a_struct_is_known_by_name_definition_and_parameters(void **state)
{
    const kiln_type *first = NULL, *again = NULL, *other = NULL, *edited = NULL;
    int origin[2];

    (void)state;
    assert_ok(pair(&first, scalar(KILN_TYPE_F32), 1, &origin[0]));
    assert_ok(pair(&again, scalar(KILN_TYPE_F32), 1, &origin[1]));
    assert_ok(pair(&other, scalar(KILN_TYPE_F64), 1, NULL));
    assert_ok(pair(&edited, scalar(KILN_TYPE_F32), 2, NULL));

    assert_ptr_equal(first, again);
    assert_ptr_equal(first->origin, &origin[0]);
    assert_ptr_not_equal(first, other);
    assert_ptr_not_equal(first, edited);
    assert_string_equal(first->text, edited->text);
    assert_false(kiln__digest_equal(first->id, edited->id));
    assert_string_equal(first->text, "main.Pair{f32}");
    assert_string_equal(kiln_type_field_name(first, 1), "im");
    assert_int_equal(kiln_type_field_offset(other, 1), 8);
}

static void a_struct_with_a_number_for_a_parameter_prints_it(void **state)
{
    const kiln_type *type = NULL;

    (void)state;
    assert_ok(kiln__type_struct(
        &type, context,
        &(kiln__struct_type){.package = "main",
                             .name = "Ring",
                             .parameters = (const kiln_type *[]){static_of(8)},
                             .parameter_count = 1},
        &test_error));

    assert_string_equal(type->text, "main.Ring{8}");
}

/* ---- what is refused ---- */

static void arrays_stand_at_the_top_only(void **state)
{
    const kiln_type *inner = array(scalar(KILN_TYPE_F32), 1, 0);
    const kiln_type *type = NULL;

    (void)state;

    assert_fails(KILN_EINVAL, "part of a tuple",
                 kiln_type_tuple(&type, context, &inner, 1, &test_error));
    assert_fails(KILN_EINVAL, "part of an array",
                 kiln_type_array(&type, context, inner, 1, 0, &test_error));
    assert_fails(KILN_EINVAL, "part of a struct", pair(&type, inner, 1, NULL));
    assert_fails(KILN_EINVAL, "made of scalars",
                 kiln_type_vector(&type, context, inner, 2, &test_error));
}

static void ranks_and_lengths_have_limits(void **state)
{
    const kiln_type *f32 = scalar(KILN_TYPE_F32);
    const kiln_type *nothing = static_of(1);
    const kiln_type *none = scalar(KILN_TYPE_NONE);
    const kiln_type *type = NULL;

    (void)state;

    assert_fails(KILN_EINVAL, "1 to 4 dimensions",
                 kiln_type_array(&type, context, f32, 0, 0, &test_error));
    assert_fails(KILN_EINVAL, "1 to 4 dimensions",
                 kiln_type_array(&type, context, f32, 5, 0, &test_error));
    assert_fails(KILN_EINVAL, "no bytes",
                 kiln_type_array(&type, context, nothing, 1, 0, &test_error));
    assert_fails(KILN_EINVAL, "length is 0",
                 kiln_type_vector(&type, context, f32, 0, &test_error));
    assert_fails(KILN_EINVAL, "no value",
                 kiln_type_tuple(&type, context, &none, 1, &test_error));
}

static void values_and_texts_that_grow_too_large_are_refused(void **state)
{
    const kiln_type *bytes = vector(scalar(KILN_TYPE_F64), 256);
    const kiln_type *empty = tuple(NULL, 0);
    kiln_status sizes = KILN_OK, texts = KILN_OK;

    (void)state;
    for (int i = 0; i < 40 && sizes == KILN_OK; i++) {
        const kiln_type *const two[] = {bytes, bytes};

        sizes = kiln_type_tuple(&bytes, context, two, 2, NULL);
    }
    for (int i = 0; i < 40 && texts == KILN_OK; i++) {
        const kiln_type *const two[] = {empty, empty};

        texts = kiln_type_tuple(&empty, context, two, 2, NULL);
    }

    assert_int_equal(sizes, KILN_EINVAL);
    assert_int_equal(texts, KILN_EINVAL);
}

/* ---- text ---- */

static void texts_read_back_as_the_same_type(void **state)
{
    static const char *const texts[] = {
        "none",
        "Bool",
        "f16",
        "u64",
        "f32[:]",
        "f32[:,:]",
        "i8[:,:,:,:]",
        "f32[strided :,:]",
        "(f32, i64)",
        "(f32,)",
        "()",
        "((), (f32,))",
        "Vec{f32,4}",
        "Vec{f32,4}[:]",
        "(f32, Vec{Bool,2})[strided :]",
        "Static{3}",
        "Static{-9223372036854775808}",
        "Static{9223372036854775807}",
        "Type{f32}",
        "Type{f32[:,:]}",
        "Type{Type{(f32, Static{0})}}",
    };

    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(kiln_type_text(parsed(texts[i])), texts[i]);
}

static void space_and_grouping_do_not_matter(void **state)
{
    (void)state;

    assert_ptr_equal(parsed(" ( f32 ,i64, ) "), parsed("(f32, i64)"));
    assert_ptr_equal(parsed("(f32)"), scalar(KILN_TYPE_F32));
    assert_ptr_equal(parsed("f32[ strided:, : ]"), parsed("f32[strided :,:]"));
    assert_ptr_equal(parsed("Vec{ f32, 4 }"), parsed("Vec{f32,4}"));
    assert_ptr_equal(parsed("Bool"), parsed("bool"));
}

static void bad_texts_are_refused_with_the_place(void **state)
{
    static const char *const texts[] = {
        "",
        "f33",
        "f32[",
        "f32[]",
        "f32[:",
        "f32[:,]",
        "f32[:,:,:,:,:]",
        "f32[stridedx :]",
        "f32 f32",
        "f32[:]]",
        "(",
        "(f32",
        "(f32 f32)",
        "(,)",
        "(f32,,)",
        "f32[:][:]",
        "(f32[:],)",
        "Vec",
        "Vec{f32}",
        "Vec{f32,}",
        "Vec{f32,0}",
        "Vec{f32,-1}",
        "Vec{f32,99999999999}",
        "Vec{(f32,),2}",
        "Static",
        "Static{}",
        "Static{f32}",
        "Static{9223372036854775808}",
        "Static{-}",
        "Type{}",
        "Type{f32",
        "typeof",
        "typeof()",
        "typeof(main.nothing)",
        "Complex{f32}",
        "main.Nothing",
        "1",
        "f32{4}",
        ".f32",
        "f32.",
        "\x01\xff",
    };
    const kiln_type *type = NULL;

    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (kiln_type_parse(&type, context, NULL, texts[i], &test_error) ==
            KILN_OK)
            fail_msg("'%s' was taken", texts[i]);
        assert_int_equal(kiln_error_status(test_error), KILN_EINVAL);
        kiln_error_free(test_error);
        test_error = NULL;
    }
    assert_null(type);
    assert_fails(
        KILN_EINVAL, "byte 6",
        kiln_type_parse(&type, context, NULL, "(f32 f32)", &test_error));
}

static void deep_and_long_texts_are_refused(void **state)
{
    static char text[100000];
    const kiln_type *type = NULL;

    (void)state;
    memset(text, '(', 5000);
    assert_fails(KILN_EINVAL, "less nesting",
                 kiln_type_parse(&type, context, NULL, text, &test_error));
    memset(text, '(', sizeof text - 1);
    assert_fails(KILN_EINVAL, "longer than",
                 kiln_type_parse(&type, context, NULL, text, &test_error));
}

/* ---- functions ---- */

static void a_function_has_a_type_of_its_own(void **state)
{
    const kiln_function *f = NULL, *plus = NULL;
    const kiln_type *first = NULL, *second = NULL;
    kiln_frontend *language = kiln_context_language(context);

    (void)state;
    assert_ok(kiln_function_new(&f, language, "main.f", NULL, &test_error));
    assert_ok(kiln_function_new(&plus, language, "main.+", NULL, &test_error));
    assert_ok(kiln_type_function(&first, context, f, &test_error));
    assert_ok(kiln_type_function(&second, context, plus, &test_error));

    assert_ptr_not_equal(first, second);
    assert_string_equal(kiln_type_text(first), "typeof(main.f)");
    assert_ptr_equal(parsed("typeof(main.f)"), first);
    assert_ptr_equal(parsed("typeof( main.+ )"), second);
    assert_int_equal(kiln_type_size(first), 0);
}

/* ---- foreign types ---- */

static kiln_status foreign(const kiln_type **out, const char *name,
                           uint64_t definition, uint64_t size,
                           uint32_t alignment)
{
    const kiln_foreign_type description = {.size = sizeof description,
                                           .package = "toy",
                                           .name = name,
                                           .definition =
                                               harness_digest(definition, 0),
                                           .value_size = size,
                                           .value_alignment = alignment};

    return kiln_type_foreign(out, context, &description, &test_error);
}

static void a_foreign_type_is_what_its_description_says(void **state)
{
    const kiln_type *first = NULL, *again = NULL, *edited = NULL;

    (void)state;
    assert_ok(foreign(&first, "Ball", 1, 24, 8));
    assert_ok(foreign(&again, "Ball", 1, 24, 8));
    assert_ok(foreign(&edited, "Ball", 2, 24, 8));

    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, edited);
    assert_int_equal(kiln_type_size(first), 24);
    assert_int_equal(kiln_type_alignment(first), 8);
    assert_string_equal(kiln_type_text(first), "toy.Ball");
    assert_ptr_equal(parsed("toy.Ball"), edited);
    assert_string_equal(kiln_type_text(parsed("(toy.Ball, f32)[:]")),
                        "(toy.Ball, f32)[:]");
}

static void a_foreign_name_may_look_like_anything(void **state)
{
    const kiln_type *type = NULL;

    (void)state;
    assert_ok(foreign(&type, "Box{Float32, 3} where T", 1, 0, 0));

    assert_ptr_equal(parsed("toy.Box{Float32, 3} where T"), type);
}

static void a_bad_foreign_description_is_refused(void **state)
{
    const kiln_type *type = NULL;

    (void)state;

    assert_fails(KILN_EINVAL, "power of two", foreign(&type, "A", 1, 12, 3));
    assert_fails(KILN_EINVAL, "power of two", foreign(&type, "A", 1, 12, 0));
    assert_fails(KILN_EINVAL, "multiple", foreign(&type, "A", 1, 12, 8));
    assert_fails(KILN_EINVAL, "a name", foreign(&type, "", 1, 8, 8));
    assert_fails(KILN_EINVAL, "a name", foreign(&type, "a\nb", 1, 8, 8));
    assert_fails(KILN_EINVAL, "larger", foreign(&type, "A", 1, 1ull << 40, 8));
}

/* ---- keys ---- */

static kiln_digest encoded(const kiln_type *type)
{
    kiln__encoder encoder;
    kiln_digest digest;

    kiln__encoder_init(&encoder, &kiln__malloc);
    kiln__type_encode(&encoder, type);
    digest = kiln__encoder_digest(&encoder);
    kiln__encoder_dispose(&encoder);
    return digest;
}

static void keys_tell_definitions_of_one_name_apart(void **state)
{
    const kiln_type *first = NULL, *edited = NULL;

    (void)state;
    assert_ok(pair(&first, scalar(KILN_TYPE_F32), 1, NULL));
    assert_ok(pair(&edited, scalar(KILN_TYPE_F32), 2, NULL));

    assert_true(kiln__digest_equal(encoded(first), encoded(first)));
    assert_false(kiln__digest_equal(encoded(first), encoded(edited)));
}

/* ---- threads and memory ---- */

typedef struct race {
    thread_report report;
    pthread_mutex_t lock;
    const kiln_type *seen[100];
} race;

static void *make_all(void *argument)
{
    race *r = argument;

    for (int i = 0; i < 100; i++) {
        const kiln_type *type = NULL;
        char text[64];

        snprintf(text, sizeof text, "(f32, Static{%d}, Vec{i8,%d})[:]", i,
                 i + 1);
        thread_assert_ok(&r->report,
                         kiln_type_parse(&type, context, NULL, text, NULL));
        pthread_mutex_lock(&r->lock);
        if (!r->seen[i])
            r->seen[i] = type;
        thread_assert(&r->report, r->seen[i] == type);
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

static void threads_that_race_get_the_same_types(void **state)
{
    race r = {.report = THREAD_REPORT_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

    (void)state;

    harness_run_threads(8, make_all, &r);

    assert_threads_ok(&r.report);
}

static kiln_status fill(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_foreign_type ball = {.size = sizeof ball,
                                    .package = "toy",
                                    .name = "Ball",
                                    .value_size = 8,
                                    .value_alignment = 8};
    kiln_context *own = NULL;
    const kiln_type *type = NULL;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&own, &options, NULL);
    if (status == KILN_OK)
        status = kiln_type_parse(
            &type, own, NULL, "Type{(f32, Vec{i8,3}, Static{4})[:,:]}", NULL);
    if (status == KILN_OK)
        status = kiln_type_foreign(&type, own, &ball, NULL);
    /* What failed half-way is whole the second time. */
    if (status == KILN_OK)
        status = kiln_type_parse(&type, own, NULL, "(toy.Ball, f32)", NULL);
    kiln_context_free(own);
    return status;
}

static void out_of_memory_at_any_call_is_survived(void **state)
{
    (void)state;
    assert_survives_failing_alloc(fill, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_types_are_one_pointer),
        cmocka_unit_test(different_types_are_different_pointers),
        cmocka_unit_test(ids_do_not_depend_on_the_context),
        cmocka_unit_test(a_type_of_another_context_is_refused),
        cmocka_unit_test(a_scalar_that_does_not_exist_is_null),
        cmocka_unit_test(a_tuple_is_laid_out_as_a_c_struct),
        cmocka_unit_test(nested_values_are_laid_out_as_in_c),
        cmocka_unit_test(scalars_have_the_size_and_alignment_of_cs),
        cmocka_unit_test(vectors_are_arrays_of_their_elements),
        cmocka_unit_test(what_has_no_bytes_takes_no_room),
        cmocka_unit_test(a_struct_is_known_by_name_definition_and_parameters),
        cmocka_unit_test(a_struct_with_a_number_for_a_parameter_prints_it),
        cmocka_unit_test(arrays_stand_at_the_top_only),
        cmocka_unit_test(ranks_and_lengths_have_limits),
        cmocka_unit_test(values_and_texts_that_grow_too_large_are_refused),
        cmocka_unit_test(texts_read_back_as_the_same_type),
        cmocka_unit_test(space_and_grouping_do_not_matter),
        cmocka_unit_test(bad_texts_are_refused_with_the_place),
        cmocka_unit_test(deep_and_long_texts_are_refused),
        cmocka_unit_test(a_function_has_a_type_of_its_own),
        cmocka_unit_test(a_foreign_type_is_what_its_description_says),
        cmocka_unit_test(a_foreign_name_may_look_like_anything),
        cmocka_unit_test(a_bad_foreign_description_is_refused),
        cmocka_unit_test(keys_tell_definitions_of_one_name_apart),
        cmocka_unit_test(threads_that_race_get_the_same_types),
        cmocka_unit_test(out_of_memory_at_any_call_is_survived),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
