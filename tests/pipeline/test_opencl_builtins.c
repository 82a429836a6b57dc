/* test_opencl_builtins.c - a call of every built-in function of OpenCL C 1.2 is
   code. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: codegen frontend host cuda rocm spirv */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen_client/source_compile.h"
#include "kiln.h"
#include "kiln/opencl.h"
#include "support/harness.h"
#include "support/written.h"

/*
 * clang's opencl-c.h declares every function, one overload a line. The
 * preprocessor leaves those of OpenCL C 1.2 with double and without images. A
 * kernel calls many of them: values come from memory that is volatile and go
 * there, pointers are to memory of their kind.
 */
#define DEFINES \
    "-D__OPENCL_C_VERSION__=120 -D__OPENCL_VERSION__=120 " \
    "-DCL_VERSION_1_0=100 -DCL_VERSION_1_1=110 -DCL_VERSION_1_2=120 " \
    "-DCL_VERSION_2_0=200 -DCL_VERSION_3_0=300 -Dcl_khr_fp64=1"

#define LINE_SIZE 1024
#define CALLS_OF_A_KERNEL 100
#define KERNELS_OF_A_TEXT 10
/* What that header of clang 22 declares. */
#define FUNCTIONS_LEAST 9000

static kiln_context *context;
static size_t functions, failures;

/* ---- declarations ---- */

typedef struct declaration {
    char result[64];
    char name[64];
    char parameters[256]; /* with commas between them */
} declaration;

static void drop_attributes(char *line)
{
    static const char head[] = "__attribute__((";

    for (char *at = strstr(line, head); at != NULL; at = strstr(line, head)) {
        const char *end = strstr(at, "))");

        assert_non_null(end);
        memmove(at, end + 2, strlen(end + 2) + 1);
    }
}

/* Copies the text between two places, without blanks at its ends. */
static void copy(char *out, size_t size, const char *from, const char *end)
{
    while (from < end && isspace((unsigned char)*from))
        from++;
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    assert_true((size_t)(end - from) < size);
    memcpy(out, from, (size_t)(end - from));
    out[end - from] = '\0';
}

