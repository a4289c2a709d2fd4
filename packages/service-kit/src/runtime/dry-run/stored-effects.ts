import { isDeepStrictEqual } from 'node:util'
import type { IdSource } from '@orderflow/envelope'
import type { DocumentsOf } from '../../state/documents.ts'
import {
  createIntake,
  type EventHandlerOptions,
  type Reactions,
  sourceOf,
} from '../../stream/consuming/event-handler.ts'
import { isInfrastructure } from '../../stream/dead-letters/fault.ts'
import { within } from '../../telemetry/context.ts'
import type { Evidence, Trust } from '../../trust/trust.ts'
import { createStage, type StagedWrite } from './staged.ts'

export interface EffectsOptions {
  /** Creates the reactions that rebuild the store. */
  rebuildOn: (documents: DocumentsOf) => Reactions<boolean>
  documents: DocumentsOf
  trust: Pick<Trust, 'requireGenuine'>
}

type EffectsOf = ReturnType<typeof createEffects>

/**
 * Creates the function that returns the effects of an event. It runs the reactions of a rebuild, which make no decisions, and drops their writes. Each
 * event needs new reactions, because they may remember writes.
 */
export function createEffects({ rebuildOn, documents, trust }: EffectsOptions) {
  /** @throws {SidecarError} if the store does not answer */
  return async (topic: string, record: Evidence, source: IdSource) => {
    let isKnown = false
    const stage = createStage((tenant) => {
      const real = documents(tenant)
      return {
        ...real,
        async read(keys) {
          const found = await real.read(keys)
          isKnown ||= found.size > 0
          return found
        },
      }
    })
    /** `isHandled`: a rebuild handles the event, and does not refuse it. `isKnown`: a document exists that the event's handler reads. */
    const effects = (isHandled: boolean, writes: readonly StagedWrite[]) => ({ isHandled, isKnown, writes })
    const handlers = rebuildOn(stage.documents)[topic]
    if (!handlers) return effects(false, [])
    const intake = createIntake(handlers, (envelope, evidence) => trust.requireGenuine(topic, envelope, evidence))
    try {
      // The comparison may run while another event is handled, whose time of arrival must have no influence.
      const own = { document: undefined, arrivedAt: record.appendedAt }
      const taken = await within(own, () => intake(record, source))
      // Some writes only repeat what live reactions may leave out, such as unused claims. The handler then returns false.
      const writes = taken?.answer === true ? stage.writes().filter((write) => !isStored(write)) : []
      return effects(taken !== undefined, writes)
    } catch (error) {
      if (isInfrastructure(error)) throw error
      return effects(false, [])
    }
  }
}

const isStored = ({ before, after }: StagedWrite): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(after)), before)

export type Sequence = ReturnType<typeof createSequence>

/** Collects the effects of several events, which are handled in sequence. */
export function createSequence(options: EffectsOptions) {
  const stage = createStage(options.documents)
  const effectsOf = createEffects({ ...options, documents: stage.documents })
  return {
    async handle(...event: Parameters<EffectsOf>): Promise<void> {
      const { writes } = await effectsOf(...event)
      stage.add(writes.map((write) => ({ ...write, after: JSON.parse(JSON.stringify(write.after)) })))
    },
    /** Returns true if the store had all effects when they were first read. */
    isStored: () => stage.writes().every(isStored),
  }
}

/** Creates the function that checks whether the store already has the effects of an event. */
export function createStoredEffects(options: EffectsOptions): NonNullable<EventHandlerOptions['isStored']> {
  const effectsOf = createEffects(options)
  return async (topic, delivery) => {
    const { isHandled, writes } = await effectsOf(topic, delivery, sourceOf(delivery))
    return isHandled && writes.length === 0
  }
}
