/*
 * Who looks for the answers of a worker: callers that take turns, or the pool's loop at the bell.
 *
 * What is shown: nobody sleeps for ever. A caller that finds nobody looking does so itself, for
 * all, and the worker need not ring meanwhile; if no answer comes within a moment it gives the turn
 * back and lets others run, and stays patient for a while, which is to look again. When it leaves,
 * a patient caller will look, or somebody hears of the answers that are still expected, or nobody
 * is to be told of any. The names are those of Lookout, Receiving and PeerMessages. Every store is
 * seen at once here: what a store that lingers does to the flag is the subject of sleep-flag.pml.
 * The host's round, which looks at everything twenty times a second and would hide a mistake, is
 * left out.
 *
 * To check:
 *
 *   spin -a -DCALLERS=2 -DPLAIN who-looks.pml && gcc -O2 -DCOLLAPSE -o pan pan.c
 *   ./pan -m1000000 -w24
 *
 *   spin -a -DCALLERS=2 who-looks.pml && gcc -O2 -DBITSTATE -o pan pan.c
 *   timeout 300 ./pan -m1000000 -w34
 *
 * The first goes through all states, within minutes and eight gigabytes, and must say "errors: 0".
 * The second, and the same without -DCALLERS=2 for three callers, does not get to the end (463
 * million states in 23 gigabytes were not all) and must find none until then. With -DNO_SECOND_LOOK,
 * -DNO_MISSED, -DNO_LISTEN, -DNO_LAST_LOOK or -DNO_SECOND_THOUGHT given to spin it must find one:
 * somebody who sleeps for ever.
 */
#ifndef CALLS
#define CALLS 1            /* by each caller, one after the other */
#endif
#ifndef CALLERS
#define CALLERS 3
#endif
#ifndef PLAIN              /* all callers look from the beginning */
#define STARTER (CALLERS - 1) /* starts its calls and comes for the answers later */
#define VIRTUAL (CALLERS - 2) /* looks if a carrier is left, and never sleeps with the turn */
#else
#define STARTER CALLERS
#define VIRTUAL CALLERS
#endif
#define NOBODY CALLERS

#define ME (_pid - 2)      /* the caller's number: the processes before are worker and loop */

#define AWAKE 0
#define AT_BELL 1

chan requests = [CALLERS] of { byte };
chan ring = [CALLERS] of { byte };  /* the answers */

bool turn = false;         /* somebody receives */
byte flag = AT_BELL;       /* where the receiver sleeps, if it does */
bool bell = false;         /* it was rung for the loop */
bool pump = false;         /* the loop is to look, though nobody has rung */
bool missed = false;       /* the loop was called while somebody had the turn */

/* The table, whose lock is held for one atomic step at a time. */
byte wanted = 0;           /* how many calls there are of which somebody is to be told */
bool deaf = false;         /* nobody would hear of an answer */
bool inTable[CALLERS];
bool told[CALLERS];        /* somebody is to be told of this call */

bool waits[CALLERS];       /* there is a thread that waits for this call */
bool done[CALLERS];
bool permit[CALLERS];      /* of the thread that sleeps, as of LockSupport */
byte patient = 0;          /* how many are awake and will look */

/* Takes an answer out of the ring and its call out of the table; who: the caller that does so. */
inline receive(who) {
  atomic {
    nempty(ring) ->
    ring?x;
    inTable[x] = false;
    if
    :: told[x] -> told[x] = false; wanted--
    :: else
    fi
  };
  done[x] = true;
  if
  :: waits[x] && x != who -> permit[x] = true
  :: else
  fi
}

/* From now on the worker rings; what it wrote before it knew is still taken. */
inline listen(who) {
  do
  :: missed = false;
     flag = AT_BELL;
#ifdef NO_SECOND_LOOK
     break
#else
     if
     :: nempty(ring) ->
        do
        :: nempty(ring) -> receive(who)
        :: empty(ring) -> break
        od
     :: empty(ring) -> break
     fi
#endif
  od
}

/* Has the loop look again if it came while the turn was taken. */
inline takeMissed() {
  if
  :: missed -> missed = false; pump = true
  :: else
  fi
}

active proctype Worker() {
  byte x;
end:
  do
  :: requests?x ->
     ring!x;
     if
     :: atomic { flag == AT_BELL -> flag = AWAKE }; bell = true
     :: flag != AT_BELL -> skip
     fi
  od
}

/* Receives and listens if the turn is free, else sets "busy". */
inline receiveAndListen() {
  atomic {
    busy = turn;
    turn = true
  };
  if
  :: !busy ->
     do
     :: nempty(ring) -> receive(NOBODY)
     :: empty(ring) -> break
     od;
     listen(NOBODY);
     turn = false
  :: else
  fi
}

