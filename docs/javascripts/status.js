// What the page says of a game, in words.
"use strict";

(() => {
  const { OWNER, SYMBOLS } = globalThis.SudokuGym;

  // Most boards that converge do so in fewer rounds; docs/results/browser-network.json says how many take.
  const USUAL_ROUNDS = 256;

  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  /** Percent, but never 100 or 0: the network is not certain of anything. */
  function percent(chance) {
    if (chance > 0.9999) return "over 99.99 %";
    return `${(100 * chance).toFixed(chance > 0.99 ? 2 : 0)} %`;
  }

  function clock(ms) {
    const seconds = Math.floor(ms / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  /** A move of the network, and what came before it. */
  function describe({ geometry }, { cell, digit, chance, thought }) {
    const move = `${SYMBOLS[digit]} at ${geometry.place(cell)}`;
    const sure = `${percent(chance)} sure.`;
    if (!thought) return `${move}, as planned: ${sure}`;
    const starts = thought.start ? ` in ${plural(thought.start + 1, "start")}` : "";
    const why = `after ${plural(thought.rounds, "round")} of thought${starts}`;
    const end = thought.isStopped ? "were stopped" : "did not converge";
    if (!thought.hasConverged) return `${move}, ${why} that ${end}, a guess: ${sure}`;
    const lost = thought.hopelessCell === null ? "" :
      ` It finds no digit for ${geometry.place(thought.hopelessCell)}: it holds the board for lost.`;
    return `${move}, ${why}, converged: ${sure}${lost}`;
  }

  /** The line beside the board of a page, and the class of its colour. */
  function statusOf(page) {
    const { game, words, kind } = page;
    if (game.isSolved) return [solvedText(page), "is-solved"];
    if (game.clashes.length) {
      const { unit, digit } = game.clashes[0];
      const where = game.geometry.unitNames[unit];
      return [`${SYMBOLS[digit]} stands twice in ${where}. Change one of them to go on.`, "is-bad"];
    }
    if (game.deadEnd) return [deadEndText(page), "is-bad"];
    if (game.thought) return thoughtText(page);
    return words ? [words, kind] : [openText(page), ""];
  }

  function openText(page) {
    const blanks = `${plural(page.game.blanks, "blank")} to fill.`;
    if (page.mode === "watch") return `${blanks} Press Play, or Step for one move.`;
    if (page.mode === "play") {
      return `${blanks} Choose a cell and type a digit, or press one below the board.`;
    }
    if (!page.opponent) return `${blanks} The race begins with Start, or with your first digit.`;
    return `${blanks} ${opponentText(page)}`;
  }

  function opponentText({ opponent: { game, ended }, began }) {
    if (game.isSolved) return `The network was first, after ${clock(ended - began)}.`;
    if (game.deadEnd) return "The network is in a dead end: finish, and you have won.";
    const left = `The network has ${plural(game.blanks, "blank")} left`;
    const isSlow = game.thought?.rounds >= USUAL_ROUNDS;
    return isSlow ? `${left}, and has not converged yet.` : `${left}.`;
  }

  function solvedText({ game, mode, hints, opponent, began, ended }) {
    const count = (holds) => game.owners.filter(holds).length;
    if (mode === "watch" || !count((owner) => owner === OWNER.reader)) {
      const played = count((owner) => owner !== OWNER.puzzle);
      const total = game.bars.reduce((sum, rounds) => sum + rounds, 0);
      const thoughts = `${plural(game.bars.length, "thought")} of ${plural(total, "round")}`;
      return `Solved: ${plural(played, "move")}, ${thoughts} in all.`;
    }
    const solved = `Solved in ${clock(ended - began)}`;
    if (!opponent) return `${solved}, with ${plural(hints, "hint")}.`;
    if (opponent.game.isSolved) {
      return `${solved}; the network was first, after ${clock(opponent.ended - began)}.`;
    }
    return `${solved}: you have won. The network had ${plural(opponent.game.blanks, "blank")} left.`;
  }

  function deadEndText({ game, mode }) {
    if (!game.owners.some((owner) => owner > OWNER.puzzle)) {
      return `${game.deadEnd.text}: a dead end. These givens have no solution.`;
    }
    const takesBack = mode === "watch"
      ? "and the network never takes one back" : "so take some back; Check says which";
    return `${game.deadEnd.text}: a dead end. A digit on the board is wrong, ${takesBack}.`;
  }

  /** How far a thought is; said to be long where most boards had converged by now. */
  function thoughtText({ game, network }) {
    const { roundsOfStart, rounds, start, restarts } = game.thought;
    const which = start ? ` of start ${start + 1} of ${restarts + 1}` : "";
    const limit = network.settings.rounds;
    const text = `Thinking: round ${roundsOfStart}${which} of at most ${limit}, sure of ${game.sure} ` +
      `of ${plural(game.blanks, "blank")}.`;
    if (rounds < USUAL_ROUNDS) return [text, ""];
    const next = start < restarts ? "it starts again" : "it guesses";
    return [`${text} It has not converged, as most boards would have by now. After the last round ` +
      `${next}; Stop takes its guess now.`, "is-slow"];
  }

  function verdictText(verdict, count) {
    return {
      right: "All digits are right so far.",
      wrong: `${plural(count, "digit")} on the board ${count === 1 ? "is" : "are"} wrong.`,
      open: "The puzzle has several solutions, and the board can still be finished.",
      lost: "The puzzle has several solutions, and none has all of these digits.",
      none: "The givens have no solution.",
      unknown: "The solver of this page gave up on this board: it can't tell.",
    }[verdict];
  }

  globalThis.SudokuGym = {
    ...globalThis.SudokuGym, clock, describe, percent, plural, statusOf, verdictText,
  };
})();
