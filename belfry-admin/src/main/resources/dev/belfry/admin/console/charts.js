// Four small charts of the last minutes, drawn as SVG. They share one time axis: pointing at a moment in one, or moving
// there with the arrow keys, shows that moment in all of them.

import {clock, count, micros} from './format.js';

const LONGEST = 300; // seconds that are shown; fewer for a young host
const WIDTH = 300;
const HEIGHT = 100;
const GAP = 3.5; // seconds without a sample after which a line is broken
const SVG = 'http://www.w3.org/2000/svg';

/** Places in a sample. */
const AT = 0, CALLS = 1, P50 = 2, P99 = 3, RING = 4, SLOTS = 5;

const KINDS = [
  {id: 'calls', title: 'Calls per second', least: 10, lines: [{place: CALLS, format: count}]},
  {
    id: 'latency', title: 'Latency', isLog: true,
    lines: [{place: P50, name: 'p50', format: micros}, {place: P99, name: 'p99', format: micros}],
  },
  {id: 'ring', title: 'Ring depth', least: 10, lines: [{place: RING, format: count}], most: host => host.ring_capacity},
  {id: 'slots', title: 'Slots in use', least: 10, lines: [{place: SLOTS, format: count}], most: host => host.slots},
];

export class Charts {
  #samples = [];
  #marks = [];
  #pointed = null; // the time of the sample that is pointed at
  #charts;

  constructor(container) {
    this.#charts = KINDS.map(kind => new Chart(kind, at => this.#point(at), steps => this.#step(steps)));
    container.append(...this.#charts.map(chart => chart.element));
  }

  /** Starts over with what the server remembers. */
  begin(samples) {
    this.#samples = samples;
    this.#marks = [];
    this.#draw();
  }

  add(at, host) {
    const oldest = at - LONGEST * 1000;
    // One that is not earlier is this one, or from before the host's clock was set back.
    this.#samples = this.#samples.filter(sample => sample[AT] >= oldest && sample[AT] < at);
    this.#samples.push(
      [at, host.calls_per_second, host.p50_micros, host.p99_micros, host.ring_depth, host.slots_used]);
    this.#marks = this.#marks.filter(mark => mark.at >= oldest);
    this.#charts.forEach(chart => chart.limit(host));
    this.#draw();
  }

  /** Something happened that explains a curve. */
  mark(event) {
    this.#marks.push({at: Date.parse(event.at), kind: event.kind});
  }

  #draw() {
    const samples = this.#samples;
    const axis = this.#axis();
    const marks = this.#marks.filter(mark => axis.x(mark.at) >= 0);
    const pointed = samples.find(sample => sample[AT] === this.#pointed);
    this.#charts.forEach(chart => chart.draw(samples, marks, axis, pointed));
  }

  /** Whole minutes, as many as there are samples for. */
  #axis() {
    const now = this.#samples.at(-1)?.[AT] ?? 0;
    const age = (now - (this.#samples[0]?.[AT] ?? now)) / 1000;
    const minutes = Math.max(1, Math.min(LONGEST / 60, Math.ceil(age / 60)));
    const width = minutes * 60_000;
    return {minutes, x: at => WIDTH * (1 - (now - at) / width), at: part => now - width * (1 - part)};
  }

  /** The sample nearest to a part of the axis; none for null. */
  #point(part) {
    const wanted = this.#axis().at(part);
    const nearest = (a, b) => Math.abs(b[AT] - wanted) < Math.abs(a[AT] - wanted) ? b : a;
    this.#pointed = part === null || !this.#samples.length ? null : this.#samples.reduce(nearest)[AT];
    this.#draw();
  }

  #step(steps) {
    const times = this.#samples.map(sample => sample[AT]);
    const place = this.#pointed === null ? times.length - 1 : times.indexOf(this.#pointed);
    this.#pointed = times[Math.min(times.length - 1, Math.max(0, place + steps))] ?? null;
    this.#draw();
  }
}

class Chart {
  #kind;
  #values;
  #time = make('span', 'when');
  #most = make('span', 'muted');
  #top = make('span', 'top');
  #plot = make('div', 'plot');
  #svg = draw('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'});
  #marks = draw('path', {class: 'marks'});
  #deaths = draw('path', {class: 'marks deaths'});
  #cursor = draw('path', {class: 'cursor'});
  #lines;
  element = make('figure', 'chart panel');

