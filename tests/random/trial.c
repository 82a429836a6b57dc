/* trial.c - runs a random kernel in every way, and compares. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 20000000

typedef struct trial {
    const trial_options *options;
    trial_counts *counts;
    generated program;
    generator g; /* for shapes */
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    kiln_signature signature;
    const kiln_type *types[TRIAL_ARGUMENTS];
    interpreter *interpreter;
    const char *backend;
    /* Lanes of a sub-group are items that follow each other. */
    int orders_lanes;
    int is_host;
    uint64_t lanes; /* number of lanes of its sub-groups */
    int failed;
} trial;

/* A shape of launch, and what the interpreter computes for it. */
typedef struct shape {
    kiln_launch launch;
    uint64_t block[3]; /* block that `data` is for; 0: none yet */
    uint64_t items;
    trial_data data;
    interpreter_result result;
    interpreter_exception *exceptions;
} shape;

static void tell(trial *t, const shape *s, const kiln_config *config,
                 const char *what)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    t->failed = 1;
    fprintf(stderr, "seed %llu", (unsigned long long)t->options->seed);
    if (s != NULL)
        fprintf(stderr, ", grid %llux%llux%llu, block %ux%ux%u",
                (unsigned long long)s->launch.grid[0],
                (unsigned long long)s->launch.grid[1],
                (unsigned long long)s->launch.grid[2], s->launch.block[0],
                s->launch.block[1], s->launch.block[2]);
    if (config != NULL) {
        kiln_config_get_options(&options, config);
        fprintf(stderr, ", level %d, bounds %s", options.opt_level,
                options.bounds_checks == KILN_SWITCH_OFF ? "off" : "on");
    }
    fprintf(stderr, ": %s\n", what);
}

static void tell_error(trial *t, const shape *s, const kiln_config *config,
                       kiln_error *error)
{
    kiln_blob text = {0};

    if (kiln_error_render(&text, error, KILN_RENDER_PLAIN) == KILN_OK)
        tell(t, s, config, text.data);
    else
        tell(t, s, config, "an error");
    kiln_blob_release(&text);
    kiln_error_free(error);
}

/* ---- the interpreter's side ---- */

/* The interpreter lends them until its next run. */
static void keep_exceptions(shape *s)
{
    const size_t size = s->result.exception_count * sizeof *s->exceptions;

    free(s->exceptions);
    s->exceptions = malloc(size == 0 ? 1 : size);
    if (s->exceptions == NULL)
        abort();
    if (size > 0)
        memcpy(s->exceptions, s->result.exceptions, size);
    s->result.exceptions = s->exceptions;
}

static void interpret(trial *t, shape *s, const uint64_t block[3])
{
    interpreter_launch launch = {.arguments = s->data.values,
                                 .steps = STEPS_MAX,
                                 .sub_group = t->lanes,
                                 .by_tree = !t->is_host};

    for (int d = 0; d < 3; d++) {
        launch.grid[d] = s->launch.grid[d];
        launch.block[d] = block[d];
    }
    if (memcmp(block, s->block, sizeof s->block) == 0)
        return;
    memcpy(s->block, block, sizeof s->block);
    trial_reset(&s->data);
    interpreter_run(t->interpreter, &launch, &s->result);
    trial_expect(&s->data);
    keep_exceptions(s);
    if (s->result.ending == INTERPRETER_STUCK)
        tell(t, s, NULL, s->result.reason);
}

static int any_is_bounds(const interpreter_result *result)
{
    for (size_t i = 0; i < result->exception_count; i++)
        if (result->exceptions[i].kind == KILN_EXCEPTION_BOUNDS)
            return 1;
    return 0;
}

/* Compares names of methods, up to what distinguishes their versions. */
static int same_method(const char *a, const char *b)
{
    const size_t size = strcspn(a, "#");

    return strncmp(a, b, size) == 0 && (b[size] == '\0' || b[size] == '#');
}

/* Compares values of an inexact conversion; the bits of a NaN are not
   defined. */
static int same_values(const interpreter_exception *a, const kiln_exception *b)
{
    double one, other;

    if (memcmp(a->values, b->values, sizeof a->values) == 0)
        return 1;
    memcpy(&one, &a->values[0], sizeof one);
    memcpy(&other, &b->values[0], sizeof other);
    return a->kind == KILN_EXCEPTION_INEXACT &&
           a->values[1] >= KILN_VALUE_F64 && a->values[1] == b->values[1] &&
           isnan(one) && isnan(other);
}

