/* test_host_space.c - pieces of one mapping for several images. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends host */
/* WRAPS: mmap */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/host/host_backend.h"
#include "support/harness.h"

#define MANY 40
#define LARGE ((size_t)1 << 20)

typedef struct crowd {
    kiln_context *context;
    kiln__host_space space;
    size_t page;
    unsigned char *pieces[MANY];
} crowd;

/* Takes a page and puts a function into it that returns the number. */
static void take(crowd *c, size_t number)
{
    unsigned char code[] = {0xb8, (unsigned char)number, 0, 0, 0, 0xc3};
    unsigned char *piece = kiln__host_space_take(&c->space, c->page);

    assert_non_null(piece);
    for (size_t i = 0; i < c->page; i++)
        assert_int_equal(piece[i], 0);
    memcpy(piece, code, sizeof code);
    assert_int_equal(mprotect(piece, c->page, PROT_READ | PROT_EXEC), 0);
    c->pieces[number] = piece;
}

static void drop(const crowd *c, size_t number)
{
    assert_int_equal(munmap(c->pieces[number], c->page), 0);
}

static void begin(crowd *c)
{
    c->page = (size_t)sysconf(_SC_PAGESIZE);
    assert_ok(kiln_context_new(&c->context, NULL, &test_error));
    assert_ok(kiln__host_space_init(&c->space, c->context));
    for (size_t i = 0; i < MANY; i++)
        take(c, i);
}

static void end(crowd *c)
{
    for (size_t i = 0; i < MANY; i++)
        drop(c, i);
    kiln__host_space_dispose(&c->space);
    kiln_context_free(c->context);
}

static int call(const crowd *c, size_t number)
{
    int (*function)(void);

    memcpy(&function, &c->pieces[number], sizeof function);
    return function();
}

static void assert_called(const crowd *c, size_t first, size_t step)
{
    for (size_t i = first; i < MANY; i += step)
        assert_int_equal(call(c, i), i);
}

static void pieces_come_and_go_alone(void **state)
{
    crowd c;

    (void)state;
    begin(&c);
    assert_called(&c, 0, 1);
    for (size_t i = 0; i < MANY; i += 4)
        drop(&c, i);
    for (size_t i = MANY - 2; i < MANY; i -= 4)
        drop(&c, i);
    assert_called(&c, 1, 2);
    for (size_t i = 0; i < MANY; i += 2)
        take(&c, i);
    assert_called(&c, 0, 1);
    end(&c);
}

static void pieces_outlive_the_space(void **state)
{
    crowd c;

    (void)state;
    begin(&c);
    kiln__host_space_dispose(&c.space);
    for (size_t i = 0; i < MANY; i++) {
        assert_called(&c, i, 1);
        drop(&c, i);
    }
    kiln_context_free(c.context);
}

/* The child goes on in its own copy of its parent's mapping. */
static void a_child_of_fork_takes_its_own(void **state)
{
    crowd c;
    int status;
    pid_t child;

    (void)state;
    begin(&c);
    drop(&c, 0);
    drop(&c, 1);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        take(&c, 1);
        _exit(call(&c, 1) == 1 && call(&c, 2) == 2 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    take(&c, 0);
    assert_int_equal(call(&c, 0), 0);
    take(&c, 1);
    assert_called(&c, 0, 1);
    end(&c);
}

static void nothing_is_writable_and_executable(void **state)
{
    char line[512], rights[8];
    size_t found = 0;
    FILE *maps;
    crowd c;

    (void)state;
    begin(&c);
    maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t first, last;

        assert_int_equal(sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &first,
                                &last, rights),
                         3);
        for (size_t i = 0; i < MANY; i++)
            if ((uintptr_t)c.pieces[i] >= first &&
                (uintptr_t)c.pieces[i] < last) {
                assert_string_equal(rights, "r-xp");
                found++;
            }
    }
    (void)fclose(maps);
    assert_int_equal(found, MANY);
    end(&c);
}

static void a_large_image_has_its_own_mapping(void **state)
{
    unsigned char *large;
    crowd c;

    (void)state;
    begin(&c);
    large = kiln__host_space_take(&c.space, LARGE);
    assert_non_null(large);
    memset(large, 1, LARGE);
    assert_called(&c, 0, 1);
    assert_int_equal(munmap(large, LARGE), 0);
    end(&c);

    large = kiln__host_space_take(NULL, c.page);
    assert_non_null(large);
    assert_int_equal(munmap(large, c.page), 0);
}

/* ---- without memory ---- */

void *__real_mmap(void *address, size_t size, int protection, int flags,
                  int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags,
                  int file, off_t offset);
static int is_refused;

void *__wrap_mmap(void *address, size_t size, int protection, int flags,
                  int file, off_t offset)
{
    if (!is_refused)
        return __real_mmap(address, size, protection, flags, file, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

static void want_of_memory_takes_nothing_away(void **state)
{
    size_t taken = 0;
    unsigned char *more[64];
    crowd c;

    (void)state;
    begin(&c);
    is_refused = 1;
    while (taken < 64 &&
           (more[taken] = kiln__host_space_take(&c.space, c.page)) != NULL)
        taken++;
    assert_true(taken < 64);
    assert_null(kiln__host_space_take(&c.space, LARGE));
    is_refused = 0;
    assert_called(&c, 0, 1);
    more[taken] = kiln__host_space_take(&c.space, c.page);
    assert_non_null(more[taken]);
    for (size_t i = 0; i <= taken; i++)
        assert_int_equal(munmap(more[i], c.page), 0);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_and_go_alone),
        cmocka_unit_test(pieces_outlive_the_space),
        cmocka_unit_test(a_child_of_fork_takes_its_own),
        cmocka_unit_test(nothing_is_writable_and_executable),
        cmocka_unit_test(a_large_image_has_its_own_mapping),
        cmocka_unit_test(want_of_memory_takes_nothing_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
