import { openLog } from '@orderflow/chaos/clients/kafka'
import type { SubjectEvent } from '@orderflow/service-kit/testing'
import type { RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import type { TestedService } from '../../support/tested-services.ts'

/** Of each event the service announced one thing, or nothing, and whenever it did so again, in the same bytes. */
export async function expectAnnouncedOnce(
  { name, produces }: TestedService,
  stack: RunningStack,
  events: SubjectEvent[],
): Promise<void> {
  if (produces.length === 0) return
  const log = await openLog(stack.kafka, produces)
  try {
    await log.caughtUp()
    const causes = new Set(events.map(({ envelope }) => envelope.Id))
    const told = new Map<string, Set<string>>()
    for (const { value } of log.records) {
      const envelope = read(value)
      const cause = envelope?.Headers?.CausationId ?? ''
      if (envelope?.AppName === name && causes.has(cause))
        told.set(cause, (told.get(cause) ?? new Set()).add(value.toString()))
    }
    for (const [cause, texts] of told) expect([...texts], `announced of ${cause}`).to.have.length(1)
  } finally {
    await log.close()
  }
}

function read(value: Buffer): { AppName?: string; Headers?: { CausationId?: string } } | undefined {
  try {
    return JSON.parse(value.toString())
  } catch {
    return undefined
  }
}
