/* stays.c - nothing of LLVM is taken down when the process ends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/*
 * LLVM's globals have destructors, which would run at the end of the process:
 * they take time, and a thread that compiles to the end would find them gone.
 * libkiln-codegen is never closed, so there is no other use of them. This is
 * in that library alone, hidden, and comes before the C library's.
 */

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

__attribute__((visibility("hidden"))) int __cxa_atexit(void (*function)(void *),
                                                       void *argument,
                                                       void *library)
{
    (void)function;
    (void)argument;
    (void)library;
    return 0;
}
