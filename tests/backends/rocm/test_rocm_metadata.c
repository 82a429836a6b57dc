/* test_rocm_metadata.c - notes of code objects, damaged ones too. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen rocm fault */
/* LINKS: codegen */
#include "support/harness.h"

#include <elf.h>

#include "backends/rocm/codegen/llvm_gap_rocm.h"
#include "support/codegen/request.h"

/* ---- a code object that LLVM and lld made ---- */

/* The item's variable is in its private memory. */
static const char source[] =
    "declare i64 @kiln_global_id(ptr addrspace(5), i32)\n"
    "declare void @kiln_raise(ptr addrspace(5), i32, ptr, i32, ptr, i64, "
    "i64)\n"
    "@name = constant [2 x i8] c\"k\\00\"\n"
    "define i32 @k(ptr addrspace(5) %item, ptr %y, i64 %ny, float %a, ptr %x,\n"
    "              i64 %nx) {\n"
    "  %i = call i64 @kiln_global_id(ptr addrspace(5) %item, i32 0)\n"
    "  %in = icmp slt i64 %i, %ny\n"
    "  br i1 %in, label %do, label %out\n"
    "do:\n"
    "  %px = getelementptr float, ptr %x, i64 %i\n"
    "  %py = getelementptr float, ptr %y, i64 %i\n"
    "  %vx = load float, ptr %px\n"
    "  %m = fmul float %a, %vx\n"
    "  store float %m, ptr %py\n"
    "  ret i32 0\n"
    "out:\n"
    "  call void @kiln_raise(ptr addrspace(5) %item, i32 1, ptr @name, i32 3,\n"
    "                        ptr @name, i64 %i, i64 %ny)\n"
    "  ret i32 1\n"
    "}\n";

static outcome object;

static int make_object(void **state)
{
    (void)state;
    prepare(&object, source, KILN_EMIT_BINARY, saxpy_types, 3);
    object.settings.backend = "rocm";
    object.settings.triple = "amdgcn-amd-amdhsa";
    object.settings.processor = "gfx90a";
    object.settings.options = "cov=5";
    assert_built(&object);
    return 0;
}

static int free_object(void **state)
{
    (void)state;
    free(object.bytes);
    return 0;
}

static unsigned char *copy_object(size_t size)
{
    unsigned char *copy = malloc(size + 1);

    assert_non_null(copy);
    memcpy(copy, object.bytes, size);
    return copy;
}

static void a_code_object_tells_of_its_kernel(void **state)
{
    kiln__rocm_argument arguments[8];
    kiln__rocm_metadata said = {.arguments = arguments, .room = 8};

    (void)state;

    assert_true(kiln__rocm_metadata_read(&said, object.bytes, object.size));
    assert_int_equal(said.kernels, 1);
    assert_int_equal(said.lanes, 64);
    assert_int_equal(said.local_bytes, 0);
    assert_int_equal(said.private_bytes, 0);
    assert_int_equal(said.maximum_group, 1024);
    assert_true(said.registers > 0);
    assert_true(said.argument_count > 8);
    assert_true(said.argument_bytes >= 40);
    assert_int_equal(arguments[2].offset, 16);
    assert_int_equal(arguments[2].size, 4);
    assert_string_equal(arguments[2].kind, "by_value");
    assert_string_equal(arguments[3].kind, "global_buffer");
    assert_string_equal(arguments[6].kind, "by_value");
    assert_string_equal(arguments[7].kind, "hidden_block_count_x");
}

/* Only with its last byte is the note whole. */
static void a_shorter_code_object_is_damaged(void **state)
{
    const unsigned char *name =
        memmem(object.bytes, object.size, "AMDGPU\0", 8);
    uint32_t note_size;
    size_t end;

    (void)state;
    assert_non_null(name);
    memcpy(&note_size, name - 8, sizeof note_size);
    end = (size_t)(name - (unsigned char *)object.bytes) + 8 + note_size;

    for (size_t size = 0; size < end; size++) {
        kiln__rocm_metadata said = {0};
        unsigned char *copy = copy_object(size);

        assert_false(kiln__rocm_metadata_read(&said, copy, size));
        free(copy);
    }
}

static void no_damaged_byte_is_read_beyond(void **state)
{
    static const unsigned char masks[] = {0x01, 0x10, 0x80, 0xff};
    unsigned char *copy = copy_object(object.size);
    kiln__rocm_argument arguments[4];
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < object.size; i++)
        for (size_t m = 0; m < sizeof masks; m++) {
            kiln__rocm_metadata said = {.arguments = arguments, .room = 4};

            copy[i] ^= masks[m];
            found += !kiln__rocm_metadata_read(&said, copy, object.size);
            copy[i] ^= masks[m];
        }

    assert_true(found > 100);
    free(copy);
}

static void a_copy_without_a_byte_is_read_within_its_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < object.size; i++) {
        kiln__rocm_metadata said = {0};
        unsigned char *copy = copy_object(object.size);

        memmove(copy + i, copy + i + 1, object.size - i - 1);
        copy = realloc(copy, object.size - 1);
        assert_non_null(copy);
        (void)kiln__rocm_metadata_read(&said, copy, object.size - 1);
        free(copy);
    }
}

/* ---- notes written by hand ---- */

#define BYTES(text) text, sizeof(text) - 1

static unsigned char *file;
static size_t file_size;

