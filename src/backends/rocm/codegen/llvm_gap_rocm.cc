/* llvm_gap_rocm.cc - reads what a code object says of its kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstdio>

#include <llvm/ADT/StringSwitch.h>
#include <llvm/BinaryFormat/MsgPackReader.h>

#include "backends/rocm/codegen/llvm_gap_rocm.h"
#include "codegen/elf/elf_file.h"

/*
 * A code object has a note in MessagePack: a map in which "amdhsa.kernels" is
 * an array with a map for each kernel. LLVM's reader gives one value after the
 * other and checks each length. Values that are not needed are skipped by
 * counting those that are still to come, so nesting needs no stack. LLVM's
 * document of all values is not used, because its order of keys is undefined
 * for keys that are no texts or numbers.
 */

#define NOTE_NAME "AMDGPU"
#define NOTE_TYPE 32 /* NT_AMDGPU_METADATA */

namespace
{

using llvm::msgpack::Object;
using llvm::msgpack::Type;

class reader
{
  public:
    explicit reader(const kiln__bytes &note)
        : values(
              llvm::StringRef(static_cast<const char *>(note.data), note.size)),
          left(note.size)
    {
    }

    /* Takes a value; of an array or a map only its head. */
    bool take(Object &out)
    {
        auto taken = values.read(out);

        if (taken)
            return *taken;
        llvm::consumeError(taken.takeError());
        return false;
    }

    /* Takes a key, and its value as take() does. */
    bool take_pair(llvm::StringRef &key, Object &out)
    {
        Object text;

        if (!take(text) || text.Kind != Type::String)
            return false;
        key = text.Raw;
        return take(out);
    }

    /* Takes what is inside a value whose head was taken. */
    bool skip_inside(const Object &of)
    {
        Object value;

        /* Each value takes at least one byte of the note. */
        for (uint64_t more = inside(of); more > 0; more--) {
            if (more > left || !take(value))
                return false;
            more += inside(value);
        }
        return true;
    }

  private:
    static uint64_t inside(const Object &of)
    {
        return of.Kind == Type::Array ? of.Length
               : of.Kind == Type::Map ? 2 * (uint64_t)of.Length
                                      : 0;
    }

    llvm::msgpack::Reader values;
    uint64_t left;
};

bool take_number(const Object &value, uint64_t *out)
{
    if (out == nullptr || (value.Kind != Type::UInt && value.Kind != Type::Int))
        return false;
    *out = value.Kind == Type::UInt ? value.UInt : (uint64_t)value.Int;
    return true;
}

bool take_argument(reader &in, kiln__rocm_argument *out)
{
    llvm::StringRef key;
    Object map, value;

    if (!in.take(map) || map.Kind != Type::Map)
        return false;
    for (size_t i = 0; i < map.Length; i++) {
        if (!in.take_pair(key, value) || !in.skip_inside(value))
            return false;
        take_number(value, llvm::StringSwitch<uint64_t *>(key)
                               .Case(".offset", &out->offset)
                               .Case(".size", &out->size)
                               .Default(nullptr));
        if (key == ".value_kind" && value.Kind == Type::String)
            snprintf(out->kind, sizeof out->kind, "%.*s",
                     (int)std::min(value.Raw.size(), sizeof out->kind),
                     value.Raw.data());
    }
    return true;
}

bool take_arguments(reader &in, uint64_t count, kiln__rocm_metadata *out)
{
    for (uint64_t i = 0; i < count; i++) {
        kiln__rocm_argument one = {};

        if (!take_argument(in, &one))
            return false;
        if (out->arguments != nullptr && i < out->room)
            out->arguments[i] = one;
    }
    out->argument_count = count;
    return true;
}

bool take_kernel(reader &in, kiln__rocm_metadata *out)
{
    llvm::StringRef key;
    Object map, value;
    int found = 0;

    if (!in.take(map) || map.Kind != Type::Map)
        return false;
    for (size_t i = 0; i < map.Length; i++) {
        if (!in.take_pair(key, value))
            return false;
        found += take_number(
            value, llvm::StringSwitch<uint64_t *>(key)
                       .Case(".vgpr_count", &out->registers)
                       .Case(".group_segment_fixed_size", &out->local_bytes)
                       .Case(".private_segment_fixed_size", &out->private_bytes)
                       .Case(".kernarg_segment_size", &out->argument_bytes)
                       .Case(".max_flat_workgroup_size", &out->maximum_group)
                       .Case(".wavefront_size", &out->lanes)
                       .Default(nullptr));
        if (!(key == ".args" && value.Kind == Type::Array
                  ? take_arguments(in, value.Length, out)
                  : in.skip_inside(value)))
            return false;
    }
    return found == 6;
}

} // namespace

extern "C" int kiln__rocm_metadata_read(kiln__rocm_metadata *out,
                                        const void *bytes, size_t size)
{
    llvm::StringRef key;
    Object map, value;
    kiln__bytes note;

    if (!kiln__elf_note(&note, {bytes, size}, NOTE_NAME, NOTE_TYPE))
        return 0;
    reader in(note);
    if (!in.take(map) || map.Kind != Type::Map)
        return 0;
    for (size_t i = 0; i < map.Length; i++) {
        if (!in.take_pair(key, value))
            return 0;
        if (key == "amdhsa.kernels" && value.Kind == Type::Array) {
            out->kernels = value.Length;
            return value.Length > 0 && take_kernel(in, out);
        }
        if (!in.skip_inside(value))
            return 0;
    }
    return 0;
}
