// The board of the page as a grid of cells, and the small one of the network in a race.
"use strict";

(() => {
  const { OWNER, SYMBOLS } = globalThis.SudokuGym;

  /** The board as a grid of cells that the keyboard reaches. */
  class BoardView {
    constructor(element, onEdit, onUndo) {
      this.element = element;
      this.onEdit = onEdit;
      this.onUndo = onUndo;
      this.focused = 0;
      element.addEventListener("keydown", (event) => this.#onKey(event));
      element.addEventListener("focusin", (event) => {
        const cell = this.cells.indexOf(event.target);
        if (cell >= 0) this.#focus(cell, false);
      });
      element.addEventListener("pointerdown", (event) => {
        const cell = this.cells.indexOf(event.target.closest(".play-cell"));
        if (cell >= 0) this.#focus(cell, true);
        event.preventDefault();
      });
      new ResizeObserver(() => this.#fit()).observe(element);
    }

    lay(geometry) {
      const { size, regions } = geometry;
      this.geometry = geometry;
      this.focused = Math.min(this.focused, size * size - 1);
      const set = (name, value) => this.element.style.setProperty(name, value);
      set("--size", size);
      set("--height", geometry.height);
      set("--width", geometry.width);
      this.cells = Array.from({ length: size * size }, (_, cell) => {
        const element = document.createElement("div");
        const [row, column] = [Math.floor(cell / size), cell % size];
        element.setAttribute("role", "gridcell");
        element.tabIndex = cell === this.focused ? 0 : -1;
        element.className = "play-cell";
        element.classList.toggle("is-last-column", column === size - 1);
        element.classList.toggle("is-last-row", row === size - 1);
        const differs = (other) => regions[cell] !== regions[other];
        element.classList.toggle("is-box-right", column < size - 1 && differs(cell + 1));
        element.classList.toggle("is-box-bottom", row < size - 1 && differs(cell + size));
        element.classList.toggle("is-extra", geometry.isExtra[cell] === 1);
        return element;
      });
      const rows = Array.from({ length: size }, (_, row) => {
        const element = document.createElement("div");
        element.setAttribute("role", "row");
        element.style.display = "contents";
        element.append(...this.cells.slice(row * size, (row + 1) * size));
        return element;
      });
      this.keys = []; // what each cell looks like, so that few are touched
      this.shown = new Array(size * size).fill(null); // its digit, or the spots of its candidates
      this.element.replaceChildren(...rows);
      this.#fit();
    }

    /**
     * Show a game; `wrong` and `hinted` are cells to mark. `candidates` are those to show: "none",
     * "all" (what the rules allow) or "chances" (what the network makes of them too).
     */
    paint(game, { candidates, wrong: found = [], hinted = null }) {
      const wrong = new Set([...found, ...game.clashes.flatMap((clash) => clash.cells)]);
      game.deadEnd?.cells.forEach((cell) => wrong.add(cell));
      this.cells.forEach((element, cell) => {
        const digit = game.board[cell];
        const is = {
          "is-given": game.owners[cell] === OWNER.puzzle,
          "is-own": game.owners[cell] === OWNER.reader,
          "is-latest": cell === game.latest || cell === hinted,
          "is-wrong": wrong.has(cell),
        };
        const key = `${digit} ${Object.values(is)}`;
        if (this.keys[cell] !== key) {
          this.keys[cell] = key;
          for (const [name, holds] of Object.entries(is)) element.classList.toggle(name, holds);
          const given = is["is-given"] ? ", given" : "";
          const what = digit ? `${SYMBOLS[digit]}${given}` : "blank";
          element.setAttribute("aria-label", `${this.geometry.place(cell)}: ${what}`);
        }
        if (digit) this.#showDigit(cell, digit);
        else this.#showCandidates(cell, game, candidates);
      });
    }

    /** Tell the style sheet how wide a cell is, for the size of its digits. */
    #fit() {
      const side = this.element.clientWidth / this.geometry.size;
      this.element.style.setProperty("--cell", `${side}px`);
    }

    #showDigit(cell, digit) {
      if (this.shown[cell] === digit) return;
      const element = document.createElement("span");
      element.className = "play-digit";
      element.textContent = SYMBOLS[digit];
      this.cells[cell].replaceChildren(element);
      this.shown[cell] = digit;
    }

    #showCandidates(cell, { mask, chances }, which) {
      const { size } = this.geometry;
      if (!Array.isArray(this.shown[cell])) {
        const all = document.createElement("div");
        all.className = "play-candidates";
        all.setAttribute("aria-hidden", "true");
        this.shown[cell] = Array.from({ length: size }, (_, index) => {
          const element = document.createElement("span");
          element.textContent = SYMBOLS[index + 1];
          all.append(element);
          return { element, level: null };
        });
        this.cells[cell].replaceChildren(all);
      }
      this.shown[cell].forEach((spot, index) => {
        const action = cell * size + index;
        // In steps of 2 %, so that most digits need no painting in most rounds.
        const chance = which === "chances" ? chances[action] : -1;
        const level = mask[action] && which !== "none" ? Math.round(50 * chance) : -100;
        if (spot.level === level) return;
        spot.level = level;
        const { style, classList } = spot.element;
        style.visibility = level === -100 ? "hidden" : "visible";
        style.setProperty("--chance", Math.max(level, 0) / 50);
        classList.toggle("is-faint", level >= 0 && level < 10);
        classList.toggle("is-strong", level > 42);
      });
    }

    #focus(cell, move) {
      this.cells[this.focused].tabIndex = -1;
      this.focused = cell;
      this.cells[cell].tabIndex = 0;
      if (move) this.cells[cell].focus({ preventScroll: true });
    }

    #onKey(event) {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
        event.preventDefault();
        this.onUndo();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { size } = this.geometry;
      const [row, column] = [Math.floor(this.focused / size), this.focused % size];
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const step = steps[event.key];
      const digit = ["Backspace", "Delete", " ", "0", "."].includes(event.key)
        ? 0 : SYMBOLS.indexOf(event.key.toUpperCase(), 1);
      if (step) {
        const to = [(row + step[0] + size) % size, (column + step[1] + size) % size];
        this.#focus(to[0] * size + to[1], true);
      } else if (event.key.length === 1 || digit === 0) {
        if (digit < 0 || digit > size) return;
        this.onEdit(this.focused, digit);
      } else {
        return;
      }
      event.preventDefault();
    }
  }

  /** The network's board in a race: which cells it has filled, and with what once that may be seen. */
  class SmallBoard {
    constructor(element) {
      this.element = element;
    }

    paint({ board, owners, geometry: { size } }, showsDigits) {
      this.element.style.setProperty("--size", size);
      while (this.element.children.length > board.length) this.element.lastChild.remove();
      while (this.element.children.length < board.length) {
        this.element.append(document.createElement("span"));
      }
      board.forEach((digit, cell) => {
        const element = this.element.children[cell];
        element.classList.toggle("is-given", owners[cell] === OWNER.puzzle);
        element.classList.toggle("is-filled", owners[cell] === OWNER.network);
        element.textContent = showsDigits && digit ? SYMBOLS[digit] : "";
      });
    }
  }

  /** Lay a button for each digit into an element, and one that empties a cell. */
  function layPad(element, size, onDigit) {
    const button = (text, digit, name) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.setAttribute("aria-label", name);
      made.addEventListener("click", () => onDigit(digit));
      return made;
    };
    element.replaceChildren(
      ...Array.from({ length: size }, (_, index) =>
        button(SYMBOLS[index + 1], index + 1, `put ${SYMBOLS[index + 1]}`)),
      button("⌫", 0, "empty the cell"),
    );
  }

  /** Draw a bar for each thought of a game, as high as its rounds are of `limit`. */
  function paintBars(element, { bars, thought }, limit) {
    while (element.children.length > bars.length) element.lastChild.remove();
    while (element.children.length < bars.length) element.append(document.createElement("div"));
    bars.forEach((rounds, index) => {
      const bar = element.children[index];
      bar.style.height = `${Math.min(100, Math.max(2, (100 * rounds) / limit))}%`;
      bar.title = `${rounds} round${rounds === 1 ? "" : "s"}`;
      bar.classList.toggle("is-open", index === bars.length - 1 && thought !== null);
    });
    element.setAttribute("aria-label", bars.length ? bars.join(", ") : "none yet");
  }

  globalThis.SudokuGym = { ...globalThis.SudokuGym, BoardView, SmallBoard, layPad, paintBars };
})();
