import { docker } from '@orderflow/cli'

const hardened = ['--rm', '--read-only', '--user', '10001', '--cap-drop', 'ALL', '--network', 'none']

/** Runs a command of an image under strict security options, and returns its output. */
export function hardenedRun(image: string, ...command: string[]): Promise<string> {
  return docker('run', ...hardened, image, ...command)
}
