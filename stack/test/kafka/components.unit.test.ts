import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { topics } from '../../src/kafka/topics.ts'
import { repository } from '../../src/lib/paths.ts'

const folder = join(repository, 'components')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const documentsOf = (name: string) => read(name).split(/^---$/m)

describe('components/', () => {
  it('subscribes exactly the consumer groups that stack/topics.json waits for', () => {
    const subscribed = documentsOf('subscriptions.yaml').map((document) => {
      const [, topic, app] = /^ {2}topic: (\S+)$.*^scopes:\n {2}- (\S+)$/ms.exec(document) ?? []
      return `${topic} to ${app}`
    })
    const waitedFor = topics.flatMap(({ name, consumerGroups }) => consumerGroups.map((group) => `${name} to ${group}`))
    expect([...new Set(subscribed)].sort()).to.deep.equal(waitedFor.sort())
  })

  it('has four Kafka components that differ in name and client id only, each with its retries, and no subscription to another', () => {
    const components = documentsOf('kafka.yaml').map((document) => document.replaceAll(/^ *#.*\n/gm, '').trim())
    const names = components.map((component) => /^ {2}name: (\S+)$/m.exec(component)?.[1] ?? '')
    expect(names).to.deep.equal(['pubsub', 'pubsub-1', 'pubsub-2', 'pubsub-3'])
    const alike = components.map((component, index) =>
      component
        .replace(`name: ${names[index]}`, 'name: any')
        .replace(/(name: clientId\n *value: "\{appID\})(-\d)?"/, '$1"'),
    )
    expect(new Set(alike)).to.have.lengthOf(1)
    expect([...read('resiliency.yaml').matchAll(/^ {6}(\S+):$/gm)].map(([, name]) => name)).to.include.members(names)
    const used = [...read('subscriptions.yaml').matchAll(/^ {2}pubsubname: (\S+)$/gm)].map(([, name]) => name)
    expect(names).to.include.members(used)
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
