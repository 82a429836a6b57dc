/* llvm_gap_elf.cc - finds a section, a symbol or a note in an ELF file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Object/ELF.h>

#include "codegen/elf/elf_file.h"

/*
 * LLVM's reader checks each access against the file. Its interface in C stops
 * the process where a file is damaged; this one takes a damaged part for an
 * absent one.
 */

namespace
{

using file_type = llvm::object::ELF64LEFile;
using section_type = llvm::object::ELF64LE::Shdr;

template <typename T> T or_empty(llvm::Expected<T> value)
{
    if (value)
        return *value;
    llvm::consumeError(value.takeError());
    return T();
}

std::optional<file_type> open(const kiln__bytes &file)
{
    auto opened = file_type::create(
        llvm::StringRef(static_cast<const char *>(file.data), file.size));

    if (opened)
        return *opened;
    llvm::consumeError(opened.takeError());
    return std::nullopt;
}

const section_type *find_section(const file_type &file, llvm::StringRef name)
{
    for (const section_type &section : or_empty(file.sections()))
        if (or_empty(file.getSectionName(section)) == name)
            return &section;
    return nullptr;
}

} // namespace

extern "C" int kiln__elf_section(kiln__bytes *contents, uint64_t *size,
                                 kiln__bytes in, const char *name)
{
    const auto file = open(in);
    const section_type *section = file ? find_section(*file, name) : nullptr;

    if (section == nullptr)
        return 0;
    *contents = kiln__bytes{nullptr, 0};
    *size = section->sh_size;
    if (section->sh_type != llvm::ELF::SHT_NOBITS) {
        const auto bytes = or_empty(file->getSectionContents(*section));

        *contents = kiln__bytes{bytes.data(), bytes.size()};
    }
    return 1;
}

extern "C" uint32_t kiln__elf_symbol(kiln__bytes in, const char *name)
{
    const auto file = open(in);
    const section_type *table = file ? find_section(*file, ".symtab") : nullptr;
    uint32_t number = 0;

    if (table == nullptr)
        return 0;
    const llvm::StringRef names =
        or_empty(file->getStringTableForSymtab(*table));
    for (const auto &symbol : or_empty(file->symbols(table))) {
        if (number != 0 && or_empty(symbol.getName(names)) == name)
            return number;
        number++;
    }
    return 0;
}

extern "C" int kiln__elf_note(kiln__bytes *contents, kiln__bytes in,
                              const char *name, uint32_t type)
{
    const auto file = open(in);
    int is_found = 0;

    if (!file)
        return 0;
    for (const auto &segment : or_empty(file->program_headers())) {
        llvm::Error damage = llvm::Error::success();

        if (segment.p_type != llvm::ELF::PT_NOTE)
            continue;
        for (const auto &note : file->notes(segment, damage))
            if (!is_found && note.getName() == name && note.getType() == type) {
                const auto bytes = note.getDesc(4);

                *contents = kiln__bytes{bytes.data(), bytes.size()};
                is_found = 1;
            }
        llvm::consumeError(std::move(damage));
    }
    return is_found;
}
