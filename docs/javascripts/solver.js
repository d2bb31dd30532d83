// A solver for the page: it tells a person which digits are right. The network never asks it.
"use strict";

(() => {
  const { clashes } = globalThis.SudokuGym;
  const MAX_CELLS_READ = 2e7;

  const DEAD = null; // what a state comes to in which a cell has no digit, or a digit no place

  const isOne = (mask) => (mask & (mask - 1)) === 0;

  /**
   * Search for up to `limit` solutions: { solutions, isComplete }.
   *
   * Depth first, after naked and hidden singles, at a cell or a digit of a unit with two choices
   * where there is one. A state is an Int32Array of masks: bit d - 1 of a cell stands for digit d.
   * `isComplete` says whether there are no others, or as many as were asked for. It is false where
   * the search was stopped after reading 20 million cells: a count, not a clock, so that the answer
   * is the same on every machine. The page does not move meanwhile.
   */
  function solve(board, geometry, limit = 2) {
    const { size, units, unitsOf } = geometry;
    const solutions = [];
    let budget = MAX_CELLS_READ;

    /** Leave one digit to a cell, and take it from all that see it, and so on; false where it can't. */
    function place(masks, cell, bit) {
      masks[cell] = bit;
      for (const unit of unitsOf[cell]) {
        budget -= size;
        for (const other of units[unit]) {
          if (other === cell || !(masks[other] & bit)) continue;
          const left = masks[other] & ~bit;
          if (!left) return false;
          masks[other] = left;
          if (isOne(left) && !place(masks, other, left)) return false;
        }
      }
      return true;
    }

    /** Place all hidden singles. Returns the two places of a digit in a unit, [] or DEAD. */
    function propagate(masks) {
      let pair = [];
      for (let index = 0, unread = units.length; unread > 0; unread--) {
        const cells = units[index];
        index = (index + 1) % units.length;
        budget -= size;
        let [once, twice, more] = [0, 0, 0];
        for (const cell of cells) {
          more |= twice & masks[cell];
          twice |= once & masks[cell];
          once |= masks[cell];
        }
        if (once !== 2 ** size - 1) return DEAD;
        const singles = cells.filter((cell) => masks[cell] & ~twice && !isOne(masks[cell]));
        for (const cell of singles) {
          const hidden = masks[cell] & ~twice;
          if (!hidden || !isOne(hidden) || !place(masks, cell, hidden)) return DEAD;
        }
        const two = twice & ~more;
        if (singles.length) {
          unread = units.length + 1; // all of them again
          pair = [];
        } else if (!pair.length && two) {
          const bit = two & -two;
          pair = cells.filter((cell) => masks[cell] & bit).map((cell) => [cell, bit]);
        }
      }
      return pair;
    }

    /** The choices to try: those of a cell with two digits, else `pair`, else the fewest of a cell. */
    function choicesOf(masks, pair) {
      let [best, fewest] = [-1, Infinity];
      for (let cell = 0; cell < masks.length && fewest > 2; cell++) {
        let count = 0;
        for (let left = masks[cell]; left; left &= left - 1) count++;
        if (count > 1 && count < fewest) [best, fewest] = [cell, count];
      }
      if (fewest > 2 && pair.length) return pair;
      const choices = [];
      for (let left = best < 0 ? 0 : masks[best]; left; left &= left - 1) {
        choices.push([best, left & -left]);
      }
      return choices;
    }

    function search(masks) {
      const pair = propagate(masks);
      if (pair === DEAD || budget < 0) return;
      const choices = choicesOf(masks, pair);
      if (!choices.length) {
        solutions.push(Int8Array.from(masks, (bit) => 32 - Math.clz32(bit)));
        return;
      }
      for (const [cell, bit] of choices) {
        if (solutions.length >= limit || budget < 0) return;
        const next = masks.slice();
        if (place(next, cell, bit)) search(next);
      }
    }

    if (!clashes(board, geometry).length) {
      const masks = new Int32Array(board.length).fill(2 ** size - 1);
      const isPossible = [...board.entries()].every(([cell, digit]) => {
        const bit = 1 << (digit - 1);
        return !digit || (masks[cell] & bit && place(masks, cell, bit));
      });
      if (isPossible) search(masks);
    }
    return { solutions, isComplete: budget >= 0 || solutions.length >= limit };
  }

  /**
   * What is wrong on a board: { wrong, verdict }, the cells in which a person's digit is wrong.
   *
   * `start` holds the givens alone. The verdict is "right" or "wrong" where the puzzle has one
   * solution; "open" where it has several and the board can still be finished, "lost" where it can't;
   * "none" where the puzzle has no solution, "unknown" where the search was stopped.
   */
  function checkDigits(start, board, geometry) {
    const { solutions, isComplete } = solve(start, geometry, 2);
    if (!isComplete) return { wrong: [], verdict: "unknown" };
    if (!solutions.length) return { wrong: [], verdict: "none" };
    if (solutions.length === 1) {
      const wrong = [...board.keys()].filter((cell) => board[cell] && board[cell] !== solutions[0][cell]);
      return { wrong, verdict: wrong.length ? "wrong" : "right" };
    }
    const rest = solve(board, geometry, 1);
    if (rest.solutions.length) return { wrong: [], verdict: "open" };
    return { wrong: [], verdict: rest.isComplete ? "lost" : "unknown" };
  }

  globalThis.SudokuGym = { ...globalThis.SudokuGym, solve, checkDigits };
})();
