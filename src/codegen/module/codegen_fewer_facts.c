/* codegen_fewer_facts.c - leaves out what facts say twice. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/facts/facts_graph.h"
#include "codegen/module/codegen_stages.h"

/*
 * Facts come from what lowering proved (codegen_facts.c), and from what was
 * appended later (codegen_apart.c), which reads the same sizes again.
 */

void kiln__facts_fewer(kiln__codegen_job *job)
{
    const size_t count = job->fact_size / KILN__FACT_BYTES;
    kiln__facts_graph g = kiln__graph_new(&job->arena);
    kiln__facts_writer w = {0};

    w.bytes = kiln__arena_allocate(&job->arena,
                                   (size_t)KILN__FACTS_MOST * KILN__FACT_BYTES);
    if (count == 0 || w.bytes == NULL || g.failed)
        return;
    kiln__graph_write(&g, kiln__graph_read(&g, job->facts, count), &w);
    if (w.failed)
        return;
    job->facts = w.bytes;
    job->fact_size = w.count * KILN__FACT_BYTES;
}
