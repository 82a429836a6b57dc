/* test_trace.c - a timeline has whole events, whoever writes it and dies. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers */
#include "context/trace.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/file.h"
#include "kiln/method.h"
#include "stores/lock.h"
#include "support/harness.h"

/* ---- a reader of JSON: says whether it is right, and counts ---- */

typedef struct json {
    const char *at;
    int failed;
    int objects; /* in the outermost array */
    int depth;
} json;

static void read_value(json *j);

static void skip_blanks(json *j)
{
    while (*j->at == ' ' || *j->at == '\n')
        j->at++;
}

static int take(json *j, char wanted)
{
    skip_blanks(j);
    if (*j->at != wanted)
        return 0;
    j->at++;
    return 1;
}

static void need(json *j, char wanted)
{
    if (!take(j, wanted))
        j->failed = 1;
}

static void read_escape(json *j)
{
    if (*j->at == 'u') {
        for (int i = 1; i <= 4; i++)
            if (!isxdigit((unsigned char)j->at[i])) {
                j->failed = 1;
                return;
            }
        j->at += 5;
    } else if (*j->at && strchr("\"\\/bfnrt", *j->at)) {
        j->at++;
    } else {
        j->failed = 1;
    }
}

static void read_string(json *j)
{
    need(j, '"');
    while (!j->failed && *j->at != '"') {
        if ((unsigned char)*j->at < 0x20)
            j->failed = 1;
        else if (*j->at++ == '\\')
            read_escape(j);
    }
    if (!j->failed)
        j->at++;
}

static void read_number(json *j)
{
    char *end = NULL;

    skip_blanks(j);
    (void)strtod(j->at, &end);
    if (end == j->at)
        j->failed = 1;
    else
        j->at = end;
}

static void read_object(json *j)
{
    if (take(j, '}'))
        return;
    do {
        read_string(j);
        need(j, ':');
        read_value(j);
    } while (!j->failed && take(j, ','));
    need(j, '}');
}

static void read_array(json *j)
{
    if (take(j, ']'))
        return;
    do {
        j->objects += j->depth == 1;
        read_value(j);
    } while (!j->failed && take(j, ','));
    need(j, ']');
}

static void read_value(json *j)
{
    if (j->failed)
        return;
    j->depth++;
    skip_blanks(j);
    if (take(j, '{'))
        read_object(j);
    else if (take(j, '['))
        read_array(j);
    else if (*j->at == '"')
        read_string(j);
    else
        read_number(j);
    j->depth--;
}

/* How many events the text has; fails the test when it is no JSON. */
static int count_events_of(const char *text)
{
    json j = {.at = text};

    read_value(&j);
    skip_blanks(&j);
    if (j.failed || *j.at)
        fail_msg("no JSON at \"%.60s\"", j.at);
    return j.objects;
}

static kiln_blob read_text(const char *path)
{
    kiln_blob text = {0};

    assert_ok(kiln__file_read(&text, &kiln__malloc, path, (size_t)1 << 24,
                              &test_error));
    return text;
}

static int count_events(const char *path)
{
    kiln_blob text = read_text(path);
    const int count = count_events_of(text.data);

    kiln_blob_release(&text);
    return count;
}

/* The same for what a killed process may leave: `size` bytes of a file, which
   lack their closing bracket if they end with a page. */
