/* test_manners.c - a whole life of a context leaves the process as it was. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include "support/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln.h"

/* ---- what a process is ---- */

#define FDS_MAX 1024

typedef struct process {
    char folder[PATH_MAX];
    char locale[256];
    fenv_t floats;
    int rounding, flags, traps;
    sigset_t mask;
    struct sigaction actions[NSIG];
    size_t variables;
    uint64_t variables_sum;
    mode_t file_mask;
    unsigned char open[FDS_MAX];
} process;

static uint64_t sum_of(const char *text, uint64_t sum)
{
    while (*text != '\0')
        sum = (sum ^ (unsigned char)*text++) * 1099511628211u;
    return sum;
}

static void look_at(process *p)
{
    memset(p, 0, sizeof *p);
    p->rounding = fegetround();
    p->flags = fetestexcept(FE_ALL_EXCEPT);
    p->traps = fegetexcept();
    (void)fegetenv(&p->floats);
    assert_non_null(getcwd(p->folder, sizeof p->folder));
    snprintf(p->locale, sizeof p->locale, "%s", setlocale(LC_ALL, NULL));
    (void)pthread_sigmask(SIG_BLOCK, NULL, &p->mask);
    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, NULL, &p->actions[i]);
    for (char **at = environ; *at != NULL; at++, p->variables++)
        p->variables_sum = sum_of(*at, p->variables_sum);
    p->file_mask = umask(0);
    (void)umask(p->file_mask);
    for (int i = 0; i < FDS_MAX; i++)
        p->open[i] = fcntl(i, F_GETFD) >= 0;
}

static void assert_same_process(const process *a, const process *b)
{
    assert_int_equal(a->rounding, b->rounding);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->traps, b->traps);
    assert_string_equal(a->folder, b->folder);
    assert_string_equal(a->locale, b->locale);
    for (int i = 1; i < NSIG; i++) {
        assert_int_equal(sigismember(&a->mask, i), sigismember(&b->mask, i));
        assert_true(a->actions[i].sa_handler == b->actions[i].sa_handler);
        assert_int_equal(a->actions[i].sa_flags, b->actions[i].sa_flags);
    }
    assert_int_equal(a->variables, b->variables);
    assert_int_equal(a->variables_sum, b->variables_sum);
    assert_int_equal(a->file_mask, b->file_mask);
    assert_memory_equal(a->open, b->open, sizeof a->open);
}

/* ---- a life ---- */

static const char program[] =
    "const TENTH = 0.1\n"
    "fn slow(x, n) = x ** n\n"
    "kernel k(y: f64[:])\n"
    "    i = global_id(0)\n"
    "    y[i] = slow(y[i], 3) * TENTH + 1 / y[i]\n"
    "end\n"
    "kernel tells(y: f64[:])\n"
    "    print(y[0] / 3.0, \" \", y[0] * 0.1, \"\\n\")\n"
    "    assert(y[0] > 1.0, \"y is small\")\n"
    "end\n";

#define ITEMS 20000

typedef struct life {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    double *y;
    char printed[64];
    char folded[256]; /* of the typed IR */
    int prints, unmasked, threads;
    pthread_t caller;
} life;

/* ---- threads of Kiln's ---- */

/* The kernel's internal signals of the C library cannot be blocked. */
static int blocks_all(const sigset_t *mask)
{
    for (int i = 1; i < NSIG; i++)
        if (i != SIGKILL && i != SIGSTOP && (i < 32 || i >= SIGRTMIN) &&
            !sigismember(mask, i))
            return 0;
    return 1;
}

/* Sees every thread of the process that has some signal unblocked. */
static int count_unmasked(int *threads)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    int unmasked = 0;

    assert_non_null(tasks);
    *threads = 0;
    while ((entry = readdir(tasks)) != NULL) {
        char path[300], text[256];
        unsigned long long blocked = 0;
        FILE *file;

        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (file != NULL && fgets(text, sizeof text, file) != NULL)
            if (sscanf(text, "SigBlk: %llx", &blocked) == 1)
                break;
        if (file == NULL)
            continue;
        (void)fclose(file);
        ++*threads;
        /* Bits of 1 to 31, without the two that nobody can block. */
        unmasked += (blocked | 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1)) %
                        (1ull << 31) !=
                    (1ull << 31) - 1;
    }
    (void)closedir(tasks);
    return unmasked;
}

