import { expect } from 'chai'
import { type Command, type CommandGroups, type Given, runCommandLine } from '../src/command-line.ts'
import { commandGroups } from '../src/commands.ts'

describe('./orderflow command lines', () => {
  let given: Given[]
  let printed: string[]
  beforeEach(() => {
    given = []
    printed = []
  })

  const remember = async (each: Given) => {
    given.push(each)
  }
  const commands: Record<string, Command> = {
    up: { run: remember },
    rebuild: {
      parameters: 'SERVICE',
      options: { from: { value: 'TIME', summary: 'from this time on' }, 'dry-run': { summary: 'change nothing' } },
      run: async (each) => {
        given.push(each)
        return 3
      },
    },
    envelope: { hasOwnHelp: true, run: remember },
  }
  const load = async (name: string) => commands[name] as Command
  const groups: CommandGroups = {
    'Run it': { load, summaries: { up: 'Start everything' } },
    'Operate it': { load, summaries: { rebuild: 'Rebuild a store', envelope: 'Validate envelopes' } },
  }
  const run = (...args: string[]) =>
    runCommandLine(
      groups,
      args,
      () => new AbortController().signal,
      (text) => void printed.push(text),
    )
  const refusal = (...args: string[]) =>
    run(...args).then(
      () => 'no refusal',
      ({ message, nextStep }) => `${message}; ${nextStep}`,
    )

  it('lists the commands in groups for `help`, for `--help`, and if there are no arguments', async () => {
    for (const args of [[], ['help'], ['--help'], ['-h']]) expect(await run(...args)).to.equal(0)
    expect(new Set(printed)).to.have.property('size', 1)
    expect(printed[0]).to.contain('Run it:\n  up        Start everything\n\nOperate it:\n  rebuild   Rebuild a store\n')
    expect(given).to.deep.equal([])
  })

  it('prints the options of a command and runs nothing', async () => {
    await run('rebuild', '--help')
    await run('help', 'rebuild')
    expect(new Set(printed)).to.have.property('size', 1)
    expect(printed[0]).to.equal(
      'Usage: ./orderflow rebuild SERVICE [OPTIONS]\n\nRebuild a store\n\n  --from TIME  from this time on\n  --dry-run    change nothing',
    )
    expect(given).to.deep.equal([])
  })

  it('passes arguments and options to the command, and returns its exit code', async () => {
    expect(await run('rebuild', '--from', '2026', 'order-service', '--dry-run')).to.equal(3)
    expect(await run('up')).to.equal(0)
    const [rebuild] = given
    expect(rebuild?.args).to.deep.equal(['order-service'])
    expect(rebuild?.text('from')).to.equal('2026')
    expect(rebuild?.flag('dry-run')).to.equal(true)
    expect(rebuild?.all).to.deep.equal(['--from', '2026', 'order-service', '--dry-run'])
  })

  it('accepts `yes` or `no` as the value of a flag', async () => {
    for (const word of ['1', 'yes', 'true', '0', 'no', 'false', '']) await run('rebuild', 'x', `--dry-run=${word}`)
    await run('rebuild', 'x')
    const flags = given.map(({ flag }) => flag('dry-run'))
    expect(flags).to.deep.equal([true, true, true, false, false, false, false, undefined])
  })

  it('passes all arguments to a program that has its own help', async () => {
    await run('envelope', 'validate', '--help')
    expect(given.map(({ all }) => all)).to.deep.equal([['validate', '--help']])
  })

  const refused: [args: string[], message: string][] = [
    [['rebuild', '--to'], 'rebuild: unknown option --to'],
    [['rebuild', '--toString'], 'rebuild: unknown option --toString'],
    [['rebuild', '-x'], 'rebuild: unknown option -x'],
    [['rebuild', '--from'], 'rebuild: --from needs a value: --from TIME'],
    [['rebuild', '--dry-run=maybe'], 'rebuild: --dry-run=maybe is neither yes nor no'],
    [['rebuild', 'a', 'b'], 'rebuild: unexpected argument "b"'],
  ]
  for (const [args, message] of refused) {
    it(`refuses "${args.join(' ')}" and names the next step`, async () => {
      expect(await refusal(...args)).to.equal(`${message}; ./orderflow rebuild --help prints its options`)
      expect(given).to.deep.equal([])
    })
  }

  it('loads each command of the list', async () => {
    for (const { summaries, load: loadReal } of Object.values(commandGroups)) {
      for (const name of Object.keys(summaries)) expect(await loadReal(name), name).to.have.property('run')
    }
  })

  it('refuses an unknown command and names the next step', async () => {
    for (const name of ['fly', 'toString'])
      expect(await refusal(name)).to.equal(`unknown command ${name}; ./orderflow help lists all commands`)
    expect(await refusal('help', 'fly')).to.contain('unknown command fly')
  })
})
