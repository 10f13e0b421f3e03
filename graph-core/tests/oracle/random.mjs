// Seeded random numbers (mulberry32), so that a seed always gives the same schema or request.

export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  // an integer below `bound`
  below(bound) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let word = this.#state;
    word = Math.imul(word ^ (word >>> 15), word | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) % bound;
  }

  // true in `share` of a hundred cases
  chance(share) {
    return this.below(100) < share;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  // `count` distinct members in their order
  some(list, count) {
    const left = [...list.keys()];
    while (left.length > count) left.splice(this.below(left.length), 1);
    return left.map((index) => list[index]);
  }
}
