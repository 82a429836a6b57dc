/* fake_worker.c - a codegen worker that does what no worker should. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "codegen_client/codegen_wire.h"

/*
 * FAKE_WORKER says what: before the first exchange or at the first request.
 * "pass" becomes the real program, FAKE_WORKER_REAL.
 */

#define STREAM 3

static const char *behaviour, *folder;

static int is(const char *name)
{
    return strcmp(behaviour, name) == 0;
}

static void send_all(const void *bytes, size_t size)
{
    if (send(STREAM, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
        _exit(1);
}

static void send_message(int kind, const void *bytes, size_t size)
{
    unsigned char head[KILN__WIRE_HEAD_SIZE];

    kiln__wire_put_head(head, kind, size);
    send_all(head, sizeof head);
    send_all(bytes, size);
}

static unsigned char *receive(size_t *size)
{
    unsigned char head[KILN__WIRE_HEAD_SIZE], *bytes;

    if (recv(STREAM, head, sizeof head, MSG_WAITALL) != (ssize_t)sizeof head ||
        !kiln__wire_get_head(head, size))
        _exit(0);
    bytes = calloc(1, *size + 1);
    if (!bytes || recv(STREAM, bytes, *size, MSG_WAITALL) != (ssize_t)*size)
        _exit(1);
    return bytes;
}

static void put_note(kiln__encoder *out, int64_t number, const char *text)
{
    const kiln__wire_note note = {number, 0, text};

    kiln__encoder_init(out, &kiln__malloc);
    kiln__wire_put_note(out, &note);
}

/* ---- the first exchange ---- */

static void answer_hello(void)
{
    kiln__wire_ready ready = {KILN__CODEGEN_ABI, "", "", "", ""};
    kiln__wire_hello hello;
    kiln__encoder fields;
    kiln__arena arena;
    size_t size;
    unsigned char *bytes = receive(&size);

    kiln__arena_init(&arena, &kiln__malloc);
    if (kiln__wire_get_hello(&hello, &arena, bytes, size) != KILN_OK)
        _exit(1);
    ready.build_id = is("other build") ? "another" : hello.build_id;
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_ready(&fields, &ready);
    send_message(KILN__WIRE_READY, fields.bytes, fields.size);
    kiln__encoder_dispose(&fields);
    kiln__arena_dispose(&arena);
    free(bytes);
}

static void begin(void)
{
    const char *real = getenv("FAKE_WORKER_REAL");

    if (is("pass") && real)
        (void)execl(real, real, "--serve", folder, (char *)NULL);
    if (is("dies at once"))
        _exit(7);
    if (is("garbage at once")) {
        char garbage[64];

        memset(garbage, 'x', sizeof garbage);
        send_all(garbage, sizeof garbage);
    }
    if (is("silent"))
        for (;;)
            pause();
}

/* ---- the request ---- */

static void say_and_end(const char *words, int number)
{
    (void)fprintf(stderr, "%s\nand more\n", words);
    (void)fflush(stderr);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void crash(void)
{
    if (is("segfault"))
        say_and_end("", SIGSEGV);
    if (is("assertion"))
        say_and_end("wrong.cpp:12: Assertion `right' failed.", SIGABRT);
    if (is("no memory"))
        say_and_end("terminate called after throwing an instance of "
                    "'std::bad_alloc'",
                    SIGABRT);
    if (is("killed"))
        (void)raise(SIGKILL);
    if (is("exits"))
        _exit(3);
}

static void hang(void)
{
    if (is("stopped"))
        (void)raise(SIGSTOP);
    if (is("hangs"))
        for (;;)
            pause();
}

static void talk_nonsense(void)
{
    unsigned char head[KILN__WIRE_HEAD_SIZE];
    kiln__encoder note;

    if (is("huge")) {
        memset(head, 0xff, sizeof head);
        kiln__wire_put_head(head, KILN__WIRE_FINISH, SIZE_MAX);
        send_all(head, sizeof head);
    }
    if (is("half")) {
        kiln__wire_put_head(head, KILN__WIRE_FINISH, 100);
        send_all(head, sizeof head);
        _exit(0);
    }
    if (is("damaged"))
        send_message(KILN__WIRE_FINISH, "no result", 9);
    put_note(&note, 1000, "text");
    if (is("no stage"))
        send_message(KILN__WIRE_STAGE, note.bytes, note.size);
    if (is("no failure"))
        send_message(KILN__WIRE_FAIL, note.bytes, note.size);
    if (is("question"))
        send_message(KILN__WIRE_REQUEST, note.bytes, note.size);
    kiln__encoder_dispose(&note);
}

static void answer(void)
{
    const kiln__codegen_result text = {
        .bytes = "text", .size = 4, .format = "llvm"};
    kiln__encoder fields;

    if (!is("answers"))
        return;
    put_note(&fields, 0, "a stage, and a line of the log");
    send_message(KILN__WIRE_STAGE, fields.bytes, fields.size);
    send_message(KILN__WIRE_LOG, fields.bytes, fields.size);
    kiln__encoder_dispose(&fields);
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_result(&fields, &text);
    send_message(KILN__WIRE_FINISH, fields.bytes, fields.size);
    kiln__encoder_dispose(&fields);
}

int main(int count, char **words)
{
    size_t size;

    folder = count > 2 ? words[2] : NULL;
    behaviour = getenv("FAKE_WORKER");
    if (!behaviour)
        return 2;
    begin();
    answer_hello();
    for (;;) {
        free(receive(&size));
        crash();
        hang();
        talk_nonsense();
        answer();
        if (is("closes and lives")) {
            (void)close(STREAM);
            for (;;)
                pause();
        }
    }
}
