/* test_rocm_codegen.c - code objects, and what they say of their kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen rocm */
/* LINKS: codegen */
#include "abi/facts_abi.h"
#include "support/harness.h"

#include <elf.h>
#include <unistd.h>

#include "backends/rocm/codegen/llvm_gap_rocm.h"
#include "backends/rocm/codegen/rocm_codegen.h"
#include "context/types/types.h"
#include "support/devices/devices.h"
#include "tiers/binary/artifact.h"

static const char program[] =
    "struct Pair\n"
    "    a: i8\n"
    "    b: f64\n"
    "end\n"
    "kernel saxpy(y, a, x)\n"
    "    i = global_id(0)\n"
    "    if i < length(y)\n"
    "        y[i] = a * x[i] + y[i]\n"
    "    end\n"
    "end\n"
    "kernel first(y)\n"
    "    barrier()\n"
    "    inbounds\n"
    "        y[local_id(0)] = 1\n"
    "    end\n"
    "end\n"
    "kernel sizes(y)\n"
    "    inbounds\n"
    "        y[local_id(1)] = group_count(2) * local_size(0)\n"
    "    end\n"
    "end\n"
    "kernel mixed(y, b, c, h, p, t, v, s, d, z)\n"
    "    i = global_id(0)\n"
    "    y[i] = p.b + f64(t[1]) + f64(v[2]) + d + f64(s[i, i])\n"
    "end\n"
    "kernel tile(y)\n"
    "    local t = f32[300]\n"
    "    l = local_id(0)\n"
    "    t[l] = y[l]\n"
    "    barrier()\n"
    "    y[l] = t[299 - l]\n"
    "end\n"
    "kernel huge(y)\n"
    "    local t = f32[17000]\n"
    "    l = local_id(0)\n"
    "    t[l] = y[l]\n"
    "    barrier()\n"
    "    y[l] = t[16999 - l]\n"
    "end\n"
    "kernel fills(y)\n"
    "    local t = f32[40960]\n"
    "    l = local_id(0)\n"
    "    t[l] = y[l]\n"
    "    barrier()\n"
    "    y[l] = t[40959 - l]\n"
    "end\n"
    "kernel shuffled(y, x)\n"
    "    i = global_id(0)\n"
    "    y[i] = shuffle(x[i], 3)\n"
    "end\n"
    "kernel counts(n, x)\n"
    "    atomic_max(n, 0, i32(global_id(0)))\n"
    "    atomic_add(x, 0, f32(1))\n"
    "end\n"
    "struct Big\n"
    "    a: ((f64, f64, f64, f64), (f64, f64, f64, f64))\n"
    "    b: ((f64, f64, f64, f64), (f64, f64, f64, f64))\n"
    "    c: ((f64, f64, f64, f64), (f64, f64, f64, f64))\n"
    "    d: ((f64, f64, f64, f64), (f64, f64, f64, f64))\n"
    "end\n"
    "kernel much(y, a, b, c, d)\n"
    "    y[0] = a[1].a[1][2]\n"
    "end\n"
    "kernel gathered(y, x, c)\n"
    "    i = global_id(0)\n"
    "    s = f32(0)\n"
    "    for j in 0..length(c)\n"
    "        s += x[c[j]]\n"
    "    end\n"
    "    y[i] = s\n"
    "end\n"
    "kernel printed(y)\n"
    "    print(\"at \", y[0])\n"
    "end\n";

static kiln_package *package;

static int setup(void **state)
{
    (void)state;
    devices_open_context("rocm");
    package = devices_define("main", program);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    devices_close_context();
    return 0;
}

/* Default settings, for a processor. */
static int begin(void **state)
{
    const kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    (void)state;
    devices_now.options = options;
    devices_now.processor = "gfx90a";
    devices_now.features = "";
    devices_now.backend_options = "cov=5";
    return 0;
}

static void choose(const char *processor, const char *features,
                   const char *options)
{
    devices_now.processor = processor;
    devices_now.features = features;
    devices_now.backend_options = options;
}

