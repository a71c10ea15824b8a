// What happened, the latest first.

import {clock} from './format.js';

const MAX_ENTRIES = 200;

const list = document.getElementById('journal');

/** Starts over: the server repeats what it remembers, which need not be read out to anybody. */
export function clearJournal() {
  list.replaceChildren();
  list.setAttribute('aria-busy', 'true');
}

/** What was remembered is there; from now on it is news. */
export function journalIsCurrent() {
  list.setAttribute('aria-busy', 'false');
}

export function addEvent(event) {
  const entry = document.createElement('li');
  entry.dataset.kind = event.kind;
  const time = document.createElement('time');
  time.dateTime = event.at;
  time.textContent = clock(event.at);
  const kind = document.createElement('span');
  kind.className = 'kind';
  kind.textContent = event.kind;
  const text = document.createElement('span');
  text.className = 'text';
  text.textContent = event.text;
  entry.append(time, kind, text);
  list.prepend(entry);
  if (list.children.length > MAX_ENTRIES) {
    list.lastElementChild.remove();
  }
}
