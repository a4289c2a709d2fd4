import { execFileSync } from 'node:child_process'
import { type Command, commandGroups } from '@orderflow/cli'
import { programFile, repository } from '@orderflow/stack/base'
import { block, code, type Generated, table } from './markdown.ts'

/** Returns the page of all commands: those of `./orderflow` and `envelope`, and the targets of make. */
export async function commandsPage(): Promise<Generated> {
  const groups = Object.entries(commandGroups).map(async ([title, { summaries, load }]) => {
    const texts = Object.entries(summaries).map(async ([name, summary]) => commandText(name, summary, await load(name)))
    return `## ${title.replace(/ \(docs\/.*\)$/, '')}\n\n${(await Promise.all(texts)).join('')}`
  })
  const parts = await Promise.all(groups)
  return {
    name: 'commands',
    title: 'All commands',
    description: 'Every command of `./orderflow` with its options, the targets of make, and the command `envelope`',
    origin:
      'the definitions of the commands, and the output of `make help`, `make -C tools help` and `envelope --help`',
    body: [
      'Each command of `./orderflow` also prints its options with `--help`. [The commands](../../packages/cli/README.md) describes the program.',
      ...parts,
      `## make\n\n${block('text', run('make', '--no-print-directory', 'help'))}`,
      `## make -C tools\n\nThese targets are for maintainers.\n\n${block('text', run('make', '--no-print-directory', '-C', 'tools', 'help'))}`,
      envelopeText(),
    ].join('\n\n'),
  }
}

function commandText(name: string, summary: string, { parameters = '', options = {}, more = '' }: Command): string {
  const rows = Object.entries(options).map(([option, { value, summary: meaning }]) => [
    code(value ? `--${option} ${value}` : `--${option}`),
    prose(meaning),
  ])
  const usage = block(
    'text',
    ['./orderflow', name, parameters, rows.length > 0 && '[OPTIONS]'].filter(Boolean).join(' '),
  )
  return `### ${name}\n\n${usage}${prose(summary)}.\n\n${prose(more)}\n\n${table(['Option', 'Meaning'], rows)}`
}

/** Returns text of a terminal as Markdown: with links to documents, and without emphasis. */
const prose = (text: string) =>
  text
    .replaceAll(/[*_<>]/g, '\\$&')
    .replaceAll(/\(docs\/([\w-]+)\.md\)/g, '([guide](../$1.md))')
    .replaceAll(/docs\/([\w-]+)\.md/g, '[$1](../$1.md)')

function envelopeText(): string {
  const main = programFile('@orderflow/envelope/command')
  const help = run(process.execPath, main, '--help')
  const names = [...help.matchAll(/^ {2}(\w+) {2}/gm)].map(([, name = '']) => name)
  const parts = names.map(
    (name) => `### envelope ${name}\n\n${block('text', run(process.execPath, main, name, '--help'))}`,
  )
  return `## envelope\n\n${block('text', help)}${parts.join('')}`
}

const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: repository, encoding: 'utf8' })
