// Buttons for the signals. What ends the process is asked about first.

import {MARK} from './session.js';

const list = document.getElementById('signals');
const sent = document.getElementById('sent');
const dialog = document.getElementById('confirm');
const form = dialog.querySelector('form');

/** Makes the buttons; host is called for the name of the host, refused when the session is over. */
export function showSignals(signals, host, refused) {
  list.replaceChildren(...signals.map(signal => entry(signal, host, refused)));
  sent.textContent = '';
}

/** Takes back a question that is open: nobody is left whose answer could be sent. */
export function withdrawQuestion() {
  dialog.close('cancel');
}

function entry(signal, host, refused) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = signal.ends ? `${signal.name}…` : signal.name;
  button.dataset.signal = signal.name;
  button.classList.toggle('ends', signal.ends);
  const text = document.createElement('span');
  text.id = `about-${signal.name}`;
  text.className = 'muted';
  text.textContent = signal.description;
  button.setAttribute('aria-describedby', text.id);
  button.addEventListener('click', async () => {
    const reason = signal.ends ? await confirm(signal, host()) : '';
    if (reason !== null) {
      await send(signal.name, reason, refused);
    }
  });
  item.append(button, text);
  return item;
}

/** The reason, which may be empty; null if it is not wanted after all. */
function confirm(signal, host) {
  document.getElementById('confirm-title').textContent = `Send ${signal.name} to ${host}?`;
  document.getElementById('confirm-text').textContent = `${signal.effect}.`;
  document.getElementById('confirm-send').textContent = `Send ${signal.name}`;
  form.reset();
  dialog.returnValue = 'cancel';
  dialog.showModal();
  return new Promise(resolve => {
    dialog.addEventListener(
      'close', () => resolve(dialog.returnValue === 'send' ? form.reason.value : null), {once: true});
  });
}

async function send(name, reason, refused) {
  tell(`Sending ${name}`, '');
  try {
    const answer = await fetch('/admin/signal', {
      method: 'POST',
      headers: {...MARK, 'Content-Type': 'application/json'},
      body: JSON.stringify({signal: name, reason}),
    });
    const body = await answer.json();
    if (answer.status === 401) {
      refused();
    }
    tell(answer.ok ? `${name} was accepted.` : `${name} was refused: ${body.message}.`, answer.ok ? 'well' : 'error');
  } catch (error) {
    tell(`${name} was not sent: ${error.message}.`, 'error');
  }
}

function tell(text, kind) {
  sent.textContent = text;
  sent.dataset.kind = kind;
}