static char *text_of(const char *kernel, const char *types, int32_t form)
{
    return devices_text(package, kernel, types, form);
}

static void binary_of(kiln_blob *out, const char *kernel, const char *types)
{
    assert_ok(devices_emit(out, package, kernel, types, KILN_EMIT_BINARY,
                           &test_error));
}

static void assert_refused(const char *message, const char *kernel,
                           const char *types)
{
    kiln_blob blob = {0};

    assert_fails(KILN_EUNSUPPORTED, message,
                 devices_emit(&blob, package, kernel, types, KILN_EMIT_BINARY,
                              &test_error));
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("found '%s'", part);
}

/* ---- the image ---- */

static const struct {
    const char *processor, *features, *options;
    unsigned version; /* EI_ABIVERSION: 3 is code object 5, 4 is 6 */
    unsigned machine; /* EF_AMDGPU_MACH_... */
    unsigned flags;   /* of xnack and sramecc: 1 any, 2 off, 3 on */
    uint64_t lanes;
} images[] = {
    {"gfx906", "", "cov=5", 3, 0x2f, 0x500, 64},
    {"gfx906", "-xnack", "cov=5", 3, 0x2f, 0x600, 64},
    {"gfx90a", "+sramecc,-xnack", "cov=5", 3, 0x3f, 0xe00, 64},
    {"gfx90a", "-sramecc,+xnack", "cov=6", 4, 0x3f, 0xb00, 64},
    {"gfx942", "+xnack", "cov=6", 4, 0x4c, 0x700, 64},
    {"gfx1030", "", "cov=5", 3, 0x36, 0, 32},
    {"gfx1030", "+wavefrontsize64", "cov=5", 3, 0x36, 0, 64},
    {"gfx1100", "+wavefrontsize32", "cov=6", 4, 0x41, 0, 32},
    {"gfx1201", "", "cov=5", 3, 0x4e, 0, 32},
    {"gfx11-generic", "", "cov=6", 4, 0x54, 0, 32},
};

static void images_are_of_their_processor_version_and_features(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        kiln__rocm_metadata said = {0};
        kiln_blob image = {0};
        Elf64_Ehdr header;

        choose(images[i].processor, images[i].features, images[i].options);
        binary_of(&image, "saxpy", "f32[:] | f32 | f32[:]");

        memcpy(&header, image.data, sizeof header);
        assert_int_equal(header.e_machine, EM_AMDGPU);
        assert_int_equal(header.e_type, ET_DYN);
        assert_int_equal(header.e_ident[EI_ABIVERSION], images[i].version);
        assert_int_equal(header.e_flags & 0xff, images[i].machine);
        if (images[i].flags != 0)
            assert_int_equal(header.e_flags & 0xf00, images[i].flags);
        assert_true(kiln__rocm_metadata_read(&said, image.data, image.size));
        assert_int_equal(said.lanes, images[i].lanes);
        assert_string_equal(devices_now.format, "elf");
        kiln_blob_release(&image);
    }
}

/* ---- arguments ---- */

#define MIXED_TYPES \
    "f64[:] | Bool | i8 | f16 | Pair | (i8, i32) | Vec{f32, 4} | " \
    "f32[strided :,:] | f64 | u8[:,:,:,:]"

