import { parseArgs } from 'node:util'
import { meansYes } from '@orderflow/service-kit/setup'
import { CliError } from '@orderflow/stack/base'

/** An option without `value` is a flag. */
export interface Option {
  summary: string
  /** The placeholder of the value in the help, for example `DAYS`. */
  value?: string
}

export interface Given {
  args: string[]
  /** All arguments and options, unparsed. */
  all: string[]
  text: (option: string) => string | undefined
  flag: (option: string) => boolean | undefined
  /** Returns a signal that Ctrl-C aborts. */
  signal: () => AbortSignal
}

export interface Command {
  /** The arguments, for example `SERVICE [N]`. An argument that ends with `...` may be repeated. */
  parameters?: string
  options?: Record<string, Option>
  more?: string
  /** True if the program parses its own arguments and prints its own help. */
  hasOwnHelp?: true
  /** Returns the exit code, by default 0. */
  run: (given: Given) => Promise<number | undefined> | Promise<void>
}

interface CommandGroup {
  /** The first sentence of the help of each command, by name. */
  summaries: Record<string, string>
  load: (name: string) => Promise<Command>
}

/** Groups of commands by title. */
export type CommandGroups = Record<string, CommandGroup>

/** @throws {CliError} `usage` for an unknown command or a wrong option */
export async function runCommandLine(
  groups: CommandGroups,
  [name, ...args]: string[],
  signal: () => AbortSignal,
  print: (text: string) => void,
): Promise<number> {
  if (name === undefined || isHelp(name)) {
    const [asked] = args
    print(asked === undefined || isHelp(asked) ? overview(groups) : helpOf(asked, await find(groups, asked)))
    return 0
  }
  const found = await find(groups, name)
  const { command } = found
  if (command.hasOwnHelp) return (await command.run(createGiven(command, args, [], new Map(), signal))) ?? 0
  const options = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  if (options.includes('--help') || options.includes('-h')) {
    print(helpOf(name, found))
    return 0
  }
  const { positionals, values } = parse(name, command, args)
  return (await command.run(createGiven(command, args, positionals, values, signal))) ?? 0
}

const isHelp = (word: string) => ['help', '--help', '-h'].includes(word)

interface FoundCommand {
  summary: string
  command: Command
}

async function find(groups: CommandGroups, name: string): Promise<FoundCommand> {
  for (const { summaries, load } of Object.values(groups)) {
    const summary = Object.hasOwn(summaries, name) ? summaries[name] : undefined
    if (summary !== undefined) return { summary, command: await load(name) }
  }
  throw new CliError('usage', `unknown command ${name}`, { nextStep: './orderflow help lists all commands' })
}

function overview(groups: CommandGroups): string {
  const width = longest(Object.values(groups).flatMap(({ summaries }) => Object.keys(summaries)))
  const listed = Object.entries(groups).map(([title, { summaries }]) => {
    const lines = Object.entries(summaries).map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`)
    return [`${title}:`, ...lines].join('\n')
  })
  const last = './orderflow COMMAND --help prints the options of a command.'
  return ['Usage: ./orderflow COMMAND [OPTIONS]', ...listed, last].join('\n\n')
}

function helpOf(name: string, { summary, command: { parameters = '', options = {}, more } }: FoundCommand): string {
  const rows = Object.entries(options).map(([option, { value, summary }]) => ({
    option: value ? `--${option} ${value}` : `--${option}`,
    summary,
  }))
  const width = longest(rows.map(({ option }) => option))
  const lines = rows.map((row) => `  ${row.option.padEnd(width)}  ${row.summary}`)
  const usage = ['Usage: ./orderflow', name, parameters, rows.length > 0 && '[OPTIONS]'].filter(Boolean).join(' ')
  return [usage, summary, lines.join('\n'), more].filter(Boolean).join('\n\n')
}

const longest = (texts: string[]) => texts.reduce((most, { length }) => Math.max(most, length), 0)

type Values = Map<string, string | boolean>

function parse(name: string, { parameters = '', options = {} }: Command, args: string[]) {
  const wrong = (message: string) =>
    new CliError('usage', `${name}: ${message}`, { nextStep: `./orderflow ${name} --help prints its options` })
  const types = Object.entries(options).map(([option, { value }]) => [option, { type: typeOf(value) }] as const)
  const { tokens, positionals } = parseArgs({
    args,
    options: Object.fromEntries(types),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values: Values = new Map()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (!option) throw wrong(`unknown option ${token.rawName}`)
    if (!option.value) values.set(token.name, readFlag(wrong, token.rawName, token.value))
    else if (token.value === undefined) throw wrong(`${token.rawName} needs a value: ${token.rawName} ${option.value}`)
    else if (token.value !== '') values.set(token.name, token.value)
  }
  const surplus = positionals[parameters.split(' ').filter(Boolean).length]
  if (surplus !== undefined && !parameters.includes('...')) throw wrong(`unexpected argument "${surplus}"`)
  return { positionals, values }
}

const typeOf = (value: string | undefined) => (value ? 'string' : 'boolean')

/** Reads a flag. It may have a value, such as `--dry-run=0`, because a Makefile passes the value of a variable. */
function readFlag(wrong: (message: string) => Error, option: string, word: string | undefined): boolean {
  const isMeant = word === undefined ? true : meansYes(word)
  if (isMeant === undefined) throw wrong(`${option}=${word} is neither yes nor no`)
  return isMeant
}

function createGiven(
  command: Command,
  all: string[],
  args: string[],
  values: Values,
  signal: () => AbortSignal,
): Given {
  const read = (option: string) => {
    if (!command.options?.[option]) throw new Error(`${option} is not declared`)
    return values.get(option)
  }
  // `parse` has read each option in the type that its declaration states.
  return { args, all, text: read as Given['text'], flag: read as Given['flag'], signal }
}
