// A list of many rows of which only the visible ones are in the document.
//
// A browser limits the height of an element, so that beyond MAX_HEIGHT the position of the scroll bar is mapped to a
// position among the rows: a jump moves in proportion, a small move moves by as many pixels.
//
// The list is one stop of the Tab key: one row has the tabindex 0. Arrows move between rows, and between the links of a
// row. The row with the focus stays in the document, also if it is scrolled away.

import { el } from "./dom.js";

/** Height that all browsers can draw, in pixels. */
const MAX_HEIGHT = 8_000_000;
/** Height below which the list does not shrink, in pixels. */
const MIN_HEIGHT = 320;
/** Rows of a request. */
const PAGE = 100;
/** Pages that are kept. */
const PAGES = 30;
/** Wait before rows are fetched while the list scrolls, in milliseconds. */
const PATIENCE = 70;

/**
 * Creates a list. `options`: `label`, `head` (a row of column headers), `fetch(position, count, signal)` with the rows,
 * `draw(row, position)` with the cells, `open(row)`, `failed(error)`, `moved(isAtTop)`, `left()` when the focus is gone.
 */
export function feedList(options) {
  const layer = el("div", { class: "feed-layer", attrs: { role: "rowgroup" } });
  const spacer = el("div", { class: "feed-spacer", attrs: { role: "presentation" } }, layer);
  const scroller = el("div", { class: "feed-scroll", attrs: { role: "presentation" } }, spacer);
  const grid = el("div", { class: "feed-grid", attrs: { role: "grid", tabindex: "-1", "aria-label": options.label, "aria-readonly": "true" } },
    el("div", { attrs: { role: "rowgroup" } }, options.head), scroller);
  const list = new Rows(options, grid, scroller, spacer, layer);
  return list;
}

class Rows {
  constructor(options, grid, scroller, spacer, layer) {
    Object.assign(this, { options, node: grid, scroller, spacer, layer });
    this.head = [];
    this.total = 0;
    this.first = 0;
    this.selected = -1;
    this.lastTop = 0;
    this.pages = new Map();
    this.drawn = new Map();
    this.frame = 0;
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    grid.addEventListener("keydown", (event) => this.pressed(event));
    layer.addEventListener("focusin", (event) => this.entered(event));
    layer.addEventListener("focusout", () => setTimeout(() => this.exited()));
    layer.addEventListener("click", (event) => this.clicked(event));
    this.observer = new ResizeObserver(() => requestAnimationFrame(() => this.isClosed || this.resize()));
    this.observer.observe(scroller);
    this.resized = () => this.resize();
    window.addEventListener("resize", this.resized);
  }

  /** Shows other rows from the newest on. `rows` are the first ones. */
  reset(rows, total, keep = false) {
    for (const page of this.pages.values()) page.abort?.abort();
    this.pages.clear();
    this.redraw = true;
    this.head = [];
    this.total = total;
    if (rows.length > 0) for (let at = 0; at < rows.length; at += PAGE) this.pages.set(at / PAGE, { rows: rows.slice(at, at + PAGE) });
    if (!keep) {
      this.first = 0;
      this.selected = -1;
    }
    this.resize();
    this.sync();
  }

  /** Adds rows in front, newest first. The rows in sight stay unless the list is at its top. */
  prepend(rows) {
    this.head.unshift(...rows);
    if (this.first > 0.5) this.first += rows.length;
    if (this.selected >= 0) this.selected += rows.length;
    this.drawn = new Map([...this.drawn].map(([position, node]) => [position + rows.length, placed(node, position + rows.length)]));
    this.resize();
    this.sync();
  }

  /** All rows. */
  get count() { return this.head.length + this.total; }

  /** Rows that fit. */
  get fits() { return Math.max(1, this.scroller.clientHeight / this.row); }

  get isAtTop() { return this.first < 0.5; }

  resize() {
    const row = parseFloat(getComputedStyle(this.node).getPropertyValue("--row")) || 40;
    if (row !== this.row) this.redraw = true;
    this.row = row;
    // The list ends with a whole row, where the window ends.
    const above = this.scroller.getBoundingClientRect().top + window.scrollY;
    const rows = Math.max(Math.ceil(MIN_HEIGHT / row), Math.floor((window.innerHeight - above - 24) / row));
    this.scroller.style.setProperty("height", `${rows * row}px`);
    this.node.style.setProperty("--bar", `${this.scroller.offsetWidth - this.scroller.clientWidth}px`);
    this.height = Math.min(MAX_HEIGHT, this.count * this.row);
    this.spacer.style.setProperty("height", `${Math.max(this.height, 1)}px`);
    this.layer.style.setProperty("height", `${this.scroller.clientHeight}px`);
    this.node.setAttribute("aria-rowcount", String(this.count + 1));
    this.first = Math.min(this.first, Math.max(0, this.count - this.fits));
    this.later();
  }

