/* test_foreign_builtins.c - one call of every built-in function of OpenCL C 1.2
   that computes or accesses memory. */
/* LABELS: codegen host cuda rocm spirv */
/* LINKS: codegen */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <ctype.h>

#include <llvm-c/BitReader.h>

#include "base/system/file.h"
#include "codegen/module/codegen_mangled.h"
#include "support/codegen/foreign.h"

/*
 * A row stands for many declarations: one for each element type of its family
 * and each number of lanes. For each of them a module has a call. A target
 * whose functions come from libclc either needs nothing for it, or a function
 * that libclc defines with just these types; SPIR-V's generator makes code of
 * it.
 *
 * A form is a result and parameters:
 *   g  the type itself       s  its element
 *   i  int, as many          n  int, one           z  size_t
 *   S  signed whole numbers as wide as the element, as many; U  unsigned
 *   R  what a comparison returns: int, or S for vectors
 *   p  pointer to g          q  pointer to i       e  pointer to s
 *   c  as e, to a constant   h  pointer to half    k  as h, to a constant
 *   D  the double of the width, as many
 * Each pointer is tried in private, global and local memory; those to constants
 * in constant memory, too.
 */
typedef struct row {
    const char *names;
    const char *form;
    const char *elements;
    unsigned lanes; /* bits: LANES_... */
} row;

enum { L1 = 1, L2 = 2, L3 = 4, L4 = 8, L8 = 16, L16 = 32 };
#define ANY 63u
#define VECTORS 62u
#define POWERS (L2 | L4 | L8 | L16)

#define FLOATS "fd"
#define WHOLE "chstijlm"
#define SIGNED "csil"
#define ALL_ELEMENTS "chstijlmfd"

static const row rows[] = {
    {"acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh "
     "cospi erf erfc exp exp10 exp2 expm1 fabs floor lgamma log log10 log1p "
     "log2 logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma "
     "trunc degrees radians sign",
     "g(g)", FLOATS, ANY},
    {"atan2 atan2pi copysign fdim fmax fmin fmod hypot max maxmag min minmag "
     "nextafter pow powr remainder step",
     "g(gg)", FLOATS, ANY},
    {"clamp fma mad mix smoothstep", "g(ggg)", FLOATS, ANY},
    {"fmax fmin max min", "g(gs)", FLOATS, VECTORS},
    {"clamp", "g(gss)", FLOATS, VECTORS},
    {"mix", "g(ggs)", FLOATS, VECTORS},
    {"step", "g(sg)", FLOATS, VECTORS},
    {"smoothstep", "g(ssg)", FLOATS, VECTORS},
    {"fract modf sincos", "g(gp)", FLOATS, ANY},
    {"frexp lgamma_r", "g(gq)", FLOATS, ANY},
    {"remquo", "g(ggq)", FLOATS, ANY},
    {"ilogb", "i(g)", FLOATS, ANY},
    {"ldexp pown rootn", "g(gi)", FLOATS, ANY},
    {"ldexp", "g(gn)", FLOATS, VECTORS},
    {"nan", "g(U)", FLOATS, ANY},
    {"half_cos half_exp half_exp10 half_exp2 half_log half_log10 half_log2 "
     "half_recip half_rsqrt half_sin half_sqrt half_tan native_cos native_exp "
     "native_exp10 native_exp2 native_log native_log10 native_log2 "
     "native_recip native_rsqrt native_sin native_sqrt native_tan",
     "g(g)", "f", ANY},
    {"half_divide half_powr native_divide native_powr", "g(gg)", "f", ANY},
    {"cross", "g(gg)", FLOATS, L3 | L4},
    {"dot distance", "s(gg)", FLOATS, L1 | L2 | L3 | L4},
    {"length", "s(g)", FLOATS, L1 | L2 | L3 | L4},
    {"normalize", "g(g)", FLOATS, L1 | L2 | L3 | L4},
    {"fast_distance", "s(gg)", "f", L1 | L2 | L3 | L4},
    {"fast_length", "s(g)", "f", L1 | L2 | L3 | L4},
    {"fast_normalize", "g(g)", "f", L1 | L2 | L3 | L4},
    {"isequal isnotequal isgreater isgreaterequal isless islessequal "
     "islessgreater isordered isunordered",
     "R(gg)", FLOATS, ANY},
    {"isfinite isinf isnan isnormal signbit", "R(g)", FLOATS, ANY},
    {"abs", "U(g)", WHOLE, ANY},
    {"abs_diff", "U(gg)", WHOLE, ANY},
    {"add_sat hadd max min mul_hi rhadd rotate sub_sat", "g(gg)", WHOLE, ANY},
    {"clamp mad_hi mad_sat", "g(ggg)", WHOLE, ANY},
    {"max min", "g(gs)", WHOLE, VECTORS},
    {"clamp", "g(gss)", WHOLE, VECTORS},
    {"clz popcount", "g(g)", WHOLE, ANY},
    {"mul24", "g(gg)", "ij", ANY},
    {"mad24", "g(ggg)", "ij", ANY},
    {"all any", "n(g)", SIGNED, ANY},
    {"bitselect", "g(ggg)", ALL_ELEMENTS, ANY},
    {"select", "g(ggS)", ALL_ELEMENTS, ANY},
    {"select", "g(ggU)", ALL_ELEMENTS, ANY},
    {"upsample", "W(gU)", "chstij", ANY},
    {"vload#", "g(zc)", ALL_ELEMENTS, VECTORS},
    {"vstore#", "v(gze)", ALL_ELEMENTS, VECTORS},
    {"vload_half#", "g(zk)", "f", ANY},
    {"vloada_half#", "g(zk)", "f", VECTORS},
    {"vstore_half# vstore_half#_rte vstore_half#_rtn vstore_half#_rtp "
     "vstore_half#_rtz",
     "v(gzh)", FLOATS, ANY},
    {"vstorea_half# vstorea_half#_rte vstorea_half#_rtn vstorea_half#_rtp "
     "vstorea_half#_rtz",
     "v(gzh)", FLOATS, VECTORS},
    {"shuffle", "g(gU)", ALL_ELEMENTS, POWERS},
    {"shuffle2", "g(ggU)", ALL_ELEMENTS, POWERS},
};

