// How the network of network.js plays a game: which of its placements it makes, and when it thinks again.
"use strict";

(() => {
  const { Thought } = globalThis.SudokuGym;

  /**
   * Plays one game with the network: it thinks once, plays whatever it is sure of, the surest first,
   * and only then thinks again.
   */
  class Policy {
    constructor(network, geometry, restarts = 0) {
      this.network = network;
      this.geometry = geometry;
      this.restarts = restarts;
      this.hasGuessed = false; // a board of this game has not converged; later ones get one start
      this.#forget();
    }

    /** Return the planned move on a board, or null where it takes a thought. */
    planned(board, mask) {
      if (this.expected === null || board.some((digit, cell) => digit !== this.expected[cell])) {
        this.#forget(); // the board is not as this policy left it
      }
      let best = null;
      for (const move of this.plan) {
        const isBetter = best === null || move.logit > best.logit;
        if (isBetter && mask[move.action]) best = move;
      }
      return best && this.#expect(board, best);
    }

    think(board, mask) {
      const restarts = this.hasGuessed ? 0 : this.restarts;
      return new Thought(this.network, board, this.geometry, mask, restarts);
    }

    /**
     * Return the move that a thought which is done comes to, and plan the others it is sure of:
     * none if it has not converged.
     */
    decide(board, thought) {
      const { placements, logits } = thought;
      const { size } = this.geometry;
      const bestOfCell = new Map();
      let best = null;
      this.hasGuessed ||= !thought.hasConverged;
      placements.forEach((action, p) => {
        const move = { action, logit: logits[p] };
        const cell = Math.floor(action / size);
        if (best === null || move.logit > best.logit) best = move;
        const rival = bestOfCell.get(cell);
        const isSure = thought.hasConverged && move.logit > this.network.settings.threshold;
        if (isSure && !(rival?.logit >= move.logit)) {
          bestOfCell.set(cell, move);
        }
      });
      this.plan = [...bestOfCell.values()];
      return this.#expect(board, best);
    }

    #expect(board, move) {
      this.expected = Int8Array.from(board);
      this.expected[Math.floor(move.action / this.geometry.size)] =
        (move.action % this.geometry.size) + 1;
      return move;
    }

    #forget() {
      this.expected = null;
      this.plan = [];
    }
  }

  globalThis.SudokuGym = { ...globalThis.SudokuGym, Policy };
})();