/* Returns 0 for a line that declares nothing that can be overloaded. */
static int read_declaration(declaration *out, char *line)
{
    const char *open, *name, *close;

    if (strstr(line, "overloadable") == NULL)
        return 0;
    drop_attributes(line);
    open = strchr(line, '(');
    assert_non_null(open);
    close = strchr(open, ')');
    assert_non_null(close);
    name = open;
    while (name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    copy(out->result, sizeof out->result, line, name);
    copy(out->name, sizeof out->name, name, open);
    copy(out->parameters, sizeof out->parameters, open + 1, close);
    if (strcmp(out->parameters, "void") == 0)
        out->parameters[0] = '\0';
    return 1;
}

/* ---- calls ---- */

static char written_bytes[1 << 18];
static written text = {written_bytes, sizeof written_bytes, 0};
static unsigned calls; /* in the text */

#define put(...) written_put(&text, __VA_ARGS__)

/* The kernel's memory that a pointer's type is of. */
static const char *memory_of(const char *type)
{
    if (strstr(type, "global") != NULL)
        return "g";
    if (strstr(type, "local") != NULL)
        return "l";
    return strstr(type, "constant") != NULL ? "c" : "p";
}

static void put_argument(const char *parameter)
{
    const char *star = strchr(parameter, '*');

    if (star != NULL)
        put("(%.*s)%s", (int)(star + 1 - parameter), parameter,
            memory_of(parameter));
    else if (strstr(parameter, "fence") != NULL)
        put("CLK_LOCAL_MEM_FENCE"); /* is to be a constant */
    else if (strstr(parameter, "event_t") != NULL)
        put("0");
    else /* what is passed by value may have a name */
        put("*(volatile global %.*s *)g",
            (int)strcspn(parameter + 6 * !strncmp(parameter, "const ", 6), " "),
            parameter + 6 * !strncmp(parameter, "const ", 6));
}

static void put_call(const declaration *d)
{
    char list[sizeof d->parameters], *rest = NULL;
    const char *between = "";

    snprintf(list, sizeof list, "%s", d->parameters);
    if (strcmp(d->result, "void") != 0)
        put("    *(volatile global %s *)g = ", d->result);
    put("    %s(", d->name);
    for (char *word = strtok_r(list, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        put("%s", between);
        put_argument(word + strspn(word, " "));
        between = ", ";
    }
    put(");\n");
}

/* ---- compiling ---- */

static const kiln_type *bytes; /* what each kernel takes, twice */

static const kiln_config *config_for(const char *target)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;

    options.target = target;
    options.opt_level = KILN_OPT_0;
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    return config;
}

static void note(const char *target, kiln_error *error)
{
    failures++;
    print_error("%s: %s\n", target, kiln_error_message(error));
    kiln_error_free(error);
}

static void compile_on_host(kiln_opencl_program *program, unsigned kernels)
{
    const kiln_type *const types[] = {bytes, bytes};
    kiln_batch_job jobs[KERNELS_OF_A_TEXT] = {0};

    for (unsigned i = 0; i < kernels; i++) {
        char name[16];

        snprintf(name, sizeof name, "k%u", i);
        jobs[i].signature.types = types;
        jobs[i].signature.count = 2;
        jobs[i].config = config_for("host");
        assert_ok(kiln_opencl_function(&jobs[i].signature.function, program,
                                       name, &test_error));
    }
    if (kiln_compile_batch(context, jobs, kernels, NULL, NULL) == KILN_OK)
        return;
    for (unsigned i = 0; i < kernels; i++)
        if (jobs[i].status != KILN_OK)
            note("host", jobs[i].error);
}

/* For another target, the first kernel of the text. */
static void compile_on_device(kiln_opencl_program *program, const char *target)
{
    const kiln_type *const types[] = {bytes, bytes};
    kiln_signature call = {.types = types, .count = 2};
    const int is_cuda = strncmp(target, "cuda", 4) == 0;
    kiln_blob code;

    assert_ok(kiln_opencl_function(&call.function, program, "k0", &test_error));
    if (kiln_emit(&code, context, &call, config_for(target), 0,
                  is_cuda ? KILN_EMIT_ASM : KILN_EMIT_BINARY,
                  &test_error) == KILN_OK) {
        kiln_blob_release(&code);
        return;
    }
    note(target, test_error);
    test_error = NULL;
}

/* Each text is compiled for another device. */
static void compile_text(void)
{
    static const char *const targets[] = {"cuda:sm_80", "rocm:gfx1100",
                                          "spirv"};
    static size_t texts;
    kiln_opencl_program *program;
    char name[32];

    snprintf(name, sizeof name, "builtins%zu", texts);
    assert_ok(kiln_opencl_new(&program, context, name, &test_error));
    assert_ok(kiln_opencl_define(program, "builtins.cl", written_bytes,
                                 text.size, "-cl-std=CL1.2", NULL,
                                 &test_error));
    compile_on_host(program, (calls - 1) / CALLS_OF_A_KERNEL + 1);
    compile_on_device(program, targets[texts++ % 3]);
}

static void flush(void)
{
    if (calls == 0)
        return;
    put("}\n");
    compile_text();
    text.size = calls = 0;
}

static void add(const declaration *d)
{
    if (calls % CALLS_OF_A_KERNEL == 0)
        put("%skernel void k%u(global char *g, constant char *c)\n{\n"
            "    local char l[256] __attribute__((aligned(128)));\n"
            "    char p[256] __attribute__((aligned(128)));\n",
            calls > 0 ? "}\n" : "", calls / CALLS_OF_A_KERNEL);
    put_call(d);
    calls++;
    functions++;
    if (calls == CALLS_OF_A_KERNEL * KERNELS_OF_A_TEXT)
        flush();
}

static void every_overload_is_code(void **state)
{
    static char line[LINE_SIZE];
    FILE *pipe = popen(KILN_C_COMPILER " -E -P -xc " DEFINES
                                       " " KILN_OPENCL_HEADER " 2>/dev/null",
                       "r");
    declaration d;

    (void)state;
    assert_non_null(pipe);
    assert_ok(kiln_type_parse(&bytes, context, NULL, "u8[:]", &test_error));
    while (fgets(line, sizeof line, pipe) != NULL)
        if (read_declaration(&d, line))
            add(&d);
    flush();
    assert_int_equal(pclose(pipe), 0);
    assert_true(functions >= FUNCTIONS_LEAST);
    assert_int_equal(failures, 0);
}

static int has_clang(void)
{
    char id[KILN__BUILD_ID_TEXT_SIZE];

    kiln__source_compiler(id, context);
    return id[0] != '\0' && access(KILN_OPENCL_HEADER, R_OK) == 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_overload_is_code),
    };
    int failed;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    if (!has_clang()) {
        kiln_context_free(context);
        return program_skip(SKIP_PACKAGE, "clang's headers, for OpenCL C");
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    kiln_context_free(context);
    return failed;
}