/* ---- types ---- */

static char element_as(char element, int is_signed)
{
    static const char sizes[] = "ch"
                                "st"
                                "ij"
                                "lm";
    const char *at = strchr(sizes, element);

    if (element == 'f')
        return is_signed ? 'i' : 'j';
    if (element == 'd')
        return is_signed ? 'l' : 'm';
    return sizes[(at - sizes) / 2 * 2 + !is_signed];
}

static const char *ir_of(const char *element)
{
    switch (element[0]) {
    case 'c':
    case 'h':
        return "i8";
    case 's':
    case 't':
        return "i16";
    case 'i':
    case 'j':
        return "i32";
    case 'l':
    case 'm':
        return "i64";
    case 'f':
        return "float";
    case 'd':
        return "double";
    case 'v':
        return "void";
    default:
        return "half";
    }
}

/* A word that is used as a number of lanes. */
static const unsigned lane_counts[] = {1, 2, 3, 4, 8, 16};

static kiln__mangled_type type_of(char letter, char element, unsigned lanes,
                                  unsigned space)
{
    kiln__mangled_type t = {.lanes = lanes > 1 ? lanes : 0};

    t.element[0] = element;
    switch (letter) {
    case 's':
        t.lanes = 0;
        break;
    case 'i':
    case 'q':
        t.element[0] = 'i';
        break;
    case 'n':
        t.element[0] = 'i';
        t.lanes = 0;
        break;
    case 'z':
        t.element[0] = 'm';
        t.lanes = 0;
        break;
    case 'v':
        t.element[0] = 'v';
        t.lanes = 0;
        break;
    case 'S':
        t.element[0] = element_as(element, 1);
        break;
    case 'U':
        t.element[0] = element_as(element, 0);
        break;
    case 'R':
        t.element[0] = lanes > 1 ? element_as(element, 1) : 'i';
        break;
    case 'W':
        t.element[0] = (char)("siltjm"[strchr("csihtj", element) - "csihtj"]);
        break;
    case 'h':
    case 'k':
        memcpy(t.element, "Dh", 3);
        /* fall through */
    case 'c':
    case 'e':
        t.lanes = 0;
        break;
    default:
        break;
    }
    if (strchr("pqehck", letter) != NULL) {
        t.is_pointer = 1;
        t.space = space;
        if (letter == 'c' || letter == 'k')
            memcpy(t.marks, "K", 2);
    }
    return t;
}