static int is_listed(const interpreter_result *result, const kiln_exception *e)
{
    for (size_t i = 0; i < result->exception_count; i++) {
        const interpreter_exception *one = &result->exceptions[i];

        if (one->kind == e->kind && one->ordinal == e->ordinal &&
            memcmp(one->item, e->item, sizeof e->item) == 0 &&
            memcmp(one->group, e->group, sizeof e->group) == 0 &&
            same_values(one, e) && same_method(one->method, e->method))
            return 1;
    }
    return 0;
}

/* ---- one launch ---- */

static void compare_exception(trial *t, const shape *s,
                              const kiln_config *config,
                              const kiln_exception *e)
{
    char text[300];
    const interpreter_exception *first = s->result.exceptions;

    t->counts->exceptions++;
    if (is_listed(&s->result, e))
        return;
    snprintf(text, sizeof text,
             "item %llu %llu %llu of group %llu raised %d at %s %u (%lld, "
             "%lld)",
             (unsigned long long)e->item[0], (unsigned long long)e->item[1],
             (unsigned long long)e->item[2], (unsigned long long)e->group[0],
             e->kind, e->method, e->ordinal, (long long)e->values[0],
             (long long)e->values[1]);
    tell(t, s, config, text);
    for (size_t i = 0; i < s->result.exception_count && i < 5; i++, first++)
        fprintf(stderr,
                "    expected %d at %s %u by item %llu %llu %llu of group %llu "
                "(%lld, %lld)\n",
                first->kind, first->method, first->ordinal,
                (unsigned long long)first->item[0],
                (unsigned long long)first->item[1],
                (unsigned long long)first->item[2],
                (unsigned long long)first->group[0],
                (long long)first->values[0], (long long)first->values[1]);
}

static void launch_and_compare(trial *t, shape *s, const kiln_config *config,
                               const kiln_kernel *kernel)
{
    char text[300];
    kiln_error *error = NULL;
    kiln_status status;

    t->counts->launches++;
    trial_reset(&s->data);
    status = kiln_queue_launch(t->queue, kernel, &s->launch, s->data.values,
                               TRIAL_ARGUMENTS, &error);
    if (status == KILN_OK)
        status = kiln_queue_wait(t->queue, &error);
    if (status == KILN_EEXCEPTION) {
        compare_exception(t, s, config, kiln_error_exception(error));
        kiln_error_free(error);
    } else if (status != KILN_OK) {
        tell_error(t, s, config, error);
    } else if (s->result.exception_count > 0) {
        tell(t, s, config, "no exception was raised");
    } else if (trial_compare(&s->data, text, sizeof text) != NULL) {
        tell(t, s, config, text);
    }
}

static uint64_t items_of(const kiln_launch *launch)
{
    return launch->grid[0] * launch->grid[1] * launch->grid[2];
}

/* Finds the block when the host is to choose it. */
static void resolve_block(uint64_t block[3], const kiln_launch *launch,
                          const kiln_kernel_info *info)
{
    const int has_memory =
        info->static_local_bytes != 0 || info->private_bytes != 0;
    const uint64_t quarter = items_of(launch) / 4;
    uint64_t room = has_memory ? 256 : 4096;

    if (!has_memory && quarter < room)
        room = quarter > 1024 ? quarter : 1024;
    for (int d = 0; d < 3; d++) {
        block[d] = launch->block[d] == 0 ? 1 : launch->block[d];
        if (launch->block[0] != 0)
            continue;
        block[d] = launch->grid[d] < room ? launch->grid[d] : room;
        room /= block[d];
    }
}

/* True for an error about recursion, f16 or sub-groups, which not every target
   has. */
static int is_unsupported(const trial *t, const kiln_error *error)
{
    const kiln_diagnostic *at;
    size_t i = 0;

    while ((at = kiln_error_diagnostic(error, i)) != NULL &&
           strncmp(at->code, "unsupported-", 12) == 0)
        i++;
    return !t->is_host && i > 0 && at == NULL;
}

