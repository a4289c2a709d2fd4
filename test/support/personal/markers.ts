import { randomBytes } from 'node:crypto'

const newPrefix = () => `Pii${randomBytes(6).toString('hex')}q`

/** Creates unique texts in place of personal values, and finds them in any output. */
export class Markers {
  readonly #prefix = newPrefix()
  readonly #places: string[] = []
  readonly #encoded = encodings(this.#prefix)

  /**
   * Returns a new marker.
   * @param place the location of the marker, for the report of a leak
   */
  new(place: string): string {
    return `${this.#prefix}${this.#places.push(place)}z`
  }

  /** Returns the locations of all markers in a text, in upper or lower case, base64 or hex. */
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

/** Returns a text in hex, and in base64 at each offset, without characters that depend on neighbouring bytes. */
function encodings(text: string): string[] {
  const base64 = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
    return whole.toString('base64').slice(before === 0 ? 0 : 4, 4 * Math.floor(whole.length / 3))
  })
  return [Buffer.from(text).toString('hex'), ...base64]
}
