import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { gitleaksTool, schemathesisTool, semgrepTool } from '@orderflow/programs'
import { repository, timed } from '@orderflow/stack/base'
import { type Provisioned, provisionTools } from '@orderflow/stack/internals'

/** The exit code of a program, and its standard output followed by its standard error. */
export interface Ended {
  code: number
  output: string
}

export function bringTools(): Promise<void> {
  return provisionTools([gitleaksTool(), schemathesisTool(), semgrepTool()], { onProgress: timed() })
}

export const gitleaks = (args: string[], cwd = repository) =>
  run(join(gitleaksTool().folder, 'gitleaks'), ['--no-banner', '--redact', ...args], { cwd })
export const semgrep = (args: string[]) =>
  python(semgrepTool(), 'semgrep', ['scan', '--metrics', 'off', '--disable-version-check', ...args])
/** Runs Schemathesis, which stores its findings in the folder `cwd`. */
export const schemathesis = (args: string[], cwd: string) => python(schemathesisTool(), 'schemathesis', args, cwd)

function python({ folder }: Provisioned, program: string, args: string[], cwd = repository): Promise<Ended> {
  const bin = join(folder, 'bin')
  const PATH = [bin, process.env.PATH].join(delimiter)
  return run('python3', [join(bin, program), ...args], { cwd, env: { PYTHONPATH: folder, PATH } })
}

export function run(
  command: string,
  args: string[],
  { cwd = repository, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 }
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = error ? error.code : 0
      if (typeof code === 'number') resolve({ code, output: stdout + stderr })
      else reject(error)
    })
  })
}
