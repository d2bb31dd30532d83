// The factor graph of a board, on which the network of the page passes messages.
"use strict";

(() => {
  /**
   * The open part of a board's exact-cover problem.
   *
   * `placements` [P]; for each edge its factor `edgeFactor` and its variable `edgeVariable`, a row of
   * `placements`; `sides` [2 Q], the two factors of each intersection; `insiders`, pairs of an edge and
   * 2 q or 2 q + 1: the edge lies within intersection q, in its first or its second factor;
   * `memberships`, pairs of a placement and an intersection that it lies in.
   */
  class Graph {
    constructor(board, geometry, mask) {
      const { size, unitsOf, crossingsOf } = geometry;
      const numCells = size * size;
      const placements = [], edgeFactor = [], edgeVariable = [];
      const sides = [], insiders = [], memberships = [];
      const constraints = new Map(), intersections = new Map();
      const numberIn = (numbers, key) => {
        if (!numbers.has(key)) numbers.set(key, numbers.size);
        return numbers.get(key);
      };
      for (let action = 0; action < mask.length; action++) {
        if (!mask[action]) continue;
        const cell = Math.floor(action / size);
        const digit = action % size;
        const p = placements.length;
        placements.push(action);
        const firstEdge = edgeFactor.length;
        edgeFactor.push(numberIn(constraints, cell));
        edgeVariable.push(p);
        for (const unit of unitsOf[cell]) {
          edgeFactor.push(numberIn(constraints, numCells + unit * size + digit));
          edgeVariable.push(p);
        }
        // Pairs of units that share cells: in a standard board a line and a box.
        for (const [i, j, pair] of crossingsOf[cell]) {
          const [first, second] = [firstEdge + 1 + i, firstEdge + 1 + j];
          const q = numberIn(intersections, pair * size + digit);
          sides[2 * q] = edgeFactor[first];
          sides[2 * q + 1] = edgeFactor[second];
          insiders.push(first, 2 * q, second, 2 * q + 1);
          memberships.push(p, q);
        }
      }
      this.geometry = geometry;
      this.placements = Int32Array.from(placements);
      this.edgeFactor = Int32Array.from(edgeFactor);
      this.edgeVariable = Int32Array.from(edgeVariable);
      this.sides = Int32Array.from(sides);
      this.insiders = Int32Array.from(insiders);
      this.memberships = Int32Array.from(memberships);
      this.numFactors = constraints.size;
      this.numIntersections = intersections.size;
    }
  }

  globalThis.SudokuGym = { ...globalThis.SudokuGym, Graph };
})();
