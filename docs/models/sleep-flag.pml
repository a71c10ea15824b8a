/*
 * The sleep flag of the padded placement: one sender, one receiver, a ring that never fills. The
 * receiver sleeps on the flag itself, as a thread does, or at its bell, as an event loop does; a
 * thread that comes to look for the loop's messages may go to sleep in its place.
 *
 * What is shown: a receiver that goes to sleep is always woken when a message comes, where it
 * sleeps by then. Loads and stores of a process may pass each other as on x86-64 and weaker machines
 * allow for a store followed by a load: each process has a store buffer that is emptied at any
 * time, and by a fence.
 *
 * To check:
 *
 *   spin -a sleep-flag.pml && gcc -O2 -o pan pan.c && ./pan -m100000
 *
 * must say "errors: 0". With -DNO_SENDER_FENCE or -DNO_RECEIVER_FENCE given to spin one of the two
 * fences is left out, and with -DNO_COMPARE the sender sets the flag back without a comparison: it
 * must find an error, a receiver that sleeps for ever.
 */
#define MESSAGES 3
#define VISITS 2           /* how often a thread comes while the loop is at the bell */
#define AWAKE 0
#define ASLEEP 1
#define AT_BELL 2

byte published = 0;        /* how many messages can be seen: the lap marks */
byte flag = AWAKE;         /* the receiver's flag, which is also the word it sleeps on */
bool sleeping = false;     /* the receiver is in the kernel, on the flag */
bool bell = false;         /* it was rung; it stays so until somebody hears it */

/* The store buffers: what a process has stored and others cannot see yet. */
bool senderHolds = false;
byte senderValue;
bool receiverHolds = false;
byte receiverValue;

byte received = 0;

#define FLUSH_SENDER   if :: senderHolds -> published = senderValue; senderHolds = false :: else fi
#define FLUSH_RECEIVER if :: receiverHolds -> flag = receiverValue; receiverHolds = false :: else fi

/* Buffers are emptied whenever the machine likes. */
active proctype Machine() {
end:
  do
  :: atomic { senderHolds -> published = senderValue; senderHolds = false }
  :: atomic { receiverHolds -> flag = receiverValue; receiverHolds = false }
  od
}

inline wakeIfAsleep() {
  state = flag;
  do
  :: state == AWAKE -> break
  :: state != AWAKE ->
      if
#ifdef NO_COMPARE
      :: flag = AWAKE;
#else
      :: atomic { flag == state -> flag = AWAKE };
#endif
         if
         :: state == ASLEEP -> sleeping = false /* FUTEX_WAKE */
         :: state == AT_BELL -> bell = true
         fi;
         break
#ifndef NO_COMPARE
      :: flag != state -> state = flag
#endif
      fi
  od
}

active proctype Sender() {
  byte sent = 0;
  byte state;
  do
  :: sent < MESSAGES ->
      sent++;
      atomic {                       /* publish: a store, which may linger in the buffer */
        FLUSH_SENDER;
        senderValue = sent;
        senderHolds = true
      };
#ifndef NO_SENDER_FENCE
      atomic { FLUSH_SENDER };       /* full fence */
#endif
      wakeIfAsleep()
  :: else -> break
  od
}

/* Stores the receiver's flag, which may linger in the buffer. */
inline set(value) {
  atomic {
    FLUSH_RECEIVER;
    receiverValue = value;
    receiverHolds = true
  }
}

inline sleepOnFlag() {
  atomic {                           /* the kernel compares the word and sleeps, in one step */
    FLUSH_RECEIVER;
    if
    :: flag == ASLEEP -> sleeping = true
    :: else -> skip
    fi
  };
  !sleeping                          /* without a wake-up it stays here, and spin reports it */
}

inline sleepAtBell() {
  if
  :: atomic { bell -> bell = false } /* the same */
  :: visits < VISITS ->
      visits++;
      set(AWAKE)                     /* a thread looks from now on */
  fi
}

active proctype Receiver() {
  byte place;
  byte visits = 0;
  do
  :: received < MESSAGES ->
      if
      :: published > received -> received++
      :: published <= received ->
          if
          :: place = ASLEEP
          :: place = AT_BELL
          fi;
          set(place);                /* arm: say where we sleep */
#ifndef NO_RECEIVER_FENCE
          atomic { FLUSH_RECEIVER }; /* full fence */
#endif
          if
          :: published > received -> skip          /* looked once more: there is one */
          :: published <= received ->
              if
              :: place == ASLEEP -> sleepOnFlag()
              :: place == AT_BELL -> sleepAtBell()
              fi
          fi
      fi
  :: else -> break
  od
}
