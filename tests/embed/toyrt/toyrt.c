/* toyrt.c - a small runtime that embeds Kiln, and a program that it runs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln.h>
#include <kiln/sys/frontend.h>

/*
 * A method of Toy is a head (name, types of parameters) and lines of LLVM IR.
 * `@(area 2)` stands for the function that a call of area goes to with the type
 * of parameter 2: of those that take it, the one with the narrowest types. A
 * type is a kind of each type that its name begins with.
 *
 *     area Shape            paint f32[:] Shape
 *       ret float 1.0         %a = call float @(area 2)(ptr %item, ptr %p2)
 *                             store float %a, ptr %p1
 *     area@rough Shape        ret i32 0
 *       ret float 3.0
 *
 * area@rough stands in the overlay table "rough"; paint is a kernel.
 */
enum { TEXT = 128, WORDS = 8 };

typedef struct words {
    char text[TEXT];
    char *at[WORDS];
    size_t count;
} words;

typedef struct method {
    char label[TEXT]; /* the head: what exceptions name */
    words head;       /* without the table */
    char *table;      /* of an overlay, else "" */
    const char *body;
    uint32_t line; /* today's: no part of the meaning */
    kiln_digest digest;
    uint64_t subject;    /* of queries: what a change of it may change */
    uint64_t born, died; /* visible in born <= world < died */
    struct method *next;
} method;

typedef struct toy {
    pthread_mutex_t lock; /* held by every thread while it runs Toy */
    uint64_t waits;       /* how often Kiln made a thread let go of it */
    uint64_t world;
    method *methods; /* newest first, the dead ones too */
    kiln_context *context;
    kiln_frontend *frontend;
    kiln_device *device;
    kiln_queue *queue;
} toy;

static int failures;
#define CHECK(good) \
    (failures += !(good) && fprintf(stderr, "line %d: %s\n", __LINE__, #good))

/* ---- methods ---- */

static void split(words *out, const char *text)
{
    char *rest = out->text, *word;

    snprintf(out->text, TEXT, "%.*s", (int)strcspn(text, "\n)"), text);
    out->count = 0;
    while (out->count < WORDS && (word = strtok_r(rest, " ", &rest)))
        out->at[out->count++] = word;
}

/* FNV-1a: equal in all processes that define the same. */
static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* True when `wide` takes all that `narrow`, a head or a call, takes. */
static int covers(const words *wide, const words *narrow)
{
    int good = wide->count == narrow->count && !strcmp(*wide->at, *narrow->at);

    for (size_t i = 1; good && i < wide->count; i++)
        good = !strncmp(wide->at[i], narrow->at[i], strlen(wide->at[i]));
    return good;
}

/* Overlays win, then narrower types, then what is newer. */
static int is_better(const method *m, const method *than)
{
    if (!than || !*m->table != !*than->table)
        return !than || *m->table;
    return covers(&than->head, &m->head);
}

/* Reads one setting, of scope [typed]: the list of overlay tables. */
static const method *dispatch(const toy *t, const char *text,
                              const kiln_config *config, uint64_t world)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const method *best = NULL;
    words call;

    split(&call, text);
    kiln_config_get_options(&settings, config);
    for (const method *m = t->methods; m; m = m->next)
        if (m->born <= world && world < m->died && covers(&m->head, &call) &&
            strstr(settings.overlays, m->table) && is_better(m, best))
            best = m;
    return best;
}

/* Defines a method in a new world; gives how many code instances that ended. */
static size_t define(toy *t, uint32_t line, const char *text)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    method *m = calloc(1, sizeof *m);
    size_t ended;

    if (!m)
        abort(); /* Toy's own way with its own memory */
    m->line = line;
    m->digest = (kiln_digest){hash(text), 1};
    m->body = text + strcspn(text, "\n");
    snprintf(m->label, TEXT, "%.*s", (int)(m->body - text), text);
    split(&m->head, text);
    strtok_r(m->head.at[0], "@", &m->table);
    m->subject = hash(m->head.at[0]);
    m->born = ++t->world;
    m->died = UINT64_MAX;
    for (method *old = t->methods; old; old = old->next)
        if (old->died == UINT64_MAX && strcmp(old->label, m->label) == 0)
            old->died = m->born;
    m->next = t->methods;
    t->methods = m;
    CHECK(kiln_world_changed(t->frontend, t->world, &m->subject, 1, &report) ==
          KILN_OK);
    ended = report.invalidated_count;
    kiln_change_report_dispose(&report);
    return ended;
}

