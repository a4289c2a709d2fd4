import { meansYes } from '@orderflow/service-kit/terminal'
import { ReleaseError } from '../lib/error.ts'

/**
 * Whether a command shall only show what it would do: `DRY_RUN`, which may be left out.
 * @throws {ReleaseError} `usage` when it is neither a yes nor a no, since a guess could change what was not to be changed
 */
export function readDryRun({ DRY_RUN: value = '' }: NodeJS.ProcessEnv): boolean {
  const isDry = meansYes(value)
  if (isDry !== undefined) return isDry
  throw new ReleaseError('usage', `DRY_RUN (${value}) is neither a yes nor a no`, {
    nextStep: 'DRY_RUN=1 (yes, true) shows what would be done; DRY_RUN=0 (no, false), or without it, it is done',
  })
}
