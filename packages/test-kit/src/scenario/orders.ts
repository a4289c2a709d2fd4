/** Chooses one of `count` alternatives. The index 0 is the usual alternative. */
export type Choose = (count: number) => number

/** A choice. Its children are the next choices, by the index that was chosen. */
interface Choice {
  children: Choice[]
  /** True if every order below this choice has been tried. */
  isTried: boolean
}

/** An order in which a run failed. `seed` repeats it. */
export interface FailedOrder {
  error: unknown
  seed: string
  runs: number
}

/**
 * Repeats `run`, first with the usual choices, then with random ones. Each run tries a new order, until all orders have been tried or `limit` is
 * reached. Returns the first failure.
 * @param seed tries only this order (`FailedOrder`)
 * @throws {Error} for an invalid seed
 */
export async function tryOrders(
  run: (choose: Choose) => Promise<void>,
  { limit, seed }: { limit: number; seed?: string },
): Promise<FailedOrder | undefined> {
  const root: Choice = { children: [], isTried: false }
  if (seed !== undefined && !/^\d+(\.\d+)*$/.test(seed))
    throw new Error(`SEED=${seed} is not a seed: copy it from the message of a failed scenario`)
  const given = seed?.split('.').map(Number)
  for (let runs = 1; runs <= limit && !root.isTried; runs += 1) {
    const chosen: number[] = []
    const path = [root]
    const choose: Choose = (count) => {
      const { children } = path.at(-1) as Choice
      if (children.length === 0)
        for (let index = 0; index < count; index += 1) children.push({ children: [], isTried: false })
      const open = children.flatMap(({ isTried }, index) => (isTried ? [] : [index]))
      const next = given
        ? Math.min(given[chosen.length] ?? 0, count - 1)
        : ((runs === 1 ? open[0] : open[Math.floor(Math.random() * open.length)]) as number)
      chosen.push(next)
      path.push(children[next] as Choice)
      return next
    }
    try {
      await run(choose)
    } catch (error) {
      return { error, seed: chosen.join('.') || '0', runs }
    }
    if (given) return undefined
    for (const choice of path.toReversed()) choice.isTried = choice.children.every(({ isTried }) => isTried)
  }
  return undefined
}
