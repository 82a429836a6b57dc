/* elf_object.c - checks an object before a linker reads it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "codegen/elf/elf.h"
#include "codegen/module/codegen_stages.h"

/*
 * lld is written for files that a compiler made. A damaged file can crash it,
 * and here that would be the host's process. So every table that lld will read
 * is checked: it must lie in the file and refer only to what exists. A function
 * that the loader would refuse is refused here, by name.
 */

typedef struct elf_object {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header;
    const kiln__elf_rules *rules;
    char *message;
    size_t capacity;
} elf_object;

/* ---- reading ---- */

static bool damaged(elf_object *o, const char *what)
{
    snprintf(o->message, o->capacity, "damaged object: %s", what);
    return false;
}

/* True when `size` bytes from `offset` lie in the file. */
static bool inside(const elf_object *o, uint64_t offset, uint64_t size)
{
    return offset <= o->size && size <= o->size - offset;
}

static Elf64_Shdr section(const elf_object *o, size_t index)
{
    Elf64_Shdr out;

    memcpy(&out, o->bytes + o->header.e_shoff + index * sizeof out, sizeof out);
    return out;
}

static Elf64_Sym symbol(const elf_object *o, const Elf64_Shdr *table,
                        uint64_t index)
{
    Elf64_Sym out;

    memcpy(&out, o->bytes + table->sh_offset + index * sizeof out, sizeof out);
    return out;
}

static uint64_t entries(const Elf64_Shdr *table)
{
    return table->sh_size / table->sh_entsize;
}

/* ---- checks ---- */

static bool check_header(elf_object *o)
{
    static const unsigned char ident[] = {
        0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

    if (o->size < sizeof o->header)
        return damaged(o, "it is too short");
    memcpy(&o->header, o->bytes, sizeof o->header);
    if (memcmp(o->header.e_ident, ident, sizeof ident) != 0)
        return damaged(o, "it is no ELF file of 64 bits");
    if (o->header.e_type != ET_REL || o->header.e_machine != o->rules->machine)
        return damaged(o, "it is no relocatable object of the target");
    if (o->header.e_shentsize != sizeof(Elf64_Shdr) || o->header.e_shnum == 0 ||
        !inside(o, o->header.e_shoff,
                (uint64_t)o->header.e_shnum * sizeof(Elf64_Shdr)))
        return damaged(o, "its section table");
    if (o->header.e_shstrndx >= o->header.e_shnum)
        return damaged(o, "its table of section names");
    return true;
}

/* True for a table of NUL-terminated strings. */
static bool is_strings(const elf_object *o, uint32_t index)
{
    Elf64_Shdr s;

    if (index >= o->header.e_shnum)
        return false;
    s = section(o, index);
    return s.sh_type == SHT_STRTAB && s.sh_size > 0 &&
           inside(o, s.sh_offset, s.sh_size) &&
           o->bytes[s.sh_offset + s.sh_size - 1] == '\0';
}

/* True for a function that the other object defines. */
static bool is_of_entry(const elf_object *o, const char *name)
{
    const char *entry = o->rules->entry;
    const size_t size = entry != NULL ? strlen(entry) : 0;

    return size > 0 && strncmp(name, entry, size) == 0 && name[size] == '.';
}

static bool check_undefined(elf_object *o, const Elf64_Sym *s, const char *name)
{
    if (s->st_shndx != SHN_UNDEF || *name == '\0' ||
        o->rules->may_import(name) || is_of_entry(o, name))
        return true;
    snprintf(o->message, o->capacity, "undefined function '%s'", name);
    return false;
}

static bool check_symbols(elf_object *o, const Elf64_Shdr *table)
{
    Elf64_Shdr strings;

    if (table->sh_entsize != sizeof(Elf64_Sym) ||
        table->sh_size % sizeof(Elf64_Sym) != 0 ||
        !is_strings(o, table->sh_link) || table->sh_info > entries(table))
        return damaged(o, "its symbol table");
    strings = section(o, table->sh_link);
    for (uint64_t i = 1; i < entries(table); i++) {
        const Elf64_Sym s = symbol(o, table, i);
        const char *name =
            (const char *)o->bytes + strings.sh_offset + s.st_name;

        if (s.st_name >= strings.sh_size ||
            (s.st_shndx >= o->header.e_shnum && s.st_shndx < SHN_LORESERVE))
            return damaged(o, "a symbol");
        if (!check_undefined(o, &s, name))
            return false;
    }
    return true;
}

static bool check_relocations(elf_object *o, const Elf64_Shdr *table)
{
    Elf64_Shdr symbols;
    Elf64_Shdr target;

    if (table->sh_entsize != sizeof(Elf64_Rela) ||
        table->sh_size % sizeof(Elf64_Rela) != 0 ||
        table->sh_link >= o->header.e_shnum ||
        table->sh_info >= o->header.e_shnum)
        return damaged(o, "its relocations");
    symbols = section(o, table->sh_link);
    target = section(o, table->sh_info);
    if (symbols.sh_type != SHT_SYMTAB ||
        symbols.sh_entsize != sizeof(Elf64_Sym))
        return damaged(o, "its relocations");
    for (uint64_t i = 0; i < entries(table); i++) {
        Elf64_Rela r;

        memcpy(&r, o->bytes + table->sh_offset + i * sizeof r, sizeof r);
        if (r.r_offset > target.sh_size || target.sh_size - r.r_offset < 4 ||
            ELF64_R_SYM(r.r_info) >= entries(&symbols))
            return damaged(o, "a relocation");
    }
    return true;
}

/* Checks that the section is of a kind that code generation makes. Code that
   runs by itself, and sections that lld treats in a special way, are not. */
static bool check_section(elf_object *o, const Elf64_Shdr *s)
{
    const Elf64_Shdr names = section(o, o->header.e_shstrndx);

    if (s->sh_name >= names.sh_size)
        return damaged(o, "the name of a section");
    if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL &&
        !inside(o, s->sh_offset, s->sh_size))
        return damaged(o, "a section outside the file");
    if ((s->sh_addralign & (s->sh_addralign - 1)) != 0)
        return damaged(o, "the alignment of a section");
    switch (s->sh_type) {
    case SHT_NULL:
    case SHT_PROGBITS:
    case SHT_NOBITS:
    case SHT_NOTE:
    case SHT_STRTAB:
    case SHT_X86_64_UNWIND:
    case 0x6fff4c03: /* SHT_LLVM_ADDRSIG: which symbols' addresses are used */
        return true;
    case SHT_SYMTAB:
        return check_symbols(o, s);
    case SHT_RELA:
        return check_relocations(o, s);
    default:
        return damaged(o, "a section of an unknown kind");
    }
}

static bool check(elf_object *o)
{
    if (!check_header(o))
        return false;
    if (!is_strings(o, o->header.e_shstrndx))
        return damaged(o, "its table of section names");
    for (size_t i = 0; i < o->header.e_shnum; i++) {
        const Elf64_Shdr s = section(o, i);

        if (!check_section(o, &s))
            return false;
    }
    return true;
}

kiln_status kiln__elf_object_check(const kiln__object *object,
                                   const kiln__elf_rules *rules, char *message,
                                   size_t capacity)
{
    elf_object o = {
        .bytes = object->bytes,
        .size = object->size,
        .rules = rules,
        .message = message,
        .capacity = capacity,
    };

    return check(&o) ? KILN_OK : KILN_ECODEGEN;
}