/* ---- modules ---- */

static char globals[49152], body[49152];
static size_t globals_size, body_size;
static unsigned calls;

static void put(char *text, size_t *size, size_t capacity, const char *format,
                ...) __attribute__((format(printf, 4, 5)));

static void put(char *text, size_t *size, size_t capacity, const char *format,
                ...)
{
    va_list list;

    va_start(list, format);
    *size += (size_t)vsnprintf(text + *size, capacity - *size, format, list);
    va_end(list);
    assert_true(*size < capacity);
}

#define GLOBALS(...) put(globals, &globals_size, sizeof globals, __VA_ARGS__)
#define BODY(...) put(body, &body_size, sizeof body, __VA_ARGS__)

/* `@C` stands for a pointer to constant memory. */
static void ir_text(char out[64], const kiln__mangled_type *t)
{
    static const char *const spaces[] = {"@I", "ptr addrspace(1)", "@C",
                                         "ptr addrspace(3)"};

    if (t->is_pointer)
        snprintf(out, 64, "%s", spaces[t->space]);
    else if (t->lanes > 0)
        snprintf(out, 64, "<%u x %s>", t->lanes, ir_of(t->element));
    else
        snprintf(out, 64, "%s", ir_of(t->element));
}

static void add_call(const kiln__mangled_name *name,
                     const kiln__mangled_type *result)
{
    static const unsigned char same[5] = {0, 1, 2, 3, 4};
    char symbol[KILN__MANGLED_NAME_SIZE], type[64], returned[64];

    assert_true(kiln__mangled_write(symbol, sizeof symbol, name, same));
    ir_text(returned, result);
    GLOBALS("declare %s @%s(", returned, symbol);
    for (unsigned i = 0; i < name->count; i++) {
        ir_text(type, &name->parameters[i]);
        GLOBALS("%s%s", i > 0 ? ", " : "", type);
        if (name->parameters[i].is_pointer)
            BODY("  %%a%u_%u = inttoptr i64 %%n to %s\n", calls, i, type);
        else
            BODY("  %%a%u_%u = load volatile %s, @A %%y, align 1\n", calls, i,
                 type);
    }
    GLOBALS(")\n");
    if (result->element[0] == 'v')
        BODY("  call void @%s(", symbol);
    else
        BODY("  %%r%u = call %s @%s(", calls, returned, symbol);
    for (unsigned i = 0; i < name->count; i++) {
        ir_text(type, &name->parameters[i]);
        BODY("%s%s %%a%u_%u", i > 0 ? ", " : "", type, calls, i);
    }
    BODY(")\n");
    if (result->element[0] != 'v')
        BODY("  store volatile %s %%r%u, @A %%y, align 1\n", returned, calls);
    calls++;
}

/* ---- libraries ---- */

typedef struct library {
    int bit;
    const char *path;
    kiln_blob bytes;
    LLVMContextRef context;
    LLVMModuleRef module;
} library;

static library libraries[] = {
    {.bit = HOST, .path = "/usr/lib/clc/nvptx64--.bc"},
    {.bit = CUDA, .path = "/usr/lib/clc/nvptx64--.bc"},
    {.bit = ROCM, .path = "/usr/lib/clc/amdgcn-amd-amdhsa.bc"},
};

static int open_library(library *l)
{
    LLVMMemoryBufferRef buffer;
    char *message = NULL;

    if (kiln__file_read(&l->bytes, &kiln__malloc, l->path, (size_t)1 << 28,
                        NULL) != KILN_OK)
        return 0;
    l->context = LLVMContextCreate();
    buffer = LLVMCreateMemoryBufferWithMemoryRange(l->bytes.data, l->bytes.size,
                                                   "libclc", 1);
    l->module = kiln__llvm_read_lazily(l->context, buffer, &message);
    return l->module != NULL;
}

