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
  // The region of each cell of the jigsaw with seed 0, as in the Python package.
  const JIGSAW_REGIONS = "000122222030111222030111152330015555366665888366445588336644588737674448777777448";

  const range = (count) => [...Array(count).keys()];

  /**
   * The units of a board: rows, columns, regions (boxes), further ones.
   *
   * `units` lists the cells of each, `unitsOf` the units of each cell; `regions` holds the region of
   * each cell, all 0 where there are none; `extras` are `{ kind, cells }` each. `height` and `width`
   * lay the candidates of a cell. `crossingsOf` holds for each cell the pairs of its units that share
   * more than one cell, but not all: the positions of both in `unitsOf`, and a number for the pair.
   */
  class Geometry {
    constructor(name, regions, regionKind, extras = []) {
      const size = Math.sqrt(regions.length);
      const cells = range(size * size);
      const members = (number) => cells.filter((cell) => regions[cell] === number);
      const hasRegions = regions.some((region) => region !== 0);
      this.name = name;
      this.size = size;
      this.regions = regions;
      this.height = boxHeight(size);
      this.width = size / this.height;
      const lines = range(size);
      const unit = (kind) => (own, index) => ({ kind: `${kind} ${index + 1}`, own });
      const all = [
        ...lines.map((row) => cells.filter((cell) => Math.floor(cell / size) === row)).map(unit("row")),
        ...lines.map((column) => cells.filter((cell) => cell % size === column)).map(unit("column")),
        ...(hasRegions ? lines.map(members).map(unit(regionKind)) : []),
        ...extras.map(({ kind, cells: own }) => ({ kind, own })),
      ];
      this.units = all.map(({ own }) => own);
      this.unitNames = all.map(({ kind }) => kind);
      this.unitsOf = cells.map((cell) =>
        this.units.flatMap((own, index) => (own.includes(cell) ? [index] : [])));
      this.isExtra = Uint8Array.from(cells, (cell) =>
        (extras.some(({ cells: own }) => own.includes(cell)) ? 1 : 0));
      this.crossingsOf = crossings(this);
    }

    /** The board of N digits whose boxes are as near to square as can be, no higher than wide. */
    static standard(size) {
      return new Geometry(`${size}x${size}`, boxes(size), "box");
    }

    place(cell) {
      return `row ${Math.floor(cell / this.size) + 1}, column ${(cell % this.size) + 1}`;
    }
  }

  /** What beside the standard board can be played, and how each is made for N digits. */
  const VARIANTS = {
    standard: { title: "Standard", of: Geometry.standard },
    x: {
      title: "Sudoku-X: both diagonals too",
      of: (size) => new Geometry(`Sudoku-X ${size}x${size}`, boxes(size), "box", [
        { kind: "the diagonal from the top left", cells: range(size).map((i) => i * size + i) },
        { kind: "the diagonal from the top right",
          cells: range(size).map((i) => i * size + size - 1 - i) },
      ]),
    },
    windows: {
      title: "Windows: four more boxes",
      of: (size) => {
        const block = Math.sqrt(size);
        if (!Number.isInteger(block)) throw new Error("Windows need 4, 9 or 16 digits.");
        const starts = range(block - 1).map((i) => 1 + (block + 1) * i);
        const corners = starts.flatMap((row) => starts.map((column) => row * size + column));
        const inside = range(block).flatMap((row) => range(block).map((column) => row * size + column));
        return new Geometry(`Windows ${size}x${size}`, boxes(size), "box", corners.map(
          (corner, index) => ({
            kind: `window ${index + 1}`, cells: inside.map((cell) => corner + cell),
          })));
      },
    },
    jigsaw: {
      title: "Jigsaw: regions in place of boxes",
      of: (size) => {
        if (size !== 9) throw new Error("The jigsaw of this page has 9 digits.");
        return new Geometry("Jigsaw 9x9", [...JIGSAW_REGIONS].map(Number), "region");
      },
    },
    latin: {
      title: "Latin square: rows and columns alone",
      of: (size) => new Geometry(`Latin square ${size}x${size}`, Array(size * size).fill(0), ""),
    },
  };

  function crossings({ size, units, unitsOf }) {
    const sets = units.map((cells) => new Set(cells));
    const shared = new Map();
    const count = (key, a, b) => {
      if (!shared.has(key)) shared.set(key, units[a].filter((cell) => sets[b].has(cell)).length);
      return shared.get(key);
    };
    return unitsOf.map((own) => own.flatMap((a, i) => own.slice(i + 1).flatMap((b, j) => {
      const key = a * units.length + b;
      const cells = count(key, a, b);
      return cells > 1 && cells < size ? [[i, i + 1 + j, key]] : [];
    })));
  }

  /** Return the height of the boxes of a standard board of N digits. */
  function boxHeight(size) {
    let height = Math.floor(Math.sqrt(size));
    while (size % height) height--;
    return height;
  }

  /** Return the box of each cell of a standard board. */
  function boxes(size) {
    const height = boxHeight(size);
    const width = size / height;
    return range(size * size).map((cell) =>
      Math.floor(cell / size / height) * height + Math.floor((cell % size) / width));
  }

  /** Read a board from text, as a line or as a drawn grid; throws an Error in plain words. */
  function parse(text, variant = "standard") {
    const symbols = [...text].filter((symbol) => !SEPARATORS.has(symbol));
    const size = Math.sqrt(symbols.length);
    if (!SIZES.includes(size)) {
      const counts = SIZES.map((each) => each * each).join(", ");
      throw new Error(
        `That is ${symbols.length} cells. Give a board of as many as one of these: ${counts}; ` +
        "row by row, with 0 or . for a blank.",
      );
    }
    const geometry = VARIANTS[variant].of(size);
    const board = Int8Array.from(symbols, (symbol, cell) => {
      const digit = VALUES.get(symbol);
      if (digit === undefined || digit > size) {
        throw new Error(
          `“${symbol}” at ${geometry.place(cell)} is no digit of a ${size}x${size} board: ` +
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
          const where = geometry.unitNames[unit];
          return { text: `No place is left for ${SYMBOLS[digit]} in ${where}`, cells: blanks };
        }
      }
    }
    return null;
  }

  /**
   * The first placement that a rule alone decides, or null: { cell, digit, why }.
   *
   * A cell with one candidate (a naked single), else a digit with one place in a unit (a hidden one).
   */
  function findSingle(board, geometry, mask) {
    const { size, units, unitNames } = geometry;
    for (let cell = 0; cell < board.length; cell++) {
      if (board[cell]) continue;
      const digits = range(size).filter((index) => mask[cell * size + index]);
      if (digits.length === 1) {
        return { cell, digit: digits[0] + 1, why: "no other digit is left for this cell" };
      }
    }
    for (let unit = 0; unit < units.length; unit++) {
      for (let digit = 1; digit <= size; digit++) {
        const places = units[unit].filter((cell) => mask[cell * size + digit - 1]);
        if (places.length === 1) {
          const why = `${SYMBOLS[digit]} has no other place in ${unitNames[unit]}`;
          return { cell: places[0], digit, why };
        }
      }
    }
    return null;
  }

  globalThis.SudokuGym = {
    ...globalThis.SudokuGym,
    SYMBOLS, VARIANTS, Geometry, parse, toLine, candidates, clashes, deadEnd, findSingle,
  };
})();
