import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { timed } from '@orderflow/cli'
import { deadLetterTopic } from '@orderflow/envelope'
import { headerOf } from '@orderflow/service-kit/log'
import { openLog } from '@orderflow/service-kit/operations'
import { createSigner, signatureHeader } from '@orderflow/service-kit/trust'
import { requireFolders } from '../folders.ts'
import { runMain } from '../run-main.ts'
import { type Counts, copyTopic, summaryOf } from './copy.ts'
import { moveGroups, openTarget, requireStopped, withMoveSettings } from './kafka.ts'
import { Offsets } from './offsets.ts'
import { type Side, servicesOf, sideOf } from './settings.ts'
import { createTranslator, type TranslatorOptions } from './translate.ts'

/** Runs `make -C tools move-log FROM=... TO=... [FROM_SETTINGS=...] [TO_SETTINGS=...]`. */
async function main({ FROM = '', TO = '', FROM_SETTINGS, TO_SETTINGS }: NodeJS.ProcessEnv): Promise<void> {
  const [oldFolder, newFolder] = requireFolders({ FROM, TO }, 'move-log')
  const tell = timed()
  const [from, to] = [sideOf(oldFolder, FROM_SETTINGS), sideOf(newFolder, TO_SETTINGS)]
  tell('Kafka: starting')
  await from.start()
  await to.start()
  const services = Object.entries(servicesOf(TO).services)
  const groups = services.filter(([, { consumes }]) => Object.keys(consumes).length > 0).map(([name]) => name)
  await requireStopped(from.kafka, groups, { folder: FROM, tell })
  await requireStopped(to.kafka, groups, { folder: TO, tell })
  const events = services.flatMap(([, { consumes, produces }]) => [...Object.keys(consumes), ...Object.keys(produces)])
  await move(from, to, { events: [...new Set(events)], groups, sign: signerOf(from, to, TO), tell })
  tell(`done. Next, in ${TO}: make up, then make rebuild`)
}

interface Move {
  /** The topics of events. */
  events: string[]
  groups: string[]
  sign: TranslatorOptions['sign']
  tell: (line: string) => void
}

async function move(from: Side, to: Side, { events, groups, sign, tell }: Move): Promise<void> {
  const [log, target] = [openLog(from.kafka), openTarget(to.kafka)]
  const offsets = new Offsets()
  const tellSometimes = occasionally(tell)
  const translator = createTranslator({ offsets, at: log.at, ...(sign && { sign }) })
  try {
    const existing = await log.topics()
    const declared = [...events, ...events.map(deadLetterTopic)]
    const others = existing.filter((name) => !declared.includes(name) && !name.startsWith('__'))
    if (others.length > 0) tell(`not copied, because services.json of the application does not declare them: ${others}`)
    const topics = declared.filter((name) => existing.includes(name))
    await withMoveSettings(to.kafka, topics, async () => {
      // Dead letters name positions of events, so the topics of events are first.
      for (const topic of topics) {
        const translate = events.includes(topic) ? translator.event : translator.deadLetter
        const onProgress = ({ read }: Counts) => tellSometimes(`${topic}: ${read} read`)
        const counts = await copyTopic(topic, { from: log, to: target, offsets, translate, onProgress })
        tell(summaryOf(topic, counts))
      }
    })
    await moveGroups(from.kafka, to.kafka, groups, offsets)
    tell(`${groups.join(', ')}: continue after their last event`)
  } finally {
    await Promise.all([log.close(), target.close()])
  }
}

/** Returns a function that passes on at most one line in five seconds. */
function occasionally(tell: (line: string) => void): (line: string) => void {
  let next = performance.now() + 5_000
  return (line) => {
    if (performance.now() < next) return
    next = performance.now() + 5_000
    tell(line)
  }
}

/**
 * Returns a function that signs events of the services with the key of the new application, if version 0.1.0 accepted the events. Returns undefined
 * if the new application signs no events.
 */
function signerOf(from: Side, to: Side, folder: string): TranslatorOptions['sign'] {
  if (to.signingKeys.length === 0) return undefined
  const [old, own] = [createSigner(from.signingKeys), createSigner(to.signingKeys)]
  const { services } = JSON.parse(readFileSync(join(folder, 'components/trust/publishers.json'), 'utf8'))
  const appIds = new Set(Object.keys(services))
  return (event, record, value) => {
    if (!appIds.has(event.AppId)) return undefined
    const signature = headerOf(record, signatureHeader)
    const wasAccepted =
      from.signingKeys.length === 0 || record.appendedAt < from.signedSince || old.isBy(record.value, signature)
    return wasAccepted && !own.isBy(value, signature) ? own.sign(value) : undefined
  }
}

await runMain(() => main(process.env))
