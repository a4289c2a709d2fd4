import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { repository } from '../../src/application/paths.ts'
import { defaultPorts, entryOf, services as registered } from '../../src/application/services.ts'
import { brokerSettings } from '../../src/kafka/broker.ts'
import { daprdFlags, resourcesOf } from '../../src/processes/process/spec.ts'
import { postgresqlSettings } from '../../src/stores/databases.ts'

describe('the connection pools of a sidecar', () => {
  it('leave enough connections of PostgreSQL for twenty sidecars and some operators', () => {
    const folder = join(repository, 'components/postgresql')
    const pools = readdirSync(folder).map((file) => {
      const { spec } = parse(readFileSync(join(folder, file), 'utf8'))
      return Number(spec.metadata.find(({ name }: { name: string }) => name === 'maxConns').value)
    })
    expect(pools).to.deep.equal([8, 8])
    expect(16 * 20).to.be.below(postgresqlSettings.max_connections)
  })
})

describe('the sidecar of a release', () => {
  it('starts with the same flags as the other sidecars, except those for ports and paths', () => {
    const start = readFileSync(join(repository, 'packages/stack/templates/release-image/start'), 'utf8')
    const [, lines = ''] = /^sidecar_flags=\(\n(.*?)^\)$/ms.exec(start) ?? []
    const found = [...lines.matchAll(/--([a-z-]+)[ =]("\$\(.*?\)"|"[^"]*"|\S+)/g)].map(([, flag = '', value = '']) => [
      flag,
      value,
    ])
    const [first] = registered
    const ports = entryOf(defaultPorts.services, first?.name ?? '')
    const wanted = daprdFlags(first?.name ?? '', ports, resourcesOf('/app/components', { hasStore: false }, 'mongodb'))
    const folder = resourcesOf('/app/components', { hasStore: true }, 'mongodb').folders[1]
    expect(start).to.contain(`[ -z "$State__Store" ] || sidecar_flags+=(--resources-path ${folder})`)
    const isOwn = ([flag = '']: (string | undefined)[]) => flag.endsWith('-port') || flag === 'app-id'
    expect(found.filter(isOwn).map(([flag]) => flag)).to.deep.equal(wanted.filter(isOwn).map(([flag]) => flag))
    const rest = found.filter((pair) => !isOwn(pair) && pair[0] !== 'dapr-graceful-shutdown-seconds')
    expect(rest).to.deep.equal(wanted.filter((pair) => !isOwn(pair)))
  })
})

describe('the settings of brokers', () => {
  const read = (path: string) => readFileSync(join(repository, path), 'utf8')
  const files = [
    'packages/stack/test/release/rehearsal/kafka.ts',
    'packages/stack/templates/images/kafka/docker/server.properties',
  ]
  /** The setting that may differ between brokers. Hosted brokers require at least 6 s. */
  const other = ['group.min.session.timeout.ms']

  for (const file of files) {
    it(`equal, in ${file}, those of brokers that run as processes`, () => {
      const settings = Object.entries(brokerSettings).filter(([name]) => !other.includes(name))
      for (const [name, value] of settings) {
        const [, found] =
          new RegExp(`^\\s*'?${name.replaceAll('.', '\\.')}'?\\s*[:=]\\s*'?([^',\\s]+)`, 'm').exec(read(file)) ?? []
        if (found !== undefined) expect(found, name).to.equal(String(value))
      }
    })
  }
})
