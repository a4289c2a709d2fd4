import type { Findings } from './findings.ts'

export interface Run {
  /** Chooses small sizes, which test the program. The figures are not meaningful. */
  quick: boolean
  tell: (line: string) => void
}

export interface Part {
  title: string
  measure: (run: Run) => Promise<Findings>
}

/** Runs `measure` for each contender in each round, so that disturbances affect all of them. Returns the contenders with their samples. */
export async function inTurn<Contender extends { name: string }, Sample>(
  { tell }: Run,
  contenders: Contender[],
  rounds: number,
  measure: (contender: Contender) => Promise<Sample>,
): Promise<(Contender & { samples: Sample[] })[]> {
  const measured = contenders.map((contender) => ({ contender, samples: [] as Sample[] }))
  for (let round = 1; round <= rounds; round += 1) {
    for (const { contender, samples } of measured) {
      tell(`round ${round} of ${rounds}: ${contender.name}`)
      samples.push(await measure(contender))
    }
  }
  return measured.map(({ contender, samples }) => ({ ...contender, samples }))
}