static void arguments_are_where_the_packed_block_has_them(void **state)
{
    static const char *const texts[] = {
        "f64[:]", "Bool",       "i8",          "f16",
        "Pair",   "(i8, i32)",  "Vec{f32, 4}", "f32[strided :,:]",
        "f64",    "u8[:,:,:,:]"};
    enum { COUNT = sizeof texts / sizeof *texts };
    kiln__rocm_argument found[64];
    kiln__rocm_metadata said = {.arguments = found, .room = 64};
    kiln_argument_info layout[COUNT];
    const kiln_type *types[COUNT];
    kiln_blob image = {0};
    size_t at = 0;

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(kiln_type_parse(&types[i], devices_now.context, package,
                                  texts[i], &test_error));
    (void)kiln__argument_layout(layout, types, COUNT);

    binary_of(&image, "mixed", MIXED_TYPES);

    assert_true(kiln__rocm_metadata_read(&said, image.data, image.size));
    for (size_t i = 0; i < COUNT; i++) {
        const int is_array = strstr(texts[i], "[") != NULL;
        const uint32_t step = is_array ? 8 : layout[i].size;

        for (uint32_t part = 0; part < layout[i].size; part += step) {
            assert_int_equal(found[at].offset, layout[i].offset + part);
            assert_int_equal(found[at].size, step);
            assert_string_equal(found[at].kind, is_array && part == 0
                                                    ? "global_buffer"
                                                    : "by_value");
            at++;
        }
    }
    assert_int_equal(devices_now.hidden_arguments, 5);
    kiln_blob_release(&image);
}

static void aggregates_are_read_where_the_runtime_put_them(void **state)
{
    char *text = text_of("mixed", MIXED_TYPES, KILN_EMIT_LLVM);

    (void)state;
    assert_contains(text, "ptr addrspace(4) byref([16 x i8]) align 8");
    free(text);
    text = text_of("mixed", MIXED_TYPES, KILN_EMIT_ASM);
    assert_lacks(text, "\tflat_");
    assert_lacks(text, "\tscratch_");
    assert_lacks(text, "\tbuffer_load");
    free(text);
}

static uint64_t count_arguments(const char *kernel, const char *types)
{
    kiln__rocm_metadata said = {0};
    kiln_blob image = {0};

    binary_of(&image, kernel, types);
    assert_true(kiln__rocm_metadata_read(&said, image.data, image.size));
    kiln_blob_release(&image);
    return said.argument_count;
}

static void the_runtime_is_asked_for_nothing_that_is_not_read(void **state)
{
    static const uint8_t levels[] = {KILN_OPT_0, KILN_OPT_1, KILN_OPT_3};

    (void)state;
    for (size_t i = 0; i < sizeof levels; i++) {
        char *text;

        devices_now.options.opt_level = levels[i];
        assert_int_equal(count_arguments("first", "i64[:]"), 2);
        text = text_of("sizes", "i64[:]", KILN_EMIT_ASM);
        assert_contains(text, "hidden_block_count_z");
        assert_contains(text, "hidden_group_size_x");
        assert_lacks(text, "hidden_hostcall");
        assert_lacks(text, "hidden_heap");
        assert_lacks(text, "hidden_multigrid");
        assert_lacks(text, "hidden_default_queue");
        assert_lacks(text, "hidden_completion_action");
        assert_lacks(text, "hidden_queue_ptr");
        assert_contains(text, ".amdhsa_user_sgpr_dispatch_ptr 0");
        free(text);
    }
}

/* ---- groups ---- */

static void required_groups_are_constants(void **state)
{
    static const char types[] = "f32[:] | f32 | f32[:]";
    char *text;

    (void)state;
    devices_now.options.required_group_size[0] = 64;
    devices_now.options.required_group_size[1] = 4;
    devices_now.options.required_group_size[2] = 1;

    assert_int_equal(count_arguments("saxpy", types), 10);
    text = text_of("saxpy", types, KILN_EMIT_LLVM_OPT);
    assert_lacks(text, "@llvm.amdgcn.implicitarg.ptr");
    assert_lacks(text, "@llvm.amdgcn.workitem.id.z");
    assert_contains(text, "\"amdgpu-flat-work-group-size\"=\"256,256\"");
    assert_contains(text, "\"uniform-work-group-size\"=\"true\"");
    assert_contains(text, "!{i32 64, i32 4, i32 1}");
    free(text);
    text = text_of("saxpy", types, KILN_EMIT_ASM);
    assert_contains(text, ".reqd_workgroup_size:");
    assert_contains(text, ".max_flat_workgroup_size: 256");
    free(text);
}

