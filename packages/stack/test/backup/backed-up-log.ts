import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { LogReader, LogRecord } from '@orderflow/kafka-log'
import { FakeLog } from '@orderflow/service-kit/testing'
import { saveLog } from '../../src/backup/backup.ts'
import { backupReader, type Content } from '../../src/backup/folder.ts'

export const [topic, answers] = ['requests', 'answers']
export const dead = `${topic}.dead`
export type Log = Pick<LogReader, 'spans' | 'read' | 'at'>

/** A log in memory and the folder of its backup. */
export function backedUpLog() {
  const tested = { folder: '', log: new FakeLog() }
  beforeEach(() => {
    tested.folder = mkdtempSync(join(tmpdir(), 'backup-'))
    tested.log = new FakeLog()
  })
  afterEach(() => rmSync(tested.folder, { recursive: true }))

  const save = ({
    from = tested.log,
    now = 0,
    retentionMs = -1,
  }: {
    from?: Log
    now?: number
    retentionMs?: number
  } = {}): Promise<Content> => {
    const topics = { log: from, events: [topic, answers], deadLetters: [dead] }
    const retention = new Map([topic, answers, dead].map((name) => [name, retentionMs]))
    return saveLog(tested.folder, topics, { savedAt: new Date(now), retention, positions: [] })
  }
  const saved = async (content: Content, name = topic): Promise<LogRecord[]> => {
    const reader = backupReader(tested.folder, content)
    const records: LogRecord[] = []
    for await (const chunk of reader.read(name, await reader.spans(name))) records.push(...chunk)
    return records
  }
  const filesOf = (partition = 0) => readdirSync(join(tested.folder, topic, String(partition)))

  const textsIn = (path: string): string =>
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'backup.json')
      .map(({ parentPath, name }) => gunzipSync(readFileSync(join(parentPath, name))).toString())
      .join('')
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const remove = (offset: number, name = topic) =>
    tested.log.removeBefore({ topic: name, partition: 0, offset: String(offset) })
  const texts = async (content: Content, name = topic) =>
    (await saved(content, name)).map(({ value }) => value.toString())
  return Object.assign(tested, { save, saved, filesOf, textsIn, base64, remove, texts })
}