/* An ELF file with one segment of one note, which takes whole words. */
static int read_note(kiln__rocm_metadata *said, const char *bytes, size_t size)
{
    const size_t padded = (size + 3) / 4 * 4;
    const Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
        .e_phoff = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
    };
    const Elf64_Nhdr note = {
        .n_namesz = 7, .n_descsz = (uint32_t)size, .n_type = 32};
    const Elf64_Phdr segment = {
        .p_type = PT_NOTE,
        .p_offset = sizeof header + sizeof segment,
        .p_filesz = sizeof note + 8 + padded,
    };
    int result;

    file_size = segment.p_offset + segment.p_filesz;
    file = calloc(1, file_size);
    assert_non_null(file);
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, &segment, sizeof segment);
    memcpy(file + segment.p_offset, &note, sizeof note);
    memcpy(file + segment.p_offset + sizeof note, "AMDGPU\0", 8);
    if (size > 0)
        memcpy(file + segment.p_offset + sizeof note + 8, bytes, size);
    result = kiln__rocm_metadata_read(said, file, file_size);
    free(file);
    return result;
}

#define KERNEL \
    "\xab.vgpr_count\x07" \
    "\xb9.group_segment_fixed_size\xcd\x12\x34" \
    "\xbb.private_segment_fixed_size\xce\x00\x01\x00\x02" \
    "\xb5.kernarg_segment_size\xcc\xf0" \
    "\xb8.max_flat_workgroup_size\xcf\x00\x00\x00\x00\x00\x00\x04\x00" \
    "\xaf.wavefront_size\x40"

static void numbers_of_every_width_are_read(void **state)
{
    kiln__rocm_metadata said = {0};

    (void)state;

    assert_true(read_note(&said, BYTES("\x81\xae"
                                       "amdhsa.kernels\x91\x86" KERNEL)));
    assert_int_equal(said.registers, 7);
    assert_int_equal(said.local_bytes, 0x1234);
    assert_int_equal(said.private_bytes, 0x10002);
    assert_int_equal(said.argument_bytes, 0xf0);
    assert_int_equal(said.maximum_group, 1024);
    assert_int_equal(said.lanes, 64);
}

/* Values of all kinds, in maps and arrays of all sizes, before the kernels. */
static void what_nobody_asked_for_is_skipped(void **state)
{
    kiln__rocm_metadata said = {0};

    (void)state;

    assert_true(read_note(&said, BYTES("\xde\x00\x02"
                                       "\xa3"
                                       "all"
                                       "\xdc\x00\x19"
                                       "\xc0\xc2\xc3\xe5\x7f"
                                       "\xc4\x02"
                                       "xy"
                                       "\xc5\x00\x01"
                                       "x"
                                       "\xc6\x00\x00\x00\x01"
                                       "x"
                                       "\xc7\x01\x09"
                                       "x"
                                       "\xc8\x00\x01\x09"
                                       "x"
                                       "\xc9\x00\x00\x00\x01\x09"
                                       "x"
                                       "\xca"
                                       "four"
                                       "\xcb"
                                       "eight888"
                                       "\xd0\xff"
                                       "\xd1\xff\xff"
                                       "\xd2wwww"
                                       "\xd3wwwwwwww"
                                       "\xd4\x01x"
                                       "\xd5\x01xx"
                                       "\xd6\x01xxxx"
                                       "\xd9\x01x"
                                       "\xda\x00\x01x"
                                       "\xdb\x00\x00\x00\x01x"
                                       "\xdd\x00\x00\x00\x01\x91\x90"
                                       "\xdf\x00\x00\x00\x01\xa1k\x81\xa1k\x80"
                                       "\xae"
                                       "amdhsa.kernels\x91\x86" KERNEL)));
    assert_int_equal(said.registers, 7);
}

static void a_number_that_is_missing_is_damage(void **state)
{
    kiln__rocm_metadata said = {0};

    (void)state;

    assert_false(read_note(&said, BYTES("\x81\xae"
                                        "amdhsa.kernels\x91\x80")));
    assert_false(read_note(&said, BYTES("\x81\xae"
                                        "amdhsa.kernels\x90")));
    assert_false(read_note(&said, BYTES("\x80")));
    assert_false(read_note(&said, BYTES("\x90")));
    assert_false(read_note(&said, BYTES("")));
}

/* None costs time or depth that its bytes do not pay for. */
static void absurd_lengths_are_damage(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } notes[] = {
        {BYTES("\xdf\xff\xff\xff\xff\xa1k\x01")},
        {BYTES("\x81\xa1k\xdd\xff\xff\xff\xff")},
        {BYTES("\x81\xa1k\xdf\xff\xff\xff\xff\x01\x01")},
        {BYTES("\x81\xdb\xff\xff\xff\xff"
               "k")},
        {BYTES("\x81\xa1k\xc6\xff\xff\xff\xff")},
        {BYTES("\x81\xa1k\xc9\xff\xff\xff\xff")},
        {BYTES("\x81\xae"
               "amdhsa.kernels\xdd\xff\xff\xff\xff")},
        {BYTES("\x81\xae"
               "amdhsa.kernels\x91\x81\xa5.args\xdd\xff\xff\xff\xff")},
    };
    char deep[4096];

    (void)state;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        kiln__rocm_metadata said = {0};

        assert_false(read_note(&said, notes[i].bytes, notes[i].size));
    }
    memset(deep, 0x91, sizeof deep);
    memcpy(deep, "\x81\xa1k", 3);
    assert_false(read_note(&(kiln__rocm_metadata){0}, deep, sizeof deep));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_code_object_tells_of_its_kernel),
        cmocka_unit_test(a_shorter_code_object_is_damaged),
        cmocka_unit_test(no_damaged_byte_is_read_beyond),
        cmocka_unit_test(a_copy_without_a_byte_is_read_within_its_bounds),
        cmocka_unit_test(numbers_of_every_width_are_read),
        cmocka_unit_test(what_nobody_asked_for_is_skipped),
        cmocka_unit_test(a_number_that_is_missing_is_damage),
        cmocka_unit_test(absurd_lengths_are_damage),
    };

    return cmocka_run_group_tests(tests, make_object, free_object);
}
