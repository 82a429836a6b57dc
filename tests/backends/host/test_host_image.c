/* test_host_image.c - images: loading, refusing, unloading. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends host */
/* WRAPS: mprotect */
#include <elf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/host_backend.h"
#include "base/system/file.h"
#include "support/harness.h"

/*
 * A small image made by hand: constants and tables at 0, code at 0x1000, data
 * and the dynamic section at 0x2000. Its three functions return a constant,
 * read a word through a relocated pointer, and jump to sqrt().
 */
#define CODE 0x1000
#define DATA 0x2000
#define SYMBOLS 5
#define RELOCATIONS 3
#define TAGS 11

struct constants {
    Elf64_Ehdr header;
    Elf64_Phdr segments[4];
    Elf64_Sym symbols[SYMBOLS];
    uint32_t hash[2 + 1 + SYMBOLS];
    Elf64_Rela relocations[RELOCATIONS];
    char strings[64];
};

struct data {
    uint64_t pointer;  /* to `word` */
    uint64_t function; /* sqrt */
    uint64_t symbol;   /* answer + 1 */
    uint32_t word;
    uint32_t padding;
    Elf64_Dyn dynamic[TAGS];
};

struct image {
    struct constants constants;
    unsigned char code[32];
    struct data data;
};

static uint32_t add_name(struct constants *to, const char *name)
{
    size_t at = 1;

    while (to->strings[at] != '\0')
        at += strlen(to->strings + at) + 1;
    memcpy(to->strings + at, name, strlen(name) + 1);
    return (uint32_t)at;
}

static void add_symbol(struct constants *to, size_t index, const char *name,
                       uint16_t section, uint64_t value)
{
    to->symbols[index] = (Elf64_Sym){
        .st_name = add_name(to, name),
        .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
        .st_shndx = section,
        .st_value = value,
    };
}

static void set_code(unsigned char *code)
{
    /* mov eax, 42; ret */
    static const unsigned char answer[] = {0xb8, 42, 0, 0, 0, 0xc3};
    /* mov rax, [rip + DATA - 0x100f]; mov eax, [rax]; ret */
    static const unsigned char through[] = {0x48, 0x8b, 0x05, 0xf1, 0x0f,
                                            0,    0,    0x8b, 0,    0xc3};
    /* jmp [rip + DATA + 8 - 0x101e] */
    static const unsigned char root[] = {0xff, 0x25, 0xea, 0x0f, 0, 0};

    memcpy(code, answer, sizeof answer);
    memcpy(code + 8, through, sizeof through);
    memcpy(code + 24, root, sizeof root);
}

static void set_dynamic(Elf64_Dyn *tags)
{
    const Elf64_Dyn values[TAGS] = {
        {DT_HASH, {offsetof(struct constants, hash)}},
        {DT_SYMTAB, {offsetof(struct constants, symbols)}},
        {DT_SYMENT, {sizeof(Elf64_Sym)}},
        {DT_STRTAB, {offsetof(struct constants, strings)}},
        {DT_STRSZ, {sizeof((struct constants *)0)->strings}},
        {DT_RELA, {offsetof(struct constants, relocations)}},
        {DT_RELASZ, {RELOCATIONS * sizeof(Elf64_Rela)}},
        {DT_RELAENT, {sizeof(Elf64_Rela)}},
        {DT_SONAME, {1}},
        {DT_FLAGS, {0}},
        {DT_NULL, {0}},
    };

    memcpy(tags, values, sizeof values);
}

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t offset,
                          uint64_t address, uint64_t size)
{
    return (Elf64_Phdr){
        .p_type = type,
        .p_flags = flags,
        .p_offset = offset,
        .p_vaddr = address,
        .p_filesz = size,
        .p_memsz = size,
        .p_align = 0x1000,
    };
}

