// The network that `load_policy("calphazero")` plays, in plain JavaScript.
//
// Legal placements and the constraints that they could fulfil send each other messages, round after
// round, with the same weights in each; docs/networks.md has the equations. Numbers are 64 bits wide,
// where Python uses 32: logits agree to rounding.
"use strict";

(() => {
  const LARGEST_MESSAGE = 7;
  const FLOOR = 1e-3;
  const SCALE = 0.15;

  /** The weights, and how the network is to be used. */
  class Network {
    /** Takes what docs/export_network.py writes into weights.js. */
    constructor({ settings, tensors }) {
      const read = (name) => {
        const bytes = Uint8Array.from(atob(tensors[name]), (letter) => letter.charCodeAt(0));
        return Float64Array.from(new Float32Array(bytes.buffer));
      };
      const layer = (name) => {
        const weight = read(`${name}.weight`);
        const bias = read(`${name}.bias`);
        return { weights: inFours(weight, bias.length), bias };
      };
      this.settings = settings;
      this.channels = settings.channels;
      this.start = read("body.start");
      this.gamma = read("body.gamma");
      this.message = layer("body.message");
      this.gate = layer("body.gate");
      this.viewStart = read("body.view_start");
      this.viewGate = layer("body.view_gate");
      this.readout = {
        weights: read("heads.policy.readout.linear.weight"),
        bias: read("heads.policy.readout.linear.bias")[0],
      };
    }
  }

  /** Reorder a matrix of `width` rows: the weights of four results for one input stand together. */
  function inFours(matrix, width) {
    const length = matrix.length / width;
    return matrix.map((_, at) => {
      const four = Math.floor(at / (4 * length));
      const rest = at % (4 * length);
      return matrix[(4 * four + (rest % 4)) * length + Math.floor(rest / 4)];
    });
  }

  /**
   * What the network makes of one board, round by round: call `advance` until `isDone`.
   *
   * The rows of `x` belong to the P legal placements and hold three parts of H channels: the state,
   * what the placement hears from its constraints, and what it reads of its intersections. Those of
   * `views` belong to the Q intersections of two units and hold their state, and how strongly places
   * inside and outside of them are claimed. A seat is a placement's part in one of its constraints.
   */
  class Thought {
    constructor(network, board, geometry, mask) {
      this.network = network;
      this.rounds = 0;
      this.graph = new Graph(board, geometry, mask);
      const { placements, constraintOf, numConstraints, numIntersections } = this.graph;
      const width = network.channels;
      const numPlacements = placements.length;
      const numSeats = constraintOf.length;
      this.x = new Float64Array(numPlacements * 3 * width);
      this.gates = new Float64Array(Math.max(numPlacements, numIntersections) * 2 * width);
      this.said = new Float64Array(numPlacements * width);
      this.messages = new Float64Array(numSeats * width);
      this.replies = new Float64Array(numSeats * width);
      this.totals = new Float64Array(numConstraints * width);
      this.views = new Float64Array(numIntersections * 3 * width);
      this.inside = new Float64Array(numIntersections * 2 * width);
      /** How sure the network is of each legal placement: its chance is 1 / (1 + e ** -logit). */
      this.logits = new Float64Array(numPlacements);
      for (let p = 0; p < numPlacements; p++) this.x.set(network.start, p * 3 * width);
      for (let q = 0; q < numIntersections; q++) this.views.set(network.viewStart, q * 3 * width);
      this.#speak();
      this.#judge();
    }

    /** The numbers of the legal placements, cell * N + digit - 1, in the order of the logits. */
    get placements() {
      return this.graph.placements;
    }

    /** Whether the network would stop here: it has made up its mind, or run out of rounds. */
    get isDone() {
      const { rounds, segment, convergenceMargin } = this.network.settings;
      if (this.rounds >= rounds) return true;
      return this.rounds > 0 && this.rounds % segment === 0 &&
        this.logits.every((logit) => Math.abs(logit) >= convergenceMargin);
    }

    /** Run one round. */
    advance() {
      this.#addUp();
      this.#reply();
      this.#look();
      turn(this.views, this.network.viewGate, this.gates, this.network.channels);
      this.#read();
      turn(this.x, this.network.gate, this.gates, this.network.channels);
      this.#speak();
      this.#judge();
      this.rounds++;
    }

    /** Turn states into messages: E_pc = exp(clamp(u_p + gamma R_pc)). */
    #speak() {
      const { x, said, messages, replies, network } = this;
      const { occupantOf } = this.graph;
      const { gamma, channels: width } = network;
      affine(x, 3 * width, network.message, said);
      for (let seat = 0; seat < occupantOf.length; seat++) {
        const to = seat * width;
        const from = occupantOf[seat] * width;
        for (let j = 0; j < width; j++) {
          const log = said[from + j] + gamma[j] * replies[to + j];
          messages[to + j] = Math.exp(
            log > LARGEST_MESSAGE ? LARGEST_MESSAGE : log < -LARGEST_MESSAGE ? -LARGEST_MESSAGE : log,
          );
        }
      }
    }

    /** Sum the messages to each constraint, and those from inside each intersection. */
    #addUp() {
      const { messages, totals, inside, network: { channels: width } } = this;
      const { constraintOf, insiders } = this.graph;
      totals.fill(0);
      inside.fill(0);
      for (let seat = 0; seat < constraintOf.length; seat++) {
        const from = seat * width;
        const to = constraintOf[seat] * width;
        for (let j = 0; j < width; j++) totals[to + j] += messages[from + j];
      }
      for (let i = 0; i < insiders.length; i += 2) {
        const from = insiders[i] * width;
        const to = insiders[i + 1] * width;
        for (let j = 0; j < width; j++) inside[to + j] += messages[from + j];
      }
    }

    /** Tell each seat how strongly the others claim its constraint: R_pc; and add up what is heard. */
    #reply() {
      const { x, messages, replies, totals, network: { channels: width } } = this;
      const { constraintOf, occupantOf, placements } = this.graph;
      for (let p = 0; p < placements.length; p++) {
        x.fill(0, (3 * p + 1) * width, (3 * p + 3) * width);
      }
      for (let seat = 0; seat < constraintOf.length; seat++) {
        const at = seat * width;
        const sum = constraintOf[seat] * width;
        const heard = (3 * occupantOf[seat] + 1) * width;
        for (let j = 0; j < width; j++) {
          const reply = Math.log(totals[sum + j] - messages[at + j] + FLOOR);
          replies[at + j] = reply;
          x[heard + j] += SCALE * reply;
        }
      }
    }

    /** Show each intersection who claims a place inside of it, and who outside, in both units. */
    #look() {
      const { inside, totals, views, network: { channels: width } } = this;
      const { sides, numIntersections } = this.graph;
      for (let q = 0; q < numIntersections; q++) {
        const a = sides[2 * q] * width;
        const b = sides[2 * q + 1] * width;
        const insideA = 2 * q * width;
        const insideB = (2 * q + 1) * width;
        const view = 3 * q * width;
        for (let j = 0; j < width; j++) {
          const ofA = inside[insideA + j];
          const ofB = inside[insideB + j];
          const outside = (totals[a + j] - ofA + FLOOR) * (totals[b + j] - ofB + FLOOR);
          views[view + width + j] = SCALE * Math.log((ofA + FLOOR) * (ofB + FLOOR));
          views[view + 2 * width + j] = SCALE * Math.log(outside);
        }
      }
    }

    /** Let each placement read the states of its intersections. */
    #read() {
      const { x, views, network: { channels: width } } = this;
      const { readers } = this.graph;
      for (let i = 0; i < readers.length; i += 2) {
        const to = (3 * readers[i] + 2) * width;
        const from = 3 * readers[i + 1] * width;
        for (let j = 0; j < width; j++) x[to + j] += views[from + j];
      }
    }

    /** Read the logits off the states. */
    #judge() {
      const { x, logits, network: { channels: width, readout } } = this;
      for (let p = 0; p < logits.length; p++) {
        let logit = readout.bias;
        for (let j = 0; j < width; j++) logit += readout.weights[j] * x[3 * p * width + j];
        logits[p] = logit;
      }
    }
  }

  /**
   * The open part of a board's exact-cover problem.
   *
   * `placements` [P]; for each seat its `constraintOf` and its `occupantOf`, a row of `placements`;
   * `sides` [2 Q], the two constraints of each intersection; `insiders`, pairs of a seat and 2 q or
   * 2 q + 1: the seat lies within intersection q, in its first or its second constraint; `readers`,
   * pairs of a placement and an intersection that it lies in.
   */
  class Graph {
    constructor(board, geometry, mask) {
      const { size, unitsOf } = geometry;
      const numCells = size * size;
      const placements = [], constraintOf = [], occupantOf = [];
      const sides = [], insiders = [], readers = [];
      const constraints = new Map(), intersections = new Map();
      const numberIn = (numbers, key) => {
        if (!numbers.has(key)) numbers.set(key, numbers.size);
        return numbers.get(key);
      };
      for (let action = 0; action < mask.length; action++) {
        if (!mask[action]) continue;
        const cell = Math.floor(action / size);
        const digit = action % size;
        const [row, column, box] = unitsOf[cell];
        const p = placements.length;
        placements.push(action);
        const firstSeat = constraintOf.length;
        constraintOf.push(numberIn(constraints, cell));
        occupantOf.push(p);
        for (const unit of [row, column, box]) {
          constraintOf.push(numberIn(constraints, numCells + unit * size + digit));
          occupantOf.push(p);
        }
        // A row and a box share some cells, and a column and a box.
        for (const [line, seat] of [[row, firstSeat + 1], [column, firstSeat + 2]]) {
          const q = numberIn(intersections, (line * 3 * size + box) * size + digit);
          sides[2 * q] = constraintOf[seat];
          sides[2 * q + 1] = constraintOf[firstSeat + 3];
          insiders.push(seat, 2 * q, firstSeat + 3, 2 * q + 1);
          readers.push(p, q);
        }
      }
      this.placements = Int32Array.from(placements);
      this.constraintOf = Int32Array.from(constraintOf);
      this.occupantOf = Int32Array.from(occupantOf);
      this.sides = Int32Array.from(sides);
      this.insiders = Int32Array.from(insiders);
      this.readers = Int32Array.from(readers);
      this.numConstraints = constraints.size;
      this.numIntersections = intersections.size;
    }
  }

  /** Turn states by their gates, h <- h + z (n - h), where rows hold the state and two parts more. */
  function turn(rows, gate, gates, width) {
    const count = rows.length / (3 * width);
    affine(rows, 3 * width, gate, gates);
    for (let row = 0; row < count; row++) {
      const state = 3 * row * width;
      const at = 2 * row * width;
      for (let j = 0; j < width; j++) {
        const z = 1 / (1 + Math.exp(-gates[at + j]));
        const n = 2 / (1 + Math.exp(-2 * gates[at + width + j])) - 1; // tanh
        rows[state + j] += z * (n - rows[state + j]);
      }
    }
  }

  /**
   * Write bias + weight x for the first part of every row of x; rows are `stride` apart.
   *
   * Two rows by four results at a time, since eight sums keep the processor busy.
   */
  function affine(x, stride, { weights, bias }, result) {
    const [length, width] = [weights.length / bias.length, bias.length];
    const count = x.length / stride;
    for (let row = 0; row < count; row += 2) {
      const next = Math.min(row + 1, count - 1);
      const first = row * stride;
      const second = next * stride;
      const to = row * width;
      const toNext = next * width;
      for (let k = 0; k < width; k += 4) {
        let a = bias[k], b = bias[k + 1], c = bias[k + 2], d = bias[k + 3];
        let e = a, f = b, g = c, h = d;
        for (let i = 0, at = k * length; i < length; i++, at += 4) {
          const one = x[first + i], other = x[second + i];
          const p = weights[at], q = weights[at + 1], r = weights[at + 2], s = weights[at + 3];
          a += p * one; b += q * one; c += r * one; d += s * one;
          e += p * other; f += q * other; g += r * other; h += s * other;
        }
        result[to + k] = a; result[to + k + 1] = b;
        result[to + k + 2] = c; result[to + k + 3] = d;
        result[toNext + k] = e; result[toNext + k + 1] = f;
        result[toNext + k + 2] = g; result[toNext + k + 3] = h;
      }
    }
  }

  /**
   * Plays one game with the network: it thinks once, plays whatever it is sure of, the surest first,
   * and only then thinks again.
   */
  class Policy {
    constructor(network, geometry) {
      this.network = network;
      this.geometry = geometry;
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
      return new Thought(this.network, board, this.geometry, mask);
    }

    /** Return the move that a thought which is done comes to, and plan the others it is sure of. */
    decide(board, thought) {
      const { placements, logits } = thought;
      const { size } = this.geometry;
      const bestOfCell = new Map();
      let best = null;
      placements.forEach((action, p) => {
        const move = { action, logit: logits[p] };
        const cell = Math.floor(action / size);
        if (best === null || move.logit > best.logit) best = move;
        const rival = bestOfCell.get(cell);
        if (move.logit > this.network.settings.threshold && !(rival?.logit >= move.logit)) {
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

  globalThis.SudokuGym = { ...globalThis.SudokuGym, Network, Thought, Policy };
})();
