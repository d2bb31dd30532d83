// The rules of Sudoku for the page: boards as text and arrays, candidates, clashes, dead ends.
//
// A board is an Int8Array of N * N digits, row by row, 0 for a blank. Placements are numbered as in
// the Python package: cell * N + digit - 1. Works in browsers and in Node; each file of this folder
// adds to the one global name SudokuGym.
"use strict";

(() => {
  const SYMBOLS = ".123456789ABCDEFG";
  const VALUES = new Map([...SYMBOLS].flatMap((symbol, digit) => [
    [symbol, digit], [symbol.toLowerCase(), digit],
  ])).set("0", 0);
  const SEPARATORS = new Set(" \t\r\n|+-,;");
  const SIZES = [4, 6, 8, 9, 10, 12, 14, 15, 16];

  /** The units of a board with boxes of `height` x `width` cells. */
  class Geometry {
    constructor(height, width) {
      const size = height * width;
      this.height = height;
      this.width = width;
      this.size = size;
      this.name = `${size}x${size}`;
      const lines = [...Array(size).keys()];
      const cells = [...Array(size * size).keys()];
      const boxOf = (cell) =>
        Math.floor(cell / size / height) * height + Math.floor((cell % size) / width);
      /** The cells of all rows, then of all columns, then of all boxes. */
      this.units = [
        ...lines.map((row) => cells.filter((cell) => Math.floor(cell / size) === row)),
        ...lines.map((column) => cells.filter((cell) => cell % size === column)),
        ...lines.map((box) => cells.filter((cell) => boxOf(cell) === box)),
      ];
      /** The three units of each cell: its row, its column, its box. */
      this.unitsOf = cells.map((cell) => [
        Math.floor(cell / size), size + (cell % size), 2 * size + boxOf(cell),
      ]);
    }

    /** The board of N digits whose boxes are as near to square as can be, no higher than wide. */
    static standard(size) {
      if (!SIZES.includes(size)) {
        throw new Error(`this page plays boards of ${SIZES.join(", ")} digits, not of ${size}`);
      }
      let height = Math.floor(Math.sqrt(size));
      while (size % height) height--;
      return new Geometry(height, size / height);
    }

    place(cell) {
      return `row ${Math.floor(cell / this.size) + 1}, column ${(cell % this.size) + 1}`;
    }

    unitName(unit) {
      const kind = ["row", "column", "box"][Math.floor(unit / this.size)];
      return `${kind} ${(unit % this.size) + 1}`;
    }
  }

  /** Read a board from text, as a line or as a drawn grid; throws an Error in plain words. */
  function parse(text) {
    const symbols = [...text].filter((symbol) => !SEPARATORS.has(symbol));
    const size = Math.sqrt(symbols.length);
    if (!SIZES.includes(size)) {
      const counts = SIZES.map((each) => each * each).join(", ");
      throw new Error(
        `That is ${symbols.length} cells. Give a board of as many as one of these: ${counts}; ` +
        "row by row, with 0 or . for a blank.",
      );
    }
    const geometry = Geometry.standard(size);
    const board = Int8Array.from(symbols, (symbol, cell) => {
      const digit = VALUES.get(symbol);
      if (digit === undefined || digit > size) {
        throw new Error(
          `“${symbol}” at ${geometry.place(cell)} is no digit of a ${geometry.name} board: ` +
          `use 1 to ${SYMBOLS[size]}, and 0 or . for a blank.`,
        );
      }
      return digit;
    });
    return { board, geometry };
  }

  function toLine(board) {
    return Array.from(board, (digit) => SYMBOLS[digit]).join("");
  }

  /** Which placements are legal: Uint8Array [N ** 3]. Filled cells have none. */
  function candidates(board, geometry) {
    const { size, units, unitsOf } = geometry;
    const used = units.map((cells) => {
      const digits = new Uint8Array(size + 1);
      for (const cell of cells) digits[board[cell]] = 1;
      return digits;
    });
    const mask = new Uint8Array(size ** 3);
    for (let cell = 0; cell < board.length; cell++) {
      if (board[cell]) continue;
      for (let digit = 1; digit <= size; digit++) {
        const taken = unitsOf[cell].some((unit) => used[unit][digit]);
        mask[cell * size + digit - 1] = taken ? 0 : 1;
      }
    }
    return mask;
  }

  /** The digits that stand twice in a unit: { unit, digit, cells } each. */
  function clashes(board, geometry) {
    const found = [];
    geometry.units.forEach((cells, unit) => {
      for (let digit = 1; digit <= geometry.size; digit++) {
        const places = cells.filter((cell) => board[cell] === digit);
        if (places.length > 1) found.push({ unit, digit, cells: places });
      }
    });
    return found;
  }

  /**
   * Why no move can save a board, or null: { text, cells }.
   *
   * Either a blank cell has no digit left, or a digit has no place left in a unit.
   */
  function deadEnd(board, geometry, mask) {
    const { size, units } = geometry;
    for (let cell = 0; cell < board.length; cell++) {
      const first = cell * size;
      if (!board[cell] && !mask.subarray(first, first + size).includes(1)) {
        return { text: `No digit is left for ${geometry.place(cell)}`, cells: [cell] };
      }
    }
    for (let unit = 0; unit < units.length; unit++) {
      const blanks = units[unit].filter((cell) => !board[cell]);
      for (let digit = 1; digit <= size; digit++) {
        const hasPlace =
          blanks.some((cell) => mask[cell * size + digit - 1]) ||
          units[unit].some((cell) => board[cell] === digit);
        if (!hasPlace) {
          const where = geometry.unitName(unit);
          return { text: `No place is left for ${SYMBOLS[digit]} in ${where}`, cells: blanks };
        }
      }
    }
    return null;
  }

  globalThis.SudokuGym = {
    ...globalThis.SudokuGym, SYMBOLS, Geometry, parse, toLine, candidates, clashes, deadEnd,
  };
})();
