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

/*
 * A sanitizer follows stacks, and is told of each switch: to a fibre or home
 * just before it, the address sanitizer also just after. What it keeps of a
 * fibre goes when the fibre ends, or begins anew. The thread sanitizer is told
 * nothing: CMakeLists.txt keeps it out of here.
 */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>

static void tell_start(fibre *f)
{
    f->sanitizer = NULL;
}

static void tell_resume(fibre *f)
{
    __sanitizer_start_switch_fiber(&home.sanitizer, f->stack + GUARD_SIZE,
                                   STACK_SIZE);
}

static void tell_at_home(void)
{
    __sanitizer_finish_switch_fiber(home.sanitizer, NULL, NULL);
}

/* `keep` NULL: what it keeps of the fibre goes. */
static void tell_leave(void **keep)
{
    __sanitizer_start_switch_fiber(keep, home.bottom, home.size);
}

static void tell_in_fibre(void *kept)
{
    __sanitizer_finish_switch_fiber(kept, &home.bottom, &home.size);
}

static void tell_free(fibre *f)
{
    (void)f;
}

#else

static void tell_start(fibre *f)
{
    f->sanitizer = NULL;
}

static void tell_resume(fibre *f)
{
    (void)f;
}

static void tell_at_home(void)
{
}

static void tell_leave(void **keep)
{
    (void)keep;
}

static void tell_in_fibre(void *kept)
{
    (void)kept;
}

static void tell_free(fibre *f)
{
    (void)f;
}

#endif

/* The first thing that a fibre does. */
static void (*first_body)(void);

static void begin(void)
{
    tell_in_fibre(NULL);
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
    tell_start(f);
    return 0;
}

void fibre_resume(fibre *f)
{
    tell_resume(f);
    irexec_switch(&home.pointer, f->pointer);
    tell_at_home();
}

void fibre_leave(fibre *f)
{
    tell_leave(&f->sanitizer);
    irexec_switch(&f->pointer, home.pointer);
    tell_in_fibre(f->sanitizer);
}

void fibre_end(fibre *f)
{
    tell_leave(NULL);
    irexec_switch(&f->pointer, home.pointer);
}

void fibre_free(fibre *f)
{
    tell_free(f);
    if (f->stack != NULL)
        munmap(f->stack, GUARD_SIZE + STACK_SIZE);
    f->stack = NULL;
}
