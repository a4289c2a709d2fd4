import { ReleaseError } from '../lib/error.ts'

const values: Record<string, boolean> = {
  '': false,
  '0': false,
  no: false,
  false: false,
  '1': true,
  yes: true,
  true: true,
}

/**
 * Whether a command shall only show what it would do: `DRY_RUN`, which may be left out.
 * @throws {ReleaseError} `usage` when it is neither a yes nor a no, since a guess could change what was not to be changed
 */
export function readDryRun({ DRY_RUN: value = '' }: NodeJS.ProcessEnv): boolean {
  const isDry = Object.hasOwn(values, value) ? values[value] : undefined
  if (isDry !== undefined) return isDry
  throw new ReleaseError('usage', `DRY_RUN (${value}) is neither a yes nor a no`, {
    nextStep: 'DRY_RUN=1 (yes, true) shows what would be done; DRY_RUN=0 (no, false), or without it, it is done',
  })
}
