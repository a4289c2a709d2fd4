import { docker } from '@orderflow/stack/machine'

const hardened = ['--rm', '--read-only', '--user', '10001', '--cap-drop', 'ALL', '--network', 'none']

export function hardenedRun(image: string, ...command: string[]): Promise<string> {
  return docker('run', ...hardened, image, ...command)
}
