/* kiln_explain.c - tells what the stores have for one key of a job. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_explain.h"

static const char *or_none(const char *text)
{
    return text != NULL ? text : "(no such field)";
}

void tool_explain(FILE *out, const kiln_cache_answer *answer)
{
    static const char *const verdicts[] = {
        "absent",
        "other key",
        "found",
        "found, but what it calls has changed",
        "there, but not believed",
        "not looked for: KILN_CACHE or KILN_CACHE_TIERS says so"};
    char digest[KILN_DIGEST_TEXT_SIZE];
    size_t differing = 0;

    kiln_digest_text(answer->wanted, digest);
    (void)fprintf(out, "%s %s: %s\n", answer->kind, digest,
                  verdicts[answer->found]);
    if (answer->found == KILN_CACHE_BAD)
        (void)fprintf(out, "  %s: %s\n", answer->nearest->path,
                      answer->nearest->fault);
    if (answer->session != NULL)
        (void)fprintf(out, "  built again by each process: %s\n",
                      answer->session);
    if (answer->checked != NULL)
        (void)fprintf(out, "  ran with all checks: %s\n", answer->checked);
    if (answer->found != KILN_CACHE_NEAREST)
        return;
    kiln_digest_text(answer->nearest->digest, digest);
    (void)fprintf(out, "  nearest: %s %s\n", digest, answer->nearest->name);
    for (size_t i = 0; i < answer->field_count; i++) {
        const kiln_cache_difference *field = &answer->fields[i];

        if (!field->differs)
            continue;
        differing++;
        (void)fprintf(out, "  %s\n    wanted %s\n    found  %s\n", field->name,
                      or_none(field->wanted), or_none(field->found));
    }
    (void)fprintf(out, "  the other %zu fields are equal\n",
                  answer->field_count - differing);
}
