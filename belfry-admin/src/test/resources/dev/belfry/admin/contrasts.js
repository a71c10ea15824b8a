// The contrast of every text that can be seen against what is behind it, as WCAG 2 computes it.
const numbers = color => color.match(/[\d.]+/g).map(Number);

function luminance(color) {
  const [r, g, b] = numbers(color).map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ground(element) {
  for (let behind = element; behind; behind = behind.parentElement) {
    const color = getComputedStyle(behind).backgroundColor;
    if (color.startsWith('rgb(')) {
      return color;
    }
  }
  return 'rgb(255, 255, 255)';
}

return [...document.querySelectorAll('body *')]
  .filter(element => element.checkVisibility())
  .filter(element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== ''))
  .map(element => {
    const [light, dark] =
      [luminance(getComputedStyle(element).color), luminance(ground(element))].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  });
