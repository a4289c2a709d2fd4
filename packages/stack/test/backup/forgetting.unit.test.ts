import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { type Content, readContent, requireComplete, writeContent } from '../../src/backup/folder.ts'
import { answers, backedUpLog, topic } from './backed-up-log.ts'

describe('a backup, about removed records,', () => {
  const tested = backedUpLog()
  const { save, saved, filesOf, textsIn, base64, remove, texts } = tested

  it('forgets the records that Kafka has removed, also those in a file with newer records', async () => {
    for (const value of ['first', 'second', 'third']) tested.log.append({ topic, value })
    await save()
    tested.log.append({ topic, value: 'fourth' })
    remove(2)
    const content = await save()
    requireComplete(tested.folder, content)
    expect(await texts(content)).to.deep.equal(['third', 'fourth'])
    expect(filesOf()).to.deep.equal(['00000000000000000002-00000000000000000003.jsonl.gz'])
    for (const value of ['first', 'second']) expect(textsIn(tested.folder)).not.to.include(base64(value))
    remove(4)
    const empty = await save()
    requireComplete(tested.folder, empty)
    expect(await texts(empty)).to.deep.equal([])
    expect(filesOf()).to.deep.equal([])
    tested.log.append({ topic, value: 'fifth' })
    expect(await texts(await save())).to.deep.equal(['fifth'])
  })

  it('keeps the records that Kafka keeps, whatever the clock and their times', async () => {
    for (const timestamp of [1_000, 1, 2_000]) tested.log.append({ topic, timestamp })
    expect(await saved(await save({ now: 1e13, retentionMs: 500 }))).to.have.length(3)
  })

  it('stays complete if it is killed at any step while it forgets', async () => {
    const file = (first: number, last: number) =>
      join(
        tested.folder,
        topic,
        '0',
        `${[first, last].map((each) => String(each).padStart(20, '0')).join('-')}.jsonl.gz`,
      )
    for (const value of ['first', 'second', 'third']) tested.log.append({ topic, value })
    await save()
    const old = readFileSync(file(0, 2))
    remove(1)
    await save()
    const current = readContent(tested.folder) as Content
    // Before the new file, while it is written, and before the old file is removed.
    for (const present of [[], ['.4711.new'], ['']]) {
      rmSync(file(1, 2), { force: true })
      writeFileSync(file(0, 2), old)
      for (const ending of present) writeFileSync(`${file(1, 2)}${ending}`, old.subarray(0, ending ? 9 : undefined))
      requireComplete(tested.folder, current)
      expect(await texts(current)).to.deep.equal(['second', 'third'])
      await save()
      expect(filesOf(), `after ${present}`).to.deep.equal(['00000000000000000001-00000000000000000002.jsonl.gz'])
      expect(textsIn(tested.folder)).not.to.include(base64('first'))
    }
  })

  it('removes the files of killed runs and of topics that services.json no longer declares', async () => {
    tested.log.append({ topic, value: 'first' })
    await save()
    const [name = ''] = filesOf()
    tested.log.append({ topic, value: 'second' })
    const before = readFileSync(join(tested.folder, topic, '0', name))
    await save()
    writeFileSync(join(tested.folder, topic, '0', name), before)
    writeFileSync(join(tested.folder, topic, '0', `${name}.4711.new`), before)
    mkdirSync(join(tested.folder, 'former/0'), { recursive: true })
    writeFileSync(join(tested.folder, 'former/0', name), before)
    mkdirSync(join(tested.folder, 'notes'))
    writeFileSync(join(tested.folder, 'notes/mine.txt'), 'not from a backup')
    await save()
    expect(filesOf()).to.deep.equal(['00000000000000000000-00000000000000000001.jsonl.gz'])
    expect(readdirSync(join(tested.folder, 'former/0'))).to.deep.equal([])
    expect(readdirSync(join(tested.folder, 'notes'))).to.deep.equal(['mine.txt'])
  })

  it('refuses to continue if it could not be restored, or has another application', async () => {
    tested.log.append({ topic })
    await save()
    const content = readContent(tested.folder) as Content
    const refusal = () => save().catch((error: Error) => error)
    writeContent(tested.folder, { ...content, application: 'another' })
    expect(await refusal())
      .to.have.property('message')
      .that.includes('has a backup of another')
    const none = { start: '0', end: '0', records: '0' }
    const more = { retentionMs: -1, partitions: [none, none, none, none] }
    writeContent(tested.folder, { ...content, topics: { ...content.topics, [answers]: more } })
    expect(await refusal())
      .to.have.property('message')
      .that.includes('answers has 3 partitions, and 4 in the backup')
    writeContent(tested.folder, content)
    rmSync(join(tested.folder, topic, '0', filesOf()[0] ?? ''))
    expect(await refusal())
      .to.have.property('message')
      .that.includes('it has 0 records instead of 1')
  })
})
