import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { factNames, type OrderEvent, type OrderFacts, orderOf } from '@orderflow/order-service/domain'
import { repository, services } from '@orderflow/stack'
import { expect } from 'chai'
import { anchorsOf, linksIn, makeTargetsIn, markdownFiles } from './support/documents/markdown.ts'

const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const make = (...args: string[]) => execFileSync('make', ['-C', repository, ...args], { encoding: 'utf8' })
const documents = markdownFiles().map((path) => ({ path, text: read(path) }))
/** The targets that the Makefile declares; all are phony, since some have the names of folders. */
const targets = [...make('-pn', 'help').matchAll(/^\.PHONY: (.*)$/gm)].flatMap(([, names = '']) => names.split(' '))

describe('the documents', () => {
  it('link to files and headings that there are', () => {
    expect(documents.map(({ path }) => path)).to.include.members(['README.md', 'docs/orders.md'])
    const broken = documents.flatMap(({ path, text }) =>
      linksIn(text)
        .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(path, text, link))
        .map((link) => `${path}: ${link}`),
    )
    expect(broken).to.deep.equal([])
  })

  it('name targets of make that there are', () => {
    expect(targets).to.include.members(['up', 'release-order'])
    const unknown = documents.flatMap(({ path, text }) =>
      makeTargetsIn(text)
        // docs/new-service.md makes a service, whose targets follow.
        .filter((target) => !targets.includes(target.replace(/-shipping$/, '-order')))
        .map((target) => `${path}: make ${target}`),
    )
    expect(unknown).to.deep.equal([])
  })

  it('are each in the index, docs/README.md', () => {
    const all = readdirSync(join(repository, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
    expect(linksIn(read('docs/README.md'))).to.include.members([...all, 'adr/README.md'])
  })
})

describe('the states of an order in docs/orders.md', () => {
  /** Every set of facts that shows an order, and what one more event makes of its status. */
  function transitions(facts: OrderFacts = {}, names: readonly OrderEvent['Name'][] = factNames): Set<string> {
    const all = new Set<string>()
    for (const name of names) {
      const next = { ...facts, [name]: eventNamed(name) }
      const [from, to] = [orderOf(facts)?.status ?? '[*]', orderOf(next)?.status]
      if (to && from !== to && (from !== '[*]' || Object.keys(next).length === 1)) all.add(`${from} --> ${to}: ${name}`)
      const others = transitions(
        next,
        names.filter((other) => other !== name),
      )
      for (const one of others) all.add(one)
    }
    return all
  }

  it('change as the code changes them', () => {
    const [, diagram = ''] = /stateDiagram-v2\n([\s\S]*?)```/.exec(read('docs/orders.md')) ?? []
    const drawn = diagram
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.includes('-->'))
    expect(drawn).to.have.members([...transitions()])
  })
})

describe('the decisions', () => {
  it('are each in the index, docs/adr/README.md, in their order, with title, status and date as they say', () => {
    const rows = read('docs/adr/README.md').matchAll(/^\| (\d+) \| \[(.+?)\]\((.+?)\) \| (.+) \| (.+) \|$/gm)
    const listed = [...rows].map(([, number, title, file, status, date]) => ({
      file,
      head: `# ${number}. ${title}\n\n**Status.** ${status}, ${date}.`,
    }))
    const files = readdirSync(join(repository, 'docs/adr')).filter((name) => /^\d{4}-.+\.md$/.test(name))
    const found = files.map((file) => ({ file, head: read(`docs/adr/${file}`).split('\n').slice(0, 3).join('\n') }))
    expect(listed).to.deep.equal(found)
    expect(files.map((file) => Number(file.slice(0, 4)))).to.deep.equal(files.map((_, index) => index + 1))
  })
})

describe('make help', () => {
  const ofService = new RegExp(`-(${services.map(({ role }) => role).join('|')})$`)

  it('explains every target', () => {
    const help = make('help')
    const silent = targets.filter((target) => {
      const shown = target.replace(ofService, '-NAME')
      return !help.includes(`\nmake ${shown} `) && !help.startsWith(`make ${shown} `)
    })
    expect(silent).to.deep.equal([])
  })
})

function leadsSomewhere(path: string, text: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? path : normalize(join(dirname(path), file))
  if (!existsSync(join(repository, target))) return false
  return anchor === undefined || anchorsOf(file === '' ? text : read(target)).includes(anchor)
}

const eventNamed = (Name: OrderEvent['Name']) => ({ Name, Payload: { Amount: 1, Total: 1 } }) as unknown as OrderEvent