static int count_events_of_cut(const char *bytes, size_t size)
{
    char *text = malloc(size + 2);
    int count;

    assert_non_null(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    if (size % 4096 == 0 && size > 0 && text[size - 1] == ' ')
        memcpy(text + size, "]", 2);
    count = count_events_of(text);
    free(text);
    return count;
}

static void assert_file_contains(const char *path, const char *part)
{
    kiln_blob text = read_text(path);

    assert_contains(text.data, part);
    kiln_blob_release(&text);
}

/* ---- contexts with a trace ---- */

static char path[4096];
static int warnings;

static void count_warning(void *env, int32_t level, const char *line)
{
    (void)env;
    if (level == KILN_LOG_WARNING && strstr(line, "trace"))
        warnings++;
}

static kiln_context *context_open(const char *trace)
{
    kiln_host_ops host = {.size = sizeof host, .log = count_warning};
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;

    cache.trace = trace;
    options.cache = &cache;
    options.host = &host;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    return context;
}

static int setup(void **state)
{
    const int failed = temporary_folder_setup(state);

    if (!failed)
        snprintf(path, sizeof path, "%s/trace.json", (const char *)*state);
    warnings = 0;
    return failed;
}

static void write_spans(kiln_context *context, int count)
{
    for (int i = 0; i < count; i++) {
        const kiln__trace_note note = {.category = "store", .verb = "get"};

        kiln__trace_end(context, kiln__trace_begin(context), &note);
    }
}

/* ---- */

static void without_a_file_nothing_is_begun(void **state)
{
    kiln_context *context = context_open(NULL);

    (void)state;
    assert_null(context->trace);
    assert_true(kiln__trace_begin(context) == 0);
    write_spans(context, 3);
    kiln_context_free(context);
}

static void a_context_that_does_nothing_opens_no_file(void **state)
{
    kiln_context *context = context_open(path);

    (void)state;
    kiln_context_free(context);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_span_tells_what_it_was(void **state)
{
    kiln_context *context = context_open(path);
    const kiln__trace_note note = {
        .category = "store",
        .verb = "get",
        .name = "main.saxpy(f32[:], f32, f32[:])",
        .tier = kiln__trace_tier(KILN_TIER_BINARY),
        .outcome = "hit",
        .bytes = 1234,
    };

    (void)state;
    kiln__trace_span(context, 5000001234, 5000003240, &note);
    assert_int_equal(count_events(path), 1);
    assert_file_contains(
        path, "{\"name\": \"get main.saxpy(f32[:], f32, f32[:])\", \"cat\": "
              "\"store\", \"ph\": \"X\", \"pid\": ");
    assert_file_contains(
        path, "\"ts\": 5000001.234, \"dur\": 2.006, \"args\": {\"name\": "
              "\"main.saxpy(f32[:], f32, f32[:])\", \"store\": \"get\", "
              "\"tier\": \"binary\", \"outcome\": \"hit\", \"bytes\": 1234}}");
    kiln_context_free(context);
}

static void names_of_any_bytes_are_text(void **state)
{
    static const char *const names[] = {
        "\"quoted\" \\ back",
        "line\nfeed\ttab\x01\x7f",
        "\xc3\xa4\xe2\x82\xac",
        "\xf0\x9f\x98\x80",
        "\xff\xc3",
        "\xed\xa0\x80",
        "\xc0\x80 \xe2\x82 end",
        "",
    };
    const int count = (int)(sizeof names / sizeof *names);
    kiln_context *context = context_open(path);

    (void)state;
    for (int i = 0; i < count; i++) {
        const kiln__trace_note note = {.category = "stage", .name = names[i]};

        kiln__trace_span(context, 1, 2, &note);
        /* Whole after each of them. */
        assert_int_equal(count_events(path), i + 1);
    }
    assert_file_contains(path, "\"\\\"quoted\\\" \\\\ back\"");
    assert_file_contains(path, "\"line\\u000afeed\\u0009tab\\u0001\\u007f\"");
    assert_file_contains(path, "\"\xc3\xa4\xe2\x82\xac\"");
    assert_file_contains(path, "\"??\"");
    assert_file_contains(path, "\"?? ?? end\"");
    kiln_context_free(context);
}

static void *write_some(void *context)
{
    write_spans(context, 50);
    return NULL;
}

static void threads_and_contexts_write_one_file(void **state)
{
    kiln_context *first = context_open(path), *second = context_open(path);

    (void)state;
    harness_run_threads(4, write_some, first);
    write_spans(second, 7);
    harness_run_threads(2, write_some, second);
    write_spans(first, 3);
    kiln_context_free(first);
    kiln_context_free(second);
    assert_int_equal(count_events(path), 310);
}

static void children_write_the_same_file(void **state)
{
    kiln_context *context = context_open(path);
    pid_t children[4];
    int ended;

    (void)state;
    write_spans(context, 1);
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            write_spans(context, 100);
            _exit(0);
        }
    }
    write_spans(context, 100);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(waitpid(children[i], &ended, 0), children[i]);
        assert_int_equal(ended, 0);
    }
    kiln_context_free(context);
    assert_int_equal(count_events(path), 501);
}

