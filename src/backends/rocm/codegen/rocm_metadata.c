/* rocm_metadata.c - reads what a code object says of its kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/rocm/codegen/rocm_codegen.h"

/*
 * A code object has a note in MessagePack: a map in which "amdhsa.kernels" is
 * an array with a map for each kernel. Maps are walked in place. Unneeded
 * values are skipped by counting the values that are still to come, so nesting
 * needs no stack. Every length is checked against the bytes that are left.
 */

typedef struct bytes {
    const unsigned char *at;
    size_t left;
} bytes;

/* ---- the note ---- */

#define NOTE_NAME "AMDGPU"
#define NOTE_TYPE 32 /* NT_AMDGPU_METADATA */

static bool take(bytes *in, size_t size, bytes *out)
{
    if (size > in->left)
        return false;
    if (out != NULL)
        *out = (bytes){in->at, size};
    in->at += size;
    in->left -= size;
    return true;
}

/* Takes `size` bytes from `offset`. */
static bool part(const bytes *of, uint64_t offset, uint64_t size, bytes *out)
{
    if (offset > of->left || size > of->left - offset)
        return false;
    *out = (bytes){of->at + offset, (size_t)size};
    return true;
}

/* Names and contents of notes are padded to multiples of 4. */
static uint64_t filled(uint32_t size)
{
    return ((uint64_t)size + 3) & ~(uint64_t)3;
}

static bool find_in_notes(bytes notes, bytes *out)
{
    Elf64_Nhdr header;
    bytes head, name, rest;

    while (take(&notes, sizeof header, &head)) {
        memcpy(&header, head.at, sizeof header);
        if (!part(&notes, 0, header.n_namesz, &name) ||
            !part(&notes, filled(header.n_namesz), header.n_descsz, &rest))
            return false;
        if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof NOTE_NAME &&
            memcmp(name.at, NOTE_NAME, sizeof NOTE_NAME) == 0) {
            *out = rest;
            return true;
        }
        if (!take(&notes, filled(header.n_namesz), NULL) ||
            !take(&notes, filled(header.n_descsz), NULL))
            return false;
    }
    return false;
}

static bool find_note(const bytes *file, bytes *out)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    bytes place;

    if (!part(file, 0, sizeof header, &place))
        return false;
    memcpy(&header, place.at, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof segment)
        return false;
    for (size_t i = 0; i < header.e_phnum; i++) {
        if (header.e_phoff > file->left ||
            !part(file, header.e_phoff + i * sizeof segment, sizeof segment,
                  &place))
            return false;
        memcpy(&segment, place.at, sizeof segment);
        if (segment.p_type == PT_NOTE &&
            part(file, segment.p_offset, segment.p_filesz, &place) &&
            find_in_notes(place, out))
            return true;
    }
    return false;
}

/* ---- values of MessagePack ---- */

enum { OTHER, NUMBER, TEXT, ARRAY, MAP };

typedef struct value {
    int type;
    uint64_t number; /* of a NUMBER; of ARRAY and MAP, the count */
    bytes text;      /* of a TEXT */
} value;

static bool take_number(bytes *in, size_t size, uint64_t *out)
{
    bytes digits;

    if (!take(in, size, &digits))
        return false;
    *out = 0;
    for (size_t i = 0; i < size; i++)
        *out = *out << 8 | digits.at[i];
    return true;
}

static bool take_text(bytes *in, uint64_t size, value *out)
{
    out->type = TEXT;
    return size <= in->left && take(in, (size_t)size, &out->text);
}

/* Skips bytes that follow a length of 1, 2 or 4 bytes, and `more` bytes. */
static bool skip_bytes(bytes *in, size_t width, size_t more)
{
    uint64_t size;

    return take_number(in, width, &size) && size + more <= in->left &&
           take(in, (size_t)size + more, NULL);
}

/* Takes a value that begins with one of 0xc0 to 0xdf. */
static bool take_long(bytes *in, unsigned tag, value *out)
{
    uint64_t size;

    switch (tag) {
    case 0xc4: /* bin 8, 16, 32 */
    case 0xc5:
    case 0xc6:
        return skip_bytes(in, (size_t)1 << (tag - 0xc4), 0);
    case 0xc7: /* ext 8, 16, 32 */
    case 0xc8:
    case 0xc9:
        return skip_bytes(in, (size_t)1 << (tag - 0xc7), 1);
    case 0xca: /* float 32, 64 */
    case 0xcb:
        return take(in, (size_t)4 << (tag - 0xca), NULL);
    case 0xcc: /* uint 8, 16, 32, 64 */
    case 0xcd:
    case 0xce:
    case 0xcf:
        out->type = NUMBER;
        return take_number(in, (size_t)1 << (tag - 0xcc), &out->number);
    case 0xd0: /* int 8, 16, 32, 64: no number here is negative */
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return take(in, (size_t)1 << (tag - 0xd0), NULL);
    case 0xd4: /* fixext 1, 2, 4, 8, 16 */
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return take(in, ((size_t)1 << (tag - 0xd4)) + 1, NULL);
    case 0xd9: /* str 8, 16, 32 */
    case 0xda:
    case 0xdb:
        return take_number(in, (size_t)1 << (tag - 0xd9), &size) &&
               take_text(in, size, out);
    case 0xdc: /* array 16, 32 */
    case 0xdd:
        out->type = ARRAY;
        return take_number(in, (size_t)2 << (tag - 0xdc), &out->number);
    case 0xde: /* map 16, 32 */
    case 0xdf:
        out->type = MAP;
        return take_number(in, (size_t)2 << (tag - 0xde), &out->number);
    default: /* nil, false, true */
        return true;
    }
}

