/** How many a second came, of what came in the last seconds. */
export class RateWindow {
  #samples: { at: number; count: number }[] = []
  readonly #ms: number

  constructor(ms = 5000) {
    this.#ms = ms
  }

  add(at: number, count: number): void {
    this.#samples.push({ at, count })
    while ((this.#samples[0]?.at ?? at) < at - this.#ms) this.#samples.shift()
  }

  /** Null before there is a second to tell of. */
  get perSecond(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (!first || !last || last.at - first.at < 900) return null
    // What the first sample counted came before it.
    const sum = this.#samples.reduce((total, { count }) => total + count, -first.count)
    return (sum * 1000) / (last.at - first.at)
  }
}