static void a_process_that_is_killed_leaves_whole_events(void **state)
{
    kiln_context *context = context_open(path);
    int ends[2];
    pid_t child;
    kiln_blob text;
    char byte;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        write_spans(context, 10);
        if (write(ends[1], "x", 1) == 1)
            for (;;)
                write_spans(context, 1);
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
    text = read_text(path);
    assert_true(count_events_of_cut(text.data, text.size) >= 10);
    kiln_blob_release(&text);
    write_spans(context, 1);
    assert_true(count_events(path) >= 11);
    kiln_context_free(context);
}

/* Names of all lengths; some are longer than a page, or become so. */
static void write_names(kiln_context *context, int count)
{
    static char name[9001];

    for (int i = 0; i < count; i++) {
        const size_t size = i % 7 == 0 ? sizeof name - 1 : (size_t)i * 53 % 999;
        const kiln__trace_note note = {.category = "job", .name = name};

        memset(name, i % 2 ? '"' : 'n', size);
        name[size] = '\0';
        kiln__trace_span(context, 1, 2, &note);
    }
}

/* A killed process's write ends between two pages, if not at its end. */
static void a_write_that_ends_with_a_page_leaves_whole_events(void **state)
{
    kiln_context *context = context_open(path);
    kiln_blob text;

    write_spans(context, 60);
    write_names(context, 60);
    kiln_context_free(context);
    text = read_text(path);
    assert_true(text.size > 20 * (size_t)4096);
    for (size_t size = 4096; size < text.size; size += 4096) {
        const int count = count_events_of_cut(text.data, size);

        assert_true(count > 0);
        harness_write_file(path, sizeof path, *state, "trace.json", text.data,
                           size);
        context = context_open(path);
        write_spans(context, 1);
        kiln_context_free(context);
        assert_int_equal(count_events(path), count + 1);
    }
    assert_int_equal(warnings, 0);
    kiln_blob_release(&text);
}

/* A later run goes on in the file of an earlier one. */
static void a_timeline_is_continued(void **state)
{
    (void)state;
    for (int i = 1; i <= 3; i++) {
        kiln_context *context = context_open(path);

        write_spans(context, 2);
        kiln_context_free(context);
        assert_int_equal(count_events(path), 2 * i);
    }
}

static void what_is_no_timeline_is_left_alone(void **state)
{
    static const char *const texts[] = {"x", "precious text\n", "[1, 2]",
                                        "[\n{}\n"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kiln_context *context = context_open(path);
        kiln_blob text = {0};

        harness_write_file(path, sizeof path, *state, "trace.json", texts[i],
                           strlen(texts[i]));
        warnings = 0;
        write_spans(context, 3);
        kiln_context_free(context);
        assert_int_equal(warnings, 1);
        assert_ok(
            kiln__file_read(&text, &kiln__malloc, path, 1000, &test_error));
        assert_blob_equal(text, texts[i], strlen(texts[i]));
        kiln_blob_release(&text);
    }
}

static void where_nothing_can_be_written_there_is_one_warning(void **state)
{
    const char *const places[] = {"/dev/null", "/proc/none/trace.json", *state};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        kiln_context *context = context_open(places[i]);

        warnings = 0;
        write_spans(context, 3);
        assert_int_equal(warnings, 1);
        kiln_context_free(context);
    }
}