active proctype Loop() {
  byte x;
  bool busy;
end:
  do
  :: atomic {
       bell || pump ->
       if
       :: bell -> bell = false
       :: else -> pump = false
       fi
     };
     receiveAndListen();
#ifndef NO_MISSED
     if
     :: busy -> missed = true; receiveAndListen()
     :: else
     fi
#endif
  od
}

/* Somebody is to hear of the answers to the calls that are in the table by now. */
inline hear() {
#ifdef NO_LISTEN
  skip
#else
  if
  :: atomic { deaf -> deaf = false }; pump = true
  :: !deaf -> skip
  fi
#endif
}

/* Whether this caller looks from now on. */
inline begin() {
  atomic {
    looks = !turn;
    turn = true
  };
  if
  :: looks -> flag = AWAKE
  :: else
  fi
}

inline look() {
  do
  :: done[ME] -> break
  :: nempty(ring) -> receive(ME)
  od
}

inline lookBriefly() {
  do
  :: !done[ME] && nempty(ring) -> receive(ME)
  :: break                       /* its own answer has come, or none for a moment */
  od
}

inline endAtBell() {
  atomic {
    next = 0;
    do
    :: next < CALLERS && !(inTable[next] && waits[next] && next != VIRTUAL) -> next++
    :: else -> break
    od
  };
  listen(ME);
  turn = false;
  takeMissed();
  if
  :: next < CALLERS && patient == 0 -> permit[next] = true  /* not needed: it saves a wake-up */
  :: else
  fi
}

/* Gives the turn back. */
inline end() {
  atomic {
    deaf = wanted == 0;
    isDeaf = deaf;
    if
    :: deaf -> turn = false
    :: else
    fi
  };
  if
  :: isDeaf -> takeMissed()
  :: !isDeaf && patient == 0 -> endAtBell()
  :: !isDeaf && patient > 0 ->
     turn = false;
     takeMissed();
#ifndef NO_SECOND_THOUGHT
     if
     :: patient == 0 ->
        begin();
        if
        :: looks -> endAtBell()
        :: else
        fi
     :: else
     fi
#endif
  fi
}

/* As one of the patient: looks now and then; if that was in vain sleeps with the turn, or leaves. */
inline stayPatient() {
  do
  :: !done[ME] ->
     begin();
     if
     :: looks -> lookBriefly(); end()
     :: else
     fi
  :: break                       /* its own answer has come, or its patience is over */
  od;
  atomic {
    patient--;
    last = patient == 0
  };
  looks = false;
  if
#ifdef NO_LAST_LOOK
  :: done[ME]
#else
  :: done[ME] && !last
#endif
  :: else -> begin()             /* whoever left may have relied on this caller */
  fi;
  if
  :: looks && ME == VIRTUAL -> lookBriefly(); end()
  :: looks && ME != VIRTUAL -> look(); end()
  :: else
  fi
}

/* With the turn taken. */
inline lookAndEnd() {
  lookBriefly();
  waitsOn = !done[ME];
  if
  :: waitsOn -> patient++
  :: else
  fi;
  end();
  if
  :: waitsOn -> stayPatient()
  :: else
  fi
}

active [CALLERS] proctype Caller() {
  byte x;
  byte next;
  byte calls = 0;
  bool looks;
  bool isDeaf;
  bool last;
  bool waitsOn;
  bool asked;              /* it wants to be told */
  do
  :: atomic {
       calls < CALLS ->
       calls++;
       done[ME] = false;
       permit[ME] = false;
       looks = false;
       asked = ME != STARTER;
       waits[ME] = asked;
       inTable[ME] = true;
       if
       :: asked -> told[ME] = true; wanted++
       :: else
       fi
     };
     if
     :: asked -> begin()
     :: !asked || ME == VIRTUAL  /* no carrier is left */
     fi;
     if
     :: looks -> requests!ME; lookAndEnd()
     :: !looks && asked -> hear(); requests!ME
     :: else -> requests!ME
     fi;
     waits[ME] = true;
     do
     :: done[ME] -> break
     :: else ->
        if
        :: begin();
           if
           :: looks -> lookAndEnd()
           :: else -> patient++; stayPatient()
           fi
        :: ME == VIRTUAL         /* no carrier is left */
        fi;
        if
        :: done[ME] -> skip
        :: !done[ME] && !asked ->
           asked = true;
           atomic {
             if
             :: inTable[ME] -> told[ME] = true; wanted++
             :: else
             fi
           };
           hear()
        :: !done[ME] && asked ->
           atomic { permit[ME] -> permit[ME] = false } /* if for ever, spin reports it */
        fi
     od
  :: calls == CALLS -> break
  od
}