/* ---- kernels ---- */

/* A Shape of any kind is three floats; other types are Kiln's own. */
static kiln_status resolve(kiln_signature *out, const kiln_type **types,
                           const toy *t, const char *text, kiln_error **error)
{
    kiln_foreign_type own = {sizeof own, "Shape", NULL, {1, 0}, 12, 4};
    words call;
    kiln_status status;

    split(&call, text);
    *out = (kiln_signature){NULL, types, call.count - 1};
    status =
        kiln_function_new(&out->function, t->frontend, call.at[0], NULL, error);
    for (size_t i = 0; i < out->count && status == KILN_OK; i++) {
        const char *name = call.at[i + 1];

        own.name = strncmp(name, "Shape.", 6) == 0 ? name + 6 : NULL;
        status =
            own.name
                ? kiln_type_foreign(&types[i], t->context, &own, error)
                : kiln_type_parse(&types[i], t->context, NULL, name, error);
    }
    return status;
}

/* Compiles a kernel and runs it over `size` items that write to `out`. */
static kiln_status toy_run(const toy *t, const char *call,
                           const kiln_config *config, uint64_t world, void *out,
                           int64_t size, kiln_error **error)
{
    kiln_compile_options options = {sizeof options, world, NULL};
    kiln_array array = {.data = out, .sizes = {size}};
    kiln_launch launch = {.grid = {(uint64_t)size}};
    const void *arguments[] = {&array, (const float[]){5, 6, 7}};
    const kiln_type *types[WORDS];
    const kiln_kernel *kernel;
    kiln_signature signature;
    kiln_status status = resolve(&signature, types, t, call, error);

    if (status == KILN_OK)
        status = kiln_compile(&kernel, t->context, &signature, config, &options,
                              error);
    if (status == KILN_OK)
        status = kiln_queue_launch(t->queue, kernel, &launch, arguments,
                                   signature.count, error);
    return status;
}

/* ---- the frontend: inference ---- */

/*
 * Toy's typed IR is LLVM IR in two texts, all before a function's name and all
 * after it: a kernel's name is Kiln's to choose. Others are named after their
 * calls, "area Shape.Ball", and Kiln is told so.
 */
typedef struct frame {
    const toy *toy;
    const method *method;
    const char *name; /* of what is inferred: a call */
    words call;
    const kiln_config *config;
    uint64_t world;
    kiln_inference *inference;
    kiln_error **error;
    FILE *out;
    uint32_t ordinal; /* of the line in the method */
} frame;

/* Writes the signature as a call, "area Shape.Ball". */
static void write_call(char out[TEXT], const kiln_signature *s)
{
    int size = snprintf(out, TEXT, "%s", kiln_function_name(s->function));

    for (size_t i = 0; i < s->count && size < TEXT; i++)
        size += snprintf(out + size, TEXT - (size_t)size, " %s",
                         kiln_type_text(s->types[i]));
}

/* Writes the call that "area 2" is in the method. */
static void read_call(char out[TEXT], const frame *f, const char *text)
{
    words call;
    int size = 0;

    split(&call, text);
    for (size_t i = 0; i < call.count && size < TEXT; i++)
        size += snprintf(out + size, TEXT - (size_t)size, "%s%s", i ? " " : "",
                         *call.at[i] <= '9' ? f->call.at[*call.at[i] - '0']
                                            : call.at[i]);
}

/* Has Kiln infer the callee. In a cycle it is not there yet: a frontend that
   needs its result assumes one, and restarts; Toy needs nothing of it. */
static kiln_status infer_callee(const frame *f, const char *call)
{
    const kiln_type *types[WORDS];
    kiln_signature callee;
    kiln_inference *head;
    const kiln_code *code;
    kiln_status status = resolve(&callee, types, f->toy, call, f->error);

    if (!dispatch(f->toy, call, f->config, f->world))
        return kiln_error_set(f->error, KILN_ECOMPILE, "line %u: no %s",
                              f->method->line + f->ordinal, call);
    if (status == KILN_OK)
        status = kiln_inference_callee(f->inference, &callee, &code, NULL,
                                       &head, f->error);
    return status == KILN_ERECURSION ? KILN_OK : status;
}

