import { createHash } from 'node:crypto'
import {
  completeEnvelope,
  deterministicId,
  type Problem,
  parseEnvelope,
  type ReceivedEnvelope,
} from '@orderflow/envelope'
import { keyOf } from '@orderflow/envelope/kafka'
import {
  type Caller,
  isInfrastructure,
  OverloadError,
  type ServiceContext,
  SidecarError,
  UntrustedError,
} from '@orderflow/service-kit'
import { type Application, outsideRefusal } from '@orderflow/service-kit/application'
import type { Item } from './body.ts'
import { type Judgement, judge, type Outcome, outcomeOf } from './judge.ts'

export interface Sender {
  /** Undefined without authentication. */
  caller: Caller | undefined
  idempotencyKey: string | undefined
}

export type Gate = ReturnType<typeof createGate>

export interface Published {
  outcomes: Outcome[]
  /** The first error that made an outcome unknown or unsent. */
  cause: unknown
}

type Ids = Record<'Id' | 'CorrelationId' | 'TraceId', string>

/** A valid, trusted envelope with the bytes to publish. */
interface Admitted {
  item: Item
  judgement: Judgement
  envelope: ReceivedEnvelope
  /** The Id in the envelope, or a derived Id. */
  id: string
  isDerived: boolean
  value: Uint8Array
}

export function createGate(
  { forward, trust }: Pick<ServiceContext, 'forward' | 'trust'>,
  application: Pick<Application, 'topics' | 'services'>,
) {
  const keyFields = new Map(application.topics.map(({ name, key }) => [name, key]))
  /** Returns the record key that `./orderflow publish` would also use, so that all events of an order are in one partition. */
  const keyIn = (topic: string, envelope: ReceivedEnvelope) => keyOf(envelope, keyFields.get(topic) ?? [])

  function admit(topic: string, item: Item, sender: Sender): Admitted | Outcome {
    const judgement = judge(item.text, 'receiver')
    if (!judgement.valid) return outcomeOf(item, 'refused', withHint(item, judgement), null)
    const envelope = parseEnvelope(item.text)
    const refuse = (problem: Problem) => ({
      ...outcomeOf(item, 'refused', { ...judgement, errors: [problem] }, envelope.Id ?? null),
      code: 'untrusted' as const,
    })
    const refusal = outsideRefusal(application, envelope.Name, topic)
    if (refusal !== undefined) return refuse({ pointer: '/Name', message: refusal })
    try {
      trust.requireAdmitted(topic, envelope, sender.caller)
    } catch (error) {
      if (!(error instanceof UntrustedError)) throw error
      return refuse({ pointer: '/AppId', message: error.message, hint: ownName })
    }
    const { idempotencyKey } = sender
    const ids =
      idempotencyKey === undefined
        ? receivedIds(envelope, item.text, keyIn(topic, envelope))
        : keyedIds(envelope, item.text, idempotencyKey)
    const missing = Object.fromEntries(
      Object.entries(ids).filter(([name]) => envelope[name as keyof Ids] === undefined),
    )
    // With an Idempotency-Key, the event gets the derived TraceId. Otherwise it continues the trace of the request.
    const published = idempotencyKey === undefined ? envelope : { ...envelope, ...missing }
    const isDerived = envelope.Id === undefined
    return { item, judgement, envelope: published, id: ids.Id, isDerived, value: withFields(item.text, missing) }
  }

  async function send(
    topic: string,
    { item, judgement, envelope, id, value }: Admitted,
    onFailure: (error: unknown) => void,
  ): Promise<Outcome> {
    const outcomeWith = (outcome: Outcome['outcome']) => outcomeOf(item, outcome, judgement, id)
    try {
      await forward(topic, keyIn(topic, envelope), { envelope, value })
      return outcomeWith('accepted')
    } catch (error) {
      if (isInfrastructure(error)) onFailure(error)
      if (error instanceof OverloadError)
        return { ...outcomeWith('unsent'), retry: 'It was not published: send it again.' }
      if (!(error instanceof SidecarError)) throw error
      if (error.failure !== 'refused') return { ...outcomeWith('unknown'), retry: sameEvent }
      const errors = [{ pointer: '', message: 'was refused by the broker, which may have a lower size limit' }]
      return { ...outcomeWith('refused'), code: 'not-taken', errors }
    }
  }

  return {
    /**
     * Publishes the valid envelopes that the sender may publish. Returns the outcomes of all envelopes, in order.
     * @param topic a topic that outside publishers may write
     */
    async publish(topic: string, items: readonly Item[], sender: Sender): Promise<Published> {
      const admitted = withRepeats(items.map((item) => admit(topic, item, sender)))
      let cause: unknown
      const onFailure = (error: unknown) => {
        cause ??= error
      }
      const outcomes = await Promise.all(
        admitted.map((each) => ('value' in each ? send(topic, each, onFailure) : each)),
      )
      return { outcomes, cause }
    },
  }
}

