import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { commandGroups } from '@orderflow/cli'
import { factNames, type OrderFacts, order } from '@orderflow/order-service/order'
import { currencyOf } from '@orderflow/service-kit'
import { services } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { sourceFiles } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import {
  anchorsOf,
  linksIn,
  makeTargetsIn,
  markdownFiles,
  orderflowCommandsIn,
  wordsIn,
} from '../support/documents/markdown.ts'

const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const make = (folder: string, ...args: string[]) =>
  execFileSync('make', ['--no-print-directory', '-C', join(repository, folder), ...args], { encoding: 'utf8' })
const documents = markdownFiles().map((path) => ({ path, text: read(path) }))
/** Excludes released versions of the changelog, because they name commands that may be gone now. */
const present = documents.map(({ path, text }) => ({
  path,
  text: path === 'CHANGELOG.md' ? text.slice(0, text.search(/^## \d/m)) : text,
}))
/** Returns the targets of a folder’s Makefile, which are all phony. */
const targetsOf = (folder: string) =>
  [...make(folder, '-pn', 'help').matchAll(/^\.PHONY: (.*)$/gm)].flatMap(([, names = '']) => names.split(' '))
const targets: Record<string, string[]> = { '.': targetsOf('.'), tools: targetsOf('tools') }
const loaded = Object.values(commandGroups).flatMap(({ summaries, load }) =>
  Object.keys(summaries).map(async (name) => [name, await load(name)] as const),
)
const commands = new Map(await Promise.all(loaded))

describe('the Markdown documents', () => {
  it('links only to existing files and headings', () => {
    expect(documents.map(({ path }) => path)).to.include.members(['README.md', 'docs/orders.md'])
    const broken = documents.flatMap(({ path, text }) =>
      linksIn(text)
        .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(path, text, link))
        .map((link) => `${path}: ${link}`),
    )
    expect(broken).to.deep.equal([])
  })

  it('names only existing targets of make', () => {
    expect(targets['.']).to.include.members(['up', 'release-order'])
    expect(targets.tools).to.include.members(['unit', 'bench'])
    const unknown = present.flatMap(({ path, text }) =>
      makeTargetsIn(text)
        // docs/new-service.md creates a service whose targets end in `-shipping`.
        .filter(({ folder, target }) => !targets[folder]?.includes(target.replace(/-shipping$/, '-order')))
        .map(({ folder, target }) => `${path}: make -C ${folder} ${target}`),
    )
    expect(unknown).to.deep.equal([])
  })

  it('names only existing commands and options of ./orderflow', () => {
    const used = present.flatMap(({ path, text }) => orderflowCommandsIn(text).map((words) => ({ path, words })))
    expect(used.map(({ words }) => words.join(' '))).to.include('scale payment-service 3')
    expect(used.flatMap(({ words }) => words)).to.include.members(['--raw', '--rotate', '--days'])
    const unknown = used.flatMap(({ path, words }) => mistakesIn(words).map((mistake) => `${path}: ${mistake}`))
    expect(unknown).to.deep.equal([])
  })

  it('finds unknown commands and options of ./orderflow in a text', () => {
    const text =
      'Run `./orderflow fly`, or `./orderflow help`:\n\n```sh\nA=1 ./orderflow scale x 3 --up # --no\n./orderflow envelope new --no\n```\n'
    expect(orderflowCommandsIn(text).flatMap(mistakesIn).toSorted()).to.deep.equal([
      './orderflow envelope new has no --no',
      './orderflow fly',
      './orderflow scale has no --up',
    ])
  })

  it('shows JSON in the guides to new applications as the formatter writes it', () => {
    const guides = ['docs/own-domain.md', 'docs/own-application.md', 'docs/deadlines.md'].map(read).join('')
    const blocks = [...guides.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => text)
    expect(blocks).to.have.length.above(5)
    const biome = join(repository, 'node_modules/.bin/biome')
    const args = ['format', '--stdin-file-path=services.json']
    for (const input of blocks)
      expect(execFileSync(biome, args, { cwd: repository, input, encoding: 'utf8' })).to.equal(input)
  })

  // Decisions, the changelog and generated documents have no limit here.
  const limits = { 'README.md and docs': 27_500, 'the other documents': 13_200 }
  for (const [name, limit] of Object.entries(limits)) {
    it(`contains at most ${limit} words without code blocks in ${name}`, () => {
      const counted = documents.filter(
        ({ path }) =>
          !/^(docs\/adr\/|tools\/packages\/signatures\/|CHANGELOG\.md$)/.test(path) &&
          /^(docs\/|README\.md$)/.test(path) === (name === 'README.md and docs'),
      )
      const words = counted.map(({ path, text }) => ({ path, words: wordsIn(text) }))
      const longest = words.toSorted((a, b) => b.words - a.words).slice(0, 5)
      const total = words.reduce((sum, one) => sum + one.words, 0)
      expect(total, `the longest: ${JSON.stringify(longest)}`).to.be.within(limit / 2, limit)
    })
  }

  it('counts words without code blocks', () => {
    expect(wordsIn('# Two words\n\n[a link](a.md).\n\n| a | b |\n\n```sh\nx y\n```\n- item\n')).to.equal(12)
  })

  it('states everywhere that macOS is untested', () => {
    const named = documents.flatMap(({ text }) => text.split('\n').filter((line) => line.includes('macOS')))
    expect(named).to.have.length.above(1)
    expect(named.filter((line) => !line.includes('macOS is untested'))).to.deep.equal([])
  })

  it('lists all documents in docs/README.md', () => {
    const all = readdirSync(join(repository, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
    expect(linksIn(read('docs/README.md'))).to.include.members([...all, 'adr/README.md'])
  })
})

describe('the sources of packages and new applications', () => {
  it('name only documents that applications have', () => {
    // The package of the commands contains these guides.
    const isGuide = (document: string) =>
      /^docs\/(adr\/)?[^/]+\.md$/.test(document) && existsSync(join(repository, document))
    const sources = sourceFiles(
      repository,
      'packages',
      'components',
      '*-service',
      '.env.example',
      'tools/new-app',
    ).filter((path) => !/(^|\/)(test\/|build\.ts$)|\.md$/.test(path))
    const named = sources.flatMap((path) =>
      [...read(path).matchAll(/[\w-]+\/[\w/-]+\.md\b/g)].map(([document]) => ({ path, document })),
    )
    expect(named).to.have.length.above(30)
    expect(named.filter(({ document }) => !isGuide(document))).to.deep.equal([])
  })
})

describe('the states of an order in docs/orders.md', () => {
  const { view } = order(currencyOf('EUR'), 60_000)

  /** Returns, for every set of facts of an order, the status changes that one more event causes. */
  function transitions(facts: OrderFacts = {}, names: readonly FactName[] = factNames): Set<string> {
    const all = new Set<string>()
    for (const name of names) {
      const next: OrderFacts = { ...facts, [name]: eventNamed(name) }
      const [from, to] = [view(facts, 'id')?.status ?? '[*]', view(next, 'id')?.status]
      if (to && from !== to && (from !== '[*]' || Object.keys(next).length === 1)) all.add(`${from} --> ${to}: ${name}`)
      const others = transitions(
        next,
        names.filter((other) => other !== name),
      )
      for (const one of others) all.add(one)
    }
    return all
  }

  it('matches the transitions in the code', () => {
    const [, diagram = ''] = /stateDiagram-v2\n([\s\S]*?)```/.exec(read('docs/orders.md')) ?? []
    const drawn = diagram
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.includes('-->'))
    expect(drawn).to.have.members([...transitions()])
  })
})

describe('the decisions in docs/adr', () => {
  it('lists all decisions in docs/adr/README.md in order, with their title, and each page has its status and date', () => {
    const readme = read('docs/adr/README.md')
    const files = readdirSync(join(repository, 'docs/adr')).filter((name) => /^\d{4}-.+\.md$/.test(name))
    const head = /^# (.+)\n\n\*\*Status\.\*\* Accepted, \d{4}-\d\d-\d\d\.\n/
    const found = files.map((file) => `- [${head.exec(read(`docs/adr/${file}`))?.[1]}](${file})`)
    expect(readme.split('\n').filter((line) => line.startsWith('- ['))).to.deep.equal(found)
    const [replaced = ''] = /^Later pages contain .+$/m.exec(readme) ?? []
    const numbers = [...files.map((file) => file.slice(0, 4)), ...(replaced.match(/\d+/g) ?? [])].map(Number)
    expect(numbers.sort((a, b) => a - b)).to.deep.equal(numbers.map((_, index) => index + 1))
  })

  it('lists reported bugs with tests that name them in a comment', () => {
    const folder = 'docs/adr'
    const rows = read(`${folder}/0062-let-deadlines-pass-as-events.md`)
      .split('\n')
      .filter((line) => /^\| \[.*\.test\.ts\)/.test(line))
    const missing = rows.flatMap((row) => {
      const [, threads = '', , tests = ''] = row.split('|')
      const texts = linksIn(tests).map((path) => read(join(folder, path)))
      const numbers = [...threads.matchAll(/#\d+(?=\])/g)].map(([number]) => number)
      return numbers.filter((number) => !texts.some((text) => new RegExp(`// .*${number}\\b`).test(text)))
    })
    expect(rows).to.have.length.above(25)
    expect(missing).to.deep.equal([])
  })
})

describe('make help', () => {
  const ofService = new RegExp(`-(${services.map(({ role }) => role).join('|')})$`)
  const shownBy = (folder: string) =>
    [...make(folder, 'help').matchAll(/^make (?:-C tools )?(\S+) /gm)].map(([, name]) => name)

  for (const folder of ['.', 'tools']) {
    it(`explains every target of ${join(folder, 'Makefile')} except itself`, () => {
      // The line of `release-NAME` also explains `rollback-NAME`.
      const shown = ['help', ...shownBy(folder), ...(folder === '.' ? ['rollback-NAME'] : [])]
      const silent = targets[folder]?.filter((target) => !shown.includes(target.replace(ofService, '-NAME')))
      expect(silent).to.deep.equal([])
    })
  }

  it('shows at most 16 targets of the application', () => {
    expect(shownBy('.')).to.have.length.within(10, 16)
  })

  it('shows at most 40 targets for maintainers', () => {
    expect(shownBy('tools')).to.have.length.within(30, 40)
  })
})

function mistakesIn([name, ...words]: string[]): string[] {
  // The file ./orderflow of an application has the command `node`.
  if (name === undefined || ['help', 'node', 'COMMAND', '...'].includes(name) || name.startsWith('--')) return []
  const command = commands.get(name)
  if (!command) return [`./orderflow ${name}`]
  const given = words.flatMap((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? []).filter((option) => option !== '--help')
  if (command.hasOwnHelp) return mistakesInEnvelope(words[0], given)
  return given
    .filter((option) => !Object.hasOwn(command.options ?? {}, option.slice(2)))
    .map((option) => `./orderflow ${name} has no ${option}`)
}

/** Checks options of `envelope` against the help of its commands. */
function mistakesInEnvelope(name: string | undefined, options: string[]): string[] {
  if (name === undefined || !/^[a-z]+$/.test(name)) return []
  const help = execFileSync(process.execPath, [join(repository, 'packages/envelope/src/cli/main.ts'), name, '--help'], {
    encoding: 'utf8',
  })
  return options
    .filter((option) => !help.includes(option))
    .map((option) => `./orderflow envelope ${name} has no ${option}`)
}

function leadsSomewhere(path: string, text: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? path : normalize(join(dirname(path), file))
  if (!existsSync(join(repository, target))) return false
  return anchor === undefined || anchorsOf(file === '' ? text : read(target)).includes(anchor)
}

type FactName = (typeof factNames)[number]
const eventNamed = (Name: FactName) => ({
  ...{ Name, CreationDate: '2026-11-21T10:00:00Z' },
  Payload: { Amount: 1, Total: 1 },
})
