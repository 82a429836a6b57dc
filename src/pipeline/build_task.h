/* build_task.h - a build on a worker. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_BUILD_TASK_H
#define KILN_PIPELINE_BUILD_TASK_H

#include "pipeline/build.h"
#include "tiers/flight.h"

/* Takes the build over, and ends the flight, whatever happens. */
void kiln__task_start(kiln_context *context, kiln__flight *flight,
                      kiln__build *build);
/* Ends the flight of a build that could not begin; takes the error over. */
void kiln__task_fail(kiln_context *context, kiln__flight *flight,
                     kiln_status status, kiln_error *error);
/* Whether the host has what an artifact refers to may be another thing the
   next time: a failure is not remembered then. */
void kiln__flight_bind(kiln__flight *flight, const kiln_artifact *artifact);

#endif /* KILN_PIPELINE_BUILD_TASK_H */