static void take_event(void *env, const kiln_event *event)
{
    life *l = env;
    sigset_t mask;

    if (event->kind != KILN_EVENT_STAGE ||
        pthread_equal(pthread_self(), l->caller))
        return;
    (void)pthread_sigmask(SIG_BLOCK, NULL, &mask);
    l->threads++;
    l->unmasked += !blocks_all(&mask) || fegetround() != FE_TONEAREST;
}

static void take_print(void *env, const char *text, size_t size)
{
    life *l = env;

    l->prints++;
    snprintf(l->printed, sizeof l->printed, "%.*s", (int)size, text);
}

/* ---- its parts ---- */

static void begin(life *l)
{
    const kiln_host_ops host = {
        .size = sizeof host, .event = take_event, .print = take_print};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    l->caller = pthread_self();
    options.host = &host;
    options.host_env = l;
    options.threads = 4;
    assert_ok(kiln_context_new(&l->context, &options, &test_error));
    assert_ok(kiln_config_new(&l->config, l->context, NULL, &test_error));
    assert_ok(kiln_package_new(&l->package, l->context, "main", &test_error));
    assert_ok(kiln_package_define(l->package, "main.kiln", program,
                                  sizeof program - 1, NULL, &test_error));
    assert_ok(kiln_device_open(&l->device, l->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&l->queue, l->device, &test_error));
}

static kiln_signature signature_of(life *l, const char *name,
                                   const kiln_type **type)
{
    kiln_signature signature = {.types = type, .count = 1};

    assert_ok(kiln_type_parse(type, l->context, NULL, "f64[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, l->package, name,
                                    &test_error));
    return signature;
}

static kiln_status run(life *l, const char *name, uint64_t items)
{
    const kiln_launch shape = {.grid = {items, 1, 1}};
    const kiln_array array = {.data = l->y, .sizes = {ITEMS}, .strides = {1}};
    const void *const values[] = {&array};
    const kiln_type *type;
    const kiln_signature signature = signature_of(l, name, &type);
    const kiln_kernel *kernel = NULL;
    kiln_status status = kiln_compile(&kernel, l->context, &signature,
                                      l->config, NULL, &test_error);

    if (status == KILN_OK)
        status =
            kiln_queue_launch(l->queue, kernel, &shape, values, 1, &test_error);
    if (status == KILN_OK)
        status = kiln_queue_wait(l->queue, &test_error);
    return status;
}

static void show(life *l)
{
    const kiln_type *type;
    const kiln_signature signature = signature_of(l, "k", &type);
    kiln_blob text = {0};
    const char *at;

    assert_ok(kiln_emit(&text, l->context, &signature, l->config, 0,
                        KILN_EMIT_TYPED, &test_error));
    at = strstr(text.data, "(const f64 ");
    assert_non_null(at);
    snprintf(l->folded, sizeof l->folded, "%.40s", at);
    kiln_blob_release(&text);
}

static void fail_in_every_way(life *l)
{
    static const char wrong[] = "fn f(\n";
    static const char overflow[] = "const C = 1e308 * 1e308\nkernel q(y)\n"
                                   "    y[0] = C\nend\n";
    kiln_package *none = NULL;

    l->y[0] = 0.5;
    assert_status(KILN_EEXCEPTION, run(l, "tells", 1));
    assert_fails(KILN_ESYNTAX, "expected",
                 kiln_package_define(l->package, "wrong.kiln", wrong,
                                     sizeof wrong - 1, NULL, &test_error));
    assert_ok(kiln_package_define(l->package, "overflow.kiln", overflow,
                                  sizeof overflow - 1, NULL, &test_error));
    assert_ok(run(l, "q", 1)); /* no failure, but an overflow */
    assert_status(KILN_EIO,
                  kiln_package_load(&none, l->context, "/nowhere.kiln", NULL,
                                    &test_error));
}

static void end(life *l)
{
    kiln_queue_free(l->queue);
    kiln_device_close(l->device);
    kiln_context_free(l->context);
}

