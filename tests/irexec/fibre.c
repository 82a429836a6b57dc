/* fibre.c - stacks for items, and going from one to another. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>
#include <sys/mman.h>

#include "parts.h"

/*
 * A switch saves what the System V convention of x86-64 leaves to the callee,
 * and the stack pointer. Below each stack is a page that may not be touched.
 */

#define STACK_SIZE ((size_t)256 << 10)
#define GUARD_SIZE ((size_t)4096)

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define SWITCH_BEGINS(keep, bottom, size) \
    __sanitizer_start_switch_fiber((keep), (bottom), (size))
#define SWITCH_ENDS(keep, bottom, size) \
    __sanitizer_finish_switch_fiber((keep), (bottom), (size))
#else
#define SWITCH_BEGINS(keep, bottom, size) (void)0
#define SWITCH_ENDS(keep, bottom, size) (void)0
#endif

/* Saves here, goes on there. */
void irexec_switch(void **from, void *to);

__asm__(".text\n"
        ".globl irexec_switch\n"
        ".hidden irexec_switch\n"
        ".type irexec_switch, @function\n"
        "irexec_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size irexec_switch, . - irexec_switch\n");

#define SAVED 6 /* registers */

/* The scheduler, which is one in the process. */
static struct {
    void *pointer;
    void *sanitizer;
    const void *bottom;
    size_t size;
} home;

/* The first thing that a fibre does. */
static void (*first_body)(void);

static void begin(void)
{
    SWITCH_ENDS(NULL, &home.bottom, &home.size);
    first_body();
}

/* Stacks lie a whole number of pages apart: if all began at the same place of
   a page, few of them would stay in the cache. */
static size_t colour(void)
{
    static unsigned next;

    return next++ % 32 * (size_t)128;
}

int fibre_start(fibre *f, void (*body)(void))
{
    void (*entry)(void) = begin;
    void **top;

    first_body = body;
    if (f->stack == NULL) {
        void *memory =
            mmap(NULL, GUARD_SIZE + STACK_SIZE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED)
            return -1;
        if (mprotect(memory, GUARD_SIZE, PROT_NONE) != 0) {
            munmap(memory, GUARD_SIZE + STACK_SIZE);
            return -1;
        }
        f->stack = memory;
    }
    /* As if body() had been called from address 0: the stack is 16 bytes
       aligned but for that address. */
    top = (void **)(void *)(f->stack + GUARD_SIZE + STACK_SIZE - colour()) - 1;
    top[0] = NULL;
    memcpy(--top, &entry, sizeof entry);
    top -= SAVED;
    memset(top, 0, SAVED * sizeof *top);
    f->pointer = top;
    f->sanitizer = NULL;
    return 0;
}

void fibre_resume(fibre *f)
{
    SWITCH_BEGINS(&home.sanitizer, f->stack + GUARD_SIZE, STACK_SIZE);
    irexec_switch(&home.pointer, f->pointer);
    SWITCH_ENDS(home.sanitizer, NULL, NULL);
}

void fibre_leave(fibre *f)
{
    SWITCH_BEGINS(&f->sanitizer, home.bottom, home.size);
    irexec_switch(&f->pointer, home.pointer);
    SWITCH_ENDS(f->sanitizer, &home.bottom, &home.size);
}

/* The sanitizer frees what it keeps for a fibre that it need not save. */
void fibre_end(fibre *f)
{
    SWITCH_BEGINS(NULL, home.bottom, home.size);
    irexec_switch(&f->pointer, home.pointer);
}

void fibre_free(fibre *f)
{
    if (f->stack != NULL)
        munmap(f->stack, GUARD_SIZE + STACK_SIZE);
    f->stack = NULL;
}
