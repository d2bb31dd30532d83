// Plays puzzles, one a line on standard input, with the network of the docs; prints one game a line
// as JSON: for each move its action, its logit, and the logits of the thought it took (null where it
// was planned), its start, and whether the thought had converged. Arguments are the number of restarts and
// the variant, if they are not the page's own.
"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const scripts = join(__dirname, "..", "..", "docs", "javascripts");
const names = ["rules", "graph", "network", "policy", "weights"];
for (const name of names) require(join(scripts, `${name}.js`));
const { Network, Policy, candidates, parse } = globalThis.SudokuGym;
const network = new Network(globalThis.SudokuGymWeights);
const restarts = Number(process.argv[2] ?? network.settings.restarts);
const variant = process.argv[3] ?? "standard";

for (const line of readFileSync(0, "utf-8").trim().split("\n")) {
  const { board, geometry } = parse(line, variant);
  const policy = new Policy(network, geometry, restarts);
  const game = [];
  for (;;) {
    const mask = candidates(board, geometry);
    if (!mask.includes(1)) break;
    let thought = null;
    let move = policy.planned(board, mask);
    if (move === null) {
      thought = policy.think(board, mask);
      while (!thought.isDone) thought.advance();
      move = policy.decide(board, thought);
    }
    game.push({
      ...move,
      rounds: thought?.rounds ?? 0,
      start: thought?.start ?? 0,
      hasConverged: thought?.hasConverged ?? true,
      logits: thought && Array.from(thought.logits),
    });
    board[Math.floor(move.action / geometry.size)] = (move.action % geometry.size) + 1;
  }
  console.log(JSON.stringify(game));
}
