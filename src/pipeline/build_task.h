/* build_task.h - runs a build on a worker. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_BUILD_TASK_H
#define KILN_PIPELINE_BUILD_TASK_H

#include "pipeline/build.h"
#include "tiers/flight.h"

/* Takes over the build, and ends the flight in any case. */
void kiln__task_start(kiln_context *context, kiln__flight *flight,
                      kiln__build *build);
/* Ends the flight of a build that could not begin; takes over the error. */
void kiln__task_fail(kiln_context *context, kiln__flight *flight,
                     kiln_status status, kiln_error *error);
/* If the artifact refers to host objects, whether the host has them may change:
   then a failure of the flight is not remembered. */
void kiln__flight_bind(kiln__flight *flight, const kiln_artifact *artifact);

#endif /* KILN_PIPELINE_BUILD_TASK_H */
