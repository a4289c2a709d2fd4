import type { Configuration } from './configurations.ts'
import type { Finding } from './tlc.ts'

export interface RunOptions {
  check: (configuration: Configuration) => Promise<Finding>
  print: (text: string) => void
  /** So many at a time. */
  parallelism: number
}

/**
 * Checks all configurations and prints a line for each, and what TLC printed where something is violated that must hold, or where it was
 * one alone, whose counterexample somebody wants to read. Answers how many are not as they must be.
 */
export async function runAll(all: Configuration[], { check, print, parallelism }: RunOptions): Promise<number> {
  const waiting = [...all]
  let wrong = 0
  async function work(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      try {
        const finding = await check(next)
        const isRight = finding.violated === next.violates
        if (!isRight) wrong += 1
        if (all.length === 1 || (finding.violated && !isRight)) print(finding.output)
        print(lineOf(next, finding, isRight))
      } catch (error) {
        wrong += 1
        print(`${next.name}: ${(error as Error).message}`)
      }
    }
  }
  await Promise.all(Array.from({ length: parallelism }, work))
  print(wrong === 0 ? `all ${all.length} are as they must be` : `${wrong} of ${all.length} are WRONG`)
  return wrong
}

function lineOf({ name, violates }: Configuration, { states, seconds, violated }: Finding, isRight: boolean): string {
  const figures = `${String(states).padStart(8)} states ${seconds.toFixed(1).padStart(6)} s`
  const verdict = violated ? `violates ${violated}` : 'holds'
  const expected = violates ? `must violate ${violates}` : 'must hold'
  return `${name.padEnd(50)}${figures}  ${verdict}${isRight ? '' : ` - WRONG: it ${expected}`}`
}
