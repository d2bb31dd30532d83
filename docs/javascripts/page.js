// The board on the page play.md: the reader edits it, the network plays it.
"use strict";

(() => {
  const {
    SYMBOLS, Geometry, Network, Policy, candidates, clashes, deadEnd, parse, toLine,
  } = globalThis.SudokuGym;

  // Each is told by its size, its name if it has one, its givens, and the technique that it takes.
  const EXAMPLES = [
    ["4x4: 4 givens, naked singles", ".1.....24......3"],
    ["6x6: 10 givens, naked singles", "6.......2..6.31....2..4......1.5.4.."],
    ["9x9: easy, 36 givens, naked singles",
      "27...546.......8.73..478...5.684..7.4.3...6.2.2..965.8...513..66.5.......396...15"],
    ["9x9: Inkala 2012, 21 givens, search",
      "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."],
    ["9x9: AI Escargot, 23 givens, search",
      "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3.."],
    ["9x9: 24 givens, search",
      "..4936..5....1.4.8......96...3....7..1..4.8........1....7.6....4....8...8..1.76.."],
    ["9x9: 23 givens, search",
      ".....37...1...94..982......1..3.........9..6..25.7........5.64.4..2....5..3....1."],
    ["16x16: 121 givens, hidden singles",
      "5.8...4....A.39B....98..5.6..D.2DF6.C23...E...1..92.1BA.3..G..C." +
      "....4E.C13.972DA4ADG5.6...87....CE.BF9.3..5.1G.....2BA7...DF.E.." +
      "E..9348...C.....3817.F.B6......E..4F25...D13.B.G..AD..E1F......." +
      ".2..7..94.....F....6.C2E7.F...G3.D5..6.4...E9AB..7.4GD..893..5.C"],
    ["9x9: empty, type your own", ".".repeat(81)],
  ];
  const FIRST = 3;

  // How long a round of a thought and a move are shown, in ms; with `budget`, as many rounds are run
  // between two pictures as fit into that time.
  const PACES = {
    slow: { round: 100, move: 900, budget: 0 },
    steady: { round: 0, move: 220, budget: 0 },
    fast: { round: 0, move: 30, budget: 14 },
  };

  const chanceOf = (logit) => 1 / (1 + Math.exp(-logit));
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Percent, but never 100 or 0: the network is not certain of anything. */
  function percent(chance) {
    if (chance > 0.9999) return "over 99.99 %";
    return `${(100 * chance).toFixed(chance > 0.99 ? 2 : 0)} %`;
  }

  /** A game: the board with its givens, what was played, and what the network makes of it. */
  class Game {
    constructor(network, board, geometry, restarts) {
      this.network = network;
      this.geometry = geometry;
      this.restarts = restarts;
      this.start = Int8Array.from(board);
      this.restart();
    }

    restart() {
      this.board = Int8Array.from(this.start);
      this.givens = Uint8Array.from(this.start, (digit) => (digit ? 1 : 0));
      this.policy = new Policy(this.network, this.geometry, this.restarts);
      this.past = [];
      this.bars = [];
      this.time = { ms: 0, rounds: 0 };
      this.chances = new Float64Array(this.geometry.size ** 3).fill(-1);
      this.#changed(null);
    }

    /** Put a digit of the reader's into a cell, or 0. */
    edit(cell, digit) {
      if (this.board[cell] === digit) return;
      this.#remember();
      this.board[cell] = digit;
      this.givens[cell] = digit ? 1 : 0;
      this.chances.fill(-1); // what it thought of the other board
      this.#changed(null);
    }

    back() {
      const before = this.past.pop();
      if (before) {
        Object.assign(this, before);
        this.#changed(before.latest);
      }
    }

    /** Go one step: a round of a thought, or a move. Return the move once it is made, else null. */
    step() {
      let move = this.thought ? null : this.policy.planned(this.board, this.mask);
      const isPlanned = move !== null;
      if (!isPlanned) {
        if (!this.thought) {
          this.thought = this.policy.think(this.board, this.mask);
          this.bars.push(0);
        }
        if (!this.thought.isDone) {
          this.#think();
          return null;
        }
        move = this.policy.decide(this.board, this.thought);
      }
      const thought = isPlanned ? null : this.thought;
      this.#remember();
      const cell = Math.floor(move.action / this.geometry.size);
      const digit = (move.action % this.geometry.size) + 1;
      this.board[cell] = digit;
      this.#changed(cell);
      return { cell, digit, chance: chanceOf(move.logit), thought };
    }

    get isOver() {
      return this.isSolved || this.clashes.length > 0 || this.deadEnd !== null;
    }

    get blanks() {
      return this.board.filter((digit) => !digit).length;
    }

    /** How many blanks the network would fill without another thought. */
    get sure() {
      const { size } = this.geometry;
      const least = chanceOf(this.network.settings.threshold);
      return this.board.reduce((count, digit, cell) => {
        const chances = this.chances.subarray(cell * size, (cell + 1) * size);
        return count + (!digit && chances.some((chance) => chance > least) ? 1 : 0);
      }, 0);
    }

    #think() {
      const began = performance.now();
      this.thought.advance();
      this.time.ms += performance.now() - began;
      this.time.rounds++;
      this.bars[this.bars.length - 1] = this.thought.rounds;
      const { placements, logits } = this.thought;
      placements.forEach((action, p) => { this.chances[action] = chanceOf(logits[p]); });
    }

    #remember() {
      const { board, givens, chances, latest, bars } = this;
      const copy = (array) => array.slice();
      this.past.push({
        board: copy(board), givens: copy(givens), chances: copy(chances), bars: copy(bars), latest,
      });
    }

    #changed(latest) {
      this.latest = latest;
      this.thought = null;
      this.mask = candidates(this.board, this.geometry);
      this.clashes = clashes(this.board, this.geometry);
      const isFull = this.blanks === 0;
      this.isSolved = isFull && !this.clashes.length;
      const isOpen = !isFull && !this.clashes.length;
      this.deadEnd = isOpen ? deadEnd(this.board, this.geometry, this.mask) : null;
    }
  }

  /** The board as a grid of cells that the keyboard reaches. */
  class BoardView {
    constructor(element, onEdit) {
      this.element = element;
      this.onEdit = onEdit;
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
      const { size, height, width } = geometry;
      this.geometry = geometry;
      this.focused = Math.min(this.focused, size * size - 1);
      const set = (name, value) => this.element.style.setProperty(name, value);
      set("--size", size);
      set("--height", height);
      set("--width", width);
      this.cells = Array.from({ length: size * size }, (_, cell) => {
        const element = document.createElement("div");
        const [row, column] = [Math.floor(cell / size), cell % size];
        element.setAttribute("role", "gridcell");
        element.tabIndex = cell === this.focused ? 0 : -1;
        element.className = "play-cell";
        element.classList.toggle("is-last-column", column === size - 1);
        element.classList.toggle("is-last-row", row === size - 1);
        element.classList.toggle("is-box-right", column % width === width - 1 && column < size - 1);
        element.classList.toggle("is-box-bottom", row % height === height - 1 && row < size - 1);
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

    paint(game) {
      const wrong = new Set(game.clashes.flatMap((clash) => clash.cells));
      game.deadEnd?.cells.forEach((cell) => wrong.add(cell));
      this.cells.forEach((element, cell) => {
        const digit = game.board[cell];
        const is = {
          "is-given": game.givens[cell] === 1,
          "is-latest": cell === game.latest,
          "is-wrong": wrong.has(cell),
        };
        const key = `${digit} ${Object.values(is)}`;
        if (this.keys[cell] !== key) {
          this.keys[cell] = key;
          for (const [name, holds] of Object.entries(is)) element.classList.toggle(name, holds);
          const what = digit ? `${SYMBOLS[digit]}${game.givens[cell] ? ", given" : ""}` : "blank";
          element.setAttribute("aria-label", `${this.geometry.place(cell)}: ${what}`);
        }
        if (digit) this.#showDigit(cell, digit);
        else this.#showCandidates(cell, game);
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

    #showCandidates(cell, { mask, chances }) {
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
        const level = mask[action] ? Math.round(50 * chances[action]) : -100;
        if (spot.level === level) return;
        spot.level = level;
        const { style, classList } = spot.element;
        style.visibility = level === -100 ? "hidden" : "visible";
        style.setProperty("--chance", Math.max(level, 0) / 50);
        classList.toggle("is-faint", level >= 0 && level < 10);
        classList.toggle("is-strong", level > 27);
      });
    }

    #focus(cell, move) {
      this.cells[this.focused].tabIndex = -1;
      this.focused = cell;
      this.cells[cell].tabIndex = 0;
      if (move) this.cells[cell].focus({ preventScroll: true });
    }

    #onKey(event) {
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

  /** All of the page: the buttons, the examples, the words and figures beside the board. */
  class Page {
    constructor(root, network) {
      this.network = network;
      this.find = (selector) => root.querySelector(selector);
      this.status = this.find(".play-status");
      this.run = null; // the run in progress; a new object for each
      this.view = new BoardView(this.find(".play-board"), (cell, digit) => this.edit(cell, digit));
      const actions = {
        play: () => this.toggle(),
        step: () => this.go(1),
        back: () => this.change(() => this.game.back()),
        restart: () => this.change(() => this.game.restart()),
      };
      for (const button of root.querySelectorAll("[data-do]")) {
        button.addEventListener("click", actions[button.dataset.do]);
      }
      const select = this.find("[data-examples]");
      EXAMPLES.forEach(([name], index) => select.add(new Option(name, index)));
      select.add(new Option("your own", -1, false, false));
      select.lastChild.hidden = true;
      select.addEventListener("change", () => this.load(EXAMPLES[select.value][1]));
      select.value = FIRST;
      this.find("[data-restarts]").addEventListener("change", () => {
        this.load(toLine(this.game.start)); // a game keeps the number that it began with
      });
      this.find("form").addEventListener("submit", (event) => {
        event.preventDefault();
        if (this.load(this.find("#play-line").value)) select.value = -1;
      });
      this.load(EXAMPLES[FIRST][1]);
    }

    /** Show a board; return whether the text is one. */
    load(text) {
      const error = this.find(".play-error");
      error.textContent = "";
      let puzzle;
      try {
        puzzle = parse(text);
      } catch (problem) {
        error.textContent = problem.message;
        return false;
      }
      this.run = null;
      this.game = new Game(
        this.network, puzzle.board, puzzle.geometry, Number(this.find("[data-restarts]").value),
      );
      this.find("#play-line").value = toLine(puzzle.board);
      this.view.lay(puzzle.geometry);
      this.#layPad(puzzle.geometry);
      this.words = null;
      this.paint();
      return true;
    }

    edit(cell, digit) {
      this.game.edit(cell, digit); // a run goes on with the new board
      this.find(".play-error").textContent = "";
      this.find("[data-examples]").value = -1;
      this.find("#play-line").value = toLine(this.game.board);
      this.words = null;
      this.paint();
    }

    change(how) {
      this.run = null;
      how();
      this.words = null;
      this.paint();
    }

    toggle() {
      if (!this.run) {
        this.go(Infinity);
        return;
      }
      this.run = null;
      this.paint();
    }

    /** Play so many moves, or until the game is over or another run begins. */
    async go(moves) {
      const run = {};
      this.run = run;
      while (moves > 0 && this.run === run && !this.game.isOver) {
        const pace = PACES[this.find("[data-pace]").value];
        const until = performance.now() + pace.budget;
        let move;
        do move = this.game.step(); while (!move && performance.now() < until);
        if (move) {
          moves--;
          this.words = this.#describe(move);
        }
        this.paint();
        await (move ? pause(moves ? pace.move : 0) : pace.round ? pause(pace.round) : nextFrame());
      }
      if (this.run === run) {
        this.run = null;
        this.paint();
      }
    }

    paint() {
      const { game } = this;
      this.view.paint(game);
      this.#paintStatus();
      const { isOver } = game;
      const disable = (name, is) => { this.find(`[data-do=${name}]`).disabled = is; };
      disable("play", isOver);
      disable("step", isOver || this.run !== null);
      disable("back", !game.past.length);
      disable("restart", !game.past.length && !game.bars.length);
      this.find("[data-do=play]").textContent = this.run ? "Pause" : "Play";
      const figure = (name, text) => { this.find(`[data-figure=${name}]`).textContent = text; };
      figure("blanks", game.blanks);
      figure("sure", game.sure);
      figure("thoughts", game.bars.length);
      figure("rounds", game.bars.reduce((sum, rounds) => sum + rounds, 0));
      figure("time", game.time.rounds ? (game.time.ms / game.time.rounds).toFixed(1) : "–");
      this.#paintBars();
    }

    #describe({ cell, digit, chance, thought }) {
      const { geometry } = this.game;
      const move = `${SYMBOLS[digit]} at ${geometry.place(cell)}`;
      const sure = `${percent(chance)} sure.`;
      if (!thought) return `${move}, as planned: ${sure}`;
      const starts = thought.start ? ` in ${plural(thought.start + 1, "start")}` : "";
      const why = `after ${plural(thought.rounds, "round")} of thought${starts}`;
      if (!thought.hasConverged) return `${move}, ${why} that did not converge, a guess: ${sure}`;
      const lost = thought.hopelessCell === null ? "" :
        ` It finds no digit for ${geometry.place(thought.hopelessCell)}: it holds the board for lost.`;
      return `${move}, ${why}, converged: ${sure}${lost}`;
    }

    #paintStatus() {
      const { game } = this;
      const limit = this.network.settings.rounds;
      let [text, kind] = [this.words, ""];
      if (game.isSolved) {
        const played = game.board.length - game.givens.reduce((sum, is) => sum + is, 0);
        const total = game.bars.reduce((sum, rounds) => sum + rounds, 0);
        const thoughts = `${plural(game.bars.length, "thought")} of ${plural(total, "round")}`;
        text = `Solved: ${plural(played, "move")}, ${thoughts} in all.`;
        kind = "is-solved";
      } else if (game.clashes.length) {
        const { unit, digit } = game.clashes[0];
        const where = game.geometry.unitName(unit);
        text = `${SYMBOLS[digit]} stands twice in ${where}. Change one of them to go on.`;
        kind = "is-bad";
      } else if (game.deadEnd) {
        const isItsOwn = game.board.some((value, cell) => value && !game.givens[cell]);
        text = `${game.deadEnd.text}: a dead end. ` + (isItsOwn
          ? "A digit on the board is wrong, and the network never takes one back."
          : "These givens have no solution.");
        kind = "is-bad";
      } else if (game.thought) {
        const { roundsOfStart, start, restarts } = game.thought;
        const which = start ? ` of start ${start + 1} of ${restarts + 1}` : "";
        text = `Thinking: round ${roundsOfStart}${which} of at most ${limit}, sure of ${game.sure} of ` +
          `${plural(game.blanks, "blank")}.`;
      } else if (!text) {
        text = `${plural(game.blanks, "blank")} to fill. Press Play, or Step for one move.`;
      }
      if (this.status.textContent !== text) this.status.textContent = text;
      this.status.className = `play-status ${kind}`;
    }

    #paintBars() {
      const { bars } = this.game;
      const element = this.find(".play-bars");
      const limit = this.network.settings.rounds;
      while (element.children.length > bars.length) element.lastChild.remove();
      while (element.children.length < bars.length) {
        element.append(document.createElement("div"));
      }
      bars.forEach((rounds, index) => {
        const bar = element.children[index];
        bar.style.height = `${Math.min(100, Math.max(2, (100 * rounds) / limit))}%`;
        bar.title = plural(rounds, "round");
        bar.classList.toggle("is-open", index === bars.length - 1 && this.game.thought !== null);
      });
      element.setAttribute("aria-label", bars.length ? bars.join(", ") : "none yet");
    }

    #layPad({ size }) {
      const button = (text, digit, name) => {
        const element = document.createElement("button");
        element.type = "button";
        element.textContent = text;
        element.setAttribute("aria-label", name);
        element.addEventListener("click", () => this.edit(this.view.focused, digit));
        return element;
      };
      this.find(".play-pad").replaceChildren(
        ...Array.from({ length: size }, (_, index) =>
          button(SYMBOLS[index + 1], index + 1, `put ${SYMBOLS[index + 1]}`)),
        button("⌫", 0, "empty the cell"),
      );
    }
  }

  new Page(document.getElementById("play"), new Network(globalThis.SudokuGymWeights));
})();
