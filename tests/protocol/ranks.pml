/* ranks.pml - one build of a key in a job of many ranks: owners and fetchers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/*
 * What src/ranks.c and src/task.c do. Key number r belongs to rank r. Each
 * rank needs its neighbour's key, so requests go round in a circle, and with
 * MORE some need others, and their own. A rank has one worker, which builds, and other
 * threads that ask and serve. All ranks are on one machine, so a key has one
 * lock between them. A rank may die at any moment, and one may learn its
 * program late.
 *
 * What holds:
 *   OWNER   a key is built by its owner, and by others when that is dead
 *   ONE     an owner builds its key once
 *   ENDS    each rank that lives has what it needs in the end: there is no
 *           circle of waits
 *
 * Each label is a step that the sources name. FAULT_* plants a fault.
 */

#define RANKS 3
#define NOBODY 255

bool alive[RANKS];
bool knows[RANKS]; /* its program: until then it answers "not yet" */
bool has[RANKS];   /* the owner's tiers have its key */
bool flies[RANKS]; /* the owner is building it */
byte worker[RANKS] = NOBODY; /* the key that it is at */
byte lock[RANKS] = NOBODY;   /* of the key: the rank that holds it */
byte builds[RANKS];
byte wanting = NOBODY; /* tasks that are not done */

/* Builds key `k` on the worker of rank `r`, under the key's lock. */
inline build(r, k)
{
    atomic { !alive[r] || worker[r] == NOBODY -> worker[r] = k };
    atomic { !alive[r] || lock[k] == NOBODY || lock[k] == r ->
        if :: alive[r] -> lock[k] = r :: else fi };
    atomic {
        if
        :: alive[r] ->
            assert(r == k || !alive[k]); /* OWNER */
            builds[k]++;
            assert(r != k || builds[k] == 1) /* ONE */
        :: else
        fi
    };
    atomic {
        if :: lock[k] == r -> lock[k] = NOBODY :: else fi;
        worker[r] = NOBODY
    }
}

/* ranks.c, kiln_rank_serve(): waits for work of its own process alone. */
inline serve(owner)
{
    if
    :: !alive[owner] -> answer = false
    :: alive[owner] && !knows[owner] -> answer = false /* not yet */
    :: alive[owner] && knows[owner] ->
FLIGHT:
        atomic {
            if
            :: has[owner] || flies[owner] -> skip
            :: else -> flies[owner] = true; mine = true
            fi
        };
        if
        :: mine ->
            build(owner, owner);
            atomic { has[owner] = alive[owner]; flies[owner] = false;
                     mine = false }
        :: else
        fi;
        (has[owner] || !alive[owner]);
        answer = has[owner] && alive[owner]
    fi
}

proctype task(byte me; byte key)
{
    bool answer, mine;

#ifdef FAULT_ASKS_ON_WORKER
    atomic { worker[me] == NOBODY -> worker[me] = key };
#endif
#ifdef FAULT_ASKS_UNDER_LOCK
    atomic { !alive[me] || lock[key] == NOBODY -> lock[key] = me };
#endif
    if
    :: key == me -> serve(me) /* its own: the same flight as for the others */
    :: else ->
ASK:    /* until it is there, or the owner says nothing any more */
        do
        :: !alive[me] -> break
        :: alive[me] ->
            serve(key);
            if
            :: answer -> break
            :: !answer && !alive[key] ->
GIVE_UP:        build(me, key);
                break
            :: else /* not yet: asked again */
            fi
        od
    fi;
#ifdef FAULT_ASKS_ON_WORKER
    worker[me] = NOBODY;
#endif
#ifdef FAULT_ASKS_UNDER_LOCK
    if :: lock[key] == me -> lock[key] = NOBODY :: else fi;
#endif
    atomic { wanting-- }
}

/* The kernel of the system takes back a dead rank's locks. */
inline die(r)
{
    alive[r] = false;
    worker[r] = NOBODY;
    flies[r] = false;
    if :: lock[0] == r -> lock[0] = NOBODY :: else fi;
    if :: lock[1] == r -> lock[1] = NOBODY :: else fi;
    if :: lock[2] == r -> lock[2] = NOBODY :: else fi
}

proctype outside()
{
#ifdef DEATHS
    if
    :: skip
    :: atomic { die(0) }
    :: atomic { die(2) }
    fi;
#endif
    knows[1] = true
}

init {
    atomic {
        alive[0] = true;
        alive[1] = true;
        alive[2] = true;
        knows[0] = true;
        knows[2] = true; /* rank 1 learns it later */
        wanting = 3;
        run task(0, 1);
        run task(1, 2);
        run task(2, 0);
#ifdef MORE
        wanting = 5;
        run task(0, 2);
        run task(1, 1);
#endif
        run outside()
    }
}

ltl ends { <> [] (wanting == 0) }
