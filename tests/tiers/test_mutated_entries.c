/* test_mutated_entries.c - every field of every entry, turned into a lie. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers fault host */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kiln.h>

#include "base/system/file.h"
#include "stores/entry.h"
#include "support/devices/kernels.h"
#include "support/harness.h"
#include "support/stores/loose_files.h"
#include "support/stores/mutate.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/entry_writer.h"

/*
 * Sums find damage. An entry that somebody else wrote, or another version
 * wrongly, has right sums and is read on. A cache is filled; then each field of
 * each entry's meta, and of its head, becomes what it must not be, one at a
 * time, under sums that are right, and a process runs the program over it. It
 * ends without an error and with the right numbers, the first time: so nothing
 * lasts. Only that a kernel allocates is found out when it finds no room. What
 * a kernel says of exceptions is as little checked as its code; and what a text
 * means is said by its entry alone: one that says the meaning of another kernel
 * is that kernel's code. What a driver made only the driver
 * can read, and not each of them survives nonsense.
 *
 * KILN_TEST_BACKEND says where. Each variant of so many is taken as the first
 * argument says; 1 takes a quarter of an hour on the host. The second chooses
 * tests by a pattern. With KILN_TEST_TELL each lie is printed before it is
 * told.
 */
static const char util[] = "struct Pair\n"
                           "    a: f64\n"
                           "    b: f64\n"
                           "end\n"
                           "fn twice(x) = x + x\n";

static const char program[] =
    "import util\n"
    "import util: Pair\n"
    "fn fact(n)\n"
    "    p = 1\n"
    "    for k in 2..n + 1\n"
    "        p *= k\n"
    "    end\n"
    "    return p\n"
    "end\n"
    "fn scaled(p: Pair, x) = p.a * x + sin(p.b)\n"
    "kernel fill(y: f64[:], a: f64)\n"
    "    i = global_id(0)\n"
    "    local t = f64[8]\n"
    "    t[local_id(0) % 8] = a\n"
    "    if i < length(y)\n"
    "        y[i] = scaled(Pair(a / 2, 0.0), f64(util.twice(fact(i))))\n"
    "    end\n"
    "end\n"
    "kernel room(y: f64[:])\n"
    "    i = global_id(0)\n"
    "    r = allocate(f64, 3)\n"
    "    r[i % 3] = f64(i)\n"
    "    print(\"at \", i, \"\\n\")\n"
    "    y[i] = r[i % 3]\n"
    "    free(r)\n"
    "end\n"
    "kernel beyond(y: f64[:])\n"
    "    y[length(y) + global_id(0)] = 1.0\n"
    "end\n";

#define ITEMS 8
#define FILES_MAX 128

typedef struct stored {
    char path[256];
    kiln_blob bytes;
    kiln__entry entry;
} stored;

static const char *folder;
static stored files[FILES_MAX];
static size_t file_count;
static size_t stride = 16;
static mutate_pool pool;
static kiln_digest digests[FILES_MAX];
static int has_no_room; /* of a kernel that said that it allocates nothing */
static int is_attached; /* a process found what was attached */

/* ---- one process ---- */

static kernels opened;

static void run_fill(kiln_package *package)
{
    static const double expected[ITEMS] = {2, 2, 4, 12, 48, 240, 1440, 10080};
    const kiln_launch launch = {.grid = {ITEMS}, .block = {ITEMS}};
    double y[ITEMS] = {0}, a = 2;
    const kiln_array array = kernels_array(y, ITEMS);
    const kernels_argument arguments[] = {{"f64[:]", &array}, {"f64", &a}};

    assert_ok(kernels_launch(&opened, package, "fill", opened.config, &launch,
                             arguments, 2, &test_error));
    for (int i = 0; i < ITEMS; i++)
        assert_true(y[i] == expected[i]);
}

static void run_room(kiln_package *package)
{
    double y[ITEMS] = {0};
    const kiln_array array = kernels_array(y, ITEMS);
    const kernels_argument argument = {"f64[:]", &array};
    const kiln_status status =
        kernels_run(&opened, package, "room", ITEMS, &argument, 1, &test_error);

    has_no_room =
        status == KILN_EEXCEPTION &&
        kiln_error_exception(test_error)->kind == KILN_EXCEPTION_MEMORY;
    if (has_no_room) {
        kiln_error_free(test_error);
        test_error = NULL;
        return;
    }
    assert_ok(status);
    for (int i = 0; i < ITEMS; i++)
        assert_true(y[i] == i);
}

