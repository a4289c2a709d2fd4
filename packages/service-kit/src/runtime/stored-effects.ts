import { isDeepStrictEqual } from 'node:util'
import type { DocumentsOf } from '../state/documents.ts'
import { createIntake, type EventHandlerOptions, type Reactions } from '../stream/event-handler.ts'
import { isInfrastructure } from '../stream/fault.ts'
import { keyBytes } from '../stream/record.ts'
import type { Trust } from '../trust/trust.ts'
import { createStage, type StagedWrite } from './staged.ts'

interface StoredEffectsOptions {
  /** Creates the reactions that rebuild the store. */
  rebuildOn: (documents: DocumentsOf) => Reactions<boolean>
  documents: DocumentsOf
  trust: Pick<Trust, 'requireGenuine'>
}

/**
 * Creates the function that checks whether the store already has the effects of an event. It runs the reactions of a rebuild, which make no decisions, and
 * drops their writes.
 */
export function createStoredEffects({
  rebuildOn,
  documents,
  trust,
}: StoredEffectsOptions): NonNullable<EventHandlerOptions['isStored']> {
  return async (topic, delivery) => {
    const stage = createStage(documents)
    const handlers = rebuildOn(stage.documents)[topic]
    if (!handlers) return false
    const intake = createIntake(handlers, (envelope, evidence) => trust.requireGenuine(topic, envelope, evidence))
    try {
      const { value, escapedKey } = delivery
      if (!(await intake(delivery, { value, key: keyBytes(escapedKey) }))) return false
    } catch (error) {
      if (isInfrastructure(error)) throw error
      return false
    }
    return stage.writes().every(isStored)
  }
}

const isStored = ({ before, after }: StagedWrite): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(after)), before)
