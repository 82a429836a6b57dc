/* ticket.c - compiles without waiting. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "base/options.h"
#include "pipeline/compile.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"

/*
 * A ticket holds one request for a flight. Starting it infers on the calling
 * thread, without waiting for other threads (never_wait), and hands the build
 * to a worker. The first poll or wait that finds the flight done takes its
 * result into the ticket.
 */

/* Belongs to one thread at a time. */
struct kiln_ticket {
    kiln_context *context;
    kiln__flight *flight; /* NULL: ended */
    int owned;
    int canceled;
    const kiln_kernel *kernel;
    kiln_status status;
    kiln_error *error;
};

static kiln_status ticket_start(kiln_ticket *ticket,
                                const kiln_signature *signature,
                                const kiln_config *config, uint64_t world,
                                kiln_error **error)
{
    kiln__compile_request request = {.context = ticket->context,
                                     .signature = *signature,
                                     .config = config,
                                     .world = world,
                                     .never_wait = 1};
    kiln__call_scope scope;
    kiln__call_chain *chain = kiln__call_scope_enter(&scope, ticket->context);
    int before = chain->never_wait;
    kiln__compile_answer answer;
    kiln_status status;

    chain->never_wait = 1;
    status = kiln__compile_begin(&answer, chain, &request, error);
    ticket->kernel = answer.kernel;
    ticket->flight = answer.flight;
    ticket->owned = answer.owned;
    chain->never_wait = before;
    kiln__call_scope_leave(&scope);
    return status;
}

kiln_status kiln_compile_start(kiln_ticket **out, kiln_context *context,
                               const kiln_signature *signature,
                               const kiln_config *config,
                               const kiln_compile_options *given,
                               kiln_error **error)
{
    kiln_compile_options options;
    kiln_ticket *ticket;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_TRY(kiln__request_check(context, signature, config, error));
    KILN_TRY(KILN__OPTIONS_READ(&options, given, kiln_compile_options, error));
    ticket = kiln__allocate(&context->alloc, sizeof *ticket);
    if (ticket == NULL)
        return kiln__error_no_memory(error);
    ticket->context = context;
    status = ticket_start(ticket, signature, config, options.world, error);
    if (status == KILN_OK)
        *out = ticket;
    else
        kiln_ticket_free(ticket);
    return status;
}

static void settle_ticket(kiln_ticket *ticket)
{
    int32_t source;

    ticket->status = kiln__compile_take_result(&ticket->kernel, &source,
                                               ticket->context, ticket->flight,
                                               ticket->owned, &ticket->error);
    ticket->flight = NULL;
}

static kiln_status answer(const kiln_kernel **out, const kiln_ticket *ticket,
                          kiln_error **error)
{
    if (ticket->status == KILN_OK)
        *out = ticket->kernel;
    else if (error != NULL &&
             !(ticket->canceled && ticket->status == KILN_ECANCELED))
        *error = kiln__error_retain(ticket->error);
    return ticket->status;
}

kiln_status kiln_compile_poll(const kiln_kernel **out, kiln_ticket *ticket,
                              kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(ticket != NULL, error);
    if (ticket->flight != NULL &&
        kiln__flight_is_done(ticket->context, ticket->flight))
        settle_ticket(ticket);
    if (ticket->flight == NULL)
        return answer(out, ticket, error);
    return ticket->canceled ? KILN_ECANCELED : KILN_EAGAIN;
}

kiln_status kiln_compile_wait(const kiln_kernel **out, kiln_ticket *ticket,
                              kiln_error **error)
{
    kiln__call_scope scope;
    kiln_status status = KILN_OK;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(ticket != NULL, error);
    if (ticket->flight != NULL && ticket->canceled)
        return kiln_compile_poll(out, ticket, error);
    if (ticket->flight != NULL) {
        kiln__call_chain *chain =
            kiln__call_scope_enter(&scope, ticket->context);

        status = kiln__flight_wait(ticket->context, chain, ticket->flight);
        kiln__call_scope_leave(&scope);
    }
    if (status != KILN_OK)
        return kiln__error_set(error, status,
                               "waiting for this ticket would never end");
    return kiln_compile_poll(out, ticket, error);
}

void kiln_compile_cancel(kiln_ticket *ticket)
{
    if (ticket == NULL || ticket->canceled)
        return;
    ticket->canceled = 1;
    if (ticket->flight != NULL)
        kiln__flight_cancel(ticket->context, ticket->flight);
}

/* The build goes on, and its result is remembered for later requests. */
void kiln_ticket_free(kiln_ticket *ticket)
{
    if (ticket == NULL)
        return;
    if (ticket->flight != NULL)
        kiln__flight_abandon(ticket->context, ticket->flight, ticket->owned);
    kiln_error_free(ticket->error);
    kiln__deallocate(&ticket->context->alloc, ticket, sizeof *ticket);
}
