import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { nearMissIn } from '../validation/near-miss.ts'

/** The command line has an unknown or missing argument. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** ` (did you mean …?)` with the name of `known` that one is nearest to, or begins; nothing if none is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const meant = nearMissIn(known)(name) ?? known.find((each) => name.length > 1 && each.startsWith(name))
  return meant ? ` (did you mean ${meant}?)` : ''
}

/**
 * The options and files of a command line, as node:util parses it.
 * @throws {UsageError} naming the nearest option
 */
export function readOptions<T extends ParseArgsOptionsConfig>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    // Node's message goes on with advice about file names that begin with a hyphen.
    const [, given = ''] = /'(-[^' ]*)/.exec(message) ?? []
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new UsageError(message.split(/[.\n]/, 1)[0])
    if (given === '--password') throw new UsageError('a password is no option, for others see it: use --password-file')
    const known = Object.keys(options).map((name) => `--${name}`)
    throw new UsageError(`there is no option ${given}${didYouMean(given, known)}`)
  }
}

/**
 * One of a few words.
 * @throws {UsageError} naming all of them
 */
export function oneOf<T extends string>(option: string, value: string, words: readonly T[]): T {
  const found = words.find((word) => word === value)
  if (found) return found
  throw new UsageError(`${option} is one of ${words.join(', ')}${didYouMean(value, words)}`)
}
