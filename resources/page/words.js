// SPDX-License-Identifier: LGPL-2.1-or-later
// Words, numbers and elements. Nothing here reads HTML: texts of a tape become text nodes only.

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const NONE = "–";

/* Times with three digits, as the window has them. */
function nsText(ns) {
  const units = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
  const fits = ([size]) => Math.abs(Number((ns / size).toPrecision(3))) < 1000;
  const [size, unit] = units.find(fits) || units[3];
  const value = ns / size;
  const digits = size === 1 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)}\u00a0${unit}`;
}

function countText(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function many(count, one, several) {
  return `${countText(count)} ${count === 1 ? one : several}`;
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let at = 0;
  while (bytes >= 1024 && at < 3) {
    bytes /= 1024;
    at++;
  }
  return `${at && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${units[at]}`;
}

function shapeText(input) {
  const sizes = (input.shape || "").replace(/[[\] ]/g, "").replace(/,/g, "×") || "scalar";
  return `${sizes} ${(input.dtype || "").replace(/^torch\./, "")}`.trim();
}

const spaced = (word) => word.replace(/_/g, " ");

function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return parent;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

function make(tag, attributes, ...children) {
  return fill(setAttributes(document.createElement(tag), attributes), ...children);
}

function makeSvg(tag, attributes, ...children) {
  return fill(setAttributes(document.createElementNS(SVG, tag), attributes), ...children);
}

/* What cannot be known is a dash, and says why. */
function unknown(why) {
  return make("span", {class: "unknown", title: why, "aria-label": `not known: ${why}`}, NONE);
}

function chip(text, kind, title) {
  return make("span", {class: `chip ${kind}`, title}, text);
}

/* How a number or an event is known. */
function knownChip(how) {
  const words = {observed: "The recording saw it.", reconstructed: "The recording did not see it. It follows from the engine's rules."};
  return chip(how || "not known", `known ${how}`, words[how] || "The tape does not say how this is known.");
}

const colourCache = new Map();
function colour(name) {
  if (!colourCache.has(name)) colourCache.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colourCache.get(name);
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");
