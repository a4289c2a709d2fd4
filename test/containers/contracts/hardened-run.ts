import { docker } from '@orderflow/cli'

const hardened = ['--rm', '--read-only', '--user', '10001', '--cap-drop', 'ALL', '--network', 'none']

/** Runs a command of an image as an operator would who trusts nobody, and returns what it prints. */
export function hardenedRun(image: string, ...command: string[]): Promise<string> {
  return docker('run', ...hardened, image, ...command)
}
