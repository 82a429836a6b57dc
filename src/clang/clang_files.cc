/* clang_files.cc - the files that clang sees, and which it looked for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstring>

#include <llvm/ADT/StringMap.h>
#include <llvm/Support/Path.h>

#include "clang/clang_parts.h"

/*
 * Clang's file manager asks for each path once. A path that is not there is
 * recorded, too: if a file appears there later, the result may be another one.
 * Folders are asked for like files.
 */

class kiln__clang_looks
{
  public:
    struct look {
        std::string path;
        int32_t found = KILN__SOURCE_MISSING;
        kiln_digest digest = {};
    };

    look &at(const std::string &path)
    {
        const auto found = places.try_emplace(path, looks.size());

        if (found.second) {
            looks.emplace_back();
            looks.back().path = path;
        }
        return looks[found.first->second];
    }

    std::vector<look> looks;

  private:
    llvm::StringMap<size_t> places;
};

namespace
{

/* A file whose content is hashed when it is read. */
class recorded_file : public llvm::vfs::File
{
  public:
    recorded_file(std::unique_ptr<llvm::vfs::File> real,
                  std::shared_ptr<kiln__clang_looks> to, std::string at)
        : file(std::move(real)), looks(std::move(to)), path(std::move(at))
    {
    }

    llvm::ErrorOr<llvm::vfs::Status> status() override
    {
        return file->status();
    }

    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(
        const llvm::Twine &name, int64_t size, bool needs_nul,
        bool is_volatile) override
    {
        auto buffer = file->getBuffer(name, size, needs_nul, is_volatile);

        if (buffer) {
            const llvm::StringRef bytes = (*buffer)->getBuffer();
            const auto digest = llvm::BLAKE3::hash(llvm::ArrayRef<uint8_t>(
                reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
            kiln__clang_looks::look &look = looks->at(path);

            static_assert(sizeof look.digest.bytes == sizeof digest, "BLAKE3");
            memcpy(look.digest.bytes, digest.data(), sizeof digest);
            look.found = KILN__SOURCE_READ;
        }
        return buffer;
    }

    std::error_code close() override
    {
        return file->close();
    }

  private:
    std::unique_ptr<llvm::vfs::File> file;
    std::shared_ptr<kiln__clang_looks> looks;
    std::string path;
};

class recorded_files : public llvm::vfs::ProxyFileSystem
{
  public:
    recorded_files(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> real,
                   std::shared_ptr<kiln__clang_looks> to)
        : ProxyFileSystem(std::move(real)), looks(std::move(to))
    {
    }

    llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &path) override
    {
        auto found = ProxyFileSystem::status(path);

        note(absolute(path), found);
        return found;
    }

    llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
        const llvm::Twine &path) override
    {
        auto found = ProxyFileSystem::openFileForRead(path);
        const std::string place = absolute(path);

        if (!found) {
            looks->at(place);
            return found;
        }
        note(place, (*found)->status());
        return std::unique_ptr<llvm::vfs::File>(
            new recorded_file(std::move(*found), looks, place));
    }

  private:
    std::shared_ptr<kiln__clang_looks> looks;

    void note(const std::string &place,
              const llvm::ErrorOr<llvm::vfs::Status> &found) const
    {
        kiln__clang_looks::look &look = looks->at(place);

        if (found && look.found == KILN__SOURCE_MISSING)
            look.found =
                found->isDirectory() ? KILN__SOURCE_FOLDER : KILN__SOURCE_FILE;
    }

    std::string absolute(const llvm::Twine &path)
    {
        llvm::SmallString<256> whole;

        path.toVector(whole);
        (void)makeAbsolute(whole); /* leaves it as it is if it cannot */
        /* ".." stays: behind a symbolic link it is elsewhere. */
        llvm::sys::path::remove_dots(whole, false);
        return std::string(whole);
    }
};

} // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> kiln__clang_files(
    kiln__clang_job *job, std::shared_ptr<kiln__clang_looks> &looks)
{
    const kiln__source_request *request = job->request;
    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> real(
        llvm::vfs::createPhysicalFileSystem());
    llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory(
        new llvm::vfs::InMemoryFileSystem);

    looks = std::make_shared<kiln__clang_looks>();
    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> all(
        new llvm::vfs::OverlayFileSystem(
            llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(
                new recorded_files(real, looks))));
    all->pushOverlay(memory);
    /* If the folder is gone, relative paths are not found. */
    (void)all->setCurrentWorkingDirectory(request->folder);
    memory->addFile(KILN__CLANG_BASE_PATH, 0,
                    llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(
                        kiln__clang_base, kiln__clang_base_size)));
    memory->addFile(request->name, 0,
                    llvm::MemoryBuffer::getMemBufferCopy(
                        llvm::StringRef(request->text, request->size)));
    return all;
}

void kiln__clang_tell_files(kiln__clang_job *job,
                            const kiln__clang_looks &looks)
{
    std::vector<kiln__source_file> files;

    for (const kiln__clang_looks::look &look : looks.looks)
        files.push_back(
            {kiln__clang_copy(job, look.path), look.found, look.digest});
    job->out->files = kiln__clang_copy_all(job, files);
    job->out->file_count = files.size();
}