  /** Puts the scroll bar where the first row is. */
  sync() {
    const room = Math.max(0, this.height - this.scroller.clientHeight);
    const last = Math.max(0, this.count - this.fits);
    const top = last === 0 ? 0 : Math.round((this.first / last) * room);
    if (Math.abs(top - this.scroller.scrollTop) > 0.5) this.scroller.scrollTop = top;
    this.lastTop = this.scroller.scrollTop;
    this.later();
  }

  scrolled() {
    const top = this.scroller.scrollTop;
    const delta = top - this.lastTop;
    if (delta === 0) return;
    this.lastTop = top;
    const room = Math.max(1, this.height - this.scroller.clientHeight);
    const last = Math.max(0, this.count - this.fits);
    const isMapped = this.count * this.row > MAX_HEIGHT;
    if (!isMapped) this.first = top / this.row;
    else if (Math.abs(delta) < this.scroller.clientHeight) this.first += delta / this.row;
    else this.first = (top / room) * last;
    this.first = Math.max(0, Math.min(last, this.first));
    // At an end of the scroll bar, the list goes on if it has more rows.
    if (isMapped && ((top <= 0 && this.first > 0) || (top >= room && this.first < last))) this.sync();
    this.later();
    this.options.moved?.(this.isAtTop);
  }

  later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** The row at a position, or undefined if it was not fetched. */
  at(position) {
    if (position < this.head.length) return this.head[position];
    const index = position - this.head.length;
    return this.pages.get(Math.floor(index / PAGE))?.rows?.[index % PAGE];
  }

  draw() {
    const from = Math.max(0, Math.floor(this.first) - 2);
    const to = Math.min(this.count, Math.ceil(this.first + this.fits) + 2);
    const hasFocus = this.layer.contains(document.activeElement);
    const link = hasFocus ? this.links(document.activeElement.closest(".feed-row")).indexOf(document.activeElement) : -1;
    const wanted = new Set();
    for (let position = from; position < to; position += 1) wanted.add(position);
    if (hasFocus && this.selected >= 0 && this.selected < this.count) wanted.add(this.selected);
    if (this.redraw) this.layer.replaceChildren();
    if (this.redraw) this.drawn.clear();
    this.redraw = false;
    for (const [position, node] of this.drawn) {
      if (wanted.has(position) && node.isWhole === (this.at(position) !== undefined)) continue;
      node.remove();
      this.drawn.delete(position);
    }
    const active = this.selected >= 0 ? this.selected : Math.min(Math.round(this.first), this.count - 1);
    for (const position of wanted) {
      let node = this.drawn.get(position);
      if (!node) {
        node = this.rowNode(position);
        // The rows are read in the order in which they are seen.
        const later = [...this.drawn.keys()].filter((other) => other > position);
        this.layer.insertBefore(node, this.drawn.get(Math.min(...later)) ?? null);
        this.drawn.set(position, node);
      }
      node.style.setProperty("transform", `translateY(${((position - this.first) * this.row).toFixed(1)}px)`);
      node.setAttribute("aria-selected", String(position === this.selected));
      node.tabIndex = position === active ? 0 : -1;
    }
    if (hasFocus && !this.layer.contains(document.activeElement)) this.focusAgain(link);
    this.need(from, to);
  }

  /** Gives the focus to the row, or the link, that was drawn again. Without a chosen row, it is that of the list. */
  focusAgain(link) {
    const node = this.drawn.get(this.selected);
    (this.links(node)[link] ?? node ?? this.node).focus({ preventScroll: true });
  }

  /** The links and buttons of a row. */
  links(node) {
    return [...(node?.querySelectorAll("a, button") ?? [])];
  }

