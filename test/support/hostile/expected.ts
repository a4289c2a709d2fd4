import { EnvelopeError, type EventType, orderEvents, selectEvent } from '@orderflow/envelope-schema'
import { paymentIdOf } from '@orderflow/payment-service/payment'
import type { Documents } from '@orderflow/test-kit'
import type { Role } from '../memory/world.ts'
import { type HandledName, type HostileRecord, handled, ours } from './hostile.ts'

/** A change of a document. */
interface Effect {
  /** Returns true if one of the documents contains the effect. */
  isIn(documents: Documents): boolean
}

/**
 * Returns the expected result of a record in a service: `unnoticed`, an effect, or undefined for a dead letter.
 * @param signs true if our services sign their events
 */
export function endOf(role: Role, record: HostileRecord, signs: boolean): 'unnoticed' | Effect | undefined {
  const { topic, orderId, value } = record
  const names = handled[role][topic]
  if (!names) return 'unnoticed'
  const { name, id = orderId, ...claimed } = eventIn(value)
  if (name === undefined) return undefined
  if (!names.includes(name as HandledName)) return isMisspelt(name, names) ? undefined : 'unnoticed'
  if (!isBelieved(topic, name, claimed, record.isSigned || !signs)) return undefined
  const isDecided = role === 'payment' && ['OrderCreated', 'OrderExpired'].includes(name)
  const key = role === 'order' ? `order/${id}` : `payment/${paymentIdOf(id)}`
  const facts = isDecided ? ['PaymentApproved', 'PaymentRejected'] : [name]
  return {
    isIn(documents) {
      const { state } = Object(documents[key]) as { state?: object }
      return facts.some((fact) => Object.hasOwn(state ?? {}, fact))
    },
  }
}

/** Returns true if a receiver accepts the publisher by the rules of docs/trust.md. The trust file accepts unlisted publishers. */
function isBelieved(
  topic: string,
  name: string,
  claimed: { appId?: string; appName?: string },
  isSigned: boolean,
): boolean {
  const service = ours.find(({ Id }) => Id === claimed.appId)
  if (!service)
    return topic === orderEvents && ofOutside.includes(name) && !ours.some(({ Name }) => Name === claimed.appName)
  return service.Name === claimed.appName && (service.publishes[topic] ?? []).includes(name) && isSigned
}

/** The events that other applications may publish (services.json). */
const ofOutside = ['OrderCreated', 'OrderCancelled']

/** Returns true if a receiver of `names` treats this name as a misspelling of one of them. */
function isMisspelt(name: string, names: HandledName[]): boolean {
  const types = names.map((known) => `${known}@1` as EventType)
  const envelope = { AppId: '', AppName: '', CreationDate: '', Version: 1, Name: name, Payload: {} }
  try {
    return selectEvent(envelope, types) !== undefined
  } catch (error) {
    return error instanceof EnvelopeError && error.code === 'unknown-event'
  }
}

/** Reads the fields of a value that matter here. A damaged byte may have changed the GUID. */
function eventIn(value: Buffer | null): { name?: string; id?: string; appId?: string; appName?: string } {
  try {
    const { Name, Payload, AppId, AppName } = JSON.parse(new TextDecoder().decode(value ?? Buffer.alloc(0)))
    const id = Payload?.OrderId
    return {
      ...(typeof Name === 'string' && { name: Name }),
      ...(typeof id === 'string' && { id: id.toLowerCase() }),
      ...(typeof AppId === 'string' && { appId: AppId.toLowerCase() }),
      ...(typeof AppName === 'string' && { appName: AppName }),
    }
  } catch {
    return {}
  }
}