static void run_beyond(kiln_package *package)
{
    double y[ITEMS] = {0};
    const kiln_array array = kernels_array(y, ITEMS);
    const kernels_argument argument = {"f64[:]", &array};
    const kiln_status status =
        kernels_run(&opened, package, "beyond", 1, &argument, 1, &test_error);

    kiln_error_free(test_error);
    test_error = NULL;
    /* The body that does this is made now: what it is made of may be a lie. */
    assert_true(status == KILN_OK || status == KILN_EEXCEPTION ||
                status == KILN_ECORRUPT || status == KILN_ECODEGEN ||
                status == KILN_EUNSUPPORTED);
}

/* ---- what is attached ---- */

static const char note[] = "a note";

static void keep_note(void *value)
{
    (void)value;
}

static void keep_blob(kiln_blob *blob)
{
    blob->release = NULL;
}

static kiln_status save_note(void *value, kiln_blob *out)
{
    *out = (kiln_blob){value, sizeof note, keep_blob, NULL};
    return KILN_OK;
}

static kiln_status load_note(const void *bytes, size_t size, void **value)
{
    if (size != sizeof note || memcmp(bytes, note, size) != 0)
        return KILN_ECORRUPT;
    *value = (void *)(uintptr_t)note;
    return KILN_OK;
}

static const kiln_attachment_consumer notes = {.size = sizeof notes,
                                               .name = "notes",
                                               .load = load_note,
                                               .destroy = keep_note,
                                               .save = save_note};

static void attach(kiln_package *package)
{
    kiln_attachment made = {.size = sizeof made,
                            .value = (void *)(uintptr_t)note,
                            .destroy = keep_note,
                            .relocation = KILN_RELOCATION_PORTABLE,
                            .save = save_note,
                            .load = load_note};
    const kiln_type *type = kiln_type_scalar(opened.context, KILN_TYPE_I64);
    kiln_signature signature = {NULL, &type, 1};
    const kiln_code *code = NULL;
    void *value = NULL;
    kiln_status status;

    assert_ok(kiln_package_function(&signature.function, package, "fact",
                                    &test_error));
    assert_ok(kiln_infer(&code, opened.context, &signature, opened.config, 0,
                         &test_error));
    status = kiln_attachment_get(&value, code, NULL, "notes");
    is_attached = status == KILN_OK;
    if (status == KILN_ENOTFOUND)
        status = kiln_attachment_put(&value, code, NULL, "notes", &made);
    assert_status(KILN_OK, status);
    assert_string_equal(value, note);
}

static void drop_print(void *env, const char *text, size_t size)
{
    (void)env;
    (void)text;
    (void)size;
}

/* `comment` makes it another program of the same meaning. */
static void run_process(int comment)
{
    static const kiln_host_ops host = {.size = sizeof host,
                                       .print = drop_print};
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_package *package;
    char text[2000];

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    options.host = &host;
    (void)snprintf(text, sizeof text, "%s%s", comment ? "# other\n" : "",
                   program);
    memset(&opened, 0, sizeof opened);
    assert_ok(kiln_context_new(&opened.context, &options, &test_error));
    assert_ok(
        kiln_attachment_consumer_add(opened.context, &notes, &test_error));
    kernels_open(&opened);
    (void)kernels_define(&opened, "util", util);
    package = kernels_define(&opened, "main", text);
    run_fill(package);
    run_room(package);
    run_beyond(package);
    attach(package);
    kiln_queue_free(opened.queue);
    kiln_device_close(opened.device);
    kiln_context_free(opened.context);
}

/* ---- the folder ---- */

static int take_file(const char *path, const struct stat *status, int kind,
                     struct FTW *place)
{
    const size_t size = strlen(path);
    stored *file = &files[file_count];

    (void)status;
    (void)place;
    if (kind != FTW_F || size < 2 || strcmp(path + size - 2, ".e") != 0)
        return 0;
    assert_true(file_count < FILES_MAX && size < sizeof file->path);
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    assert_ok(kiln__file_read(&file->bytes, &kiln__malloc, path,
                              (size_t)1 << 26, &test_error));
    assert_int_equal(kiln__entry_decode(&file->entry, file->bytes.data,
                                        file->bytes.size, NULL),
                     KILN__FAULT_NONE);
    digests[file_count++] = file->entry.key.digest;
    return 0;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file;