const ownName = "use the application's own AppId and AppName, and publish only what trust.json allows (docs/trust.md)"

const sameEvent = 'Send it again: the Id makes it the same event, so it is handled once.'

/** Adds a hint for a text that is not JSON: the text may be several envelopes, or a part of an envelope. */
function withHint({ line }: Item, judgement: Judgement): Judgement {
  if (judgement.code !== 'not-json') return judgement
  const hint =
    line === undefined
      ? 'check quotes, commas and brackets; send several envelopes as a list, or as lines with application/x-ndjson'
      : 'write one whole envelope on each line; with curl, use --data-binary to keep line ends'
  return { ...judgement, errors: judgement.errors.map((error) => ({ hint, ...error })) }
}

/** Adds a warning to each envelope whose derived Id an earlier envelope of the body also has. */
function withRepeats(all: readonly (Admitted | Outcome)[]): (Admitted | Outcome)[] {
  const seen = new Map<string, number>()
  return all.map((each) => {
    if (!('value' in each) || !each.isDerived) return each
    const { id, item, judgement } = each
    const first = seen.get(id)
    if (first === undefined) seen.set(id, item.index)
    if (first === undefined) return each
    const message = `makes this envelope the same event as the envelope with index ${first}, which has the same content`
    const warning = { pointer: '/Id', message, hint: 'give each event its own Id, or another CreationDate' }
    return { ...each, judgement: { ...judgement, warnings: [...judgement.warnings, warning] } }
  })
}

/**
 * Returns an envelope's ids. Missing ids derive from the bytes, as receivers derive them. A repeated request therefore creates no new event.
 */
function receivedIds(envelope: ReceivedEnvelope, text: Uint8Array, key: string | undefined): Ids {
  const { Id, CorrelationId, TraceId } = completeEnvelope(envelope, {
    value: text,
    key: key ? Buffer.from(key) : undefined,
  })
  return { Id, CorrelationId, TraceId }
}

/**
 * Returns an envelope's ids for a sender with an Idempotency-Key. Missing ids derive from the application, the bytes and this key. The position in the
 * body has no influence, because a retry may contain only some of the envelopes.
 */
function keyedIds(envelope: ReceivedEnvelope, text: Uint8Array, idempotencyKey: string): Ids {
  const { AppId, Id, CorrelationId, TraceId } = envelope
  const digest = createHash('sha256').update(text).digest('hex')
  // The zero keeps the ids of version 0.2.0, in case a client repeats a request after an upgrade.
  const derived = (kind: string) => deterministicId(kind, AppId, idempotencyKey, digest, '0')
  const trace = TraceId ?? CorrelationId ?? derived('handed-on-trace')
  return { Id: Id ?? derived('handed-on'), CorrelationId: CorrelationId ?? trace, TraceId: trace }
}

/** Adds fields at the front of an envelope, and keeps all other bytes. */
function withFields(text: Uint8Array, fields: Record<string, string>): Uint8Array {
  const written = Object.entries(fields).map(([name, value]) => `"${name}":"${value}",`)
  return written.length === 0 ? text : Buffer.concat([Buffer.from(`{${written.join('')}`), text.subarray(1)])
}
