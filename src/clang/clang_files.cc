/* clang_files.cc - the files that clang sees, and which it looked for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstring>
#include <map>

#include <llvm/ADT/StringMap.h>
#include <llvm/Support/Path.h>

#include "clang/clang_parts.h"

/*
 * Clang's file manager asks for each path once. A path that is not there is
 * recorded, too: if a file appears there later, the result may be another one.
 * Folders are asked for like files.
 *
 * It knows files by device and inode. Of one with two names it reads one name,
 * and both count as read.
 */

class kiln__clang_looks
{
  public:
    struct look {
        std::string path;
        int32_t found = KILN__SOURCE_MISSING;
        llvm::sys::fs::UniqueID id; /* unless it is missing */
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

static kiln_digest digest_of(const llvm::MemoryBuffer &buffer)
{
    const llvm::StringRef bytes = buffer.getBuffer();
    const auto hash = llvm::BLAKE3::hash(llvm::ArrayRef<uint8_t>(
        reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
    kiln_digest digest;

    static_assert(sizeof digest.bytes == sizeof hash, "BLAKE3");
    memcpy(digest.bytes, hash.data(), sizeof hash);
    return digest;
}

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

        if (buffer)
            note(digest_of_all(**buffer, name, is_volatile));
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

    kiln_digest digest_of_all(const llvm::MemoryBuffer &part,
                              const llvm::Twine &name, bool is_volatile);
    void note(kiln_digest digest);
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

        if (!found || look.found != KILN__SOURCE_MISSING)
            return;
        look.found =
            found->isDirectory() ? KILN__SOURCE_FOLDER : KILN__SOURCE_FILE;
        look.id = found->getUniqueID();
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

/* #embed reads a part, and then the rest of the file may be read, too. */
kiln_digest recorded_file::digest_of_all(const llvm::MemoryBuffer &part,
                                         const llvm::Twine &name,
                                         bool is_volatile)
{
    const auto info = file->status();

    if (info && info->isRegularFile() &&
        info->getSize() > part.getBufferSize()) {
        const auto all = file->getBuffer(
            name, static_cast<int64_t>(info->getSize()), false, is_volatile);

        if (all)
            return digest_of(**all);
    }
    return digest_of(part);
}

/* No content has the digest zero: a file that changes meanwhile is never
   found like this again. */
void recorded_file::note(kiln_digest digest)
{
    kiln__clang_looks::look &look = looks->at(path);
    const bool is_other = look.found == KILN__SOURCE_READ &&
                          memcmp(&look.digest, &digest, sizeof digest) != 0;

    look.digest = is_other ? kiln_digest{} : digest;
    look.found = KILN__SOURCE_READ;
}

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
    std::map<llvm::sys::fs::UniqueID, uint32_t> first;
    std::map<llvm::sys::fs::UniqueID, kiln_digest> read;

    for (const kiln__clang_looks::look &look : looks.looks)
        if (look.found == KILN__SOURCE_READ)
            read[look.id] = look.digest;
    for (const kiln__clang_looks::look &look : looks.looks) {
        const uint32_t number = static_cast<uint32_t>(files.size()) + 1;
        const auto content = read.find(look.id);
        kiln__source_file file = {kiln__clang_copy(job, look.path), look.found,
                                  0, look.digest};

        if (look.found != KILN__SOURCE_MISSING) {
            const uint32_t same =
                first.try_emplace(look.id, number).first->second;

            file.same = same == number ? 0 : same;
            if (content != read.end()) {
                file.found = KILN__SOURCE_READ;
                file.digest = content->second;
            }
        }
        files.push_back(file);
    }
    job->out->files = kiln__clang_copy_all(job, files);
    job->out->file_count = files.size();
}
