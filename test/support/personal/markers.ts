import { randomBytes } from 'node:crypto'

/** Each begins with it: no two runs have the same, and nothing else has it. */
const newPrefix = () => `Pii${randomBytes(6).toString('hex')}q`

/** Texts in the place of personal values, each a word of its own, that are found again wherever they get to. */
export class Markers {
  readonly #prefix = newPrefix()
  readonly #places: string[] = []
  readonly #encoded = encodings(this.#prefix)

  /** A new one. @param place where it is put, for whoever reads that it got out */
  new(place: string): string {
    return `${this.#prefix}${this.#places.push(place)}z`
  }

  /** Where those were put that a text or a file tells, in either case, or in base64 or hex. */
  in(told: string): string[] {
    const named = [...told.matchAll(new RegExp(`${this.#prefix}(\\d*)`, 'gi'))].map(
      ([, n]) => this.#places[Number(n) - 1],
    )
    const encoded = this.#encoded.filter((text) => told.includes(text))
    return [
      ...new Set([...named.map((place) => place ?? 'a part of one'), ...encoded.map((text) => `encoded: ${text}`)]),
    ]
  }
}

/** A text in hex, and in base64 wherever it stands in what was encoded: without the characters that its neighbours have a part in. */
function encodings(text: string): string[] {
  const base64 = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
    return whole.toString('base64').slice(before === 0 ? 0 : 4, 4 * Math.floor(whole.length / 3))
  })
  return [Buffer.from(text).toString('hex'), ...base64]
}