static void image_init(struct image *image)
{
    struct constants *constants = &image->constants;
    const uint64_t data = offsetof(struct image, data);

    memset(image, 0, sizeof *image);
    memcpy(constants->header.e_ident, ELFMAG, SELFMAG);
    constants->header.e_ident[EI_CLASS] = ELFCLASS64;
    constants->header.e_ident[EI_DATA] = ELFDATA2LSB;
    constants->header.e_ident[EI_VERSION] = EV_CURRENT;
    constants->header.e_version = EV_CURRENT;
    constants->header.e_type = ET_DYN;
    constants->header.e_machine = EM_X86_64;
    constants->header.e_phoff = offsetof(struct constants, segments);
    constants->header.e_phentsize = sizeof(Elf64_Phdr);
    constants->header.e_phnum = 4;
    constants->segments[0] = segment(PT_LOAD, PF_R, 0, 0, sizeof *constants);
    constants->segments[1] =
        segment(PT_LOAD, PF_R | PF_X, offsetof(struct image, code), CODE,
                sizeof image->code);
    constants->segments[2] =
        segment(PT_LOAD, PF_R | PF_W, data, DATA, sizeof image->data);
    constants->segments[3] = segment(PT_DYNAMIC, PF_R | PF_W, data,
                                     DATA + offsetof(struct data, dynamic),
                                     sizeof image->data.dynamic);
    add_symbol(constants, 1, "answer", 1, CODE);
    add_symbol(constants, 2, "through", 1, CODE + 8);
    add_symbol(constants, 3, "root", 1, CODE + 24);
    add_symbol(constants, 4, "sqrt", SHN_UNDEF, 0);
    constants->hash[0] = 1;
    constants->hash[1] = SYMBOLS;
    constants->relocations[0] = (Elf64_Rela){
        .r_offset = DATA,
        .r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
        .r_addend = DATA + offsetof(struct data, word),
    };
    constants->relocations[1] = (Elf64_Rela){
        .r_offset = DATA + offsetof(struct data, function),
        .r_info = ELF64_R_INFO(4, R_X86_64_GLOB_DAT),
    };
    constants->relocations[2] = (Elf64_Rela){
        .r_offset = DATA + offsetof(struct data, symbol),
        .r_info = ELF64_R_INFO(1, R_X86_64_64),
        .r_addend = 1,
    };
    set_code(image->code);
    image->data.word = 7;
    set_dynamic(image->data.dynamic);
}

static kiln_status load(kiln__host_image **out, const struct image *image)
{
    return kiln__host_image_load(out, &kiln__malloc, NULL, image, sizeof *image,
                                 &test_error);
}

/* Calls a function of the image that takes nothing. */
static int call(const kiln__host_image *image, const char *name)
{
    void *address = kiln__host_image_symbol(image, name);
    int (*function)(void);

    assert_non_null(address);
    memcpy(&function, &address, sizeof function);
    return function();
}

/* ---- good images ---- */

static void functions_of_an_image_run(void **state)
{
    struct image bytes;
    kiln__host_image *image;
    void *address;
    double (*root)(double);

    (void)state;
    image_init(&bytes);
    assert_ok(load(&image, &bytes));

    assert_int_equal(call(image, "answer"), 42);
    assert_int_equal(call(image, "through"), 7);
    address = kiln__host_image_symbol(image, "root");
    assert_non_null(address);
    memcpy(&root, &address, sizeof root);
    assert_true(fabs(root(2.25) - 1.5) < 1e-12);

    kiln__host_image_unload(image);
}

static void loading_keeps_nothing_of_the_file(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    assert_ok(load(&image, &bytes));
    memset(&bytes, 0, sizeof bytes);

    assert_int_equal(call(image, "through"), 7);

    kiln__host_image_unload(image);
}

static void two_copies_do_not_share_data(void **state)
{
    struct image bytes;
    kiln__host_image *first, *second;

    (void)state;
    image_init(&bytes);
    assert_ok(load(&first, &bytes));
    bytes.data.word = 8;
    assert_ok(load(&second, &bytes));

    assert_int_equal(call(first, "through"), 7);
    assert_int_equal(call(second, "through"), 8);

    kiln__host_image_unload(first);
    assert_int_equal(call(second, "through"), 8);
    kiln__host_image_unload(second);
}

static void imported_and_missing_names_are_not_found(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    assert_ok(load(&image, &bytes));

    assert_null(kiln__host_image_symbol(image, "sqrt"));
    assert_null(kiln__host_image_symbol(image, "answe"));
    assert_null(kiln__host_image_symbol(image, ""));

    kiln__host_image_unload(image);
}

static void unloading_nothing_is_fine(void **state)
{
    (void)state;
    kiln__host_image_unload(NULL);
}

static kiln_status load_and_unload(const kiln_alloc *alloc, void *env)
{
    kiln__host_image *image;
    kiln_status status = kiln__host_image_load(&image, alloc, NULL, env,
                                               sizeof(struct image), NULL);

    if (status == KILN_OK)
        kiln__host_image_unload(image);
    return status;
}

static void loading_survives_a_failing_allocator(void **state)
{
    struct image bytes;

    (void)state;
    image_init(&bytes);
    assert_survives_failing_alloc(load_and_unload, &bytes);
}

/* ---- images that are refused ---- */

static void a_name_outside_the_list_is_refused(void **state)
{
    struct image bytes;
    kiln__host_image *image;
    char *name;

    (void)state;
    image_init(&bytes);
    name = bytes.constants.strings + bytes.constants.symbols[4].st_name;
    memcpy(name, "exit", 5);

    assert_fails(KILN_EUNSUPPORTED, "\"exit\"", load(&image, &bytes));
}

static void writable_code_is_refused(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    bytes.constants.segments[1].p_flags |= PF_W;

    assert_fails(KILN_EUNSUPPORTED, "writable and executable",
                 load(&image, &bytes));
}