/* @(now kernel types) runs a kernel and stands for the bits that it gives,
   which hold as long as it does; @(label) names the method in exceptions. */
static kiln_status infer_hole(const frame *f, const char *text)
{
    int is_now = strncmp(text, "now ", 4) == 0;
    char call[TEXT];
    uint32_t bits = 0;
    kiln_status status;

    if (strncmp(text, "label)", 6) == 0)
        return fprintf(f->out, "@\"label %s\"", f->name) < 0 ? KILN_EIO : 0;
    read_call(call, f, is_now ? text + 4 : text);
    status = infer_callee(f, call);
    if (status == KILN_OK && is_now)
        status = toy_run(f->toy, call, f->config, f->world, &bits, 1, f->error);
    if (is_now)
        fprintf(f->out, "%u", bits);
    else
        fprintf(f->out, "@\"%s\"", call);
    return status;
}

static kiln_status infer_method(frame *f)
{
    const method *m = f->method;
    kiln_status status = KILN_OK;

    fprintf(f->out, "@\"label %s\" = private constant [%zu x i8] c\"%s\\00\"\n",
            f->name, strlen(m->label) + 1, m->label);
    fprintf(f->out, "define %s %c(ptr %%item",
            strstr(m->body, "ret i32") ? "i32" : "float", '\0');
    for (size_t i = 1; i < f->call.count; i++) {
        const char *of = f->call.at[i];

        fprintf(f->out, ", %s %%p%zu", strcmp(of, "f32") ? "ptr" : "float", i);
        if (strchr(of, '['))
            fprintf(f->out, ", i64 %%p%zu.n", i);
    }
    fputs(") {", f->out);
    for (const char *at = m->body; *at && status == KILN_OK; at++) {
        f->ordinal += *at == '\n';
        if (strncmp(at, "@(", 2) == 0) {
            status = infer_hole(f, at + 2);
            at += strcspn(at, ")");
        } else {
            fputc(*at, f->out);
        }
    }
    fprintf(f->out, "}\n%c", '\0');
    return status;
}

/* A result rests on where its call goes; what its callees rest on Kiln knows.
 */
static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *inference, kiln_error **error)
{
    char name[TEXT], *ir = NULL;
    frame f = {.toy = self,
               .name = name,
               .config = config,
               .world = world,
               .inference = inference,
               .error = error};
    kiln_query query;
    size_t size;
    kiln_status status;

    write_call(name, signature);
    split(&f.call, name);
    f.method = dispatch(self, name, config, world);
    f.out = f.method ? open_memstream(&ir, &size) : NULL;
    if (!f.out)
        return kiln_error_set(error, KILN_ENOTFOUND, "no method for %s", name);
    query = (kiln_query){f.method->subject, name, strlen(name) + 1,
                         f.method->digest};
    kiln_inference_set_root(inference, query.answer);
    status = kiln_inference_add_query(inference, &query);
    if (status == KILN_OK)
        status = kiln_inference_set_name(inference, name);
    if (status == KILN_OK)
        status = infer_method(&f);
    fclose(f.out);
    if (status == KILN_OK)
        status = kiln_inference_set_ir(inference, ir, size);
    free(ir);
    return status;
}

/* ---- the frontend: the rest ---- */

static uint64_t world_of(void *self)
{
    return ((toy *)self)->world;
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    const method *m = dispatch(self, query, config, world);

    (void)size; /* of the text, its end included */
    *out = m ? m->digest : (kiln_digest){0, 0};
    return KILN_OK;
}

static void text_free(kiln_blob *text)
{
    free(text->private_data);
}

static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    char *text = NULL;
    FILE *module = open_memstream(&text, &out->size);

    (void)self;
    if (!module)
        return kiln_error_set(error, KILN_ENOMEM, "no memory");
    fputs("@none = private constant [1 x i8] zeroinitializer\n"
          "declare i64 @kiln_global_id(ptr, i32)\n"
          "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n",
          module);
    for (size_t i = 0; i < request->code_count; i++) {
        const char *head = kiln_code_ir(request->codes[i], NULL);

        fprintf(module, "%s@\"%s\"%s", head,
                i ? kiln_code_name(request->codes[i]) : request->entry,
                head + strlen(head) + 1);
    }
    fclose(module);
    *out = (kiln_blob){text, out->size, text_free, text};
    return KILN_OK;
}

