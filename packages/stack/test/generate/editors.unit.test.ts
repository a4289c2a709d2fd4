import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { defaultPorts, entryOf, services } from '../../src/application/services.ts'
import { launchFile, runConfigurations } from '../../src/generate/editors.ts'
import { createPlan } from '../../src/processes/plan.ts'
import { processSpecs } from '../../src/processes/process/spec.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

const names = services.map(({ name }) => name)
const titles = names.map((name) => `Attach to ${name}`)

/** Returns the port that each service opens for debuggers, by name. */
async function inspectorPorts(): Promise<Record<string, number>> {
  const plan = await createPlan(temporaryFolder(), defaultPorts, {}, names)
  return Object.fromEntries(
    names.map((name) => {
      const [, port] = /--inspect=127\.0\.0\.1:(\d+)/.exec(entryOf(processSpecs(plan), name).args.join(' ')) ?? []
      return [name, Number(port)]
    }),
  )
}

interface Configuration {
  name: string
  port?: number
  restart?: boolean
}

const parsed = (text: string | undefined) =>
  JSON.parse(launchFile(text)) as {
    configurations: Configuration[]
    compounds: { name: string; configurations: string[] }[]
  }

describe('.vscode/launch.json', () => {
  afterEach(removeFolders)
  const text = readFileSync(join(repository, '.vscode/launch.json'), 'utf8')

  it('attaches to the port of each service again and again, and to all services at once', async () => {
    const { configurations, compounds } = JSON.parse(text)
    const attached = configurations.filter(({ name }: Configuration) => name.startsWith('Attach to '))
    const expected = Object.entries(await inspectorPorts()).map(([name, port]) => ({
      ...{ name: `Attach to ${name}`, type: 'node', request: 'attach', address: '127.0.0.1', port, restart: true },
      skipFiles: ['<node_internals>/**'],
    }))
    expect(attached).to.deep.equal(expected)
    expect(compounds).to.deep.equal([{ name: 'All services', configurations: titles, stopAll: true }])
  })

  it('keeps other configurations, and replaces those of removed services', () => {
    const own = { name: 'Mine', type: 'node', request: 'launch' }
    const former = { name: 'Attach to gone-service', port: 1 }
    const compound = { name: 'Both', configurations: ['Mine'] }
    const changed = { version: '0.2.0', inputs: [], configurations: [former, own], compounds: [compound] }
    const { configurations, compounds, ...others } = parsed(JSON.stringify(changed))
    expect(configurations.map(({ name }) => name)).to.deep.equal(['Mine', ...titles])
    expect(configurations[0]).to.deep.equal(own)
    expect(compounds.map(({ name }) => name)).to.deep.equal(['All services', 'Both'])
    expect(others).to.deep.equal({ version: '0.2.0', inputs: [] })
  })

  it('begins with configurations for tests if it is missing', () => {
    expect(parsed(undefined)).to.deep.equal(JSON.parse(text))
  })

  it('stays unchanged if it is up to date, or if it contains comments', () => {
    const compact = JSON.stringify(JSON.parse(text))
    const commented = `// Mine\n${text}`
    for (const present of [text, compact, commented]) expect(launchFile(present)).to.equal(present)
  })
})

describe('.run/', () => {
  afterEach(removeFolders)
  const read = (file: string) => readFileSync(join(repository, '.run', file), 'utf8')
  const attributesOf = (tag: string) =>
    Object.fromEntries([...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))

  it('contains well-formed XML', () => {
    for (const file of readdirSync(join(repository, '.run'))) {
      const open: string[] = []
      const rest = read(file).replaceAll(/<(\/?)(\w+)((?: [\w-]+="[^"<&]*")*)( ?\/)?>/g, (_, end, name, __, empty) => {
        if (end) expect(open.pop(), file).to.equal(name)
        else if (!empty) open.push(name)
        return ''
      })
      expect([open, rest.trim()], file).to.deep.equal([[], ''])
    }
  })

  it('attaches to the port of each service again and again, and to all services at once', async () => {
    for (const [name, port] of Object.entries(await inspectorPorts())) {
      const [tag = ''] = /<configuration .*>/.exec(read(`attach-to-${name}.run.xml`)) ?? []
      expect(attributesOf(tag)).to.deep.equal({
        ...{ default: 'false', name: `Attach to ${name}`, type: 'ChromiumRemoteDebugType' },
        ...{ factoryName: 'Chromium Remote', host: '127.0.0.1', port: String(port), restartOnDisconnect: 'true' },
      })
    }
    const parts = read('all-services.run.xml').match(/<toRun .*>/g) ?? []
    expect(parts.map(attributesOf)).to.deep.equal(titles.map((name) => ({ name, type: 'ChromiumRemoteDebugType' })))
  })

  it('loses the file of a removed service, and keeps other files', () => {
    const found = runConfigurations(['.run/attach-to-gone-service.run.xml', '.run/mine.run.xml'])
    expect([found.has('.run/mine.run.xml'), found.get('.run/attach-to-gone-service.run.xml')]).to.deep.equal([
      false,
      undefined,
    ])
    expect(found.has('.run/attach-to-gone-service.run.xml')).to.equal(true)
  })
})
