/* host_elf.c - reads the dynamic section of host images, and relocates them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/host/host_elf.h"

#include <string.h>

#include "base/error.h"

/*
 * This works on the mapping before it is protected, and reads each record with
 * memcpy, because tables of a damaged file may be at any address. Dynamic tags
 * that would run code, or that images never need, are refused; harmless ones
 * are ignored.
 */

static kiln_status corrupt(kiln_error **error, const char *what)
{
    return kiln__error_set(error, KILN_ECORRUPT, "host image: %s", what);
}

static kiln_status unsupported(kiln_error **error, const char *what)
{
    return kiln__error_set(error, KILN_EUNSUPPORTED, "host image: %s", what);
}

/* Copies a record of the mapping; false when it is outside. */
static int read_at(const elf_file *file, void *to, uint64_t address,
                   size_t size)
{
    if (elf_in_segment(file, address, size, 0) == NULL)
        return 0;
    memcpy(to, file->base + address, size);
    return 1;
}

/* True when a table can always be read and never changes: relocations write to
   the mapping, and so does the code later. */
static int is_constant(const elf_file *file, uint64_t address, uint64_t size)
{
    const Elf64_Phdr *segment = elf_in_segment(file, address, size, PF_R);

    return segment != NULL && (segment->p_flags & PF_W) == 0;
}

/* ---- the dynamic section ---- */

/* Values of the tags before they are checked. */
typedef struct tags {
    uint64_t hash;
    uint64_t gnu_hash;
    uint64_t symbol_size;
    uint64_t rela_size;
    uint64_t plt_kind;
} tags;

static kiln_status read_tag(elf_file *file, tags *seen, const Elf64_Dyn *entry,
                            kiln_error **error)
{
    const uint64_t value = entry->d_un.d_val;

    switch (entry->d_tag) {
    case DT_HASH:
        seen->hash = value;
        return KILN_OK;
    case DT_GNU_HASH:
        seen->gnu_hash = value;
        return KILN_OK;
    case DT_SYMTAB:
        file->symbols = value;
        return KILN_OK;
    case DT_SYMENT:
        seen->symbol_size = value;
        return KILN_OK;
    case DT_STRTAB:
        file->strings = value;
        return KILN_OK;
    case DT_STRSZ:
        file->strings_size = value;
        return KILN_OK;
    case DT_RELA:
        file->relocations[0] = value;
        return KILN_OK;
    case DT_RELASZ:
        file->relocations_size[0] = value;
        return KILN_OK;
    case DT_RELAENT:
        seen->rela_size = value;
        return KILN_OK;
    case DT_JMPREL:
        file->relocations[1] = value;
        return KILN_OK;
    case DT_PLTRELSZ:
        file->relocations_size[1] = value;
        return KILN_OK;
    case DT_PLTREL:
        seen->plt_kind = value;
        return KILN_OK;
    case DT_NEEDED:
        return unsupported(error, "it needs a library");
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_FINI_ARRAY:
    case DT_PREINIT_ARRAY:
        return unsupported(error, "it has constructors or destructors");
    case DT_TEXTREL:
    case DT_REL:
    case DT_RELR:
        return unsupported(error, "a form of relocation that is not used");
    default:
        return KILN_OK;
    }
}

static kiln_status read_tags(elf_file *file, tags *seen, kiln_error **error)
{
    const uint64_t count = file->dynamic.p_memsz / sizeof(Elf64_Dyn);

    if (elf_in_segment(file, file->dynamic.p_vaddr, file->dynamic.p_memsz, 0) ==
        NULL)
        return corrupt(error, "dynamic section outside the segments");
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Dyn entry;

        if (!read_at(file, &entry, file->dynamic.p_vaddr + i * sizeof entry,
                     sizeof entry))
            return corrupt(error, "dynamic section outside the segments");
        if (entry.d_tag == DT_NULL)
            return KILN_OK;
        KILN_TRY(read_tag(file, seen, &entry, error));
    }
    return corrupt(error, "dynamic section without an end");
}

/* The older hash table contains the number of symbols. */
static int count_by_hash(uint64_t *count, const elf_file *file,
                         uint64_t address)
{
    uint32_t head[2]; /* buckets, chains: one chain entry a symbol */

    if (!read_at(file, head, address, sizeof head))
        return 0;
    *count = head[1];
    return 1;
}

/* Walks the last chain to its end. */
static int last_of_chain(uint64_t *count, const elf_file *file, uint64_t chains,
                         uint32_t first, uint32_t last)
{
    for (uint64_t i = last;; i++) {
        uint32_t hash;

        if (!read_at(file, &hash, chains + (i - first) * sizeof hash,
                     sizeof hash))
            return 0;
        if ((hash & 1) != 0) {
            *count = i + 1;
            return 1;
        }
    }
}

/* In the newer hash table the hashed symbols come last: the greatest index in a
   bucket or its chain is the last symbol. */
static int count_by_gnu_hash(uint64_t *count, const elf_file *file,
                             uint64_t address)
{
    uint32_t head[4]; /* buckets, first hashed symbol, filter words, shift */
    uint64_t buckets;
    uint32_t last = 0;

    if (!read_at(file, head, address, sizeof head))
        return 0;
    buckets = address + sizeof head + (uint64_t)head[2] * 8;
    for (uint64_t i = 0; i < head[0]; i++) {
        uint32_t start;

        if (!read_at(file, &start, buckets + i * sizeof start, sizeof start))
            return 0;
        if (start > last)
            last = start;
    }
    if (last < head[1]) {
        *count = head[1];
        return 1;
    }
    return last_of_chain(count, file, buckets + (uint64_t)head[0] * 4, head[1],
                         last);
}

