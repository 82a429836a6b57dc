/* kiln_cache_places.c - kiln cache locate, doctor: where the cache is, and its
   state. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_cache.h"

#include <stdio.h>

/* ---- locate ---- */

static void show_place(void *env, const char *section, const char *name,
                       const char *value)
{
    cache_command *c = env;

    if (c->options->json) {
        json_object(&c->json, NULL);
        json_text(&c->json, "part", section);
        json_text(&c->json, "name", name);
        json_text(&c->json, "value", value);
        json_end(&c->json);
    } else {
        (void)printf("%-12s %-14s %s\n", section, name, value);
    }
}

int cache_locate(cache_command *c)
{
    kiln_status status;

    if (c->options->json) {
        json_object(&c->json, NULL);
        json_array(&c->json, "kiln");
    }
    status = kiln_cache_places(c->context, show_place, c);
    if (c->options->json)
        json_end(&c->json);
    cache_show_vendors(c);
    if (c->options->json)
        json_end(&c->json);
    return status == KILN_OK ? TOOL_OK
                             : tool_complain(TOOL_FAILED, "out of memory");
}

/* ---- doctor ---- */

typedef struct examining {
    cache_command *command;
    int worst;
} examining;

static void show_check(void *env, const char *name, int32_t verdict,
                       const char *text)
{
    static const char *const verdicts[] = {"ok", "note", "BAD"};
    examining *e = env;
    json *out = &e->command->json;

    if (verdict > e->worst)
        e->worst = verdict;
    if (e->command->options->json) {
        json_object(out, NULL);
        json_text(out, "check", name);
        json_text(out, "verdict",
                  verdict == KILN_CHECK_BAD ? "bad" : verdicts[verdict]);
        json_text(out, "text", text);
        json_end(out);
    } else {
        (void)printf("%-4s  %-15s %s\n", verdicts[verdict], name, text);
    }
}

int cache_doctor(cache_command *c)
{
    examining e = {.command = c};
    kiln_status status;

    if (c->options->json)
        json_array(&c->json, NULL);
    status = kiln_cache_check(c->context, show_check, &e);
    if (c->options->json)
        json_end(&c->json);
    if (status != KILN_OK)
        return tool_complain(TOOL_FAILED, "out of memory");
    return e.worst == KILN_CHECK_BAD ? TOOL_FAILED : TOOL_OK;
}