static void run_shapes(trial *t, shape *shapes, size_t count,
                       const kiln_config *config, int bounds_off)
{
    const kiln_kernel *kernel = NULL;
    kiln_error *error = NULL;

    if (kiln_compile(&kernel, t->context, &t->signature, config, NULL,
                     &error) != KILN_OK) {
        if (is_unsupported(t, error)) {
            t->counts->refused++;
            kiln_error_free(error);
        } else {
            tell_error(t, NULL, config, error);
        }
        return;
    }
    for (size_t i = 0; i < count && !t->failed; i++) {
        uint64_t block[3];

        resolve_block(block, &shapes[i].launch, kiln_kernel_get_info(kernel));
        interpret(t, &shapes[i], block);
        if (shapes[i].result.ending != INTERPRETER_DONE)
            t->counts->skipped++;
        else if (!bounds_off || !any_is_bounds(&shapes[i].result))
            launch_and_compare(t, &shapes[i], config, kernel);
    }
}

/* ---- shapes ---- */

static const uint64_t lines[][2] = {
    {1, 0},    {5, 7},     {16, 16}, {63, 64},   {64, 1},
    {65, 16},  {257, 64},  {300, 0}, {256, 256}, {131, 7},
    {97, 100}, {255, 256}, {513, 0}, {40, 33},   {1000, 250}};

static const uint32_t blocks[][3] = {{0, 0, 0},  {7, 3, 1}, {16, 4, 1},
                                     {4, 4, 4},  {1, 1, 1}, {5, 2, 3},
                                     {16, 1, 1}, {1, 9, 1}};

/* Makes groups that a device can run, and a grid of whole groups. A kernel does
   not tell items apart by a dimension from `rank` on, so none is added there:
   two items would write the same elements. */
static void make_whole(kiln_launch *launch, uint32_t rank)
{
    for (uint32_t d = 0; d < 3; d++) {
        if (d >= rank)
            launch->block[d] = 1;
        if (launch->block[0] == 0)
            launch->block[d] = (uint32_t)(launch->grid[d] % 64);
        if (launch->block[d] == 0)
            launch->block[d] = 1;
    }
    for (int d = 0; d < 3; d++) {
        const uint64_t block = launch->block[d];

        launch->grid[d] = (launch->grid[d] + block - 1) / block * block;
    }
}

static int asks_for_lanes(const char *source)
{
    return strstr(source, "sub_group") != NULL ||
           strstr(source, "shuffle") != NULL ||
           strstr(source, "lane_id") != NULL;
}

/* Groups of one dimension. */
static void make_rows(kiln_launch *launch)
{
    for (int d = 1; d < 3; d++)
        launch->block[d] = 1;
}

static void choose_shape(trial *t, shape *s, size_t index)
{
    generator *g = &t->g;
    const uint64_t *line =
        lines[random_below(g, (int)(sizeof lines / sizeof *lines))];
    const uint32_t rank = t->program.grid_rank;

    memset(s, 0, sizeof *s);
    s->launch.grid[0] = s->launch.grid[1] = s->launch.grid[2] = 1;
    if (rank == 1) {
        s->launch.grid[0] = line[0];
        s->launch.block[0] = (uint32_t)line[1];
    } else {
        memcpy(s->launch.block, blocks[random_below(g, 8)],
               sizeof s->launch.block);
        for (uint32_t d = 0; d < rank; d++)
            s->launch.grid[d] =
                1 + (uint64_t)random_below(g, rank == 2 ? 19 : 8);
    }
    if (!t->is_host)
        make_whole(&s->launch, rank);
    if (!t->orders_lanes && asks_for_lanes(t->program.source.bytes))
        make_rows(&s->launch);
    s->items = items_of(&s->launch);
    trial_fill(&s->data, &t->program, t->options->seed + index, s->items);
}

/* ---- one program ---- */

static int open_device(trial *t)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    options.workers = 1;
    options.threads = 1 + (uint32_t)(t->options->seed % 2);
    return kiln_context_new(&t->context, &options, NULL) == KILN_OK &&
           kiln_device_open(&t->device, t->context, t->backend, 0, NULL) ==
               KILN_OK &&
           kiln_queue_new(&t->queue, t->device, NULL) == KILN_OK;
}

static kiln_status define(trial *t, kiln_error **error)
{
    const kiln__text *source = &t->program.source;
    kiln_package *package = NULL;
    kiln_status status =
        kiln_package_new(&package, t->context, "random", error);

    if (status == KILN_OK)
        status = kiln_package_define(package, "random.kiln", source->bytes,
                                     source->size, NULL, error);
    for (size_t i = 0; i < TRIAL_ARGUMENTS && status == KILN_OK; i++)
        status = kiln_type_parse(&t->types[i], t->context, package,
                                 trial_type(&t->program, i), error);
    t->signature.types = t->types;
    t->signature.count = TRIAL_ARGUMENTS;
    if (status == KILN_OK)
        status =
            kiln_package_function(&t->signature.function, package, "k", error);
    return status;
}

