// The page play.md: a reader watches the network play, plays, or races it.
"use strict";

(() => {
  const {
    EXAMPLES, OWNER, SYMBOLS, VARIANTS, BoardView, Game, Network, Opponent, SmallBoard,
    checkDigits, clock, describe, findSingle, layPad, paintBars, parse, percent, plural, statusOf, toLine, verdictText,
  } = globalThis.SudokuGym;

  const FIRST = 3;

  // How long a round of a thought and a move are shown, in ms; with `budget`, as many rounds are run
  // between two pictures as fit into that time. After `patience` rounds there is always a budget.
  const FRAME = 14;
  const PACES = {
    slow: { round: 100, move: 900, budget: 0, patience: Infinity },
    steady: { round: 0, move: 220, budget: 0, patience: 64 },
    fast: { round: 0, move: 30, budget: FRAME, patience: 0 },
  };
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const now = () => performance.now();

  /** All of the page: the buttons, the examples, the words and figures beside the board. */
  class Page {
    constructor(root, network) {
      this.root = root;
      this.network = network;
      this.find = (selector) => root.querySelector(selector);
      this.status = this.find(".play-status");
      this.run = null; // the run in progress; a new object for each
      this.mode = "watch";
      this.view = new BoardView(
        this.find(".play-board"),
        (cell, digit) => this.edit(cell, digit),
        () => this.change(() => this.game.back()),
      );
      this.small = new SmallBoard(this.find(".play-small"));
      this.#listen();
      this.#listExamples();
      const restarts = this.find("[data-restarts]");
      restarts.value = network.settings.restarts;
      restarts.addEventListener("change", () => this.reload()); // a game keeps those it began with
      this.load(EXAMPLES[FIRST][2], "standard");
    }

    #listen() {
      const actions = {
        play: () => this.toggle(),
        step: () => this.go(1),
        stop: () => this.stopThinking(),
        hint: () => this.hint(),
        check: () => this.check(),
        race: () => this.race(),
        back: () => this.change(() => this.game.back()),
        restart: () => this.restart(),
      };
      for (const button of this.root.querySelectorAll("[data-do]")) {
        button.addEventListener("click", actions[button.dataset.do]);
      }
      for (const button of this.root.querySelectorAll("[data-mode]")) {
        button.addEventListener("click", () => this.setMode(button.dataset.mode));
      }
      this.find("[data-marks]").addEventListener("change", () => this.paint());
      this.find("form").addEventListener("submit", (event) => {
        event.preventDefault();
        const variant = this.find("[data-variant]").value;
        if (this.load(this.find("#play-line").value, variant)) this.find("[data-examples]").value = -1;
      });
    }

    #listExamples() {
      const select = this.find("[data-examples]");
      const groups = { Standard: (variant) => variant === "standard",
        Variants: (variant) => variant !== "standard" };
      for (const [label, belongs] of Object.entries(groups)) {
        const group = document.createElement("optgroup");
        group.label = label;
        EXAMPLES.forEach(([variant, name], index) => {
          if (belongs(variant)) group.append(new Option(name, index));
        });
        select.append(group);
      }
      select.add(new Option("your own", -1, false, false));
      select.lastChild.hidden = true;
      select.addEventListener("change", () => {
        const [variant, , line] = EXAMPLES[select.value];
        this.load(line, variant);
      });
      select.value = FIRST;
      const variants = this.find("[data-variant]");
      for (const [name, { title }] of Object.entries(VARIANTS)) variants.add(new Option(title, name));
      variants.addEventListener("change", () => {
        if (this.load(toLine(this.game.start), variants.value)) select.value = -1;
        else variants.value = this.variant;
      });
    }

    /** Show a board; return whether the text is one. */
    load(text, variant) {
      const error = this.find(".play-error");
      error.textContent = "";
      let puzzle;
      try {
        puzzle = parse(text, variant);
      } catch (problem) {
        error.textContent = problem.message;
        return false;
      }
      this.variant = variant;
      this.run = null;
      this.game = this.#newGame(puzzle.board, puzzle.geometry);
      this.find("#play-line").value = toLine(puzzle.board);
      this.find("[data-variant]").value = variant;
      this.view.lay(puzzle.geometry);
      layPad(this.find(".play-pad"), puzzle.geometry.size, (digit) => this.edit(this.view.focused, digit));
      this.#begin();
      return true;
    }

    reload() {
      this.load(toLine(this.game.start), this.variant);
    }

    #newGame(board, geometry) {
      return new Game(this.network, board, geometry, Number(this.find("[data-restarts]").value));
    }

    /** Forget what was said of a board, and begin to count. */
    #begin() {
      this.opponent = null;
      this.hints = 0;
      this.began = null; // when the reader began to play
      this.ended = null;
      this.#forget();
      this.paint();
    }

    #forget() {
      this.words = null;
      this.kind = "";
      this.wrong = [];
      this.hinted = null;
    }

    restart() {
      this.run = null;
      this.game.restart();
      this.#begin();
    }

    /** Watch the network, play, or race it; the board stays, but a race begins at the start. */
    setMode(mode) {
      this.run = null;
      this.mode = mode;
      if (mode === "race") this.game.restart();
      this.#begin();
    }

    edit(cell, digit) {
      const { mode } = this;
      const owner = mode === "watch" ? OWNER.puzzle : OWNER.reader;
      if (mode === "race" && !this.opponent) this.race();
      if (!this.game.edit(cell, digit, owner)) return; // a run goes on with the new board
      this.#forget();
      this.find(".play-error").textContent = "";
      if (mode === "watch") {
        this.find("[data-examples]").value = -1;
        this.find("#play-line").value = toLine(this.game.board);
      } else {
        if (mode === "play") this.run = null; // a hint that is looked for is one of the old board
        this.began ??= now();
        if (this.game.isSolved) this.ended = now();
      }
      this.paint();
    }

    change(how) {
      if (this.mode !== "race") this.run = null;
      how();
      if (!this.game.isSolved) this.ended = null;
      this.#forget();
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
        const isLong = this.game.thought?.rounds >= pace.patience;
        const until = now() + (isLong ? FRAME : pace.budget);
        let move;
        do move = this.game.step(); while (!move && now() < until);
        if (move) {
          moves--;
          this.words = describe(this.game, move);
          if (move.thought?.isStopped) moves = 0;
        }
        this.paint();
        await (move ? pause(moves ? pace.move : 0) : pace.round ? pause(pace.round) : nextFrame());
      }
      if (this.run === run) {
        this.run = null;
        this.paint();
      }
    }

    /** End the rounds of a thought where they are: the network plays its best guess, and pauses. */
    stopThinking() {
      if (!this.game.thought) return;
      this.game.thought.isStopped = true;
      if (!this.run) this.go(1);
    }

    /** Show a placement that can be found, and why; asked again, put it on the board. */
    async hint() {
      if (this.hinted !== null) {
        const { cell, digit } = this.hinted;
        this.edit(cell, digit);
        return;
      }
      const { game } = this;
      this.hints++;
      this.began ??= now();
      const { wrong, verdict } = checkDigits(game.givens, game.board, game.geometry);
      const single = findSingle(game.board, game.geometry, game.mask);
      if (wrong.length) {
        this.#say(`First: ${verdictText(verdict, wrong.length)} Check shows where.`, "is-bad");
      } else if (single) {
        const { cell, digit, why } = single;
        this.#offer({ cell, digit }, `${SYMBOLS[digit]} at ${game.geometry.place(cell)}: ${why}.`);
      } else {
        await this.#askTheNetwork();
      }
    }

    async #askTheNetwork() {
      const run = {};
      this.run = run;
      const { game } = this;
      const { geometry } = game;
      const asked = this.#newGame(game.board, geometry);
      let move = null;
      while (!move && this.run === run) {
        const until = now() + FRAME;
        while (!move && now() < until) move = asked.step();
        this.status.textContent = "No single is left; the network is asked: " +
          `${plural(asked.bars[0], "round")}.`;
        await nextFrame();
      }
      if (this.run !== run) return;
      this.run = null;
      const { cell, digit, chance, thought } = move;
      const how = thought.hasConverged
        ? `the network puts it there, ${percent(chance)} sure`
        : "a guess of the network, which has not converged";
      const place = geometry.place(cell);
      this.#offer({ cell, digit }, `${SYMBOLS[digit]} at ${place}: no single is left; ${how}.`);
    }

    #offer(placement, text) {
      this.#say(`${text} Press Hint again to put it there.`);
      this.hinted = placement;
      this.paint();
    }

    /** Say which digits of the reader are wrong. */
    check() {
      const { game } = this;
      const { wrong, verdict } = checkDigits(game.givens, game.board, game.geometry);
      const text = verdictText(verdict, wrong.length);
      this.#say(text, ["wrong", "lost", "none"].includes(verdict) ? "is-bad" : "");
      this.wrong = wrong;
      this.paint();
    }

    #say(text, kind = "") {
      this.#forget();
      this.words = text;
      this.kind = kind;
      this.paint();
    }

    /** Begin a race, from the start of the puzzle; the network has a board of its own. */
    async race() {
      const run = {};
      this.run = run;
      this.game.restart();
      this.#begin();
      this.began = now();
      const interval = 1000 * Number(this.find("[data-interval]").value);
      const { start, geometry } = this.game;
      const opponent = new Opponent(this.#newGame(start, geometry), interval, now());
      this.opponent = opponent;
      while (this.run === run && !this.game.isSolved) {
        opponent.advance(now, now() + FRAME);
        if (opponent.game.isOver) opponent.ended ??= now();
        this.paint();
        await nextFrame();
      }
      if (this.run !== run) return;
      this.run = null;
      this.paint();
    }

    paint() {
      const { game, mode } = this;
      const marks = this.find("[data-marks]").checked ? "all" : "none";
      const hinted = this.hinted?.cell ?? null;
      this.view.paint(game, {
        candidates: mode === "watch" ? "chances" : marks, wrong: this.wrong, hinted,
      });
      for (const element of this.root.querySelectorAll("[data-in]")) {
        element.hidden = !element.dataset.in.split(" ").includes(mode);
      }
      for (const button of this.root.querySelectorAll("[data-mode]")) {
        button.setAttribute("aria-pressed", button.dataset.mode === mode);
      }
      this.#paintStatus();
      this.#paintButtons();
      this.#paintFigures();
      if (mode === "race") this.#paintRace();
      else paintBars(this.find(".play-bars"), game, this.network.settings.rounds);
    }

    #paintButtons() {
      const { game } = this;
      const { isOver } = game;
      const disable = (name, is) => { this.find(`[data-do=${name}]`).disabled = is; };
      disable("play", isOver);
      disable("step", isOver || this.run !== null);
      disable("stop", !game.thought || game.thought.rounds === 0);
      disable("hint", isOver || this.run !== null);
      disable("check", game.isSolved || game.clashes.length > 0);
      disable("back", !game.past.length);
      disable("restart", !game.past.length && !game.bars.length);
      this.find("[data-do=play]").textContent = this.run ? "Pause" : "Play";
      this.find("[data-do=race]").textContent = this.opponent ? "Start again" : "Start the race";
    }

    #paintFigures() {
      const { game } = this;
      const figure = (name, text) => { this.find(`[data-figure=${name}]`).textContent = text; };
      figure("blanks", game.blanks);
      figure("sure", game.sure);
      figure("thoughts", game.bars.length);
      figure("rounds", game.bars.reduce((sum, rounds) => sum + rounds, 0));
      figure("time", game.time.rounds ? (game.time.ms / game.time.rounds).toFixed(1) : "–");
      figure("open", game.blanks);
      figure("hints", this.hints);
    }

    #paintStatus() {
      const [text, kind] = statusOf(this);
      if (this.status.textContent !== text) this.status.textContent = text;
      this.status.className = `play-status ${kind}`;
    }

    /** Show how far both are; the network's digits are hidden until the reader is done, or it is. */
    #paintRace() {
      const other = this.opponent?.game ?? this.game;
      const all = this.game.start.filter((digit) => !digit).length;
      const share = ({ blanks }) => (all ? 1 - blanks / all : 1);
      this.find("[data-share=reader]").value = share(this.game);
      this.find("[data-share=network]").value = this.opponent ? share(other) : 0;
      const since = this.began === null ? 0 : (this.ended ?? now()) - this.began;
      this.find("[data-figure=clock]").textContent = clock(since);
      this.small.paint(other, this.opponent !== null && this.game.isSolved);
      this.find(".play-small").hidden = this.opponent === null;
    }
  }

  new Page(document.getElementById("play"), new Network(globalThis.SudokuGymWeights));
})();