static void live(life *l)
{
    int threads;

    l->y = malloc(ITEMS * sizeof *l->y);
    assert_non_null(l->y);
    for (size_t i = 0; i < ITEMS; i++)
        l->y[i] = (double)i / 7;
    begin(l);
    assert_ok(run(l, "k", ITEMS));
    /* The caller's own mask is its own affair. */
    assert_in_range(count_unmasked(&threads), 0, 1);
    assert_true(threads > 1);
    show(l);
    l->y[0] = 2;
    assert_ok(run(l, "tells", 1));
    fail_in_every_way(l);
    end(l);
    assert_true(l->threads > 0);
    assert_int_equal(l->unmasked, 0);
    assert_true(l->prints >= 1);
}

/* ---- standard streams ---- */

typedef struct streams {
    int kept[2], files[2];
} streams;

static void divert(streams *s)
{
    (void)fflush(NULL);
    for (int i = 0; i < 2; i++) {
        char path[] = "/tmp/kiln-manners-XXXXXX";

        s->kept[i] = dup(i + 1);
        s->files[i] = mkstemp(path);
        assert_true(s->kept[i] >= 0 && s->files[i] >= 0);
        (void)unlink(path);
        (void)dup2(s->files[i], i + 1);
    }
}

/* Gives the streams back; returns how many bytes were written. */
static int64_t restore(const streams *s)
{
    int64_t written = 0;

    (void)fflush(NULL);
    for (int i = 0; i < 2; i++) {
        struct stat status = {0};

        (void)fstat(s->files[i], &status);
        written += status.st_size;
        (void)dup2(s->kept[i], i + 1);
        (void)close(s->kept[i]);
        (void)close(s->files[i]);
    }
    return written;
}

/* ---- tests ---- */

static void a_life_changes_nothing_and_says_nothing(void **state)
{
    process before, between, after;
    life first = {0}, second = {0};
    streams s;
    int64_t written;

    (void)state;
    divert(&s);
    look_at(&before);
    live(&first);
    look_at(&between);
    live(&second);
    look_at(&after);
    written = restore(&s);

    assert_int_equal(written, 0);
    assert_same_process(&between, &after);
    /* What is loaded once may stay open; the test's own divisions raise a
       flag. */
    memcpy(before.open, after.open, sizeof before.open);
    before.flags = after.flags;
    assert_same_process(&before, &after);
    free(first.y);
    free(second.y);
}

static void a_callers_way_to_compute_is_neither_changed_nor_used(void **state)
{
    process before, after;
    life plain = {0}, other = {0};

    (void)state;
    live(&plain);

    assert_int_equal(fesetround(FE_UPWARD), 0);
    (void)feclearexcept(FE_ALL_EXCEPT);
    (void)feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    look_at(&before);
    begin(&other);
    other.y = malloc(ITEMS * sizeof *other.y);
    (void)fedisableexcept(FE_ALL_EXCEPT); /* the table itself is the test's */
    (void)fesetround(FE_TONEAREST);
    for (size_t i = 0; i < ITEMS; i++)
        other.y[i] = (double)i / 7;
    (void)fesetenv(&before.floats);
    assert_ok(run(&other, "k", ITEMS));
    show(&other);
    fail_in_every_way(&other);
    end(&other);
    look_at(&after);
    (void)fesetenv(FE_DFL_ENV);

    assert_same_process(&before, &after);
    assert_string_equal(other.folded, plain.folded);
    assert_string_equal(other.printed, "0.16666666666666666 0.05\n");
    assert_memory_equal(other.y + 1, plain.y + 1,
                        (ITEMS - 1) * sizeof *plain.y);
    assert_int_equal(other.unmasked, 0);
    free(plain.y);
    free(other.y);
}

static void a_locale_with_a_comma_is_kept(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
                                        "fr_FR.UTF-8", "C.UTF-8"};
    process before, after;
    life l = {0};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            break;
    look_at(&before);
    live(&l);
    look_at(&after);
    (void)setlocale(LC_ALL, "C");

    assert_string_equal(before.locale, after.locale);
    assert_string_equal(l.printed, "0.16666666666666666 0.05\n");
    free(l.y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_changes_nothing_and_says_nothing),
        cmocka_unit_test(a_callers_way_to_compute_is_neither_changed_nor_used),
        cmocka_unit_test(a_locale_with_a_comma_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
