import { join } from 'node:path'
import { cacheFolder, repository, versions } from '../lib/paths.ts'
import { buildTime, goBuild } from './go-build.ts'
import type { Provisioned } from './options.ts'
import { pythonPackages } from './python.ts'
import { go } from './tools.ts'

/** The module that holds gitleaks. */
export const gitleaksModule = `github.com/zricethezav/gitleaks/v8@v${versions.gitleaks}`

const list = (name: string) => join(repository, 'stack/security', `${name}.txt`)

/** Sends requests that follow, and break, an OpenAPI document. */
export const schemathesisTool = (): Provisioned =>
  pythonPackages('schemathesis', list('schemathesis'), 'schemathesis: downloading 70 MB')

/** Looks for patterns in code. */
export const semgrepTool = (): Provisioned => pythonPackages('semgrep', list('semgrep'), 'semgrep: downloading 360 MB')

/** Looks for secrets in what git has, of every commit. */
export function gitleaksTool(): Provisioned {
  const about = `gitleaks ${versions.gitleaks}: building from source: ${buildTime(2)}`
  return {
    folder: join(cacheFolder(), `gitleaks-${versions.gitleaks}`),
    about,
    needs: [go],
    make: async (folder, options) => {
      const program = {
        name: `gitleaks ${versions.gitleaks}`,
        module: gitleaksModule,
        package: '.',
        flags: [],
        variables: { 'github.com/zricethezav/gitleaks/v8/version.Version': versions.gitleaks },
      }
      await goBuild(join(folder, 'gitleaks'), program, options)
    },
  }
}