static kiln_status check_symbols(elf_file *file, const tags *seen,
                                 kiln_error **error)
{
    int fine = 0;

    if (seen->symbol_size != sizeof(Elf64_Sym) || file->strings_size == 0 ||
        !is_constant(file, file->strings, file->strings_size) ||
        file->base[file->strings + file->strings_size - 1] != '\0')
        return corrupt(error, "bad symbol or string table");
    if (seen->hash != 0)
        fine = count_by_hash(&file->symbol_count, file, seen->hash);
    else if (seen->gnu_hash != 0)
        fine = count_by_gnu_hash(&file->symbol_count, file, seen->gnu_hash);
    if (!fine || file->symbol_count > UINT32_MAX ||
        !is_constant(file, file->symbols,
                     file->symbol_count * sizeof(Elf64_Sym)))
        return corrupt(error, "bad symbol hash table");
    return KILN_OK;
}

kiln_status kiln__elf_read_dynamic(elf_file *file, kiln_error **error)
{
    tags seen = {0};

    KILN_TRY(read_tags(file, &seen, error));
    KILN_TRY(check_symbols(file, &seen, error));
    for (int i = 0; i < 2; i++)
        if (file->relocations_size[i] % sizeof(Elf64_Rela) != 0 ||
            (file->relocations_size[i] != 0 &&
             !is_constant(file, file->relocations[i],
                          file->relocations_size[i])))
            return corrupt(error, "bad relocation table");
    if ((file->relocations_size[0] != 0 &&
         seen.rela_size != sizeof(Elf64_Rela)) ||
        (file->relocations_size[1] != 0 && seen.plt_kind != DT_RELA))
        return corrupt(error, "bad relocation table");
    return KILN_OK;
}

/* ---- symbols ---- */

/* The string table ends with a NUL, so every name in it does too. */
static const char *symbol_name(const elf_file *file, const Elf64_Sym *symbol)
{
    if (symbol->st_name >= file->strings_size)
        return NULL;
    return (const char *)file->base + file->strings + symbol->st_name;
}

static int read_symbol(const elf_file *file, Elf64_Sym *out, uint64_t index)
{
    return index < file->symbol_count &&
           read_at(file, out, file->symbols + index * sizeof *out, sizeof *out);
}

void *kiln__elf_find(const elf_file *file, const char *name)
{
    for (uint64_t i = 1; i < file->symbol_count; i++) {
        Elf64_Sym symbol;
        const char *own;

        if (!read_symbol(file, &symbol, i) || symbol.st_shndx == SHN_UNDEF ||
            ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        own = symbol_name(file, &symbol);
        if (own != NULL && strcmp(own, name) == 0 &&
            elf_in_segment(file, symbol.st_value, 1, PF_X) != NULL)
            return file->base + symbol.st_value;
    }
    return NULL;
}

/* ---- relocations ---- */

static kiln_status resolve(uint64_t *out, const elf_file *file, uint64_t index,
                           kiln_error **error)
{
    Elf64_Sym symbol;
    const char *name;
    void *import;

    if (!read_symbol(file, &symbol, index))
        return corrupt(error, "relocation against a symbol that is not there");
    if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS ||
        ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
        return unsupported(error, "thread-local or indirect symbol");
    if (symbol.st_shndx != SHN_UNDEF) {
        if (symbol.st_value > file->span)
            return corrupt(error, "symbol outside the image");
        *out = (uint64_t)(uintptr_t)file->base + symbol.st_value;
        return KILN_OK;
    }
    name = symbol_name(file, &symbol);
    if (name == NULL)
        return corrupt(error, "bad symbol name");
    import = kiln__host_import(name);
    if (import == NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "host image: it refers to \"%.128s\", which "
                               "the host does not offer",
                               name);
    *out = (uint64_t)(uintptr_t)import;
    return KILN_OK;
}

static kiln_status relocated_value(uint64_t *out, const elf_file *file,
                                   const Elf64_Rela *relocation,
                                   kiln_error **error)
{
    const uint64_t addend = (uint64_t)relocation->r_addend;

    switch (ELF64_R_TYPE(relocation->r_info)) {
    case R_X86_64_RELATIVE:
        if (addend > file->span)
            return corrupt(error, "relocation to a place outside the image");
        *out = (uint64_t)(uintptr_t)file->base + addend;
        return KILN_OK;
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
        return resolve(out, file, ELF64_R_SYM(relocation->r_info), error);
    case R_X86_64_64:
        KILN_TRY(resolve(out, file, ELF64_R_SYM(relocation->r_info), error));
        *out += addend;
        return KILN_OK;
    default:
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "host image: relocation of type %u",
                               (unsigned)ELF64_R_TYPE(relocation->r_info));
    }
}

static kiln_status relocate_table(const elf_file *file, uint64_t table,
                                  uint64_t size, kiln_error **error)
{
    for (uint64_t at = table; at < table + size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;
        uint64_t value = 0;

        if (!read_at(file, &relocation, at, sizeof relocation))
            return corrupt(error, "bad relocation table");
        if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_NONE)
            continue;
        if (elf_in_segment(file, relocation.r_offset, sizeof value, PF_W) ==
            NULL)
            return corrupt(error, "relocation of a place that is not data");
        KILN_TRY(relocated_value(&value, file, &relocation, error));
        memcpy(file->base + relocation.r_offset, &value, sizeof value);
    }
    return KILN_OK;
}

kiln_status kiln__elf_relocate(const elf_file *file, kiln_error **error)
{
    for (int i = 0; i < 2; i++)
        KILN_TRY(relocate_table(file, file->relocations[i],
                                file->relocations_size[i], error));
    return KILN_OK;
}
