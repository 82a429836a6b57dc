/* pack_sink.h - where a pack's bytes go, one after the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PACK_SINK_H
#define KILN_PACK_SINK_H

#include "stores/pack/pack_format.h"

typedef struct kiln__pack_sink kiln__pack_sink;
struct kiln__pack_sink {
    /* KILN_OK or KILN_EIO, whose reason is told when the sink is closed. */
    kiln_status (*write)(kiln__pack_sink *sink, const void *bytes, size_t size);
    uint64_t offset; /* of the next byte */
    const kiln_alloc *alloc;
    unsigned char *bytes; /* memory: all of them; file: a buffer */
    size_t held;          /* in the buffer */
    int folder;           /* that the names are below; AT_FDCWD, say */
    int descriptor;
    int number; /* errno of what failed */
    char *temporary;
};

/* Zeros up to a multiple of 64 bytes. */
kiln_status kiln__pack_sink_pad(kiln__pack_sink *sink);

/* Memory of `size` bytes: KILN_ENOMEM. Nothing is to be closed. */
kiln_status kiln__pack_sink_memory(kiln__pack_sink *sink, kiln_blob *out,
                                   const kiln_alloc *alloc, uint64_t size);
/* A file beside `path`, which is below the open folder, with room for `size`
   bytes. */
kiln_status kiln__pack_sink_open(kiln__pack_sink *sink, const kiln_alloc *alloc,
                                 int folder, const char *path, uint64_t size,
                                 kiln_error **error);
/* `status` is how writing went. Gives the file its name, or removes it. */
kiln_status kiln__pack_sink_close(kiln__pack_sink *sink, const char *path,
                                  kiln_status status, kiln_error **error);

#endif /* KILN_PACK_SINK_H */
