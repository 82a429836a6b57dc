/* stack.c - how much of the calling code's stack is left. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/stack.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "base/error.h"

/*
 * Each thread keeps a window: for a frame between `low` and `high` the stack
 * ends at `low`. A frame outside the window is on another stack than the last
 * one, and a new window is made for it.
 */
typedef struct window {
    uintptr_t low, high;
    uintptr_t own_low, own_high; /* of the thread's own stack */
    int is_own_known;
    int nested;
} window;

static _Thread_local window now;

#define FRAME ((uintptr_t)__builtin_frame_address(0))

/* ---- the thread's own stack ---- */

/* The system keeps a gap of 128 MiB below the first thread's stack, so a limit
   up to this size can be used in full. */
#define FIRST_MAX ((uintptr_t)64 << 20)
#define PAGE ((uintptr_t)4096)

/* The first thread's stack grows as it is used, up to a limit. Its highest page
   contains the path of the program (AT_EXECFN). pthread_getattr_np() would read
   a file of /proc to find the stack. */
static int find_first(uintptr_t frame)
{
    const char *path = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    uintptr_t high, size = FIRST_MAX;
    struct rlimit limit;

    if (path == NULL || getrlimit(RLIMIT_STACK, &limit) != 0)
        return 0;
    if (limit.rlim_cur < size)
        size = (uintptr_t)limit.rlim_cur;
    high = ((uintptr_t)path + strlen(path)) / PAGE * PAGE + PAGE;
    if (frame > high || high - frame >= size)
        return 0;
    now.own_low = high - size;
    now.own_high = high;
    return 1;
}

static void find_own(uintptr_t frame)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;

    now.is_own_known = 1;
    if (find_first(frame) ||
        pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        now.own_low = (uintptr_t)low;
        now.own_high = (uintptr_t)low + size;
    }
    (void)pthread_attr_destroy(&attributes);
}

/* ---- the window ---- */

static int is_inside(uintptr_t frame)
{
    return frame - now.low <= now.high - now.low;
}

static void open_window(uintptr_t frame)
{
    if (!now.is_own_known)
        find_own(frame);
    if (frame >= now.own_low && frame < now.own_high) {
        now.low = now.own_low;
        now.high = now.own_high;
        return;
    }
    now.low = frame - KILN__STACK_ASSUMED;
    now.high = frame;
}

void kiln__stack_begin(const void *limit)
{
    const uintptr_t frame = FRAME, low = (uintptr_t)limit;

    if (low != 0 && low < frame) {
        if (low != now.low || frame > now.high)
            now.high = frame;
        now.low = low;
        return;
    }
    if (now.nested == 0 || !is_inside(frame))
        open_window(frame);
}

void kiln__stack_nest(int by)
{
    now.nested += by;
}

size_t kiln__stack_left(void)
{
    const uintptr_t frame = FRAME;

    if (!is_inside(frame))
        open_window(frame);
    return frame - now.low;
}

int kiln__stack_is_low(void)
{
    return kiln__stack_left() < KILN__STACK_RESERVE;
}

/* ---- errors ---- */

kiln_status kiln__stack_error(kiln_error **error)
{
    const uintptr_t frame = FRAME;

    if (frame >= now.own_low && frame < now.own_high)
        return kiln__error_set(
            error, KILN_ESTACK,
            "this nests too deeply for the thread's stack of %zu KiB",
            (size_t)(now.own_high - now.own_low) / 1024);
    return kiln__error_set(
        error, KILN_ESTACK,
        "this nests too deeply for the stack that the thread has switched to, "
        "which has %zu KiB left",
        kiln__stack_left() / 1024);
}

kiln_status kiln__error_shortage(kiln_error **error, kiln_status status)
{
    return status == KILN_ESTACK ? kiln__stack_error(error)
                                 : kiln__error_no_memory(error);
}
