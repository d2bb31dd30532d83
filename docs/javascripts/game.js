// A game on the page: the board, who put each digit there, and what the network makes of it.
"use strict";

(() => {
  const { Policy, candidates, clashes, deadEnd } = globalThis.SudokuGym;

  /** Who put a digit into a cell. */
  const OWNER = { nobody: 0, puzzle: 1, network: 2, reader: 3 };
  const chanceOf = (logit) => 1 / (1 + Math.exp(-logit));

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
      this.owners = Uint8Array.from(this.start, (digit) => (digit ? OWNER.puzzle : OWNER.nobody));
      this.policy = new Policy(this.network, this.geometry, this.restarts);
      this.past = [];
      this.bars = [];
      this.time = { ms: 0, rounds: 0 };
      this.chances = new Float64Array(this.geometry.size ** 3).fill(-1);
      this.#changed(null);
    }

    /**
     * Put a digit into a cell, or 0, as the puzzle's or the reader's; return whether it was done.
     * A reader can't change what the puzzle gives.
     */
    edit(cell, digit, owner) {
      if (this.board[cell] === digit) return false;
      if (owner === OWNER.reader && this.owners[cell] === OWNER.puzzle) return false;
      this.#remember();
      this.board[cell] = digit;
      this.owners[cell] = digit ? owner : OWNER.nobody;
      this.chances.fill(-1); // what it thought of the other board
      this.#changed(null);
      return true;
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
      this.owners[cell] = OWNER.network;
      this.#changed(cell);
      return { cell, digit, chance: chanceOf(move.logit), thought };
    }

    /** The digits that the puzzle gives, on an empty board. */
    get givens() {
      return this.board.map((digit, cell) => (this.owners[cell] === OWNER.puzzle ? digit : 0));
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
      const { board, owners, chances, latest, bars } = this;
      const copy = (array) => array.slice();
      this.past.push({
        board: copy(board), owners: copy(owners), chances: copy(chances), bars: copy(bars), latest,
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

  /** The network's side of a race: it plays a board of its own, at most one digit in so many ms. */
  class Opponent {
    constructor(game, interval, now) {
      this.game = game;
      this.interval = interval;
      this.next = now + interval;
    }

    /** Let it think and play until `now() >= until`, as far as its pace allows. */
    advance(now, until) {
      while (now() < until && now() >= this.next && !this.game.isOver) {
        if (this.game.step()) this.next = now() + this.interval;
      }
    }
  }

  globalThis.SudokuGym = { ...globalThis.SudokuGym, OWNER, Game, Opponent };
})();
