// The network that `load_policy("expert-iteration")` plays, in plain JavaScript.
//
// Legal placements and the constraints that they could fulfil send each other messages, round after
// round, with the same weights in each; docs/design.md has the equations. Numbers are 64 bits wide,
// where Python uses 32: logits agree to rounding.
"use strict";

(() => {
  const { Graph } = globalThis.SudokuGym;
  const MAX_LOG_MESSAGE = 7;
  const EPSILON = 1e-3;
  const MESSAGE_SCALE = 0.15;
  const RESTART_NOISE = 0.6; // times the standard deviation of the state, as in Python

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
      this.intersectionStart = read("body.view_start");
      this.intersectionGate = layer("body.view_gate");
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
   * With `restarts`, a board that has not converged after all rounds starts again, so many times at
   * most, each time from the state after the first segment with Gaussian noise of 0.6 times its
   * standard deviation, as in Python (with other random numbers). If no start converges, the logits are those
   * of the start that left the fewest within the margin.
   *
   * The rows of `x` belong to the P legal placements, the variables, and hold three parts of H
   * channels: the state, the sum of the messages from factors (constraints), and the sum of the states
   * of the placement's intersections. Those of `intersectionX` belong to the Q intersections of two
   * units: their state, and the messages from inside and from outside of them. An edge is a pair of a
   * placement and a constraint.
   */
  class Thought {
    constructor(network, board, geometry, mask, restarts = 0) {
      this.network = network;
      this.restarts = restarts;
      this.isStopped = false; // set it to end the rounds where they are
      this.rounds = 0; // of all starts
      this.start = 0; // 0 is the first
      this.roundsOfStart = 0;
      this.early = null; // the state after the first segment
      this.closest = null; // the logits of the start that left the fewest undecided, and how many
      this.graph = new Graph(board, geometry, mask);
      const { placements, edgeFactor, numFactors, numIntersections } = this.graph;
      const width = network.channels;
      const numPlacements = placements.length;
      const numEdges = edgeFactor.length;
      this.x = new Float64Array(numPlacements * 3 * width);
      this.gates = new Float64Array(Math.max(numPlacements, numIntersections) * 2 * width);
      this.unary = new Float64Array(numPlacements * width);
      this.toFactor = new Float64Array(numEdges * width);
      this.toVariable = new Float64Array(numEdges * width);
      this.totals = new Float64Array(numFactors * width);
      this.intersectionX = new Float64Array(numIntersections * 3 * width);
      this.inside = new Float64Array(numIntersections * 2 * width);
      /** For each legal placement; its probability to be right is 1 / (1 + e ** -logit). */
      this.logits = new Float64Array(numPlacements);
      for (let p = 0; p < numPlacements; p++) this.x.set(network.start, p * 3 * width);
      for (let q = 0; q < numIntersections; q++) {
        this.intersectionX.set(network.intersectionStart, q * 3 * width);
      }
      this.#sendToFactors();
      this.#computeLogits();
    }

    /** The numbers of the legal placements, cell * N + digit - 1, in the order of the logits. */
    get placements() {
      return this.graph.placements;
    }

    /** Whether the network would stop here: it has converged, run out of rounds, or was stopped. */
    get isDone() {
      if (this.isStopped) return true;
      const { segment } = this.network.settings;
      if (this.roundsOfStart % segment === 0 && this.hasConverged) return true;
      return this.#isStartOver && this.start >= this.restarts;
    }

    /** Whether no logit is within the margin. */
    get hasConverged() {
      return this.rounds > 0 && this.#countUndecided() === 0;
    }

    /** A blank cell for which no digit is likelier than not, once it has converged; else null. */
    get hopelessCell() {
      if (!this.hasConverged) return null;
      const { placements, geometry: { size } } = this.graph;
      const best = new Map();
      placements.forEach((action, p) => {
        const cell = Math.floor(action / size);
        best.set(cell, Math.max(best.get(cell) ?? -Infinity, this.logits[p]));
      });
      for (const [cell, logit] of best) if (logit < 0) return cell;
      return null;
    }

    /** Run one round; the first of a further start if the last start is over. */
    advance() {
      if (this.#isStartOver) this.#startAgain();
      this.#sumMessages();
      this.#sendToVariables();
      this.#sendToIntersections();
      gruStep(this.intersectionX, this.network.intersectionGate, this.gates, this.network.channels);
      this.#sumIntersections();
      gruStep(this.x, this.network.gate, this.gates, this.network.channels);
      this.#sendToFactors();
      this.#computeLogits();
      this.rounds++;
      this.roundsOfStart++;
      if (this.restarts && this.rounds === this.network.settings.segment) this.#keepState();
      if (this.#isStartOver) this.#keepClosest();
    }

    get #isStartOver() {
      return this.roundsOfStart >= this.network.settings.rounds;
    }

    #countUndecided() {
      const { convergenceMargin } = this.network.settings;
      return this.logits.reduce((sum, logit) => sum + (Math.abs(logit) < convergenceMargin), 0);
    }

    /** Keep the state, from which all further starts begin. */
    #keepState() {
      const { channels } = this.network;
      const states = (rows) => rows.filter((_, at) => at % (3 * channels) < channels);
      this.early = [states(this.x), this.toVariable.slice(), states(this.intersectionX)];
    }

    /** Put the state after the first segment back, with noise. */
    #startAgain() {
      this.start++;
      this.roundsOfStart = 0;
      const random = normals(this.start);
      const { channels } = this.network;
      const [variables, messages, intersections] = this.early.map((numbers) => {
        const spread = RESTART_NOISE * deviation(numbers);
        return numbers.map((number) => number + spread * random());
      });
      const place = (states, rows) => {
        for (let from = 0; from < states.length; from += channels) {
          rows.set(states.subarray(from, from + channels), 3 * from);
        }
      };
      place(variables, this.x);
      place(intersections, this.intersectionX);
      this.toVariable.set(messages);
      this.#sendToFactors();
    }

    /** At the end of a start: keep its logits if they are the closest to convergence so far. */
    #keepClosest() {
      const undecided = this.#countUndecided();
      if (!this.closest || undecided < this.closest.undecided) {
        this.closest = { undecided, logits: this.logits.slice() };
      }
      if (this.start >= this.restarts) this.logits.set(this.closest.logits);
    }

    /** Compute the messages to factors, exp(clamp(u_v + gamma r_vf)), from the states. */
    #sendToFactors() {
      const { x, unary, toFactor, toVariable, network } = this;
      const { edgeVariable } = this.graph;
      const { gamma, channels: width } = network;
      affine(x, 3 * width, network.message, unary);
      for (let edge = 0; edge < edgeVariable.length; edge++) {
        const to = edge * width;
        const from = edgeVariable[edge] * width;
        for (let j = 0; j < width; j++) {
          const log = unary[from + j] + gamma[j] * toVariable[to + j];
          toFactor[to + j] = Math.exp(
            log > MAX_LOG_MESSAGE ? MAX_LOG_MESSAGE : log < -MAX_LOG_MESSAGE ? -MAX_LOG_MESSAGE : log,
          );
        }
      }
    }

    /** Sum the messages to each constraint, and those from inside each intersection. */
    #sumMessages() {
      const { toFactor, totals, inside, network: { channels: width } } = this;
      const { edgeFactor, insiders } = this.graph;
      totals.fill(0);
      inside.fill(0);
      for (let edge = 0; edge < edgeFactor.length; edge++) {
        const from = edge * width;
        const to = edgeFactor[edge] * width;
        for (let j = 0; j < width; j++) totals[to + j] += toFactor[from + j];
      }
      for (let i = 0; i < insiders.length; i += 2) {
        const from = insiders[i] * width;
        const to = insiders[i + 1] * width;
        for (let j = 0; j < width; j++) inside[to + j] += toFactor[from + j];
      }
    }

    /** Compute the logs of the messages to variables, r_vf, and their sums. */
    #sendToVariables() {
      const { x, toFactor, toVariable, totals, network: { channels: width } } = this;
      const { edgeFactor, edgeVariable, placements } = this.graph;
      for (let p = 0; p < placements.length; p++) {
        x.fill(0, (3 * p + 1) * width, (3 * p + 3) * width);
      }
      for (let edge = 0; edge < edgeFactor.length; edge++) {
        const at = edge * width;
        const sum = edgeFactor[edge] * width;
        const sumAt = (3 * edgeVariable[edge] + 1) * width;
        for (let j = 0; j < width; j++) {
          const message = Math.log(totals[sum + j] - toFactor[at + j] + EPSILON);
          toVariable[at + j] = message;
          x[sumAt + j] += MESSAGE_SCALE * message;
        }
      }
    }

    /** Compute the messages to each intersection from inside and from outside, in both units. */
    #sendToIntersections() {
      const { inside, totals, intersectionX, network: { channels: width } } = this;
      const { sides, numIntersections } = this.graph;
      for (let q = 0; q < numIntersections; q++) {
        const a = sides[2 * q] * width;
        const b = sides[2 * q + 1] * width;
        const insideA = 2 * q * width;
        const insideB = (2 * q + 1) * width;
        const row = 3 * q * width;
        for (let j = 0; j < width; j++) {
          const ofA = inside[insideA + j];
          const ofB = inside[insideB + j];
          const outside = (totals[a + j] - ofA + EPSILON) * (totals[b + j] - ofB + EPSILON);
          intersectionX[row + width + j] = MESSAGE_SCALE * Math.log((ofA + EPSILON) * (ofB + EPSILON));
          intersectionX[row + 2 * width + j] = MESSAGE_SCALE * Math.log(outside);
        }
      }
    }

    /** Add up the states of the intersections of each placement. */
    #sumIntersections() {
      const { x, intersectionX, network: { channels: width } } = this;
      const { memberships } = this.graph;
      for (let i = 0; i < memberships.length; i += 2) {
        const to = (3 * memberships[i] + 2) * width;
        const from = 3 * memberships[i + 1] * width;
        for (let j = 0; j < width; j++) x[to + j] += intersectionX[from + j];
      }
    }

    /** Compute the logits from the states. */
    #computeLogits() {
      const { x, logits, network: { channels: width, readout } } = this;
      for (let p = 0; p < logits.length; p++) {
        let logit = readout.bias;
        for (let j = 0; j < width; j++) logit += readout.weights[j] * x[3 * p * width + j];
        logits[p] = logit;
      }
    }
  }

  /** Return the standard deviation of numbers. */
  function deviation(numbers) {
    const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
    const squares = numbers.reduce((sum, number) => sum + (number - mean) ** 2, 0);
    return Math.sqrt(squares / numbers.length);
  }

  /** Return a source of normally distributed numbers (xorshift, then Box and Muller's transform). */
  function normals(seed) {
    let state = (seed * 0x9e3779b9) | 0 || 1;
    const uniform = () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return ((state >>> 0) + 0.5) / 2 ** 32;
    };
    return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  }

  /** Write new states, h <- h + z (n - h), where rows hold the state and two parts more. */
  function gruStep(rows, gate, gates, width) {
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

  globalThis.SudokuGym = { ...globalThis.SudokuGym, Network, Thought };
})();
