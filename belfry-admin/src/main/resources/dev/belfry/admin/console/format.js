// How figures are written: short, and with the digits that matter.

/** 7, 950, 12.3k, 4.56M */
export function count(value) {
  for (const [limit, unit] of [[1e9, 'G'], [1e6, 'M'], [1e4, 'k']]) {
    if (value >= limit) {
      return digits(value / (unit === 'k' ? 1e3 : limit)) + unit;
    }
  }
  return String(Math.round(value));
}

/** 1 234 567, with thin spaces that do not break */
export function whole(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** 42 µs, 1.25 ms, 3.4 s; a dash for nothing */
export function micros(value) {
  if (value <= 0) {
    return '–';
  }
  if (value < 1000) {
    return `${Math.round(value)} µs`;
  }
  return value < 1e6 ? `${digits(value / 1e3)} ms` : `${digits(value / 1e6)} s`;
}

/** 12 s, 5 min, 3 h 12 min, 2 d 4 h */
export function age(millis) {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes < 1) {
    return `${seconds} s`;
  }
  if (hours < 1) {
    return `${minutes} min`;
  }
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The time of day; with the day, if that is not today. */
export function clock(at) {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  const day = isToday ? '' : `${time.toLocaleDateString('en-GB', {day: 'numeric', month: 'short'})} `;
  return day + time.toLocaleTimeString('en-GB');
}

/** Three digits that matter, and no zeros after the point. */
function digits(value) {
  return String(Number(value.toPrecision(3)));
}

/** Changes a text only when it is another one, so that nobody is told what has not changed. */
export function show(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}