static void relocation_of_code_is_refused(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    bytes.constants.relocations[0].r_offset = CODE;

    assert_fails(KILN_ECORRUPT, "not data", load(&image, &bytes));
}

static void indirect_relocations_are_refused(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    bytes.constants.relocations[0].r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE);

    assert_fails(KILN_EUNSUPPORTED, "relocation of type 37",
                 load(&image, &bytes));
}

static void constructors_are_refused(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    bytes.data.dynamic[8].d_tag = DT_INIT_ARRAY;

    assert_fails(KILN_EUNSUPPORTED, "constructors", load(&image, &bytes));
}

static void needed_libraries_are_refused(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    bytes.data.dynamic[8].d_tag = DT_NEEDED;

    assert_fails(KILN_EUNSUPPORTED, "library", load(&image, &bytes));
}

static void tables_that_can_be_written_are_refused(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    bytes.constants.segments[0].p_flags |= PF_W;

    assert_fails(KILN_ECORRUPT, "table", load(&image, &bytes));
}

static void a_huge_segment_is_refused(void **state)
{
    struct image bytes;
    kiln__host_image *image;

    (void)state;
    image_init(&bytes);
    bytes.constants.segments[2].p_memsz = UINT64_MAX;

    assert_fails(KILN_ECORRUPT, "too large", load(&image, &bytes));
}

/* ---- the system ---- */

static int refusal; /* what mprotect() fails with; 0: it works */

int __real_mprotect(void *address, size_t size, int flags);
int __wrap_mprotect(void *address, size_t size, int flags);

int __wrap_mprotect(void *address, size_t size, int flags)
{
    if (refusal == 0)
        return __real_mprotect(address, size, flags);
    errno = refusal;
    return -1;
}

/* A process has 65530 mappings, and each image takes a few. */
static void a_lack_of_mappings_is_a_lack_of_memory(void **state)
{
    kiln__host_image *image;
    struct image bytes;

    (void)state;
    image_init(&bytes);
    refusal = ENOMEM;
    assert_fails(KILN_ENOMEM, "vm.max_map_count", load(&image, &bytes));
    refusal = EACCES;
    assert_fails(KILN_EDEVICE,
                 "refused to protect its pages: ", load(&image, &bytes));
    refusal = 0;
    assert_ok(load(&image, &bytes));
    kiln__host_image_unload(image);
}

/* ---- damage ---- */

/* Whatever loads can be asked for symbols and unloaded. */
static void check_damaged(const void *bytes, size_t size, size_t where)
{
    kiln__host_image *image;
    const kiln_status status =
        kiln__host_image_load(&image, &kiln__malloc, NULL, bytes, size, NULL);

    if (status == KILN_OK) {
        (void)kiln__host_image_symbol(image, "root");
        kiln__host_image_unload(image);
    } else if (status != KILN_ECORRUPT && status != KILN_EUNSUPPORTED &&
               status != KILN_ENOMEM && status != KILN_EDEVICE) {
        fail_msg("byte %zu: %s", where, kiln_status_name(status));
    }
}

static void every_truncated_image_is_refused(void **state)
{
    struct image bytes;

    (void)state;
    image_init(&bytes);
    for (size_t size = 0; size < sizeof bytes; size++) {
        kiln__host_image *image;
        /* An exact copy lets a sanitizer see reads behind the end. */
        unsigned char *copy = malloc(size + 1);

        assert_non_null(copy);
        memcpy(copy, &bytes, size);
        assert_int_not_equal(kiln__host_image_load(&image, &kiln__malloc, NULL,
                                                   copy, size, NULL),
                             KILN_OK);
        free(copy);
    }
}

static void no_flipped_bit_crashes_the_loader(void **state)
{
    struct image bytes;
    unsigned char *flipped = (unsigned char *)&bytes;

    (void)state;
    image_init(&bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            flipped[i] ^= (unsigned char)(1u << bit);
            check_damaged(&bytes, sizeof bytes, i);
            flipped[i] ^= (unsigned char)(1u << bit);
        }
}

static void no_extreme_byte_crashes_the_loader(void **state)
{
    static const unsigned char extremes[] = {0, 0x7f, 0x80, 0xff};
    struct image bytes;
    unsigned char *changed = (unsigned char *)&bytes;

    (void)state;
    image_init(&bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        const unsigned char before = changed[i];

        for (size_t k = 0; k < sizeof extremes; k++) {
            changed[i] = extremes[k];
            check_damaged(&bytes, sizeof bytes, i);
        }
        changed[i] = before;
    }
}

