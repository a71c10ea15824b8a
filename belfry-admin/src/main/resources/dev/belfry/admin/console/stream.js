// The server's events, as long as the page is looked at. When the connection is lost it asks again, and the server
// begins with all that the page has missed.

import {askSession, PATIENCE} from './session.js';

const LONGEST_WAIT = 8000;

/**
 * Watches until it is told to stop.
 *
 * handlers: history, state and log get what came; link is told 'live', 'lost', 'ended' or 'full'; signedOut that the
 * session is over.
 */
export function watch(handlers) {
  let source = null;
  let timer = 0;
  let silence = 0; // runs from each sign of life to the next: a state comes every second
  let wait = 500;
  let turn = 0; // increased by whatever makes the answer to an earlier question void

  function open() {
    source = new EventSource('/console/stream');
    expectMore();
    for (const kind of ['history', 'state', 'log']) {
      source.addEventListener(kind, event => {
        wait = 500;
        expectMore();
        handlers.link('live');
        handlers[kind](JSON.parse(event.data));
      });
    }
    source.addEventListener('end', event => {
      const {reason} = JSON.parse(event.data);
      close();
      if (reason === 'session') {
        stop();
        handlers.signedOut();
      } else {
        lost(reason === 'closed' ? 'ended' : 'lost');
      }
    });
    source.addEventListener('error', giveUp);
  }

  // A host that hangs, or is cut off without a word, closes nothing.
  function expectMore() {
    clearTimeout(silence);
    silence = setTimeout(giveUp, PATIENCE);
  }

  function giveUp() {
    close();
    lost('lost');
  }

  function close() {
    turn++;
    clearTimeout(timer);
    clearTimeout(silence);
    source?.close();
    source = null;
  }

  function lost(how) {
    handlers.link(how);
    timer = setTimeout(again, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }

  async function again() {
    const asked = turn;
    try {
      const session = await askSession();
      if (asked !== turn) {
        return;
      }
      if (!session.signed_in) {
        stop();
        handlers.signedOut();
      } else if (session.has_room) {
        open();
      } else {
        lost('full');
      }
    } catch {
      if (asked === turn) {
        lost('lost');
      }
    }
  }

  // A page in the background needs no connection: it gets everything when it is looked at again.
  function look() {
    close();
    if (!document.hidden) {
      again();
    }
  }

  function stop() {
    close();
    document.removeEventListener('visibilitychange', look);
  }

  document.addEventListener('visibilitychange', look);
  open();
  return stop;
}