/* ---- what is hooked in ---- */

static void define_and_infer(kiln_context *context)
{
    static const char text[] = "fn twice(x)\n    return x + x\nend\n";
    kiln_signature signature = {NULL, NULL, 1};
    const kiln_type *type = NULL;
    const kiln_config *config = NULL;
    const kiln_code *code = NULL;
    kiln_package *package = NULL;

    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "twice.kiln", text, sizeof text - 1,
                                  NULL, &test_error));
    assert_ok(kiln_package_function(&signature.function, package, "twice",
                                    &test_error));
    type = kiln_type_scalar(context, KILN_TYPE_F32);
    signature.types = &type;
    assert_ok(kiln_infer(&code, context, &signature, config, 0, &test_error));
}

static void stages_are_spans(void **state)
{
    kiln_context *context = context_open(path);

    (void)state;
    define_and_infer(context);
    kiln_context_free(context);
    assert_true(count_events(path) >= 2);
    assert_file_contains(path, "\"name\": \"parse twice.kiln\"");
    assert_file_contains(path, "\"name\": \"infer main.twice(f32)\", \"cat\": "
                               "\"stage\"");
    assert_file_contains(path, "\"stage\": \"infer\"");
}

static int folder = -1;

static int the_folder(void *env)
{
    (void)env;
    return folder;
}

static void waits_for_other_processes_are_spans(void **state)
{
    kiln_context *context = context_open(path);
    const kiln_digest key = {{1, 2}};
    kiln__locks *holder = NULL, *waiter = NULL;
    kiln__lock held, wanted;

    folder = open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    assert_ok(kiln__locks_new(&holder, context, the_folder, NULL));
    assert_ok(kiln__locks_new(&waiter, context, the_folder, NULL));
    assert_ok(kiln__lock_try(&held, holder, key));
    assert_status(KILN_EAGAIN, kiln__lock_wait(&wanted, waiter, key, 0));
    kiln__lock_release(&held);
    assert_ok(kiln__lock_wait(&wanted, waiter, key, 0)); /* waits for nobody */
    kiln__lock_release(&wanted);
    kiln__locks_free(holder);
    kiln__locks_free(waiter);
    close(folder);
    kiln_context_free(context);
    assert_int_equal(count_events(path), 1);
    assert_file_contains(path, "\"name\": \"wait for another process\"");
    assert_file_contains(path, "\"outcome\": \"still held\"");
}

static kiln_status trace_once(const kiln_alloc *alloc, void *env)
{
    kiln_context context = {.alloc = *alloc};
    kiln_status status;

    (void)env;
    status = kiln__trace_new(&context, path);
    if (status == KILN_OK)
        write_spans(&context, 1);
    kiln__trace_free(&context);
    return status;
}

static void traces_survive_failing_allocations(void **state)
{
    (void)state;
    assert_survives_failing_alloc(trace_once, NULL);
}

#define TRACED(test) \
    cmocka_unit_test_setup_teardown(test, setup, temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRACED(without_a_file_nothing_is_begun),
        TRACED(a_context_that_does_nothing_opens_no_file),
        TRACED(a_span_tells_what_it_was),
        TRACED(names_of_any_bytes_are_text),
        TRACED(children_write_the_same_file),
        TRACED(a_process_that_is_killed_leaves_whole_events),
        TRACED(a_write_that_ends_with_a_page_leaves_whole_events),
        TRACED(threads_and_contexts_write_one_file),
        TRACED(a_timeline_is_continued),
        TRACED(what_is_no_timeline_is_left_alone),
        TRACED(where_nothing_can_be_written_there_is_one_warning),
        TRACED(stages_are_spans),
        TRACED(waits_for_other_processes_are_spans),
        TRACED(traces_survive_failing_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