  constructor(kind, point, step) {
    this.#kind = kind;
    this.element.id = `chart-${kind.id}`;
    this.#values = kind.lines.map(line => make('span', `value ${line.name ?? ''}`));
    this.#lines = kind.lines.map(line => ({
      area: draw('path', {class: `area ${line.name ?? ''}`}),
      line: draw('path', {class: `line ${line.name ?? ''}`}),
    }));
    this.#build();
    this.#listen(point, step);
  }

  #build() {
    const caption = make('figcaption');
    const title = make('h3');
    title.textContent = this.#kind.title;
    const readings = make('p', 'readings');
    this.#kind.lines.forEach((line, i) => {
      if (line.name) {
        const name = make('span', `key ${line.name}`);
        name.textContent = line.name;
        readings.append(name);
      }
      readings.append(this.#values[i]);
    });
    readings.append(this.#most);
    caption.append(title, this.#time, readings);
    const grid = draw('path', {class: 'grid', d: [0, 50, 100].map(y => `M0 ${y}H${WIDTH}`).join('')});
    this.#svg.append(grid, this.#marks, this.#deaths);
    this.#lines.forEach(({area, line}) => this.#svg.append(area, line));
    this.#svg.append(this.#cursor);
    this.#plot.append(this.#svg, this.#top);
    this.element.append(caption, this.#plot);
  }

  #listen(point, step) {
    this.#plot.tabIndex = 0;
    this.#plot.setAttribute('role', 'img');
    this.#plot.addEventListener('pointermove', event => {
      const box = this.#plot.getBoundingClientRect();
      point((event.clientX - box.left) / box.width);
    });
    this.#plot.addEventListener('pointerleave', () => point(null));
    this.#plot.addEventListener('blur', () => point(null));
    this.#plot.addEventListener('keydown', event => {
      const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30, Home: -LONGEST, End: LONGEST}[event.key];
      if (steps) {
        event.preventDefault();
        step(steps);
      } else if (event.key === 'Escape') {
        point(null);
      }
    });
  }

  /** How much there can be. */
  limit(host) {
    this.#most.textContent = this.#kind.most ? `of ${count(this.#kind.most(host))}` : '';
  }

  draw(samples, marks, axis, pointed) {
    const {lines, isLog, least, title} = this.#kind;
    const values = lines.flatMap(line => samples.map(sample => sample[line.place]));
    const scale = isLog ? logScale(values) : linearScale(values, least);
    const x = at => axis.x(at).toFixed(1);
    const span = `last ${axis.minutes} min`;
    const shown = pointed ?? samples.at(-1);
    lines.forEach((line, i) => {
      const paths = trace(samples, line.place, x, scale.y);
      this.#lines[i].line.setAttribute('d', paths.line);
      this.#lines[i].area.setAttribute('d', paths.area);
      this.#values[i].textContent = shown ? line.format(shown[line.place]) : '–';
    });
    const ticks = kinds => marks.filter(mark => kinds(mark.kind)).map(mark => `M${x(mark.at)} 0V${HEIGHT}`).join('');
    this.#deaths.setAttribute('d', ticks(kind => kind === 'death'));
    this.#marks.setAttribute('d', ticks(kind => kind === 'signal' || kind === 'reload'));
    this.#cursor.setAttribute('d', pointed ? `M${x(pointed[AT])} 0V${HEIGHT}` : '');
    this.#time.textContent = pointed ? clock(pointed[AT]) : span;
    this.#top.textContent = lines[0].format(scale.top);
    const readings = lines.map((line, i) => `${line.name ?? 'now'} ${this.#values[i].textContent}`).join(', ');
    this.#plot.setAttribute('aria-label', `${title}, ${span}. ${readings}`);
    this.element.classList.toggle('past', Boolean(pointed));
  }
}

/** A curve as a line and as the area below it, broken where there is no sample. */
function trace(samples, place, x, y) {
  let line = '', area = '', start = null, last = null;
  const end = () => last ? `L${x(last[AT])} ${HEIGHT}L${x(start[AT])} ${HEIGHT}Z` : '';
  for (const sample of samples) {
    const isBroken = !last || sample[AT] - last[AT] > GAP * 1000;
    const point = `${x(sample[AT])} ${y(sample[place]).toFixed(1)}`;
    if (isBroken) {
      area += end();
      start = sample;
    }
    line += (isBroken ? 'M' : 'L') + point;
    area += (isBroken ? 'M' : 'L') + point;
    last = sample;
  }
  return {line, area: area + end()};
}

/** From zero to a round number above everything. */
function linearScale(values, least) {
  const most = Math.max(least, Math.max(0, ...values) * 1.05);
  const power = 10 ** Math.floor(Math.log10(most));
  const top = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find(step => step * power >= most) * power;
  return {top, y: value => HEIGHT * (1 - value / top)};
}

/** Decades, for what may be ten times as much at any moment. Zero, nothing measured, is at the bottom. */
function logScale(values) {
  const measured = values.filter(value => value > 0);
  const low = Math.floor(Math.log10(Math.min(100, ...measured)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(1, ...measured) * 1.05)));
  return {
    top: 10 ** high,
    y: value => HEIGHT * (1 - Math.max(0, Math.log10(Math.max(value, 1e-9)) - low) / (high - low)),
  };
}

function make(name, className = '') {
  const element = document.createElement(name);
  element.className = className.trim();
  return element;
}

function draw(name, attributes) {
  const element = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value.trim()));
  return element;
}