static void a_size_that_is_not_required_is_read(void **state)
{
    char *text;

    (void)state;
    text = text_of("sizes", "i64[:]", KILN_EMIT_LLVM);
    assert_contains(text, "mul i64 %");
    assert_contains(text, "@llvm.amdgcn.workitem.id.y(), !range");
    assert_contains(text, "!{i32 0, i32 1024}");
    assert_contains(text, "\"amdgpu-flat-work-group-size\"=\"1,1024\"");
    assert_lacks(text, "reqd_work_group_size");
    free(text);
}

static void minimum_groups_are_waves_of_a_unit(void **state)
{
    char *text;

    (void)state;
    devices_now.options.maximum_group_size = 256;
    devices_now.options.minimum_groups = 3;

    /* 256 items are 4 sub-groups of 64, one for each unit. */
    text = text_of("saxpy", "f32[:] | f32 | f32[:]", KILN_EMIT_LLVM);
    assert_contains(text, "\"amdgpu-flat-work-group-size\"=\"1,256\"");
    assert_contains(text, "\"amdgpu-waves-per-eu\"=\"3\"");
    free(text);

    devices_now.options.minimum_groups = 1000;
    text = text_of("saxpy", "f32[:] | f32 | f32[:]", KILN_EMIT_LLVM);
    assert_contains(text, "\"amdgpu-waves-per-eu\"=\"8\"");
    free(text);

    choose("gfx1100", "+cumode", "cov=5");
    devices_now.options.minimum_groups = 1;
    text = text_of("saxpy", "f32[:] | f32 | f32[:]", KILN_EMIT_LLVM);
    assert_contains(text, "\"amdgpu-waves-per-eu\"=\"4\"");
    free(text);
}

static void memory_of_groups_and_registers_are_told(void **state)
{
    kiln_blob image = {0};

    (void)state;
    binary_of(&image, "tile", "f32[:]");

    assert_int_equal(devices_now.static_local_bytes, 1200);
    assert_int_equal(devices_now.private_bytes, 0);
    assert_true(devices_now.registers > 0 && devices_now.registers < 64);
    kiln_blob_release(&image);
}

/* ---- instructions ---- */

static void barriers_wait_for_memory_of_the_group(void **state)
{
    char *text = text_of("tile", "f32[:]", KILN_EMIT_LLVM);

    (void)state;
    assert_contains(text, "fence syncscope(\"workgroup\") release");
    assert_contains(text, "fence syncscope(\"workgroup\") acquire");
    free(text);
    text = text_of("tile", "f32[:]", KILN_EMIT_ASM);
    assert_contains(text, "\ts_barrier\n");
    assert_contains(text, "\tds_write_b32");
    free(text);
}

static void lanes_of_64_reach_all_others(void **state)
{
    char *text;

    (void)state;
    text = text_of("shuffled", "i32[:] | i32[:]", KILN_EMIT_LLVM);
    assert_contains(text, "@llvm.amdgcn.ds.bpermute");
    assert_lacks(text, "@llvm.amdgcn.permlane64");
    free(text);

    choose("gfx1100", "+wavefrontsize64", "cov=5");
    text = text_of("shuffled", "i32[:] | i32[:]", KILN_EMIT_ASM);
    assert_contains(text, "\tv_permlane64_b32");
    free(text);

    choose("gfx1030", "+wavefrontsize64", "cov=5");
    text = text_of("shuffled", "i32[:] | i32[:]", KILN_EMIT_ASM);
    assert_lacks(text, "bpermute");
    assert_contains(text, "\tds_write_b32");
    assert_contains(text, ".group_segment_fixed_size: 4096");
    free(text);
}

static void atomics_of_integers_are_instructions(void **state)
{
    char *text;

    (void)state;
    text = text_of("counts", "i32[:] | f32[:]", KILN_EMIT_ASM);
    assert_contains(text, "\tglobal_atomic_smax");
    assert_contains(text, "\tglobal_atomic_cmpswap");
    assert_lacks(text, "\tglobal_atomic_add_f32");
    free(text);

    choose("gfx90a", "", "cov=5,unsafe_fp_atomics");
    text = text_of("counts", "i32[:] | f32[:]", KILN_EMIT_ASM);
    assert_contains(text, "\tglobal_atomic_add_f32");
    free(text);
}

