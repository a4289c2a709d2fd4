import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'
import { configurations, readGuards, readModels } from '../model/configurations.ts'
import { runAll } from '../model/run.ts'
import { verdictOf } from '../model/tlc.ts'

const cfg = 'INVARIANTS Safe\nPROPERTIES Always InTheEnd\nCONSTANTS\n  Size = 2\n  First = TRUE\n  Second = TRUE\n'
const guard = (constant: string, violates: string) => ({ model: 'Some.small', constant, violates, test: '' })

describe('the guards of tools/docs/model', () => {
  const guards = readGuards()

  it('the table lists each constant of each model', () => {
    const declared = [...readModels()].flatMap(([model, text]) =>
      [...text.matchAll(/^ {2}(\w+) = TRUE$/gm)].map(([, constant]) => [model.split('.')[0], constant].join(' ')),
    )
    const told = guards.map(({ model, constant }) => [model.split('.')[0], constant].join(' '))
    expect(new Set(told)).to.deep.equal(new Set(declared))
  })

  it('the table names an existing test for each guard, or the reason for a missing test', () => {
    const missing = guards.flatMap(({ model, constant, test }) => {
      const [, title, path] = /^\[(.+)\]\(\.\.\/\.\.\/\.\.\/(.+)\)$/.exec(test) ?? []
      if (title === undefined || path === undefined)
        return /^(waits for|none: ) ?\w/.test(test) ? [] : [`${model} ${constant}`]
      const source = readFileSync(join(repository, path), 'utf8')
      return source.split('\n').some((line) => /\bit\(['`]/.test(line) && line.includes(title))
        ? []
        : [`${path}: ${title}`]
    })
    expect(missing).to.deep.equal([])
  })

  it('each variant of a model lacks one guard, and has only the property that must be violated', () => {
    const guards = [guard('First', 'InTheEnd'), guard('Second', 'Safe')]
    const found = configurations(new Map([['Some.small', cfg]]), guards)
    expect(found.map(({ name, module, violates }) => [name, module, violates])).to.deep.equal([
      ['Some.small', 'Some', undefined],
      ['Some.small without First', 'Some', 'InTheEnd'],
      ['Some.small without Second', 'Some', 'Safe'],
    ])
    expect(found.map(({ text }) => text)).to.deep.equal([
      cfg,
      'INVARIANTS Safe\nPROPERTIES InTheEnd\nCONSTANTS\n  Size = 2\n  First = FALSE\n  Second = TRUE\n',
      'INVARIANTS Safe\nCONSTANTS\n  Size = 2\n  First = TRUE\n  Second = FALSE\n',
    ])
  })

  it('throws for a guard that the model does not have', () => {
    const wrong = () => configurations(new Map([['Some.small', cfg]]), [guard('Size', 'Safe')])
    expect(wrong).to.throw('the model has no guard Size to remove')
  })
})

describe('verdictOf', () => {
  const ending = '33 states generated, 12 distinct states found, 5 states left on queue.\n'

  it('reports that all properties hold', () => {
    const output = `Model checking completed. No error has been found.\n${ending}`
    expect(verdictOf(output, cfg)).to.deep.equal({ states: 12, violated: undefined })
  })

  it('names the violated invariant or property', () => {
    const safe = verdictOf(`Error: Invariant Safe is violated.\n${ending}`, cfg)
    expect(safe).to.deep.equal({ states: 12, violated: 'Safe' })
    const always = verdictOf(`Error: Action property Always is violated.\n${ending}`, cfg)
    expect(always.violated).to.equal('Always')
    const one = 'PROPERTIES InTheEnd\n'
    expect(verdictOf(`Error: Temporal properties were violated.\n${ending}`, one).violated).to.equal('InTheEnd')
  })

  it('throws if TLC stopped early', () => {
    for (const output of ['', `Error: Parsing or semantic analysis failed.\n`, `Error: Java heap space\n${ending}`]) {
      expect(() => verdictOf(output, cfg)).to.throw('TLC reached no verdict')
    }
  })
})

describe('make -C tools model', () => {
  const configuration = (name: string, violates?: string) => ({ name, model: name, module: name, text: '', violates })
  async function run(...all: [name: string, violates: string | undefined, found: string | undefined | Error][]) {
    const printed: string[] = []
    const found = new Map(all.map(([name, , violated]) => [name, violated]))
    const wrong = await runAll(
      all.map(([name, violates]) => configuration(name, violates)),
      {
        async check({ name }) {
          const violated = found.get(name)
          if (violated instanceof Error) throw violated
          return { states: 7, seconds: 1.25, violated, output: `trace of ${name}` }
        },
        print: (text) => printed.push(text.replace(/ +/g, ' ')),
        parallelism: 2,
      },
    )
    return { wrong, printed }
  }

  it('prints a line for each configuration, and a summary', async () => {
    const { wrong, printed } = await run(['A', undefined, undefined], ['B', 'Safe', 'Safe'])
    expect(wrong).to.equal(0)
    const lines = ['A 7 states 1.3 s holds', 'B 7 states 1.3 s violates Safe', 'all 2 results are as expected']
    expect(printed).to.deep.equal(lines)
  })

  it('fails for an unneeded guard, an unexpected violation, and a violation of a complete model', async () => {
    const { wrong, printed } = await run(['A', 'Safe', undefined], ['B', 'Safe', 'Other'], ['C', undefined, 'Safe'])
    expect(wrong).to.equal(3)
    expect(printed.join('\n')).to.contain('A 7 states 1.3 s holds - WRONG: it must violate Safe')
    expect(printed).to.include.members(['trace of B', 'trace of C', '3 of 3 results are WRONG'])
  })

  it('fails if TLC reaches no verdict, and continues with the next configuration', async () => {
    const { wrong, printed } = await run(['A', undefined, new Error('no heap')], ['B', undefined, undefined])
    expect([wrong, printed[0], printed.length]).to.deep.equal([1, 'A: no heap', 3])
  })

  it('prints the counterexample of a single configuration', async () => {
    expect((await run(['A', 'Safe', 'Safe'])).printed[0]).to.equal('trace of A')
  })
})
