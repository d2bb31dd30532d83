// Prints the units of a variant's 9x9 board, then what the page finds wrong on boards: two a line on
// standard input, the givens and the board.
"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const scripts = join(__dirname, "..", "..", "docs", "javascripts");
for (const name of ["rules", "solver"]) require(join(scripts, `${name}.js`));
const { VARIANTS, checkDigits, parse } = globalThis.SudokuGym;
const variant = process.argv[2];

console.log(JSON.stringify(VARIANTS[variant].of(9).units));
for (const line of readFileSync(0, "utf-8").trim().split("\n")) {
  if (!line) continue;
  const [start, board] = line.split(" ").map((text) => parse(text, variant));
  const checked = checkDigits(start.board, board.board, start.geometry);
  console.log(JSON.stringify(checked));
}
