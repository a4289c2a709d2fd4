import type { Configuration } from './configurations.ts'
import type { Finding } from './tlc.ts'

export interface RunOptions {
  check: (configuration: Configuration) => Promise<Finding>
  print: (text: string) => void
  parallelism: number
}

/**
 * Checks all configurations and prints a line for each. Prints TLC’s output for an unexpected result, and for a single configuration.
 * Returns the number of unexpected results.
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
  print(wrong === 0 ? `all ${all.length} results are as expected` : `${wrong} of ${all.length} results are WRONG`)
  return wrong
}

function lineOf({ name, violates }: Configuration, { states, seconds, violated }: Finding, isRight: boolean): string {
  const figures = `${String(states).padStart(8)} states ${seconds.toFixed(1).padStart(6)} s`
  const verdict = violated ? `violates ${violated}` : 'holds'
  const expected = violates ? `must violate ${violates}` : 'must hold'
  return `${name.padEnd(50)}${figures}  ${verdict}${isRight ? '' : ` - WRONG: it ${expected}`}`
}