  rowNode(position) {
    const row = this.at(position);
    const node = el("div", { class: "feed-row", attrs: { role: "row" } },
      row ? this.options.draw(row, position) : el("span", { class: "skeleton", attrs: { role: "gridcell", "aria-label": "Loading" } }));
    node.isWhole = row !== undefined;
    for (const link of this.links(node)) link.tabIndex = -1;
    return placed(node, position);
  }

  /** Fetches what is in sight and is not there. */
  need(from, to) {
    const first = Math.floor(Math.max(0, from - this.head.length) / PAGE);
    const last = Math.floor(Math.max(0, to - 1 - this.head.length) / PAGE);
    for (const [index, page] of this.pages) {
      if (page.abort && (index < first || index > last)) {
        page.abort.abort();
        this.pages.delete(index);
      }
    }
    clearTimeout(this.timer);
    const missing = [];
    for (let index = first; index <= last && index * PAGE < this.total; index += 1) if (!this.pages.has(index)) missing.push(index);
    if (missing.length > 0) this.timer = setTimeout(() => missing.forEach((index) => this.fetch(index)), PATIENCE);
  }

  async fetch(index) {
    if (this.pages.has(index)) return;
    const page = { abort: new AbortController() };
    this.pages.set(index, page);
    try {
      const rows = await this.options.fetch(index * PAGE, PAGE, page.abort.signal);
      if (this.pages.get(index) !== page) return;
      this.pages.set(index, { rows });
      this.forget(index);
      this.later();
    } catch (error) {
      if (this.pages.get(index) !== page) return;
      this.pages.delete(index);
      if (error?.name !== "AbortError") this.options.failed(error);
    }
  }

  /** Forgets the pages that are farthest from a page. */
  forget(index) {
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - index) - Math.abs(a - index));
    for (const other of far.slice(0, Math.max(0, far.length - PAGES))) this.pages.delete(other);
  }

  /** Shows a row as the first one. */
  goTo(first) {
    this.first = first;
    this.resize();
    this.sync();
  }

  /** Chooses a row, and gives it the focus. */
  focusAt(position) {
    if (this.count === 0) return;
    this.selected = Math.max(0, Math.min(this.count - 1, position));
    if (this.selected < this.first) this.first = this.selected;
    if (this.selected > this.first + this.fits - 1) this.first = this.selected - this.fits + 1;
    this.sync();
    this.draw();
    this.drawn.get(this.selected)?.focus({ preventScroll: true });
  }

  entered(event) {
    this.selected = Number(event.target.closest(".feed-row")?.dataset.position ?? -1);
    this.later();
  }

  exited() {
    if (this.isClosed || this.selected < 0 || this.node.contains(document.activeElement)) return;
    this.selected = -1;
    this.later();
    this.options.left?.();
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target.closest(".feed-row[data-position]");
    const isLink = row !== null && event.target !== row;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: Math.floor(this.fits), PageUp: -Math.floor(this.fits) };
    if (event.key in steps) this.focusAt(this.selected < 0 ? Math.round(this.first) : this.selected + steps[event.key]);
    else if (event.key === "Home") this.focusAt(0);
    else if (event.key === "End") this.focusAt(this.count - 1);
    else if (event.key === "ArrowRight") this.focusLink(row, event.target, 1);
    else if (event.key === "ArrowLeft") this.focusLink(row, event.target, -1);
    else if (event.key === "Enter" && !isLink && this.at(this.selected)) this.options.open(this.at(this.selected));
    else if (event.key === "Escape" && isLink) row.focus({ preventScroll: true });
    else return;
    event.preventDefault();
  }

  /** Moves the focus among the links of a row. Before the first of them is the row itself. */
  focusLink(row, target, step) {
    const links = this.links(row);
    const index = links.indexOf(target) + step;
    if (index >= links.length) return;
    (links[index] ?? row)?.focus({ preventScroll: true });
  }

  clicked(event) {
    const node = event.target.closest(".feed-row");
    if (!node || event.target.closest("a, button") || String(getSelection()) !== "") return;
    this.selected = Number(node.dataset.position);
    this.later();
    const row = this.at(this.selected);
    if (row) this.options.open(row);
  }

  /** Ends requests. */
  close() {
    this.isClosed = true;
    this.observer.disconnect();
    window.removeEventListener("resize", this.resized);
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    for (const page of this.pages.values()) page.abort?.abort();
  }
}

/** The node of a row with its position. */
function placed(node, position) {
  node.dataset.position = position;
  node.setAttribute("aria-rowindex", String(position + 2));
  return node;
}
