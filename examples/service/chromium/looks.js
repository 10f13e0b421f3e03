// Visual faults of a page: overflow, low contrast, small targets, no visible focus.
const faults = [];
// elements of a vendored widget whose colours are not ours to choose
const [vendored] = arguments;
const isVendored = (element) => Boolean(vendored && element.matches(vendored));
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth) faults.push(`${root.scrollWidth} px wide, window is ${root.clientWidth}`);

// resolves colours of any notation to RGBA
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return canvas.getImageData(0, 0, 1, 1).data;
};
const luminance = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255, 255];
};
const shown = (element) => element.checkVisibility() && !element.closest(".unseen, .skip, script, [disabled]");
const called = (element) => `${element.tagName.toLowerCase()} “${(element.innerText || element.name || "").slice(0, 40)}”`;

for (const element of document.body.querySelectorAll("*")) {
  if (!shown(element)) continue;
  const style = getComputedStyle(element);
  const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) && element.innerText?.trim() !== "";
  if (hasText && !isVendored(element) && contrast(rgba(style.color), behind(element)) < 4.5) faults.push(`low contrast: ${called(element)}`);
  if (element.matches("input") && contrast(rgba(style.borderTopColor), behind(element.parentElement)) < 3) faults.push(`low border contrast: ${called(element)}`);
  if (element.matches("button, input") && element.getBoundingClientRect().height < 24) faults.push(`target too small: ${called(element)}`);
}
const focused = document.activeElement;
for (const element of document.querySelectorAll("a, button, input:not([type=hidden])")) {
  if (!shown(element) || element.tabIndex < 0) continue;
  element.focus({ focusVisible: true });
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) faults.push(`focus is not visible: ${called(element)}`);
}
if (focused === document.body) document.activeElement.blur();
else focused.focus();
return faults;