    (void)unlink(path);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int drop_file(const char *path, const struct stat *status, int kind,
                     struct FTW *place)
{
    (void)status;
    (void)place;
    if (kind == FTW_F && strstr(path, ".e") != NULL)
        (void)unlink(path);
    return 0;
}

/* All that was there but entries of kinds with these bits. */
static void restore(unsigned without)
{
    (void)nftw(folder, drop_file, 8, FTW_PHYS);
    for (size_t i = 0; i < file_count; i++)
        if (!(without >> files[i].entry.kind & 1u))
            write_file(files[i].path, files[i].bytes.data, files[i].bytes.size);
}

static int setup(void **state)
{
    file_count = 0;
    if (temporary_folder_setup(state) != 0)
        return -1;
    folder = *state;
    run_process(0);
    run_process(1);
    if (nftw(folder, take_file, 8, FTW_PHYS) != 0)
        return -1;
    pool = (mutate_pool){digests, file_count};
    return 0;
}

static int teardown(void **state)
{
    for (size_t i = 0; i < file_count; i++)
        kiln_blob_release(&files[i].bytes);
    return temporary_folder_teardown(state);
}

/* ---- lies ---- */

/* Of what there is less of than fields. */
static size_t coarse(void)
{
    return 1 + stride / 100;
}

static void write_entry(const stored *file, const kiln__entry *entry)
{
    kiln_blob envelope = {0};

    assert_ok(kiln__entry_encode(&envelope, &kiln__malloc, entry));
    write_file(file->path, envelope.data, envelope.size);
    kiln_blob_release(&envelope);
}

static void try_entry(const stored *file, const kiln__entry *entry,
                      unsigned without, const char *what)
{
    static int comment;

    restore(without);
    write_entry(file, entry);
    if (getenv("KILN_TEST_TELL") != NULL)
        printf("%s %.8s: %s\n", kiln__entry_kind_text(file->entry.kind),
               strrchr(file->path, '/') + 1, what);
    (void)fflush(stdout);
    run_process(comment ^= 1);
    if (has_no_room)
        run_process(comment);
    assert_false(has_no_room);
}

static void mutate_meta(const stored *file, unsigned without, size_t *at)
{
    const kiln__entry *was = &file->entry;
    const size_t count = mutate_count(was->meta, was->meta_size, &pool);
    char what[128];

    for (size_t v = 0; v < count; v++) {
        kiln__encoder meta;
        kiln__entry entry = *was;

        if ((*at)++ % stride != 0)
            continue;
        kiln__encoder_init(&meta, &kiln__malloc);
        if (mutate_write(&meta, was->meta, was->meta_size, &pool, v, what)) {
            entry.meta = meta.bytes;
            entry.meta_size = meta.size;
            try_entry(file, &entry, without, what);
        }
        kiln__encoder_dispose(&meta);
    }
}

/* True of what is believed as a whole. */
static int is_own_word(const stored *file, const stored *other)
{
    return file->entry.kind == KILN__ENTRY_PROGRAM &&
           other->entry.kind == KILN__ENTRY_PROGRAM;
}

static void exchange_meta(const stored *file, unsigned without)
{
    for (size_t i = 0; i < file_count; i += coarse()) {
        kiln__entry entry = file->entry;

        if (is_own_word(file, &files[i]))
            continue;
        entry.meta = files[i].entry.meta;
        entry.meta_size = files[i].entry.meta_size;
        try_entry(file, &entry, without, "the meta of another");
    }
}

static char long_text[70000];

static void mutate_head(const stored *file, unsigned without)
{
    static const int32_t numbers[] = {-1, 0, 1, 2, 3,         4,        5,
                                      6,  7, 8, 9, INT32_MAX, INT32_MIN};
    const char *const words[] = {
        "", "codegen=", "=", "llvm=0 codegen=1 ptxas=", "\xff\xfe", long_text};
    kiln__entry entry;

    memset(long_text, 'w', sizeof long_text - 1);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i += coarse()) {
        entry = file->entry;
        entry.kind = numbers[i];
        try_entry(file, &entry, without, "another kind");
        entry = file->entry;
        entry.relocation = numbers[i];
        try_entry(file, &entry, without, "another relocation");
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i += coarse()) {
        entry = file->entry;
        entry.toolchain = words[i];
        entry.toolchain_size = strlen(words[i]);
        entry.log = words[i];
        entry.log_size = strlen(words[i]);
        try_entry(file, &entry, without, "another toolchain");
    }
    entry = file->entry;
    entry.build_ns = UINT64_MAX;
    try_entry(file, &entry, without, "a build of centuries");
}

/* Each other entry as a whole, under this one's name, and under its key. */
static void exchange_entry(const stored *file, unsigned without)
{
    for (size_t i = 0; i < file_count; i += coarse()) {
        kiln__entry entry = files[i].entry;

        try_entry(file, &entry, without, "another entry");
        if (is_own_word(file, &files[i]))
            continue;
        entry = file->entry;
        entry.kind = files[i].entry.kind;
        entry.meta = files[i].entry.meta;
        entry.meta_size = files[i].entry.meta_size;
        try_entry(file, &entry, without, "another's kind and meta");
    }
}