static unsigned failures;    /* in one test */
static const library *asked; /* by the request under way; NULL: nobody */

static void take_need(void *env, int32_t which, const char *symbol)
{
    LLVMValueRef function = LLVMGetNamedFunction(asked->module, symbol);

    (void)env;
    assert_int_equal(which, KILN__LIBRARY_BUILTINS);
    if (function == NULL || LLVMIsDeclaration(function)) {
        print_error("%s lacks %s\n", asked->path, symbol);
        failures++;
    }
}

static void build_for(const foreign_target *target, const library *from)
{
    static char whole[2 * sizeof globals], text[2 * sizeof globals];
    const char *constant =
        target->bit == SPIRV ? "ptr addrspace(2)" : "ptr addrspace(4)";
    size_t size = 0;
    outcome o;

    size = (size_t)snprintf(
        whole, sizeof whole,
        "%sdefine i32 @k(@I %%item, @A %%y, i64 %%n) {\n%s  ret i32 0\n}\n",
        globals, body);
    assert_true(size < sizeof whole);
    size = 0;
    for (const char *at = whole; *at != '\0';) {
        const char *word = at[0] == '@' && at[1] == 'C'
                               ? constant
                               : (at[0] == '@' && !islower((unsigned char)at[2])
                                      ? foreign_word(target, at[1])
                                      : NULL);
        const size_t length = word != NULL ? strlen(word) : 1;

        assert_true(size + length < sizeof text);
        memcpy(text + size, word != NULL ? word : at, length);
        size += length;
        at += word != NULL ? 2 : 1;
    }
    text[size] = '\0';
    prepare(&o, text, target->form, one_array, 1);
    foreign_settings(&o, target);
    o.settings.opt_level = 1;
    o.request.need = from != NULL ? take_need : NULL;
    asked = from;
    run(&o);
    if (o.status != KILN_OK && o.status != KILN_EAGAIN) {
        print_error("%s: %s\nin a module with\n%.200s...\n", target->backend,
                    o.message, globals);
        failures++;
    }
    if (o.status == KILN_OK)
        free(o.bytes);
}

#define CALLS_MAX 48

static void flush(unsigned most)
{
    if (calls <= most)
        return;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        build_for(foreign_target_of(libraries[i].bit), &libraries[i]);
    build_for(foreign_target_of(SPIRV), NULL);
    globals_size = body_size = 0;
    globals[0] = body[0] = '\0';
    calls = 0;
}

/* ---- declarations ---- */

static void add_declaration(const char *base, const char *form, char element,
                            unsigned lanes, unsigned space)
{
    const kiln__mangled_type result = type_of(form[0], element, lanes, space);
    kiln__mangled_name name = {.count = 0};
    const char *mark = strchr(base, '#');
    char count[16] = "";

    if (lanes > 1)
        snprintf(count, sizeof count, "%u", lanes);
    if (mark != NULL)
        snprintf(name.base, sizeof name.base, "%.*s%s%s", (int)(mark - base),
                 base, count, mark + 1);
    else
        snprintf(name.base, sizeof name.base, "%s", base);
    for (const char *at = form + 2; *at != ')'; at++)
        name.parameters[name.count++] = type_of(*at, element, lanes, space);
    /* upsample's second operand is the lower half. */
    add_call(&name, &result);
    flush(CALLS_MAX);
}

/* Returns the bits of the spaces that a form's pointers may have. */
static unsigned spaces_of(const char *form)
{
    if (strpbrk(form + 2, "ck") != NULL)
        return 15;
    return strpbrk(form + 2, "pqeh") != NULL ? 11 : 1;
}

