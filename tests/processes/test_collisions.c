/* test_collisions.c - two texts of one sum are two programs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include "workers.h"

#include "base/data/sum.h"
#include "base/digest/digest.h"

/*
 * XXH3 takes text in lanes of 8 bytes. What it adds for a lane is the product
 * of both halves of the lane, each xored with a constant of its own; and the
 * lane itself, to the sum of the lane's neighbour. A lane whose second half is
 * the constant has a product of zero whatever its first half is, and of two
 * such lanes in one column only the total counts: what the first has more, the
 * second may have less. So two texts that swap the digits there have one
 * XXH3-128, and no search is needed. The constants of the columns below are
 * valid UTF-8.
 */
#define LANE_A ((size_t)448) /* lane 0 of the stripes 7 and 14 */
#define LANE_B ((size_t)896)
#define HALF ((size_t)4)
#define TEXT_SIZE ((size_t)1280)

/* Lines of comment up to `end`. */
static void pad(char *text, size_t *at, size_t end)
{
    assert_true(*at + 2 <= end);
    memset(text + *at, '.', end - *at);
    text[*at] = '#';
    text[end - 1] = '\n';
    *at = end;
}

static void add(char *text, size_t *at, const char *part)
{
    memcpy(text + *at, part, strlen(part));
    *at += strlen(part);
}

/* `y[index] = digit`, where the digit is the first byte of the lane and the
   comment after it holds the lane's second half. */
static void add_lane(char *text, size_t *at, size_t lane, char index,
                     const char digit[2], const char *comment)
{
    char target[] = "    y[?] = ";

    target[6] = index;
    pad(text, at, lane - strlen(target));
    add(text, at, target);
    assert_int_equal(*at, lane);
    add(text, at, digit);
    add(text, at, comment);
}

static void make_text(char text[TEXT_SIZE + 1], const char first[2],
                      const char second[2])
{
    size_t at = 0;

    add(text, &at, "kernel k(y)\n");
    add_lane(text, &at, LANE_A, '0', first,
             " #\xc2"
             "\x81:&L\n");
    add_lane(text, &at, LANE_B, '1', second,
             " # "
             "\xcd\xb4Y1\n");
    pad(text, &at, TEXT_SIZE - strlen("end\n"));
    add(text, &at, "end\n");
    assert_int_equal(at, TEXT_SIZE);
    text[at] = '\0';
}

static char one[TEXT_SIZE + 1], other[TEXT_SIZE + 1];

static int setup(void **state)
{
    make_text(one, "1", "2");
    make_text(other, "2", "1");
    return workers_setup(state);
}

#define USE "run", "main.k", "counts"
#define MAIN(text) "text", "main", "main.kiln", (text)
#define OF_ONE "run 1 2 0"
#define OF_OTHER "run 2 1 0"

/* Otherwise the tests below would show nothing. */
static void the_texts_have_one_sum(void **state)
{
    (void)state;
    assert_string_not_equal(one, other);
    assert_true(kiln__sum_equal(kiln__sum_bytes(one, TEXT_SIZE),
                                kiln__sum_bytes(other, TEXT_SIZE)));
}

static void their_digests_differ(void **state)
{
    (void)state;
    assert_false(kiln__digest_equal(kiln_digest_bytes(one, TEXT_SIZE),
                                    kiln_digest_bytes(other, TEXT_SIZE)));
}

static void processes_with_one_folder_run_their_own_text(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        assert_contains(WORKER(MAIN(one), USE), OF_ONE);
        assert_contains(WORKER(MAIN(other), USE), OF_OTHER);
    }
}

static void a_process_that_defines_the_other_runs_it(void **state)
{
    const char *said;

    (void)state;
    said = WORKER(MAIN(one), "run", "main.k", MAIN(other), USE);
    assert_contains(said, OF_ONE);
    assert_contains(said, OF_OTHER);
}

static void a_pack_of_the_one_does_not_serve_the_other(void **state)
{
#define NO_DISK "KILN_CACHE_DIR=/dev/null/none"
    const char *pack = workers_path("one.kpack");
    worker w;

    (void)state;
    (void)WORKER(NO_DISK, MAIN(one), "run", "main.k", "delta", pack);
    assert_contains(
        WORKER("KILN_CACHE=must-hit", NO_DISK, "insert", pack, MAIN(one), USE),
        OF_ONE);
    WORKER_START(&w, "KILN_CACHE=must-hit", NO_DISK, "insert", pack,
                 MAIN(other), USE);
    assert_true(worker_wait(&w) != 0);
    assert_contains(w.text, "must-hit");
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_texts_have_one_sum),
        TEST(their_digests_differ),
        TEST(processes_with_one_folder_run_their_own_text),
        TEST(a_process_that_defines_the_other_runs_it),
        TEST(a_pack_of_the_one_does_not_serve_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
