/* file.c - reads whole files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/array.h"
#include "base/error.h"
#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/reason.h"

#define READ_SIZE 65536

static kiln_status file_error(kiln_error **error, const char *what,
                              const char *path, int number)
{
    return kiln__error_set(error, KILN_EIO, "cannot %s %s: %s", what, path,
                           kiln__reason_text(number));
}

/* Reads to the end, so that growing files are read completely, and files whose
   size the system does not know. */
static kiln_status read_all(kiln__text *text, int descriptor, const char *path,
                            size_t limit, kiln_error **error)
{
    char *buffer = kiln__allocate(text->alloc, READ_SIZE);
    kiln_status status = KILN_OK;
    ssize_t got = READ_SIZE;

    if (buffer == NULL)
        return kiln__error_no_memory(error);
    while (got == READ_SIZE && status == KILN_OK) {
        got = kiln__io_read_at(descriptor, buffer, READ_SIZE, text->size);
        if (got < 0)
            status = file_error(error, "read", path, errno);
        else if ((size_t)got > limit - text->size)
            status = kiln__error_set(error, KILN_EIO,
                                     "cannot read %s: more than %zu bytes",
                                     path, limit);
        else
            kiln__text_add_n(text, buffer, (size_t)got);
        if (text->failed)
            status = kiln__error_no_memory(error);
    }
    kiln__deallocate(text->alloc, buffer, READ_SIZE);
    return status;
}

/* A pipe may never get a writer, and a device may have no end. */
static kiln_status check_regular(int descriptor, const char *path,
                                 kiln_error **error)
{
    struct stat facts;

    if (fstat(descriptor, &facts) != 0)
        return file_error(error, "read", path, errno);
    if (S_ISDIR(facts.st_mode))
        return file_error(error, "read", path, EISDIR);
    return S_ISREG(facts.st_mode)
               ? KILN_OK
               : kiln__error_set(error, KILN_EIO,
                                 "cannot read %s: it is no regular file", path);
}

kiln_status kiln__file_read(kiln_blob *out, const kiln_alloc *alloc,
                            const char *path, size_t limit, kiln_error **error)
{
    /* O_NONBLOCK: a pipe without a writer opens at once, and is then
       refused. */
    const int descriptor = kiln__descriptor_open(
        AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    kiln_status status;
    kiln__text text;

    *out = (kiln_blob){0};
    if (descriptor < 0)
        return file_error(error, "open", path, errno);
    kiln__text_init(&text, alloc);
    status = check_regular(descriptor, path, error);
    if (status == KILN_OK)
        status = read_all(&text, descriptor, path, limit, error);
    (void)close(descriptor);
    if (status != KILN_OK) {
        kiln__text_dispose(&text);
        return status;
    }
    if (kiln__text_to_blob(&text, out) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}
