/* stacks.c - runs code on stacks of a given size. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/process/stacks.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "support/harness.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#define PAGE ((size_t)4096)

/* Returns what the C library takes of a thread's stack before the thread runs,
   for thread-local variables; a sanitizer has a megabyte of them. */
static size_t taken_from_stack(void)
{
    size_t size = 0;
#if defined(__SANITIZE_THREAD__)
    size_t (*measure)(const pthread_attr_t *) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
    pthread_attr_t attributes;

    assert_non_null(found);
    memcpy(&measure, &found, sizeof measure);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    size = measure(&attributes) - (size_t)PTHREAD_STACK_MIN;
    (void)pthread_attr_destroy(&attributes);
#endif
    return size;
}

static size_t whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static char *stack_new(size_t size)
{
    char *memory = mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory, PAGE, PROT_NONE), 0);
    return memory + PAGE;
}

static void stack_free(char *stack, size_t size)
{
    assert_int_equal(munmap(stack - PAGE, PAGE + size), 0);
}

typedef struct call {
    void (*body)(void *env);
    void *env;
} call;

/* ---- threads ---- */

static void *run_call(void *argument)
{
    const call *c = argument;

    c->body(c->env);
    return NULL;
}

void stacks_run_thread(size_t size, void (*body)(void *env), void *env)
{
    const size_t whole = whole_pages(size + taken_from_stack());
    char *stack = stack_new(whole);
    call c = {body, env};
    pthread_attr_t attributes;
    pthread_t thread;

    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, whole), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run_call, &c), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&attributes);
    stack_free(stack, whole);
}

/* ---- coroutines ---- */

static _Thread_local struct {
    ucontext_t home, away;
    call call;
    const char *stack;
    size_t size;
    const void *home_stack; /* for sanitizers */
    size_t home_size;
    void *home_fibre, *away_fibre;
} coroutine;

/* The thread sanitizer counts calls on each fibre. A function that is called on
   one and returns on another must not be instrumented. */
#if defined(__SANITIZE_THREAD__)
#define SWITCHES __attribute__((no_sanitize_thread))
#else
#define SWITCHES
#endif

SWITCHES static void begins(void *keep, const void *stack, size_t size,
                            void *fibre)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(keep, stack, size);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(fibre, 0);
#endif
    (void)keep;
    (void)stack;
    (void)size;
    (void)fibre;
}

static void ended(void *kept, const void **stack, size_t *size)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(kept, stack, size);
#endif
    (void)kept;
    (void)stack;
    (void)size;
}

SWITCHES static void run_coroutine(void)
{
    ended(NULL, &coroutine.home_stack, &coroutine.home_size);
    coroutine.call.body(coroutine.call.env);
    begins(NULL, coroutine.home_stack, coroutine.home_size,
           coroutine.home_fibre);
}

void stacks_run_coroutine(size_t size, void (*body)(void *env), void *env)
{
    const size_t whole = whole_pages(size);
    char *stack = stack_new(whole);
    void *kept = NULL;

    coroutine.call = (call){body, env};
    coroutine.stack = stack;
    coroutine.size = whole;
    assert_int_equal(getcontext(&coroutine.away), 0);
    coroutine.away.uc_stack.ss_sp = stack;
    coroutine.away.uc_stack.ss_size = whole;
    coroutine.away.uc_link = &coroutine.home;
    makecontext(&coroutine.away, run_coroutine, 0);
#if defined(__SANITIZE_THREAD__)
    coroutine.home_fibre = __tsan_get_current_fiber();
    coroutine.away_fibre = __tsan_create_fiber(0);
#endif
    begins(&kept, stack, whole, coroutine.away_fibre);
    assert_int_equal(swapcontext(&coroutine.home, &coroutine.away), 0);
    ended(kept, NULL, NULL);
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(coroutine.away_fibre);
#endif
    coroutine.stack = NULL;
    stack_free(stack, whole);
}

const void *stacks_coroutine_limit(void)
{
    return coroutine.stack;
}