/* What says nothing of its own: typed IR of others is another program. */
static void mutate_payload(const stored *file, unsigned without)
{
    static const unsigned char garbage[4096] = {'B', 'C', 0xc0, 0xde, 0x35};
    const size_t size = file->entry.payload_size;
    const struct {
        const void *bytes;
        size_t size;
    } payloads[] = {{NULL, 0},
                    {file->entry.payload, size / 2},
                    {file->entry.payload, size ? size - 1 : 0},
                    {garbage, sizeof garbage},
                    {garbage + 5, 64}};

    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        kiln__entry entry = file->entry;

        entry.payload = payloads[i].bytes;
        entry.payload_size = payloads[i].size;
        try_entry(file, &entry, without, "another payload");
    }
}

#define BIT(kind) (1u << KILN__ENTRY_##kind)

/* False: there is no entry of the kind. */
static int tell_lies(int32_t kind, unsigned without)
{
    size_t at = 0, tried = 0;

    for (size_t i = 0; i < file_count; i++) {
        if (files[i].entry.kind != kind)
            continue;
        tried++;
        mutate_meta(&files[i], without, &at);
        if (kind != KILN__ENTRY_NATIVE)
            if (kind != KILN__ENTRY_NATIVE)
                mutate_payload(&files[i], without);
        if (tried > 1 && stride > 1)
            continue; /* of the first of its kind */
        exchange_meta(&files[i], without);
        mutate_head(&files[i], without);
        exchange_entry(&files[i], without);
    }
    return tried > 0;
}

static void lies_of_instances_are_harmless(void **state)
{
    (void)state;
    assert_true(tell_lies(KILN__ENTRY_INSTANCE, BIT(PROGRAM)));
}

static void lies_of_programs_are_harmless(void **state)
{
    (void)state;
    assert_true(tell_lies(KILN__ENTRY_PROGRAM, 0));
}

static void lies_of_binaries_are_harmless(void **state)
{
    (void)state;
    assert_true(tell_lies(KILN__ENTRY_BINARY, 0));
}

static void lies_of_texts_are_harmless(void **state)
{
    (void)state;
    assert_true(tell_lies(KILN__ENTRY_SOURCE, 0));
    if (stride == 1)
        (void)tell_lies(KILN__ENTRY_SOURCE, BIT(PROGRAM) | BIT(BINARY));
}

/* Says of each kernel that allocates that it does not. */
static int hide_allocations(const stored *file)
{
    const kiln_artifact *artifact = NULL;
    kiln__entry_writer writer;
    int hidden;

    if (file->entry.kind != KILN__ENTRY_BINARY)
        return 0;
    assert_ok(kiln__artifact_decode(&artifact, &kiln__malloc, &file->entry));
    hidden = artifact->kernels[0].allocates;
    artifact->kernels[0].allocates = 0;
    assert_ok(kiln__entry_writer_artifact(&writer, &kiln__malloc, artifact));
    if (hidden)
        write_entry(file, &writer.entry);
    kiln__entry_writer_dispose(&writer);
    kiln_artifact_release(artifact);
    return hidden;
}

static void a_kernel_that_hides_that_it_allocates_is_built_again(void **state)
{
    size_t hidden = 0;

    (void)state;
    restore(0);
    for (size_t i = 0; i < file_count; i++)
        hidden += (size_t)hide_allocations(&files[i]);
    assert_int_equal(hidden, 1);
    run_process(0);
    if (has_no_room)
        run_process(0);
    assert_false(has_no_room);
}

/* These are not everywhere. */
static void lies_of_runtime_functions_are_harmless(void **state)
{
    (void)state;
    (void)tell_lies(KILN__ENTRY_RUNTIME, BIT(BINARY));
}

static void lies_of_notes_of_tools_are_harmless(void **state)
{
    (void)state;
    (void)tell_lies(KILN__ENTRY_TOOLCHAIN, 0);
}

static void lies_of_what_is_attached_are_harmless(void **state)
{
    (void)state;
    restore(0);
    run_process(0);
    assert_true(is_attached);
    assert_true(tell_lies(KILN__ENTRY_ATTACHED, 0));
}

static void lies_of_what_drivers_made_are_harmless(void **state)
{
    (void)state;
    (void)tell_lies(KILN__ENTRY_NATIVE, 0);
}

#define LIE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        LIE(lies_of_instances_are_harmless),
        LIE(lies_of_programs_are_harmless),
        LIE(lies_of_binaries_are_harmless),
        LIE(a_kernel_that_hides_that_it_allocates_is_built_again),
        LIE(lies_of_texts_are_harmless),
        LIE(lies_of_runtime_functions_are_harmless),
        LIE(lies_of_notes_of_tools_are_harmless),
        LIE(lies_of_what_is_attached_are_harmless),
        LIE(lies_of_what_drivers_made_are_harmless),
    };

    if (count > 1)
        stride = (size_t)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        cmocka_set_test_filter(arguments[2]);
    if (!kernels_are_possible())
        return program_skip(SKIP_DEVICE, "no device");
    loose_prefer_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
