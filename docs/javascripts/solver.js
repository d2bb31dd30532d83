// A solver for the page: it tells a person which digits are right. The network never asks it.
"use strict";

(() => {
  const { candidates, clashes } = globalThis.SudokuGym;
  const MAX_NODES = 20000;
  const MAX_MILLISECONDS = 400;

  /**
   * Search for up to `limit` solutions: { solutions, isComplete }.
   *
   * Depth first, at the cell or the place in a unit with the fewest choices. `isComplete` says
   * whether there are no others, or as many as were asked for; it is false after 20,000 boards,
   * or after `maxMilliseconds`, in which the page does not move.
   */
  function solve(board, geometry, limit = 2, maxMilliseconds = MAX_MILLISECONDS) {
    const solutions = [];
    const end = performance.now() + maxMilliseconds;
    let nodes = 0;
    const search = (state) => {
      if (performance.now() > end) nodes = MAX_NODES;
      if (++nodes > MAX_NODES) return;
      const choices = fewestChoices(state, geometry);
      if (choices === null) {
        solutions.push(state);
        return;
      }
      for (const [cell, digit] of choices) {
        if (solutions.length >= limit || nodes > MAX_NODES) return;
        const next = state.slice();
        next[cell] = digit;
        search(next);
      }
    };
    if (!clashes(board, geometry).length) search(Int8Array.from(board));
    return { solutions, isComplete: nodes <= MAX_NODES || solutions.length >= limit };
  }

  /** The fewest placements of which one must hold, as [cell, digit] each; null on a full board. */
  function fewestChoices(board, geometry) {
    const { size, units } = geometry;
    const mask = candidates(board, geometry);
    let best = null;
    const keep = (choices) => {
      if (best === null || choices.length < best.length) best = choices;
    };
    for (let cell = 0; cell < board.length; cell++) {
      if (board[cell]) continue;
      const choices = [];
      for (let digit = 1; digit <= size; digit++) {
        if (mask[cell * size + digit - 1]) choices.push([cell, digit]);
      }
      keep(choices);
      if (choices.length < 2) return choices;
    }
    if (best === null) return null;
    for (const cells of units) {
      for (let digit = 1; digit <= size; digit++) {
        if (cells.some((cell) => board[cell] === digit)) continue;
        const places = cells.filter((cell) => mask[cell * size + digit - 1]);
        keep(places.map((cell) => [cell, digit]));
        if (best.length < 2) return best;
      }
    }
    return best;
  }

  /**
   * What is wrong on a board: { wrong, verdict }, the cells in which a person's digit is wrong.
   *
   * `start` holds the givens alone. The verdict is "right" or "wrong" where the puzzle has one
   * solution; "open" where it has several and the board can still be finished, "lost" where it can't;
   * "none" where the puzzle has no solution, "unknown" where the search gave up: it has
   * `maxMilliseconds`, as `solve`.
   */
  function checkDigits(start, board, geometry, maxMilliseconds = MAX_MILLISECONDS) {
    const { solutions, isComplete } = solve(start, geometry, 2, maxMilliseconds);
    if (!isComplete) return { wrong: [], verdict: "unknown" };
    if (!solutions.length) return { wrong: [], verdict: "none" };
    if (solutions.length === 1) {
      const wrong = [...board.keys()].filter((cell) => board[cell] && board[cell] !== solutions[0][cell]);
      return { wrong, verdict: wrong.length ? "wrong" : "right" };
    }
    const rest = solve(board, geometry, 1, maxMilliseconds);
    if (rest.solutions.length) return { wrong: [], verdict: "open" };
    return { wrong: [], verdict: rest.isComplete ? "lost" : "unknown" };
  }

  globalThis.SudokuGym = { ...globalThis.SudokuGym, solve, checkDigits };
})();
