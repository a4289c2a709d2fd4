import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../src/paths.ts'
import { topics } from '../src/topics.ts'

const folder = join(repository, 'components')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

describe('components/', () => {
  it('subscribes exactly the consumer groups that stack/topics.json waits for', () => {
    const subscribed = read('subscriptions.yaml')
      .split(/^---$/m)
      .map((document) => ({
        topic: /^ {2}topic: (\S+)$/m.exec(document)?.[1],
        groups: [...(document.split(/^scopes:$/m)[1] ?? '').matchAll(/- (\S+)/g)].map((match) => match[1]),
      }))
    const consumed = topics.filter((topic) => topic.consumerGroups.length > 0)
    expect(subscribed).to.deep.equal(
      consumed.map(({ name, consumerGroups }) => ({ topic: name, groups: consumerGroups })),
    )
  })

  it('lets the broker, not the sidecar, say that a message is too large', () => {
    const sidecarLimit = Number(/name: maxMessageBytes\s+value: "(\d+)"/.exec(read('kafka.yaml'))?.[1])
    const limits = topics.map((topic) => Number(topic.configs['max.message.bytes']))
    expect(sidecarLimit).to.be.greaterThan(Math.max(...limits))
  })

  it('has resiliency as the only document of its file, since daprd reads no other', () => {
    expect(read('resiliency.yaml')).to.not.match(/^---$/m)
  })

  it('has no connection string or credential in it', () => {
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.yaml'))) {
      expect(read(name)).to.not.match(/name: (brokers|connectionString|sasl\w*)\s+value:/)
    }
  })

  it('has the same files for a local stack, but for the state store', () => {
    const local = join(folder, 'local')
    const links = readdirSync(local).filter((file) => lstatSync(join(local, file)).isSymbolicLink())
    expect(links.sort()).to.deep.equal(['kafka.yaml', 'resiliency.yaml', 'secretstore.yaml', 'subscriptions.yaml'])
    for (const file of links) expect(realpathSync(join(local, file))).to.equal(realpathSync(join(folder, file)))
  })
})
