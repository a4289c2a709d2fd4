import { parseArgs } from 'node:util'
import { meansYes } from '@orderflow/service-kit/terminal'
import { CliError } from './lib/error.ts'

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
  summary: string
  /** The arguments, for example `SERVICE [N]`. An argument that ends with `...` may be repeated. */
  parameters?: string
  options?: Record<string, Option>
  more?: string
  /** True if the program parses its own arguments and prints its own help. */
  hasOwnHelp?: true
  /** Returns the exit code, by default 0. */
  run: (given: Given) => Promise<number | undefined> | Promise<void>
}

/** Groups by title, each with its commands by name. */
export type CommandGroups = Record<string, Record<string, Command>>

/**
 * @param hidden titles of groups that the help leaves out
 * @throws {CliError} `usage` for an unknown command or a wrong option
 */
export async function runCommandLine(
  groups: CommandGroups,
  [name, ...args]: string[],
  signal: () => AbortSignal,
  print: (text: string) => void,
  hidden: readonly string[] = [],
): Promise<number> {
  if (name === undefined || isHelp(name)) {
    const [asked] = args
    print(asked === undefined || isHelp(asked) ? overview(groups, hidden) : helpOf(asked, find(groups, asked)))
    return 0
  }
  const command = find(groups, name)
  if (command.hasOwnHelp) return (await command.run(createGiven(command, args, [], new Map(), signal))) ?? 0
  const options = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  if (options.includes('--help') || options.includes('-h')) {
    print(helpOf(name, command))
    return 0
  }
  const { positionals, values } = parse(name, command, args)
  return (await command.run(createGiven(command, args, positionals, values, signal))) ?? 0
}

const isHelp = (word: string) => ['help', '--help', '-h'].includes(word)

function find(groups: CommandGroups, name: string): Command {
  for (const commands of Object.values(groups)) {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command) return command
  }
  throw new CliError('usage', `unknown command ${name}`, { nextStep: './orderflow help lists all commands' })
}

function overview(groups: CommandGroups, hidden: readonly string[]): string {
  const shown = Object.entries(groups).filter(([title]) => !hidden.includes(title))
  const width = longest(shown.flatMap(([, commands]) => Object.keys(commands)))
  const listed = shown.map(([title, commands]) => {
    const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
    return [`${title}:`, ...lines].join('\n')
  })
  const last = './orderflow COMMAND --help prints the options of a command.'
  return ['Usage: ./orderflow COMMAND [OPTIONS]', ...listed, last].join('\n\n')
}

function helpOf(name: string, { summary, parameters = '', options = {}, more }: Command): string {
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
    else values.set(token.name, token.value)
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
  return {
    args,
    all,
    text: (option) => {
      const value = read(option)
      return typeof value === 'string' && value !== '' ? value : undefined
    },
    flag: (option) => {
      const value = read(option)
      return typeof value === 'boolean' ? value : undefined
    },
    signal,
  }
}
