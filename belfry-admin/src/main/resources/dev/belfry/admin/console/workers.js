// The table of the workers. Rows stay where they are and only change their text, so that nothing jumps.

import {age, count, micros, show, whole} from './format.js';

const WELL = new Set(['ready', 'spare']);
const ON_THE_WAY = new Set(['starting', 'retiring']);
const COLUMNS = ['Worker', 'State', 'PID', 'Calls/s', 'Calls', 'In flight', 'p50', 'p99', 'Deaths', 'Age'];

const body = document.getElementById('workers');
const rows = new Map();

/** Shows the workers of a state that was taken at a time. */
export function showWorkers(workers, at) {
  const names = new Set(workers.map(worker => worker.name));
  for (const [name, row] of rows) {
    if (!names.has(name)) {
      row.element.remove();
      rows.delete(name);
    }
  }
  workers.forEach((worker, place) => {
    const row = rows.get(worker.name) ?? newRow(worker.name);
    if (body.children[place] !== row.element) {
      body.insertBefore(row.element, body.children[place] ?? null);
    }
    fill(row, worker, at);
  });
  const well = workers.filter(worker => WELL.has(worker.state)).length;
  show(document.getElementById('workers-count'), `${well} of ${workers.length} ready`);
}

function newRow(name) {
  const element = document.createElement('tr');
  const cells = COLUMNS.map((title, column) => {
    const cell = document.createElement(column === 0 ? 'th' : 'td');
    cell.dataset.title = title;
    cell.classList.toggle('number', column > 1);
    element.append(cell);
    return cell;
  });
  cells[0].scope = 'row';
  const row = {element, cells, pid: 0, finished: 0, at: 0, rate: 0};
  rows.set(name, row);
  return row;
}

function fill(row, worker, at) {
  const isSame = row.pid === worker.pid && row.at > 0;
  if (at > row.at) {
    row.rate = isSame ? Math.max(0, (worker.finished - row.finished) * 1000 / (at - row.at)) : 0;
  }
  Object.assign(row, {pid: worker.pid, finished: worker.finished, at});
  row.element.dataset.state =
    WELL.has(worker.state) ? 'well' : ON_THE_WAY.has(worker.state) ? 'on-the-way' : 'trouble';
  const texts = [
    worker.name,
    worker.state,
    worker.pid > 0 ? String(worker.pid) : '–',
    count(row.rate),
    whole(worker.finished),
    String(worker.in_flight),
    micros(worker.p50_micros),
    micros(worker.p99_micros),
    String(worker.deaths),
    age(worker.age_millis),
  ];
  texts.forEach((text, column) => show(row.cells[column], text));
  row.cells[8].classList.toggle('some', worker.deaths > 0);
}