static kiln_status locate(void *self, const char *label, uint32_t ordinal,
                          kiln_location *out)
{
    for (const method *m = ((toy *)self)->methods; m; m = m->next)
        if (strcmp(m->label, label) == 0) {
            *out = (kiln_location){"toy", m->line + ordinal, 0, 0};
            return KILN_OK;
        }
    return KILN_ENOTFOUND;
}

static void end(void *self)
{
    for (method *m = ((toy *)self)->methods, *next; m; m = next) {
        next = m->next;
        free(m);
    }
}

static const kiln_frontend_ops frontend = {
    .size = sizeof frontend,
    .name = "toy 1",
    .world = world_of,
    .infer = infer,
    .answer = answer,
    .free = end,
    .lower = lower,
    .locate = locate,
};

/* ---- the host ---- */

/* Others may run Toy while this thread waits in Kiln. */
static void let_go(void *env)
{
    ((toy *)env)->waits++;
    pthread_mutex_unlock(&((toy *)env)->lock);
}

static void take_back(void *env)
{
    pthread_mutex_lock(&((toy *)env)->lock);
}

/* ---- a program, and what Kiln promises of it ---- */

#define GIVE(head, value) head "\n  ret float " value "\n"
#define PUT(value) \
    "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %o = getelementptr float, ptr %p1, i64 %i\n" \
    "  store float " value ", ptr %o\n  ret i32 0\n"
#define PAINT(operation) \
    "paint f32[:] Shape\n  %k = call float @(scale)(ptr %item)\n" \
    "  %a = call float @(area 2)(ptr %item, ptr %p2)\n" \
    "  %v = " operation " float %a, %k\n" PUT("%v")
#define BALL "paint f32[:] Shape.Ball"
#define BOX "paint f32[:] Shape.Box"

static const kiln_config *plain, *rough; /* two owners */

static float run(toy *t, const char *call, const kiln_config *config,
                 uint64_t world)
{
    float out[4] = {0};
    kiln_error *error = NULL;

    CHECK(toy_run(t, call, config, world, out, 4, &error) == KILN_OK);
    if (error)
        fprintf(stderr, "%s: %s\n", call, kiln_error_message(error));
    kiln_error_free(error);
    return out[3];
}

static void methods_come_and_go(toy *t)
{
    define(t, 1, PAINT("fmul"));
    define(t, 11, GIVE("scale", "2.0"));
    define(t, 21, GIVE("area Shape", "1.0"));
    CHECK(run(t, BALL, plain, 0) == 2 && run(t, BOX, plain, 0) == 2);
    uint64_t waits = t->waits; /* for two builds; a hit waits for nothing */
    CHECK(waits >= 2 && run(t, BALL, plain, 0) == 2 && t->waits == waits);
    CHECK(define(t, 31, GIVE("unrelated f32", "%p1")) == 0);
    CHECK(define(t, 11, GIVE("scale", "3.0")) == 3); /* and both paints */
    CHECK(run(t, BALL, plain, 0) == 3);
    CHECK(define(t, 1, PAINT("fadd")) == 1); /* the other is not back yet */
    CHECK(run(t, BALL, plain, 0) == 4 && run(t, BOX, plain, 0) == 4);
    CHECK(define(t, 25, GIVE("area Shape.Ball", "5.0")) == 2); /* more narrow */
    CHECK(run(t, BALL, plain, 0) == 8 && run(t, BOX, plain, 0) == 4);
    CHECK(define(t, 28, GIVE("area@rough Shape.Ball", "9.0")) == 0);
    CHECK(run(t, BALL, rough, 0) == 12 && run(t, BALL, plain, 0) == 8);
}

/* scale becomes what a kernel gives that runs while scale is inferred. */
static void compiles_nest(toy *t)
{
    define(t, 41, "seed f32[:]\n" PUT("42.0"));
    define(t, 11, GIVE("scale", "bitcast (i32 @(now seed f32[:]) to float)"));
    CHECK(run(t, BALL, plain, 0) == 47);
    CHECK(define(t, 41, "seed f32[:]\n" PUT("43.0")) == 3);
    CHECK(run(t, BALL, plain, 0) == 48);
}