/* Takes a value; of an array or map only its head. */
static bool take_value(bytes *in, value *out)
{
    bytes head;
    unsigned tag;

    *out = (value){.type = OTHER};
    if (!take(in, 1, &head))
        return false;
    tag = head.at[0];
    if (tag >= 0xe0) /* small and negative */
        return true;
    if (tag >= 0xc0)
        return take_long(in, tag, out);
    if (tag >= 0xa0)
        return take_text(in, tag & 0x1f, out);
    out->type = tag >= 0x90 ? ARRAY : tag >= 0x80 ? MAP : NUMBER;
    out->number = tag & (tag >= 0x80 ? 0x0f : 0x7f);
    return true;
}

/* Skips the contents of a value whose head was taken. */
static bool skip_inside(bytes *in, const value *of)
{
    uint64_t left = of->type == ARRAY ? of->number
                    : of->type == MAP ? 2 * of->number
                                      : 0;
    value v;

    while (left > 0) {
        /* Each value takes at least one byte. */
        if (left > in->left || !take_value(in, &v))
            return false;
        left--;
        if (v.type == ARRAY || v.type == MAP)
            left += (v.type == MAP ? 2 : 1) * v.number;
    }
    return true;
}

static bool is_text(const value *v, const char *text)
{
    return v->type == TEXT && v->text.left == strlen(text) &&
           memcmp(v->text.at, text, v->text.left) == 0;
}

/* ---- the kernel ---- */

static const struct {
    const char *key;
    size_t member;
} argument_numbers[] = {
    {".offset", offsetof(kiln__rocm_argument, offset)},
    {".size", offsetof(kiln__rocm_argument, size)},
};

static const struct {
    const char *key;
    size_t member;
} kernel_numbers[] = {
    {".vgpr_count", offsetof(kiln__rocm_metadata, registers)},
    {".group_segment_fixed_size", offsetof(kiln__rocm_metadata, local_bytes)},
    {".private_segment_fixed_size",
     offsetof(kiln__rocm_metadata, private_bytes)},
    {".kernarg_segment_size", offsetof(kiln__rocm_metadata, argument_bytes)},
    {".max_flat_workgroup_size", offsetof(kiln__rocm_metadata, maximum_group)},
    {".wavefront_size", offsetof(kiln__rocm_metadata, lanes)},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Takes a key, and the head of its value. */
static bool take_pair(bytes *in, value *key, value *out)
{
    return take_value(in, key) && key->type == TEXT && take_value(in, out);
}

static bool take_argument(bytes *in, kiln__rocm_argument *out)
{
    value map, key, v;

    if (!take_value(in, &map) || map.type != MAP)
        return false;
    for (uint64_t i = 0; i < map.number; i++) {
        if (!take_pair(in, &key, &v) || !skip_inside(in, &v))
            return false;
        for (size_t k = 0; k < COUNT(argument_numbers); k++)
            if (is_text(&key, argument_numbers[k].key) && v.type == NUMBER)
                memcpy((char *)out + argument_numbers[k].member, &v.number,
                       sizeof v.number);
        if (is_text(&key, ".value_kind") && v.type == TEXT)
            snprintf(out->kind, sizeof out->kind, "%.*s",
                     (int)(v.text.left < sizeof out->kind ? v.text.left
                                                          : sizeof out->kind),
                     (const char *)v.text.at);
    }
    return true;
}

static bool take_arguments(bytes *in, uint64_t count, kiln__rocm_metadata *out)
{
    for (uint64_t i = 0; i < count; i++) {
        kiln__rocm_argument one = {0};

        if (!take_argument(in, &one))
            return false;
        if (out->arguments != NULL && i < out->room)
            out->arguments[i] = one;
    }
    out->argument_count = count;
    return true;
}

static bool take_kernel(bytes *in, kiln__rocm_metadata *out)
{
    size_t found = 0;
    value map, key, v;

    if (!take_value(in, &map) || map.type != MAP)
        return false;
    for (uint64_t i = 0; i < map.number; i++) {
        if (!take_pair(in, &key, &v))
            return false;
        for (size_t k = 0; k < COUNT(kernel_numbers); k++)
            if (is_text(&key, kernel_numbers[k].key) && v.type == NUMBER) {
                memcpy((char *)out + kernel_numbers[k].member, &v.number,
                       sizeof v.number);
                found++;
            }
        if (is_text(&key, ".args") && v.type == ARRAY) {
            if (!take_arguments(in, v.number, out))
                return false;
        } else if (!skip_inside(in, &v)) {
            return false;
        }
    }
    return found == COUNT(kernel_numbers);
}

int kiln__rocm_metadata_read(kiln__rocm_metadata *out, const void *bytes_in,
                             size_t size)
{
    const bytes file = {bytes_in, size};
    value map, key, v;
    bytes note;

    if (!find_note(&file, &note) || !take_value(&note, &map) || map.type != MAP)
        return 0;
    for (uint64_t i = 0; i < map.number; i++) {
        if (!take_pair(&note, &key, &v))
            return 0;
        if (is_text(&key, "amdhsa.kernels") && v.type == ARRAY) {
            out->kernels = v.number;
            return v.number > 0 && take_kernel(&note, out);
        }
        if (!skip_inside(&note, &v))
            return 0;
    }
    return 0;
}
