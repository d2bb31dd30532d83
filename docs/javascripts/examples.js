// The puzzles that the page offers: the variant, the name and the board of each.
"use strict";

(() => {
  // Each is told by its board, its name if it has one, its givens, and the technique that it takes.
  const EXAMPLES = [
    ["standard", "4x4: 4 givens, naked singles", ".1.....24......3"],
    ["standard", "6x6: 10 givens, naked singles", "6.......2..6.31....2..4......1.5.4.."],
    ["standard", "9x9: easy, 36 givens, naked singles",
      "27...546.......8.73..478...5.684..7.4.3...6.2.2..965.8...513..66.5.......396...15"],
    ["standard", "9x9: Inkala 2012, 21 givens, search",
      "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."],
    ["standard", "9x9: AI Escargot, 23 givens, search",
      "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3.."],
    ["standard", "9x9: 24 givens, search",
      "..4936..5....1.4.8......96...3....7..1..4.8........1....7.6....4....8...8..1.76.."],
    ["standard", "9x9: 23 givens, search",
      ".....37...1...94..982......1..3.........9..6..25.7........5.64.4..2....5..3....1."],
    ["standard", "16x16: 121 givens, hidden singles",
      "5.8...4....A.39B....98..5.6..D.2DF6.C23...E...1..92.1BA.3..G..C." +
      "....4E.C13.972DA4ADG5.6...87....CE.BF9.3..5.1G.....2BA7...DF.E.." +
      "E..9348...C.....3817.F.B6......E..4F25...D13.B.G..AD..E1F......." +
      ".2..7..94.....F....6.C2E7.F...G3.D5..6.4...E9AB..7.4GD..893..5.C"],
    ["standard", "9x9: empty, type your own", ".".repeat(81)],
    ["x", "Sudoku-X 9x9: 21 givens, hidden singles",
      "7.......2986...75.............3......6.8..2...9.4..1.5.2....51..........61.2....."],
    ["windows", "Windows 9x9: 17 givens, hidden singles",
      ".....2...71.9.....4......2........6..6.8.....2.3.15........71...........5.4......"],
    ["jigsaw", "Jigsaw 9x9: 15 givens, locked candidates",
      ".27.9.......1.......1...................6.....3....56........4.8...3.6....49....."],
    ["latin", "Latin square 9x9: 32 givens, hidden singles",
      "...9.17.43....7.5..51..4...5..64.89.92.3...8..3...5.28.7..3.5..1.2...4....84..3.."],
  ];

  globalThis.SudokuGym = { ...globalThis.SudokuGym, EXAMPLES };
})();