#define TURN(name, other, result) \
    name " f32\n  %c = fcmp olt float %p1, 1.0\n" \
         "  br i1 %c, label %end, label %more\nend: ret float " result "\n" \
         "more: %n = fsub float %p1, 1.0\n" \
         "  %r = call float @(" other \
         " f32)(ptr %item, float %n)\n  ret float %r\n"

static void calls_form_a_cycle(toy *t)
{
    define(t, 51, TURN("even", "odd", "1.0"));
    define(t, 61, TURN("odd", "even", "0.0"));
    define(t, 71,
           "turns f32[:]\n"
           "  %r = call float @(even f32)(ptr %item, float 7.0)\n" PUT("%r"));
    CHECK(run(t, "turns f32[:]", plain, 0) == 0);
    CHECK(define(t, 61, TURN("odd", "even", "2.0")) == 3);
    CHECK(run(t, "turns f32[:]", plain, 0) == 2);
}

static void a_world_is_held(toy *t)
{
    uint64_t world = 0;

    CHECK(kiln_world_hold(&world, t->frontend) == KILN_OK);
    define(t, 11, GIVE("scale", "1.0"));
    CHECK(run(t, BALL, plain, 0) == 6 && run(t, BALL, plain, world) == 48);
    kiln_world_release(t->frontend, world);
    kiln_context_collect(t->context);
    CHECK(run(t, BALL, plain, 0) == 6);
}

#define REACH \
    "reach f32[:]\n  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %n = add i64 %i, 2\n  %c = icmp ult i64 %n, %p1.n\n" \
    "  br i1 %c, label %good, label %bad\ngood: ret i32 0\n" \
    "bad: call void @kiln_raise(ptr %item, i32 1, ptr @(label), i32 6, " \
    "ptr @none, i64 %n, i64 %p1.n)\n  ret i32 1\n"

static void reach_fails_at(toy *t, uint32_t line)
{
    float out[4];
    kiln_error *error = NULL;
    kiln_status status = toy_run(t, "reach f32[:]", plain, 0, out, 4, &error);
    const kiln_exception *e = kiln_error_exception(error);

    CHECK(status == KILN_EEXCEPTION && e && e->location.line == line &&
          e->item[0] == 2 && e->values[0] == 4 && e->values[1] == 4);
    kiln_error_free(error);
}

static void *run_cold(void *env)
{
    take_back(env);
    CHECK(run(env, "paint f32[:] Shape.Cone", plain, 0) == 2);
    let_go(env);
    return NULL;
}

/* Whoever waits with the lock held would keep the other from ever ending. */
static void threads_take_turns(toy *t)
{
    pthread_t other;

    CHECK(pthread_create(&other, NULL, run_cold, t) == 0);
    let_go(t);
    run_cold(t);
    pthread_join(other, NULL);
    take_back(t);
}

int main(void)
{
    static toy t = {.lock = PTHREAD_MUTEX_INITIALIZER, .world = 1};
    kiln_host_ops host = {.size = sizeof host,
                          .blocking_enter = let_go,
                          .blocking_leave = take_back};
    kiln_context_options options = {
        .size = sizeof options, .host = &host, .host_env = &t};
    kiln_config_options settings = {.size = sizeof settings,
                                    .overlays = "rough"};

    take_back(&t);
    if (kiln_context_new(&t.context, &options, NULL) != KILN_OK ||
        kiln_frontend_add(&t.frontend, t.context, &frontend, &t, NULL) ||
        kiln_device_open(&t.device, t.context, "host", 0, NULL) ||
        kiln_queue_new(&t.queue, t.device, NULL) ||
        kiln_config_new(&plain, t.context, NULL, NULL) ||
        kiln_config_new(&rough, t.context, &settings, NULL))
        return 1;
    methods_come_and_go(&t);
    compiles_nest(&t);
    calls_form_a_cycle(&t);
    a_world_is_held(&t);
    define(&t, 81, REACH);
    reach_fails_at(&t, 87);
    CHECK(define(&t, 91, REACH) == 0); /* only its place has changed */
    reach_fails_at(&t, 97);
    threads_take_turns(&t);
    kiln_queue_free(t.queue);
    kiln_device_close(t.device);
    kiln_context_free(t.context);
    return failures != 0;
}
