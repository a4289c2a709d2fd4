import { createHash } from 'node:crypto'
import { completeEnvelope, deterministicId, parseEnvelope, type ReceivedEnvelope } from '@orderflow/envelope-schema'
import { keyOf } from '@orderflow/envelope-schema/kafka'
import {
  type Caller,
  isInfrastructure,
  OverloadError,
  type ServiceContext,
  SidecarError,
  UntrustedError,
} from '@orderflow/service-kit'
import type { Topic } from '@orderflow/service-kit/application'
import type { Item } from './body.ts'
import { type Judgement, judge, type Outcome, outcomeOf } from './judge.ts'

/** Who sent a body, and how he knows it again. */
export interface Sender {
  /** Undefined where nobody is asked. */
  caller: Caller | undefined
  idempotencyKey: string | undefined
}

export interface Gate {
  /**
   * Publishes those of the envelopes that are valid and that their sender may publish; answers what became of each, in their order.
   * @param topic one that others may write
   */
  publish(topic: string, items: readonly Item[], sender: Sender): Promise<Published>
}

export interface Published {
  outcomes: Outcome[]
  /** Of the first one whose outcome is unknown, or that was not sent: why. */
  cause: unknown
}

type Ids = Record<'Id' | 'CorrelationId' | 'TraceId', string>

/** An envelope that may be published: what it says, and the bytes to publish. */
interface Admitted {
  item: Item
  judgement: Judgement
  envelope: ReceivedEnvelope
  /** Its own Id, or the one that is written into it. */
  id: string
  value: Uint8Array
}

export function createGate(
  { forward, trust }: Pick<ServiceContext, 'forward' | 'trust'>,
  topics: readonly Pick<Topic, 'name' | 'key'>[],
): Gate {
  const keyFields = new Map(topics.map(({ name, key }) => [name, key]))
  /** Returns the key that `./orderflow publish` takes, too: all events of one thing are in one partition. */
  const keyIn = (topic: string, envelope: ReceivedEnvelope) => keyOf(envelope, keyFields.get(topic) ?? [])

  function admit(topic: string, item: Item, sender: Sender, repeats: Map<string, number>): Admitted | Outcome {
    const judgement = judge(item.text, 'receiver')
    if (!judgement.valid) return outcomeOf(item, 'refused', withHint(item, judgement), null)
    const envelope = parseEnvelope(item.text)
    try {
      trust.requireAdmitted(topic, envelope, sender.caller)
    } catch (error) {
      if (!(error instanceof UntrustedError)) throw error
      const errors = [{ pointer: '/AppId', message: error.message, hint: ownName }]
      return { ...outcomeOf(item, 'refused', { ...judgement, errors }, envelope.Id ?? null), code: error.code }
    }
    const { idempotencyKey } = sender
    const ids =
      idempotencyKey === undefined
        ? receivedIds(envelope, item.text, keyIn(topic, envelope))
        : keyedIds(envelope, item.text, idempotencyKey, repeats)
    const missing = Object.fromEntries(
      Object.entries(ids).filter(([name]) => envelope[name as keyof Ids] === undefined),
    )
    // Derived ids are not what the publisher said of a trace: then the request's trace goes on.
    const published = idempotencyKey === undefined ? envelope : { ...envelope, ...missing }
    return { item, judgement, envelope: published, id: ids.Id, value: withFields(item.text, missing) }
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
      const errors = [{ pointer: '', message: 'is not taken by the broker, which may have another limit of size' }]
      return { ...outcomeWith('refused'), code: 'not-taken', errors }
    }
  }

  return {
    async publish(topic, items, sender) {
      const repeats = new Map<string, number>()
      const admitted = items.map((item) => admit(topic, item, sender, repeats))
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

const ownName =
  'an application has an AppId and an AppName of its own, and says what trust.json lets it say (docs/trust.md)'

const sameEvent = 'Send it again: by its Id it is the same event, and counts once.'

/** What is no JSON may be more than one, or a part. */
function withHint({ line }: Item, judgement: Judgement): Judgement {
  if (judgement.code !== 'not-json') return judgement
  const hint =
    line === undefined
      ? 'check quotes, commas and brackets; several envelopes are a list, or lines sent as application/x-ndjson'
      : 'each line is one whole envelope; curl keeps line ends with --data-binary'
  return { ...judgement, errors: judgement.errors.map((error) => ({ hint, ...error })) }
}

/**
 * Returns an envelope's ids: its own, and those that every receiver would derive from these bytes on the stream. So the same envelope is the
 * same event, sent again here or published to Kafka.
 */
function receivedIds(envelope: ReceivedEnvelope, text: Uint8Array, key: string | undefined): Ids {
  const { Id, CorrelationId, TraceId } = completeEnvelope(envelope, {
    value: text,
    key: key ? Buffer.from(key) : undefined,
  })
  return { Id, CorrelationId, TraceId }
}

/**
 * Returns an envelope's ids for a sender with a key. Those that it lacks are the same whenever its application sends the same bytes with the same
 * key, alone or among others. Another key is another event.
 * @param seen how often the same bytes came before in this body: each time is an event
 */
function keyedIds(
  envelope: ReceivedEnvelope,
  text: Uint8Array,
  idempotencyKey: string,
  repeats: Map<string, number>,
): Ids {
  const { AppId, Id, CorrelationId, TraceId } = envelope
  const digest = createHash('sha256').update(text).digest('hex')
  const before = repeats.get(digest) ?? 0
  repeats.set(digest, before + 1)
  const derived = (kind: string) => deterministicId(kind, AppId, idempotencyKey, digest, String(before))
  const trace = TraceId ?? CorrelationId ?? derived('handed-on-trace')
  return { Id: Id ?? derived('handed-on'), CorrelationId: CorrelationId ?? trace, TraceId: trace }
}

/** The envelope's bytes, behind fields that it does not have. */
function withFields(text: Uint8Array, fields: Record<string, string>): Uint8Array {
  const written = Object.entries(fields).map(([name, value]) => `"${name}":"${value}",`)
  return written.length === 0 ? text : Buffer.concat([Buffer.from(`{${written.join('')}`), text.subarray(1)])
}
