/*
 * The sleep flag of the padded placement: one sender, one receiver, a ring that never fills.
 *
 * What is shown: a receiver that goes to sleep is always woken when a message comes. Loads and
 * stores of a process may pass each other as on x86-64 and weaker machines allow for a store
 * followed by a load: each process has a store buffer that is emptied at any time, and by a fence.
 *
 * To check:
 *
 *   spin -a sleep-flag.pml && gcc -O2 -o pan pan.c && ./pan -m100000
 *
 * must say "errors: 0". With -DNO_SENDER_FENCE or -DNO_RECEIVER_FENCE given to spin one of the two
 * fences is left out, and it must find an error: a receiver that sleeps for ever.
 */
#define MESSAGES 3
#define AWAKE 0
#define ASLEEP 1

byte published = 0;        /* how many messages can be seen: the lap marks */
byte flag = AWAKE;         /* the receiver's flag, which is also the word it sleeps on */
bool sleeping = false;     /* the receiver is in the kernel */

/* The store buffers: what a process has stored and others cannot see yet. */
bool senderHolds = false;
byte senderValue;
bool receiverHolds = false;

byte received = 0;

#define FLUSH_SENDER   if :: senderHolds -> published = senderValue; senderHolds = false :: else fi
#define FLUSH_RECEIVER if :: receiverHolds -> flag = ASLEEP; receiverHolds = false :: else fi

/* Buffers are emptied whenever the machine likes. */
active proctype Machine() {
end:
  do
  :: atomic { senderHolds -> published = senderValue; senderHolds = false }
  :: atomic { receiverHolds -> flag = ASLEEP; receiverHolds = false }
  od
}

active proctype Sender() {
  byte sent = 0;
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
      if
      :: atomic { flag == ASLEEP -> flag = AWAKE };
         sleeping = false            /* FUTEX_WAKE; a system call empties the buffer too */
      :: flag != ASLEEP -> skip
      fi
  :: else -> break
  od
}

active proctype Receiver() {
  do
  :: received < MESSAGES ->
      if
      :: published > received -> received++
      :: published <= received ->
          atomic {                   /* arm: say that we sleep */
            FLUSH_RECEIVER;
            receiverHolds = true
          };
#ifndef NO_RECEIVER_FENCE
          atomic { FLUSH_RECEIVER }; /* full fence */
#endif
          if
          :: published > received -> skip          /* looked once more: there is one */
          :: published <= received ->
              atomic {               /* the kernel compares the word and sleeps, in one step */
                FLUSH_RECEIVER;
                if
                :: flag == ASLEEP -> sleeping = true
                :: else -> skip
                fi
              };
              !sleeping              /* without a wake-up it stays here, and spin reports it */
          fi
      fi
  :: else -> break
  od
}
