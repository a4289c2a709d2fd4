import { deadLetterTopic } from '@orderflow/envelope'
import { type GroupLock, type LogReader, openLog } from '@orderflow/service-kit/operations'
import { CliError, reportError, timed } from '@orderflow/stack/base'
import {
  type Counts,
  checkTopic,
  copyError,
  copyTopic,
  groupPositions,
  movePositions,
  openTarget,
  requirePartitions,
  requireStopped,
  type TargetLog,
  withCopyLock,
  withCopySettings,
} from '@orderflow/stack/internals'
import { requireFolders } from '../folders.ts'
import { requireTopics } from './kafka.ts'
import { Offsets } from './offsets.ts'
import { type Side, servicesOf, sideOf } from './settings.ts'
import { signerOf } from './sign.ts'
import { changesIn, createTranslator, summaryOf, type Translator, type TranslatorOptions } from './translate.ts'

/** Runs `make -C tools move-log FROM=... TO=... [FROM_SETTINGS=...] [TO_SETTINGS=...]`. */
async function main({ FROM = '', TO = '', FROM_SETTINGS, TO_SETTINGS }: NodeJS.ProcessEnv): Promise<void> {
  const [oldFolder, newFolder] = requireFolders({ FROM, TO }, 'move-log')
  const tell = timed()
  const [from, to] = [sideOf(oldFolder, FROM_SETTINGS), sideOf(newFolder, TO_SETTINGS)]
  if (String(from.kafka.bootstrapBrokers) === String(to.kafka.bootstrapBrokers)) {
    throw new CliError('settings', `both logs have the same Kafka: ${to.kafka.bootstrapBrokers}`, {
      nextStep: `correct the address in ${from.file} or ${to.file}`,
    })
  }
  tell('Kafka: starting')
  await from.start()
  await to.start()
  const services = Object.entries(servicesOf(TO).services)
  const events = services.flatMap(([, { consumes, produces }]) => [...Object.keys(consumes), ...Object.keys(produces)])
  const topics = await topicsOf([...new Set(events)], from, to, tell)
  const groups = services.filter(([, { consumes }]) => Object.keys(consumes).length > 0).map(([name]) => name)
  const stop = (folder: string) => `run make down in ${folder}, or stop the service on its platform`
  await requireStopped(from.kafka, groups, { nextStep: stop(FROM), tell })
  await requireStopped(to.kafka, groups, { nextStep: stop(TO), tell })
  await move(from, to, { topics, groups, sign: signerOf(from, to, TO), tell })
  tell(`done. Next, in ${TO}: make up REBUILD=1`)
}

/**
 * Returns the topics to copy. Dead letters name positions of events, so the topics of events are first.
 * @throws {CliError} `settings` if a log lacks the topics
 */
async function topicsOf(events: string[], from: Side, to: Side, tell: (line: string) => void): Promise<string[]> {
  const declared = [...events, ...events.map(deadLetterTopic)]
  const [old, own] = [await requireTopics(from), await requireTopics(to)]
  const others = old.filter((name) => !declared.includes(name) && !name.startsWith('__'))
  if (others.length > 0) tell(`not copied, because services.json of the application does not declare them: ${others}`)
  const absent = declared.filter((name) => !old.includes(name))
  if (absent.length > 0) tell(`not copied, because the old log does not have them: ${absent}`)
  const topics = declared.filter((name) => old.includes(name))
  if (topics.length === 0) {
    throw new CliError('settings', `${from.kafka.bootstrapBrokers} shows no topic of ${declared.join(', ')}`, {
      nextStep: `correct the address in ${from.file}, or give its user the right to read all topics`,
    })
  }
  const missing = topics.filter((name) => !own.includes(name))
  if (missing.length === 0) return topics
  throw new CliError('settings', `${to.kafka.bootstrapBrokers} shows no topic ${missing.join(', ')}`, {
    nextStep: 'create the topics of the new application: make up, or ./orderflow release-topics for its own cluster',
  })
}

interface Move {
  topics: string[]
  groups: string[]
  sign: TranslatorOptions['sign']
  tell: (line: string) => void
}

async function move(from: Side, to: Side, options: Move): Promise<void> {
  await withCopyLock(to.kafka, options.tell, (lock) => moveAlone(from, to, options, lock))
}

async function moveAlone(from: Side, to: Side, { topics, groups, sign, tell }: Move, lock: GroupLock): Promise<void> {
  const [log, target] = [openLog(from.kafka), await openTarget(to.kafka, lock)]
  const newTranslator = () => {
    const offsets = new Offsets()
    return { offsets, translator: createTranslator({ offsets, at: log.at, ...(sign && { sign }) }) }
  }
  const tellSometimes = occasionally(tell)
  try {
    await checkAll(topics, log, target, newTranslator().translator)
    const { offsets, translator } = newTranslator()
    await withCopySettings(to.kafka, { topics }, async () => {
      for (const topic of topics) {
        const onProgress = ({ read }: Counts) => tellSometimes(`${topic}: ${read} read`)
        const { translate, changes } = changesIn(topic, translator)
        const counts = await copyTopic(topic, { from: log, to: target, translate, onProgress })
        tell(summaryOf(topic, counts, changes))
      }
    })
    const old = await groupPositions(from.kafka, groups)
    await lock.requireHeld()
    await movePositions(
      to.kafka,
      old.map((each) => ({ ...each, offset: offsets.before(each) })),
    )
    tell(`${groups.join(', ')}: continue after their last event`)
  } finally {
    await Promise.all([log.close(), target.close()])
  }
}

/** Checks the partitions and the records of an earlier, interrupted run in all topics, before this run writes to any of them. */
async function checkAll(topics: string[], log: LogReader, to: TargetLog, translator: Translator): Promise<void> {
  const ends = new Map<string, ReadonlyMap<number, bigint>>()
  for (const topic of topics) {
    const target = await to.spans(topic)
    requirePartitions(topic, await log.spans(topic), target)
    ends.set(topic, new Map(target.map(({ partition, end }) => [partition, end])))
  }
  if ([...ends.values()].every((own) => [...own.values()].every((end) => end === 0n))) return
  for (const topic of topics) {
    const { translate } = changesIn(topic, translator)
    await checkTopic(topic, ends.get(topic) ?? new Map(), { from: log, to, translate })
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

await main(process.env)
  .catch((error: unknown) => {
    throw copyError(error, { during: 'the move', page: 'docs/from-0.1.md' })
  })
  .catch(reportError)
