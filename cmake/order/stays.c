/* stays.c - no destructor of LLVM runs when the process ends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/*
 * The destructors of LLVM's globals would run at the end of the process. That
 * takes time, and a thread that still compiles then would use destroyed
 * globals. libkiln-codegen is never closed, so nothing else needs the
 * destructors. This definition is hidden in that library, where it replaces the
 * C library's.
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