/* An exception costs neither a call nor a stack, and is written once: only one
   of the two entries has checks. */
static void exceptions_are_written_where_the_item_ends(void **state)
{
    char *text = text_of("saxpy", "f32[:] | f32 | f32[:]", KILN_EMIT_LLVM_OPT);
    const char *swap = strstr(text, "cmpxchg");

    (void)state;
    assert_non_null(swap);
    assert_null(strstr(swap + 1, "cmpxchg"));
    assert_lacks(text, "alloca");
    free(text);
    text = text_of("saxpy", "f32[:] | f32 | f32[:]", KILN_EMIT_ASM);
    assert_lacks(text, "s_swappc");
    assert_contains(text, ".private_segment_fixed_size: 0");
    free(text);
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;

    while ((text = strstr(text, part)) != NULL) {
        found++;
        text += strlen(part);
    }
    return found;
}

/* A launch proves the check of y, but none of x. The loop, whose count is not
   known, does four iterations at a time that ask together and raise nothing,
   and another one does the rest: it jumps to the place that records. */
static void checks_of_loops_share_what_records(void **state)
{
    char *text =
        text_of("gathered", "f32[:] | f32[:] | i32[:]", KILN_EMIT_LLVM_OPT);
    const char *known = strstr(text, KILN__FACTS_SUFFIX "(");

    (void)state;
    assert_non_null(known);
    assert_lacks(text, "kiln.raise");
    assert_lacks(text, "alloca");
    assert_int_equal(count(known, "cmpxchg ptr"), 1);
    assert_int_equal(count(known, "label %raised"), 1);
    assert_int_equal(count(known, "load float"), 5);
    free(text);
}

static void a_print_has_its_hidden_arguments(void **state)
{
    kiln_blob image = {0};

    (void)state;
    binary_of(&image, "printed", "i64[:]");

    assert_int_equal(devices_now.hidden_arguments, 5);
    kiln_blob_release(&image);
}

/* Debuggers find lines in the code object. */
static void lines_of_the_source_are_in_the_code_object(void **state)
{
    kiln_blob image = {0};

    (void)state;
    binary_of(&image, "saxpy", "f32[:] | f32 | f32[:]");
    assert_null(memmem(image.data, image.size, ".debug_line", 11));
    kiln_blob_release(&image);

    devices_now.options.debug_level = KILN_DEBUG_LINES;
    binary_of(&image, "saxpy", "f32[:] | f32 | f32[:]");
    assert_non_null(memmem(image.data, image.size, ".debug_line", 11));
    kiln_blob_release(&image);
}

/* ---- what is refused ---- */

static void impossible_targets_are_refused(void **state)
{
    (void)state;
    choose("gfx803", "", "cov=5");
    assert_refused("no code for gfx803", "first", "i64[:]");
    choose("gfx9999", "", "cov=5");
    assert_refused("no processor or feature 'gfx9999'", "first", "i64[:]");
    choose("gfx906", "+wavefrontsize32", "cov=5");
    assert_refused("sub-groups of gfx906 have 64 items", "first", "i64[:]");
    choose("gfx90a", "", "cov=4");
    assert_refused("code objects have version 5 or 6", "first", "i64[:]");
    choose("gfx11-generic", "", "cov=5");
    assert_refused("gfx11-generic needs code objects of version 6", "first",
                   "i64[:]");
}

static void groups_that_are_too_large_are_refused(void **state)
{
    (void)state;
    devices_now.options.required_group_size[0] = 64;
    devices_now.options.required_group_size[2] = 17;

    assert_refused("a group of 64 x 1 x 17 items is asked for, and one on ",
                   "first", "i64[:]");
}

static void local_arrays_that_are_too_large_are_refused(void **state)
{
    (void)state;
    assert_refused(
        "with this one local arrays take 68000 bytes, and a group on ", "huge",
        "f32[:]");
}

