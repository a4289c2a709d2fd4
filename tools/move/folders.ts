import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CliError } from '@orderflow/stack/base'

/**
 * Returns the folders of version 0.1.0 and of the new application.
 * @throws {CliError} `usage` if a folder is missing, or has other contents
 */
export function requireFolders(
  { FROM = '', TO = '' }: { FROM?: string | undefined; TO?: string | undefined },
  target: string,
): [from: string, to: string] {
  if (!FROM || !TO) throw wrong('FROM or TO is missing', `make -C tools ${target} FROM=../old TO=../acme`)
  const [from, to] = [resolve(FROM), resolve(TO)]
  if (!existsSync(from))
    throw wrong(`FROM: ${from} does not exist`, 'set FROM to the folder of the clone of version 0.1.0')
  if (!existsSync(join(from, 'stack/node'))) {
    const nextStep = existsSync(join(from, 'orderflow'))
      ? 'set FROM to a clone of version 0.1.0. Applications of later versions use ./orderflow upgrade (docs/upgrade.md)'
      : 'set FROM to the folder of the clone of version 0.1.0'
    throw wrong(`FROM: ${from} is not a clone of version 0.1.0`, nextStep)
  }
  if (!existsSync(to)) throw wrong(`TO: ${to} does not exist`, `make new-app DIR=${TO} EMPTY=1`)
  const isApplication = ['orderflow', 'services.json', 'event-gateway/package.json'].every((file) =>
    existsSync(join(to, file)),
  )
  if (!isApplication) {
    throw wrong(
      `TO: ${to} is not an application that make new-app created`,
      'set TO to the folder of the new application, or create it with make new-app DIR=... EMPTY=1',
    )
  }
  return [from, to]
}

const wrong = (message: string, nextStep: string): CliError => new CliError('usage', message, { nextStep })
