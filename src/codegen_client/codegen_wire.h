/* codegen_wire.h - the messages between libkiln and a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_WIRE_H
#define KILN_CODEGEN_WIRE_H

#include "abi/codegen_abi.h"
#include "base/data/arena.h"
#include "base/data/decoder.h"
#include "base/data/encoder.h"

/*
 * Messages over one stream, a socket between two processes of one machine:
 *
 *     libkiln                        worker
 *     HELLO   who I am         ->
 *                              <-    READY who I am, or REFUSED and why
 *     REQUEST                  ->
 *                              <-    STAGE, WAS_READ, LOG, as often as need be
 *                              <-    KEEP, before a FAIL
 *                              <-    NEED, as often as need be, before a FAIL
 *                              <-    FINISH, FAIL or FATAL
 *     SOURCE                   ->            source_wire.h
 *                              <-    SOURCE_DONE
 *     REQUEST ...
 *
 * After FATAL the worker process ends; it also ends whenever the stream does. A
 * message is a head of KILN__WIRE_HEAD_SIZE bytes, followed by fields in the
 * encoding of encoder.c. Builds are compared in the first exchange.
 * Nevertheless both sides check all lengths, counts, texts and indices here.
 *
 * Decoded values point into the arena and into the message, whose bytes must be
 * followed by a NUL that is not counted.
 */
#define KILN__WIRE_HEAD_SIZE ((size_t)16)
#define KILN__WIRE_LARGEST ((size_t)1 << 31) /* of a message, in bytes */
/* Exit status of a worker whose stream failed or ended; it says nothing about
   the request. */
#define KILN__WIRE_LOST 74

enum {
    KILN__WIRE_HELLO = 1,
    KILN__WIRE_READY,
    KILN__WIRE_REFUSED,
    KILN__WIRE_REQUEST,
    KILN__WIRE_STAGE,
    KILN__WIRE_WAS_READ,
    KILN__WIRE_LOG,
    KILN__WIRE_KEEP,
    KILN__WIRE_NEED,
    KILN__WIRE_FINISH,
    KILN__WIRE_FAIL,
    KILN__WIRE_FATAL,
    KILN__WIRE_SOURCE,
    KILN__WIRE_SOURCE_DONE,
    KILN__WIRE_KIND_END
};

typedef struct kiln__wire_hello {
    uint64_t abi; /* KILN__CODEGEN_ABI */
    const char *build_id;
    const char *library; /* path of libkiln-codegen */
    uint64_t is_given;   /* whether the path was given; if not, the loader may
                            search as well */
    uint64_t memory;     /* of the worker, in bytes; 0: no bound */
} kiln__wire_hello;

/* Builds of what the worker opened; "" for what it has not opened
   separately. */
typedef struct kiln__wire_ready {
    uint64_t abi;
    const char *build_id;
    const char *codegen_id;
    const char *llvm_id;
    const char *llvm_path;
} kiln__wire_ready;

/* REFUSED, FAIL: status and message. FATAL: message. STAGE, WAS_READ: index and
   nanoseconds. LOG: level and line. NEED: library and symbol. */
typedef struct kiln__wire_note {
    int64_t number;
    uint64_t value;
    const char *text;
} kiln__wire_note;

/* KEEP: an input on which a tool failed. The suffix is ".ptx" or the like. */
typedef struct kiln__wire_kept {
    const char *suffix;
    const void *bytes;
    size_t size;
} kiln__wire_kept;

void kiln__wire_put_head(unsigned char head[KILN__WIRE_HEAD_SIZE], int kind,
                         size_t size);
/* Returns the kind, and how many bytes follow; 0: the bytes are no head. */
int kiln__wire_get_head(const unsigned char head[KILN__WIRE_HEAD_SIZE],
                        size_t *size);

/* A failed allocation is noted in the encoder. */
void kiln__wire_put_hello(kiln__encoder *out, const kiln__wire_hello *hello);
void kiln__wire_put_ready(kiln__encoder *out, const kiln__wire_ready *ready);
void kiln__wire_put_note(kiln__encoder *out, const kiln__wire_note *note);
void kiln__wire_put_request(kiln__encoder *out,
                            const kiln__codegen_request *request);
void kiln__wire_put_result(kiln__encoder *out,
                           const kiln__codegen_result *result);
void kiln__wire_put_kept(kiln__encoder *out, const kiln__wire_kept *kept);

/* KILN_ECORRUPT or KILN_ENOMEM. Texts are not NULL, except where the request's
   may be. The callbacks of a request are left NULL. */
kiln_status kiln__wire_get_hello(kiln__wire_hello *out, kiln__arena *arena,
                                 const void *bytes, size_t size);
kiln_status kiln__wire_get_ready(kiln__wire_ready *out, kiln__arena *arena,
                                 const void *bytes, size_t size);
kiln_status kiln__wire_get_note(kiln__wire_note *out, kiln__arena *arena,
                                const void *bytes, size_t size);
kiln_status kiln__wire_get_request(kiln__codegen_request *out,
                                   kiln__arena *arena, const void *bytes,
                                   size_t size);
kiln_status kiln__wire_get_result(kiln__codegen_result *out, kiln__arena *arena,
                                  const void *bytes, size_t size);

kiln_status kiln__wire_get_kept(kiln__wire_kept *out, kiln__arena *arena,
                                const void *bytes, size_t size);

#endif /* KILN_CODEGEN_WIRE_H */