static kiln_status new_config(trial *t, const kiln_config **out, int level,
                              int bounds, kiln_error **error)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.opt_level = (uint8_t)level;
    options.bounds_checks = (uint8_t)bounds;
    options.contract = KILN_SWITCH_OFF; /* every operation is rounded */
    options.target = t->backend;
    return kiln_config_new(out, t->context, &options, error);
}

/* Constants are checked when the program is compiled. A refused program is no
   failure. */
static int is_refused(const trial *t, const kiln_error *error)
{
    const kiln_diagnostic *first = kiln_error_diagnostic(error, 0);

    if (first == NULL)
        return 0;
    return strcmp(first->code, "bad-index") == 0 ||
           (t->program.may_fail && strcmp(first->code, "literal-range") == 0);
}

static int begin(trial *t)
{
    const kiln_config *config = NULL;
    const kiln_code *code = NULL;
    kiln_error *error = NULL;

    if (!open_device(t)) {
        tell(t, NULL, NULL, "no device");
        return 0;
    }
    if (define(t, &error) != KILN_OK ||
        new_config(t, &config, KILN_OPT_2, KILN_SWITCH_ON, &error) != KILN_OK ||
        kiln_infer(&code, t->context, &t->signature, config, 0, &error) !=
            KILN_OK) {
        if (is_refused(t, error))
            kiln_error_free(error);
        else
            tell_error(t, NULL, NULL, error);
        return 0;
    }
    t->interpreter = interpreter_new(code);
    if (t->interpreter == NULL)
        tell(t, NULL, NULL, "the typed IR cannot be read");
    return t->interpreter != NULL;
}

static void run_configs(trial *t, shape *shapes, size_t count)
{
    static const int levels[] = {KILN_OPT_0, KILN_OPT_1, KILN_OPT_2,
                                 KILN_OPT_3};
    const uint64_t seed = t->options->seed;

    for (int i = 0; i < 8 && !t->failed; i++) {
        const int off = i % 2;
        const kiln_config *config = NULL;
        kiln_error *error = NULL;

        /* Checked and unchecked, at two levels; without --all, each program
           takes its turn. */
        if (!t->options->all && (uint64_t)i != 2 * (seed % 4) &&
            (uint64_t)i != 1 + 2 * (seed / 4 % 4))
            continue;
        if (new_config(t, &config, levels[i / 2],
                       off ? KILN_SWITCH_OFF : KILN_SWITCH_ON,
                       &error) != KILN_OK)
            tell_error(t, NULL, NULL, error);
        else
            run_shapes(t, shapes, count, config, off);
    }
}

/* Kernels run where KILN_TEST_BACKEND says; KILN_TEST_LANES is the sub-groups'
   size. */
static void choose_backend(trial *t)
{
    const char *backend = getenv("KILN_TEST_BACKEND");
    const char *lanes = getenv("KILN_TEST_LANES");

    t->backend = backend != NULL && *backend != '\0' ? backend : "host";
    t->is_host = strcmp(t->backend, "host") == 0;
    t->orders_lanes = strstr(t->backend, "spirv") == NULL;
    t->lanes = lanes != NULL ? strtoull(lanes, NULL, 10) : 0;
    if (t->lanes == 0)
        t->lanes = t->is_host ? 16 : 32;
}

int trial_run(const trial_options *options, trial_counts *counts)
{
    trial t = {.options = options, .counts = counts};
    const size_t count = options->all ? 5 : 2;
    shape *shapes = calloc(count, sizeof *shapes);

    if (shapes == NULL)
        abort();
    t.g.state = options->seed;
    choose_backend(&t);
    generate(&t.program, options->seed);
    counts->programs++;
    if (begin(&t)) {
        for (size_t i = 0; i < count; i++)
            choose_shape(&t, &shapes[i], i);
        run_configs(&t, shapes, count);
        for (size_t i = 0; i < count; i++) {
            trial_dispose(&shapes[i].data);
            free(shapes[i].exceptions);
        }
    }
    interpreter_free(t.interpreter);
    kiln_queue_free(t.queue);
    kiln_device_close(t.device);
    kiln_context_free(t.context);
    kiln__text_dispose(&t.program.source);
    free(shapes);
    return t.failed;
}
