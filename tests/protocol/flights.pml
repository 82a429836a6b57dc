/* flights.pml - one build of a key in a process: flights and who waits. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/*
 * What src/tiers/flight.c, inference.c and jobs.c do with the tiers' lock and
 * its condition. Each thread asks for one thing, and what makes it needs
 * others first: NEEDS says which. Whoever finds nothing and no flight owns the
 * flight; others wait for it, unless that wait would close a cycle: then the
 * thread makes the thing privately, and the first published result stays.
 *
 * What holds:
 *   ONE     a thing is made once, and once more for each private making; a
 *           private making has a cycle of waits as its reason
 *   WOKEN   nobody sleeps for ever: no end is missed, no circle of waits is
 *           begun
 *   RIGHT   whoever goes on has a result that was published
 *
 * Each label is a step that the sources name. FAULT_* plants a fault.
 */

#define THREADS 3
#define THINGS 3
#define NOBODY 255

/* Thing 0 needs 1, 1 needs 2, and 2 needs 0 again or nothing. */
#ifdef CYCLE
#define NEEDS(thing) ((thing + 1) % THINGS)
#else
#define NEEDS(thing) (thing + 1 < THINGS -> thing + 1 : NOBODY)
#endif

bool published[THINGS];
byte owner[THINGS] = NOBODY;     /* the thread whose flight it is */
byte waits_for[THREADS] = NOBODY; /* the thing */
bool asleep[THREADS];            /* in the condition's queue */
byte made[THINGS];
byte private_makings[THINGS];
byte lock = NOBODY;
byte finished;

inline take_lock(me)
{
    atomic { lock == NOBODY -> lock = me }
}

inline give_lock()
{
    lock = NOBODY
}

/* flight.c, leads_to(): does waiting for `thing` come back to `me`? Each
   thread waits for one thing, so the walk is a chain. */
inline walk(me, thing)
{
    at = thing;
    steps = 0;
    do
    :: owner[at] == NOBODY -> closes = false; break
    :: owner[at] == me -> closes = true; break
    :: else ->
        if
        :: waits_for[owner[at]] == NOBODY || steps == THREADS ->
            closes = false;
            break
        :: else -> at = waits_for[owner[at]]; steps++
        fi
    od;
    at = 0;
    steps = 0
}

inline wake_all()
{
    asleep[0] = false;
    asleep[1] = false;
    asleep[2] = false
}

/* Asks for things one below the other: a stack of them, the outermost first.
   `is_own` tells which of them have a flight of ours. */
proctype thread(byte me; byte wanted)
{
    byte stack[THINGS + 1];
    bool is_own[THINGS + 1];
    byte depth, thing, at, steps;
    bool closes, above;

    stack[0] = wanted;
ASK:
    thing = stack[depth];
CLAIM: /* with the lock: it is there, somebody makes it, or it is our turn */
    take_lock(me);
LOOK:
    atomic {
        if
        :: published[thing] ->
            give_lock();
            goto HAVE
        :: !published[thing] && owner[thing] == NOBODY ->
            owner[thing] = me;
            is_own[depth] = true;
            give_lock();
            goto MAKE
        :: !published[thing] && owner[thing] != NOBODY ->
#ifdef FAULT_NO_WALK
            closes = false;
#else
            walk(me, thing);
#endif
            if
            :: closes -> /* inferred privately */
                is_own[depth] = false;
                private_makings[thing]++;
                give_lock();
                goto MAKE
            :: else
            fi
        fi
    }
SLEEP: /* the condition lets go of the lock and sleeps in one step */
#ifdef FAULT_SLEEPS_LATE
    give_lock();
    atomic { waits_for[me] = thing; asleep[me] = true };
#else
    atomic { waits_for[me] = thing; asleep[me] = true; give_lock() };
#endif
WOKEN:
    atomic { !asleep[me] && lock == NOBODY -> lock = me };
    atomic { waits_for[me] = NOBODY };
    goto LOOK;
MAKE: /* no lock is held while it is made; what it needs comes first */
    atomic {
        closes = false;
        /* Recursion: one of ours further up assumes a result. */
        above = false;
        for (at : 0 .. depth) {
            if :: stack[at] == NEEDS(thing) -> above = true :: else fi
        }
        at = 0;
        if
        :: NEEDS(thing) != NOBODY && !above && depth + 1 < THINGS ->
            depth++;
            stack[depth] = NEEDS(thing);
            goto ASK
        :: else -> above = false
        fi
    }
PUBLISH: /* the first one stays; all flights that end wake everybody */
    take_lock(me);
    atomic {
        made[thing]++;
        assert(made[thing] <= 1 + private_makings[thing]); /* ONE */
        published[thing] = true;
        if
        :: is_own[depth] ->
            owner[thing] = NOBODY;
#ifndef FAULT_NO_WAKE
            wake_all()
#endif
        :: else
        fi;
        is_own[depth] = false;
        give_lock()
    }
HAVE:
    assert(published[thing]); /* RIGHT */
    atomic {
        if
        :: depth > 0 ->
            stack[depth] = 0;
            depth--;
            thing = stack[depth];
            goto PUBLISH
        :: else -> finished++
        fi
    }
}

init {
    atomic {
        run thread(0, 0);
        run thread(1, 1);
        run thread(2, 2)
    }
}

#ifdef CYCLE
#define HAS_REASON true
#else
/* Without a cycle of needs there is none of waits. */
#define HAS_REASON (private_makings[0] + private_makings[1] + \
                    private_makings[2] == 0)
#endif
#define ALL_FINISHED (finished == THREADS)

ltl ends { (<> ALL_FINISHED) && ([] HAS_REASON) }
