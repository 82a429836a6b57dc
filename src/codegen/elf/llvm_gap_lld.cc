/* llvm_gap_lld.cc - runs lld, which has no C interface, inside the process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <unistd.h>

#include <lld/Common/Driver.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/FileOutputBuffer.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Parallel.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/elf/elf.h"
#include "codegen/module/codegen_stages.h"

LLD_HAS_DRIVER(elf)

/*
 * lld is written for a process of its own. Here it is linked from its archives,
 * and some functions of LLVM that it calls are replaced by those below. They
 * have the same names and are hidden, so libLLVM keeps its own. With them lld
 * reads its input from memory, writes its output to memory, leaves LLVM's
 * global options and state alone, and does not end the process.
 *
 * One link at a time; the caller holds the lock.
 */

static struct lld_run {
    const kiln__object *objects;
    void *image; /* from malloc */
    size_t image_size;
    bool committed;
    std::string *errors;
} run;

namespace
{
class memory_output : public llvm::FileOutputBuffer
{
  public:
    memory_output(llvm::StringRef path, uint8_t *bytes, size_t size)
        : FileOutputBuffer(path), bytes(bytes), size(size)
    {
    }
    ~memory_output() override
    {
        std::free(bytes);
    }
    uint8_t *getBufferStart() const override
    {
        return bytes;
    }
    uint8_t *getBufferEnd() const override
    {
        return bytes + size;
    }
    size_t getBufferSize() const override
    {
        return size;
    }
    llvm::Error commit() override
    {
        std::free(run.image);
        run.image = bytes;
        run.image_size = size;
        run.committed = true;
        bytes = nullptr;
        return llvm::Error::success();
    }

  private:
    uint8_t *bytes;
    size_t size;
};
} // namespace

using expected_output = llvm::Expected<std::unique_ptr<llvm::FileOutputBuffer>>;
using input = llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>;

#define HIDDEN __attribute__((visibility("hidden"), used))

/* Replaces llvm::FileOutputBuffer::create. */
HIDDEN expected_output
instead_of_create(llvm::StringRef path, size_t size, unsigned flags) __asm__(
    "_ZN4llvm16FileOutputBuffer6createENS_9StringRefEmj");
HIDDEN expected_output instead_of_create(llvm::StringRef path, size_t size,
                                         unsigned)
{
    void *bytes = std::calloc(1, size + 1);

    if (bytes == nullptr)
        return llvm::errorCodeToError(
            std::make_error_code(std::errc::not_enough_memory));
    return std::unique_ptr<llvm::FileOutputBuffer>(
        new memory_output(path, static_cast<uint8_t *>(bytes), size));
}

/* Replaces llvm::MemoryBuffer::getFile. */
HIDDEN input instead_of_get_file(
    const llvm::Twine &name, bool text, bool terminated, bool may_change,
    std::optional<llvm::Align>
        alignment) __asm__("_ZN4llvm12MemoryBuffer7getFileERKNS_5TwineEbbbSt8op"
                           "tionalINS_5AlignEE");
HIDDEN input instead_of_get_file(const llvm::Twine &name, bool, bool, bool,
                                 std::optional<llvm::Align>)
{
    const std::string path = name.str();
    const kiln__object &object = run.objects[path == "1.o"];
    llvm::StringRef bytes(static_cast<const char *>(object.bytes), object.size);

    return llvm::MemoryBuffer::getMemBuffer(bytes, path, false);
}

/* Replaces llvm::cl::ResetAllOptionOccurrences, which would undo the host's
   options. */
HIDDEN void instead_of_reset() __asm__(
    "_ZN4llvm2cl25ResetAllOptionOccurrencesEv");
HIDDEN void instead_of_reset()
{
}

/* Replaces llvm::llvm_shutdown, which would end LLVM for the host. */
HIDDEN void instead_of_shutdown() __asm__("_ZN4llvm13llvm_shutdownEv");
HIDDEN void instead_of_shutdown()
{
}

/* lld initialises every target that LLVM has, because its inputs may be
   bitcode. That is the greater part of a process's first link, and nothing here
   needs it. */
#define LEAVE_OUT(what, symbol) \
    HIDDEN void instead_of_##what() __asm__(symbol); \
    HIDDEN void instead_of_##what() \
    { \
    }
LEAVE_OUT(targets, "_ZN4llvm20InitializeAllTargetsEv")
LEAVE_OUT(target_infos, "_ZN4llvm24InitializeAllTargetInfosEv")
LEAVE_OUT(target_mcs, "_ZN4llvm22InitializeAllTargetMCsEv")
LEAVE_OUT(asm_printers, "_ZN4llvm24InitializeAllAsmPrintersEv")
LEAVE_OUT(asm_parsers, "_ZN4llvm23InitializeAllAsmParsersEv")

/* Where LLVM's archives are linked, its link-time optimiser refers to a
   function of an archive that is packaged separately. It is never called
   here. */
extern "C" HIDDEN void *instead_of_polly() __asm__("_Z18getPollyPluginInfov");
extern "C" HIDDEN void *instead_of_polly()
{
    return nullptr;
}

/* Replaces llvm::sys::Process::Exit: lld met an error it cannot return from.
   Its state and this thread are lost, but the process goes on. */
HIDDEN void instead_of_exit(int status, bool no_cleanup) __asm__(
    "_ZN4llvm3sys7Process4ExitEib");
HIDDEN void instead_of_exit(int, bool)
{
    std::string message = "lld: " + (run.errors ? *run.errors : std::string());

    while (!message.empty() && message.back() == '\n')
        message.pop_back();
    kiln__elf_link_abandon();
    kiln__codegen_park(message.c_str());
    for (;;) /* without a request there is nobody to tell */
        pause();
}

extern "C" void kiln__lld_link(const char *const *arguments,
                               const kiln__object *objects,
                               kiln__lld_result *out)
{
    std::string output;
    std::string errors;
    llvm::raw_string_ostream output_stream(output);
    llvm::raw_string_ostream error_stream(errors);
    llvm::SmallVector<const char *, 32> list;

    for (size_t i = 0; arguments[i] != nullptr; i++)
        list.push_back(arguments[i]);
    /* lld sets LLVM's number of threads, which is global; it is restored
       below. */
    const llvm::ThreadPoolStrategy threads = llvm::parallel::strategy;
    run = {objects, nullptr, 0, false, &errors};
    lld::Result result = lld::lldMain(list, output_stream, error_stream,
                                      {{lld::Gnu, &lld::elf::link}});
    run.errors = nullptr;
    llvm::parallel::strategy = threads;

    out->usable = result.canRunAgain;
    out->succeeded = result.retCode == 0 && run.committed;
    out->image = run.image;
    out->size = run.image_size;
    out->messages = strdup(errors.c_str());
}
