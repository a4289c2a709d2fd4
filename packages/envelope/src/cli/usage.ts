import { readFileSync } from 'node:fs'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { nearMissIn } from '../validation/near-miss.ts'

export class UsageError extends Error {
  override name = 'UsageError'
}

/** Returns ` (did you mean …?)` with the nearest known name, or an empty text. */
export function didYouMean(name: string, known: readonly string[]): string {
  const meant = nearMissIn(known)(name) ?? known.find((each) => name.length > 1 && each.startsWith(name))
  return meant ? ` (did you mean ${meant}?)` : ''
}

/**
 * Parses the options and file names of a command.
 * @throws {UsageError} naming the nearest option
 */
export function readOptions<T extends ParseArgsOptionsConfig>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    // Leaves out the rest of Node's message, which explains only how to write file names.
    const [, given = ''] = /'(-[^' ]*)/.exec(message) ?? []
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new UsageError(message.split(/[.\n]/, 1)[0])
    if (given === '--password')
      throw new UsageError(
        '--password is not supported, because other users of this machine could read it: use --password-file',
      )
    const known = Object.keys(options).map((name) => `--${name}`)
    throw new UsageError(`unknown option ${given}${didYouMean(given, known)}`)
  }
}

/** @throws {UsageError} naming all allowed words */
export function oneOf<T extends string>(option: string, value: string, words: readonly T[]): T {
  const found = words.find((word) => word === value)
  if (found) return found
  throw new UsageError(`${option} must be one of ${words.join(', ')}${didYouMean(value, words)}`)
}

/** Returns the content of the file that an option names. @throws {UsageError} */
export function readGiven(option: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
