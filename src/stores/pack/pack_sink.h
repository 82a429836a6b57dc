/* pack_sink.h - the destination of a pack's bytes: memory or a file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PACK_SINK_H
#define KILN_PACK_SINK_H

#include "stores/pack/pack_format.h"

typedef struct kiln__pack_sink kiln__pack_sink;
struct kiln__pack_sink {
    /* KILN_OK or KILN_EIO; closing the sink gives the reason. */
    kiln_status (*write)(kiln__pack_sink *sink, const void *bytes, size_t size);
    uint64_t offset; /* of the next byte */
    const kiln_alloc *alloc;
    unsigned char *bytes; /* memory: all bytes; file: a buffer */
    size_t held;          /* in the buffer */
    int folder;           /* names are relative to this folder; may be
                             AT_FDCWD */
    int descriptor;
    int number; /* errno of the failure */
    char *temporary;
};

/* Writes zeros up to a multiple of 64 bytes. */
kiln_status kiln__pack_sink_pad(kiln__pack_sink *sink);

/* Allocates `size` bytes: KILN_ENOMEM. Such a sink is not closed. */
kiln_status kiln__pack_sink_memory(kiln__pack_sink *sink, kiln_blob *out,
                                   const kiln_alloc *alloc, uint64_t size);
/* Makes a file beside `path`, which is relative to the open folder, with room
   for `size` bytes. */
kiln_status kiln__pack_sink_open(kiln__pack_sink *sink, const kiln_alloc *alloc,
                                 int folder, const char *path, uint64_t size,
                                 kiln_error **error);
/* `status` is the result of writing. Gives the file its name, or removes it. */
kiln_status kiln__pack_sink_close(kiln__pack_sink *sink, const char *path,
                                  kiln_status status, kiln_error **error);

#endif /* KILN_PACK_SINK_H */
