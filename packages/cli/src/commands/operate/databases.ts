import { print } from '@orderflow/stack/base'
import { prepareDatabases } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'

/** Prints the URI of each sidecar whose password it has created. */
export const command: Command = {
  more: 'The environment variable State__ConnectionString has the URI of the server (docs/stores.md).',
  options: { rotate: { summary: 'replace the passwords of existing users' } },
  async run({ flag }) {
    const { names, uris } = await prepareDatabases(process.env, { rotate: flag('rotate') ?? false })
    print(`ready: ${names.join(', ')}`)
    for (const [name, uri] of Object.entries(uris)) print(`${name}: State__ConnectionString=${uri}`)
  },
}