static void add_row(const row *r)
{
    char names[1024], *name, *rest = NULL;

    snprintf(names, sizeof names, "%s", r->names);
    for (name = strtok_r(names, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest))
        for (const char *element = r->elements; *element != '\0'; element++)
            for (unsigned i = 0; i < 6; i++)
                for (unsigned space = 0; space < 4; space++)
                    if ((r->lanes >> i & 1) != 0 &&
                        (spaces_of(r->form) >> space & 1) != 0)
                        add_declaration(name, r->form, *element, lane_counts[i],
                                        space);
}

static void every_function_has_code_or_a_library(void **state)
{
    (void)state;
    failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_row(&rows[i]);
    flush(0);
    assert_int_equal(failures, 0);
}

/* ---- conversions ---- */

static const char *word_of(char element)
{
    static const char elements[] = ALL_ELEMENTS;
    static const char *const words[] = {"char",  "uchar", "short", "ushort",
                                        "int",   "uint",  "long",  "ulong",
                                        "float", "double"};

    return words[strchr(elements, element) - elements];
}

static void add_conversion(char from, char to, unsigned lanes,
                           const char *ending)
{
    const kiln__mangled_type result = type_of('g', to, lanes, 0);
    kiln__mangled_name name = {.count = 1};
    char count[16] = "";

    if (lanes > 1)
        snprintf(count, sizeof count, "%u", lanes);
    snprintf(name.base, sizeof name.base, "convert_%s%s%s", word_of(to), count,
             ending);
    name.parameters[0] = type_of('g', from, lanes, 0);
    add_call(&name, &result);
    flush(CALLS_MAX);
}

static void every_conversion_has_code_or_a_library(void **state)
{
    static const char *const endings[] = {
        "",     "_rte",     "_rtn",     "_rtp",     "_rtz",
        "_sat", "_sat_rte", "_sat_rtn", "_sat_rtp", "_sat_rtz"};

    (void)state;
    failures = 0;
    for (const char *from = ALL_ELEMENTS; *from != '\0'; from++)
        for (const char *to = ALL_ELEMENTS; *to != '\0'; to++)
            for (unsigned i = 0; i < 6; i++)
                for (unsigned e = 0; e < 10; e++)
                    if (e < 5 || (*to != 'f' && *to != 'd'))
                        add_conversion(*from, *to, lane_counts[i], endings[e]);
    flush(0);
    assert_int_equal(failures, 0);
}

/* ---- atomic functions ---- */

static void every_atomic_function_has_code(void **state)
{
    static const char *const names[] = {"add", "and",  "cmpxchg", "dec",
                                        "inc", "max",  "min",     "or",
                                        "sub", "xchg", "xor"};

    (void)state;
    failures = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int is_long = 0; is_long < 2; is_long++)
            for (int is_unsigned = 0; is_unsigned < 2; is_unsigned++)
                for (unsigned space = 1; space < 4; space += 2) {
                    const char element = "ijlm"[2 * is_long + is_unsigned];
                    const kiln__mangled_type number =
                        type_of('g', element, 1, 0);
                    const int is_one = strcmp(names[i], "inc") == 0 ||
                                       strcmp(names[i], "dec") == 0;
                    kiln__mangled_name name = {
                        .count = is_one                             ? 1
                                 : strcmp(names[i], "cmpxchg") == 0 ? 3
                                                                    : 2};

                    snprintf(name.base, sizeof name.base, "%s_%s",
                             is_long ? "atom" : "atomic", names[i]);
                    name.parameters[0] = type_of('e', element, 1, space);
                    memcpy(name.parameters[0].marks, "V", 2);
                    name.parameters[1] = name.parameters[2] = number;
                    add_call(&name, &number);
                    flush(CALLS_MAX);
                }
    flush(0);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_has_code_or_a_library),
        cmocka_unit_test(every_conversion_has_code_or_a_library),
        cmocka_unit_test(every_atomic_function_has_code),
    };
    int failed = 0;

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (!open_library(&libraries[i]))
            return program_skip(SKIP_PACKAGE, "libclc is not installed");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        LLVMDisposeModule(libraries[i].module);
        LLVMContextDispose(libraries[i].context);
        kiln_blob_release(&libraries[i].bytes);
    }
    return failed;
}