static void no_extreme_word_crashes_the_loader(void **state)
{
    static const uint64_t extremes[] = {0,         0x1000,         0x2ffa,
                                        INT64_MAX, UINT64_MAX - 7, UINT64_MAX};
    struct image bytes;
    unsigned char *changed = (unsigned char *)&bytes;

    (void)state;
    image_init(&bytes);
    for (size_t i = 0; i + 8 <= sizeof bytes; i += 4) {
        uint64_t before;

        memcpy(&before, changed + i, sizeof before);
        for (size_t k = 0; k < sizeof extremes / sizeof extremes[0]; k++) {
            memcpy(changed + i, &extremes[k], sizeof before);
            check_damaged(&bytes, sizeof bytes, i);
        }
        memcpy(changed + i, &before, sizeof before);
    }
}

/* ---- images of a linker ---- */

static const char source[] =
    "double cos(double); double exp(double);\n"
    "static const double table[4] = {1, 2, 4, 8};\n"
    "static const double *const rows[2] = {table, table + 2};\n"
    "double counter = 1;\n"
    "double shape(double x, int row)\n"
    "{ counter += 1; return rows[row][1] * cos(x) + exp(x) * 0 + counter; }\n";

static int link_image(char *path, size_t capacity, const char *folder,
                      const char *options)
{
    char c_file[512], command[2048];

    harness_write_file(c_file, sizeof c_file, folder, "image.c", source,
                       sizeof source - 1);
    (void)snprintf(path, capacity, "%s/image.so", folder);
    (void)snprintf(command, sizeof command,
                   "cc -O2 -fPIC -fno-stack-protector -shared -nostdlib "
                   "-Wl,-z,noexecstack %s -o %s %s >/dev/null 2>&1",
                   options, path, c_file);
    return system(command) == 0;
}

static void check_linked(const char *folder, const char *options)
{
    char path[512];
    kiln_blob file;
    kiln__host_image *image;
    void *address;
    double (*shape)(double, int);

    if (!link_image(path, sizeof path, folder, options))
        test_skip(SKIP_PACKAGE, options);
    assert_ok(
        kiln__file_read(&file, &kiln__malloc, path, 1 << 20, &test_error));
    assert_ok(kiln__host_image_load(&image, &kiln__malloc, NULL, file.data,
                                    file.size, &test_error));
    kiln_blob_release(&file);
    address = kiln__host_image_symbol(image, "shape");
    assert_non_null(address);
    memcpy(&shape, &address, sizeof shape);
    assert_true(fabs(shape(0, 1) - 10) < 1e-12);
    assert_true(fabs(shape(0, 0) - 5) < 1e-12);
    kiln__host_image_unload(image);
}

static void images_of_a_linker_load_with_both_kinds_of_hash_table(void **state)
{
    check_linked(*state, "-Wl,--hash-style=gnu -Wl,-z,now");
    check_linked(*state, "-Wl,--hash-style=sysv -Wl,-z,lazy");
}

/* ---- the list of imports ---- */

static void imports_are_sorted_and_all_found(void **state)
{
    const char *name, *before = "";

    (void)state;
    for (size_t i = 0; (name = kiln__host_import_name(i)) != NULL; i++) {
        assert_true(strcmp(before, name) < 0);
        assert_non_null(kiln__host_import(name));
        before = name;
    }
    assert_non_null(kiln__host_import("sinf"));
    assert_null(kiln__host_import("system"));
    assert_null(kiln__host_import(""));
    assert_null(kiln__host_import("~"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_an_image_run),
        cmocka_unit_test(loading_keeps_nothing_of_the_file),
        cmocka_unit_test(two_copies_do_not_share_data),
        cmocka_unit_test(imported_and_missing_names_are_not_found),
        cmocka_unit_test(unloading_nothing_is_fine),
        cmocka_unit_test(loading_survives_a_failing_allocator),
        cmocka_unit_test(a_name_outside_the_list_is_refused),
        cmocka_unit_test(writable_code_is_refused),
        cmocka_unit_test(relocation_of_code_is_refused),
        cmocka_unit_test(indirect_relocations_are_refused),
        cmocka_unit_test(constructors_are_refused),
        cmocka_unit_test(needed_libraries_are_refused),
        cmocka_unit_test(tables_that_can_be_written_are_refused),
        cmocka_unit_test(a_huge_segment_is_refused),
        cmocka_unit_test(a_lack_of_mappings_is_a_lack_of_memory),
        cmocka_unit_test(every_truncated_image_is_refused),
        cmocka_unit_test(no_flipped_bit_crashes_the_loader),
        cmocka_unit_test(no_extreme_byte_crashes_the_loader),
        cmocka_unit_test(no_extreme_word_crashes_the_loader),
        cmocka_unit_test_setup_teardown(
            images_of_a_linker_load_with_both_kinds_of_hash_table,
            temporary_folder_setup, temporary_folder_teardown),
        cmocka_unit_test(imports_are_sorted_and_all_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