/* All of gfx950's 160 KiB, in the code object's own words. */
static void a_group_of_gfx950_has_all_its_memory(void **state)
{
    kiln__rocm_metadata said = {0};
    kiln_blob image = {0};

    (void)state;
    devices_now.backend = "rocm:gfx950";
    choose("gfx950", "+wavefrontsize64", "cov=5");
    binary_of(&image, "fills", "f32[:]");
    devices_now.backend = "rocm";

    assert_true(kiln__rocm_metadata_read(&said, image.data, image.size));
    assert_int_equal(said.local_bytes, 160 << 10);
    assert_int_equal(devices_now.static_local_bytes, 160 << 10);
    kiln_blob_release(&image);
}

static void argument_lists_that_are_too_long_are_refused(void **state)
{
    (void)state;
    assert_refused("arguments take 4112 bytes, and a kernel for ", "much",
                   "f64[:] | (Big, Big, Big, Big) | (Big, Big, Big, Big) | "
                   "(Big, Big, Big, Big) | (Big, Big, Big, Big)");
}

/* ---- the same bytes ---- */

static const char *const repeated[][2] = {
    {"saxpy", "f32[:] | f32 | f32[:]"},
    {"mixed", MIXED_TYPES},
    {"tile", "f32[:]"},
    {"shuffled", "i64[:] | i64[:]"},
    {"counts", "i32[:] | f32[:]"},
    {"printed", "f16[:]"},
};

static const char *const processors[] = {"gfx906", "gfx90a", "gfx1100"};

static void write_all(FILE *out)
{
    for (size_t p = 0; p < sizeof processors / sizeof *processors; p++) {
        choose(processors[p], "", "cov=5");
        for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
            kiln_blob image = {0};

            binary_of(&image, repeated[i][0], repeated[i][1]);
            assert_int_equal(fwrite(image.data, 1, image.size, out),
                             image.size);
            kiln_blob_release(&image);
        }
    }
}

static void two_processes_make_the_same_bytes(void **state)
{
    char path[512] = "", command[600];
    char *own = NULL, byte;
    size_t size = 0, same = 0;
    FILE *memory = open_memstream(&own, &size);
    FILE *other;

    (void)state;
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    snprintf(command, sizeof command, "'%s' write", path);
    write_all(memory);
    fclose(memory);

    other = popen(command, "r");
    assert_non_null(other);
    while (same < size && fread(&byte, 1, 1, other) == 1 && byte == own[same])
        same++;
    assert_int_equal(same, size);
    assert_int_equal(fgetc(other), EOF);
    assert_int_equal(pclose(other), 0);
    free(own);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(images_are_of_their_processor_version_and_features),
        TEST(arguments_are_where_the_packed_block_has_them),
        TEST(aggregates_are_read_where_the_runtime_put_them),
        TEST(the_runtime_is_asked_for_nothing_that_is_not_read),
        TEST(required_groups_are_constants),
        TEST(a_size_that_is_not_required_is_read),
        TEST(minimum_groups_are_waves_of_a_unit),
        TEST(memory_of_groups_and_registers_are_told),
        TEST(barriers_wait_for_memory_of_the_group),
        TEST(lanes_of_64_reach_all_others),
        TEST(atomics_of_integers_are_instructions),
        TEST(exceptions_are_written_where_the_item_ends),
        TEST(checks_of_loops_share_what_records),
        TEST(a_print_has_its_hidden_arguments),
        TEST(lines_of_the_source_are_in_the_code_object),
        TEST(impossible_targets_are_refused),
        TEST(groups_that_are_too_large_are_refused),
        TEST(local_arrays_that_are_too_large_are_refused),
        TEST(a_group_of_gfx950_has_all_its_memory),
        TEST(argument_lists_that_are_too_long_are_refused),
        TEST(two_processes_make_the_same_bytes),
    };

    (void)argv;
    if (argc == 1)
        return cmocka_run_group_tests(tests, setup, teardown);
    setup(NULL);
    begin(NULL);
    write_all(stdout);
    teardown(NULL);
    return 0;
}
