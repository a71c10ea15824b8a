// Puts the page together: the form, and after it the console with its stream.

import {Charts} from './charts.js';
import {age, show, whole} from './format.js';
import {addEvent, clearJournal, journalIsCurrent} from './journal.js';
import {askSession, logout, showLogin} from './session.js';
import {showSignals, withdrawQuestion} from './signals.js';
import {watch} from './stream.js';
import {showWorkers} from './workers.js';

const LINKS = {
  live: 'Live',
  lost: 'Connection lost, trying again',
  ended: 'The host has ended, looking for it again',
  full: 'Too many consoles are open already, trying again',
};

const CIRCUIT_OPEN = 'Workers died one after another before they had finished a call, so no more are started. '
  + 'The journal says how they died. Once that is fixed, reset the pool: in belfry run by USR2.';

const find = id => document.getElementById(id);
const charts = new Charts(find('charts'));
/** Shown where the host does not know us right after it has let us in. */
const NO_COOKIE = 'That is right, but this browser keeps no cookie of this address. Please allow it.';
let stopWatching = () => {};

async function start(message) {
  stopWatching();
  withdrawQuestion(); // or it would stay in front of the form
  find('console').hidden = true;
  try {
    const session = await askSession();
    if (session.signed_in) {
      showConsole(session);
    } else {
      document.title = 'Belfry console';
      showLogin(session.method, message, () => start(NO_COOKIE));
    }
  } catch (error) {
    find('console').hidden = false;
    showBanner(`The host does not answer: ${error.message}. Load the page again to try again.`);
  }
}

function showConsole(session) {
  const expired = () => start('The session is over. Please sign in again.');
  show(find('identity'), session.identity);
  find('logout').hidden = !session.can_sign_out;
  showSignals(session.signals, () => find('host-name').textContent, expired);
  find('console').hidden = false;
  stopWatching = watch({
    history: showHistory,
    state: showState,
    log: event => {
      addEvent(event);
      charts.mark(event);
    },
    link: showLink,
    signedOut: expired,
  });
}

function showHistory(samples) {
  charts.begin(samples);
  clearJournal();
}

function showState({at, ending, host}) {
  document.title = `${host.name} – Belfry`;
  show(find('host-name'), host.name);
  show(find('uptime'), age(at - Date.parse(host.started_at)));
  show(find('finished'), whole(host.finished));
  show(find('failed'), whole(host.failed));
  show(find('waiting'), whole(host.waiting));
  show(find('deaths'), whole(host.deaths));
  show(find('circuit'), host.circuit_open ? 'open' : 'closed');
  find('failed').classList.toggle('some', host.failed > 0);
  find('waiting').classList.toggle('some', host.waiting > 0);
  find('deaths').classList.toggle('some', host.deaths > 0);
  find('circuit').classList.toggle('some', host.circuit_open);
  showBanner(
    ending ? 'The host is ending: it takes no new work and finishes what it has.'
      : host.circuit_open ? CIRCUIT_OPEN : '');
  showWorkers(host.workers, at);
  charts.add(at, host);
  journalIsCurrent();
}

function showLink(link) {
  find('link').dataset.link = link;
  show(find('link'), LINKS[link]);
  find('console').classList.toggle('stale', link !== 'live');
}

function showBanner(text) {
  find('banner').hidden = text === '';
  show(find('banner'), text);
}

find('logout').addEventListener('click', async () => {
  stopWatching();
  await logout().catch(() => {}); // a server that does not answer is asked again, which shows it
  start('');
});

start('');
